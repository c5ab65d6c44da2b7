import string

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.index import LexicalIndex, VectorIndex
from memory.tokens import tokenize


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 15)), max_size=60), st.integers(0, 20))
def test_exact_search_agrees_with_sorting_all_cosines(operations: list[tuple[bool, int]], k: int) -> None:
    index, held = VectorIndex(8), {}
    rng = np.random.default_rng(len(operations))
    for is_add, node_id in operations:
        if is_add:
            held[node_id] = rng.standard_normal(8)
            index.add(node_id, held[node_id])
        elif node_id in held:
            del held[node_id]
            index.remove(node_id)
    query = rng.standard_normal(8)
    cosine = {n: v @ query / np.linalg.norm(v) / np.linalg.norm(query) for n, v in held.items()}
    hits = index.search(query, k)
    assert hits.node_ids.tolist() == sorted(cosine, key=lambda n: -cosine[n])[:k]
    np.testing.assert_allclose(hits.scores, sorted(cosine.values(), reverse=True)[:k], atol=1e-6)
    assert len(index) == len(held)


def test_ties_come_in_the_order_of_node_ids() -> None:
    index = VectorIndex(2)
    for node_id in (7, 3, 9, 1):
        index.add(node_id, [1, 0])
    assert index.search([1, 0], 4).node_ids.tolist() == [1, 3, 7, 9]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_vectors_that_are_not_finite_are_refused_and_nothing_is_stored(bad: float) -> None:
    index = VectorIndex(2)
    with pytest.raises(ValueError, match="NaN or infinity"):
        index.add(0, [bad, 1])
    assert len(index) == 0


def test_another_dimension_is_refused_with_both_numbers() -> None:
    with pytest.raises(ValueError, match=r"768.*384"):
        VectorIndex(384).add(0, np.ones(768))


def test_a_zero_vector_scores_zero_and_huge_ones_do_not_overflow() -> None:
    index = VectorIndex(2)
    index.add(0, [0, 0])
    index.add(1, [3e38, 3e38])
    hits = index.search([1, 0], 5)
    assert hits.node_ids.tolist() == [1, 0]
    np.testing.assert_allclose(hits.scores, [np.sqrt(0.5), 0], atol=1e-6)


def test_bm25_agrees_with_the_formula_worked_by_hand() -> None:
    index = LexicalIndex(k1=0.9, b=0.4)
    texts = ["red fox", "red red hen barn", "blue hen"]
    for node_id, text in enumerate(texts):
        index.add(node_id, text)
    mean_length = 8 / 3
    # Lucene: idf = ln(1 + (N - df + 0.5) / (df + 0.5)); tf part = tf / (tf + k1 (1 - b + b length / mean)).
    idf = np.log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    want = [
        idf * tf / (tf + 0.9 * (0.6 + 0.4 * length / mean_length)) if tf else 0.0
        for tf, length in [(1, 2), (2, 4), (0, 2)]
    ]
    np.testing.assert_allclose(index.scores("red").scores, want, rtol=1e-5)


def test_adding_and_removing_one_at_a_time_equals_building_at_once() -> None:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(["oak", "elm", "ash", "fir", "yew"], 6)) for _ in range(30)]
    grown, fresh = LexicalIndex(), LexicalIndex()
    for node_id, text in enumerate(texts):
        grown.add(node_id, text)
        grown.search("oak", 3)
        if node_id % 3 == 0:
            grown.remove(node_id)
    for node_id, text in enumerate(texts):
        if node_id % 3:
            fresh.add(node_id, text)
    for query in ("oak elm", "yew"):
        assert grown.search(query, 30).node_ids.tolist() == fresh.search(query, 30).node_ids.tolist()


def test_two_chinese_characters_find_their_note() -> None:
    index = LexicalIndex()
    for node_id, text in enumerate(["我喜欢摄影和旅行", "遗忘曲线说明记忆会衰退", "今天天气很好", "他在学习做饭"]):
        index.add(node_id, text)
    assert index.search("摄影", 3).node_ids[0] == 0
    assert index.search("遗忘", 3).node_ids[0] == 1


@pytest.mark.parametrize("mark", [*string.punctuation, "\n", '"', "\u202e", "🎉"])
def test_no_mark_is_read_as_query_syntax(mark: str) -> None:
    index = LexicalIndex()
    name = f"Zor{mark}blax"
    index.add(0, f"met {name} today")
    index.add(1, "met nobody today")
    assert index.search(name, 3).node_ids[0] == 0
    assert index.search(mark * 3, 3).node_ids.tolist() == []


@pytest.mark.parametrize("query", ["", "  ", "\x00", "the of and"])
def test_a_query_without_terms_finds_nothing(query: str) -> None:
    index = LexicalIndex()
    assert index.search(query, 3).node_ids.tolist() == []
    index.add(0, "a red fox")
    assert index.search(query, 3).node_ids.tolist() == []
    assert index.search("fox", 0).node_ids.tolist() == []


def test_negative_k_is_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        LexicalIndex().search("x", -1)
    with pytest.raises(ValueError, match="-1"):
        VectorIndex(2).search([1, 0], -1)


def test_stop_words_go_and_words_are_stemmed() -> None:
    assert tokenize("The hikers were hiking") == ["hiker", "were", "hike"]
