"""The floors of the house: who may import whom, and whose the top-level names are."""

import ast
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS: dict[str, set[str]] = {
    "conf": set(),
    "memory": set(),
    "gnn": {"memory"},
    "envs": {"memory"},
    "agents": {"memory", "envs", "gnn"},
    "experiments": {"memory", "envs", "gnn", "agents", "conf"},
}
DOORS: dict[str, set[str]] = {
    "torch": {"gnn/", "agents/", "memory/encoder.py"},
    "torch_geometric": {"gnn/", "agents/"},
    "gymnasium": {"envs/", "agents/", "experiments/"},
    "hydra": {"experiments/"},
    "omegaconf": {"experiments/"},
    "wandb": {"experiments/"},
    "matplotlib": {"experiments/", "envs/rendering.py"},
    "sentence_transformers": {"memory/encoder.py"},
    "stable_baselines3": {"agents/"},
    "sb3_contrib": {"agents/"},
}
SOURCES = sorted(path for package in FLOORS for path in (ROOT / package).rglob("*.py"))


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively; use absolute imports"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_package_imports_only_packages_below_it(path: Path) -> None:
    place = path.relative_to(ROOT).as_posix()
    package = place.split("/")[0]
    for name in imports(path):
        top = name.split(".")[0]
        assert top not in FLOORS or top == package or top in FLOORS[package], f"{place} must not import {name}"
        if package == "gnn" and top == "memory":
            assert place == "gnn/data.py", f"{place} imports {name}; gnn sees memory only through gnn/data.py"
        doors = DOORS.get(top)
        assert doors is None or any(place.startswith(door) for door in doors), f"{place} must not import {name}"


@pytest.mark.parametrize("package", sorted(FLOORS))
def test_the_generic_names_are_ours(package: str) -> None:
    owners = set(packages_distributions().get(package, []))
    assert owners <= {"hebbgym"}, (
        f"{sorted(owners - {'hebbgym'})} also install a package called {package!r}; uninstall it"
    )
