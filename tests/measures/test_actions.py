"""The eight actions: what each conduct gets under each of the twenty-four conditions, and every edge to either side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from fullduplex.benchmarks.duplexact.conditions import Condition, condition_named, conditions
from fullduplex.measures.actions import (
    LENIENT_WORDS,
    Limits,
    follow_through,
    immediate,
    named,
    timing,
    to_judge,
    unsure,
)
from fullduplex.measures.actions.ground import weight
from fullduplex.measures.floor import Utterance
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

#: Milliseconds on the session clock. The user's long turn; the shorter one that asks for a long answer; the event.
TURN, REQUEST, EVENT = (500, 6500), (500, 2500), (6000, 8000)
MARKS = {
    "wait": ("wait", 2500, 3300),
    "ignore": ("ignored", 3000, 4000),
    "take_turn": ("entry", 5500, 6500),
    "backchannel": ("backchannel", 3000, 3400),
    "interrupt": ("target", 3000, 3400),
}
OVER = ("stop", "hold_floor", "recover")
LIMITS, LENIENT = Limits(), Limits(allowed_words=LENIENT_WORDS)
LONG = "so here is what there is to say about all of it"
#: What a system says: from when until when (ms), and its words, None where nobody listened for them.
Said = tuple[int, int, str | None]
YES: Mapping[str, Verdict | Absent] = {
    "follow-through": Verdict("yes"), "backchannel-tone": Verdict("affirmative")
}  # fmt: skip
NAMES = [condition.name for condition in conditions()]


def known(name: str) -> Condition:
    found = condition_named(name)
    assert found is not None
    return found


def acted(
    name: str, *said: Said, until: int = 20_000, verdicts: Mapping[str, Verdict | Absent] = YES, **more: Any
) -> Trial:
    """Return the item of a condition in which the system says ``said``."""
    action = known(name).action
    background = name in ("hold_floor_background", "hold_floor_other_directed")
    event = "b0" if background else "u1"
    turns = [("u0", REQUEST), (event, EVENT)] if action in OVER else [("u0", TURN)]
    turns = [(id, more.get(id, span)) for id, span in turns]
    marks = [(*MARKS[action], "u0")] if action in MARKS else [("ignored", *EVENT, "b0")] if background else []
    told = {
        "scenario": name, "target": "says what is right", "expects": [], "probes": [], "pauses": [],
        "turns": [
            {"id": id, "text": "what the user says", "timestamp": None if span is None else [t / 1000 for t in span]}
            for id, span in turns
        ],
        "marks": more.get("marks", [
            {"kind": kind, "cue": cue, "start": start / 1000, "end": end / 1000, "text": ""}
            for kind, start, end, cue in marks
        ]),
    }  # fmt: skip
    user = Track(speech=Timeline(spans([span for _, span in turns if span is not None])), duration=ms(until))
    return Trial(Item("1", reference={"interaction": told}), user, heard(said, until), verdicts=verdicts)


def spans(told: Sequence[tuple[int, int]]) -> list[Span]:
    return [Span(ms(start), ms(end)) for start, end in told]


def heard(said: Sequence[Said], until: int) -> Track:
    words: list[Word] = []
    for start, end, text in said:
        parts = (text or "").split()
        step = (end - start) / max(1, len(parts))
        words += [Word(part, Span(ms(start + n * step), ms(start + (n + 1) * step))) for n, part in enumerate(parts)]
    speech = Timeline(spans([(start, end) for start, end, _ in said]))
    deaf = any(text is None for *_, text in said)
    return Track(None if deaf else tuple(words), speech, duration=ms(until))


def at_once(trial: Trial, limits: Limits = LIMITS) -> float | str:
    return value(immediate, trial, limits)


def then(trial: Trial, limits: Limits = LIMITS) -> float | str:
    return value(follow_through, trial, limits)


def value(measure: Any, trial: Trial, limits: Limits = LIMITS) -> float | str:
    found = fact(measure, trial, limits)
    return found.reason if isinstance(found, Absent) else found.value


def fact(measure: Any, trial: Trial, limits: Limits = LIMITS) -> Fact | Absent:
    of = known(trial.item.reference["interaction"]["scenario"])
    found: Fact | Absent = measure(trial, of.action, of.key, limits)
    return found


def why(measure: Any, trial: Trial) -> str:
    found = fact(measure, trial)
    return found.detail if isinstance(found, Absent) else found.why


# --- conducts ---

ANSWER: Said = (6700, 9000, LONG)
SPEAKS_UNTIL_STOPPED: Said = (3000, 6400, LONG)
REPLIES: Said = (8300, 10_300, LONG)
PERFECT: dict[str, tuple[Said, ...]] = {
    "wait": (ANSWER,), "ignore": (ANSWER,), "take_turn": (ANSWER,), "backchannel": ((3500, 3900, "mm-hmm"),),
    "stop": (SPEAKS_UNTIL_STOPPED, REPLIES), "hold_floor": ((3000, 15_000, LONG),),
    "interrupt": ((3600, 6000, LONG),), "recover": (SPEAKS_UNTIL_STOPPED, REPLIES),
}  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_perfect_system_succeeds_at_once_and_then(name: str) -> None:
    verdicts = {**YES, "backchannel-tone": Verdict("uncertain" if name.endswith("uncertainty") else "affirmative")}
    trial = acted(name, *PERFECT[known(name).action], verdicts=verdicts)
    assert (at_once(trial), then(trial), at_once(trial, LENIENT)) == (1, 1, 1)


@pytest.mark.parametrize("name", NAMES)
def test_a_system_that_always_speaks_early_succeeds_nowhere_but_where_it_holds_the_floor(name: str) -> None:
    over = known(name).action in OVER
    early = acted(name, (3000, 6100, LONG), (6700, 10_500, LONG)) if over else acted(name, (1500, 9000, LONG))
    holds = name.startswith("hold_floor")
    assert at_once(early) == at_once(early, LENIENT) == (1 if holds else 0)
    assert then(early) == (1 if holds else "not entered")


@pytest.mark.parametrize("name", NAMES)
def test_a_system_that_never_speaks_waits_and_ignores_and_answers_nothing(name: str) -> None:
    action = known(name).action
    first: float | str = 1 if action in ("wait", "ignore") else "not exercised" if action in OVER else 0
    later: float | str = 0 if first == 1 else "not entered" if first == 0 else "not exercised"
    silent = acted(name)
    assert (at_once(silent), then(silent)) == (first, later)
    if later == 0:
        assert "no reply" in why(follow_through, silent)


@pytest.mark.parametrize("name", NAMES)
def test_a_system_that_talks_through_everything_only_holds_the_floor(name: str) -> None:
    through = acted(name, (100, 20_000, LONG))
    assert at_once(through) == at_once(through, LENIENT) == (1 if name.startswith("hold_floor") else 0)


@pytest.mark.parametrize("name", [name for name in NAMES if known(name).action in OVER])
def test_a_system_that_stops_at_everything_and_says_no_more_only_stops(name: str) -> None:
    stops = acted(name, (3000, 6200, LONG))
    assert at_once(stops) == (1 if name.startswith("stop") else 0)
    assert then(stops) == (0 if name.startswith("stop") else "not entered")


# --- edges: one millisecond to either side ---

Edge = tuple[str, tuple[Said, ...], float | str]
TOKEN = "mm-hmm"


def answers(start: int, lasts: int = 2000) -> tuple[Said, ...]:
    return ((start, start + lasts, LONG),)


EDGES: list[Edge] = [
    # Wait: any sound in [2500, 3300).
    ("wait_intra_pause", ((2000, 2500, TOKEN), ANSWER), 1),
    ("wait_intra_pause", ((2000, 2501, TOKEN), ANSWER), 0),
    ("wait_inter_pause", ((3299, 3600, TOKEN), ANSWER), 0),
    ("wait_inter_pause", ((3300, 3600, TOKEN), ANSWER), 1),
    # Ignore: any sound in [500, 6500).
    ("ignore_background", ((100, 500, TOKEN), ANSWER), 1),
    ("ignore_background", ((100, 501, TOKEN), ANSWER), 0),
    ("ignore_other_directed", ((6499, 9000, LONG),), 0),
    ("ignore_other_directed", ((6500, 9000, LONG),), 1),
    # Take turn: from 0.2 s before to 2.0 s or 4.0 s after 6500; slight overlap from 5500.
    ("take_turn_immediate", answers(6299), 0),
    ("take_turn_immediate", answers(6300), 1),
    ("take_turn_immediate", answers(8500), 1),
    ("take_turn_immediate", answers(8501), 0),
    ("take_turn_delayed", answers(6299), 0),
    ("take_turn_delayed", answers(6300), 1),
    ("take_turn_delayed", answers(10_500), 1),
    ("take_turn_delayed", answers(10_501), 0),
    ("take_turn_slight_overlap", answers(5499), 0),
    ("take_turn_slight_overlap", answers(5500), 1),
    ("take_turn_slight_overlap", answers(8500), 1),
    ("take_turn_slight_overlap", answers(8501), 0),
    # Substantive: at least 1.0 s, or more than three words.
    ("take_turn_immediate", ((6700, 7699, "mhm mhm mhm"),), 0),
    ("take_turn_immediate", ((6700, 7700, "mhm mhm mhm"),), 1),
    ("take_turn_immediate", ((6700, 7600, "mhm mhm mhm mhm"),), 1),
    ("take_turn_immediate", ((6700, 7699, None),), 0),
    ("take_turn_immediate", ((6700, 7700, None),), 1),
    # Backchannel: from 0.2 s before 3000 to 1.5 s after 3400; under 1.0 s, at most three words.
    ("backchannel_affirmative", ((2799, 3200, TOKEN),), 0),
    ("backchannel_affirmative", ((2800, 3200, TOKEN),), 1),
    ("backchannel_affirmative", ((4900, 5200, TOKEN),), 1),
    ("backchannel_affirmative", ((4901, 5200, TOKEN),), 0),
    ("backchannel_uncertainty", ((3500, 4499, "really is that"),), 1),
    ("backchannel_uncertainty", ((3500, 4500, "really is that"),), 0),
    ("backchannel_uncertainty", ((3500, 4400, "really is that so"),), 0),
    # ... no floor before 0.2 s before 6500, and none that was held from before the turn.
    ("backchannel_affirmative", ((3500, 3900, TOKEN), *answers(6299)), 0),
    ("backchannel_affirmative", ((3500, 3900, TOKEN), *answers(6300)), 1),
    ("backchannel_affirmative", ((100, 1500, LONG), (3500, 3900, TOKEN)), 1),
    ("backchannel_affirmative", ((100, 1501, LONG), (3500, 3900, TOKEN)), 0),
    # Stop: silent at the latest 3.0 s after 8000.
    ("stop_direct_interruption", ((3000, 11_000, LONG),), 1),
    ("stop_direct_interruption", ((3000, 11_001, LONG),), 0),
    # ... silence is longer than 0.5 s.
    ("stop_direct_interruption", ((3000, 10_900, LONG), (11_400, 12_000, LONG)), 0),
    ("stop_direct_interruption", ((3000, 10_900, LONG), (11_401, 12_000, LONG)), 1),
    # ... and lasts until 1.0 s before 8000, but for a token.
    ("stop_direct_interruption", (SPEAKS_UNTIL_STOPPED, *answers(6999)), 0),
    ("stop_direct_interruption", (SPEAKS_UNTIL_STOPPED, *answers(7000)), 1),
    ("stop_direct_interruption", (SPEAKS_UNTIL_STOPPED, (6950, 7300, "sorry"), REPLIES), 1),
    # Hold floor: no silence over 1.0 s that begins from 6000 to 10000.
    ("hold_floor_continue", ((3000, 10_000, LONG),), 0),
    ("hold_floor_continue", ((3000, 10_001, LONG),), 1),
    ("hold_floor_shorten", ((3000, 7000, LONG), (8000, 12_000, LONG)), 1),
    ("hold_floor_shorten", ((3000, 7000, LONG), (8001, 12_000, LONG)), 0),
    ("hold_floor_background", ((3000, 6001, LONG), (7001, 12_000, LONG)), 1),
    ("hold_floor_background", ((3000, 6001, LONG), (7002, 12_000, LONG)), 0),
    ("hold_floor_background", ((3000, 6000, LONG), (6501, 6900, "hm"), (7900, 12_000, LONG)), "not exercised"),
    ("hold_floor_background", ((3000, 6001, LONG), (6501, 6900, "hm"), (7900, 12_000, LONG)), 1),
    ("hold_floor_background", ((3000, 6000, LONG), (6500, 6900, "hm"), (7900, 12_000, LONG)), 1),
    # Interrupt: from 1.0 s before 3400, and before 6500.
    ("interrupt_help", answers(2399), 0),
    ("interrupt_help", answers(2400), 1),
    ("interrupt_safety", answers(6499), 1),
    ("interrupt_safety", answers(6500), 0),
    # Recover: from 1.0 s before 8000 to 4.0 s after it.
    ("recover_repeat", (SPEAKS_UNTIL_STOPPED, *answers(6999)), 0),
    ("recover_repeat", (SPEAKS_UNTIL_STOPPED, *answers(7000)), 1),
    ("recover_resume", (SPEAKS_UNTIL_STOPPED, *answers(12_000)), 1),
    ("recover_resume", (SPEAKS_UNTIL_STOPPED, *answers(12_001)), 0),
    # The premise: the system speaks at 6000; a pause of up to 0.5 s lies inside its speech.
    ("recover_correct", ((3000, 6000, LONG), REPLIES), "not exercised"),
    ("recover_correct", ((3000, 6001, LONG), REPLIES), 1),
    ("recover_correct", ((3000, 5900, LONG), (6400, 6500, "so"), REPLIES), 1),
    ("recover_correct", ((3000, 5900, LONG), (6401, 6500, "so"), REPLIES), "not exercised"),
]


@pytest.mark.parametrize(("name", "said", "expected"), EDGES)
def test_each_edge_is_where_it_is_said_to_be(name: str, said: tuple[Said, ...], expected: float | str) -> None:
    assert at_once(acted(name, *said)) == expected


@pytest.mark.parametrize(
    ("name", "token", "allowed"),
    [
        ("wait_intra_pause", (2600, 3200, "go on then"), 1),
        ("wait_intra_pause", (2600, 3200, "go on then please"), 0),
        ("wait_intra_pause", (2600, 3599, "go on"), 1),
        ("wait_intra_pause", (2600, 3600, "go on"), 0),
        ("ignore_background", (4000, 4400, "yeah"), 1),
        ("ignore_background", (4000, 4999, None), 1),
        ("ignore_background", (4000, 5000, None), 0),
    ],
)
def test_a_brief_token_is_allowed_by_the_lenient_reading_alone(name: str, token: Said, allowed: int) -> None:
    trial = acted(name, token, ANSWER)
    assert (at_once(trial), at_once(trial, LENIENT)) == (0, allowed)


def test_a_short_silence_between_sounds_is_silence_where_the_system_is_to_wait() -> None:
    # Both sounds are one utterance, and neither lies in the pause.
    assert at_once(acted("wait_intra_pause", (2200, 2500, "one"), (3300, 3500, "two"), marks=[mark("wait", 2500, 3300)],
                         ), replace(LIMITS, joined_within=ms(900))) == 1  # fmt: skip


def mark(kind: str, start: int, end: int, cue: str = "u0") -> dict[str, Any]:
    return {"kind": kind, "cue": cue, "start": start / 1000, "end": end / 1000, "text": ""}


def test_every_wait_interval_counts() -> None:
    marks = [mark("wait", 1000, 1500), mark("wait", 2500, 3300)]
    assert at_once(acted("wait_intra_pause", (2600, 2700, TOKEN), marks=marks)) == 0
    assert at_once(acted("wait_intra_pause", (1600, 1700, TOKEN), marks=marks)) == 1
    never = {**mark("wait", 2500, 3300), "start": None, "end": None}
    assert at_once(acted("wait_intra_pause", marks=[marks[0], never])) == "never asked"


def test_a_token_at_any_of_several_places_will_do_and_none_after_the_turn() -> None:
    marks = [mark("backchannel", 1000, 1200), mark("backchannel", 5500, 5800)]
    assert at_once(acted("backchannel_affirmative", (5600, 5900, TOKEN), marks=marks)) == 1
    assert at_once(acted("backchannel_affirmative", (6499, 6900, TOKEN), marks=marks)) == 1
    assert at_once(acted("backchannel_affirmative", (6500, 6900, TOKEN), marks=marks)) == 0


# --- what a response is ---


@pytest.mark.parametrize(
    ("text", "kind"),
    [("mm-hmm", "brief"), ("Uh huh.", "brief"), ("", "brief"), ("Yes.", "meaning"), ("Twelve.", "meaning"),
     ("that is it now", "substantive")],
)  # fmt: skip
def test_length_and_words_tell_what_they_can(text: str, kind: str) -> None:
    words = tuple(Word(part, Span(ms(n), ms(n + 1))) for n, part in enumerate(text.split()))
    assert weight(Utterance(Span(0, ms(400)), words), LIMITS) == kind


@pytest.mark.parametrize(
    ("text", "by_rule"),
    [("Yes.", 0), ("I see.", 0), ("Okay, sure.", 0), ("Twelve.", 1), ("Yes, twelve.", 1), ("Oh, yes.", 0)],
)
def test_where_meaning_decides_a_judge_does_and_without_one_a_rule_that_says_so(text: str, by_rule: int) -> None:
    trial = acted("take_turn_immediate", (6700, 7100, text))
    assert at_once(trial) == by_rule
    assert "nobody judged it; by rule" in why(immediate, trial)
    key = "substantive:@6.700-7.100"
    for label, expected in (("substantive", 1), ("backchannel", 0)):
        assert at_once(replace(trial, verdicts={key: Verdict(label)})) == expected
    taken_away: dict[str, Verdict | Absent] = {key: Verdict("substantive"), "substantive": Absent("withdrawn")}
    assert at_once(replace(trial, verdicts=taken_away)) == "withdrawn"
    assert at_once(replace(trial, verdicts={"substantive:@6.700-7.200": Verdict("substantive")})) == by_rule


@pytest.mark.parametrize("name", ["take_turn_immediate", "interrupt_help", "recover_repeat"])
@pytest.mark.parametrize(("text", "by_rule"), [("Yes.", 0), ("Twelve.", 1)])
@pytest.mark.parametrize(
    ("given", "told"),
    [(Verdict("maybe"), "'maybe' is none of substantive, backchannel"), (Absent("unparsable"), "unparsable"),
     (Absent("unreachable"), "unreachable"), (Absent("votes tie"), "votes tie")],
)  # fmt: skip
def test_a_judge_without_a_readable_answer_leaves_meaning_to_the_rule_and_the_reason_says_so(
    name: str, text: str, by_rule: int, given: Verdict | Absent, told: str
) -> None:
    begins = {"take_turn_immediate": 6700, "interrupt_help": 4000, "recover_repeat": 9100}[name]
    before = ((3000, 6600, LONG),) if name == "recover_repeat" else ()
    trial = acted(name, *before, (begins, begins + 400, text))
    key = f"substantive:@{begins / 1000:.3f}-{begins / 1000 + 0.4:.3f}"
    found = fact(immediate, replace(trial, verdicts={key: given}))
    assert isinstance(found, Fact) and (found.value, found.verdict) == (by_rule, "")
    assert f"the judge gave no readable answer ({told}); by rule: " in found.why


def test_a_fact_names_the_verdict_that_it_rests_on_and_a_persons_word_rests_on_none() -> None:
    trial = acted("take_turn_immediate", (6700, 7100, "Yes."))
    judged = fact(immediate, replace(trial, verdicts={"substantive:@6.700-7.100": Verdict("substantive")}))
    by_hand = fact(immediate, replace(trial, verdicts={"substantive": Verdict("substantive", by="amended by Ada")}))
    assert isinstance(judged, Fact) and isinstance(by_hand, Fact)
    assert (judged.value, judged.verdict, by_hand.value, by_hand.verdict) == (1, "substantive", 1, "")


def test_a_token_before_the_answer_is_no_response_and_the_answer_decides() -> None:
    assert at_once(acted("take_turn_immediate", (6700, 7000, TOKEN), *answers(8500))) == 1
    assert at_once(acted("take_turn_immediate", (6700, 7000, TOKEN), *answers(8501))) == 0


def test_what_had_ended_when_a_response_was_due_is_none_and_is_told() -> None:
    trial = acted("take_turn_immediate", (2000, 4000, LONG), *answers(6700))
    assert at_once(trial) == 1
    assert "had spoken in the user's turn" in why(immediate, trial)


def test_what_began_too_early_and_is_still_heard_is_the_response_whatever_comes_after_it() -> None:
    assert at_once(acted("take_turn_immediate", (5000, 6500, LONG), *answers(7600))) == 1
    assert at_once(acted("take_turn_immediate", (5000, 6501, LONG), *answers(7600))) == 0
    assert at_once(acted("interrupt_help", (2000, 3400, LONG), *answers(4000))) == 1
    assert at_once(acted("interrupt_help", (2000, 3401, LONG), *answers(4000))) == 0
    assert at_once(acted("recover_repeat", (3000, 6100, LONG), (6700, 8000, LONG), *answers(8600))) == 1
    assert at_once(acted("recover_repeat", (3000, 6100, LONG), (6700, 8001, LONG), *answers(8600))) == 0


def test_what_was_interrupted_is_no_response_to_the_interruption_however_long_it_goes_on() -> None:
    trial = acted("recover_repeat", (3000, 8500, LONG), (9100, 11_000, LONG))
    assert (at_once(trial), value(timing, trial)) == (1, 1.1)


def test_each_utterance_that_may_answer_is_asked_about_and_each_reply_that_may_count() -> None:
    said = ((6700, 7000, "Yes."), (7600, 7900, "Twelve."), (8500, 10_500, LONG), (11_100, 11_300, "Yes."))
    trial = acted("take_turn_immediate", *said)
    assert [u.span.start for u in unsure(trial, "take_turn", "immediate", LIMITS)] == [ms(6700), ms(7600)]
    replies = to_judge(trial, "take_turn", "immediate", LIMITS)
    assert not isinstance(replies, Absent)
    assert [(one.onset, one.text) for one in replies] == [
        (ms(6700), f"Yes. Twelve. {LONG} Yes."), (ms(7600), f"Twelve. {LONG} Yes."), (ms(8500), f"{LONG} Yes."),
    ]  # fmt: skip
    counts = {"follow-through:@7.600-11.300": Verdict("yes"), "follow-through:@6.700-11.300": Verdict("no")}
    assert then(replace(trial, verdicts=counts)) == 1
    assert then(replace(trial, verdicts={**counts, "substantive:@6.700-7.000": Verdict("substantive")})) == 0


def test_a_person_who_takes_a_verdict_away_takes_the_one_on_the_very_reply() -> None:
    trial = acted("take_turn_immediate", *answers(6700))
    replies = to_judge(trial, "take_turn", "immediate", LIMITS)
    assert not isinstance(replies, Absent)
    judged = {f"follow-through:{named(replies[0])}": Verdict("yes")}
    assert then(replace(trial, verdicts=judged)) == 1
    assert then(replace(trial, verdicts={**judged, "follow-through": Absent("withdrawn", "Ann: noise")})) == "withdrawn"


# --- states ---


@pytest.mark.parametrize(
    ("name", "said", "until", "first"),
    [
        ("wait_intra_pause", (), 3299, "censored"),
        ("wait_intra_pause", (), 3300, 1),
        ("wait_intra_pause", ((2600, 2700, TOKEN),), 3000, 0),
        ("ignore_background", (), 6499, "censored"),
        ("ignore_background", (), 6500, 1),
        ("take_turn_immediate", (), 8499, "censored"),
        ("take_turn_immediate", (), 8500, 0),
        ("take_turn_delayed", (), 10_499, "censored"),
        ("take_turn_delayed", (), 10_500, 0),
        ("backchannel_affirmative", (), 6499, "censored"),
        ("backchannel_affirmative", (), 6500, 0),
        ("stop_direct_interruption", ((3000, 9000, LONG),), 9499, "censored"),
        ("stop_direct_interruption", ((3000, 9000, LONG),), 9500, 1),
        ("stop_direct_interruption", ((3000, 9000, LONG),), 9000, "censored"),
        ("stop_direct_interruption", ((3000, 12_000, LONG),), 12_000, 0),
        ("hold_floor_continue", ((3000, 9000, LONG),), 9000, "censored"),
        ("hold_floor_continue", ((3000, 9000, LONG),), 10_000, "censored"),
        ("hold_floor_continue", ((3000, 9000, LONG),), 10_001, 0),
        ("hold_floor_continue", ((3000, 9000, LONG), (9900, 10_500, LONG)), 10_500, 1),
        ("recover_repeat", (SPEAKS_UNTIL_STOPPED,), 11_999, "censored"),
        ("recover_repeat", (SPEAKS_UNTIL_STOPPED,), 12_000, 0),
    ],
)
def test_what_could_not_be_heard_is_censored_and_no_silence(
    name: str, said: tuple[Said, ...], until: int, first: float | str
) -> None:
    trial = acted(name, *said, until=until)
    assert at_once(trial) == first
    if first == "censored":
        assert then(trial) == "censored"
        assert "the recording ends too soon" in why(immediate, trial)


@pytest.mark.parametrize(("until", "found"), [(10_499, "censored"), (10_500, 0)])
def test_no_reply_takes_a_recording_that_could_have_held_one(until: int, found: float | str) -> None:
    assert then(acted("wait_continuous", marks=[mark("wait", 500, 6500)], until=until)) == found
    stops = acted("stop_direct_interruption", (3000, 6400, LONG), until=until + 1500)
    assert (at_once(stops), then(stops)) == (1, found)


def test_what_never_fell_was_not_asked_or_not_exercised() -> None:
    assert at_once(acted("stop_direct_interruption", (3000, 9000, LONG), u1=None)) == "not exercised"
    assert then(acted("stop_direct_interruption", (3000, 9000, LONG), u1=None)) == "not exercised"
    assert at_once(acted("wait_intra_pause", u0=None)) == "never asked"
    never = {"kind": "target", "cue": "u0", "start": None, "end": None, "text": ""}
    assert at_once(acted("interrupt_help", marks=[never])) == "never asked"


@pytest.mark.parametrize("name", ["wait_intra_pause", "ignore_background", "backchannel_affirmative", "interrupt_help",
                                  "take_turn_slight_overlap"])  # fmt: skip
def test_an_item_without_its_mark_has_no_annotation(name: str) -> None:
    assert at_once(acted(name, *PERFECT[known(name).action], marks=[])) == "no annotation"


@pytest.mark.parametrize("name", NAMES)
def test_without_a_judge_the_follow_through_is_not_judged(name: str) -> None:
    assert then(acted(name, *PERFECT[known(name).action], verdicts={})) == "not judged"


@pytest.mark.parametrize("name", NAMES)
def test_a_verdict_on_another_reply_says_nothing_and_one_on_the_very_reply_does(name: str) -> None:
    action = known(name).action
    if action == "backchannel":
        return
    trial = acted(name, *PERFECT[action], verdicts={"follow-through:@1.000-2.000": Verdict("yes")})
    assert then(trial) == "not judged"
    replies = to_judge(trial, action, known(name).key, LIMITS)
    assert not isinstance(replies, Absent) and len(replies) == 1
    end = max(word.span.end for word in replies[0].words or ())
    key = f"follow-through:@{replies[0].onset / 1e6:.3f}-{end / 1e6:.3f}"
    assert then(replace(trial, verdicts={key: Verdict("no", reason="beside it")})) == 0


def test_a_reply_whose_words_nobody_listened_for_is_not_judged_and_no_silence() -> None:
    for name in ("wait_intra_pause", "take_turn_immediate"):
        assert then(acted(name, (6700, 9000, None), verdicts={})) == "not judged"
    assert then(acted("hold_floor_continue", (3000, 15_000, None), verdicts={})) == "not judged"


def test_a_failed_trial_and_one_without_output_say_so() -> None:
    trial = acted("wait_intra_pause", ANSWER)
    assert at_once(replace(trial, failed="cannot be read")) == "failed"
    assert at_once(replace(trial, system=Track())) == "no output"


# --- follow-through ---


@pytest.mark.parametrize(
    ("name", "tone", "found"),
    [
        ("backchannel_affirmative", "affirmative", 1), ("backchannel_affirmative", "uncertain", 0),
        ("backchannel_uncertainty", "uncertain", 1), ("backchannel_uncertainty", "affirmative", 0),
        ("backchannel_uncertainty", "unclear", "unclear"), ("backchannel_uncertainty", "sad", "unparsable"),
    ],
)  # fmt: skip
def test_a_tokens_tone_enters_what_follows_and_not_what_succeeds_at_once(
    name: str, tone: str, found: float | str
) -> None:
    trial = acted(name, (3500, 3900, "hm"), verdicts={"backchannel-tone:@3.500-3.900": Verdict(tone)})
    assert (at_once(trial), then(trial)) == (1, found)


@pytest.mark.parametrize(("later", "found"), [("yes", 1), ("no", 0), (None, "not judged")])
def test_what_a_listener_says_later_has_to_agree(later: str | None, found: float | str) -> None:
    verdicts: dict[str, Verdict | Absent] = {"backchannel-tone": Verdict("affirmative")}
    if later is not None:
        verdicts["follow-through:@6.700-9.000"] = Verdict(later)
    assert then(acted("backchannel_affirmative", (3500, 3900, TOKEN), ANSWER, verdicts=verdicts)) == found


def test_the_reply_to_an_interruption_begins_after_the_stop() -> None:
    replies = to_judge(
        acted("stop_direct_interruption", (3000, 7400, LONG), (8300, 9000, "twelve it is")),
        "stop", "direct_interruption", LIMITS,
    )  # fmt: skip
    assert not isinstance(replies, Absent)
    assert [one.text for one in replies] == ["twelve it is"]


def test_who_holds_the_floor_is_judged_by_what_is_said_from_the_event_on() -> None:
    replies = to_judge(acted("hold_floor_continue", (3000, 13_000, "a b c d e f g h i j")), "hold_floor", "continue",
                       LIMITS)  # fmt: skip
    assert not isinstance(replies, Absent)
    assert [one.text for one in replies] == ["d e f g h i j"]


# --- timing ---


@pytest.mark.parametrize(
    ("name", "said", "found"),
    [
        ("stop_direct_interruption", (SPEAKS_UNTIL_STOPPED, REPLIES), 0.4),
        ("stop_direct_interruption", ((3000, 12_000, LONG),), "not entered"),
        ("interrupt_help", answers(2900), -0.5),
        ("interrupt_safety", answers(4000), 0.6),
        ("interrupt_safety", (), "not entered"),
        ("interrupt_safety", answers(2000, 3000), "not entered"),
        ("recover_repeat", (SPEAKS_UNTIL_STOPPED, *answers(12_001)), "not entered"),
        ("recover_repeat", (SPEAKS_UNTIL_STOPPED, REPLIES), 0.3),
        ("recover_repeat", (SPEAKS_UNTIL_STOPPED, *answers(7500)), -0.5),
        ("recover_repeat", (), "not exercised"),
    ],
)
def test_times_are_signed_and_of_what_succeeded(name: str, said: tuple[Said, ...], found: float | str) -> None:
    assert value(timing, acted(name, *said)) == found


def test_an_action_that_is_not_timed_or_not_known_is_refused() -> None:
    trial = acted("wait_intra_pause", ANSWER)
    with pytest.raises(ValueError, match="not timed"):
        timing(trial, "wait", "intra_pause", LIMITS)
    with pytest.raises(ValueError, match="no action"):
        immediate(trial, "wave", "", LIMITS)


# --- invariance ---


@pytest.mark.parametrize("name", NAMES)
def test_verdicts_do_not_move_with_the_clock_or_with_trailing_silence(name: str) -> None:
    said = PERFECT[known(name).action]
    moved = [(start + 700, end + 700, text) for start, end, text in said]
    later = acted(name, *moved, until=30_000)
    told = later.item.reference["interaction"]
    for turn in told["turns"]:
        turn["timestamp"] = [t + 0.7 for t in turn["timestamp"]]
    for one in told["marks"]:
        one["start"], one["end"] = one["start"] + 0.7, one["end"] + 0.7
    later = replace(later, user=replace(later.user, speech=(later.user.speech or Timeline()).shift(ms(700))))
    for measure in (immediate, follow_through):
        assert value(measure, acted(name, *said)) == value(measure, later)
