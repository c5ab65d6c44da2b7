import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from envs.measures import f1, ndcg_at, recall_at, reciprocal_rank
from envs.rewards import EdgeCost, EvidenceRecall, Outcome, TokenCost, WeightedSum


def hits(*places: int) -> np.ndarray:
    return np.array(places, bool)


def test_golden_values_by_hand() -> None:
    ranking = hits(0, 1, 0, 1)
    assert recall_at(ranking, 4, 2) == 0.25
    assert recall_at(ranking, 4) == 0.5
    assert reciprocal_rank(ranking) == 0.5
    assert f1(ranking, 4) == 0.5
    # Gains at ranks 2 and 4; ideal ranks 1 to 3.
    want = (1 / np.log2(3) + 1 / np.log2(5)) / (1 + 1 / np.log2(3) + 1 / 2)
    assert ndcg_at(ranking, 3, 5) == pytest.approx(want)
    # The ideal of nDCG@1 has one place.
    assert ndcg_at(hits(1), 3, 1) == 1.0


@pytest.mark.parametrize("k", [1, 3, 5, 10])
def test_ndcg_agrees_with_scikit_learn(k: int) -> None:
    rng = np.random.default_rng(k)
    for _ in range(50):
        ranking = rng.random(10) < 0.4
        if ranking.any():
            want = ndcg_score([ranking.astype(int)], [np.arange(10, 0, -1)], k=k)
            assert ndcg_at(ranking, int(ranking.sum()), k) == pytest.approx(want)


def test_without_gold_every_measure_is_zero() -> None:
    for ranking in (hits(), hits(0, 0)):
        assert recall_at(ranking, 0) == ndcg_at(ranking, 0, 5) == reciprocal_rank(ranking) == f1(ranking, 0) == 0


def test_the_sum_of_rewards_by_hand() -> None:
    outcome = Outcome(hits(1, 0), num_gold=2, tokens=100, num_edges=50)
    reward = WeightedSum(
        {"recall": 2.0}, recall=EvidenceRecall(), tokens=TokenCost(1000), edges=EdgeCost(500), off=None
    )
    assert reward(outcome) == pytest.approx(2 * 0.5 - 0.1 - 0.1)
    with pytest.raises(ValueError, match="typo"):
        WeightedSum({"typo": 1.0}, recall=EvidenceRecall())
