"""The experiments as a user runs them: what a run leaves behind, and how it fails."""

import csv
import json
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread
from omegaconf import OmegaConf

import conf
from agents.rules import Ranked
from envs.recall import RecallEnv
from envs.tasks.world import World
from experiments.loop import live
from experiments.report import versions

TINY = ("task.num_tasks=20", "seeds=[0,1]")
KEYS = ["experiment", "config", "seeds", "git", "versions", "metrics", "rows"]
MEASURES = ["recall@5", "recall@10", "ndcg@5", "ndcg@10", "mrr", "tokens", "n"]
VARIANTS = ["full", "no_adjacent_turns"]
LEFT_OUT = [
    name
    for name in OmegaConf.load(Path(conf.__file__).parent / "ablate.yaml").variants  # type: ignore[union-attr]
    if name not in VARIANTS
]


def run(experiment: str, folder: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    """Run an experiment from a folder that is not the repository."""
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-m", f"experiments.{experiment}", f"hydra.run.dir={folder}/run", *overrides]
    env = {name: value for name, value in os.environ.items() if not name.startswith("WANDB")}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env)


def finished(experiment: str, folder: Path, *overrides: str) -> Path:
    done = run(experiment, folder, *TINY, *overrides)
    assert done.returncode == 0, done.stderr
    assert f"{folder}/run" in done.stdout
    return folder / "run"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return finished("evaluate", tmp_path_factory.mktemp("evaluate"), "tracker=none")


@pytest.fixture(scope="module")
def ablated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    removed = [f"~variants.{name}" for name in LEFT_OUT]
    return finished("ablate", tmp_path_factory.mktemp("ablate"), "tracker=none", *removed)


@pytest.fixture(params=["evaluate", "ablate"])
def folder(request: pytest.FixtureRequest) -> Path:
    return request.getfixturevalue({"evaluate": "evaluated", "ablate": "ablated"}[request.param])


def results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "results.json").read_text(encoding="utf-8"))


def markdown_rows(folder: Path) -> list[dict[str, str]]:
    lines = [line for line in (folder / "table.md").read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    header, _, *body = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(header, row, strict=True)) for row in body]


def mean(rows: list[dict[str, Any]], name: str) -> float:
    return sum(row[name] for row in rows) / len(rows)


def test_the_results_have_exactly_the_agreed_keys(folder: Path) -> None:
    found = results(folder)
    assert list(found) == KEYS
    assert found["experiment"] in ("evaluate", "ablate")
    assert found["seeds"] == [0, 1]
    assert found["versions"] == versions()
    assert all("/" in name and math.isfinite(value) for name, value in found["metrics"].items())


def test_every_row_says_what_it_is_of_and_holds_every_measure(folder: Path) -> None:
    rows = results(folder)["rows"]
    assert [row["seed"] for row in rows] == [0, 1] * (len(rows) // 2)
    for row in rows:
        assert (row["task"], row["split"], row["protocol"]) == ("world", "generated", "prequential")
        assert row["agent"] in ("hybrid", "ranked")
        assert row["n"] == 20
        assert row["tokens"] > 0
        assert all(0 <= row[name] <= 1 for name in MEASURES[:5])
        assert row["recall@5"] <= row["recall@10"]
        assert all(math.isfinite(value) for value in row.values() if not isinstance(value, str))


def test_seeds_differ(folder: Path) -> None:
    one, two = results(folder)["rows"][:2]
    assert any(one[name] != two[name] for name in MEASURES)


def test_the_csv_agrees_with_the_json(folder: Path) -> None:
    with (folder / "results.csv").open(newline="", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    rows = results(folder)["rows"]
    assert len(table) == len(rows)
    for cells, row in zip(table, rows, strict=True):
        assert cells == {name: str(row[name]) if name in row else "" for name in cells}
        assert set(row) <= set(cells)


def test_the_config_is_kept_as_composed_and_as_resolved(folder: Path) -> None:
    config = results(folder)["config"]
    assert "${" not in json.dumps(config)
    assert config["task"]["num_tasks"] == 20
    composed = OmegaConf.load(folder / ".hydra" / "config.yaml")
    assert OmegaConf.to_container(composed, resolve=True) == config


def test_every_plot_is_a_picture_and_a_drawing(folder: Path) -> None:
    pictures, drawings = sorted(folder.glob("*.png")), sorted(folder.glob("*.svg"))
    assert [path.stem for path in pictures] == [path.stem for path in drawings]
    names = (
        ["measures"] if results(folder)["experiment"] == "evaluate" else ["ndcg_at_5", "recall_at_10", "recall_at_5"]
    )
    assert [path.stem for path in pictures] == names
    for picture, drawing in zip(pictures, drawings, strict=True):
        assert imread(picture).std() > 0
        assert ElementTree.parse(drawing).getroot().tag == "{http://www.w3.org/2000/svg}svg"


def test_the_log_is_one_object_a_line(folder: Path) -> None:
    for path in folder.rglob("metrics.jsonl"):
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert [line["step"] for line in lines] == list(range(len(lines)))
        assert all(isinstance(value, int | float) for line in lines for value in line.values())
    evaluation = results(folder)["experiment"] == "evaluate"
    assert len(list(folder.rglob("metrics.jsonl"))) == (1 if evaluation else 1 + len(VARIANTS))


def test_the_log_of_a_seed_is_its_row(evaluated: Path) -> None:
    lines = [json.loads(line) for line in (evaluated / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = results(evaluated)["rows"]
    assert [[line[f"retrieval/{name}"] for name in MEASURES] for line in lines] == [
        [row[name] for name in MEASURES] for row in rows
    ]


def test_the_latex_table_has_the_cells_of_the_markdown_table(folder: Path) -> None:
    text = (folder / "table.tex").read_text(encoding="utf-8")
    body = text.partition("\\toprule\n")[2].partition("\\bottomrule")[0]
    lines = [line.removesuffix(" \\\\").replace("\\_", "_") for line in body.splitlines() if line != "\\midrule"]
    header, *rows = ([cell.strip() for cell in line.split("&")] for line in lines)
    assert [dict(zip(header, row, strict=True)) for row in rows] == markdown_rows(folder)
    assert text.count("{") == text.count("}")
    assert "_" not in text.replace("\\_", "")


def test_the_evaluation_table_is_of_the_rows(evaluated: Path) -> None:
    rows, shown = results(evaluated)["rows"], markdown_rows(evaluated)[0]
    assert shown.pop("questions") == "all"
    assert shown == {name: f"{mean(rows, name):.{0 if name in ('tokens', 'n') else 3}f}" for name in MEASURES}


def test_metrics_are_the_means_with_intervals_around_them(evaluated: Path) -> None:
    found = results(evaluated)
    for name in MEASURES:
        assert found["metrics"][f"retrieval/{name}"] == pytest.approx(mean(found["rows"], name))
    for name in MEASURES[:5]:
        low, middle, high = (found["metrics"][f"retrieval/{name}{end}"] for end in ("/low", "", "/high"))
        # Two clusters, the seeds: the interval ends at their means.
        assert (low, high) == pytest.approx(
            (min(row[name] for row in found["rows"]), max(row[name] for row in found["rows"]))
        )
        assert low <= middle <= high


def test_an_ablation_compares_every_variant_with_the_base(ablated: Path) -> None:
    found = results(ablated)
    assert list(found["config"]["variants"]) == VARIANTS
    assert [row["variant"] for row in found["rows"]] == [name for name in VARIANTS for _ in range(2)]
    of = {name: [row for row in found["rows"] if row["variant"] == name] for name in VARIANTS}
    for name in VARIANTS:
        for measure in found["config"]["measures"]:
            estimate = found["metrics"][f"estimate/{name}/{measure}"]
            assert estimate == pytest.approx(mean(of[name], measure))
            if name != "full":
                change = found["metrics"][f"difference/{name}/{measure}"]
                assert change == pytest.approx(mean(of[name], measure) - mean(of["full"], measure))
    assert not any(name.startswith("difference/full") for name in found["metrics"])
    assert found["metrics"]["difference/no_adjacent_turns/ndcg@5"] != 0


def test_the_ablation_table_is_of_the_metrics(ablated: Path) -> None:
    metrics = results(ablated)["metrics"]
    rows = {row["variant"]: row for row in markdown_rows(ablated)}
    assert list(rows) == VARIANTS
    assert rows["full"]["change in recall@5"] == ""
    mean_, low, high = (metrics[f"difference/no_adjacent_turns/recall@5{end}"] for end in ("", "/low", "/high"))
    assert rows["no_adjacent_turns"]["change in recall@5"] == f"{mean_:+.3f} [{low:+.3f}, {high:+.3f}]"
    assert rows["no_adjacent_turns"]["recall@5"] == f"{metrics['estimate/no_adjacent_turns/recall@5']:.3f}"


def test_a_second_run_gives_the_same_bytes(evaluated: Path, tmp_path: Path) -> None:
    again = finished("evaluate", tmp_path / "again", "tracker=none")
    names = [
        sorted(str(path.relative_to(each)) for path in each.rglob("*") if path.is_file()) for each in (evaluated, again)
    ]
    assert names[0] == names[1]
    # Hydra's own file names the folder, and the log holds the speed.
    different = [name for name in names[0] if (evaluated / name).read_bytes() != (again / name).read_bytes()]
    assert set(different) <= {".hydra/hydra.yaml", "metrics.jsonl"}
    without_speed = [
        [
            {name: value for name, value in json.loads(line).items() if not name.startswith("time/")}
            for line in (each / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
        ]
        for each in (evaluated, again)
    ]
    assert without_speed[0] == without_speed[1]
    assert list(without_speed[0][0]) == [
        "step",
        *(f"retrieval/{name}" for name in [*MEASURES[:6], "reward", "edges", "n"]),
    ]


def test_an_offline_run_is_kept_for_weights_and_biases(evaluated: Path, tmp_path: Path) -> None:
    folder = finished("evaluate", tmp_path / "offline", "tracker=wandb", "tracker.mode=offline")
    (kept,) = folder.glob("wandb/offline-run-*")
    (records,) = kept.glob("run-*.wandb")
    assert records.stat().st_size > 0
    assert [path.name for path in (tmp_path / "offline").iterdir()] == ["run"]
    assert (folder / "results.csv").read_bytes() == (evaluated / "results.csv").read_bytes()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (["task=locomo", "data_dir={folder}"], "experiments.download locomo"),
        (["task.num_skills=0"], "num_skills is 0; it must be 1 or more"),
        (["env.feedback=none"], "choose 'scalar' or 'evidence'"),
        (["agent.key=foo"], "key 'foo' is unknown; choose from"),
        (["seeds=[]"], "one or more, each once"),
        (["seeds=[0,0]"], "one or more, each once"),
        (["limit_questions=0"], "limit_questions 0 must be 1 or more"),
        (["memory/encoder=minilm"], "have dimension 32, the memory's encoder has 384"),
    ],
)
def test_what_a_user_can_mend_is_said_in_one_line(overrides: list[str], message: str, tmp_path: Path) -> None:
    done = run("evaluate", tmp_path, "tracker=none", *(each.format(folder=tmp_path) for each in overrides))
    assert done.returncode != 0
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("evaluate: ")
    assert message in line
    assert not (tmp_path / "run" / "results.json").exists()


@pytest.mark.parametrize("limit", [1, 7])
def test_a_limit_keeps_the_first_questions_as_they_are(limit: int) -> None:
    env = RecallEnv(World(num_tasks=30))
    every, first = live(env, Ranked(), [0, 1]), live(env, Ranked(), [0, 1], limit_questions=limit)
    assert len(every) == 60
    # What is late depends on how many there are; all else does not.
    late = [(place + 1) / limit for _ in range(2) for place in range(limit)]
    assert [record.progress for record in first] == pytest.approx(late)
    assert [replace(record, progress=0.0) for record in first] == [
        replace(record, progress=0.0) for record in [*every[:limit], *every[30 : 30 + limit]]
    ]


def test_an_unknown_agent_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = run("evaluate", tmp_path, "agent=nobody")
    assert done.returncode != 0
    assert "agent/nobody" in done.stderr
    assert "hybrid" in done.stderr
    assert "Traceback" not in done.stderr


def documented(kind: str) -> list[re.Pattern[str]]:
    """Patterns of the names in one table of docs/metrics.md."""
    text = (Path(conf.__file__).parents[1] / "docs" / "metrics.md").read_text(encoding="utf-8")
    table = text.split(f"| {kind} | meaning |")[1].split("\n\n")[0]
    names = [name for row in table.splitlines()[2:] for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]
    parts = {"<measure>": "[^/]+", "<variant>": "[a-z_]+", "<c>": r"\d+"}
    return [re.compile("".join(parts.get(part, re.escape(part)) for part in re.split("(<[a-z]+>)", n))) for n in names]


def test_every_logged_name_is_documented_and_every_documented_one_is_logged(evaluated: Path, ablated: Path):
    names = set()
    for folder in (evaluated, ablated):
        names |= set(results(folder)["metrics"])
        for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines():
            names |= set(json.loads(line)) - {"step"}
    for log in (ablated / "variants").rglob("metrics.jsonl"):
        names |= {name for line in log.read_text(encoding="utf-8").splitlines() for name in json.loads(line)} - {"step"}
    patterns, ends = documented("name"), re.compile("/(low|high)$")
    unknown = {n for n in names if not any(p.fullmatch(n) or p.fullmatch(ends.sub("", n)) for p in patterns)}
    assert unknown == set()
    # A world has one category only, so LoCoMo's joint categories are not logged here.
    idle = {p.pattern for p in patterns if not any(p.fullmatch(name) for name in names)}
    assert all("1\\-4" in pattern or "1\\-5" in pattern for pattern in idle)
    measures = {name.split("/")[1] for name in names if name.startswith("retrieval/")}
    assert {pattern.pattern.replace("\\", "") for pattern in documented("measure")} == measures
