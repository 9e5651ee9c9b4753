"""How valid people find items: what the raters of one come to, shares, naturalness, and the published cells."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest

from fullduplex.measures.agreement import naturalness, validity, verdict_of, verdicts
from fullduplex.measures.intervals import wilson

#: DuplexAct's Tables 11 and 12: n, then for the action label and the condition the share of yes among ratings as it is
#: printed, the majority's share as it is printed, and its count.
CELLS = {
    "Overall": (468, ("89.4", "97.9", 458), ("85.6", "95.5", 447)),
    "Recover": (120, ("89.5", "98.3", 118), ("86.7", "95.8", 115)),
    "Hold floor": (89, ("91.5", "98.9", 88), ("84.7", "95.5", 85)),
    "Wait": (60, ("87.0", "93.3", 56), ("83.7", "93.3", 56)),
    "Take turn": (60, ("92.3", "100.0", 60), ("86.0", "96.7", 58)),
    "Affirmative": (20, ("87.0", "100.0", 20), ("85.0", "95.0", 19)),
    "Uncertainty": (20, ("73.0", "85.0", 17), ("73.0", "85.0", 17)),
    "Continue": (20, ("93.0", "100.0", 20), ("85.0", "100.0", 20)),
    "Shorten": (13, ("87.7", "92.3", 12), ("80.0", "84.6", 11)),
    "Simplify": (20, ("89.0", "100.0", 20), ("76.0", "90.0", 18)),
}
COLUMNS = [(name, n, *column) for name, (n, *columns) in CELLS.items() for column in columns]
Panel = dict[str, dict[str, float | str | None]]


def panel(n: int, yes: int, valid: int, raters: int = 5) -> Panel:
    """Return ratings of ``n`` items of which ``valid`` have a majority of yes, with ``yes`` yes among all of them."""
    counts = [raters // 2 + 1] * valid + [0] * (n - valid)
    most = [raters] * valid + [raters // 2] * (n - valid)
    left = yes - sum(counts)
    for item in range(n):
        more = min(left, most[item] - counts[item])
        counts[item] += more
        left -= more
    assert left == 0
    return {
        str(item): {f"R{k}": "yes" if k < counts[item] else "no" for k in range(raters)} for item in range(n)
    }  # fmt: skip


@pytest.mark.parametrize(("name", "n", "by_rating", "by_majority", "valid"), COLUMNS)
def test_a_panel_of_five_gives_the_published_cells(
    name: str, n: int, by_rating: str, by_majority: str, valid: int
) -> None:
    yes = round(float(by_rating) * 5 * n / 100)
    found = validity(panel(n, yes, valid), resamples=10)
    assert found.by_rating.value is not None and found.by_majority.value is not None
    assert f"{100 * found.by_rating.value:.1f}" == by_rating
    assert f"{100 * found.by_majority.value:.1f}" == by_majority
    assert (found.majorities["yes"], found.items) == (valid, n)


def test_no_other_number_of_raters_up_to_seven_gives_them() -> None:
    """Five raters an item are inferred from this: the page does not tell."""

    def fits(raters: int) -> bool:
        totals = [(raters * n, by_rating) for _, n, by_rating, *_ in COLUMNS]
        return all(f"{100 * round(float(told) * size / 100) / size:.1f}" == told for size, told in totals)

    assert [raters for raters in range(1, 8) if fits(raters)] == [5]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("yes yes yes no no", "yes"),
        ("yes no no no unclear", "no"),
        ("yes yes unclear unclear unclear", "unclear"),
        ("yes yes no no unclear", "tied"),
        ("yes yes no unclear", "tied"),  # leads, and is no more than half
        ("yes no", "tied"),
        ("yes", "yes"),
    ],
)
def test_a_verdict_needs_more_than_half_of_all_raters(said: str, verdict: str) -> None:
    assert verdict_of(said.split()) == verdict


@pytest.mark.parametrize("said", [[], ["maybe"], [1.0]])
def test_what_is_no_answer_about_a_label_is_refused(said: list[float | str]) -> None:
    with pytest.raises(ValueError, match="yes, no or unclear"):
        verdict_of(said)


def test_ties_and_unclear_items_are_told_apart_and_are_not_valid() -> None:
    rows = {"a": "yes yes yes", "b": "no no yes", "c": "unclear unclear yes", "d": "yes no unclear"}
    ratings: Panel = {item: dict(enumerate_raters(said)) for item, said in rows.items()}
    found = validity(ratings)
    assert found.majorities == {"yes": 1, "no": 1, "unclear": 1, "tied": 1}
    assert found.ratings == {"yes": 6, "no": 3, "unclear": 3}
    assert (found.by_rating.value, found.by_majority.value) == (0.5, 0.25)
    assert verdicts(ratings) == {"a": "yes", "b": "no", "c": "unclear", "d": "tied"}


def enumerate_raters(said: str) -> list[tuple[str, float | str | None]]:
    return [(f"R{k}", answer) for k, answer in enumerate(said.split())]


def test_intervals_by_majority_are_wilsons_and_by_rating_draw_items() -> None:
    found = validity(panel(20, 73, 17))
    assert (found.by_majority.low, found.by_majority.high) == wilson(17, 20)
    assert found.by_rating_wilson == wilson(73, 100)
    # Raters who agree about an item say less than as many who judge other items.
    alike = validity({str(i): {f"R{k}": "yes" if i < 10 else "no" for k in range(5)} for i in range(20)})
    assert alike.by_rating.low is not None and alike.by_rating_wilson is not None
    assert alike.by_rating.low < alike.by_rating_wilson[0]


def test_items_of_one_conversation_are_drawn_together() -> None:
    ratings = panel(20, 73, 17)
    found = validity(ratings, {item: f"talk {int(item) // 10}" for item in ratings})
    assert "group" in found.by_majority.method


def test_an_item_that_nobody_rated_is_absent_and_not_invalid() -> None:
    found = validity({"a": {"R1": "yes"}, "b": {"R1": None}})
    assert (found.items, found.by_majority.value, found.by_majority.absent) == (1, 1.0, {"nobody rated": 1})
    nothing = validity({})
    assert (nothing.items, nothing.by_rating.value, nothing.by_rating_wilson) == (0, None, None)


def test_naturalness_is_over_ratings_and_three_is_not_negative() -> None:
    found = naturalness({"a": {"R1": 5, "R2": 3}, "b": {"R1": 2, "R2": 4}})
    assert found.mean.value == 3.5 and found.spread == pytest.approx(1.2909944)
    assert found.non_negative.value == 0.75 and found.ratings == {1: 0, 2: 1, 3: 1, 4: 1, 5: 1}
    assert naturalness({"a": {"R1": 4}}).spread is None


@pytest.mark.parametrize(("at_least", "there"), [(3, True), (4, False)])
def test_the_printed_ratings_can_be_counted_from_three_on_and_not_from_four_on(at_least: int, there: bool) -> None:
    """Content naturalness is printed as 3.96 ± 0.91, 93.1 %: the spread lies between the least and the most possible.

    With mean and rate given the second moment is linear in the shares of the points, so it is extreme where at most
    three points are used.
    """
    widest, narrowest = 0.0, 5.0
    for mean, rate in product((3.955, 3.96, 3.965), (0.9305, 0.931, 0.9315)):
        for points in combinations(range(1, 6), 3):
            rows = np.array([[1.0] * 3, points, [float(point >= at_least) for point in points]])
            if abs(np.linalg.det(rows)) < 1e-9:
                continue
            shares = np.linalg.solve(rows, [1.0, mean, rate])
            if shares.min() >= 0:
                spread = float(np.sqrt(shares @ np.square(points) - mean**2))
                widest, narrowest = max(widest, spread), min(narrowest, spread)
    assert (narrowest <= 0.915 and widest >= 0.905) == there


@pytest.mark.parametrize("answer", [0, 6, 2.5])
def test_what_is_no_point_of_the_scale_is_refused(answer: float) -> None:
    with pytest.raises(ValueError, match="1 to 5"):
        naturalness({"a": {"R1": answer}})
