"""Turns and triggers found in what was heard of the user."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fullduplex.measures.interaction import Scene, scene
from fullduplex.measures.placed import Failure, Placed, placed_by_words
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.model.trials import Trial


def spoken(*runs: tuple[float, str]) -> list[Word]:
    """Return words of 0.2 s each, 0.1 s apart, each run from its second on."""
    return [
        Word(text, Span(seconds(start) + n * ms(300), seconds(start) + n * ms(300) + ms(200)))
        for start, run in runs
        for n, text in enumerate(run.split())
    ]


def told(*texts: str, expects: Any = (), pauses: Any = (), probes: Any = ()) -> dict[str, Any]:
    turns = [{"id": f"u{n}", "timestamp": None, "text": text} for n, text in enumerate(texts)]
    return {
        "scenario": "grammar", "expects": list(expects), "pauses": list(pauses), "probes": list(probes),
        "turns": turns, "unplaced": True,
    }  # fmt: skip


def trigger(word: str, cue: str = "u0", **more: Any) -> dict[str, Any]:
    return {"id": "1", "cue": cue, "word": word, "action": "INTERRUPT", "start": None, "end": None, **more}


def fell(found: Placed) -> list[list[float] | None]:
    return [turn["timestamp"] for turn in found.told["turns"]]


def at(found: Placed) -> tuple[float | None, float | None]:
    return found.told["expects"][0]["start"], found.told["expects"][0]["end"]


def test_a_turn_lies_from_its_first_word_to_its_last() -> None:
    found = placed_by_words(told("What is this?", "And that one?"), spoken((1, "what is this"), (5, "and that one")))
    assert fell(found) == [[1.0, 1.8], [5.0, 5.8]]
    assert found.failures == ()


def test_a_turn_that_was_not_said_is_counted_as_a_failure() -> None:
    found = placed_by_words(told("What is this?", "And that one?"), spoken((1, "what is this")))
    assert fell(found) == [[1.0, 1.8], None]
    assert found.failures == (Failure("turn", "u1", "fewer than half of its words were heard"),)


def test_half_of_a_turns_words_is_enough_and_less_is_not() -> None:
    assert fell(placed_by_words(told("one red two blue"), spoken((1, "one two")))) == [[1.0, 1.5]]
    assert fell(placed_by_words(told("one red two blue green"), spoken((1, "one two")))) == [None]


def test_a_trigger_is_the_word_as_it_was_heard() -> None:
    found = placed_by_words(told("She goed home early", expects=[trigger("goed")]), spoken((2, "she goed home early")))
    assert at(found) == (2.3, 2.5)
    assert (found.exact, found.by_neighbours) == (1, 0)


def test_a_trigger_that_the_recogniser_mended_is_placed_by_its_neighbours() -> None:
    found = placed_by_words(told("She goed home early", expects=[trigger("goed")]), spoken((2, "she went home early")))
    assert at(found) == (2.3, 2.5)
    assert (found.exact, found.by_neighbours) == (0, 1)


def test_a_trigger_beside_a_word_heard_wrong_is_not_guessed() -> None:
    found = placed_by_words(
        told("She goed home early today", expects=[trigger("goed")]), spoken((2, "she want foam early today"))
    )
    assert at(found) == (None, None)
    assert found.failures == (Failure("trigger", "1", "not heard"),)


def test_the_occurrence_that_the_script_means_is_taken() -> None:
    text = "I need paint so how much do I need"
    heard = spoken((0, text))
    first, second = (placed_by_words(told(text, expects=[trigger("need", occurrence=n)]), heard) for n in (1, 2))
    assert at(first) == (0.3, 0.5)
    assert at(second) == (2.4, 2.6)


def test_the_occurrence_nearest_to_a_position_is_taken() -> None:
    text = "I need paint so how much do I need"
    assert at(placed_by_words(told(text, expects=[trigger("need", position=0.9)]), spoken((0, text)))) == (2.4, 2.6)


def test_a_word_said_twice_with_nothing_to_tell_which_is_a_failure() -> None:
    text = "I need paint so how much do I need"
    found = placed_by_words(told(text, expects=[trigger("need")]), spoken((0, text)))
    assert at(found) == (None, None)
    assert "heard 2 times" in found.failures[0].reason


def test_a_keyword_named_in_an_earlier_turn_is_not_the_trigger() -> None:
    found = placed_by_words(
        told("call out when I say cello", "we heard a cello last night", expects=[trigger("cello", "u1")]),
        spoken((0, "call out when I say cello"), (10, "we heard a cello last night")),
    )
    assert at(found) == (10.9, 11.1)


def test_digits_are_the_number_words_that_the_script_spells() -> None:
    found = placed_by_words(told("thirty-four, thirty-five", expects=[trigger("thirty-five")]), spoken((0, "34, 35.")))
    assert at(found) == (0.3, 0.5)


def test_turns_without_a_script_are_divided_at_the_longest_silences() -> None:
    found = placed_by_words(told("", ""), spoken((0, "tell me all of it"), (4, "wait"), (4.9, "what about cats")))
    assert fell(found) == [[0.0, 1.4], [4.0, 5.7]]


def test_a_silence_under_a_second_divides_no_turns() -> None:
    words = [Word("a", Span(0, ms(100))), Word("b", Span(ms(1099), ms(1200)))]
    assert fell(placed_by_words(told("", ""), words)) == [[0.0, 1.2], None]
    words = [Word("a", Span(0, ms(100))), Word("b", Span(ms(1100), ms(1200)))]
    assert fell(placed_by_words(told("", ""), words)) == [[0.0, 0.1], [1.1, 1.2]]


def test_backchannels_without_a_script_take_the_words_that_the_script_leaves() -> None:
    found = placed_by_words(
        told("how do I bake bread", "", ""), spoken((0, "how do I bake bread"), (7.9, "ok"), (12.7, "mm-hm"))
    )
    assert fell(found) == [[0.0, 1.4], [7.9, 8.1], [12.7, 12.9]]


def test_a_pause_is_the_longest_silence_of_its_turn() -> None:
    text = "I was hoping to [pause 1.6] serve soup"
    found = placed_by_words(
        told(text, pauses=[{"cue": "u0", "start": None, "end": None}]),
        spoken((0, "I was hoping to"), (2.7, "serve soup")),
    )
    assert found.told["pauses"] == [{"cue": "u0", "start": 1.1, "end": 2.7}]


def test_two_pauses_of_a_turn_are_its_two_longest_silences_in_order() -> None:
    pause = {"cue": "u0", "start": None, "end": None}
    found = placed_by_words(
        told("one two three four", pauses=[pause, pause]), spoken((0, "one"), (1.2, "two"), (1.6, "three"), (4, "four"))
    )
    assert [(one["start"], one["end"]) for one in found.told["pauses"]] == [(0.2, 1.2), (1.8, 4.0)]


def test_a_detectors_silence_sets_the_edges_of_a_pause() -> None:
    words = spoken((0, "hoping to"), (2.7, "serve soup"))

    def pause(*spans: tuple[float, float]) -> Any:
        user = Timeline(Span(seconds(a), seconds(b)) for a, b in spans)
        one = placed_by_words(told("hoping to serve soup", pauses=[{"cue": "u0"}]), words, user=user).told["pauses"][0]
        return one["start"], one["end"]

    assert pause((0, 0.8), (2.6, 3.4)) == (0.8, 2.6)
    assert pause((0, 0.2), (0.3, 0.8), (2.6, 3.4)) == (0.8, 2.6)
    assert pause((0, 3.4)) == (0.5, 2.7)


def test_a_pause_that_was_not_made_is_counted_as_a_failure() -> None:
    words = [Word("hello", Span(0, 5)), Word("you", Span(5, 9))]
    found = placed_by_words(told("hello you", pauses=[{"cue": "u0"}]), words)
    assert found.failures == (Failure("pause", "0", "no silence of its turn stands out"),)


def test_a_pause_has_to_be_half_as_long_again_as_any_other_silence() -> None:
    def placed(pause: int) -> Any:
        words = [Word("one", Span(0, 1)), Word("two", Span(ms(600) + 1, ms(601))), Word("six", Span(pause, pause + 1))]
        return placed_by_words(told("one two six", pauses=[{"cue": "u0"}]), words).told["pauses"][0]["end"]

    assert placed(ms(601) + ms(900)) == 1.501
    assert placed(ms(601) + ms(900) - 1) is None


def test_probes_take_their_turns_span_and_tell_whether_they_were_asked() -> None:
    probes = [{"id": str(n), "cue": f"u{n}"} for n in (0, 1)]
    found = placed_by_words(told("what did I say", "and what else then", probes=probes), spoken((3, "what did I say")))
    assert [(one["asked"], one["start"]) for one in found.told["probes"]] == [(True, 3.0), (False, None)]


def test_the_premise_is_whether_the_system_sounds_on_both_sides_of_the_start() -> None:
    words = spoken((5, "wait a moment"))

    def premise(*spans: tuple[float, float]) -> Any:
        system = Timeline(Span(seconds(a), seconds(b)) for a, b in spans)
        return placed_by_words(told("wait a moment"), words, system).told["turns"][0]["premise"]

    assert premise((1, 6)) == {"system_talking": True, "since": 1.0}
    assert premise((1, 2), (2.4, 4.8), (5.2, 6)) == {"system_talking": True, "since": 1.0}
    assert premise((1, 5)) == {"system_talking": False, "since": None}
    assert premise((1, 4.7), (5.2, 6)) == {"system_talking": False, "since": None}


def test_without_the_systems_speech_the_premise_is_not_known() -> None:
    assert "premise" not in placed_by_words(told("hello"), spoken((0, "hello"))).told["turns"][0]


def test_a_silent_user_fails_every_turn_and_trigger() -> None:
    found = placed_by_words(told("hello there", expects=[trigger("hello")]), ())
    assert [one.what for one in found.failures] == ["turn", "trigger"]
    assert found.told["placing"] == [
        "turn u0: fewer than half of its words were heard",
        "trigger 1: its turn was not heard",
    ]


def test_lines_of_the_script_stand_in_for_turns_that_are_not_listed() -> None:
    made = {
        **told(),
        "script": [{"who": "user", "text": "hello there", "cue": "u0"}, {"who": "assistant", "text": "hi"}],
    }
    assert fell(placed_by_words(made, spoken((1, "hello there")))) == [[1.0, 1.5]]


def test_what_was_placed_is_a_scene() -> None:
    one = trigger("goed", window=[0.05, 0.3], overlap="required", target="went")
    found = placed_by_words(told("She goed home", expects=[one]), spoken((2, "she goed home")))
    shown = scene(Trial(Item("1", reference={"interaction": found.told})))
    assert isinstance(shown, Scene)
    assert shown.turns[0].span == Span(seconds(2), seconds(2.8))
    assert shown.expects[0].span == Span(seconds(2.3), seconds(2.5))
    assert shown.expects[0].window == (ms(50), ms(300))


@given(st.lists(st.sampled_from(["red", "blue", "green", "one"]), min_size=1, max_size=12), st.integers(0, 10**7))
def test_a_later_clock_moves_every_turn_by_as_much(tokens: list[str], by: int) -> None:
    words = spoken((1, " ".join(tokens)))
    script = told(" ".join(tokens[: len(tokens) // 2]), " ".join(tokens[len(tokens) // 2 :]))
    before = placed_by_words(script, words)
    after = placed_by_words(script, [Word(w.text, w.span.shift(by)) for w in words])
    for one, other in zip(fell(before), fell(after), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert [seconds(t) + by for t in one] == [seconds(t) for t in other]
    assert all(in_seconds(seconds(t)) == t for turn in fell(after) if turn for t in turn)
