"""Whether an outcome depends on a value: exact p values that can be counted by hand, and what is not tested."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from fullduplex.measures.association import Association, association


def of(outcome: Sequence[float], value: Sequence[float], **more: dict[str, str] | int) -> Association:
    names = [f"i{n:04}" for n in range(len(value))]
    given = dict(zip(names, outcome, strict=True)), dict(zip(names, value, strict=True))
    return association(*given, **more)  # type: ignore[arg-type]


def test_three_failures_at_the_three_shortest_of_six_delays_come_by_chance_in_two_of_twenty_arrangements() -> None:
    found = of([0, 0, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6])
    assert found.p == pytest.approx(2 / 20)
    assert found.rho.value == pytest.approx(0.8783100657)
    assert found.method == "permutation of the outcomes over 6 items, all 20 arrangements"


def test_ties_share_their_ranks_and_the_test_counts_what_is_as_far_either_way() -> None:
    outcome, value = [0, 1, 0, 1, 1, 0, 1], [2.0, 2.0, 1.0, 3.0, 3.0, 1.0, 2.0]
    ranks = np.array([4, 4, 1.5, 6.5, 6.5, 1.5, 4]) - 4
    sums = [abs(ranks[list(those)].sum()) for those in combinations(range(7), 4)]
    there = abs(ranks[[1, 3, 4, 6]].sum())
    assert of(outcome, value).p == pytest.approx(np.mean([one >= there - 1e-9 for one in sums]))


def test_outcomes_that_do_not_depend_on_the_value_are_seldom_said_to() -> None:
    rng = np.random.default_rng(5)
    ps = [of(list(rng.integers(0, 2, 12)), list(rng.normal(size=12)), resamples=10).p for _ in range(300)]
    share = np.mean([p is not None and p <= 0.05 for p in ps])
    assert 0.01 <= share <= 0.08


def test_an_outcome_that_depends_on_it_is_found_by_drawn_arrangements_and_p_is_never_0() -> None:
    n = 40
    found = of([float(i > 20) for i in range(n)], [float(i) for i in range(n)])
    assert found.p == pytest.approx(1 / 10_001)
    assert found.method.endswith("10000 arrangements, seed 0")


def test_the_drawn_p_is_near_the_exact_one_and_a_seed_repeats_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from fullduplex.measures import association as module

    outcome, value = [0.0, 1, 0, 1, 1, 0, 1, 0, 0, 1], [2.0, 3, 1, 5, 4, 7, 9, 0.5, 6, 8]
    exact = of(outcome, value).p
    monkeypatch.setattr(module, "EXACT_UP_TO", 0)
    drawn = [of(outcome, value, seed=seed).p for seed in (1, 1, 2)]
    assert exact is not None and drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == pytest.approx(exact, abs=0.02)


def test_outcomes_of_more_than_two_values_are_arranged_too() -> None:
    found = of([1, 2, 3, 4, 5], [1, 2, 3, 4, 5])
    assert found.p == pytest.approx(2 / 120)


def test_the_direction_and_the_names_of_items_change_nothing() -> None:
    outcome, value = [0.0, 1, 0, 1, 1, 0, 1], [2.0, 3, 1, 5, 4, 7, 9]
    there = of(outcome, value).p
    assert of(outcome, [-one for one in value]).p == pytest.approx(there)
    assert of(outcome[::-1], value[::-1]).p == pytest.approx(there)


@pytest.mark.parametrize(
    ("outcome", "value", "why"),
    [
        ([0, 1, 0, 1], [1, 2, 3, 4], "fewer than 5 items"),
        ([1] * 6, [1, 2, 3, 4, 5, 6], "every outcome is alike"),
        ([0, 1, 0, 1, 0, 1], [2] * 6, "every value is alike"),
        ([], [], "fewer than 5 items"),
    ],
)
def test_what_cannot_be_tested_has_no_p_and_says_why(outcome: list[float], value: list[float], why: str) -> None:
    found = of(outcome, value)
    assert found.p is None and found.method.startswith(why)


def test_items_without_one_of_the_two_are_counted_and_left_out() -> None:
    outcome = {f"i{n}": float(n % 2) for n in range(8)}
    value = {f"i{n}": float(n) for n in range(2, 10)}
    found = association(outcome, value)
    assert (found.rho.n, found.rho.absent) == (6, {"not in a": 2, "not in b": 2})
    assert "over 6 items" in found.method


def test_items_of_one_group_are_no_further_evidence() -> None:
    outcome = [float(n // 3 > 2) for n in range(18)]
    value = [float(n // 3) for n in range(18)]
    apart = of(outcome, value)
    groups = {f"i{n:04}": f"g{n // 3}" for n in range(18)}
    together = of(outcome, value, groups=groups)
    assert together.p == pytest.approx(2 / 20) and "6 groups" in together.method
    assert apart.p is not None and apart.p < 0.001
    few = of(outcome, value, groups={f"i{n:04}": f"g{n // 6}" for n in range(18)})
    assert few.p is None and few.method == "fewer than 5 groups"
