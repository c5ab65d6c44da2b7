"""Saving and loading: equal to the bit, whole or not at all, and nothing foreign is taken in."""

import json
import os
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from memory import store
from memory.dynamics import Clip, Decay, Hebbian, Prune, named_chain
from memory.encoder import HashingEncoder
from memory.note import Note
from memory.system import MemorySystem

DAY = 86_400.0


def empty_memory(dim: int = 32) -> MemorySystem:
    chain = named_chain(hebbian=Hebbian(rate=0.3), decay=Decay(half_life=7.0), bound=Clip(), prune=Prune(max_links=4))
    return MemorySystem(encoder=HashingEncoder(dim), dynamics=chain, dedupe="none")


def live(memory: MemorySystem, seed: int, num_events: int) -> None:
    """Write, recall, reinforce, forget and pause at random."""
    rng = np.random.default_rng(seed)
    for _ in range(num_events):
        nodes = np.flatnonzero(memory.graph.alive[: memory.graph.num_nodes])
        kind = rng.integers(6) if len(nodes) > 6 else 0
        if kind <= 1:
            words = rng.choice(["cello", "soup", "rope", "comet", "rose", "knight"], 3)
            memory.write(Note(" ".join(words), timestamp=memory_time(memory) + 60.0, keywords=(str(words[0]),)))
        elif kind <= 3:
            memory.reinforce(rng.choice(nodes, 4, replace=False), float(rng.random()))
        elif kind == 4 and rng.random() < 0.3:
            memory.forget(int(rng.choice(nodes)))
        else:
            memory.recall("a rope and a rose", k=3)
            memory.consolidate(memory_time(memory) + DAY)


def memory_time(memory: MemorySystem) -> float:
    return max(memory.graph.now, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_a_loaded_memory_is_equal_and_lives_on_equally(seed: int, tmp_path: Path):
    memory, other = empty_memory(), empty_memory()
    live(memory, seed, 120)
    memory.save(tmp_path / "memory.npz")
    other.load(tmp_path / "memory.npz")
    assert other.digest() == memory.digest()
    for each in (memory, other):
        live(each, seed + 100, 120)
    assert other.digest() == memory.digest()
    np.testing.assert_array_equal(other.recall("soup", k=5).node_ids, memory.recall("soup", k=5).node_ids)


def test_a_new_process_loads_the_same(tmp_path: Path):
    memory = empty_memory()
    live(memory, 0, 80)
    memory.save(tmp_path / "memory.npz")
    program = (
        "import sys; sys.path.insert(0, 'tests'); from test_store import empty_memory; m = empty_memory(); "
        f"m.load({str(tmp_path / 'memory.npz')!r}); print(m.digest())"
    )
    root = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    shown = subprocess.run(
        [sys.executable, "-c", program], cwd=root, env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == memory.digest()


def test_an_empty_memory_can_be_kept(tmp_path: Path):
    memory, other = empty_memory(), empty_memory()
    live(other, 0, 20)
    memory.save(tmp_path / "memory.npz")
    other.load(tmp_path / "memory.npz")
    assert other.digest() == memory.digest() == empty_memory().digest()


def test_the_digest_sees_every_part():
    digests = set()
    memory = empty_memory()
    for number in range(4):
        memory.write(Note(f"note {number}", timestamp=float(number)))
        digests.add(memory.digest())
    memory.reinforce([0, 1, 2], 1.0)
    digests.add(memory.digest())
    memory.reinforce([0, 1, 2], 0.0)
    digests.add(memory.digest())
    memory.recall("note", k=1)
    digests.add(memory.digest())
    assert len(digests) == 7


@pytest.mark.parametrize(
    "text", ["a\0b", "e" + "\u0301" * 200, "שלום", "猫の話", "👩‍🚀", "tab\tand\r\nline", "\ufeffmark"]
)
def test_unusual_text_comes_back_to_the_letter(text: str, tmp_path: Path):
    memory, other = empty_memory(), empty_memory()
    memory.write(Note(text, timestamp=1.5, keywords=(text,), tags=("a", "b"), context=text, source=text, id=text))
    memory.save(tmp_path / "memory.npz")
    other.load(tmp_path / "memory.npz")
    assert other.graph.note(0) == memory.graph.note(0)


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path: Path):
    memory = empty_memory()
    live(memory, 0, 20)
    memory.save(tmp_path / "memory.npz")
    before = (tmp_path / "memory.npz").read_bytes()
    with pytest.raises(TypeError):
        store.write(tmp_path / "memory.npz", "memory", {"bad": object()})
    with pytest.raises(TypeError, match="objects"):
        store.write(tmp_path / "memory.npz", "memory", {"bad": np.array([object()])})
    assert (tmp_path / "memory.npz").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["memory.npz"]


def saved(folder: Path) -> Path:
    memory = empty_memory()
    live(memory, 0, 40)
    memory.save(folder / "memory.npz")
    return folder / "memory.npz"


def with_header(path: Path, **changes: object) -> None:
    """Rewrite the header of a saved file."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays["header"].tobytes()) | changes
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    np.savez(path, **arrays)


def newer(path: Path) -> None:
    with_header(path, version=store.VERSION + 1)


def foreign(path: Path) -> None:
    np.savez(path, weights=np.zeros(3))


def foreign_format(path: Path) -> None:
    with_header(path, format="other")


def of_another_kind(path: Path) -> None:
    with_header(path, kind="agent")


def pickled(path: Path) -> None:
    path.write_bytes(pickle.dumps({"a": 1}))


def with_objects(path: Path) -> None:
    np.savez(path, header=np.array([{"a": 1}], object))


def with_a_path_in_it(path: Path) -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("../x", b"out of the folder")


def cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-200])


def with_a_flipped_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (newer, "version 2, this program reads up to 1"),
        (foreign, "another program"),
        (foreign_format, "'other'"),
        (of_another_kind, "'agent', not 'memory'"),
        (pickled, "no state of HebbGym"),
        (with_objects, "no state of HebbGym"),
        (with_a_path_in_it, "'../x'"),
        (cut_short, "no state of HebbGym, or a broken one"),
        (with_a_flipped_bit, "no state of HebbGym, or a broken one"),
        (empty, "no state of HebbGym, or a broken one"),
    ],
)
def test_what_is_no_state_is_refused_and_the_memory_stays(spoil: object, says: str, tmp_path: Path):
    path = saved(tmp_path)
    spoil(path)  # type: ignore[operator]
    memory = empty_memory()
    live(memory, 1, 20)
    before = memory.digest()
    with pytest.raises(ValueError, match=says):
        memory.load(path)
    assert memory.digest() == before


@pytest.mark.parametrize(
    ("part", "column", "value"),
    [
        ("edges", "dst", 10_000),
        ("edges", "dst", -2),
        ("edges", "weight", np.nan),
        ("edges", "edge_type", 99),
        ("edges", "src", 3),
        ("nodes", "alive", False),
    ],
)
def test_a_graph_whose_parts_contradict_each_other_is_refused(part: str, column: str, value: float, tmp_path: Path):
    memory = empty_memory()
    live(memory, 0, 40)
    state = memory.state()
    place = int(memory.graph.edges()[0]) if part == "edges" else int(np.flatnonzero(memory.graph.alive)[0])
    state["graph"][part][column] = state["graph"][part][column].copy()
    if state["graph"][part][column][place] == value:
        value += 1
    state["graph"][part][column][place] = value
    store.write(tmp_path / "memory.npz", "memory", state)
    with pytest.raises(ValueError, match="the graph is broken"):
        empty_memory().load(tmp_path / "memory.npz")


def test_another_dimension_or_other_rules_are_refused(tmp_path: Path):
    path = saved(tmp_path)
    with pytest.raises(ValueError, match="dimension 32, the encoder has 64"):
        empty_memory(64).load(path)
    with pytest.raises(ValueError, match="configure the same"):
        MemorySystem(encoder=HashingEncoder(32)).load(path)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz"):
        empty_memory().load(tmp_path / "nothing.npz")
