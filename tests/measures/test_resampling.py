import numpy as np
import pytest

from fullduplex.measures.intervals import estimate
from fullduplex.measures.resampling import drawn, estimate_of, ratio, summed


def test_a_mean_has_the_interval_that_means_have() -> None:
    random = np.random.default_rng(0)
    values = random.exponential(size=60)
    groups = [f"g{k % 25}" if k % 5 else "" for k in range(60)]
    found = estimate_of(
        summed(np.column_stack([values, np.ones(60)]), groups),
        lambda sums: ratio(sums[:, 0], sums[:, 1]),
        undefined="",
        seed=1,
        resamples=10_000,
    )
    oracle = estimate(values, groups, seed=1)
    assert found.value == pytest.approx(oracle.value)
    assert found.low == pytest.approx(oracle.low, rel=0.02)
    assert found.high == pytest.approx(oracle.high, rel=0.02)


def test_each_resample_draws_as_many_groups() -> None:
    times = np.concatenate(list(drawn(7, resamples=100, seed=0, width=1 << 16)))
    assert times.shape == (100, 7)
    assert set(times.sum(axis=1)) == {7}


def test_items_without_a_group_are_groups_of_their_own() -> None:
    found = summed(np.array([[1.0], [2.0], [4.0], [8.0]]), ["", "x", "", "x"])
    assert found.rows[:, 0].tolist() == [1.0, 4.0, 10.0]
    assert (found.items, found.unit) == (4, "groups")


def test_a_group_may_be_called_by_a_number_like_anything_else() -> None:
    assert len(summed(np.ones((3, 1)), ["", "0", "1"]).rows) == 3


def test_groups_that_are_all_alike_have_no_interval() -> None:
    found = estimate_of(
        summed(np.ones((9, 2)), [""] * 9), lambda s: ratio(s[:, 0], s[:, 1]), undefined="", seed=0, resamples=10
    )
    assert (found.value, found.low, found.method) == (1.0, None, "all 9 items alike: no interval")


def test_a_formula_without_a_value_says_why() -> None:
    found = estimate_of(
        summed(np.zeros((9, 1)), [""] * 9), lambda s: ratio(s[:, 0], s[:, 0]), undefined="why", seed=0, resamples=10
    )
    assert (found.value, found.n, found.method) == (None, 9, "why")
