"""GPT-Live, against its facade: over sockets with its sideband, in memory, and word by word."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.drive import BrokenTalk, HangUp, Talk, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.observe import receive_factor
from fullduplex.driving.placements import fit_source, source_points
from fullduplex.driving.playout import Chunk
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.systems.openai import GptLive
from fullduplex.systems.openai.line import Line
from fullduplex.systems.openai.sideband import Sideband
from fullduplex.systems.openai.sound import text_of
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.openai import LIMITED_KEY, WRONG_KEY
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.watermark import stretches

SAYS = Behaviour(say=(Utterance(ms(200), ms(600), 4),))


def held(behaviour: Behaviour, *, length: int = seconds(2), **options: Any) -> Talk:
    """Return a talk in memory, on the virtual clock; there is no sideband."""
    system = GptLive(**options)
    twin = FacedTwin(system, facade_of("gpt-live", system.spec.options), behaviour)
    return run_on("virtual", drive(twin, (), length=length, prompt="Be brief."))


@asynccontextmanager
async def at_facade(behaviour: Behaviour, delay: float = 0, **options: Any) -> AsyncIterator[GptLive]:
    async with serve(facade_of("gpt-live", {"sideband_delay": delay}), behaviour) as port:
        yield GptLive(url=f"ws://127.0.0.1:{port}/v1", **options)


def live(behaviour: Behaviour, length: int = ms(1_200), **options: Any) -> Talk:
    """Return a talk over sockets, with a sideband."""

    async def talk() -> Talk:
        async with at_facade(behaviour, **options) as system:
            return await drive(system, (), length=length)

    return asyncio.run(talk())


def notes(talk: Talk, kind: str) -> list[Any]:
    return [note.data for note in talk.notes if isinstance(note, Note) and note.kind == kind]


# Conformance.


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(GptLive(), clocks=["virtual"])
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(result.outcome == "passed" for result in results) == 14
    assert all(result.why for result in results if result.outcome == "not applicable")


def test_the_driver_passes_over_real_sockets_with_its_sideband() -> None:
    results = conform(GptLive(), cases=[18, 26])
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []


@pytest.mark.parametrize(
    "options", [{"rate": 16_000}, {"format": "pcmu"}, {"format": "pcma"}], ids=lambda options: str(options)
)
def test_other_formats_pass_too(options: dict[str, Any]) -> None:
    results = conform(GptLive(**options), clocks=["virtual"], cases=[1, 26])
    assert [(r.number, r.outcome, r.why) for r in results if r.outcome != "passed"] == []


def test_a_server_that_sends_eight_times_as_fast_is_queued_and_its_speed_is_told() -> None:
    talk = held(replace(SAYS, pace="burst", burst=8))
    assert abs((receive_factor(talk.received, talk.rate) or 0) - 8) < 0.1
    (heard,) = stretches(talk.system, talk.rate)
    assert heard.duration == ms(600)


def test_words_on_a_clock_that_runs_six_percent_fast_tell_how_fast_it_runs() -> None:
    talk = held(Behaviour(words=ms(50), drift=0.06), length=seconds(5))
    said = [(note.source, note.arrived) for note in talk.notes if isinstance(note, Said) and note.source is not None]
    line = fit_source(said)
    assert line is not None and abs(line.slope * 1.06 - 1) < 0.001


# The sideband.


def sources(talk: Talk) -> list[int | None]:
    return [event.source for event in talk.received if isinstance(event, Chunk)]


def test_a_chunk_lies_on_the_sessions_clock_where_the_sideband_says() -> None:
    talk = live(SAYS)
    told = sources(talk)
    assert len(told) == 30 and None not in told
    assert talk.ready.settings["sideband"] and talk.ready.settings["sideband_checked"]
    # Sound without a pause is without a pause on the session's clock, to the millisecond that is told.
    assert all(a is not None and b is not None and abs(b - a - ms(20)) <= ms(1) for a, b in pairwise(told))
    assert not notes(talk, "output_time")


def test_chunks_on_a_clock_that_runs_six_percent_fast_tell_how_fast_it_runs() -> None:
    said = tuple(Utterance(ms(100 + 400 * n), ms(40), 10 * n) for n in range(6))
    line = fit_source(source_points(live(Behaviour(say=said, drift=0.06), length=ms(2_400)).received))
    # Over sockets, on a busy machine: what is shown is that the times are the session's, not ours.
    assert line is not None and abs(line.slope * 1.06 - 1) < 0.03


def test_waiting_for_the_time_does_not_move_the_arrival() -> None:
    behind = ms(150)
    talk = live(SAYS, delay=behind / 1_000_000, sideband_wait=0.5)
    told = [(event.source, event.arrived) for event in talk.received if isinstance(event, Chunk)]
    assert len(told) == 30 and None not in sources(talk)
    # A chunk that was given its time once that had come would have arrived 150 ms behind it.
    apart = sorted(arrived - (source or 0) for source, arrived in told)
    assert apart[len(apart) // 2] < behind - ms(50)


def test_a_time_that_comes_too_late_is_a_note_and_the_chunk_has_none() -> None:
    talk = live(replace(SAYS, say=(Utterance(ms(200), ms(100), 4),)), delay=0.1, sideband_wait=0.0)
    assert sources(talk) == [None] * 5
    told = notes(talk, "output_time")
    assert [note["chunk"] for note in told] == list(range(len(told)))
    assert all(note["end"] > note["start"] for note in told)


class Wire:
    def __init__(self, *frames: Any) -> None:
        self.frames = list(frames)

    async def send(self, message: str | bytes) -> None:
        raise AssertionError(message)

    async def receive(self) -> str | bytes:
        if not self.frames:
            raise Gone("1000")
        return json.dumps(self.frames.pop(0))


def piece(number: int) -> bytes:
    return bytes([number]) * 960


def reflected(number: int, start: int) -> dict[str, Any]:
    return {
        "type": "session.output_audio.delta",
        "delta": text_of(piece(number)),
        "start_ms": start,
        "end_ms": start + 20,
    }


def times(frames: list[Any], asked: list[int], checked: bool = True) -> list[int | None]:
    async def find() -> list[int | None]:
        band = Sideband(Line(Wire(*frames)), checked)
        await band.run()
        return [await band.time_of(n, piece(number), 960, 0.0) for n, number in enumerate(asked)]

    return asyncio.run(find())


def test_what_the_reflection_dropped_has_no_time_and_what_follows_has_its_own() -> None:
    frames = [reflected(1, 0), reflected(3, 40), reflected(4, 60)]
    assert times(frames, [1, 2, 3, 4]) == [0, None, ms(40), ms(60)]


def test_what_the_reflection_dropped_takes_no_late_time_of_another() -> None:
    async def find() -> tuple[list[Any], int | None]:
        band = Sideband(Line(Wire(reflected(2, 40), reflected(3, 60))), checked=True)
        assert [await band.time_of(n, piece(n), 960, 0.0) for n in (1, 2)] == [None, None]
        await band.run()
        return [note.data["chunk"] for note in band.notes if note.kind == "output_time"], await band.time_of(
            3, piece(3), 960, 0.0
        )

    assert asyncio.run(find()) == ([2], ms(60))


def test_what_only_the_reflection_has_moves_nothing() -> None:
    frames = [reflected(n, 20 * n) for n in range(4)]
    assert times(frames, [0, 3]) == [0, ms(60)]


def test_a_piece_may_be_cut_otherwise_than_its_reflection() -> None:
    async def find() -> list[int | None]:
        band = Sideband(Line(Wire(reflected(1, 0), reflected(1, 20), reflected(2, 40))), checked=True)
        await band.run()
        return [await band.time_of(n, bytes([1]) * 480, 480, 0.0) for n in range(4)]

    assert asyncio.run(find()) == [0, ms(10), ms(20), ms(30)]


def test_nonsense_on_the_sideband_gives_no_time() -> None:
    frames = [{"type": "session.output_audio.delta", "delta": "!", "start_ms": 1, "end_ms": 2}, reflected(1, 20)]
    assert times([*frames, {"type": 5}, {"type": "session.output_audio.delta", "delta": text_of(piece(1))}], [1]) == [
        ms(20)
    ]


def test_a_sideband_that_is_refused_is_told_and_the_talk_goes_on() -> None:
    async def talk() -> Talk:
        facade = replace(facade_of("gpt-live"), refuses=lambda path, _: (403, "") if path.endswith("attach") else None)
        async with serve(facade, SAYS) as port:
            return await drive(GptLive(url=f"ws://127.0.0.1:{port}"), (), length=seconds(1))

    talk_ = asyncio.run(talk())
    assert talk_.ready.settings["sideband"] is False
    assert "HTTP 403" in talk_.ready.settings["sideband_refused"]
    assert stretches(talk_.system, talk_.rate)


def test_without_a_sideband_there_is_none() -> None:
    talk = live(SAYS, sideband=False)
    assert set(sources(talk)) == {None} and talk.ready.settings["sideband"] is False
    assert GptLive(sideband=False).traits.source == "none"


# What is kept.


def test_what_was_used_is_told_at_the_end() -> None:
    talk = live(SAYS, length=ms(1_100))
    (closed,) = notes(talk, "session_closed")
    assert closed["reason"] == "close_requested" and closed["usage"]["seconds"] >= 1
    assert notes(talk, "usage")[0]["usage"]["seconds"] >= 0
    assert talk.ended_by == "length"


def test_the_session_that_the_server_tells_is_kept_with_its_end() -> None:
    talk = held(SAYS, length=ms(200), voice="quartz")
    session = talk.ready.settings["session"]
    assert session["instructions"] == "Be brief." and session["audio"]["output"]["voice"] == "quartz"
    assert talk.ready.settings["expires_at"] == session["expires_at"]


def test_silence_flows_on_after_the_users_words() -> None:
    behaviour = Behaviour(say=(Utterance(ms(200), seconds(1), 3),), pace="per-input")
    system = GptLive()
    twin = FacedTwin(system, facade_of("gpt-live"), behaviour)
    talk = run_on("virtual", drive(twin, (), length=seconds(4), hang_up=HangUp(quiet=ms(500))))
    assert talk.ended_by == "quiet" and sum(part.played for part in talk.placed) == 24_000


# Faults.


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"resets": ms(600)}, "broke off"),
        ({"closes": ms(600), "reason": "Your session has expired."}, "expired; its last error: Your session"),
        ({"floods": ms(300)}, "ahead of time"),
    ],
)
def test_a_fault_in_mid_word_leaves_a_kept_talk_and_a_sentence(fault: dict[str, Any], word: str) -> None:
    behaviour = Behaviour(say=(Utterance(ms(100), seconds(3), 9),))
    with pytest.raises(BrokenTalk) as broken:
        live(replace(behaviour, **fault), length=seconds(2))
    assert word in str(broken.value) and "\n" not in str(broken.value)
    assert broken.value.talk is not None
    # A flood keeps this process, in which the server is too, from anything else.
    assert stretches(broken.value.talk.system, 24_000) or "floods" in fault


@pytest.mark.parametrize(("key", "word"), [(WRONG_KEY, "refuses the key"), (LIMITED_KEY, "HTTP 429")])
def test_a_key_that_is_refused_is_told_in_a_sentence_that_does_not_repeat_it(key: str, word: str) -> None:
    with pytest.raises(ConversationError) as refused:
        live(SAYS, key=key)
    assert word in str(refused.value) and key not in str(refused.value)


def test_without_a_key_the_vendor_is_not_asked() -> None:
    async def connect() -> None:
        async with GptLive().connect(""):
            pass

    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        asyncio.run(connect())


def test_a_session_that_is_refused_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="refused the session: This facade was started for another"):
        live(SAYS, rate=16_000)


# Options.


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"preset": "x"}, "preset"),
        ({"format": "opus"}, "format"),
        ({"rate": 8_000}, "24000, 16000"),
        ({"model": ""}, "model"),
        ({"sideband_wait": 5}, "sideband_wait"),
        ({"sideband": "yes"}, "sideband"),
        ({"extra": "no"}, "extra"),
        ({"url": "host"}, "url"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Any, options: Any, word: str) -> None:
    with pytest.raises((PluginError, InputError)) as refused:
        build(Spec("gpt-live", options), tmp_path)
    assert word in str(refused.value)


def test_a_key_is_in_no_spec_and_no_repr() -> None:
    system = GptLive(key="sk-secret", url="wss://host/v1")
    assert dict(system.door("").headers) == {"Authorization": "Bearer sk-secret"}
    assert "sk-secret" not in repr(system) + str(system.spec)
    azure = GptLive(preset="azure", url="https://host/openai/v1", key="sk-secret")
    assert dict(azure.door("").headers) == {"api-key": "sk-secret"}
    assert azure.door("").url == "wss://host/openai/v1/live/sessions"


def test_a_session_id_cannot_lead_elsewhere() -> None:
    url = GptLive(url="ws://127.0.0.1:1").door("", "../../x?y").url
    assert url == "ws://127.0.0.1:1/live/sessions/..%2F..%2Fx%3Fy/attach"


def test_mute_samples_are_sent_as_they_are() -> None:
    talk = held(Behaviour(silence=True), length=ms(400))
    assert np.abs(talk.system).max() == 0 and len(sources(talk)) >= 19
