from __future__ import annotations

from fullduplex.measures.events import RULES, inferred
from fullduplex.model.sketch import sketch
from fullduplex.model.spans import Span, ms


def test_the_longest_silence_between_speech_is_the_pause() -> None:
    trial = sketch("user ..#####....#####......#####..")
    (found,) = inferred("pause_handling", trial.user.speech)
    assert (found.kind, found.span, found.source) == ("pause", Span(ms(1600), ms(2200)), RULES["pause_handling"])


def test_a_gap_under_400_ms_is_no_pause() -> None:
    assert inferred("pause_handling", sketch("user ..#####...#####..").user.speech) == ()


def test_the_users_last_speech_ends_the_turn_and_no_onset_is_guessed() -> None:
    trial = sketch("user ..#####....#####....")
    for task in ("smooth_turn_taking", "user_interruption"):
        (found,) = inferred(task, trial.user.speech)
        assert (found.kind, found.span.end) == ("user_end", ms(1600))


def test_an_unheard_or_silent_user_shows_nothing() -> None:
    assert inferred("pause_handling", None) == ()
    assert inferred("smooth_turn_taking", sketch("user ........").user.speech) == ()
