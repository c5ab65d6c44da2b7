"""Laws over all rules, and golden values worked by hand on one small graph.

0 --.5--> 1 --.25--> 2        all edges of type TASK; note 3 stands alone
"""

from dataclasses import replace

import numpy as np
import pytest

from memory.change import Change
from memory.dynamics import Clip, Decay, Hebbian, Prune, Signal, Transform, named_chain
from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.note import Note

DAY = 86_400.0
RULES: dict[str, Transform] = {
    "hebbian": Hebbian(),
    "hebbian_reward": Hebbian(delta="reward"),
    "decay": Decay(half_life=1.0),
    "clip": Clip(),
    "prune": Prune(threshold=0.3),
    "chain": named_chain(hebbian=Hebbian(), decay=Decay(), bound=Clip(), prune=Prune()),
    "empty": named_chain(),
}


@pytest.fixture
def graph() -> MemoryGraph:
    graph = MemoryGraph()
    for number in range(4):
        graph.add_note(Note(f"note {number}", timestamp=0.0))
    graph.add_edge(0, 1, EdgeType.TASK, 0.5)
    graph.add_edge(1, 2, EdgeType.TASK, 0.25)
    return graph


def task(reward: float, *node_ids: int, credit: list[float] | None = None) -> Signal:
    given = None if credit is None else np.array(credit, np.float32)
    return Signal("task", np.array(node_ids, np.int64), np.ones(len(node_ids), np.float32), reward, given)


def propose(rule: Transform, graph: MemoryGraph, *signals: Signal) -> Change:
    state = rule.init(graph)
    for signal in signals:
        change, state = rule.update(Change(), state, graph, signal)
    return change


def weights(graph: MemoryGraph) -> dict[tuple[int, int], float]:
    edges = graph.edges()
    pairs = zip(graph.src[edges].tolist(), graph.dst[edges].tolist(), strict=True)
    return dict(zip(pairs, graph.effective_weight(edges).tolist(), strict=True))


def test_the_empty_chain_is_the_identity(graph: MemoryGraph) -> None:
    assert propose(RULES["empty"], graph, task(1.0, 0, 1)).is_identity


@pytest.mark.parametrize("name", RULES)
def test_no_rule_writes_to_the_graph(name: str, graph: MemoryGraph) -> None:
    before = weights(graph)
    propose(RULES[name], graph, task(1.0, 0, 1), task(0.0, 1, 2, 3), Signal("pause"))
    assert weights(graph) == before


@pytest.mark.parametrize(("delta", "rewards"), [("reward", [0.0]), ("rpe", [0.7]), ("rpe", [0.4, 0.4])])
def test_an_expected_reward_teaches_nothing(delta: str, rewards: list[float], graph: MemoryGraph) -> None:
    rule = Hebbian(delta=delta)  # type: ignore[arg-type]
    assert propose(rule, graph, *(task(reward, 0, 1, 2) for reward in rewards)).is_identity


def test_hebbian_by_hand(graph: MemoryGraph) -> None:
    graph.apply(propose(Hebbian(rate=0.1, delta="reward"), graph, task(1.0, 0, 1)))
    # 0->1: 0.5 + 0.1 * 1 * (1 - 0.5); 1->0 is new: 0.1 * 1 * (1 - 0).
    assert weights(graph) == pytest.approx({(0, 1): 0.55, (1, 2): 0.25, (1, 0): 0.1})


def test_a_worse_reward_than_expected_weakens_and_creates_nothing(graph: MemoryGraph) -> None:
    graph.apply(propose(Hebbian(rate=0.1), graph, task(1.0, 3), task(0.0, 0, 1)))
    # rpe = 0 - 1; 0->1: 0.5 - 0.1 * 1 * (0.5 - 0).
    assert weights(graph) == pytest.approx({(0, 1): 0.45, (1, 2): 0.25})


def test_with_credit_an_edge_earns_what_the_lesser_of_its_notes_earned(graph: MemoryGraph) -> None:
    graph.apply(propose(Hebbian(rate=0.1), graph, task(0.0, 0, 1, 2, credit=[1.0, 1.0, -1.0])))
    # 0->1: 0.5 + 0.1 * (1 - 0.5); 1->2: 0.25 - 0.1 * 0.25; 1->0 is new: 0.1.
    assert weights(graph) == pytest.approx({(0, 1): 0.55, (1, 2): 0.225, (1, 0): 0.1})


def test_what_two_rules_propose_for_one_edge_adds_up_and_is_bounded_together(graph: MemoryGraph) -> None:
    twice = named_chain(first=Hebbian(rate=0.4, delta="reward"), second=Hebbian(rate=0.4, delta="reward"))
    graph.apply(propose(twice, graph, task(1.0, 0, 1)))
    # 0->1: 0.5 + 2 * 0.4 * 0.5; 1->0 is new: 2 * 0.4.
    assert weights(graph) == pytest.approx({(0, 1): 0.9, (1, 2): 0.25, (1, 0): 0.8})
    bounded = named_chain(**twice.rules, bound=Clip(high=0.7))
    graph.apply(propose(bounded, graph, task(1.0, 2, 3)))
    assert weights(graph)[2, 3] == pytest.approx(0.7)


@pytest.mark.parametrize(("src", "dst", "delta"), [(0, 0, 0.5), (0, 30, 0.5), (30, 0, 0.5), (2, 3, np.nan)])
def test_a_change_that_cannot_be_applied_changes_nothing(graph: MemoryGraph, src: int, dst: int, delta: float) -> None:
    edge = graph.find_edge(0, 1, EdgeType.TASK)
    change = Change(
        np.array([edge, -1], np.int32),
        np.array([0, src], np.int32),
        np.array([1, dst], np.int32),
        np.array([EdgeType.TASK] * 2, np.int8),
        np.array([0.1, delta], np.float32),
    )
    before = weights(graph)
    with pytest.raises(ValueError, match="nothing was applied"):
        graph.apply(change)
    assert weights(graph) == before


def test_decay_by_hand_never_strengthens_nor_flips(graph: MemoryGraph) -> None:
    graph.apply(propose(Decay(half_life=1.0), graph, Signal("pause")))
    graph.advance(2 * DAY)
    assert weights(graph) == pytest.approx({(0, 1): 0.125, (1, 2): 0.0625})


def test_lazy_decay_equals_eager_decay(graph: MemoryGraph) -> None:
    lazy, eager = graph, 0.5
    rng = np.random.default_rng(0)
    for _ in range(50):
        half_life = float(rng.uniform(0.5, 20))
        lazy.apply(propose(Decay(half_life=half_life), lazy, Signal("pause")))
        step = float(rng.exponential(0.2))
        lazy.advance(lazy.now + step * DAY)
        eager *= 2 ** (-step / half_life)
    assert weights(lazy)[0, 1] == pytest.approx(eager, abs=1e-6)


def test_clip_holds_for_any_delta(graph: MemoryGraph) -> None:
    column = np.array([0, 1, -1], np.int32)
    wild = Change(
        column,
        np.array([0, 1, 3], np.int32),
        np.array([1, 2, 0], np.int32),
        np.full(3, EdgeType.TASK, np.int8),
        np.array([9, -9, 7], np.float32),
    )
    change, _ = Clip(0.0, 1.0).update(wild, None, graph, Signal("task"))
    graph.apply(change)
    assert weights(graph) == {(0, 1): 1.0, (1, 2): 0.0, (3, 0): 1.0}


def test_prune_cuts_the_weak_and_is_idempotent(graph: MemoryGraph) -> None:
    rule = Prune(threshold=0.3)
    assert graph.apply(propose(rule, graph, Signal("pause"))).cut == 1
    assert set(weights(graph)) == {(0, 1)}
    assert propose(rule, graph, Signal("pause")).is_identity


def test_prune_leaves_young_edges_alone(graph: MemoryGraph) -> None:
    rule = Prune(threshold=0.3, grace=1.0)
    assert propose(rule, graph, Signal("pause")).is_identity
    graph.advance(DAY)
    assert propose(rule, graph, Signal("pause")).cut.tolist() == [1]


def test_max_links_counts_what_is_about_to_be_created(graph: MemoryGraph) -> None:
    chain = named_chain(hebbian=Hebbian(rate=0.1, delta="reward"), prune=Prune(max_links=1))
    graph.apply(propose(chain, graph, task(1.0, 0, 1, 2, 3)))
    assert all(len(graph.out_edges(node)) <= 1 for node in range(4))
    assert weights(graph)[0, 1] == pytest.approx(0.55)


def test_other_types_of_edges_are_left_alone(graph: MemoryGraph) -> None:
    version = graph.add_edge(3, 0, EdgeType.VERSION, 0.001)
    graph.apply(propose(RULES["chain"], graph, task(1.0, 0, 3), Signal("pause")))
    assert graph.src[version] == 3
    with pytest.raises(ValueError, match="reachable"):
        Prune(edge_types=(EdgeType.VERSION,))


@pytest.mark.parametrize("name", RULES)
def test_permuting_the_active_notes_permutes_the_change(name: str, graph: MemoryGraph) -> None:
    signal = replace(task(1.0, 0, 1, 2), activation=np.array([1, 0.5, 0.25], np.float32))
    order = np.array([2, 0, 1])
    turned = replace(signal, node_ids=signal.node_ids[order], activation=signal.activation[order])
    changes = [propose(RULES[name], graph, task(0.0, 3), each) for each in (signal, turned)]
    rows = [
        sorted(zip(change.src.tolist(), change.dst.tolist(), change.delta.tolist(), strict=True)) for change in changes
    ]
    assert rows[0] == rows[1]
    assert changes[0].cut.tolist() == changes[1].cut.tolist()


def test_a_rule_after_one_that_limits_it_is_refused_with_the_reason() -> None:
    with pytest.raises(ValueError, match="'late' stands after 'bound'"):
        named_chain(bound=Clip(), late=Hebbian())
