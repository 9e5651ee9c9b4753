from collections.abc import Iterable

import numpy as np
import pytest

from fullduplex.measures.statistics import holm, paired, wilson


def _items(values: Iterable[float]) -> dict[str, float]:
    return {f"i{k:04}": float(v) for k, v in enumerate(values)}


def test_the_effect_is_b_minus_a() -> None:
    found = paired(_items([1, 1, 0]), _items([0, 1, 0]))
    assert found.effect == pytest.approx(-1 / 3)
    assert found.n == 3


def test_few_pairs_are_enumerated() -> None:
    # Five of five in one direction: 2 of 32 patterns are as extreme.
    found = paired(_items([0] * 5), _items([1] * 5))
    assert found.p == 2 / 32
    assert "all 32 patterns" in found.method


def test_ties_count_as_extreme() -> None:
    # Discordant 3 : 1, so 10 of 16 patterns lie at least as far out.
    assert paired(_items([0, 0, 0, 1]), _items([1, 1, 1, 0])).p == 10 / 16


def test_on_rates_the_test_is_mcnemars_exact_one() -> None:
    from scipy.stats import binomtest

    a, b = [0] * 9 + [1] * 3 + [1] * 20, [1] * 9 + [0] * 3 + [1] * 20
    assert paired(_items(a), _items(b)).p == pytest.approx(binomtest(3, 12).pvalue)


def test_means_agree_with_scipys_exact_permutation() -> None:
    from scipy.stats import permutation_test

    random = np.random.default_rng(2)
    a, b = random.exponential(size=10), random.exponential(size=10) + 0.3
    oracle = permutation_test(
        (a, b), lambda x, y, axis: np.mean(y - x, axis=axis), permutation_type="samples", vectorized=True
    )
    assert paired(_items(a), _items(b)).p == pytest.approx(oracle.pvalue)


def test_many_pairs_are_drawn_and_p_is_never_0() -> None:
    found = paired(_items([0] * 60), _items([1] * 60), seed=3)
    assert found.p == 1 / 10_001
    assert "10000 patterns, seed 3" in found.method


def test_drawn_patterns_agree_with_the_exact_test() -> None:
    from scipy.stats import binomtest

    a, b = [0] * 20 + [1] * 10, [1] * 20 + [0] * 10
    assert paired(_items(a), _items(b)).p == pytest.approx(binomtest(10, 30).pvalue, abs=0.01)


def test_signs_flip_by_group() -> None:
    # Six items of one speaker are one coin, not six.
    a, b = _items([0] * 6 + [0] * 2), _items([1] * 6 + [1] * 2)
    groups = dict.fromkeys(list(a)[:6], "one speaker")
    assert paired(a, b, groups).p == 2 / 2**3
    assert paired(a, b).p == 2 / 2**8


def test_no_flips_is_not_called_certain() -> None:
    found = paired(_items([1, 0, 1] * 5), _items([1, 0, 1] * 5))
    bound = wilson(0, 15)[1]
    assert (found.effect, found.low, found.high, found.p) == (0.0, -bound, bound, 1.0)
    assert "Wilson 95 % on 15 items, every difference equal" in found.method


def test_flips_in_every_item_are_not_called_certain() -> None:
    up, down = paired(_items([0] * 9), _items([1] * 9)), paired(_items([1] * 9), _items([0] * 9))
    assert (up.low, up.high) == (1 - 2 * wilson(0, 9)[1], 1.0)
    assert (down.low, down.high) == (-1.0, -1 + 2 * wilson(0, 9)[1])


def test_equal_differences_of_latencies_have_no_width_and_say_so() -> None:
    found = paired(_items([0.25] * 30), _items([0.5] * 30))
    assert (found.effect, found.low, found.high) == (0.25, 0.25, 0.25)
    assert "every difference equal" in found.method


def test_one_group_has_no_interval_and_no_significance() -> None:
    found = paired(_items([0, 0]), _items([1, 1]), {"i0000": "x", "i0001": "x"})
    assert (found.low, found.high, found.p) == (None, None, 1.0)


def test_no_pairs_is_absent() -> None:
    found = paired({}, {})
    assert (found.n, found.effect, found.p, found.method) == (0, None, None, "no pairs")


def test_items_that_differ_are_refused() -> None:
    with pytest.raises(ValueError, match="same items"):
        paired({"a": 1.0}, {"b": 1.0})


def test_swapping_the_systems_only_turns_the_sign() -> None:
    random = np.random.default_rng(4)
    a, b = _items(random.normal(size=12)), _items(random.normal(size=12))
    there, back = paired(a, b), paired(b, a)
    assert there.effect is not None
    assert back.effect == pytest.approx(-there.effect)
    assert there.p == back.p


def test_under_no_difference_p_is_small_as_rarely_as_it_should_be() -> None:
    random = np.random.default_rng(6)
    drawn = [paired(_items(random.normal(size=10)), _items(random.normal(size=10)), resamples=50).p for _ in range(200)]
    assert sum(p is not None and p <= 0.05 for p in drawn) <= 20


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_holm_never_exceeds_1_and_keeps_order() -> None:
    assert holm([0.6, 0.9]) == [1.0, 1.0]
    assert holm([]) == []
