from typing import Any

import numpy as np
import pytest

from fullduplex.measures import clusters as module
from fullduplex.measures.clusters import clusters, flipped_sums, resampled_means, resampled_quantiles


def test_an_item_without_a_group_is_its_own_group() -> None:
    found = clusters([1.0, 2.0, 4.0, 8.0], ["", "x", "", "x"])
    assert sorted(zip(found.sums, found.sizes, strict=True)) == [(1.0, 1), (4.0, 1), (10.0, 2)]
    assert not found.single


def test_groups_are_read_from_lists_and_arrays_alike() -> None:
    assert (
        clusters([1, 2, 3], np.array(["a", "a", ""])).sums.tolist() == clusters([1, 2, 3], ["a", "a", ""]).sums.tolist()
    )


def test_every_value_stays_in_its_own_cluster() -> None:
    values, groups = [3.0, 1.0, 2.0, 9.0, 5.0], ["b", "a", "b", "", "a"]
    found = clusters(values, groups)
    by_number: dict[int, list[float]] = {}
    for value, number in zip(found.values, found.cluster, strict=True):
        by_number.setdefault(int(number), []).append(float(value))
    assert sorted(by_number.values()) == [[1.0, 5.0], [2.0, 3.0], [9.0]]
    assert [sum(by_number[i]) for i in range(3)] == found.sums.tolist()


def test_neither_order_nor_names_of_groups_matter() -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=60)
    groups = [f"g{i % 9}" for i in range(60)]
    order = random.permutation(60)
    there = clusters(values, groups)
    back = clusters(values[order], [f"other {groups[i][1:]}" for i in order])
    assert there.sums.tolist() == back.sums.tolist()
    assert there.values.tolist() == back.values.tolist()
    assert there.cluster.tolist() == back.cluster.tolist()


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="absent"):
        clusters([1.0, float("nan")], None)


def test_lengths_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="2 values have 1 groups"):
        clusters([1.0, 2.0], ["a"])


def test_resampled_means_weigh_a_group_by_its_size() -> None:
    # Draws of two groups can only be (0·3)/3, (0·3 + 1)/4 or 1.
    means = resampled_means(clusters([0, 0, 0, 1], ["a", "a", "a", "b"]), resamples=500, seed=0)
    assert set(means) == {0.0, 0.25, 1.0}


def test_a_quantile_of_a_draw_is_numpys_quantile() -> None:
    values = np.random.default_rng(5).normal(size=7)
    drawn = clusters(values, None)
    ours = resampled_quantiles(drawn, 0.3, resamples=40, seed=9)
    picked = np.random.default_rng(9).integers(7, size=(40, 7))
    assert ours == pytest.approx(np.quantile(drawn.values[picked], 0.3, axis=1), abs=1e-12)


def test_a_quantile_of_drawn_groups_pools_their_values() -> None:
    values, groups = [1.0, 2.0, 3.0, 10.0, 20.0], ["a", "a", "a", "b", "b"]
    drawn = clusters(values, groups)
    ours = resampled_quantiles(drawn, 0.5, resamples=200, seed=1)
    assert set(ours) == {2.0, 3.0, 15.0}


def test_long_rows_are_drawn_across_blocks(monkeypatch: Any) -> None:
    monkeypatch.setattr(module, "_BLOCK", 4)
    drawn = clusters(np.arange(10.0), None)
    means = resampled_means(drawn, resamples=2000, seed=0)
    assert means.mean() == pytest.approx(4.5, abs=0.1)
    assert means.std() == pytest.approx(np.arange(10).std() / 10**0.5, rel=0.1)
    totals = flipped_sums(np.arange(10.0), flips=4000, seed=0)
    assert totals.std() == pytest.approx(np.sqrt((np.arange(10.0) ** 2).sum()), rel=0.1)
