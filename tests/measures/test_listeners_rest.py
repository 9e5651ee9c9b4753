"""Listeners and systems against the rest of a panel, on panels whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest

from fullduplex.measures.agreement import krippendorffs_alpha
from fullduplex.measures.listeners import (
    Panel,
    agreement_beyond_chance,
    agreement_with_the_others,
    held_against_the_rest,
    pooled,
)
from fullduplex.measures.listeners.panel import by_listener
from fullduplex.measures.listeners.placement import hits
from fullduplex.model.spans import Span, seconds


def said(*onsets: float) -> tuple[Span, ...]:
    return tuple(Span(seconds(onset), seconds(onset) + 1) for onset in onsets)


def alike(name: str = "s", listeners: int = 5) -> Panel:
    """Return people who all respond at 2 s and at 6 s of ten."""
    return Panel(name, seconds(10), {str(n): said(2.0, 6.0) for n in range(listeners)})


def panel(seed: int, listeners: int = 12) -> Panel:
    random = np.random.default_rng(seed)
    at = np.sort(random.uniform(1, 28, 5))
    people = {
        str(n): said(*sorted(float(t) + random.normal(0, 0.1) for t in at if random.random() < 0.5))
        for n in range(listeners)
    }
    return Panel(str(seed), seconds(30), people)


def value(rows: object, key: str) -> float | None:
    return pooled(rows, key, resamples=10).value  # type: ignore[arg-type]


def test_who_responds_where_all_do_is_at_no_distance_and_hits_each_time() -> None:
    people = held_against_the_rest([alike()], {}, pairs=5).people
    assert value(people.own, "divergence") == pytest.approx(0)
    assert value(people.own, "hits") == value(people.own, "covered") == value(people.own, "support") == 1
    assert value(people.own, "rate") == pytest.approx(12)
    # Two of fifty windows are opportunities.
    assert value(people.chance, "hits") == pytest.approx(0.04, abs=0.04)


def test_nobody_is_a_part_of_the_rest_that_he_is_held_against() -> None:
    two = Panel("s", seconds(10), {"a": said(2.0), "b": said(6.0)})
    people = held_against_the_rest([two], {}, pairs=2).people
    assert value(people.own, "divergence") == pytest.approx(1)
    assert value(people.own, "hits") == 0
    assert value(people.own, "wasserstein") == pytest.approx(4.0)


def test_a_system_that_does_what_a_person_does_is_at_the_place_of_a_person() -> None:
    held = held_against_the_rest([alike()], {"x": {"s": [[seconds(2), seconds(6)]]}}, pairs=5)
    for key in ("rate", "divergence", "wasserstein", "hits", "covered", "support"):
        assert value(held.others["x"].place, key) == 0.5, key


def test_a_system_beside_all_people_is_behind_each_and_one_that_everybody_follows_before_many() -> None:
    late = held_against_the_rest([alike()], {"x": {"s": [[seconds(8)]]}}, pairs=5).others["x"]
    assert value(late.place, "divergence") == value(late.place, "hits") == 0
    assert value(late.own, "covered") == 0
    spread = Panel("s", seconds(10), {"a": said(2.0), "b": said(2.0), "c": said(2.0, 7.0), "d": said(8.0)})
    found = held_against_the_rest([spread], {"x": {"s": [[seconds(2)]]}}, pairs=4).others["x"]
    assert value(found.place, "support") == pytest.approx((0.5 + 0.5 + 1 + 1) / 4)


def test_a_silent_system_covers_nothing_has_no_distance_and_is_counted_once() -> None:
    held = held_against_the_rest([alike(), alike("t")], {"x": {"s": [[]], "t": [[seconds(2)]]}}, pairs=10)
    silent = held.others["x"]
    assert value(silent.own, "covered") == pytest.approx(1 / 4)
    assert pooled(silent.own, "divergence", resamples=10).n == 1
    assert silent.absent == {key: {"no responses": 1} for key in ("divergence", "wasserstein", "hits", "support")}


def test_one_listener_alone_has_no_rest() -> None:
    alone = Panel("s", seconds(10), {"a": said(1.0)})
    held = held_against_the_rest([alone], {"x": {"s": [[seconds(1)]]}}, pairs=1)
    assert held.people.absent["divergence"] == held.others["x"].absent["divergence"] == {"one listener": 1}
    assert pooled(held.people.own, "divergence").value is None
    assert agreement_with_the_others([alone]).absent == {"one listener": 1}
    assert agreement_beyond_chance([alone]).absent == {"fewer than two ratings": 50}


def test_where_nobody_else_responded_there_is_no_distance_and_it_is_told() -> None:
    quiet = Panel("s", seconds(10), {"a": said(1.0), "b": ()})
    people = held_against_the_rest([quiet], {}, pairs=2).people
    assert people.absent["divergence"] == {"nobody else responded": 1, "no responses": 1}
    assert people.absent["covered"] == {"no opportunity": 1}


def test_one_stimulus_has_no_interval_and_several_have_one() -> None:
    one = held_against_the_rest([panel(1)], {}, pairs=12).people
    assert (pooled(one.own, "hits").low, pooled(one.own, "hits").method) == (None, "one item: no interval")
    many = pooled(held_against_the_rest(map(panel, range(6)), {}, pairs=72).people.own, "hits")
    assert many.low is not None and many.high is not None and many.low < (many.value or 0) < many.high


def test_the_same_seed_gives_the_same_chance_and_a_further_system_changes_it_for_nobody() -> None:
    def chances(seed: int, *names: str) -> list[float | None]:
        others = {name: {"1": [[seconds(n + 1), seconds(9)]]} for n, name in enumerate(names)}
        held = held_against_the_rest([panel(1)], others, pairs=12, seed=seed)
        tallies = [held.people, *(held.others[name] for name in names[:1])]
        return [value(one.chance, "divergence") for one in tallies]

    assert chances(3, "x") == chances(3, "x") == chances(3, "x", "y")
    assert chances(3, "x") != chances(4, "x")


def test_people_who_heed_the_same_moments_are_far_above_chance() -> None:
    people = held_against_the_rest(map(panel, range(8)), {}, pairs=96).people
    own, chance = (value(rows, "hits") for rows in (people.own, people.chance))
    assert own is not None and chance is not None and own > 5 * chance


def test_a_hit_is_a_response_where_at_least_so_many_respond() -> None:
    likely = np.array([0.15, 0.149, 1.0])
    assert hits(np.array([0, 1]), likely) == (1.0, 2.0)


def test_alpha_of_counts_is_alpha_of_who_said_what() -> None:
    panels = [panel(n) for n in range(4)]
    ratings, groups = dict[str, dict[str, float]](), dict[str, str]()
    for one in panels:
        rows = by_listener(one)
        for window in range(rows.shape[1]):
            key = f"{one.stimulus}/{window}"
            ratings[key] = {str(n): float(row[window]) for n, row in enumerate(rows)}
            groups[key] = one.stimulus
    told = krippendorffs_alpha(ratings, groups=groups, resamples=200)
    found = agreement_beyond_chance(iter(panels), resamples=200)
    assert (found.value, found.low, found.high, found.n) == pytest.approx((told.value, told.low, told.high, told.n))
