import math
from itertools import pairwise

import numpy as np
import pytest

from fullduplex.measures.ranks import (
    ALL_TIED,
    PAIRS_OF_AT_MOST,
    kendalls_tau,
    order,
    rank_band,
    spearmans_rho,
    win_probability,
)


def _scores(values: object) -> dict[str, float]:
    return {f"i{k:04}": float(v) for k, v in enumerate(np.asarray(values, dtype=np.float64))}


@pytest.fixture(params=[2, 4, 1000], ids=["many ties", "ties", "no ties"])
def two_orders(request: pytest.FixtureRequest) -> tuple[dict[str, float], dict[str, float]]:
    random = np.random.default_rng(request.param)
    first = random.integers(0, request.param, 40) + random.random(40) * (request.param > 100)
    second = np.where(random.random(40) < 0.6, first, random.integers(0, request.param, 40))
    return _scores(first), _scores(second)


def test_tau_b_is_scipys(two_orders: tuple[dict[str, float], dict[str, float]]) -> None:
    from scipy.stats import kendalltau

    a, b = two_orders
    assert kendalls_tau(a, b).value == pytest.approx(kendalltau(list(a.values()), list(b.values())).statistic)


def test_rho_is_scipys(two_orders: tuple[dict[str, float], dict[str, float]]) -> None:
    from scipy.stats import spearmanr

    a, b = two_orders
    assert spearmans_rho(a, b).value == pytest.approx(spearmanr(list(a.values()), list(b.values())).statistic)


@pytest.mark.parametrize("call", [kendalls_tau, spearmans_rho])
def test_a_resample_is_correlated_as_its_items_would_be(call: object) -> None:
    # Two groups: a resample is one of them twice, or both once.
    from scipy.stats import kendalltau, spearmanr

    assert callable(call)
    oracle = kendalltau if call is kendalls_tau else spearmanr
    x, y = [1.0, 2, 3, 4, 5, 5], [2.0, 1, 3, 3, 6, 5]
    groups = {f"i{k:04}": "left" if k < 3 else "right" for k in range(6)}
    found = call(_scores(x), _scores(y), groups, resamples=400)
    halves = [oracle(x[:3] * 2, y[:3] * 2).statistic, oracle(x[3:] * 2, y[3:] * 2).statistic]
    assert (found.low, found.high) == (pytest.approx(min(halves)), pytest.approx(max([*halves, found.value])))


def test_an_order_against_itself_and_its_reverse() -> None:
    a = _scores(range(25))
    back = {name: -value for name, value in a.items()}
    for call in (kendalls_tau, spearmans_rho):
        assert call(a, a).value == pytest.approx(1)
        assert call(a, back).value == pytest.approx(-1)


def test_an_order_in_which_all_are_tied_correlates_with_nothing() -> None:
    a, flat = _scores(range(5)), _scores([1] * 5)
    for call in (kendalls_tau, spearmans_rho):
        found = call(a, flat)
        assert (found.value, found.low, found.n, found.method) == (None, None, 5, ALL_TIED)


def test_what_only_one_order_holds_is_told() -> None:
    found = kendalls_tau({"x": 1, "y": 2, "z": 3}, {"y": 1, "z": 2, "w": 1, "v": 1})
    assert (found.value, found.n, found.absent) == (1.0, 2, {"not in a": 2, "not in b": 1})


def test_nothing_in_common_has_no_correlation() -> None:
    assert spearmans_rho({"x": 1}, {"y": 1}).method == "no pairs"
    assert kendalls_tau({"x": 1}, {"x": 1}).method == "one pair: no order"


def test_many_things_have_a_tau_without_an_interval() -> None:
    from scipy.stats import kendalltau

    random = np.random.default_rng(0)
    n = PAIRS_OF_AT_MOST + 1
    a, b = random.integers(0, 9, n), random.integers(0, 9, n)
    found = kendalls_tau(_scores(a), _scores(b))
    assert found.value == pytest.approx(kendalltau(a, b).statistic)
    assert (found.low, found.method) == (None, "more than 1500 items: no interval")


def test_names_and_order_change_no_interval() -> None:
    random = np.random.default_rng(7)
    x, y = random.integers(0, 4, 30).tolist(), random.integers(0, 4, 30).tolist()
    there = {f"i{k}": (x[k], y[k], f"g{k % 11}") for k in range(30)}
    back = {f"x{77 - k}": (x[k], y[k], f"other {k % 11}") for k in reversed(range(30))}
    for call in (kendalls_tau, spearmans_rho):
        first, second = (
            call(
                {name: float(row[0]) for name, row in rows.items()},
                {name: float(row[1]) for name, row in rows.items()},
                {name: row[2] for name, row in rows.items()},
            )
            for rows in (there, back)
        )
        assert first == second


# Orders


def test_equal_values_share_the_mean_of_their_ranks() -> None:
    found = order({"a": 0.5, "b": 0.9, "c": 0.5, "d": None, "e": 0.1}, "higher")
    assert found.tiers == (("b",), ("a", "c"), ("e",))
    assert found.ranks == {"b": 1.0, "a": 2.5, "c": 2.5, "e": 4.0}
    assert found.absent == ("d",)


def test_lower_can_be_better() -> None:
    assert order({"a": 2.0, "b": 1.0}, "lower").tiers == (("b",), ("a",))


def test_without_a_better_direction_there_is_no_order() -> None:
    for call in (lambda: order({}, "neither"), lambda: rank_band({}, "neither")):  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="higher or lower"):
            call()


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        order({"a": math.nan}, "higher")
    with pytest.raises(ValueError, match="finite"):
        win_probability({"x": 1.0}, {"x": math.inf})


# Win probability


def test_always_ahead_wins_always_and_never_ahead_never() -> None:
    a, b = _scores(range(25)), _scores(np.arange(25) - 0.5)
    assert win_probability(a, b).probability == 1.0
    assert win_probability(a, b, "lower").probability == 0.0


def test_equal_values_are_ties_and_count_half() -> None:
    a = _scores(np.arange(25) / 10)
    found = win_probability(a, dict(a))
    assert (found.probability, found.tied) == (0.5, 1.0)


def test_sums_that_are_equal_on_paper_tie() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in floating point.
    found = win_probability(_scores([0.1, 0.2, 0.0]), _scores([0.0, 0.0, 0.3]), resamples=4000)
    assert found.tied is not None
    # Of 27 draws, 6 hold each item once and 0 others sum to 0.
    assert found.tied == pytest.approx(6 / 27, abs=0.03)


def test_the_probability_is_the_share_of_resamples() -> None:
    # a is ahead by 3 on one item of two and behind by 1 on the other: only one draw of four is lost.
    found = win_probability(_scores([3, 0]), _scores([0, 1]), resamples=20_000)
    assert found.probability == pytest.approx(0.75, abs=0.02)


def test_winning_and_losing_add_up() -> None:
    random = np.random.default_rng(1)
    a, b = _scores(random.integers(0, 2, 40)), _scores(random.integers(0, 2, 40))
    there, back = win_probability(a, b, seed=1), win_probability(b, a, seed=1)
    assert there.probability is not None and back.probability is not None
    assert there.probability + back.probability == pytest.approx(1, abs=0.03)


def test_items_without_a_partner_are_told() -> None:
    found = win_probability({"x": 1.0, "y": 2.0, "z": 0.0}, {"x": 0.0, "z": 0.0, "w": 1.0})
    assert (found.n, found.absent) == (2, {"no value of a": 1, "no value of b": 1})


def test_without_pairs_or_with_one_group_there_is_no_probability() -> None:
    assert win_probability({"x": 1.0}, {"y": 1.0}).probability is None
    found = win_probability({"x": 1.0, "y": 1.0}, {"x": 0.0, "y": 0.0}, groups={"x": "one", "y": "one"})
    assert (found.probability, found.n) == (None, 2)
    assert "one group" in found.method


def test_dependence_inside_groups_makes_less_sure() -> None:
    a, b = _scores([1] * 12 + [0] * 8), _scores([0] * 12 + [1] * 8)
    groups = {name: "one" if k < 12 else f"{k}" for k, name in enumerate(a)}
    alone, grouped = win_probability(a, b).probability, win_probability(a, b, groups=groups).probability
    assert alone is not None and grouped is not None
    assert alone > 0.75 > grouped


# Rank bands


def test_a_clear_order_is_kept_in_every_resample() -> None:
    values = {name: _scores(np.arange(30) + step) for name, step in (("mid", 1), ("best", 2), ("last", 0))}
    found = rank_band(values, "higher")
    assert {name: (band.rank, band.low, band.high) for name, band in found.systems.items()} == {
        "best": (1.0, 1.0, 1.0),
        "mid": (2.0, 2.0, 2.0),
        "last": (3.0, 3.0, 3.0),
    }
    assert found.systems["mid"].shares == {2.0: 1.0}


def test_systems_that_are_alike_share_every_rank() -> None:
    scores = _scores(np.random.default_rng(0).random(30))
    found = rank_band({"a": scores, "b": dict(scores), "c": dict(scores)}, "lower")
    assert all(band.shares == {2.0: 1.0} for band in found.systems.values())


def test_shares_of_ranks_add_up_and_stand_in_order() -> None:
    random = np.random.default_rng(4)
    values = {name: _scores(random.integers(0, 2, 30)) for name in "abcd"}
    found = rank_band(values, "higher")
    for band in found.systems.values():
        assert sum(band.shares.values()) == pytest.approx(1)
        assert all(a < b for a, b in pairwise(band.shares))
        assert band.low in band.shares and band.high in band.shares
    assert sum(rank * share for band in found.systems.values() for rank, share in band.shares.items()) == (
        pytest.approx(1 + 2 + 3 + 4)
    )


def test_a_band_agrees_with_the_win_probability() -> None:
    random = np.random.default_rng(9)
    a, b = _scores(random.random(30)), _scores(random.random(30))
    band, win = rank_band({"a": a, "b": b}, "higher").systems["a"], win_probability(a, b)
    assert win.probability == pytest.approx(band.shares[1.0], abs=0.03)


def test_only_items_of_every_system_count() -> None:
    found = rank_band({"a": {"x": 1.0, "y": 1.0}, "b": {"y": 2.0, "z": 0.0}}, "higher")
    assert (found.n, found.absent) == (1, {"not of every system": 2})
    assert (found.systems["b"].rank, found.systems["b"].low) == (1.0, None)


def test_no_common_item_has_no_bands() -> None:
    found = rank_band({"a": {"x": 1.0}, "b": {"y": 2.0}}, "higher")
    assert (found.systems, found.n, found.method) == ({}, 0, "no item of every system")
    assert rank_band({}, "higher").systems == {}
