import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.change import Change
from memory.edge_type import EdgeType
from memory.graph import MemoryGraph
from memory.note import Note


def graph_of(num_notes: int) -> MemoryGraph:
    graph = MemoryGraph()
    for number in range(num_notes):
        graph.add_note(Note(f"note {number}", timestamp=float(number)))
    return graph


def assert_consistent(graph: MemoryGraph) -> None:
    """No dangling edge: rows and columns tell the same story."""
    edges = set(graph.edges().tolist())
    assert len(edges) == graph.num_edges
    for rows, ends in ((graph.out_rows, graph.src), (graph.in_rows, graph.dst)):
        seen = [(node, edge) for node in range(graph.num_nodes) for edge in rows.row(node).tolist()]
        assert {edge for _, edge in seen} == edges
        assert len(seen) == len(edges)
        assert all(ends[edge] == node for node, edge in seen)
    assert all(graph.alive[graph.src[edge]] and graph.alive[graph.dst[edge]] for edge in edges)


def test_several_types_coexist_between_one_pair() -> None:
    graph = graph_of(2)
    ids = {graph.add_edge(0, 1, edge_type, 0.5) for edge_type in EdgeType}
    assert len(ids) == len(EdgeType)
    assert graph.find_edge(0, 1, EdgeType.TEMPORAL) != graph.find_edge(0, 1, EdgeType.SEMANTIC)
    assert graph.find_edge(1, 0, EdgeType.SEMANTIC) == -1


def test_removed_note_leaves_no_edge_and_its_text_starts_anew() -> None:
    graph = graph_of(21)
    for other in range(1, 21):
        graph.add_edge(0, other, EdgeType.SEMANTIC, 0.5)
        graph.add_edge(other, 0, EdgeType.SEMANTIC, 0.5)
    graph.remove_note(0)
    assert graph.num_edges == 0
    assert_consistent(graph)
    again = graph.add_note(Note("note 0", timestamp=50.0))
    assert len(graph.out_edges(again)) == len(graph.in_edges(again)) == 0
    with pytest.raises(KeyError, match="no note at node 0"):
        graph.note(0)


def test_weight_halves_after_one_half_life() -> None:
    graph = graph_of(2)
    edge = graph.add_edge(0, 1, EdgeType.TASK, 0.8)
    graph.apply(Change(retention=np.full(len(EdgeType), np.log(2) / 10)))
    graph.advance(graph.now + 10)
    assert graph.effective_weight([edge])[0] == pytest.approx(0.4)
    assert graph.weight[edge] == pytest.approx(0.8)


def test_clock_never_runs_back() -> None:
    graph = graph_of(2)
    graph.add_note(Note("late news of an early day", timestamp=-5.0))
    assert graph.now == 1.0
    assert graph.num_clock_reversals == 1


@pytest.mark.parametrize("weight", [np.nan, np.inf, -np.inf])
def test_weight_that_is_not_finite_is_refused(weight: float) -> None:
    graph = graph_of(2)
    with pytest.raises(ValueError, match="not finite"):
        graph.add_edge(0, 1, EdgeType.TASK, weight)
    edge = graph.add_edge(0, 1, EdgeType.TASK, 0.5)
    column = np.array([edge], np.int32)
    with pytest.raises(ValueError, match="nothing was applied"):
        graph.apply(Change(column, column, column, np.array([3], np.int8), np.array([weight], np.float32)))
    assert graph.weight[edge] == 0.5


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from("nerx"), st.integers(0, 30), st.integers(0, 30), st.integers(0, 7)), max_size=120
    )
)
def test_no_sequence_of_operations_leaves_a_dangling_edge(operations: list[tuple[str, int, int, int]]) -> None:
    graph = graph_of(3)
    for operation, first, second, kind in operations:
        living = np.flatnonzero(graph.alive[: graph.num_nodes])
        if operation == "n":
            graph.add_note(Note("more", timestamp=float(first)))
        elif operation == "e" and len(living) > 1 and first % len(living) != second % len(living):
            graph.add_edge(int(living[first % len(living)]), int(living[second % len(living)]), EdgeType(kind), 0.5)
        elif operation == "r" and graph.num_edges:
            graph.remove_edge(int(graph.edges()[first % graph.num_edges]))
        elif operation == "x" and len(living):
            graph.remove_note(int(living[first % len(living)]))
    assert_consistent(graph)
