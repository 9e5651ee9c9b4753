import asyncio
import pickle
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import after_reply, after_word, at, into_reply
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.link import Closed, Note, Position, Ready, Said, Traits
from fullduplex.driving.playout import Chunk, Samples, playout
from fullduplex.errors import ConversationError
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.scripted import Answer, Say, Script, Scripted, Sound

RATE = 16_000


def tone(length: int, rate: int = RATE) -> Samples:
    return np.full(length * rate // SECOND, 0.5, np.float32)


def sound(length: int, text: str = "") -> Sound:
    return Sound(tone(length), text)


def scripted(*lines: Say | Answer, yields: int | None = None, burst: bool = False, **more: Any) -> Scripted:
    return Scripted(Script(lines, yields, rate=RATE, **more), burst=burst)


def hold(system: Any, *turns: Turn, length: int = seconds(10), **more: Any) -> Talk:
    return run_virtual(drive(system, turns, length=length, **more))


def spans(talk: Talk) -> tuple[Any, ...]:
    return tuple(turn.span for turn in talk.turns)


def heard(talk: Talk) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], talk.system != 0, [0]]).astype(int)))
    return [
        (int(a) * SECOND // talk.rate, int(b) * SECOND // talk.rate)
        for a, b in zip(edges[::2], edges[1::2], strict=True)
    ]


class Listener:
    """Notes when each frame comes; says nothing."""

    spec = Spec("listener")

    def __init__(self, busy: float = 0.0, frame: int = 0, busy_at: int = -1) -> None:
        self.traits = Traits(RATE, RATE, frame=frame, virtual=True)
        self.busy, self.busy_at = busy, busy_at
        self.frames: list[tuple[float, int]] = []
        self.positions: list[int] = []
        self.finished = False
        self.ready = Ready({"voice": "none"})

    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator["Listener"]:
        await asyncio.sleep(5)  # a handshake takes its time
        self.began = asyncio.get_running_loop().time()
        yield self

    async def __aiter__(self) -> AsyncIterator[Any]:
        await asyncio.Event().wait()
        yield Note("never")

    async def send(self, frame: Samples) -> None:
        self.frames.append((asyncio.get_running_loop().time() - self.began, len(frame)))
        if self.busy_at in (-1, len(self.frames) - 1):
            await asyncio.sleep(self.busy)

    async def heard(self, position: Position) -> None:
        self.positions.append(position.at)

    async def finish(self) -> None:
        self.finished = True


def test_no_frame_is_sent_before_it_was_captured() -> None:
    system = Listener()
    hold(system, length=seconds(1))
    assert [round(time * 1000) for time, _ in system.frames] == [20 * (i + 1) for i in range(50)]


def test_the_handshake_is_no_part_of_the_talk() -> None:
    system = Listener()
    talk = hold(system, Turn(tone(ms(100)), at(0)), length=seconds(1))
    assert spans(talk) == (Span(0, ms(100)),)
    assert len(talk.user) == RATE


def test_silence_flows_on_after_the_user_s_words() -> None:
    system = Listener()
    hold(system, Turn(tone(ms(100)), at(0)), length=seconds(2))
    assert len(system.frames) == 100 and system.finished


def test_a_system_gets_frames_of_the_length_that_it_wants() -> None:
    system = Listener(frame=ms(80))
    hold(system, length=seconds(1))
    assert {n for _, n in system.frames[:-1]} == {RATE * 80 // 1000}
    assert sum(n for _, n in system.frames) == RATE


def test_a_system_hears_how_far_it_has_been_heard() -> None:
    system = Listener()
    hold(system, length=ms(50))
    assert system.positions == [ms(20), ms(40), ms(50)]


def test_frames_on_time_are_not_late() -> None:
    pacing = hold(Listener(), length=seconds(1)).pacing
    assert (pacing.worst, pacing.p99, pacing.late, pacing.frames) == (0, 0, False, 50)


def test_a_stalled_system_makes_the_talk_late_and_no_burst_follows() -> None:
    system = Listener(busy=0.2, busy_at=10)
    pacing = hold(system, length=seconds(1)).pacing
    assert pacing.late and pacing.worst == ms(180) and pacing.slipped == ms(180)
    gaps = np.diff([time for time, _ in system.frames])
    assert gaps.min() == pytest.approx(0.02)


def test_a_frame_late_is_not_yet_late() -> None:
    assert not hold(Listener(busy=0.04, busy_at=3), length=seconds(1)).pacing.late
    assert hold(Listener(busy=0.0401, busy_at=3), length=seconds(1)).pacing.late


@pytest.mark.parametrize("burst", [False, True])
@pytest.mark.parametrize("delay", [ms(25), ms(400), 1_234_567])
def test_a_planted_delay_is_found_to_the_sample(delay: int, burst: bool) -> None:
    system = scripted(Answer(sound(seconds(1)), delay), burst=burst)
    ((start, end),) = heard(hold(system, Turn(tone(seconds(1)), at(ms(500)))))
    assert abs(start - seconds(1.5) - delay) <= SECOND // RATE
    assert abs(end - start - seconds(1)) <= SECOND // RATE


@pytest.mark.parametrize("burst", [False, True])
@pytest.mark.parametrize("yields", [ms(45), ms(300), 612_345])
def test_a_planted_stop_is_found_to_the_sample(yields: int, burst: bool) -> None:
    system = scripted(Say(sound(seconds(5)), seconds(1)), yields=yields, burst=burst)
    ((start, end),) = heard(hold(system, Turn(tone(seconds(1)), at(seconds(3)))))
    assert start == seconds(1)
    assert abs(end - seconds(3) - yields) <= SECOND // RATE


def test_a_system_that_does_not_yield_talks_through() -> None:
    system = scripted(Say(sound(seconds(5)), seconds(1)))
    assert heard(hold(system, Turn(tone(seconds(1)), at(seconds(3))))) == [(seconds(1), seconds(6))]


def test_a_burst_is_received_ahead_of_what_is_heard() -> None:
    talk = hold(scripted(Say(sound(seconds(4)), seconds(1)), burst=True))
    assert {event.arrived for event in talk.received} == {seconds(1)}
    assert heard(talk) == [(seconds(1), seconds(5))]


def test_a_turn_begins_inside_a_frame_at_the_very_microsecond() -> None:
    talk = hold(Listener(), Turn(tone(ms(100)), at(123_456)), length=seconds(1))
    assert spans(talk) == (Span(123_456, 223_456),)
    assert np.flatnonzero(talk.user)[0] == -(-123_456 * RATE // SECOND)


def test_two_turns_due_at_once_follow_each_other() -> None:
    turns = [Turn(tone(ms(100)), at(0)), Turn(tone(ms(50)), at(0))]
    talk = hold(Listener(), *turns, length=seconds(1))
    assert spans(talk) == (Span(0, ms(100)), Span(ms(100), ms(150)))
    assert np.count_nonzero(talk.user) == RATE * 150 // 1000


def test_a_cue_into_the_reply_comes_that_long_after_its_onset() -> None:
    system = scripted(Answer(sound(seconds(4)), ms(400)))
    talk = hold(system, Turn(tone(seconds(1)), at(0)), Turn(tone(seconds(1)), into_reply(ms(650))))
    assert abs(spans(talk)[1].start - seconds(2.05)) < ms(1)


def test_a_cue_after_the_reply_waits_for_its_end_and_the_quiet() -> None:
    system = scripted(Answer(sound(seconds(2)), ms(400)))
    talk = hold(system, Turn(tone(seconds(1)), at(0)), Turn(tone(seconds(1)), after_reply(ms(700), seconds(8))))
    assert abs(spans(talk)[1].start - seconds(1 + 0.4 + 2 + 0.7)) < ms(1)


def test_a_cue_after_the_reply_does_not_wait_for_ever() -> None:
    talk = hold(Listener(), Turn(tone(seconds(1)), at(0)), Turn(tone(ms(10)), after_reply(ms(700), seconds(3))))
    assert spans(talk)[1].start == seconds(4)


def test_a_cue_after_the_reply_counts_what_is_heard_and_not_what_has_come() -> None:
    system = scripted(Answer(sound(seconds(3)), ms(400)), burst=True)
    talk = hold(system, Turn(tone(seconds(1)), at(0)), Turn(tone(seconds(1)), after_reply(ms(700), seconds(8))))
    assert abs(spans(talk)[1].start - seconds(1 + 0.4 + 3 + 0.7)) < ms(1)


def test_a_cue_after_a_word_follows_its_sound_where_its_place_is_told() -> None:
    words = (("Sure,", 0, ms(400)), ("one", ms(400), ms(600)), ("moment.", ms(600), ms(1000)))
    for burst in (False, True):
        system = scripted(Say(Sound(tone(seconds(1)), "Sure, one moment.", words), seconds(2)), burst=burst)
        talk = hold(system, Turn(tone(ms(100)), after_word("one", ms(250))))
        assert abs(spans(talk)[0].start - seconds(2.85)) <= 1


def test_a_word_that_was_taken_back_was_not_said() -> None:
    words = (("Sure,", 0, ms(400)), ("moment.", ms(600), ms(1000)))
    system = scripted(Say(Sound(tone(seconds(1)), "Sure, moment.", words), seconds(2)), burst=True, yields=ms(100))
    turns = (Turn(tone(ms(100)), at(seconds(2.3))), Turn(tone(ms(100)), after_word("moment", 0)))
    assert spans(hold(system, *turns))[1] is None


def test_a_cue_after_a_word_follows_its_report() -> None:
    system = scripted(Say(sound(seconds(1), "Sure, one moment."), seconds(2)))
    talk = hold(system, Turn(tone(ms(100)), after_word("sure", ms(250))))
    assert spans(talk) == (Span(seconds(2.25), seconds(2.35)),)


def test_a_turn_that_never_falls_due_is_none() -> None:
    assert spans(hold(Listener(), Turn(tone(ms(100)), into_reply(0)), length=seconds(1))) == (None,)


def test_the_talk_repeats_exactly() -> None:
    def once() -> Talk:
        system = scripted(Answer(sound(seconds(1)), ms(333), again=True), yields=ms(100))
        turns = [Turn(tone(seconds(1)), at(0)), Turn(tone(seconds(1)), into_reply(ms(500)))]
        return hold(system, *turns, length=seconds(20))

    a, b = once(), once()
    assert np.array_equal(a.system, b.system) and np.array_equal(a.user, b.user)
    assert [(e.arrived, len(e.samples)) for e in a.received if isinstance(e, Chunk)] == [
        (e.arrived, len(e.samples)) for e in b.received if isinstance(e, Chunk)
    ]


def test_what_was_heard_is_a_function_of_the_log() -> None:
    system = scripted(Answer(sound(seconds(3)), ms(400)), yields=ms(200), burst=True)
    talk = hold(system, Turn(tone(seconds(1)), at(0)), Turn(tone(seconds(1)), into_reply(ms(650))))
    assert np.array_equal(playout(talk.received, talk.rate, len(talk.system)).samples, talk.system)


class Failing(Listener):
    async def __aiter__(self) -> AsyncIterator[Any]:
        yield Chunk(tone(ms(500)))
        await asyncio.sleep(1)
        raise OSError("connection reset")


def test_a_system_that_fails_gives_what_was_kept() -> None:
    with pytest.raises(BrokenTalk, match=r"after 1\.00 s of 10\.00 s.*connection reset") as caught:
        hold(Failing(), Turn(tone(ms(300)), at(0)))
    talk = caught.value.talk
    assert talk is not None and len(talk.user) == len(talk.system) == RATE
    assert heard(talk) == [(0, ms(500))]
    assert isinstance(caught.value, ConversationError)


def test_a_system_that_closes_early_is_an_error_with_its_reason() -> None:
    system = scripted(Say(sound(seconds(1)), 0), closes=seconds(2))
    with pytest.raises(BrokenTalk, match=r"scripted after 2\.00 s .*closed the talk: as scripted") as caught:
        hold(system)
    assert caught.value.talk is not None
    assert caught.value.talk.notes[-1] == Closed("as scripted", seconds(2))


class Deaf(Listener):
    async def send(self, frame: Samples) -> None:
        raise BrokenPipeError


def test_a_system_that_takes_no_frame_is_an_error() -> None:
    with pytest.raises(BrokenTalk, match="BrokenPipeError"):
        hold(Deaf())


class Unreachable(Listener):
    @asynccontextmanager
    async def connect(self, prompt: str) -> AsyncIterator["Listener"]:
        raise OSError("refused")
        yield self


def test_a_system_that_cannot_be_reached_is_an_error() -> None:
    with pytest.raises(ConversationError, match=r"listener: .*refused"):
        hold(Unreachable())


def test_a_broken_talk_travels_between_processes_as_its_sentence() -> None:
    error = pickle.loads(pickle.dumps(BrokenTalk("it broke")))
    assert isinstance(error, BrokenTalk) and str(error) == "it broke" and error.talk is None


def test_what_a_system_says_is_kept_with_its_arrival() -> None:
    talk = hold(scripted(Say(sound(seconds(1), "Hello there"), ms(300))))
    assert talk.notes == (Said("Hello there", id="u1", arrived=ms(300)),)


def test_settings_in_effect_are_kept() -> None:
    assert hold(Listener(), length=ms(100)).ready.settings == {"voice": "none"}


def test_a_talk_of_no_length_is_refused() -> None:
    with pytest.raises(ValueError, match="longer than nothing"):
        hold(Listener(), length=0)


def test_a_system_of_the_wall_clock_is_refused_on_the_virtual_one() -> None:
    system = Listener()
    system.traits = Traits(RATE, RATE)
    with pytest.raises(ConversationError, match="on wall"):
        hold(system)


def test_on_the_wall_clock_no_frame_is_early_either() -> None:
    system = scripted(Say(sound(ms(100)), ms(100)), burst=True)
    talk = asyncio.run(drive(system, [Turn(tone(ms(100)), at(ms(50)))], length=ms(300)))
    assert talk.pacing.frames == 15 and spans(talk) == (Span(ms(50), ms(150)),)
    ((start, end),) = heard(talk)
    assert start >= ms(100) and end - start >= ms(99)
