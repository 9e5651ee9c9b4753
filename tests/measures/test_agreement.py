import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from fullduplex.measures.agreement import (
    Level,
    Ratings,
    Value,
    accuracy,
    agreement_with_each,
    cohens_kappa,
    confusion,
    fleiss_kappa,
    krippendorffs_alpha,
    macro_f1,
    majority,
    per_class,
    percent_agreement,
    reference,
    stability,
    trust,
)
from fullduplex.measures.agreement.chance import EVERY_RATING_EQUAL
from fullduplex.measures.intervals import wilson
from fullduplex.measures.metric import Estimate
from fullduplex.model.trials import Absent, Verdict

LABELS = Path(__file__).resolve().parents[3] / "shared/data/results_per_item/eva_judge_human_labels/conciseness.jsonl"
PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/agreement.md"

#: Fleiss 1971: the diagnoses (1 to 5) that 30 patients got, each from six psychiatrists.
PSYCHIATRISTS = """
    444444 222555 233335 555555 222444 113333 333355 113334 114444 555555
    144444 124444 222333 144444 224445 333335 111455 111112 224444 133555
    555555 244444 224555 114444 144445 222224 111155 224444 133333 555555
"""
#: The worked example of ten subjects and fourteen raters.
FOURTEEN = (
    (0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1),
    (7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7),
)  # fmt: skip
#: Krippendorff's example: four observers, twelve units, gaps.
FOUR_OBSERVERS = """
    1 2 3 3 2 1 4 1 2 . . .
    1 2 3 3 2 2 4 1 2 5 . 3
    . 3 3 3 2 3 4 2 2 5 1 .
    1 2 3 3 2 4 4 1 2 5 1 .
"""


def _pairs(*times: tuple[Value, Value, int]) -> dict[str, dict[str, Value]]:
    rows = [(a, b) for a, b, count in times for _ in range(count)]
    return {f"i{k:03}": {"ann": a, "bob": b} for k, (a, b) in enumerate(rows)}


def _counted(rows: Sequence[Sequence[int]]) -> dict[str, dict[str, Value]]:
    return {
        f"i{k:02}": {f"r{i:02}": float(v) for i, v in enumerate(value for value, c in enumerate(row) for _ in range(c))}
        for k, row in enumerate(rows)
    }


def _observed(drawing: str) -> dict[str, dict[str, Value | None]]:
    rows = [line.split() for line in drawing.strip().splitlines()]
    return {
        f"u{k:02}": {f"o{i}": None if row[k] == "." else float(row[k]) for i, row in enumerate(rows)}
        for k in range(len(rows[0]))
    }


def _value(found: Estimate) -> float:
    assert found.value is not None
    return found.value


# Worked examples


def test_cohens_kappa_of_the_grant_proposals() -> None:
    # 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: observed 0.7, by chance 0.5.
    found = cohens_kappa(_pairs(("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)))
    assert found.value == pytest.approx(0.4)
    assert found.n == 50


@pytest.mark.parametrize(
    ("table", "kappa"), [((45, 15, 25, 15), 0.1304), ((25, 35, 5, 35), 0.2593)], ids=["60 of 100", "other marginals"]
)
def test_equal_percentages_have_different_kappas(table: tuple[int, int, int, int], kappa: float) -> None:
    both, first, second, neither = table
    ratings = _pairs(("yes", "yes", both), ("yes", "no", first), ("no", "yes", second), ("no", "no", neither))
    assert _value(percent_agreement(ratings)) == pytest.approx(0.6)
    assert _value(cohens_kappa(ratings)) == pytest.approx(kappa, abs=5e-5)


def test_cohens_example_of_two_hundred_cases() -> None:
    counts = ((88, 14, 18), (10, 40, 10), (2, 6, 12))
    ratings = _pairs(*((f"{i}", f"{j}", n) for i, row in enumerate(counts) for j, n in enumerate(row)))
    assert _value(cohens_kappa(ratings)) == pytest.approx(0.492, abs=5e-4)


def test_fleiss_of_the_psychiatrists() -> None:
    ratings: Ratings = {
        f"patient {k:02}": {f"{place}": diagnosis for place, diagnosis in enumerate(row)}
        for k, row in enumerate(PSYCHIATRISTS.split())
    }
    found = fleiss_kappa(ratings)
    assert _value(found) == pytest.approx(0.4302445, abs=5e-8)
    assert found.n == 30


def test_fleiss_of_the_fourteen_raters() -> None:
    found = fleiss_kappa(_counted(FOURTEEN))
    assert _value(found) == pytest.approx(0.210, abs=5e-4)
    assert found.n == 10


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_krippendorffs_own_example(level: Level, alpha: float) -> None:
    found = krippendorffs_alpha(_observed(FOUR_OBSERVERS), level)
    assert _value(found) == pytest.approx(alpha, abs=5e-4)
    assert (found.n, found.absent) == (11, {"fewer than two ratings": 1})


# Against another implementation


@pytest.fixture
def two_raters() -> tuple[list[int], list[int]]:
    random = np.random.default_rng(5)
    first = random.integers(1, 6, 80)
    second = np.where(random.random(80) < 0.5, first, random.integers(1, 6, 80))
    return first.tolist(), second.tolist()


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_scikit_learns(
    two_raters: tuple[list[int], list[int]], weights: Literal["linear", "quadratic"] | None
) -> None:
    oracle = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    first, second = two_raters
    ratings: Ratings = {f"i{k}": {"a": a, "b": b} for k, (a, b) in enumerate(zip(first, second, strict=True))}
    expected = oracle.cohen_kappa_score(first, second, weights=weights)
    assert _value(cohens_kappa(ratings, weights=weights)) == pytest.approx(expected, abs=1e-12)


def test_accuracy_and_macro_f1_are_scikit_learns(two_raters: tuple[list[int], list[int]]) -> None:
    oracle = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    truth, said = two_raters
    judge: dict[str, Value | None] = {f"i{k}": value for k, value in enumerate(said)}
    people: Ratings = {f"i{k}": {"ann": value} for k, value in enumerate(truth)}
    assert _value(accuracy(judge, people)) == pytest.approx(oracle.accuracy_score(truth, said))
    assert _value(macro_f1(judge, people)) == pytest.approx(oracle.f1_score(truth, said, average="macro"))
    assert np.array_equal(confusion(judge, people).table, oracle.confusion_matrix(truth, said))
    each = per_class(judge, people)
    assert [_value(c.recall) for c in each] == pytest.approx(oracle.recall_score(truth, said, average=None))
    assert [_value(c.precision) for c in each] == pytest.approx(oracle.precision_score(truth, said, average=None))
    assert [c.f1 for c in each] == pytest.approx(oracle.f1_score(truth, said, average=None))


def test_alpha_of_complete_ratings_is_fleiss_kappa_of_a_small_sample(two_raters: tuple[list[int], list[int]]) -> None:
    # They differ by a factor (n - 1) / n in chance, n the number of ratings: alpha corrects for small samples.
    first, second = two_raters
    ratings: Ratings = {f"i{k}": {"a": a, "b": b} for k, (a, b) in enumerate(zip(first, second, strict=True))}
    n = 2 * len(first)
    alpha = _value(krippendorffs_alpha(ratings))
    assert 1 - (1 - alpha) * n / (n - 1) == pytest.approx(_value(fleiss_kappa(ratings)))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_alpha_follows_its_definition_pair_by_pair(level: Level) -> None:
    random = np.random.default_rng(8)
    ratings: dict[str, dict[str, Value | None]] = {
        f"u{u}": {f"r{r}": float(random.integers(0, 4)) for r in range(5) if random.random() < 0.6} for u in range(25)
    }
    units = [[float(v) for v in row.values() if v is not None] for row in ratings.values()]
    units = [unit for unit in units if len(unit) > 1]
    pooled = [value for unit in units for value in unit]

    def apart(a: float, b: float) -> float:
        if level == "nominal":
            return float(a != b)
        if level == "interval":
            return (a - b) ** 2
        low, high = min(a, b), max(a, b)
        return (sum(low <= v <= high for v in pooled) - (pooled.count(low) + pooled.count(high)) / 2) ** 2

    def between(values: Sequence[float]) -> float:
        return math.fsum(apart(a, b) for i, a in enumerate(values) for j, b in enumerate(values) if i != j)

    observed = math.fsum(between(unit) / (len(unit) - 1) for unit in units)
    expected = between(pooled) / (len(pooled) - 1)
    assert _value(krippendorffs_alpha(ratings, level)) == pytest.approx(1 - observed / expected)


# What has no value


@pytest.mark.parametrize(
    "found",
    [
        cohens_kappa(_pairs(("yes", "yes", 9))),
        fleiss_kappa(_pairs(("yes", "yes", 9))),
        krippendorffs_alpha(_pairs((0.1, 0.1, 9)), "nominal"),
        krippendorffs_alpha(_pairs((0.1, 0.1, 9)), "ordinal"),
        krippendorffs_alpha(_pairs((0.1, 0.1, 9)), "interval"),
    ],
    ids=["cohen", "fleiss", "nominal", "ordinal", "interval"],
)
def test_one_value_throughout_is_neither_agreement_nor_none(found: Estimate) -> None:
    assert found == Estimate(None, None, None, 9, {}, EVERY_RATING_EQUAL)


@pytest.mark.parametrize("call", [percent_agreement, fleiss_kappa, krippendorffs_alpha])
def test_no_ratings_is_no_value(call: Any) -> None:
    found = call({})
    assert (found.value, found.low, found.n, found.method) == (None, None, 0, "no values")


def test_two_raters_without_a_common_item_have_no_kappa() -> None:
    found = cohens_kappa({"x": {"ann": "yes"}, "y": {"bob": "no"}})
    assert (found.value, found.n) == (None, 0)
    assert found.absent == {"not rated by bob": 1, "not rated by ann": 1}


def test_a_rating_of_none_is_a_gap() -> None:
    gap: Ratings = {"x": {"a": 1, "b": None}, "y": {"a": 1, "b": 1}}
    left_out: Ratings = {"x": {"a": 1}, "y": {"a": 1, "b": 1}}
    assert percent_agreement(gap) == percent_agreement(left_out)
    assert percent_agreement(gap).absent == {"fewer than two ratings": 1}


def test_fleiss_tells_the_items_with_another_number_of_raters() -> None:
    ratings = _counted([(2, 1), (3, 0), (0, 3), (1, 1), (1, 0), (0, 4)])
    found = fleiss_kappa(ratings)
    assert found.n == 3
    assert found.absent == {"1 rating, not 3": 1, "2 ratings, not 3": 1, "4 ratings, not 3": 1}


def test_fleiss_can_be_told_how_many_raters() -> None:
    assert fleiss_kappa(_counted([(2, 1), (3, 0), (1, 1), (0, 2)]), raters=2).n == 2


def test_kappa_of_three_raters_wants_two_named() -> None:
    ratings = {"x": {"ann": 1, "bob": 1, "cid": 2}, "y": {"ann": 2, "bob": 1, "cid": 2}}
    with pytest.raises(ValueError, match="name the two"):
        cohens_kappa(ratings)
    assert cohens_kappa(ratings, ("ann", "cid")).n == 2


# Scales


def test_numbers_and_names_are_not_compared() -> None:
    with pytest.raises(ValueError, match="mix numbers"):
        percent_agreement({"x": {"ann": 3, "bob": "3"}})
    with pytest.raises(ValueError, match="mix numbers"):
        accuracy({"x": "3"}, {"x": {"ann": 3}})


def test_what_is_not_finite_is_refused() -> None:
    with pytest.raises(ValueError, match="missing one is None"):
        krippendorffs_alpha({"x": {"ann": math.nan, "bob": 1}})


def test_a_value_outside_the_scale_is_refused() -> None:
    with pytest.raises(ValueError, match="rating maybe is none of the scale's"):
        cohens_kappa(_pairs(("yes", "maybe", 1)), labels=("yes", "no"))


def test_names_have_an_order_only_if_told() -> None:
    ratings = _pairs(("bad", "fair", 4), ("fair", "good", 3), ("good", "good", 5), ("bad", "good", 1))
    with pytest.raises(ValueError, match="labels in order"):
        krippendorffs_alpha(ratings, "ordinal")
    with pytest.raises(ValueError, match="labels in order"):
        cohens_kappa(ratings, weights="linear")
    numbers = _pairs((0, 1, 4), (1, 2, 3), (2, 2, 5), (0, 2, 1))
    named = krippendorffs_alpha(ratings, "ordinal", ("bad", "fair", "good"))
    assert named == krippendorffs_alpha(numbers, "ordinal")
    assert cohens_kappa(ratings, weights="linear", labels=("bad", "fair", "good")) == cohens_kappa(
        numbers, weights="linear"
    )


def test_a_step_that_nobody_used_still_is_a_distance() -> None:
    # On a scale of 1 to 4 where 2 never occurs, 1 and 3 are two apart.
    ratings = _pairs((1, 3, 2), (3, 4, 2), (4, 4, 3), (1, 1, 3))
    assert cohens_kappa(ratings, weights="linear") == cohens_kappa(ratings, weights="linear", labels=(1, 2, 3, 4))
    assert cohens_kappa(ratings, weights="linear") != cohens_kappa(
        _pairs((1, 2, 2), (2, 3, 2), (3, 3, 3), (1, 1, 3)), weights="linear"
    )


@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_where_the_scale_begins_does_not_matter(shift: float) -> None:
    random = np.random.default_rng(1)
    drawn = random.integers(0, 5, (40, 3))
    ratings: Ratings = {f"i{k}": {f"r{r}": float(v) + shift for r, v in enumerate(row)} for k, row in enumerate(drawn)}
    plain: Ratings = {f"i{k}": {f"r{r}": float(v) for r, v in enumerate(row)} for k, row in enumerate(drawn)}
    assert krippendorffs_alpha(ratings, "interval").value == krippendorffs_alpha(plain, "interval").value


# Intervals


def test_full_agreement_is_not_called_certain() -> None:
    ratings = _pairs(("yes", "yes", 10), ("no", "no", 10))
    found = cohens_kappa(ratings)
    # By chance half would disagree: Wilson's bound for 0 of 20 disagreements, over a half.
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - wilson(0, 20)[1] / 0.5)
    assert "no disagreement" in found.method
    assert fleiss_kappa(ratings).low == pytest.approx(found.low)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_full_agreement_of_two_values_is_bounded_alike_at_every_level(level: Level) -> None:
    found = krippendorffs_alpha(_pairs((0, 0, 10), (1, 1, 10)), level)
    # 40 ratings, half of each value: 2 × 20 × 20 / (40 × 39) of their pairs differ.
    assert found.low == pytest.approx(1 - wilson(0, 20)[1] / (2 * 20 * 20 / (40 * 39)))


def test_one_group_has_no_interval() -> None:
    ratings = _pairs(("yes", "yes", 3), ("yes", "no", 3), ("no", "no", 3))
    found = cohens_kappa(ratings, groups=dict.fromkeys(ratings, "one talk"))
    assert (found.low, found.high, found.method) == (None, None, "one group: no interval")


def test_groups_are_drawn_whole() -> None:
    random = np.random.default_rng(3)
    talks = [f"talk {k // 10}" for k in range(200)]
    rate = random.random(20)
    ratings: dict[str, dict[str, Value]] = {}
    for k in range(200):
        first = int(random.integers(2))
        ratings[f"i{k:03}"] = {"a": first, "b": first if random.random() < rate[k // 10] else 1 - first}
    alone = cohens_kappa(ratings)
    grouped = cohens_kappa(ratings, groups=dict(zip(ratings, talks, strict=True)))
    assert grouped.value == alone.value
    assert grouped.low is not None and alone.low is not None
    assert grouped.low < alone.low
    assert grouped.method.startswith("cluster bootstrap 95 %, 20 groups, 10000 resamples, seed 0")


def test_few_items_are_called_few() -> None:
    assert "fewer than 50 items: too narrow" in fleiss_kappa(_counted(FOURTEEN)).method


def test_resamples_without_a_value_are_told() -> None:
    # One "no" among twelve: a third of the resamples miss it, and then nothing could disagree.
    found = krippendorffs_alpha(_pairs(("yes", "yes", 11), ("yes", "no", 1)))
    assert (found.low, found.high) == (None, None)
    assert "resamples have no value" in found.method
    few = krippendorffs_alpha(_pairs(("yes", "yes", 30), ("yes", "no", 5)))
    assert few.low is not None
    assert "without a value left out" in few.method


def test_neither_order_nor_names_of_items_matter() -> None:
    random = np.random.default_rng(2)
    drawn = random.integers(0, 4, (30, 3))
    groups = {f"i{k:02}": f"g{k % 12}" for k in range(30)}
    there: Ratings = {f"i{k:02}": {f"r{r}": int(v) for r, v in enumerate(row)} for k, row in enumerate(drawn)}
    back: Ratings = {f"x{99 - k}": {f"r{r}": int(v) for r, v in enumerate(drawn[k])} for k in reversed(range(30))}
    renamed = {f"x{99 - k}": f"other {k % 12}" for k in range(30)}
    for level in ("nominal", "ordinal", "interval"):
        assert krippendorffs_alpha(there, level, groups=groups) == krippendorffs_alpha(back, level, groups=renamed)
    assert fleiss_kappa(there, groups=groups) == fleiss_kappa(back, groups=renamed)
    assert percent_agreement(there, groups=groups) == percent_agreement(back, groups=renamed)


# A judge and people


PEOPLE: dict[str, dict[str, Value | None]] = {
    "a": {"ann": "good", "bob": "good", "cid": "bad"},
    "b": {"ann": "good", "bob": "bad"},
    "c": {"ann": "bad", "bob": "bad"},
    "d": {"ann": None},
    "e": {"ann": "good"},
}
JUDGE: Mapping[str, Value | None] = {"a": "good", "b": "good", "c": "good", "d": "good", "e": None, "f": "good"}


def test_the_majority_is_said_more_often_than_any_other() -> None:
    assert majority([3, 3, 1]) == 3
    assert majority([3, 3, 1, 2, 5]) == 3
    assert majority([3, 3, 1, 1, 2]) == Absent("raters tie")
    assert majority([]) == Absent("nobody rated")


def test_items_without_a_majority_are_told() -> None:
    kept, lost = reference(PEOPLE)
    assert kept == {"a": "good", "c": "bad", "e": "good"}
    assert lost == {"b": "raters tie", "d": "no human label"}


def test_accuracy_counts_what_is_missing() -> None:
    found = accuracy(JUDGE, PEOPLE)
    assert (found.value, found.n) == (0.5, 2)
    assert found.absent == {"no human label": 2, "no verdict": 1, "raters tie": 1}


def test_single_labels_need_no_majority() -> None:
    found = agreement_with_each(JUDGE, PEOPLE)
    assert found.value == pytest.approx((2 / 3 + 1 / 2 + 0) / 3)
    assert found.absent == {"no human label": 2, "no verdict": 1}


def test_a_class_that_was_never_said_has_no_recall() -> None:
    good, bad, awful = per_class(JUDGE, PEOPLE, ("good", "bad", "awful"))
    assert (good.recall.value, good.precision.value, good.f1) == (1.0, 0.5, 2 / 3)
    assert (bad.recall.value, bad.precision.value, bad.f1) == (0.0, None, 0.0)
    assert bad.precision.absent["judge never said it"] == 2
    assert (awful.recall.value, awful.f1) == (None, None)


def test_the_table_has_people_in_rows() -> None:
    found = confusion(JUDGE, PEOPLE, ("good", "bad"))
    assert found.labels == ("good", "bad")
    assert found.table == ((1, 0), (1, 0))


def test_a_macro_f1_without_an_error_claims_no_interval() -> None:
    found = macro_f1({"a": "good", "c": "bad"}, PEOPLE)
    assert (found.value, found.low, found.high) == (1.0, None, None)
    assert "no error" in found.method


def test_a_judge_without_people_has_no_value() -> None:
    for call in (accuracy, macro_f1, agreement_with_each):
        assert call({"x": 1}, {}) == Estimate(None, None, None, 0, {"no human label": 1}, "no values")


# Votes


def test_stability_is_the_share_of_the_commonest_vote() -> None:
    found = stability({"a": (1, 1, 1), "b": (1, 2, 1), "c": (1,), "d": (1, 2)})
    assert found.agreeing.value == pytest.approx((1 + 2 / 3 + 1 / 2) / 3)
    assert found.unanimous.value == pytest.approx(1 / 3)
    assert (found.tied, found.fewest, found.most) == (1, 2, 3)
    assert found.agreeing.absent == {"fewer than two votes": 1}


def test_a_judge_that_never_wavered_is_not_called_certain() -> None:
    found = stability({f"i{k}": (1, 1, 1) for k in range(20)})
    assert (found.agreeing.value, found.agreeing.low) == (1.0, wilson(20, 20)[0])


def test_one_vote_an_item_says_nothing_of_stability() -> None:
    found = stability({"a": (1,), "b": (2,)})
    assert (found.agreeing.value, found.unanimous.value, found.most) == (None, None, 0)


# In a sentence


def test_a_judge_that_nobody_checked_is_not_validated() -> None:
    found = trust("rules", {"a": Verdict(1, (1, 1, 1))}, {"b": {"ann": 1}})
    assert not found.validated
    assert found.told().startswith("rules is not validated: no item has both its verdict and people's")
    assert found.kappa.value is None


def test_a_judge_without_any_item_is_not_validated() -> None:
    assert "not validated" in trust("rules", {}, {}).told()


def test_trust_is_told_with_n_and_intervals() -> None:
    verdicts = {f"i{k}": Verdict(k % 2, (k % 2, k % 2, 0)) for k in range(40)}
    people: Ratings = {f"i{k}": {"ann": (k + (k % 10 == 0)) % 2, "bob": (k + (k % 10 == 0)) % 2} for k in range(50)}
    found = trust("qwen", verdicts, people, "ordinal", resamples=500)
    told = found.told()
    assert (found.n, found.raters) == (40, (2, 2))
    assert "on 90.0 % (76.9 to 96.0 %) of 40 items" in told
    assert "Cohen's kappa 0.80 (" in told
    assert "10 without: no verdict" in told
    assert "of its 3 votes an item 83.3 %" in told
    assert "people among themselves: alpha 1.00 (" in told


def test_a_constant_judge_has_accuracy_but_no_kappa_worth_the_name() -> None:
    verdicts = {f"i{k}": Verdict("good") for k in range(30)}
    people: Ratings = {f"i{k}": {"ann": "good" if k else "bad"} for k in range(30)}
    found = trust("yes-man", verdicts, people)
    assert found.accuracy.value == pytest.approx(29 / 30)
    assert found.kappa.value == 0.0
    assert "asked once an item" in found.told()


def test_a_hostile_name_is_printed_harmlessly() -> None:
    assert "\x1b" not in trust("\x1b[31mred", {}, {}).told()


# Real labels


def words_judge(text: str) -> int:
    """Rate conciseness by length alone: 3 up to 45 words, 2 up to 75, else 1."""
    words = len(text.split())
    return 3 if words <= 45 else 2 if words <= 75 else 1


@pytest.fixture(scope="module")
def labelled() -> tuple[dict[str, Value], dict[str, Value], dict[str, str]]:
    """Return, for each turn: what people said, what the rule says, and the call it is from."""
    if not LABELS.exists():
        pytest.skip("the human labels are not beside this checkout")
    people: dict[str, Value] = {}
    rule: dict[str, Value] = {}
    calls: dict[str, str] = {}
    for line in LABELS.read_text(encoding="utf-8").splitlines():
        talk = json.loads(line)
        for turn in talk["conv_turns"]:
            if "expected_rating" in turn:
                item = f"{talk['id']}/{turn['position']}"
                people[item], rule[item] = turn["expected_rating"], words_judge(turn["content"])
                calls[item] = talk["conversation_id"]
    return people, rule, calls


def test_a_rule_against_real_human_labels_is_scored_as_by_scikit_learn(
    labelled: tuple[dict[str, Value], dict[str, Value], dict[str, str]],
) -> None:
    oracle = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    truth, rule, calls = labelled
    people: Ratings = {item: {"label": value} for item, value in truth.items()}
    both: Ratings = {item: {"people": truth[item], "judge": rule[item]} for item in truth}
    a, b = list(truth.values()), list(rule.values())
    found = accuracy(rule, people, calls)
    assert (found.n, len(set(calls.values()))) == (479, 100)
    assert _value(found) == pytest.approx(oracle.accuracy_score(a, b), abs=1e-12)
    assert _value(macro_f1(rule, people, calls)) == pytest.approx(oracle.f1_score(a, b, average="macro"), abs=1e-12)
    assert np.array_equal(confusion(rule, people).table, oracle.confusion_matrix(a, b))
    weights: Literal["linear", "quadratic"] | None
    for weights in (None, "linear", "quadratic"):
        kappa = cohens_kappa(both, weights=weights, groups=calls)
        assert _value(kappa) == pytest.approx(oracle.cohen_kappa_score(a, b, weights=weights), abs=1e-12)
        assert kappa.low is not None and kappa.high is not None
        assert kappa.low < _value(kappa) < kappa.high


def test_the_page_shows_the_figures_of_the_real_labels(
    labelled: tuple[dict[str, Value], dict[str, Value], dict[str, str]],
) -> None:
    truth, rule, calls = labelled
    people: Ratings = {item: {"label": value} for item, value in truth.items()}
    both: Ratings = {item: {"people": truth[item], "judge": rule[item]} for item in truth}
    verdicts = {item: Verdict(value) for item, value in rule.items()}
    found = trust("words", verdicts, people, "ordinal", groups=calls, resamples=200)
    middle = per_class(rule, people, resamples=200)[1]
    shown = {
        "accuracy": found.accuracy,
        "Cohen's κ": found.kappa,
        "quadratic κ": cohens_kappa(both, weights="quadratic", resamples=200),
        "α, ordinal": found.alpha,
        "macro-F1": found.macro_f1,
        "recall of 2": middle.recall,
    }
    page = PAGE.read_text(encoding="utf-8")
    for name, estimate in shown.items():
        assert f"\n| {name} | {_value(estimate):.3f} | " in page
