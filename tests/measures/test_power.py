from typing import Any

import numpy as np
import pytest

from fullduplex.errors import InputError
from fullduplex.measures.statistics import detectable, items_needed, items_needed_for_mean


def test_a_textbook_figure() -> None:
    # R: power.prop.test(p1 = .50, p2 = .75, power = .90) gives n = 76.7.
    assert items_needed(0.5, 0.75, power=0.9) == 77


def test_0_66_from_0_70_takes_thousands() -> None:
    assert items_needed(0.66, 0.70) == 2134


def test_alike_systems_need_fewer_pairs() -> None:
    alone = items_needed(0.66, 0.70, paired=True)
    assert items_needed(0.66, 0.70, paired=True, correlation=0.8) < alone / 3
    assert items_needed(0.66, 0.70, paired=True, correlation=0) == alone


def test_a_discordance_is_taken_as_given() -> None:
    # ψ = δ: every disagreement favours one system, so the plain n would be z² / δ.
    assert items_needed(0.6, 0.7, paired=True, discordance=0.1) < items_needed(0.6, 0.7, paired=True, discordance=0.3)


def test_the_unpaired_n_gives_its_power_in_simulation() -> None:
    n = items_needed(0.5, 0.65)
    random = np.random.default_rng(1)
    a, b = random.binomial(n, 0.5, 20_000) / n, random.binomial(n, 0.65, 20_000) / n
    mean = (a + b) / 2
    share = np.mean(np.abs(a - b) / np.sqrt(2 * mean * (1 - mean) / n) > 1.959964)
    assert share == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("psi", [0.15, 0.3])
def test_the_paired_n_keeps_its_power_under_the_exact_test(psi: Any) -> None:
    from scipy.stats import binom

    n = items_needed(0.6, 0.7, paired=True, discordance=psi)
    random = np.random.default_rng(2)
    wins, losses = random.multinomial(n, [(psi + 0.1) / 2, (psi - 0.1) / 2, 1 - psi], 20_000)[:, :2].T
    p = np.minimum(1, 2 * binom.cdf(np.minimum(wins, losses), wins + losses, 0.5))
    # Whole numbers of flips make the exact test step, so the correction errs towards more power.
    assert 0.79 <= np.mean(p <= 0.05) <= 0.86


@pytest.mark.parametrize("paired", [True, False])
def test_the_n_for_a_latency_gives_its_power_in_simulation(paired: Any) -> None:
    from scipy.stats import ttest_1samp, ttest_ind

    n = items_needed_for_mean(0.1, 0.2, paired=paired)
    random = np.random.default_rng(3)
    a = random.normal(0.1, 0.2, (4000, n))
    p = ttest_1samp(a, 0, axis=1).pvalue if paired else ttest_ind(a, random.normal(0, 0.2, (4000, n)), axis=1).pvalue
    assert np.mean(p < 0.05) == pytest.approx(0.8, abs=0.025)


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"paired": True, "correlation": 0.5}])
@pytest.mark.parametrize("towards", ["higher", "lower"])
def test_what_is_detectable_needs_just_that_many(options: Any, towards: Any) -> None:
    found = detectable(0.66, 400, towards=towards, **options)
    assert found is not None
    assert items_needed(0.66, found, **options) == 400


def test_too_few_items_detect_nothing() -> None:
    assert detectable(0.9, 5) is None
    assert detectable(1.0, 500) is None


def test_a_correlation_bends_where_rates_rule_it_out() -> None:
    found = detectable(0.1, 60, paired=True, correlation=0.9)
    assert found is not None
    assert 0.1 < found < 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"p1": 66, "p2": 0.7}, "plan, p1: found 66, expected a rate from 0 to 1"),
        ({"p1": 0.6, "p2": 0.6}, "differs from p1"),
        ({"p1": 0.6, "p2": 0.7, "power": 1.0}, "power"),
        ({"p1": 0.6, "p2": 0.7, "alpha": 0.0}, "alpha"),
        ({"p1": 0.6, "p2": 0.7, "correlation": 0.5}, "paired"),
        ({"p1": 0.6, "p2": 0.7, "paired": True, "discordance": 0.05}, "0.100 to 0.700"),
        ({"p1": 0.1, "p2": 0.7, "paired": True, "correlation": 0.9}, "0.600 to 0.800"),
        ({"p1": 0.6, "p2": 0.7, "paired": True, "correlation": 0.5, "discordance": 0.3}, "not both"),
        ({"p1": 0.6, "p2": 0.7, "paired": True, "correlation": -0.5}, "from 0 to below 1"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(asked: Any, words: Any) -> None:
    with pytest.raises(InputError, match=words):
        items_needed(**asked)


def test_a_difference_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="other than 0"):
        items_needed_for_mean(0, 1)
    with pytest.raises(InputError, match="positive"):
        items_needed_for_mean(1, 0)
