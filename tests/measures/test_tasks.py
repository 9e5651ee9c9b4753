"""Spoken tasks: each point and each rule at its edge, one millisecond to either side, and scripted systems whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fullduplex.measures import tasks
from fullduplex.measures.replies import PAGE, Limits
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

LIMITS = Limits()
YES, NO = Verdict("yes", by="judge"), Verdict("no", by="judge")
#: The user's turn lies from 1 s to 9 s; the trigger word from 5 s to 5.4 s; times below are in milliseconds.
START, END, TRIGGER, TRIGGERED = 1000, 9000, 5000, 5400
#: What was said: onset, end, words.
Said = tuple[int, int, str]
WINDOWS = {
    "grammar": ([0.05, 0.3], "required"),
    "keyword_wait": ([0.05, 0.3], "required"),
    "stay_quiet": ([0.2, 0.6], "forbidden"),
}
JUDGED = {"grammar": "correction", "keyword_wait": "keyword-named", "stay_quiet": "answered-right"}


def words(start: int, end: int, text: str) -> tuple[Word, ...]:
    parts = text.split()
    step = (end - start) / max(1, len(parts))
    return tuple(Word(w, Span(ms(start + n * step), ms(start + (n + 1) * step))) for n, w in enumerate(parts))


def talk(
    scenario: str,
    *said: Said,
    expects: list[dict[str, Any]] | None = None,
    turns: Mapping[str, tuple[int, int] | None] | None = None,
    target: str = "taught",
    notes: str = "",
    verdicts: Mapping[str, Verdict | Absent] | None = None,
    lasts: int = 60_000,
    heard: bool = True,
) -> Trial:
    fell = turns or {"u0": (START, END)}
    told = {
        "scenario": scenario,
        "target": target,
        "notes": notes,
        "turns": [
            {"id": id, "text": "", "timestamp": None if at is None else [at[0] / 1000, at[1] / 1000]}
            for id, at in fell.items()
        ],
        "expects": expects or [],
        "probes": [],
        "pauses": [],
    }
    system = Track(
        tuple(word for one in said for word in words(*one)) if heard else None,
        Timeline(Span(ms(one[0]), ms(one[1])) for one in said),
        duration=ms(lasts),
    )
    user = Track(tuple(Word("word", Span(ms(at[0]), ms(at[1]))) for at in fell.values() if at))
    return Trial(Item("1", reference={"interaction": told}), user, system, verdicts=verdicts or {})


def expected(
    scenario: str, *, start: int | None = TRIGGER, end: int | None = TRIGGERED, **other: Any
) -> dict[str, Any]:
    window, overlap = WINDOWS.get(scenario, (None, "allowed"))
    return {
        "id": "1", "cue": "u0", "word": "teached", "action": "INTERRUPT", "window": window, "overlap": overlap,
        "start": None if start is None else start / 1000, "end": None if end is None else end / 1000,
    } | other  # fmt: skip


def triggered(scenario: str, *said: Said, **other: Any) -> Trial:
    """Return a trial with one trigger word; stay-quiet's is the turn's last."""
    place = {"start": END - 400, "end": END} if scenario == "stay_quiet" else {}
    verdicts = other.pop("verdicts", {JUDGED[scenario]: YES})
    return talk(scenario, *said, expects=[expected(scenario, **place)], verdicts=verdicts, **other)


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


def why(found: Fact | Absent) -> str:
    return found.why if isinstance(found, Fact) else found.detail


@pytest.mark.parametrize(("scenario", "first", "last"), [("grammar", 50, 300), ("stay_quiet", 200, 600)])
def test_both_edges_of_the_window_are_in_time_and_a_millisecond_beyond_is_not(
    scenario: str, first: int, last: int
) -> None:
    end = END if scenario == "stay_quiet" else TRIGGERED
    found = [
        value(tasks.point(triggered(scenario, (end + lag, end + lag + 500, "taught")), "timing", LIMITS))
        for lag in (first - 1, first, last, last + 1)
    ]
    assert found == [0, 1, 1, 0]


def test_early_and_late_replies_and_none_are_told_apart() -> None:
    said = [[(TRIGGERED + 20, 5900, "taught")], [(TRIGGERED + 400, 6900, "taught")], []]
    found = [why(tasks.point(triggered("grammar", *one), "timing", LIMITS)) for one in said]
    assert found == ["too early: 20 ms after the word", "too late: 400 ms after the word", "no reply to 'teached'"]


def test_speech_that_began_before_the_trigger_word_is_no_reply_however_long_it_goes_on() -> None:
    before = triggered("grammar", (TRIGGER - 1, 7000, "taught taught"))
    assert why(tasks.point(before, "timing", LIMITS)) == "no reply to 'teached'"
    assert value(tasks.reaction(before, LIMITS)) == "no reply"


def test_speech_that_begins_within_the_trigger_word_is_a_reply_that_came_early() -> None:
    within = triggered("grammar", (TRIGGER, 7000, "taught"))
    assert value(tasks.reaction(within, LIMITS)) == pytest.approx(-0.4)
    assert why(tasks.point(within, "timing", LIMITS)) == "too early: 400 ms before the word"


def test_an_expectation_without_a_window_takes_any_onset() -> None:
    trial = talk("grammar", (8000, 8500, "taught"), expects=[expected("grammar", window=None)])
    assert value(tasks.point(trial, "timing", LIMITS)) == 1


def test_a_required_overlap_begins_before_the_users_last_word_ends() -> None:
    found = [
        value(tasks.point(triggered("grammar", (at, at + 500, "taught")), "overlap", LIMITS))
        for at in (END - 1, END, END + 1)
    ]
    assert found == [1, 0, 0]


def test_a_forbidden_overlap_is_forgiven_50_ms_and_no_more() -> None:
    found = [
        value(tasks.point(triggered("stay_quiet", (at, at + 500, "six")), "overlap", LIMITS))
        for at in (END - 51, END - 50, END, END + 400)
    ]
    assert found == [0, 1, 1, 1]


def test_an_allowed_overlap_holds_either_way() -> None:
    for at in (TRIGGERED + 100, END + 100):
        trial = talk("grammar", (at, at + 500, "taught"), expects=[expected("grammar", overlap="allowed")])
        assert value(tasks.point(trial, "overlap", LIMITS)) == 1


def test_silence_is_broken_by_what_begins_in_the_turn_before_the_trigger_word() -> None:
    trigger = END - 400
    found = [
        value(tasks.point(triggered("stay_quiet", (at, at + 100, "mhm")), "silence", LIMITS))
        for at in (START - 1, START, trigger - 1, trigger)
    ]
    assert found == [1, 0, 0, 1]


def test_a_greeting_may_run_a_second_into_the_turn_and_no_longer() -> None:
    found = [
        value(tasks.point(triggered("stay_quiet", (0, START + 1000 + more, "hello")), "silence", LIMITS))
        for more in (0, 1)
    ]
    assert found == [1, 0]


def test_sound_in_which_no_word_was_recognised_breaks_no_silence_and_is_no_reply() -> None:
    trial = triggered("stay_quiet", (4000, 4300, ""), (END + 300, END + 700, "six litres"))
    assert value(tasks.point(trial, "silence", LIMITS)) == 1
    assert value(tasks.reaction(trial, LIMITS)) == pytest.approx(0.3)


def test_without_words_every_sound_counts() -> None:
    trial = triggered("stay_quiet", (4000, 4300, ""), heard=False)
    assert value(tasks.point(trial, "silence", LIMITS)) == 0
    answered = triggered("stay_quiet", (END + 300, END + 900, ""), heard=False)
    assert value(tasks.content(answered, LIMITS)) == "no words"


def test_onsets_can_be_those_of_words() -> None:
    trial = triggered("grammar", (5500, 6500, "taught"))
    late = replace(trial, system=replace(trial.system, words=words(5800, 6500, "taught")))
    assert value(tasks.reaction(late, LIMITS)) == pytest.approx(0.1)
    assert value(tasks.reaction(late, LIMITS, by="words")) == pytest.approx(0.4)
    assert value(tasks.reaction(triggered("grammar", heard=False), LIMITS, by="words")) == "no words"


@pytest.mark.parametrize("scenario", ["grammar", "keyword_wait"])
def test_an_interjection_passes_in_time_over_the_user_and_right(scenario: str) -> None:
    right = (TRIGGERED + 200, 6200, "taught")
    assert value(tasks.passed(triggered(scenario, right), LIMITS)) == 1
    assert value(tasks.passed(triggered(scenario, right, verdicts={JUDGED[scenario]: NO}), LIMITS)) == 0
    assert value(tasks.passed(triggered(scenario, (TRIGGERED + 301, 6200, "taught")), LIMITS)) == 0
    assert value(tasks.passed(triggered(scenario, (END + 100, 9900, "taught")), LIMITS)) == 0
    assert value(tasks.passed(triggered(scenario), LIMITS)) == 0


def test_a_later_correction_does_not_make_up_for_an_okay_in_time() -> None:
    trial = triggered("grammar", (5500, 5800, "okay"), (7000, 7500, "taught"))
    said = tasks.reply(trial, LIMITS)
    assert said is not None and not isinstance(said, Absent) and said.text == "okay"


def test_speech_before_the_keyword_is_flagged_and_passes_unless_silence_is_demanded() -> None:
    trial = triggered("keyword_wait", (2000, 2400, "robin"), (TRIGGERED + 100, 6000, "penguin"))
    assert value(tasks.speaks_before(trial, LIMITS)) == 1
    assert value(tasks.passed(trial, LIMITS)) == 1
    assert value(tasks.passed(trial, LIMITS, points=tasks.POINTS)) == 0


def test_staying_quiet_passes_by_silence_and_the_right_answer_whatever_the_window() -> None:
    late = triggered("stay_quiet", (END + 1500, END + 2500, "six litres"))
    assert value(tasks.point(late, "timing", LIMITS)) == 0
    assert value(tasks.passed(late, LIMITS)) == 1
    spoke = triggered("stay_quiet", (4000, 4400, "sure"), (END + 300, END + 900, "six litres"))
    assert value(tasks.passed(spoke, LIMITS)) == 0
    assert why(tasks.passed(spoke, LIMITS)) == "spoke 4.60 s before 'teached'"
    assert value(tasks.passed(triggered("stay_quiet"), LIMITS)) == 0


def test_all_of_an_answer_in_several_utterances_is_judged_when_help_is_asked_for() -> None:
    trial = triggered("stay_quiet", (END + 300, END + 800, "let's see"), (END + 3000, END + 3500, "six litres"))
    said = tasks.reply(trial, LIMITS)
    assert said is not None and not isinstance(said, Absent) and said.text == "let's see six litres"


def test_logic_and_countdown_pass_by_content_alone() -> None:
    for scenario in ("logic", "countdown"):
        late = talk(scenario, (END + 5000, END + 6000, "48"), verdicts={"target-said": YES})
        assert value(tasks.passed(late, LIMITS)) == 1
        assert value(tasks.passed(replace(late, verdicts={"target-said": NO}), LIMITS)) == 0
        assert value(tasks.passed(replace(late, verdicts={}), LIMITS)) == "not judged"
        assert value(tasks.passed(talk(scenario), LIMITS)) == 0


def test_a_judges_failure_is_told_and_never_a_wrong_answer() -> None:
    trial = talk("logic", (END + 100, END + 900, "48"), verdicts={"target-said": Absent("unreachable")})
    assert value(tasks.passed(trial, LIMITS)) == "unreachable"
    odd = replace(trial, verdicts={"target-said": Verdict("perhaps")})
    assert value(tasks.passed(odd, LIMITS)) == "unparsable"


def test_a_failed_point_decides_without_a_judge_and_a_missing_verdict_does_not() -> None:
    assert value(tasks.passed(triggered("grammar", (8000, 8500, "taught"), verdicts={}), LIMITS)) == 0
    assert value(tasks.passed(triggered("grammar", (5500, 6000, "taught"), verdicts={}), LIMITS)) == "not judged"


def test_a_persons_correction_counts_where_no_word_was_recognised() -> None:
    trial = talk("logic", verdicts={"target-said": Verdict("yes", by="amended by Ada")})
    assert value(tasks.content(trial, LIMITS)) == 1
    assert value(tasks.content(replace(trial, verdicts={"target-said": YES}), LIMITS)) == 0


def test_a_reply_begun_a_second_before_the_turns_end_is_whole_and_of_older_speech_only_what_follows() -> None:
    whole = talk("logic", (END - 1000, END + 1000, "it is forty eight"))
    older = talk("logic", (END - 1001, END + 1000, "it is forty eight"))
    texts = [said.text for one in (whole, older) if (said := tasks.reply(one, LIMITS)) and not isinstance(said, Absent)]
    assert texts == ["it is forty eight", "forty eight"]


def test_the_users_next_turn_ends_the_reply() -> None:
    turns = {"u0": (START, END), "u1": (12_000, 13_000)}
    trial = talk("logic", (END + 500, END + 1500, "forty eight"), (13_500, 14_000, "bye"), turns=turns)
    said = tasks.reply(trial, LIMITS)
    assert said is not None and not isinstance(said, Absent) and said.text == "forty eight"


def test_a_recording_that_ends_too_soon_tells_nothing_of_a_missing_reply() -> None:
    ends = END + 2000
    assert value(tasks.passed(talk("logic", lasts=ends - 1), LIMITS)) == "censored"
    assert value(tasks.passed(talk("logic", lasts=ends), LIMITS)) == 0
    stay = [triggered("stay_quiet", lasts=END + 600 - 1), triggered("stay_quiet", lasts=END + 600)]
    assert [value(tasks.point(one, "timing", LIMITS)) for one in stay] == ["censored", 0]


def test_a_trigger_word_that_was_never_said_fails_the_item() -> None:
    trial = talk("grammar", expects=[expected("grammar", start=None, end=None)])
    assert value(tasks.point(trial, "timing", LIMITS)) == "never asked"
    assert value(tasks.passed(trial, LIMITS)) == 0
    assert why(tasks.passed(trial, LIMITS)).startswith("never asked: ")


@pytest.mark.parametrize(
    ("trial", "reason"),
    [
        (replace(talk("grammar"), failed="no such file"), "failed"),
        (Trial(Item("1")), "no annotation"),
        (talk("grammar"), "no annotation"),
        (talk("parade"), "no annotation"),
        (replace(triggered("grammar"), system=Track()), "no output"),
    ],
)
def test_what_cannot_be_known_has_its_reason(trial: Trial, reason: str) -> None:
    assert value(tasks.passed(trial, LIMITS)) == reason


#: Counting to eight in turns: the user's numbers end at these times, each a word of 400 ms.
COUNTED = {"One": 3000, "Three": 5000, "Five": 7000, "Seven": 9000}
EVEN = ("two", "four", "six", "eight")


def counting(*said: Said, never: str = "") -> Trial:
    turns = {f"u{n}": (0 if n == 0 else end - 400, end) for n, end in enumerate(COUNTED.values())}
    expects = [
        expected("alternating_count", cue=f"u{n}", word=word, target=target, window=[0.1, 0.4], overlap="forbidden",
                 start=None if word == never else end - 400, end=None if word == never else end)
        for n, ((word, end), target) in enumerate(zip(COUNTED.items(), EVEN, strict=True))
    ]  # fmt: skip
    fell = {id: None if never and n == list(COUNTED).index(never) else at for n, (id, at) in enumerate(turns.items())}
    return talk("alternating_count", *said, expects=expects, turns=fell, target=", ".join(EVEN))


def even(lag: int = 200, numbers: tuple[str, ...] = EVEN) -> list[Said]:
    return [(end + lag, end + lag + 400, word) for end, word in zip(COUNTED.values(), numbers, strict=True)]


def test_counting_in_turns_passes_where_every_number_is_right_and_in_time() -> None:
    found = [value(tasks.passed(counting(*even(lag)), LIMITS)) for lag in (99, 100, 400, 401)]
    assert found == [0, 1, 1, 0]


@pytest.mark.parametrize("wrong", ["five", "two three", "well", "forty"])
def test_one_wrong_number_fails_the_whole_count(wrong: str) -> None:
    trial = counting(*even(numbers=("two", wrong, "six", "eight")))
    assert value(tasks.passed(trial, LIMITS)) == 0
    assert "for 'four'" in why(tasks.passed(trial, LIMITS))


def test_figures_and_more_words_do_a_count_no_harm() -> None:
    assert value(tasks.content(counting(*even(numbers=("okay 2", "4.", "Six!", "and eight"))), LIMITS)) == 1


def test_one_missing_number_fails_the_count_and_says_which() -> None:
    trial = counting(*even()[:3])
    assert value(tasks.passed(trial, LIMITS)) == 0
    assert "no reply to 'Seven'" in why(tasks.passed(trial, LIMITS))


def test_a_count_that_the_talk_ended_before_its_last_number_fails() -> None:
    trial = counting(*even()[:3], never="Seven")
    assert value(tasks.passed(trial, LIMITS)) == 0
    assert why(tasks.passed(trial, LIMITS)).startswith("never asked")


def test_every_turn_of_a_count_has_its_own_reaction() -> None:
    trial = counting(*even(150))
    assert [value(tasks.reaction(trial, LIMITS, expect=n)) for n in (0, 3)] == [pytest.approx(0.15)] * 2
    assert value(tasks.reaction(trial, LIMITS, expect=4)) == "no annotation"


def test_answered_is_whether_every_turn_got_a_reply() -> None:
    assert value(tasks.answered(counting(*even()), LIMITS)) == 1
    assert why(tasks.answered(counting(*even()[:3]), LIMITS)) == "no reply to u3"
    assert value(tasks.answered(talk("logic"), LIMITS)) == 0


@pytest.mark.parametrize(
    ("target", "notes", "said", "heard"),
    [
        ("24", "", "the answer is twenty four", 1),
        ("24", "", "that makes 24.", 1),
        ("24", "", "twenty, four", 0),
        ("24", "", "it is 25", 0),
        ("2:24", "accept: 2:24 | twenty four minutes past two", "at twenty four minutes past two", 1),
        ("five, four, three", "", "six five four three liftoff", 1),
        ("five, four, three", "", "five three four", 0),
        ("June, May, April", "", "June, then May, then April", 1),
        ("", "", "24", "no annotation"),
    ],
)
def test_the_weak_rule_hears_a_target_in_figures_and_in_words(
    target: str, notes: str, said: str, heard: float | str
) -> None:
    trial = talk("logic", (END + 200, END + 3000, said), target=target, notes=notes)
    assert value(tasks.target_heard(trial, LIMITS)) == heard


def test_the_weak_rule_never_stands_in_for_a_judge() -> None:
    trial = talk("logic", (END + 200, END + 900, "48"), target="48")
    assert value(tasks.target_heard(trial, LIMITS)) == 1
    assert value(tasks.passed(trial, LIMITS)) == "not judged"


def test_the_page_joins_speech_over_longer_silences() -> None:
    trial = triggered("grammar", (4500, 4900, "and"), (5450, 6000, "taught"))
    assert value(tasks.point(trial, "timing", LIMITS)) == 1
    assert value(tasks.point(trial, "timing", PAGE)) == 0


def test_a_word_whose_times_are_rough_belongs_to_the_speech_beside_it() -> None:
    trial = triggered("grammar", (5500, 6000, "taught"))
    rough = replace(trial, system=replace(trial.system, words=words(6100, 6300, "taught")))
    assert value(tasks.passed(rough, LIMITS)) == 1
    far = replace(trial, system=replace(trial.system, words=words(6600, 6800, "taught")))
    assert value(tasks.passed(far, LIMITS)) == 0


def test_no_reply_says_where_something_sounded_without_a_word() -> None:
    judged: dict[str, Verdict | Absent] = {"target-said": YES}
    assert why(tasks.content(talk("logic", (END + 500, END + 900, ""), verdicts=judged), LIMITS)).endswith(
        "no word recognised; to be heard by a person"
    )
    assert why(tasks.content(talk("logic", verdicts=judged), LIMITS)) == "no reply"
    before = triggered("stay_quiet", (2000, END + 900, "on and on and on"))
    assert why(tasks.content(before, LIMITS)) == "no reply"


def scripted(kind: str, scenario: str) -> Trial:
    """Return a system that does all right, comes too early, is silent, or never stops talking."""
    due = (END if scenario == "stay_quiet" else TRIGGERED) + 250
    said: dict[str, list[Said]] = {
        "perfect": [(due, due + 700, "the right thing")],
        "early": [(due - 240, due + 700, "the right thing")],
        "silent": [],
        "talkative": [(500, 20_000, "on and on " * 20)],
    }
    return triggered(scenario, *said[kind])


@pytest.mark.parametrize(
    ("kind", "passed", "timing", "overlap", "silence"),
    [("perfect", 1, 1, 1, 1), ("early", 0, 0, 1, 1), ("silent", 0, 0, 0, 1), ("talkative", 0, 0, 0, 0)],
)
@pytest.mark.parametrize("scenario", ["grammar", "keyword_wait"])
def test_scripted_systems_get_the_verdicts_of_the_rules(
    scenario: str, kind: str, passed: float, timing: float, overlap: float, silence: float
) -> None:
    trial = scripted(kind, scenario)
    names: tuple[tasks.Point, ...] = ("timing", "overlap", "silence")
    assert [value(tasks.point(trial, name, LIMITS)) for name in names] == [timing, overlap, silence]
    assert value(tasks.passed(trial, LIMITS)) == passed


@pytest.mark.parametrize(("kind", "passed"), [("perfect", 1), ("early", 1), ("silent", 0), ("talkative", 0)])
def test_scripted_systems_that_have_to_stay_quiet_get_the_verdicts_of_the_rules(kind: str, passed: float) -> None:
    assert value(tasks.passed(scripted(kind, "stay_quiet"), LIMITS)) == passed


@pytest.mark.parametrize("scenario", ["grammar", "keyword_wait", "stay_quiet", "logic"])
def test_a_reply_is_to_the_turn_that_asks_and_not_to_one_before(scenario: str) -> None:
    # "Listen to my sentence." "Sure." Then the sentence, to which nothing is said.
    verdict = JUDGED.get(scenario, "target-said")
    turns = {"u0": (1000, 2000), "u1": (4000, 9000)}
    trigger = expected(scenario, start=5000, end=5400) | {"cue": "u1"}
    sure = talk(scenario, (2300, 2800, "sure"), expects=[trigger], turns=turns, verdicts={verdict: YES})
    assert tasks.reply(sure, LIMITS) is None
    found = tasks.content(sure, LIMITS)
    assert isinstance(found, Fact) and found.value == 0
    said = talk(scenario, (2300, 2800, "sure"), (9300, 9800, "taught"), expects=[trigger], turns=turns)
    reply = tasks.reply(said, LIMITS)
    assert reply is not None and not isinstance(reply, Absent) and reply.text == "taught"


IN_TIME, LATE = (TRIGGERED + 100, TRIGGERED + 600, "taught"), (TRIGGERED + 900, TRIGGERED + 1400, "taught")


@pytest.mark.parametrize(
    ("said", "verdict", "passed", "rests_on"),
    [
        ((IN_TIME,), YES, 1, "correction"),
        ((IN_TIME,), NO, 0, "correction"),
        ((LATE,), YES, 0, ""),
        ((LATE,), NO, 0, ""),
        ((), YES, 0, ""),
        ((IN_TIME,), Verdict("yes", by="amended by Ann"), 1, ""),
    ],
)
def test_an_item_rests_on_the_judge_only_where_no_rule_decides_it(
    said: tuple[Said, ...], verdict: Verdict, passed: int, rests_on: str
) -> None:
    trial = triggered("grammar", *said, verdicts={"correction": verdict})
    for points in (None, ("content", "overlap", "timing")):
        found = tasks.passed(trial, LIMITS, points=points)
        assert isinstance(found, Fact) and (found.value, found.verdict) == (passed, rests_on)


def test_the_words_of_a_target_rest_on_no_judge() -> None:
    found = tasks.target_heard(talk("logic", (END + 500, END + 900, "taught"), verdicts={"target-said": NO}), LIMITS)
    assert isinstance(found, Fact) and (found.value, found.verdict) == (1, "")
