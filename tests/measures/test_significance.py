import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.measures.permutation import holm, paired
from fullduplex.measures.significance import (
    COMPARISONS,
    FEATURES,
    PairedTest,
    Row,
    Trimming,
    paired_tests,
    released_tests,
    responded,
)
from fullduplex.model.trials import Absent

Feature = dict[str, dict[str, float | Absent | None]]
CASES = Path(__file__).resolve().parents[3] / "shared/cases/full-duplex-bench"


def _rows(differences: list[float], feature: str = "wpm") -> list[Row]:
    return [
        {"pre": {feature: 100.0 + k}, "post": {feature: 100.0 + k + d}, "clean": {feature: 100.0}}
        for k, d in enumerate(differences)
    ]


def _first(rows: list[Row], trimming: Trimming = "none", feature: str = "wpm") -> PairedTest:
    return released_tests(rows, trimming, (feature,))[0]


def _printed(test: PairedTest) -> list[str]:
    """Return the figures of a test, rounded as the released script prints them."""
    assert test.p is not None
    figures = (test.mean_before, test.mean_after, test.delta, test.low, test.high)
    shown = [f"{figure:.2f}" for figure in figures]
    shown += [f"t({test.df})", f"{test.t:.2f}", "<.001" if test.p < 0.001 else f"{test.p:.3f}", f"{test.d_z:.2f}"]
    return shown + ([f"{test.n_removed}/{test.n + test.n_removed} pairs"] if test.n_removed else [])


# The released tests


@pytest.mark.parametrize("trimming", ["mad", "iqr", "none"])
def test_every_figure_is_the_released_scripts(trimming: Trimming) -> None:
    if not CASES.is_dir():
        pytest.skip("the released scripts' cases are not beside this checkout")

    def read(name: str) -> dict[str, Any]:
        found = (CASES / "v15_significance").glob(f"*/{name}.json")
        return {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in found}

    behaviours = {name: tag["behaviour"] for name, tag in read("content_tag").items()}
    rows, left = responded(read("general_split"), behaviours)
    assert (len(rows), left) == (10, {"behaviour is not C_RESPOND": 1, "no behaviour": 1})
    lines = json.loads((CASES / "expected/v15_significance.json").read_text(encoding="utf-8"))[trimming]["lines"]
    tests = released_tests(rows, trimming)
    assert [line.split(": ")[0] for line in lines] == [test.name for test in tests]
    number = r"-?\d+\.\d+|<\.001|t\(\d+\)|\d+/\d+ pairs"
    assert [re.findall(number, line) for line in lines] == [_printed(test) for test in tests]
    reliable = [not line.split(": ")[1].startswith("no ") for line in lines]
    assert reliable == [test.p is not None and test.p < 0.05 for test in tests]


def test_the_t_test_is_scipys() -> None:
    from scipy.stats import ttest_rel

    random = np.random.default_rng(0)
    differences = random.normal(3, 5, 17).tolist()
    found, oracle = _first(_rows(differences)), ttest_rel(np.array(differences), np.zeros(17))
    low, high = oracle.confidence_interval(0.95)
    assert found.df == 16
    assert [found.t, found.p] == pytest.approx([oracle.statistic, oracle.pvalue])
    assert [found.low, found.high] == pytest.approx([low, high])
    assert found.d_z == pytest.approx(np.mean(differences) / np.std(differences, ddof=1))


def test_ten_tests_stand_in_the_scripts_order() -> None:
    names = [test.name for test in released_tests(_rows([1.0, 2.0, 4.0]))]
    assert names == [f"{a}_vs_{b}:{feature}" for feature in FEATURES for a, b in COMPARISONS]


def test_a_rate_of_0_on_any_side_drops_the_row_from_every_test() -> None:
    rows: list[Row] = [*_rows([1.0, 2.0, 4.0], "std_pitch")]
    rows.append({"pre": {"std_pitch": 1.0}, "post": {"std_pitch": 9.0}, "clean": {"wpm": 0.0, "std_pitch": 1.0}})
    found = _first(rows, feature="std_pitch")
    assert (found.n, found.absent) == (3, {"a rate of 0 words a minute": 1})


@pytest.mark.parametrize(
    ("feature", "placeholder", "value"),
    [("mean_pitch", 0.0, 0.1), ("std_intensity", 0.0, 0.1), ("mean_intensity", -190.0, -189.9)],
)
def test_placeholders_are_missing_and_their_neighbours_are_not(feature: str, placeholder: float, value: float) -> None:
    def with_last(last: float) -> PairedTest:
        rows: list[Row] = _rows([1.0, 2.0, 4.0], feature)
        rows.append({"pre": {feature: 100.0}, "post": {feature: last}, "clean": {feature: 100.0}})
        return _first(rows, feature=feature)

    assert (with_last(placeholder).n, with_last(placeholder).absent) == (3, {"not measured": 1})
    assert (with_last(value).n, with_last(value).absent) == (4, {})


def test_an_intensity_of_0_dB_is_a_value() -> None:  # noqa: N802
    rows: list[Row] = [{"pre": {"mean_intensity": 0.0}, "post": {"mean_intensity": float(k)}} for k in range(1, 4)]
    assert _first(rows, feature="mean_intensity").n == 3


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_gap_is_counted(missing: float | None) -> None:
    rows: list[Row] = [*_rows([1.0, 2.0, 4.0]), {"pre": {"wpm": 100.0}, "post": {"wpm": missing}}, {}]
    assert (_first(rows).n, _first(rows).absent) == (3, {"not measured": 2})


def test_a_figure_that_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match=r"post\.wpm is not a finite number"):
        _first(_rows([1.0, math.inf]))


def test_a_rule_of_trimming_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="mad, iqr or none"):
        released_tests([], "sigma")  # type: ignore[arg-type]


def test_quartiles_interpolate_and_their_edge_is_kept() -> None:
    # Quartiles 1 and 3: kept up to 3 + 1.5 × 2 = 6.
    assert _first(_rows([0.0, 1.0, 2.0, 3.0, 6.0]), "iqr").n_removed == 0
    assert _first(_rows([0.0, 1.0, 2.0, 3.0, 6.5]), "iqr").n_removed == 1


def test_the_median_deviation_is_scaled_to_a_normal_ones() -> None:
    # Median 0, median absolute deviation 1: kept within 3.5 × 1.4826 = 5.1891.
    assert _first(_rows([-1.0, -1.0, 0.0, 1.0, 5.125]), "mad").n_removed == 0
    assert _first(_rows([-1.0, -1.0, 0.0, 1.0, 5.25]), "mad").n_removed == 1


def test_without_a_median_deviation_nothing_is_trimmed() -> None:
    assert _first(_rows([0.0, 0.0, 0.0, 0.0, 50.0]), "mad").n_removed == 0


def test_one_pair_is_no_test() -> None:
    found = _first(_rows([1.0]))
    assert (found.n, found.t, found.p, found.why) == (1, None, None, "fewer than two pairs")
    assert _first([]).why == "fewer than two pairs"


def test_equal_differences_have_no_t() -> None:
    found = _first(_rows([2.0, 2.0, 2.0]))
    assert (found.delta, found.t, found.p, found.d_z) == (2.0, None, None, None)
    assert found.why == "every difference equal: no t"


def test_behaviours_are_looked_for_among_several() -> None:
    row: Row = {"pre": {}}
    rows, left = responded({"a": row, "b": row, "c": row}, {"a": ["C_RESUME", "C_RESPOND"], "b": ["C_RESUME"], "c": []})
    assert (rows, left) == ([row], {"behaviour is not C_RESPOND": 1, "no behaviour": 1})


# Ours


def test_the_test_is_the_paired_permutation() -> None:
    random = np.random.default_rng(3)
    a = {f"i{k:02}": float(v) for k, v in enumerate(random.normal(size=30))}
    b = {name: value + 0.4 + float(random.normal()) / 3 for name, value in a.items()}
    groups = {name: f"g{k // 3}" for k, name in enumerate(a)}
    (found,) = paired_tests({"wpm": a}, {"wpm": b}, groups, seed=5)
    oracle = paired(a, b, groups, seed=5)
    assert (found.effect, found.low, found.high, found.p) == (oracle.effect, oracle.low, oracle.high, oracle.p)
    assert found.method == oracle.method
    differences = np.array([b[name] - a[name] for name in a])
    assert found.d_z == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.mean_after == pytest.approx(np.mean(list(b.values())))


def test_p_is_adjusted_over_the_features_that_have_one() -> None:
    random = np.random.default_rng(2)
    zero = {f"i{k:02}": 0.0 for k in range(10)}
    after = {f: {name: float(random.normal(step)) for name in zero} for f, step in (("x", 0), ("y", 1), ("z", 2))}
    tests = paired_tests(dict.fromkeys([*after, "empty"], zero), {**after, "empty": {}})
    ps = [test.p for test in tests if test.p is not None]
    assert [test.name for test in tests] == ["x", "y", "z", "empty"]
    assert [test.p_holm for test in tests] == [*holm(ps), None]
    assert (tests[-1].n, tests[-1].effect, tests[-1].absent) == (0, None, {"after: no value": 10})


def test_absences_are_told_with_their_side_and_reason() -> None:
    before: Feature = {"wpm": {"a": 1.0, "b": Absent("too few words"), "c": 2.0, "d": None}}
    after: Feature = {"wpm": {"a": 2.0, "b": 1.0, "c": Absent("silent"), "e": 1.0}}
    (found,) = paired_tests(before, after)
    assert found.n == 1
    assert found.absent == {"after: silent": 1, "before: no value": 2, "before: too few words": 1}


def test_nothing_is_trimmed() -> None:
    before = {"wpm": {f"i{k}": 0.0 for k in range(9)}}
    after = {"wpm": {f"i{k}": 1000.0 if k == 0 else float(k % 2) for k in range(9)}}
    assert paired_tests(before, after)[0].n == 9


def test_equal_differences_have_no_d_z() -> None:
    # 0.1 more each time, but for the last bits.
    before = {"wpm": {f"i{k}": k / 10 for k in range(9)}}
    after = {"wpm": {f"i{k}": k / 10 + 0.1 for k in range(9)}}
    (found,) = paired_tests(before, after)
    assert found.d_z is None
    assert found.effect == pytest.approx(0.1)


def test_a_feature_of_one_side_is_told_not_dropped() -> None:
    (found,) = paired_tests({}, {"utmos": {"a": 3.0}})
    assert (found.name, found.n, found.absent) == ("utmos", 0, {"before: no value": 1})
