"""The five timing scenarios: each rule with its edge, one millisecond to either side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar

import pytest

from fullduplex.measures import exchange
from fullduplex.measures.exchange import PAGE, Limits
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms, seconds
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

OURS = Limits()
#: A turn in seconds, or None where it never fell; what the system says: onset, end, words.
Turns = Mapping[str, tuple[float, float] | None]
Said = tuple[float, float, str]


def words(start: float, end: float, text: str) -> tuple[Word, ...]:
    """Spread the words of ``text`` evenly from ``start`` to ``end``."""
    parts = text.split()
    step = (end - start) / max(1, len(parts))
    return tuple(Word(w, Span(seconds(start + i * step), seconds(start + (i + 1) * step))) for i, w in enumerate(parts))


def acted(
    turns: Turns,
    *said: Said,
    pauses: Sequence[tuple[float, float] | None] = (),
    talking: Mapping[str, bool] | None = None,
    verdicts: Mapping[str, Verdict | Absent] | None = None,
    lasts: float = 60.0,
    heard: bool = True,
) -> Trial:
    """Return a trial in which the user's turns fell so, a word from end to end of each, and the system spoke so."""
    told: dict[str, Any] = {
        "scenario": "test",
        "turns": [
            {"id": name, "timestamp": None if at is None else list(at)}
            | ({"premise": {"system_talking": talking[name]}} if talking and name in talking else {})
            for name, at in turns.items()
        ],
        "expects": [],
        "probes": [],
        "pauses": [{"start": at[0], "end": at[1]} if at else {"start": None, "end": None} for at in pauses],
    }
    user = tuple(Word("word", Span(seconds(at[0]), seconds(at[1]))) for at in turns.values() if at)
    system = Track(
        tuple(w for one in said for w in words(*one)) if heard else None,
        Timeline(Span(seconds(start), seconds(end)) for start, end, _ in said) if heard else None,
        duration=seconds(lasts),
    )
    return Trial(Item("1", reference={"interaction": told}), Track(user), system, verdicts=verdicts or {})


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


def why(found: Fact | Absent) -> str:
    return found.why if isinstance(found, Fact) else found.detail


class TestWhatEveryMeasureLacks:
    MEASURES = (
        exchange.backchannel_passed, exchange.acknowledgements, exchange.floor_take, exchange.barge_in,
        exchange.pause_passed, exchange.turn_taken, exchange.turn_latency, exchange.reply_lag, exchange.started_early,
        exchange.user_backchannel_passed, exchange.derailed, exchange.interruption_passed, exchange.yielded,
        exchange.addressed, exchange.exercised, exchange.injection_delay,
    )  # fmt: skip

    @pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
    def test_a_failed_trial_has_no_value(self, measure: Any) -> None:
        assert value(measure(Trial(Item("1"), failed="broken"), OURS)) == "failed"

    @pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
    def test_an_item_without_an_interaction_has_no_value(self, measure: Any) -> None:
        assert value(measure(Trial(Item("1")), OURS)) == "no annotation"

    @pytest.mark.parametrize("measure", MEASURES, ids=lambda m: m.__name__)
    def test_a_system_that_nobody_listened_to_is_not_silent(self, measure: Any) -> None:
        turns = {"u0": (1.0, 9.0), "u1": (12.0, 14.0), "b0": (13.0, 13.5)}
        assert value(measure(acted(turns, pauses=[(3.0, 4.0)], heard=False), OURS)) == "no output"

    def test_every_threshold_can_be_moved_by_a_factor_or_a_word(self) -> None:
        assert all(type(getattr(OURS, one.name)) is int for one in fields(Limits))
        counts = [
            one.name for one in fields(Limits) if abs(getattr(OURS, one.name)) < ms(1) and one.name != "reply_over"
        ]
        assert all("words" in name for name in counts)


class TestWhenATurnEnds:
    TURN: ClassVar[Turns] = {"u0": (1.0, 4.0)}

    def end(self, user: Track, trigger: tuple[str, float, float] | None = None, text: str = "") -> float:
        trial = replace(acted(self.TURN, (4.4, 5.0, "yes")), user=user)
        told: Any = trial.item.reference["interaction"]
        told["turns"][0]["text"] = text
        if trigger:
            word, start, end = trigger
            told["expects"] = [{"cue": "u0", "word": word, "start": start, "end": end, "action": "TAKE_FLOOR"}]
        found = exchange.heard(trial, "u0", OURS)
        assert not isinstance(found, Absent)
        return found.end / 1e6

    def test_it_ends_with_the_last_recognised_word_not_with_its_audio(self) -> None:
        assert self.end(Track(words(1.0, 3.5, "how are you"))) == 3.5

    def test_marks_alone_are_no_words(self) -> None:
        assert self.end(Track((*words(1.0, 3.5, "how are you"), *words(3.6, 3.9, "...")))) == 3.5

    def test_a_recognised_word_does_not_outlast_the_audio(self) -> None:
        assert self.end(Track(words(1.0, 4.3, "how are you"))) == 4.0

    def test_without_words_it_ends_with_the_speech_and_without_speech_with_the_audio(self) -> None:
        assert self.end(Track(speech=Timeline([Span(seconds(1), seconds(3.6))]))) == 3.6
        assert self.end(Track()) == 4.0

    def test_speech_that_sounds_past_the_recognised_word_belongs_to_the_turn(self) -> None:
        user = Track(words(1.0, 3.5, "how are you"), Timeline([Span(seconds(1), seconds(3.66))]))
        assert self.end(user) == 3.66
        assert self.end(replace(user, speech=Timeline([Span(seconds(1), seconds(3.4))]))) == 3.5

    def test_the_placed_trigger_word_is_trusted_where_it_is_the_last(self) -> None:
        user = Track(words(1.0, 3.5, "how do turtles live"))
        assert self.end(user, ("live", 3.2, 3.62), "How do turtles live?") == 3.62

    def test_a_trigger_word_within_the_turn_ends_nothing(self) -> None:
        user = Track(words(1.0, 3.5, "how do turtles live"))
        assert self.end(user, ("turtles", 2.2, 2.8), "How do turtles live?") == 3.5

    def test_a_trigger_word_that_comes_again_ends_nothing_the_first_time(self) -> None:
        user = Track(words(1.0, 3.4, "go on and go"))
        assert self.end(user, ("go", 1.0, 1.6), "Go on and go!") == 3.4


class TestWordsWithRoughTimes:
    TURN: ClassVar[Turns] = {"u0": (1.0, 4.0)}

    def said(self, at: float) -> list[str]:
        trial = acted(self.TURN, (5.0, 5.4, ""), (7.0, 8.0, "yes"))
        trial = replace(trial, system=replace(trial.system, words=(*words(at - 0.1, at + 0.1, "Twelve."),)))
        found = exchange.heard(trial, "u0", OURS)
        assert not isinstance(found, Absent)
        return [" ".join(w.text for w in u.words or ()) for u in found.said]

    @pytest.mark.parametrize(("at", "found"), [(4.5, "Twelve."), (4.499, ""), (5.899, "Twelve."), (5.9, "")])
    def test_a_word_belongs_to_the_nearest_speech_within_half_a_second(self, at: float, found: str) -> None:
        assert self.said(at) == [found, ""]

    def test_a_word_between_two_utterances_belongs_to_the_nearer(self) -> None:
        assert self.said(6.6) == ["", "Twelve."]


class TestBackchannels:
    MONOLOGUE: ClassVar[Turns] = {"u0": (1.0, 20.0)}

    def test_short_words_during_a_monologue_are_counted_and_pass(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 4.5, "mhm"), (9.0, 9.6, "oh wow"), (20.8, 24.0, "that is quite a story"))
        assert value(exchange.acknowledgements(trial, OURS)) == 2
        assert value(exchange.floor_take(trial, OURS)) == 0
        assert value(exchange.backchannel_passed(trial, OURS)) == 1

    def test_a_silent_listener_takes_no_floor_and_does_not_pass(self) -> None:
        trial = acted(self.MONOLOGUE)
        assert value(exchange.acknowledgements(trial, OURS)) == 0
        assert value(exchange.floor_take(trial, OURS)) == 0
        assert value(exchange.backchannel_passed(trial, OURS)) == 0

    @pytest.mark.parametrize(("end", "taken"), [(5.5, 0), (5.501, 1)])
    def test_unjudged_a_second_and_a_half_is_still_a_backchannel(self, end: float, taken: int) -> None:
        assert value(exchange.floor_take(acted(self.MONOLOGUE, (4.0, end, "oh yeah")), OURS)) == taken

    @pytest.mark.parametrize(("text", "taken"), [("oh I see", 0), ("oh I see that", 1)])
    def test_unjudged_three_words_are_still_a_backchannel(self, text: str, taken: int) -> None:
        assert value(exchange.floor_take(acted(self.MONOLOGUE, (4.0, 5.0, text)), OURS)) == taken

    @pytest.mark.parametrize("limits", [OURS, exchange.PAGE])
    def test_unjudged_short_words_that_acknowledge_nothing_are_no_backchannel(self, limits: exchange.Limits) -> None:
        often = [(4.0 + n / 2, 4.3 + n / 2, "One moment,") for n in range(0, 24, 3)]
        trial = acted(self.MONOLOGUE, *often)
        for measure in (exchange.acknowledgements, exchange.floor_take, exchange.backchannel_passed):
            found = measure(trial, limits)
            assert isinstance(found, Absent) and found.reason == "not judged" and "One moment," in found.detail
        kinds = {f"backchannel-kind:{key}": Verdict("floor-take") for key, _ in exchange.candidates(trial, limits)}
        assert len(kinds) == 8
        assert value(exchange.acknowledgements(replace(trial, verdicts=kinds), limits)) == 0

    @pytest.mark.parametrize("text", ["mm-hmm", "Oh, I see.", "Yeah, right.", "okay"])
    def test_unjudged_words_of_acknowledgement_are_a_backchannel(self, text: str) -> None:
        assert value(exchange.acknowledgements(acted(self.MONOLOGUE, (4.0, 4.8, text)), exchange.PAGE)) == 1

    def test_that_length_alone_decided_is_told(self) -> None:
        found = exchange.acknowledgements(acted(self.MONOLOGUE, (4.0, 4.4, ""), (9.0, 9.5, "mhm")), OURS)
        assert why(found) == "by rule: 2 of 2 utterances, 1 of them without a word, by length alone"

    @pytest.mark.parametrize(("end", "text", "count"), [
        (7.0, "one two three", 1), (7.001, "one two three", 0),
        (6.0, "a b c d e f g h i j", 1), (6.0, "a b c d e f g h i j k", 0),
    ])  # fmt: skip
    def test_up_to_three_seconds_and_ten_words_are_a_question_for_the_judge(
        self, end: float, text: str, count: int
    ) -> None:
        trial = acted(self.MONOLOGUE, (4.0, end, text))
        assert len(exchange.candidates(trial, OURS)) == count
        if not count:
            assert value(exchange.floor_take(trial, OURS)) == 1

    def test_the_judge_decides_what_a_candidate_is(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 5.0, "yeah"), (8.0, 10.5, "oh no that must have been awful"))
        first, second = (f"backchannel-kind:{key}" for key, _ in exchange.candidates(trial, OURS))
        kind = {first: Verdict("backchannel"), second: Verdict("backchannel")}
        assert value(exchange.acknowledgements(replace(trial, verdicts=kind), OURS)) == 2
        kind[first] = Verdict("floor-take")
        assert value(exchange.floor_take(replace(trial, verdicts=kind), OURS)) == 1
        assert value(exchange.acknowledgements(replace(trial, verdicts=kind), OURS)) == 1

    def test_a_verdict_stays_with_its_utterance_when_thresholds_move(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 6.5, "oh no how awful"), (9.0, 9.5, "mhm"))
        (key, _), _ = exchange.candidates(trial, OURS)
        judged = replace(trial, verdicts={f"backchannel-kind:{key}": Verdict("floor-take")})
        shorter = replace(OURS, candidate_within=seconds(2))
        assert value(exchange.acknowledgements(judged, shorter)) == 1  # "mhm" alone: it inherits nothing

    def test_a_verdict_that_is_no_label_is_no_value(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 5.0, "yeah"))
        ((key, _),) = exchange.candidates(trial, OURS)
        odd = replace(trial, verdicts={f"backchannel-kind:{key}": Verdict("perhaps")})
        lost = replace(trial, verdicts={f"backchannel-kind:{key}": Absent("unreachable")})
        assert value(exchange.backchannel_passed(odd, OURS)) == "unparsable"
        assert value(exchange.backchannel_passed(lost, OURS)) == "unreachable"

    def test_a_sound_without_words_is_not_shown_to_the_judge(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 4.4, ""))
        assert exchange.candidates(trial, OURS) == []
        assert value(exchange.acknowledgements(trial, OURS)) == 1

    LONG = "well let me tell you what I think about all of this now"

    @pytest.mark.parametrize(("onset", "taken"), [(20.4, 1), (20.401, 0)])
    def test_on_the_page_a_response_begins_more_than_400_ms_after_the_end(self, onset: float, taken: int) -> None:
        trial = acted(self.MONOLOGUE, (onset, onset + 5, self.LONG))
        assert value(exchange.floor_take(trial, PAGE)) == taken

    @pytest.mark.parametrize(("onset", "taken"), [(19.95, 1), (19.951, 0)])
    def test_with_ours_a_response_may_begin_50_ms_early(self, onset: float, taken: int) -> None:
        trial = acted(self.MONOLOGUE, (onset, onset + 5, self.LONG))
        assert value(exchange.floor_take(trial, OURS)) == taken

    @pytest.mark.parametrize(("onset", "taken"), [(0.999, 0), (1.0, 1)])
    def test_speech_that_had_begun_before_the_monologue_takes_nothing(self, onset: float, taken: int) -> None:
        assert value(exchange.floor_take(acted(self.MONOLOGUE, (onset, 6.0, self.LONG)), OURS)) == taken

    def test_a_recording_that_ends_within_the_monologue_tells_nothing(self) -> None:
        assert (
            value(exchange.backchannel_passed(acted(self.MONOLOGUE, (4, 5, "mhm"), lasts=19.999), OURS)) == "censored"
        )
        assert value(exchange.backchannel_passed(acted(self.MONOLOGUE, (4, 5, "mhm"), lasts=20.0), OURS)) == 1

    def test_a_monologue_that_never_began_was_never_asked(self) -> None:
        assert value(exchange.backchannel_passed(acted({"u0": None}), OURS)) == "never asked"


class TestPauses:
    TURN: ClassVar[Turns] = {"u0": (1.0, 8.0)}
    PAUSE = ((3.0, 4.5),)

    def passed(self, *said: Said, limits: Limits = OURS, lasts: float = 60.0) -> float | str:
        return value(exchange.pause_passed(acted(self.TURN, *said, pauses=self.PAUSE, lasts=lasts), limits))

    def barged(self, *said: Said, limits: Limits = OURS) -> float | str:
        return value(exchange.barge_in(acted(self.TURN, *said, pauses=self.PAUSE), limits))

    REPLY: Said = (8.5, 10.0, "here you are then")

    def test_waiting_and_answering_passes(self) -> None:
        assert self.passed(self.REPLY) == 1
        assert self.barged(self.REPLY) == 0

    @pytest.mark.parametrize(("onset", "jumped"), [(2.899, 0), (2.9, 1), (4.499, 1), (4.5, 0)])
    def test_a_word_jumps_in_from_100_ms_before_the_pause_to_its_end(self, onset: float, jumped: int) -> None:
        assert self.barged((onset, onset + 0.4, "yes")) == jumped
        assert self.passed((onset, onset + 0.4, "yes"), self.REPLY) == 1 - jumped

    def test_talking_on_into_the_pause_is_jumping_in(self) -> None:
        assert self.barged((1.5, 4.0, "I think I know what it is")) == 1

    def test_strictly_a_backchannel_jumps_in_and_leniently_four_words_may(self) -> None:
        lenient = replace(OURS, pause_words=exchange.LENIENT_PAUSE_WORDS)
        assert self.passed((3.3, 4.0, "go on"), self.REPLY) == 0
        assert self.passed((3.3, 4.0, "go on"), self.REPLY, limits=lenient) == 1
        assert self.passed((3.1, 4.3, "go on I am"), self.REPLY, limits=lenient) == 1
        assert self.passed((3.1, 4.3, "go on I am listening"), self.REPLY, limits=lenient) == 0

    @pytest.mark.parametrize(("end", "jumped"), [(4.5, 0), (4.501, 1)])
    def test_leniently_it_has_to_be_over_when_the_user_resumes(self, end: float, jumped: int) -> None:
        assert self.barged((3.3, end, "go on"), limits=replace(OURS, pause_words=4)) == jumped

    def test_waiting_for_ever_does_not_pass(self) -> None:
        assert self.passed() == 0

    @pytest.mark.parametrize(("lasts", "found"), [(9.999, "censored"), (10.0, 0)])
    def test_silence_is_known_two_seconds_after_the_turn(self, lasts: float, found: float | str) -> None:
        assert self.passed(lasts=lasts) == found

    def test_speech_over_the_rest_of_the_sentence_answers_on_the_page_and_not_with_ours(self) -> None:
        trial = acted(self.TURN, (5.0, 7.0, "let me see"), pauses=self.PAUSE)
        assert value(exchange.pause_passed(trial, PAGE, speaks_after="pause")) == 1
        assert value(exchange.pause_passed(trial, OURS)) == 0

    @pytest.mark.parametrize(("onset", "found"), [(4.499, 0), (4.5, 1)])
    def test_on_the_page_the_answer_may_begin_with_the_end_of_the_pause(self, onset: float, found: int) -> None:
        trial = acted(self.TURN, (onset, 7.0, "sure"), pauses=self.PAUSE)
        assert value(exchange.pause_passed(trial, PAGE, speaks_after="pause")) == found

    def test_any_of_several_pauses_can_be_jumped_into(self) -> None:
        trial = acted(self.TURN, (5.5, 5.9, "yes"), pauses=[(2.0, 3.0), (5.0, 6.0)])
        assert value(exchange.barge_in(trial, OURS)) == 1

    def test_a_pause_that_the_talk_did_not_reach_was_never_asked(self) -> None:
        assert value(exchange.barge_in(acted(self.TURN, pauses=[None]), OURS)) == "never asked"
        assert value(exchange.barge_in(acted(self.TURN), OURS)) == "no annotation"

    def test_speech_without_a_recogniser_cannot_be_held_to_a_rule_about_words(self) -> None:
        trial = acted(self.TURN, self.REPLY, pauses=self.PAUSE)
        deaf = replace(trial, system=replace(trial.system, words=None))
        assert value(exchange.barge_in(deaf, OURS)) == "no words"


class TestTurnTaking:
    TURN: ClassVar[Turns] = {"u0": (1.0, 4.0)}

    @pytest.mark.parametrize(
        ("onset", "taken", "state"),
        [(3.949, 0, "spoke before the end"), (3.95, 1, "on time"), (6.5, 1, "on time"), (6.501, 0, "late")],
    )
    def test_a_reply_is_in_time_from_50_ms_early_to_two_and_a_half_seconds(
        self, onset: float, taken: int, state: str
    ) -> None:
        found = exchange.turn_taken(acted(self.TURN, (onset, onset + 2, "it is four")), OURS)
        assert value(found) == taken
        assert why(found).startswith(state)

    @pytest.mark.parametrize("early", exchange.EARLY_STARTS)
    def test_the_early_start_is_a_threshold(self, early: int) -> None:
        limits = replace(OURS, early=early)
        onset = 4.0 - early / 1e6
        assert value(exchange.turn_taken(acted(self.TURN, (onset, 6.0, "it is four")), limits)) == 1
        assert value(exchange.turn_taken(acted(self.TURN, (onset - 0.001, 6.0, "it is four")), limits)) == 0

    def test_a_greeting_within_the_turn_is_no_reply_with_ours_and_is_one_on_the_page(self) -> None:
        trial = acted(self.TURN, (1.5, 2.2, "hey what's up"), (4.5, 6.0, "it is four"))
        assert value(exchange.turn_taken(trial, OURS)) == 1
        assert value(exchange.started_early(trial, OURS)) == 1
        assert value(exchange.turn_taken(trial, PAGE, starts="first word")) == 0

    @pytest.mark.parametrize(("onset", "early"), [(3.949, 1), (3.95, 0)])
    def test_an_early_start_is_more_than_50_ms_early(self, onset: float, early: int) -> None:
        assert value(exchange.started_early(acted(self.TURN, (onset, 6.0, "it is four")), OURS)) == early

    def test_speech_that_ends_with_the_turn_is_no_reply(self) -> None:
        assert value(exchange.turn_taken(acted(self.TURN, (3.0, 4.0, "four")), OURS)) == 0
        assert why(exchange.turn_taken(acted(self.TURN, (3.0, 4.0, "four")), OURS)) == "silent"
        assert why(exchange.turn_taken(acted(self.TURN, (3.0, 4.001, "four")), OURS)).startswith("spoke before the end")

    @pytest.mark.parametrize(("lasts", "found"), [(6.499, "censored"), (6.5, 0)])
    def test_silence_is_known_when_the_window_is_over(self, lasts: float, found: float | str) -> None:
        assert value(exchange.turn_taken(acted(self.TURN, lasts=lasts), OURS)) == found

    def test_a_breath_is_no_reply_unless_nobody_listened_for_words(self) -> None:
        trial = acted(self.TURN, (4.2, 4.4, ""), (7.0, 8.0, "four"))
        assert why(exchange.turn_taken(trial, OURS)).startswith("late")
        deaf = replace(trial, system=replace(trial.system, words=None))
        assert why(exchange.turn_taken(deaf, OURS)).startswith("on time")
        assert value(exchange.turn_latency(deaf, OURS)) == "no words"

    def test_the_latency_is_that_of_the_first_word_after_the_turn(self) -> None:
        trial = acted(self.TURN, (3.96, 6.0, "well"), (6.0, 7.0, "four"))
        assert value(exchange.turn_latency(trial, OURS)) == pytest.approx(2.0)
        assert value(exchange.reply_lag(trial, OURS)) == pytest.approx(-0.04)

    def test_a_word_that_begins_with_the_turns_end_has_latency_zero(self) -> None:
        assert value(exchange.turn_latency(acted(self.TURN, (4.0, 5.0, "four")), OURS)) == 0

    def test_a_late_reply_has_a_latency_and_an_early_one_or_none_has_not(self) -> None:
        assert value(exchange.turn_latency(acted(self.TURN, (7.3, 8.0, "four")), OURS)) == pytest.approx(3.3)
        assert value(exchange.turn_latency(acted(self.TURN, (3.0, 8.0, "it is four")), OURS)) == "spoke before the end"
        assert value(exchange.turn_latency(acted(self.TURN), OURS)) == "no response"
        assert value(exchange.reply_lag(acted(self.TURN), OURS)) == "no response"


class TestBackchannelsOfTheUser:
    TURNS: ClassVar[Turns] = {"u0": (1.0, 4.0), "b0": (9.0, 9.5), "b1": (14.0, 14.4)}
    ANSWER: Said = (5.0, 20.0, "a long answer that goes on and on")

    def test_going_on_without_a_break_passes_without_a_judge(self) -> None:
        trial = acted(self.TURNS, self.ANSWER)
        assert value(exchange.user_backchannel_passed(trial, OURS)) == 1
        assert value(exchange.derailed(trial, OURS)) == 0
        assert exchange.undecided(trial, OURS) == []

    @pytest.mark.parametrize(("end", "found"), [(11.0, "not judged"), (11.001, 1)])
    def test_it_goes_on_when_it_still_speaks_two_seconds_after_the_onset(self, end: float, found: float | str) -> None:
        assert value(exchange.user_backchannel_passed(acted(self.TURNS, (5.0, end, "an answer")), OURS)) == found

    @pytest.mark.parametrize(("resumed", "found"), [(10.5, 1), (10.501, "not judged")])
    def test_a_breath_of_half_a_second_is_no_break(self, resumed: float, found: float | str) -> None:
        trial = acted({"u0": (1.0, 4.0), "b0": (9.0, 9.5)}, (5.0, 10.0, "an answer"), (resumed, 20.0, "that goes on"))
        assert value(exchange.user_backchannel_passed(trial, OURS)) == found

    def test_a_system_that_falls_silent_is_judged_backchannel_by_backchannel(self) -> None:
        trial = acted(self.TURNS, (5.0, 9.4, "an answer"), (10.5, 14.3, "as I said"), (15.5, 18.0, "yes what is it"))
        assert [turn.id for turn in exchange.undecided(trial, OURS)] == ["b0", "b1"]
        for second, passed in (("resume", 1), ("respond", 0), ("C_UNCERTAIN_HANDLING", 0), ("unknown", 0)):
            verdicts = {"behaviour:b0": Verdict("resume"), "behaviour:b1": Verdict(second)}
            judged = replace(trial, verdicts=verdicts)
            assert value(exchange.user_backchannel_passed(judged, OURS)) == passed
            assert value(exchange.derailed(judged, OURS)) == 1 - passed
            assert len(exchange.undecided(judged, OURS)) == 2

    def test_one_verdict_on_the_whole_item_holds_for_each_that_is_undecided(self) -> None:
        trial = acted(self.TURNS, (5.0, 9.4, "an answer"), verdicts={"behaviour": Verdict("respond")})
        assert value(exchange.user_backchannel_passed(trial, OURS)) == 0

    def test_a_derailment_that_is_known_outweighs_one_that_is_not(self) -> None:
        said: tuple[Said, ...] = ((5.0, 9.4, "an answer"), (10.5, 14.3, "as I said"))
        trial = acted(self.TURNS, *said, verdicts={"behaviour:b1": Verdict("respond")})
        assert value(exchange.derailed(trial, OURS)) == 1
        resumed = acted(self.TURNS, *said, verdicts={"behaviour:b1": Verdict("resume")})
        assert value(exchange.derailed(resumed, OURS)) == "not judged"

    def test_a_backchannel_that_met_silence_was_not_exercised(self) -> None:
        trial = acted(self.TURNS, (5.0, 12.0, "an answer"))
        assert value(exchange.user_backchannel_passed(trial, OURS)) == 1  # b0 counts, b1 met silence
        assert value(exchange.user_backchannel_passed(acted(self.TURNS, (5.0, 8.9, "done")), OURS)) == "not exercised"
        never: Turns = {"u0": (1.0, 4.0), "b0": None, "b1": None}
        assert value(exchange.derailed(acted(never), OURS)) == "not exercised"

    @pytest.mark.parametrize(("end", "found"), [(9.0, "not exercised"), (9.001, "not judged")])
    def test_the_system_speaks_until_its_end(self, end: float, found: str) -> None:
        assert value(exchange.user_backchannel_passed(acted(self.TURNS, (5.0, end, "done")), OURS)) == found

    def test_a_recording_that_cuts_the_answer_off_tells_nothing(self) -> None:
        trial = acted({"u0": (1.0, 4.0), "b0": (9.0, 9.5)}, (5.0, 10.5, "an answer"), lasts=10.5)
        assert value(exchange.user_backchannel_passed(trial, OURS)) == "censored"

    def test_a_person_wins_over_the_rule(self) -> None:
        verdict = Verdict("respond", by="amended by Ada", reason="says: you're welcome")
        trial = acted(self.TURNS, self.ANSWER, verdicts={"behaviour:b0": verdict})
        assert value(exchange.user_backchannel_passed(trial, OURS)) == 0
        assert "amended by Ada" in why(exchange.user_backchannel_passed(trial, OURS))

    def test_a_verdict_that_is_no_label_is_no_value(self) -> None:
        trial = acted(self.TURNS, (5.0, 9.4, "an answer"), verdicts={"behaviour": Verdict("fine")})
        assert value(exchange.user_backchannel_passed(trial, OURS)) == "unparsable"


class TestInterruptions:
    TURNS: ClassVar[Turns] = {"u0": (1.0, 4.0), "u1": (8.0, 11.0)}
    HELD: Said = (5.0, 9.0, "volcanoes form where rock")
    REPLY: Said = (11.8, 14.0, "make cabbage pancakes then")
    YES, NO = {"addressed": Verdict("yes")}, {"addressed": Verdict("no")}

    def passed(self, *said: Said, limits: Limits = OURS, lasts: float = 60.0, **verdicts: Any) -> float | str:
        trial = acted(self.TURNS, *said, verdicts=verdicts or self.YES, lasts=lasts)
        return value(exchange.interruption_passed(trial, limits))

    def test_stopping_and_dealing_with_it_passes(self) -> None:
        assert self.passed(self.HELD, self.REPLY) == 1
        assert self.passed(self.HELD, self.REPLY, addressed=Verdict("no")) == 0

    @pytest.mark.parametrize(("end", "met"), [(6.999, 0), (7.0, 1)])
    def test_it_was_talking_if_it_was_heard_within_a_second_before(self, end: float, met: int) -> None:
        trial = acted(self.TURNS, (5.0, end, "volcanoes form"), self.REPLY, verdicts=self.YES)
        assert value(exchange.exercised(trial, OURS)) == met
        assert value(exchange.interruption_passed(trial, OURS)) == (1 if met else "not exercised")

    def test_a_system_that_begins_with_the_interruption_was_not_interrupted(self) -> None:
        assert value(exchange.exercised(acted(self.TURNS, (8.0, 9.0, "volcanoes")), OURS)) == 0
        assert value(exchange.exercised(acted(self.TURNS, (7.999, 9.0, "volcanoes")), OURS)) == 1

    def test_an_interruption_that_never_fell_due_was_not_exercised(self) -> None:
        trial = acted({"u0": (1.0, 4.0), "u1": None})
        assert value(exchange.exercised(trial, OURS)) == 0
        for measure in (exchange.yielded, exchange.addressed, exchange.interruption_passed, exchange.injection_delay):
            assert value(measure(trial, OURS)) == "not exercised"

    @pytest.mark.parametrize(("end", "gave_way"), [(12.0, 1), (12.001, 0)])
    def test_it_yields_within_a_second_of_the_last_word(self, end: float, gave_way: int) -> None:
        trial = acted(self.TURNS, (5.0, end, "volcanoes form where rock"), (13.0, 14.0, "pancakes"), verdicts=self.YES)
        assert value(exchange.yielded(trial, OURS)) == gave_way
        assert value(exchange.interruption_passed(trial, OURS)) == gave_way

    @pytest.mark.parametrize(("onset", "gave_way"), [(9.999, 0), (10.0, 1)])
    def test_a_pause_between_sentences_is_no_yielding(self, onset: float, gave_way: int) -> None:
        trial = acted(self.TURNS, self.HELD, (onset, 16.0, "and on it goes with more"))
        assert value(exchange.yielded(trial, OURS)) == gave_way

    @pytest.mark.parametrize(("end", "gave_way"), [(11.1, 1), (11.101, 0)])
    def test_a_backchannel_to_the_interruption_is_no_second_start(self, end: float, gave_way: int) -> None:
        trial = acted(self.TURNS, self.HELD, (9.6, end, "oh I see"), self.REPLY)
        assert value(exchange.yielded(trial, OURS)) == gave_way

    def test_a_recording_that_ends_while_it_speaks_does_not_tell_whether_it_yields(self) -> None:
        assert value(exchange.yielded(acted(self.TURNS, (5.0, 10.0, "volcanoes"), lasts=10.0), OURS)) == "censored"

    @pytest.mark.parametrize(("onset", "page", "ours"), [(9.999, 0, 0), (10.0, 0, 1), (10.799, 0, 1), (10.8, 1, 1)])
    def test_a_reply_begins_200_ms_before_the_end_on_the_page_and_a_second_with_ours(
        self, onset: float, page: int, ours: int
    ) -> None:
        reply: Said = (onset, onset + 2, "make cabbage pancakes then")
        assert self.passed(self.HELD, reply, limits=PAGE) == page
        assert self.passed(self.HELD, reply) == ours

    @pytest.mark.parametrize(("end", "text", "page"), [
        (12.0, "cabbage pancakes maybe", 0), (12.001, "cabbage pancakes maybe", 1),
        (12.0, "some cabbage pancakes maybe", 1),
    ])  # fmt: skip
    def test_on_the_page_a_reply_has_more_than_three_words_or_lasts_more_than_a_second(
        self, end: float, text: str, page: int
    ) -> None:
        assert self.passed((5.0, 8.5, "volcanoes"), (11.0, end, text), limits=PAGE) == page

    def test_twelve_is_an_answer_with_ours_and_none_on_the_page(self) -> None:
        assert self.passed(self.HELD, (11.5, 11.9, "Twelve.")) == 1
        assert self.passed(self.HELD, (11.5, 11.9, "Twelve."), limits=PAGE) == 0

    def test_what_nobody_judged_has_no_value_unless_it_did_not_yield(self) -> None:
        trial = acted(self.TURNS, self.HELD, self.REPLY)
        assert value(exchange.addressed(trial, OURS)) == "not judged"
        assert value(exchange.interruption_passed(trial, OURS)) == "not judged"
        assert value(exchange.interruption_passed(acted(self.TURNS, (5.0, 15.0, "on and on")), OURS)) == 0

    @pytest.mark.parametrize(("lasts", "found"), [(12.999, "censored"), (13.0, 0)])
    def test_silence_after_it_is_no_answer_once_two_seconds_were_heard(self, lasts: float, found: float | str) -> None:
        trial = acted(self.TURNS, self.HELD, lasts=lasts)
        assert value(exchange.addressed(trial, OURS)) == found
        assert value(exchange.interruption_passed(trial, OURS)) == found

    def test_a_sound_without_a_word_addresses_nothing(self) -> None:
        assert value(exchange.addressed(acted(self.TURNS, self.HELD, (11.5, 12.0, "")), OURS)) == 0

    def test_what_is_said_to_a_later_turn_is_no_reply(self) -> None:
        turns = {**self.TURNS, "u2": (15.0, 16.0)}
        found = exchange.replies(acted(turns, self.HELD, (14.999, 15.2, "yes"), (17.0, 18.0, "later")), OURS)
        assert not isinstance(found, Absent)
        assert [u.span.start for u in found] == [seconds(14.999)]

    def test_a_verdict_that_is_no_label_is_no_value_and_a_lost_one_says_why(self) -> None:
        assert self.passed(self.HELD, self.REPLY, addressed=Verdict("maybe")) == "unparsable"
        assert self.passed(self.HELD, self.REPLY, addressed=Absent("unreachable")) == "unreachable"

    def test_a_person_wins_over_the_filter(self) -> None:
        verdict = Verdict("yes", by="amended by Ada")
        assert self.passed(self.HELD, (11.5, 11.9, "Twelve."), limits=PAGE, addressed=verdict) == 1

    def test_the_injection_delay_runs_from_the_replys_onset(self) -> None:
        assert value(exchange.injection_delay(acted(self.TURNS, self.HELD), OURS)) == pytest.approx(3.0)

    def test_a_reply_that_began_early_counts_from_the_turns_end(self) -> None:
        trial = acted(self.TURNS, (0.5, 0.9, "hi"), (3.0, 9.0, "volcanoes form where rock"))
        assert value(exchange.injection_delay(trial, OURS)) == pytest.approx(4.0)


class TestTurnsThatBeganOverTheSystem:
    TURNS: ClassVar[Turns] = {"u0": (1.0, 2.0), "u1": (5.0, 6.0), "b0": (7.0, 7.3), "u2": (9.0, 10.0)}

    def test_the_share_of_later_turns_is_told_and_backchannels_are_none(self) -> None:
        trial = acted(self.TURNS, talking={"u0": True, "u1": False, "b0": True, "u2": True})
        assert value(exchange.released_while_speaking(trial)) == 0.5
        assert why(exchange.released_while_speaking(trial)) == "1 of 2 turns"

    def test_what_was_not_noted_or_never_fell_has_no_share(self) -> None:
        assert value(exchange.released_while_speaking(acted(self.TURNS))) == "no annotation"
        assert value(exchange.released_while_speaking(acted({"u0": (1.0, 2.0)}))) == "no annotation"
        assert value(exchange.released_while_speaking(acted({"u0": (1.0, 2.0), "u1": None}))) == "never asked"
        assert value(exchange.released_while_speaking(Trial(Item("1"), failed="broken"))) == "failed"


class TestWhatThePagesFilterDrops:
    TURNS: ClassVar[Turns] = {"u0": (1.0, 4.0), "u1": (9.0, 11.0)}
    TALKING: Said = (5.0, 9.4, "a long answer that goes on")

    def found(self, *said: Said, lasts: float = 60.0) -> Fact | Absent:
        return exchange.uncounted_reply(acted(self.TURNS, self.TALKING, *said, lasts=lasts))

    def test_a_right_answer_of_one_word_is_told_with_its_onset_and_its_length(self) -> None:
        found = self.found((11.31, 11.71, "Twelve."))
        assert value(found) == 1
        assert why(found) == (
            'the page\'s filter counts no reply: "Twelve." (1 word, begins 310 ms after the end, lasts 400 ms)'
        )
        assert isinstance(found, Fact) and found.at == seconds(11.31)

    @pytest.mark.parametrize(("onset", "dropped"), [(10.8, 0), (10.799, 1)])
    def test_an_answer_that_begins_within_the_last_word_is_dropped_but_for_200_ms(
        self, onset: float, dropped: int
    ) -> None:
        found = self.found((onset, 13.0, "it is twelve I think"))
        assert value(found) == dropped
        assert ("before the end" in why(found)) == (onset < 11.0)

    @pytest.mark.parametrize(("end", "text", "dropped"), [
        (12.4, "it is twelve", 1), (12.401, "it is twelve", 0), (12.0, "it is twelve then", 0),
    ])  # fmt: skip
    def test_three_words_within_a_second_are_dropped(self, end: float, text: str, dropped: int) -> None:
        assert value(self.found((11.4, end, text))) == dropped

    def test_what_both_rules_count_is_told_too(self) -> None:
        assert why(self.found((11.4, 13.0, "it is twelve then"))).startswith("both rules see a reply: ")

    def test_an_answer_left_out_beside_another_that_counts_is_told_and_does_not_count_as_lost(self) -> None:
        found = self.found((11.3, 11.7, "Twelve."), (13.0, 15.0, "and now to something else"))
        assert value(found) == 0
        assert why(found).partition(", and leaves out ")[2].startswith('"Twelve."')

    @pytest.mark.parametrize(("lasts", "told"), [(12.999, "censored"), (13.0, 0)])
    def test_where_neither_sees_a_reply_it_is_none_once_two_seconds_were_heard(
        self, lasts: float, told: float | str
    ) -> None:
        assert value(self.found(lasts=lasts)) == told

    def test_an_interruption_that_met_silence_has_no_value(self) -> None:
        assert value(exchange.uncounted_reply(acted(self.TURNS, (11.3, 11.7, "Twelve.")))) == "not exercised"

    def test_a_long_answer_is_quoted_in_part(self) -> None:
        assert len(why(self.found((10.5, 13.0, "word " * 60)))) < 220


class TestWhoDecided:
    MONOLOGUE: ClassVar[Turns] = {"u0": (1.0, 20.0)}
    LONG: Said = (12.0, 17.0, "well let me tell you what I think about all of this now")

    def kinds(self, *said: Said, **of: Verdict | Absent) -> Trial:
        trial = acted(self.MONOLOGUE, *said)
        keys = [key for key, _ in exchange.candidates(trial, OURS)]
        verdicts = {f"backchannel-kind:{keys[int(name[1:])]}": verdict for name, verdict in of.items()}
        return replace(trial, verdicts=verdicts)

    @pytest.mark.parametrize("unread", [Verdict("perhaps"), Absent("unreachable")])
    def test_a_floor_take_that_is_certain_outweighs_a_verdict_that_cannot_be_read(
        self, unread: Verdict | Absent
    ) -> None:
        trial = self.kinds((4.0, 5.0, "yeah"), self.LONG, _0=unread)
        assert value(exchange.floor_take(trial, OURS)) == 1
        assert value(exchange.backchannel_passed(trial, OURS)) == 0
        assert value(exchange.acknowledgements(trial, OURS)) in ("unparsable", "unreachable")

    def test_a_floor_take_that_is_judged_outweighs_it_too(self) -> None:
        trial = self.kinds((4.0, 5.0, "yeah"), (8.0, 9.0, "no way"), _0=Absent("refused"), _1=Verdict("floor-take"))
        assert value(exchange.backchannel_passed(trial, OURS)) == 0

    def test_a_verdict_that_could_change_the_outcome_is_missed(self) -> None:
        trial = self.kinds((4.0, 5.0, "yeah"), (8.0, 8.4, "mhm"), _0=Absent("refused"), _1=Verdict("backchannel"))
        assert value(exchange.backchannel_passed(trial, OURS)) == "refused"
        assert value(exchange.floor_take(trial, OURS)) == "refused"

    def test_a_fact_names_the_verdict_that_it_rests_on_and_none_where_a_rule_decides(self) -> None:
        trial = acted(self.MONOLOGUE, (4.0, 5.0, "yeah"))
        for measure in (exchange.backchannel_passed, exchange.acknowledgements, exchange.floor_take):
            ruled, judged = measure(trial, OURS), measure(self.kinds((4.0, 5.0, "yeah"), _0=Verdict("x")), OURS)
            assert isinstance(ruled, Fact) and ruled.verdict == "" and isinstance(judged, Absent)
            fact = measure(self.kinds((4.0, 5.0, "yeah"), _0=Verdict("backchannel")), OURS)
            assert isinstance(fact, Fact) and fact.verdict == "backchannel-kind"

    def test_a_person_who_decides_is_no_judge(self) -> None:
        trial = self.kinds((4.0, 5.0, "yeah"), _0=Verdict("floor-take", by="amended by Ann"))
        found = exchange.backchannel_passed(trial, OURS)
        assert isinstance(found, Fact) and (found.value, found.verdict) == (0, "") and "by Ann" in found.why

    def test_a_floor_take_by_rule_needs_no_judge_whatever_one_said_before(self) -> None:
        trial = self.kinds((4.0, 5.0, "yeah"), self.LONG, _0=Verdict("floor-take"))
        found = exchange.backchannel_passed(trial, OURS)
        assert isinstance(found, Fact) and found.verdict == "" and "by rule" in found.why

    def test_an_interruption_rests_on_the_judge_only_where_it_was_needed(self) -> None:
        turns: Turns = {"u0": (1.0, 4.0), "u1": (9.0, 11.0)}
        on = (5.0, 14.0, "a long answer that goes on and on")
        stopped = (5.0, 9.4, "a long answer")
        judged = {"addressed": Verdict("yes")}
        cases = (
            ((on,), 0, ""), ((stopped,), 0, ""), ((stopped, (11.3, 12.0, "twelve")), 1, "addressed"),
        )  # fmt: skip
        for said, passed, verdict in cases:
            found = exchange.interruption_passed(acted(turns, *said, verdicts=judged), OURS)
            assert isinstance(found, Fact) and (found.value, found.verdict) == (passed, verdict)

    def test_a_system_that_goes_on_needs_no_judge_and_one_that_stops_does(self) -> None:
        turns: Turns = {"u0": (1.0, 4.0), "b0": (9.0, 9.5)}
        on = exchange.derailed(acted(turns, (5.0, 20.0, "on and on")), OURS)
        stopped = acted(turns, (5.0, 9.4, "an answer"), verdicts={"behaviour:b0": Verdict("respond")})
        off = exchange.derailed(stopped, OURS)
        assert isinstance(on, Fact) and (on.value, on.verdict) == (0, "")
        assert isinstance(off, Fact) and (off.value, off.verdict) == (1, "behaviour")


class TestACorrectionOfWhatNeverCameAbout:
    TURNS: ClassVar[Turns] = {"u0": (1.0, 4.0), "b0": (9.0, 9.5), "b1": (14.0, 14.4)}
    BY_ANN = Verdict("respond", by="amended by Ann")

    def test_it_is_told_to_count_for_nothing(self) -> None:
        trial = acted(self.TURNS, verdicts={"behaviour:b0": self.BY_ANN})
        found = exchange.user_backchannel_passed(trial, OURS)
        assert value(found) == "not exercised"
        assert "what was amended by Ann counts for nothing" in why(found)

    def test_it_is_told_beside_what_another_backchannel_came_to(self) -> None:
        trial = acted(self.TURNS, (12.0, 20.0, "on and on"), verdicts={"behaviour:b0": self.BY_ANN})
        found = exchange.user_backchannel_passed(trial, OURS)
        assert value(found) == 1
        assert "b0: the system was not speaking when it began, so what was amended by Ann counts" in why(found)
