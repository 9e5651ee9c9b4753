"""How far the first word of a reply lies from its first sound."""

from __future__ import annotations

from dataclasses import replace

from fullduplex.model.sketch import sketch
from fullduplex.model.spans import ms
from fullduplex.model.trials import Trial
from fullduplex.runs.first_sounds import APART, FirstSounds, first_onsets


def reply(words: str, sound: str, event: str = "turn_end  ....^^....................") -> Trial:
    trial = sketch(f"user      ####......................\nsystem    {sound}\n{event}")
    said = sketch(f"user      ####......................\nsystem    {words}\n{event}").system.words
    return replace(trial, system=replace(trial.system, words=said))


def test_a_word_that_was_not_written_puts_the_latency_by_words_off() -> None:
    trial = reply("..................wxyz....", "........##############....")
    assert first_onsets(trial) == (ms(1800), ms(800))
    found = FirstSounds()
    found.add("set/1", trial)
    (told,) = found.sentences(anchored=True)
    assert (
        told.startswith("in the one item the first word and the first sound")
        and "(largest 1.000 s, item set/1)" in told
    )
    assert "more than 0.2 s apart" in told and "the variant anchored" in told


def test_a_fifth_of_a_second_is_not_told_and_a_little_more_is() -> None:
    trial = reply("..........wx..............", "........########..........")
    found = FirstSounds()
    found.add("set/1", trial)
    assert (first_onsets(trial), APART) == ((ms(1000), ms(800)), ms(200))
    assert list(found.sentences(anchored=True)) == []
    found.add("set/2", reply("...........wx.............", "........########.........."))
    (told,) = found.sentences(anchored=False)
    assert told.startswith("in 1 of 2 items") and "item set/2" in told and "anchored" not in told


def test_speech_that_goes_on_over_the_end_of_a_turn_is_no_reply() -> None:
    assert first_onsets(reply("..........wxyz............", "...###########............")) is None


def test_without_words_or_without_sound_nothing_is_compared() -> None:
    assert first_onsets(reply("..........................", "........######............")) is None
    assert first_onsets(reply("........wx................", "..........................")) is None
    assert list(FirstSounds().sentences(anchored=True)) == []
