"""The memory as its users meet it: what is written, recalled, reinforced, forgotten; and every kind of bad input."""

from collections.abc import Sequence

import numpy as np
import pytest

from memory import EdgeType, MemorySystem, Note
from memory.dynamics import Clip, Decay, Hebbian, Prune, named_chain
from memory.linking import Link, Linkers, NearestNeighbours
from memory.note import MAX_CONTENT_CHARS
from memory.render import render
from memory.surface import Surface
from memory.tokens import count_tokens


def note(text: str, time: float = 0.0) -> Note:
    return Note(text, timestamp=time)


def sizes(memory: MemorySystem) -> tuple[int, int, int, int]:
    return memory.graph.num_notes, memory.graph.num_edges, len(memory.surface.vectors), len(memory.surface.lexical)


def test_the_same_text_is_one_note_unless_asked_otherwise() -> None:
    memory, plain = MemorySystem(), MemorySystem(dedupe="none")
    for each in (memory, plain):
        for text in ("a red fox", "a red  fox\n", "a red fox"):
            each.write(note(text))
    assert memory.graph.num_notes == 1
    assert memory.graph.access_count[0] == 3
    assert plain.graph.num_notes == 3


def test_what_was_recalled_and_written_back_does_not_grow_the_memory() -> None:
    memory = MemorySystem()
    memory.write(note("a red fox"))
    for _ in range(100):
        recalled = memory.graph.note(int(memory.recall("fox", k=1).node_ids[0]))
        assert not memory.write(note(recalled.content)).is_new
    assert memory.graph.num_notes == 1
    assert memory.num_echoes == 100


def test_a_forgotten_note_leaves_nothing_behind() -> None:
    memory = MemorySystem(linker=NearestNeighbours(k=20, threshold=0.1))
    for number in range(20):
        memory.write(note(f"red fox number {number}"))
    hub = memory.write(note("red fox"))
    assert hub.num_links >= 20
    memory.forget(hub.node_id)
    assert sizes(memory)[0] == sizes(memory)[2] == sizes(memory)[3] == 20
    edges = memory.graph.edges()
    assert hub.node_id not in {*memory.graph.src[edges].tolist(), *memory.graph.dst[edges].tolist()}
    memory.linker = Linkers()
    again = memory.write(note("red fox"))
    assert again.is_new
    assert len(memory.graph.out_edges(again.node_id)) == 0
    with pytest.raises(KeyError, match="no note at node 999"):
        memory.forget(999)


class Inventive:
    """Proposes what an annotator might make up."""

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        made_up = [(node_id, 999), (node_id, node_id), (-1, node_id)]
        return [Link(src, dst, EdgeType.CAUSAL, 1.0) for src, dst in made_up] + [
            Link(node_id, 0, EdgeType.CAUSAL, np.nan)
        ]


def test_invented_links_are_ignored_and_counted() -> None:
    memory = MemorySystem(linker=Inventive())
    memory.write(note("one"))
    written = memory.write(note("two"))
    assert (written.num_links, written.num_invalid_links) == (0, 4)
    assert memory.graph.num_edges == 0


class Failing:
    """Breaks in the middle of a write."""

    def propose(self, surface: Surface, node_id: int, previous: int | None) -> Sequence[Link]:
        raise RuntimeError("no answer")


def test_a_write_that_fails_leaves_nothing_half_written() -> None:
    memory = MemorySystem()
    memory.write(note("one"))
    before = sizes(memory)
    memory.linker = Linkers(usual=memory.linker, failing=Failing())
    with pytest.raises(RuntimeError, match="no answer"):
        memory.write(note("two"))
    for bad in (np.ones(768), np.full(256, np.nan)):
        with pytest.raises(ValueError, match="vector"):
            memory.write(note("three"), vector=bad)
    assert sizes(memory) == before


@pytest.mark.parametrize("max_links", [0, 1, 8])
def test_no_note_gets_more_links_than_allowed(max_links: int) -> None:
    same = MemorySystem(dedupe="none", max_links=max_links, linker=NearestNeighbours(k=60))
    for _ in range(60):
        same.write(note("the very same text"))
    hub = MemorySystem(max_links=max_links, linker=NearestNeighbours(k=60, threshold=0.1))
    for number in range(60):
        hub.write(note(f"satellite hub{number} of the hub"))
    for memory in (same, hub):
        assert max(len(memory.graph.out_edges(node)) for node in range(60)) == max_links


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("", ValueError),
        ("  \n", ValueError),
        (None, TypeError),
        (b"bytes", TypeError),
        ("x" * (MAX_CONTENT_CHARS + 1), ValueError),
        ("lone \ud800", ValueError),
    ],
)
def test_content_that_no_note_can_hold_is_refused(content: str, error: type[Exception]) -> None:
    with pytest.raises(error, match="note content"):
        note(content)


@pytest.mark.parametrize("text", ["nul \x00 inside", "שלום עולם", "我喜欢摄影", "🎉 party 🎉", "e" + "\u0301" * 200])
def test_unusual_text_is_kept_to_the_letter(text: str) -> None:
    memory = MemorySystem()
    node_id = memory.write(note(text)).node_id
    assert memory.graph.note(node_id).content == text
    memory.recall(text)


@pytest.mark.parametrize("question", ["", "  ", "\n\t"])
def test_an_empty_question_finds_nothing(question: str) -> None:
    memory = MemorySystem()
    assert len(memory.recall(question).node_ids) == 0
    memory.write(note("a red fox"))
    assert len(memory.recall(question).node_ids) == 0


def test_k_of_any_size_has_a_defined_outcome() -> None:
    memory = MemorySystem()
    assert len(memory.recall("fox", k=3).node_ids) == 0
    for text in ("red fox", "blue hen"):
        memory.write(note(text))
    assert [len(memory.recall("fox", k=k).node_ids) for k in (0, 1, 99)] == [0, 1, 2]
    with pytest.raises(ValueError, match="-1"):
        memory.recall("fox", k=-1)
    with pytest.raises(TypeError, match="NoneType"):
        memory.recall(None)  # type: ignore[arg-type]


def test_every_recall_is_counted() -> None:
    memory = MemorySystem()
    memory.write(note("red fox", 1.0))
    before = int(memory.graph.access_count[0])
    memory.graph.advance(9.0)
    for _ in range(5):
        memory.recall("fox", k=1)
    assert memory.graph.access_count[0] == before + 5
    assert memory.graph.accessed[0] == 9.0


@pytest.mark.parametrize("reward", [np.nan, np.inf])
def test_a_reward_that_is_not_finite_changes_nothing(reward: float) -> None:
    memory = MemorySystem(dynamics=named_chain(hebbian=Hebbian(delta="reward")), linker=Linkers())
    for text in ("one", "two"):
        memory.write(note(text))
    with pytest.raises(ValueError, match="nothing was changed"):
        memory.reinforce([0, 1], reward)
    with pytest.raises(ValueError, match="twice"):
        memory.reinforce([0, 0], 1.0)
    with pytest.raises(KeyError):
        memory.reinforce([0, 7], 1.0)
    assert memory.graph.num_edges == 0
    assert memory.reinforce([0, 1], 1.0).created == 2


def test_two_memories_never_touch_each_other() -> None:
    one, other = MemorySystem(), MemorySystem()
    one.write(note("red fox"))
    other.write(note("blue hen"))
    one.reset()
    assert sizes(one) == (0, 0, 0, 0)
    assert sizes(other) == (1, 0, 1, 1)


def test_a_life_of_rewards_strengthens_then_fades_then_cuts() -> None:
    chain = named_chain(hebbian=Hebbian(delta="reward"), decay=Decay(1.0), bound=Clip(), prune=Prune(threshold=0.05))
    memory = MemorySystem(dynamics=chain, linker=Linkers())
    for text in ("one", "two"):
        memory.write(note(text))
    for _ in range(10):
        memory.reinforce([0, 1], 1.0)
    assert memory.graph.effective_weight(memory.graph.edges()).tolist() == pytest.approx([1 - 0.9**10] * 2, rel=1e-5)
    assert memory.consolidate(time=86_400.0).cut == 0
    assert memory.consolidate(time=10 * 86_400.0).cut == 2


def test_render_quotes_attributes_and_keeps_to_its_budget() -> None:
    memory = MemorySystem()
    memory.write(Note('She said "stop". Then she left! ' + "And on it went. " * 500, timestamp=0.0, source="Ada"))
    memory.write(Note("Second note.", timestamp=86_400.0))
    whole = render(memory.graph, [1, 0])
    assert whole.splitlines()[0] == '[1970-01-02 00:00] "Second note."'
    for budget in range(0, 60, 3):
        text = render(memory.graph, [0], max_tokens=budget)
        assert count_tokens(text) <= budget
        assert text == "" or text.endswith(('."', '!"', '""'))
    assert '\\"stop\\"' in render(memory.graph, [0], max_tokens=40)
