import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.branches import Branching, Edge, Node
from fullduplex.driving.clock import run_virtual
from fullduplex.driving.conditions import said, spoke_for
from fullduplex.driving.content import other_language
from fullduplex.driving.cues import Due, after_reply, after_word, at, into_reply
from fullduplex.driving.drive import Talk, Turn, drive
from fullduplex.driving.onsets import onsets_due
from fullduplex.driving.playout import Samples, sample_at
from fullduplex.driving.talk import HangUp
from fullduplex.driving.validity import Check, Expected, Fault, hold_valid, validity
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.speech import Word
from fullduplex.systems.scripted import Answer, Script, Scripted, Sound

RATE = 16_000


def tone(length: int, level: float = 0.3) -> Samples:
    return np.full(length * RATE // SECOND, level, np.float32)


def turn(due: Due, id: str = "a", text: str = "", length: int = seconds(1)) -> Turn:
    return Turn(tone(length), due, id, text)


def hold(*turns: Turn, reply: int = seconds(3), length: int = seconds(20), **more: Any) -> Talk:
    answer = Answer(Sound(tone(reply), "Your table is booked."), ms(400), again=True)
    system = Scripted(Script((answer,), rate=RATE, **more), rate_in=RATE)
    return run_virtual(drive(system, turns, length=length))


def kinds(faults: tuple[Fault, ...]) -> list[str]:
    return [fault.kind for fault in faults]


def moved(talk: Talk, n: int, by: int) -> Talk:
    """The talk with its turn ``n`` said that much later (both in the record and on the channel)."""
    taken = talk.turns[n]
    assert taken.span is not None
    first, then, size = (
        sample_at(taken.span.start, RATE),
        sample_at(taken.span.start + by, RATE),
        len(taken.turn.samples),
    )
    user = talk.user.copy()
    user[first : first + size] = 0
    user[then : then + size] = taken.turn.samples
    turns = [*talk.turns]
    turns[n] = replace(taken, span=taken.span.shift(by))
    return replace(talk, user=user, turns=tuple(turns))


def words(text: str, start: int, each: int = ms(200)) -> list[Word]:
    return [Word(w, Span(start + i * each, start + (i + 1) * each)) for i, w in enumerate(text.split())]


QUESTION = turn(at(ms(500)), "question", "is my table booked")
LATER = turn(after_reply(ms(800), seconds(9)), "later", "thank you very much")


@pytest.mark.parametrize(
    "due",
    [
        at(seconds(3)),
        after_reply(ms(700), seconds(9)),
        after_reply(ms(700), ms(2500)),
        into_reply(ms(1234)),
        after_word("booked", ms(300)),
        spoke_for(seconds(2)),
        said(("table",)),
    ],
)
def test_what_a_talk_did_on_cue_is_valid(due: Due) -> None:
    talk = hold(QUESTION, turn(due, "b"), yields=ms(300))
    assert len(talk.turns) == 2
    assert validity(talk) == ()


def test_a_turn_is_due_at_the_moment_it_began_to_the_microsecond() -> None:
    talk = hold(QUESTION, turn(into_reply(ms(1234)), "b"), LATER)
    assert onsets_due(talk) == tuple(taken.span.start for taken in talk.turns if taken.span)


@pytest.mark.parametrize(("by", "found"), [(ms(100), []), (ms(101), ["late"]), (-ms(100), []), (-ms(200), ["not due"])])
def test_a_turn_at_the_wrong_time_is_found(by: int, found: list[str]) -> None:
    talk = hold(QUESTION, LATER)
    assert kinds(validity(moved(talk, 1, by), check=Check(onset=ms(100)))) == found


def test_a_turn_whose_condition_was_never_met_is_found() -> None:
    talk = hold(QUESTION, turn(at(seconds(8)), "b"))
    taken = replace(talk.turns[1], turn=replace(talk.turns[1].turn, due=after_word("nothing")))
    assert validity(replace(talk, turns=(talk.turns[0], taken))) == (Fault("not due", "b", "began at 8.000 s"),)


def test_the_final_playout_decides_and_not_what_the_user_believed() -> None:
    talk = hold(QUESTION, LATER)
    silence = replace(talk, system=np.zeros_like(talk.system))
    assert kinds(validity(silence)) == ["not due"]


def test_a_turn_that_is_not_on_the_channel_is_found() -> None:
    talk = hold(QUESTION)
    assert kinds(validity(replace(talk, user=np.zeros_like(talk.user)))) == ["inaudible"]


def test_a_turn_of_silence_is_none() -> None:
    assert kinds(validity(hold(Turn(np.zeros(RATE, np.float32), at(0), "a")))) == ["inaudible"]


def test_a_turn_that_the_talk_s_end_cut_is_found() -> None:
    faults = validity(hold(turn(at(seconds(1.5))), length=seconds(2)))
    assert faults == (Fault("cut", "a", "after 0.500 s of 1.000 s, by the end of the talk"),)


def test_sound_between_the_turns_is_found() -> None:
    talk = hold(QUESTION)
    talk.user[3 * RATE : 3 * RATE + 10] = 0.2
    assert validity(talk) == (Fault("stray sound", "", "first at 3.000 s"),)


def test_a_turn_that_never_fell_due_is_found_and_a_user_who_said_nothing() -> None:
    talk = hold(turn(after_word("nothing"), "a"))
    assert kinds(validity(talk)) == ["never said", "empty"]


def test_turns_that_should_have_been_said_are_missed_and_others_are_unexpected() -> None:
    talk = hold(QUESTION, LATER)
    faults = validity(talk, [Expected("question"), Expected("order")])
    assert faults == (Fault("never said", "order"), Fault("unexpected", "later"))


def test_words_as_they_were_meant_are_valid_however_they_are_written() -> None:
    talk = hold(turn(at(seconds(1)), text="Don't book 2 tables."))
    assert validity(talk, heard=words("Dont book, two TABLES", seconds(1))) == ()


@pytest.mark.parametrize(
    ("recognised", "found"), [("is my cable booked", []), ("is his cable booked", ["wrong words"])]
)
def test_too_many_word_errors_are_found(recognised: str, found: list[str]) -> None:
    faults = validity(hold(QUESTION), heard=words(recognised, ms(500)), check=Check(word_errors=0.25))
    assert kinds(faults) == found


def test_other_words_are_weighed_against_what_was_expected() -> None:
    faults = validity(
        hold(QUESTION), [Expected("question", "cancel the order now")], heard=words(QUESTION.text, ms(500))
    )
    assert faults == (Fault("wrong words", "question", "4 errors in 4 words; heard 'is my table booked'"),)


def test_a_turn_in_which_nothing_was_recognised_is_found_unless_it_is_a_backchannel() -> None:
    talk = hold(QUESTION, turn(after_reply(ms(800), seconds(9)), "b", "mm-hm"))
    assert validity(talk, heard=[]) == (Fault("no words", "question"),)


def test_words_where_the_user_said_nothing_are_found() -> None:
    talk = hold(QUESTION)
    heard = words(QUESTION.text, ms(500)) + words("who is that", seconds(12))
    assert validity(talk, heard=heard) == (Fault("stray words", "", "3: 'who is that'"),)


def test_required_and_forbidden_content_the_assistant_s_part_and_the_language() -> None:
    text = "Hello! How can I help you today? The number is one two three."
    check = Check(required=("number", "table for two"), forbidden=("one two three",))
    assert validity(hold(turn(at(0), text=text)), check=check) == (
        Fault("missing", "", "table for two"),
        Fault("forbidden", "a", "one two three"),
        Fault("assistant's part", "a", "how can i help you"),
    )
    french = hold(turn(at(0), text="Bonjour, je voudrais une table pour deux."))
    assert kinds(validity(french, check=Check(language="en"))) == ["other language"]
    assert validity(french, check=Check(language="fr")) == ()


def test_what_only_the_recogniser_heard_can_be_forbidden() -> None:
    check = Check(forbidden=("cable",))
    faults = validity(hold(QUESTION), heard=words("is my cable booked", ms(500)), check=check)
    assert faults == (Fault("forbidden", "", "cable"),)


@pytest.mark.parametrize(
    ("text", "language", "told"),
    [
        ("我想订一张桌子", "en", "letters of the Cjk script"),
        ("我想订一张桌子", "zh", None),
        ("もしもし、テーブル", "ja", None),
        ("OK", "en", None),
        ("¿Por qué no está el libro?", "en", "words of 'es'"),
        ("The table is for you and me.", "en", None),
        ("anything", "tlh", None),
        ("1234", "en", None),
    ],
)
def test_another_language_is_told_where_something_tells_it(text: str, language: str, told: str | None) -> None:
    assert other_language(text, language) == told


def test_a_user_with_branches_is_valid_by_the_conditions_of_its_path() -> None:
    nodes = (Node("a", due=at(ms(500)), then=(Edge(spoke_for(seconds(2)), "b"),)), Node("b", due=into_reply(ms(2500))))
    system = Scripted(Script((Answer(Sound(tone(seconds(5))), ms(400)),), rate=RATE), rate_in=RATE)
    user = Branching(nodes, lambda node: tone(seconds(1)))
    talk = run_virtual(drive(system, user, length=seconds(20), hang_up=HangUp()))
    assert [taken.turn.id for taken in talk.turns] == ["a", "b"]
    assert validity(talk) == ()
    assert kinds(validity(moved(talk, 1, ms(300)))) == ["late"]


def test_talks_are_held_again_until_one_is_valid_and_the_discarded_are_counted() -> None:
    talk, bad = hold(QUESTION), (Fault("late", "a"), Fault("late", "b"), Fault("wrong words", "a"))
    asked: list[int] = []

    async def hold_again(n: int) -> Talk:
        asked.append(n)
        return talk

    held = asyncio.run(hold_valid(hold_again, lambda _: bad if len(asked) < 3 else (), attempts=5))
    assert (asked, held.valid, held.discarded, held.talk) == ([1, 2, 3], True, 2, talk)
    assert held.reasons == {"late": 2, "wrong words": 2}
    assert json.loads(json.dumps(held.to_json()))["attempts"][2] == {"n": 3, "faults": []}


def test_the_last_talk_is_kept_and_marked_where_none_is_valid() -> None:
    talks = [hold(QUESTION), hold(QUESTION)]

    async def hold_again(n: int) -> Talk:
        return talks[n - 1]

    held = asyncio.run(hold_valid(hold_again, lambda _: (Fault("late", "a"),), attempts=2))
    assert (held.valid, held.discarded, held.talk, len(held.attempts)) == (False, 1, talks[1], 2)


def test_a_system_that_fails_is_no_fault_of_the_user_and_what_was_discarded_is_told() -> None:
    async def hold_again(n: int) -> Talk:
        if n == 2:
            raise ConversationError("gone")
        return hold_once

    hold_once = hold(QUESTION)
    with pytest.raises(ConversationError, match="gone") as failed:
        asyncio.run(hold_valid(hold_again, lambda _: (Fault("late", "a"),)))
    assert failed.value.__notes__ == ["after 1 of the talks were discarded for what the user did"]


@pytest.mark.weights
def test_a_real_voice_is_heard_to_say_what_was_meant_and_another_text_is_not(tmp_path: Path) -> None:
    pytest.importorskip("hibari")
    from fullduplex.data.audio import resample
    from fullduplex.listening.recognisers.whisper import Whisper
    from fullduplex.providers.voices.hibari import Hibari

    text = "Could you book a table for two at seven tonight?"
    spoken = Hibari().speak(text)
    talk = hold(Turn(resample(spoken.samples, spoken.rate, RATE), at(ms(500)), "a", text), length=seconds(6))
    tokens = Whisper("base").recognise(talk.user, RATE).tokens
    heard = [
        Word(t.text, Span(seconds(t.start or 0), max(seconds(t.start or 0) + 1, seconds(t.end or 0)))) for t in tokens
    ]
    assert validity(talk, heard=heard) == ()
    wrong = validity(talk, [Expected("a", "I would like to cancel my flight to Rome.")], heard=heard)
    assert kinds(wrong) == ["wrong words"]


def test_a_turn_of_an_odd_length_is_whole_at_every_rate() -> None:
    for rate in (16_000, 22_050, 24_000, 44_100):
        sound = np.full(rate // 3 + 1, 0.3, np.float32)
        system = Scripted(rate_in=rate)
        turns = [Turn(sound, at(123_457 * (9 * n + 1)), str(n)) for n in range(4)]
        assert validity(run_virtual(drive(system, turns, length=seconds(6)))) == ()
