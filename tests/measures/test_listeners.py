"""Panels of listeners with a known truth, and the published reference of 55 stimuli."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

from fullduplex.data.fdb_json import read_reference
from fullduplex.measures.listeners import (
    Panel,
    agreement_beyond_chance,
    agreement_with_the_others,
    counts_behind,
    covered,
    divergence_from,
    likelihood,
    normalised,
    opportunities,
    people_placed,
    placement,
    support,
    wasserstein_from,
)
from fullduplex.measures.listeners.panel import windows_of
from fullduplex.measures.timing import WINDOW
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.trials import Absent

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "data" / "fdb_official" / "icc_gt_distribution.json"


def said(*onsets: float, lasts: int = 300) -> tuple[Span, ...]:
    return tuple(Span(seconds(onset), seconds(onset) + ms(lasts)) for onset in onsets)


def values(found: object) -> list[float]:
    assert isinstance(found, np.ndarray)
    return [float(each) for each in found]


def panel(seed: int, listeners: int = 30, moments: int = 6, heeds: float = 0.5, name: str = "s") -> Panel:
    """Return people who each respond at each of the same moments with the chance ``heeds``, and once anywhere."""
    random = np.random.default_rng(seed)
    at = np.sort(random.choice(np.arange(2, 58), moments, replace=False)).astype(float)
    people = {}
    for n in range(listeners):
        times = [moment + random.normal(0, 0.1) for moment in at if random.random() < heeds]
        people[str(n)] = said(*sorted([*times, random.uniform(0, 59)]))
    return Panel(name, seconds(60), people)


def published() -> Mapping[str, Floats]:
    if not REFERENCE.exists():
        pytest.skip("no fdb_official in the shared data beside the checkout")
    return {name: np.asarray(bins) for name, bins in read_reference(REFERENCE).items()}


def test_likelihood_is_the_share_of_all_listeners_also_of_those_who_never_respond() -> None:
    found = likelihood(Panel("s", ms(600), {"a": said(0.05), "b": said(0.1, 0.45), "c": (), "d": ()}))
    assert values(found) == [0.5, 0, 0.25]


def test_a_listener_counts_once_in_a_window() -> None:
    assert values(likelihood(Panel("s", ms(400), {"a": said(0.0, 0.15, lasts=20)}))) == [1, 0]


def test_an_onset_on_an_edge_is_in_the_later_window_and_the_last_window_may_be_short() -> None:
    short = Panel("s", ms(500), {"a": said(0.2), "b": said(0.49), "c": said(0.7)})
    assert windows_of(short) == 3
    assert values(likelihood(short)) == pytest.approx([0, 1 / 3, 1 / 3])


def test_a_response_is_in_every_window_in_which_it_sounds_where_spans_count() -> None:
    found = likelihood(Panel("s", seconds(1), {"a": (Span(ms(150), ms(400)),)}), by="span")
    assert values(found) == [1, 1, 0, 0, 0]


def test_q_sums_to_one_and_has_lost_how_many_responded() -> None:
    few = Panel("s", ms(400), {"a": said(0.0), "b": (), "c": (), "d": ()})
    many = Panel("s", ms(400), {name: said(0.0) for name in "abcd"})
    for each, share in ((few, 0.25), (many, 1.0)):
        found = likelihood(each)
        assert not isinstance(found, Absent)
        assert found[0] == share
        assert values(normalised(found)) == [1, 0]


def test_no_distribution_is_made_up_where_nobody_responded() -> None:
    assert normalised(np.zeros(4)) == Absent("nobody responded")
    assert likelihood(Panel("s", seconds(1), {})) == Absent("no listeners")


def test_counts_come_back_from_a_normalised_distribution() -> None:
    counts = np.array([4, 7, 0, 2, 3])
    assert values(counts_behind((counts + 1e-10) / (counts + 1e-10).sum())) == [4, 7, 0, 2, 3]
    assert counts_behind([0.0, 0.0]) == Absent("nobody responded")
    assert counts_behind([1.0, math.pi, math.e]) == Absent(
        "not made from counts", "no unit makes every share a whole number"
    )


def test_each_of_the_55_published_distributions_is_made_from_counts_of_at_most_59_listeners() -> None:
    found = published()
    assert len(found) == 55
    for shares in found.values():
        counts = counts_behind(shares)
        assert not isinstance(counts, Absent)
        assert counts.max() <= 59
        again = normalised(counts.astype(np.float64))
        assert values(again) == pytest.approx(list(shares), abs=1e-9)


def test_our_q_of_counts_diverges_from_a_system_as_the_published_one_does() -> None:
    for shares in published().values():
        counts = counts_behind(shares)
        assert not isinstance(counts, Absent)
        q = normalised(counts.astype(np.float64))
        assert not isinstance(q, Absent)
        a, b = (divergence_from([seconds(3), seconds(9)], each) for each in (q, shares))
        assert a == pytest.approx(b, abs=1e-9)


def test_a_silent_system_taken_as_uniform_diverges_little_from_the_published_reference() -> None:
    root = [divergence_from([], q, silence="uniform", unit="nats", root=True) for q in published().values()]
    bits = [divergence_from([], q, silence="uniform") for q in published().values()]
    assert np.mean(np.asarray(root, dtype=float)) == pytest.approx(0.245, abs=0.0006)
    assert np.mean(np.asarray(bits, dtype=float)) == pytest.approx(0.087, abs=0.0006)


@pytest.mark.parametrize(("silence", "value"), [("farthest", 1.0), ("uniform", 0.0)])
def test_silence_is_what_the_caller_says(silence: str, value: float) -> None:
    q = np.full(5, 0.2)
    assert divergence_from([], q) == Absent("no responses")
    assert divergence_from([seconds(9)], q) == Absent("no responses")
    assert divergence_from([], q, silence=silence) == pytest.approx(value)  # type: ignore[arg-type]


def test_the_unit_and_the_root_are_named_by_the_caller() -> None:
    q = np.array([0.0, 1.0])
    assert divergence_from([0], q) == pytest.approx(1)
    assert divergence_from([0], q, unit="nats") == pytest.approx(math.log(2))
    assert divergence_from([0], q, unit="nats", root=True) == pytest.approx(math.sqrt(math.log(2)))


def test_wasserstein_on_times_is_what_scipy_computes() -> None:
    random = np.random.default_rng(1)
    for _ in range(10):
        q = random.random(40)
        times = [int(each) for each in random.uniform(0, 8e6, 5)]
        middles = (np.arange(40) + 0.5) * 0.2
        ours = wasserstein_from(times, q)
        assert ours == pytest.approx(wasserstein_distance(np.array(times) / 1e6, middles, None, q))


def test_wasserstein_of_a_late_response_is_how_late_it_is() -> None:
    q = np.zeros(20)
    q[4] = 1
    assert wasserstein_from([ms(900)], q) == 0
    assert wasserstein_from([ms(1_400)], q) == pytest.approx(0.5)
    assert wasserstein_from([], q) == Absent("no responses")


def test_people_who_heed_the_same_moments_agree_and_people_at_random_do_not() -> None:
    alike = [panel(n, name=str(n)) for n in range(5)]
    random = [panel(n, heeds=0.0, name=str(n)) for n in range(5)]
    assert (agreement_with_the_others(alike, resamples=200).value or 0) > 0.25
    assert abs(agreement_with_the_others(random, resamples=200).value or 0) < 0.05
    assert (agreement_beyond_chance(alike, resamples=200).value or 0) > 0.1
    assert abs(agreement_beyond_chance(random, resamples=200).value or 0) < 0.02


def test_listeners_all_alike_agree_fully() -> None:
    same = Panel("s", seconds(10), {str(n): said(2.0, 7.0) for n in range(4)})
    assert agreement_with_the_others([same, same], resamples=50).value == pytest.approx(1)
    assert agreement_beyond_chance([same, same], resamples=50).value == pytest.approx(1)


def test_who_cannot_be_correlated_is_counted_with_the_reason() -> None:
    found = agreement_with_the_others(
        [Panel("s", seconds(2), {"a": said(1.0), "b": ()}), Panel("t", seconds(2), {"a": said(1.0)})], resamples=50
    )
    assert (found.n, found.absent) == (0, {"others alike throughout": 1, "never responded": 1, "one listener": 1})


def likelihoods(panels: list[Panel]) -> dict[str, Floats]:
    return {each.stimulus: np.asarray(likelihood(each)) for each in panels}


def onsets_of(person: str, panels: list[Panel]) -> dict[str, list[int]]:
    return {each.stimulus: [span.start for span in each.listeners[person]] for each in panels}


def test_a_person_has_skill_near_1_and_random_responses_near_0() -> None:
    panels = [panel(n, listeners=40, name=str(n)) for n in range(12)]
    people = people_placed(panels)
    # Somebody who heeds the same moments and is not in the panel.
    outside = [Panel(each.stimulus, each.duration, dict(list(each.listeners.items())[1:])) for each in panels]
    person = placement(onsets_of("0", panels), likelihoods(outside), people=people)
    random = np.random.default_rng(5)
    nobody = {each.stimulus: [int(t) for t in random.uniform(0, 60e6, 4)] for each in panels}
    noise = placement(nobody, likelihoods(outside), people=people)
    assert person.skill is not None and 0.6 < person.skill < 1.4
    assert person.p is not None and person.p < 0.01
    assert noise.skill is not None and abs(noise.skill) < 0.3
    assert noise.p is not None and noise.p > 0.05


def test_chance_is_the_mean_likelihood_where_a_response_is_scored_by_its_support() -> None:
    likely = np.array([0.0, 0.5, 0.0, 0.1])
    found = placement({"s": [ms(200)]}, {"s": likely})
    assert found.value == pytest.approx(0.5)
    assert found.chance == pytest.approx(likely.mean())


def test_opportunities_are_runs_of_windows_at_least_so_likely() -> None:
    likely = np.array([0.2, 0.15, 0.1, 0.15])
    assert opportunities(likely, at_least=0.15) == [(0, 2), (3, 4)]


def test_responding_everywhere_covers_everything_and_lifts_nothing() -> None:
    likely = np.array([0.0, 0.5, 0.0, 0.0, 0.5, 0.5, 0.0])
    found = placement({"s": [n * WINDOW for n in range(7)]}, {"s": likely}, covered)
    assert found.value == 1
    assert found.lift == pytest.approx(0)


def test_silence_covers_no_opportunity_and_supports_nothing() -> None:
    likely = {"s": np.array([0.0, 0.5, 0.0])}
    assert placement({}, likely, covered).value == 0
    silent = placement({}, likely, support)
    assert (silent.value, silent.absent) == (None, {"no responses": 1})
    assert placement({"s": [0]}, {"s": np.zeros(3)}, covered).absent == {"no opportunity": 1}


def test_a_response_past_the_last_window_counts_nowhere() -> None:
    found = placement({"s": [0, seconds(50)]}, {"s": np.array([0.5, 0.0])})
    assert found.value == pytest.approx(0.5)


def test_the_same_seed_gives_the_same_p() -> None:
    panels = [panel(n, name=str(n)) for n in range(3)]
    chosen = onsets_of("1", panels)
    assert placement(chosen, likelihoods(panels), seed=4) == placement(chosen, likelihoods(panels), seed=4)


def test_people_s_own_score_leaves_each_out_of_the_others() -> None:
    two = Panel("s", ms(600), {"a": said(0.0), "b": said(0.0, 0.4)})
    assert people_placed([two]) == pytest.approx(2 / 3)
    assert people_placed([Panel("s", ms(600), {"a": said(0.0)})]) is None


def test_three_times_as_many_random_responses_please_the_divergence_and_not_the_support() -> None:
    random = np.random.default_rng(11)
    nearer, backed = [], []
    for q in published().values():
        person = (random.choice(len(q), 5, p=q / q.sum()) * WINDOW).tolist()
        chance = (random.integers(len(q), size=15) * WINDOW).tolist()
        a, b = divergence_from(person, q), divergence_from(chance, q)
        assert not isinstance(a, Absent) and not isinstance(b, Absent)
        nearer.append(a < b)
        (part, whole), (chance_part, chance_whole) = (
            support(np.unique(each) // WINDOW, q) for each in (person, chance)
        )
        backed.append(part / whole > chance_part / chance_whole)
    assert np.mean(nearer) < 0.2
    assert np.mean(backed) > 0.75
