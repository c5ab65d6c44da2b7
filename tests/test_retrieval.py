"""Retrieval on one drawn graph.

0 --1.0--> 1 --0.5--> 2        TASK edges; 0 --0.2--> 3 SEMANTIC; 4 stands alone
"""

import networkx as nx
import numpy as np
import pytest

from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.index import Hits, LexicalIndex, VectorIndex
from memory.note import Note
from memory.retrieval import (
    AdjacentTurns,
    Budget,
    ConvexCombination,
    Dense,
    Lexical,
    MaximalMarginalRelevance,
    PersonalizedPageRank,
    Recent,
    ReciprocalRankFusion,
    Retriever,
    SpreadingActivation,
    TypedBreadthFirst,
)
from memory.surface import Query, Surface

TEXTS = ["red fox", "blue hen", "grey owl", "red barn", "green frog"]


@pytest.fixture
def surface() -> Surface:
    surface = Surface(MemoryGraph(), VectorIndex(5), LexicalIndex())
    for number, text in enumerate(TEXTS):
        surface.graph.add_note(Note(text, timestamp=float(number)))
        surface.vectors.add(number, np.eye(5)[number])
        surface.lexical.add(number, text)
    surface.graph.add_edge(0, 1, EdgeType.TASK, 1.0)
    surface.graph.add_edge(1, 2, EdgeType.TASK, 0.5)
    surface.graph.add_edge(0, 3, EdgeType.SEMANTIC, 0.2)
    return surface


def ask(text: str, *direction: float) -> Query:
    vector = np.zeros(5, np.float32)
    vector[: len(direction)] = direction
    return Query(text, vector)


SEED, FULL = np.array([0]), np.ones(1, np.float32)


def test_spreading_activation_by_hand(surface: Surface) -> None:
    reached = SpreadingActivation(hops=2, damping=0.5).spread(surface.graph, SEED, FULL)
    np.testing.assert_allclose(reached.values, [1, 0.5, 0.125, 0.1, 0], atol=1e-7)
    assert reached.hops.tolist() == [0, 1, 2, 1, -1]


def test_fan_out_follows_the_strongest_and_types_are_kept_apart(surface: Surface) -> None:
    one = SpreadingActivation(hops=1, fan_out=1).spread(surface.graph, SEED, FULL)
    assert one.hops.tolist() == [0, 1, -1, -1, -1]
    typed = SpreadingActivation(hops=2, edge_types=[EdgeType.SEMANTIC]).spread(surface.graph, SEED, FULL)
    assert typed.hops.tolist() == [0, -1, -1, 1, -1]
    assert SpreadingActivation(fan_out=0).spread(surface.graph, SEED, FULL).hops.tolist() == [0, -1, -1, -1, -1]


def test_spreading_reads_faded_weights(surface: Surface) -> None:
    surface.graph.rate[EdgeType.TASK] = np.log(2)
    surface.graph.advance(surface.graph.now + 1)
    reached = SpreadingActivation(hops=1, damping=1.0).spread(surface.graph, SEED, FULL)
    np.testing.assert_allclose(reached.values[[1, 3]], [0.5, 0.2], rtol=1e-6)


def test_pagerank_by_push_agrees_with_networkx() -> None:
    rng = np.random.default_rng(3)
    graph, oracle = MemoryGraph(), nx.DiGraph()
    for _ in range(40):
        graph.add_note(Note("x", timestamp=0.0))
    for src in range(40):
        for dst in rng.choice(40, 4, replace=False).tolist():
            if src != dst:
                weight = float(rng.uniform(0.1, 1))
                graph.add_edge(src, dst, EdgeType.TASK, weight)
                oracle.add_edge(src, dst, weight=weight)
    seeds = {3: 0.75, 8: 0.25}
    want = nx.pagerank(oracle, alpha=0.5, personalization=seeds, tol=1e-12)
    got = PersonalizedPageRank(alpha=0.5, eps=1e-9).spread(graph, np.array([3, 8]), np.array([0.75, 0.25], np.float32))
    exact = np.array([want.get(node, 0.0) for node in range(40)])
    np.testing.assert_allclose(got.values, exact / exact.max(), atol=1e-5)


def test_breadth_first_keeps_to_hops_and_budget(surface: Surface) -> None:
    reach = TypedBreadthFirst(hops=2, budget=10).spread(surface.graph, np.array([2]), FULL)
    assert reach.hops.tolist() == [2, 1, 0, -1, -1]
    assert (TypedBreadthFirst(hops=4, budget=2).spread(surface.graph, np.array([2]), FULL).hops >= 0).sum() == 2


def test_a_note_out_of_reach_of_the_question_is_found_by_its_edge(surface: Surface) -> None:
    query = ask("", 1, 0, -0.5)
    alone = Retriever(budget=Budget(notes=2)).recall(surface, query)
    linked = Retriever(expansion=SpreadingActivation(), num_seeds=1, budget=Budget(notes=2)).recall(surface, query)
    assert linked.node_ids.tolist() == [0, 1]
    assert alone.scores[0] > 0
    assert linked.hops.tolist() == [0, 1]


def test_adjacent_turns_by_hand(surface: Surface) -> None:
    surface.graph.add_edge(1, 2, EdgeType.TEMPORAL, 1.0)
    surface.graph.add_edge(2, 3, EdgeType.TEMPORAL, 1.0)
    hits = Hits(np.arange(5), np.array([0, 1, 0, 2, 0], np.float32))
    smoothed = AdjacentTurns(previous=0.5, following=0.25).smooth(surface.graph, hits)
    np.testing.assert_allclose(smoothed.scores, [0, 1, 0.5 + 0.5, 2, 0])


def test_rank_fusion_by_hand(surface: Surface) -> None:
    query = ask("red barn", 1, 0.5)
    fused = ReciprocalRankFusion([Dense(), Lexical()], k=60).score(surface, query)
    # Dense ranks 0, 1, 2, 3, 4; lexical ranks 3, 0, then ties by node id: 1, 2, 4.
    want = [1 / 61 + 1 / 62, 1 / 62 + 1 / 63, 1 / 63 + 1 / 64, 1 / 64 + 1 / 61, 1 / 65 + 1 / 65]
    np.testing.assert_allclose(fused.scores, want, rtol=1e-5)


def test_convex_combination_of_one_part_keeps_its_order(surface: Surface) -> None:
    query = ask("red", 0.1, 0.4, 0.3)
    one = ConvexCombination([Dense(), Lexical()], [1, 0]).score(surface, query)
    np.testing.assert_allclose(one.scores.mean(), 0, atol=1e-6)
    assert one.top(5).node_ids.tolist() == Dense().score(surface, query).top(5).node_ids.tolist()


@pytest.mark.parametrize("weights", [[1.0], [0.0, 0.0], [1.0, -1.0]])
def test_weights_that_make_no_mean_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        ConvexCombination([Dense(), Lexical()], weights)


@pytest.mark.parametrize(
    ("notes", "tokens", "want"), [(0, None, 0), (3, None, 3), (99, None, 5), (None, 5, 2), (None, 0, 0)]
)
def test_the_budget_ends_the_list(notes: int | None, tokens: int | None, want: int, surface: Surface) -> None:
    assert len(Retriever(Recent()).recall(surface, ask(""), Budget(notes, tokens)).node_ids) == want


def test_a_negative_budget_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        Budget(notes=-1)


@pytest.mark.parametrize("anchors", [Dense(), Lexical(), Recent(), ConvexCombination([Dense(), Lexical()])])
def test_an_empty_memory_recalls_nothing(anchors: Dense) -> None:
    empty = Surface(MemoryGraph(), VectorIndex(5), LexicalIndex())
    assert len(Retriever(anchors, expansion=SpreadingActivation()).recall(empty, ask("x", 1)).node_ids) == 0


def test_no_edge_lifts_a_note_above_the_best_anchor(surface: Surface) -> None:
    question = ask("", 1.0, 0.2, 0.6)
    plain = Retriever(anchors=Dense()).recall(surface, question)
    score = dict(zip(plain.node_ids.tolist(), plain.scores.tolist(), strict=True))
    for gain, lifted in ((0.5, 0.5), (1.0, 1.0), (100.0, 1.0)):
        spread = SpreadingActivation(hops=1, damping=1.0, edge_types=["task"])
        recall = Retriever(anchors=Dense(), expansion=spread, num_seeds=1, expansion_weight=gain).recall(
            surface, question
        )
        got = dict(zip(recall.node_ids.tolist(), recall.scores.tolist(), strict=True))
        # Over the edge 0 -> 1 of weight 1 the seed's whole activation of 1 arrives.
        assert got[1] == pytest.approx(score[1] + (1 - score[1]) * lifted)
        assert got[0] == max(got.values()) == 1
        assert got[2] == pytest.approx(score[2])


def test_marginal_relevance_by_hand() -> None:
    surface = Surface(MemoryGraph(), VectorIndex(2), LexicalIndex())
    for number, vector in enumerate(([1.0, 0.0], [1.0, 0.0], [0.0, 1.0])):
        surface.graph.add_note(Note(f"note {number}", timestamp=0.0))
        surface.vectors.add(number, vector)
    hits = Hits(np.array([0, 1, 2]), np.array([1.0, 0.9, 0.0], np.float32))
    # The twin of the first is worth 0.5 * 0.9 - 0.5 * 1, the other note 0.5 * 0 - 0.5 * 0.
    got = MaximalMarginalRelevance(relevance=0.5).rerank(surface, ask(""), hits)
    assert got.scores.tolist() == pytest.approx([1, 1 / 3, 1 / 2])
    same = MaximalMarginalRelevance(relevance=1.0).rerank(surface, ask(""), hits)
    assert same.scores.tolist() == pytest.approx([1, 1 / 2, 1 / 3])


def test_a_reranker_orders_the_head_and_leaves_the_tail_behind_it(surface: Surface) -> None:
    question = ask("", 1.0, 0.9, 0.8, 0.7, 0.6)
    reranked = Retriever(reranker=MaximalMarginalRelevance(relevance=0.0), rerank_depth=3).recall(surface, question)
    assert sorted(reranked.node_ids[:3].tolist()) == [0, 1, 2]
    assert reranked.node_ids[3:].tolist() == [3, 4]
