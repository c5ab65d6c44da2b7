"""The real configuration: every file composes and builds what it names."""

import inspect
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_module
from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf

import conf
from agents.rules import Ranked
from envs.tasks.world import World
from experiments.build import Setup, build, build_tracker, resolved
from experiments.tracking import JsonlTracker
from memory.encoder import CachedEncoder
from memory.retrieval import Dense, Lexical, Recent

ROOT = Path(conf.__file__).parent
FILES = sorted(ROOT.rglob("*.yaml"))
OPTIONS = [(str(file.parent.relative_to(ROOT)), file.stem) for file in FILES if file.parent != ROOT]
VARIANTS = OmegaConf.load(ROOT / "ablate.yaml").variants  # type: ignore[union-attr]
RULES = ["hebbian", "decay", "bound", "prune"]

PARTS: dict[str, Any] = {
    "agent": lambda setup: setup.agent,
    "env": lambda setup: setup.env,
    "task": lambda setup: setup.env.task,
    "reward": lambda setup: setup.env.reward,
    "memory": lambda setup: setup.env.memory,
    "memory/encoder": lambda setup: setup.env.memory.encoder,
    "memory/index_text": lambda setup: setup.env.memory.index_text,
    "memory/linker": lambda setup: setup.env.memory.linker,
    "memory/retriever": lambda setup: setup.env.memory.retriever,
    "memory/retriever/anchors": lambda setup: setup.env.memory.retriever.anchors,
    "memory/retriever/expansion": lambda setup: setup.env.memory.retriever.expansion,
    "memory/retriever/reranker": lambda setup: setup.env.memory.retriever.reranker,
}
"""Where the object that a group describes ends up."""


@pytest.fixture(autouse=True, scope="module")
def hydra() -> Iterator[None]:
    with initialize_config_module("conf", version_base="1.3"):
        yield


@cache
def composed(*overrides: str, name: str = "evaluate") -> DictConfig:
    config = compose(name, list(overrides))
    OmegaConf.set_readonly(config, True)
    return config


def built(*overrides: str, name: str = "evaluate") -> Setup:
    return build(composed(*overrides, name=name))


def objects_in(node: Any) -> Iterator[dict[str, Any]]:
    """Every mapping with a `_target_`, nested ones included."""
    if isinstance(node, dict):
        if node.get("_target_"):
            yield node
        for each in node.values():
            yield from objects_in(each)
    elif isinstance(node, list):
        for each in node:
            yield from objects_in(each)


def differing(one: Any, two: Any, path: str = "") -> set[str]:
    """Dotted names of what differs between two configurations."""
    if isinstance(one, dict) and isinstance(two, dict):
        names = [*one, *(name for name in two if name not in one)]
        return set().union(*(differing(one.get(name), two.get(name), f"{path}.{name}".strip(".")) for name in names))
    return set() if one == two else {path}


def of_group(*names: str) -> list[str]:
    return [option for group, option in OPTIONS if group in names]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_target_is_importable_and_takes_what_the_file_gives_it(file: Path) -> None:
    for node in objects_in(OmegaConf.to_container(OmegaConf.load(file), resolve=False)):
        target = get_object(node["_target_"])
        inspect.signature(target).bind_partial(**{name: None for name in node if name not in ("_target_", "defaults")})


@pytest.mark.parametrize(("group", "option"), [each for each in OPTIONS if each[0] in PARTS and each[1] != "minilm"])
def test_every_file_builds_the_class_that_it_names(group: str, option: str) -> None:
    # The agent `ranked` has an expansion to replace.
    agent = [] if group == "agent" else ["agent=ranked"]
    # No retriever re-ranks by itself, so a re-ranker is added.
    plus = "+" if group == "memory/retriever/reranker" else ""
    config = composed(*agent, f"{plus}{group}={option}")
    if (group, option) == ("task", "locomo"):
        assert get_object(config.task._target_).__name__ == "Locomo"
        assert get_object(config.memory.encoder._target_) is CachedEncoder
        return
    node = OmegaConf.select(config, group.replace("/", "."))
    assert type(PARTS[group](build(config))) is get_object(node._target_)


@pytest.mark.parametrize("group", sorted({group for group, _ in OPTIONS}))
def test_every_group_is_covered_here(group: str) -> None:
    assert group in {*PARTS, "memory/dynamics", "tracker", "debug", "experiment"}


def test_the_sentence_encoder_composes() -> None:
    config = composed("memory/encoder=minilm", "task=locomo")
    assert get_object(config.memory.encoder._target_) is CachedEncoder
    assert get_object(config.memory.encoder.inner._target_).__name__ == "MiniLM"


@pytest.mark.parametrize("option", of_group("tracker"))
def test_every_tracker_writes_json_lines(option: str, tmp_path: Path) -> None:
    config = composed(f"tracker={option}")
    tracker = build_tracker(config, tmp_path, group="g", name="n")
    assert isinstance(tracker, JsonlTracker)
    target = config.tracker._target_
    assert type(tracker._also).__name__ == ("NoTracker" if target is None else target.rpartition(".")[2])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["evaluate", "ablate"])
def test_the_roots_compose_with_every_value_present(name: str) -> None:
    config = resolved(composed(name=name))
    assert config["experiment_name"] == name
    assert type(built(name=name).env.task) is World
    assert "???" not in str(config)


def test_the_data_folder_is_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    config = composed("task=locomo")
    monkeypatch.setenv("HEBBGYM_DATA", "/somewhere/else")
    assert resolved(config)["task"]["data_dir"] == "/somewhere/else"
    monkeypatch.delenv("HEBBGYM_DATA")
    assert resolved(config)["task"]["data_dir"] == "data"


@pytest.mark.parametrize("option", of_group("agent"))
def test_an_agent_is_named_after_its_file(option: str) -> None:
    assert composed(f"agent={option}").agent_name == option


@pytest.mark.parametrize(
    ("agent", "anchors"), [("dense", Dense), ("lexical", Lexical), ("recency", Recent), ("full", Recent)]
)
def test_a_baseline_brings_its_retriever(agent: str, anchors: type) -> None:
    assert type(built(f"agent={agent}").env.memory.retriever.anchors) is anchors


@pytest.mark.parametrize(("agent", "places"), [("full", 60), ("recency", 10)])
def test_the_full_context_alone_has_a_place_for_every_note(agent: str, places: int) -> None:
    assert built(f"agent={agent}").env.max_notes == places


def test_the_command_line_goes_before_what_an_agent_or_a_task_chooses() -> None:
    setup = built("agent=ranked", "memory/retriever=dense", "agent.key=recency", "task.dim=16", "env.max_notes=3")
    assert type(setup.env.memory.retriever.anchors) is Dense
    assert setup.env.memory.retriever.expansion is None
    assert isinstance(setup.agent, Ranked)
    assert setup.agent.key == "recency"
    assert setup.env.memory.encoder.dim == 16
    assert setup.env.max_notes == 3


@pytest.mark.parametrize("name", ["evaluate", "ablate"])
def test_the_tiny_overlay_wins_over_the_root(name: str) -> None:
    config = composed("debug=tiny", name=name)
    assert config.tracker._target_ is None
    assert config.seeds == [0]
    assert config.limit_questions == 20


def test_the_rules_of_the_full_chain_stand_in_order() -> None:
    config = composed("memory/dynamics=full")
    assert list(config.memory.dynamics) == ["_target_", *RULES]
    assert list(build(config).env.memory.dynamics.rules) == RULES
    assert list(built("memory/dynamics=none").env.memory.dynamics.rules) == []


@pytest.mark.parametrize("rule", RULES)
def test_one_word_removes_exactly_one_rule(rule: str) -> None:
    config = composed(f"~memory.dynamics.{rule}", name="ablate")
    assert list(build(config).env.memory.dynamics.rules) == [each for each in RULES if each != rule]
    base = composed(name="ablate")
    assert differing(resolved(config), resolved(base)) == {f"memory.dynamics.{rule}"}


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_builds_and_changes_what_it_names_alone(name: str) -> None:
    overrides = list(VARIANTS[name])
    config, base = composed(*overrides, name="ablate"), composed(name="ablate")
    build(config)
    changed = differing(resolved(config), resolved(base))
    if name == base.base:
        assert changed == set()
        return
    assert len(overrides) == 1
    place = overrides[0].lstrip("~").partition("=")[0].replace("/", ".")
    assert changed
    assert all(each == place or each.startswith(f"{place}.") for each in changed)


@pytest.mark.parametrize("override", ["agent=nobody", "task.num_skill=3", "memory.dynamics.hebbian.rat=1"])
def test_a_misspelt_override_is_refused(override: str) -> None:
    with pytest.raises(Exception, match=r"nobody|num_skill|rat"):
        composed(override, name="ablate")


@pytest.mark.parametrize("experiment", of_group("experiment"))
def test_every_variant_of_an_overlay_builds(experiment: str) -> None:
    overlay = f"experiment={experiment}"
    config = composed(overlay, name="ablate")
    for overrides in config.variants.values():
        if overrides is not None:
            built(overlay, *overrides, name="ablate")
    assert list(composed(overlay, "debug=tiny", name="ablate").seeds) == [0]
