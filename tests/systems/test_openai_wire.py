"""Both sides of OpenAI's two speech APIs against frames that the vendor's SDK sends and reads.

The fixtures were made by the SDK: ``python tests/systems/test_openai_wire.py`` makes them anew.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Happening, Note, Position, Said, UserVad
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.model.spans import ms, seconds
from fullduplex.systems.openai import GptLive, Realtime
from fullduplex.systems.openai.sound import encoded, text_of
from fullduplex.systems.wire import Gone, Memory
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin, serve

FIXTURES = Path(__file__).parent / "fixtures"
SDK = pytest.mark.skipif(find_spec("openai") is None, reason="the vendor's SDK is not installed: fullduplex[judges]")
PCM = (np.sin(np.arange(48) / 7) * 0.5).astype(np.float32)
AUDIO = text_of(encoded("pcm16", PCM))


def fixture(name: str, side: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / name / f"{side}.jsonl").read_text("utf-8").splitlines()]


# Frames that the SDK sends.

SESSION = {
    "type": "realtime",
    "output_modalities": ["audio"],
    "instructions": "Be brief.",
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24_000},
            "transcription": {"model": "gpt-4o-transcribe", "language": "en"},
            "noise_reduction": {"type": "near_field"},
            "turn_detection": {
                "type": "server_vad",
                "threshold": 0.6,
                "prefix_padding_ms": 200,
                "silence_duration_ms": 400,
                "interrupt_response": False,
            },
        },
        "output": {"format": {"type": "audio/pcm", "rate": 24_000}, "voice": "cedar", "speed": 1.25},
    },
}
ASKED = Realtime(
    voice="cedar",
    threshold=0.6,
    prefix_padding_ms=200,
    silence_duration_ms=400,
    interrupt_response=False,
    transcription="gpt-4o-transcribe",
    language="en",
    noise_reduction="near_field",
    speed=1.25,
)
LIVE = {
    "model": "gpt-live-1",
    "audio": {"format": {"type": "audio/pcm", "rate": 24_000}, "output": {"voice": "quartz"}},
    "instructions": "Be brief.",
    "store": True,
}


async def _recorded(talk: Callable[[Any], Coroutine[Any, Any, None]]) -> list[dict[str, Any]]:
    """Return where the SDK connects to in ``talk``, and what it sends there."""
    import openai
    from websockets.asyncio.server import serve as listen

    told: list[dict[str, Any]] = []

    async def take(connection: Any) -> None:
        told.append({"path": connection.request.path, "bearer": "authorization" in connection.request.headers})
        async for message in connection:
            told.append(json.loads(message))

    async with listen(take, "127.0.0.1", 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        await talk(openai.AsyncOpenAI(api_key="sk-test", websocket_base_url=f"ws://127.0.0.1:{port}/v1"))
    return told


async def _realtime(client: Any) -> None:
    async with client.realtime.connect(model="gpt-realtime-2.1") as connection:
        await connection.session.update(session=SESSION)
        await connection.input_audio_buffer.append(audio=AUDIO)
        await connection.conversation.item.truncate(item_id="item_1", content_index=0, audio_end_ms=120)
        await asyncio.sleep(0.1)


async def _live(client: Any) -> None:
    async with client.live.connect() as connection:
        await connection.session.start(session=LIVE)
        await connection.session.input_audio.append(audio=AUDIO)
        await connection.session.close()
        await asyncio.sleep(0.1)
    async with client.live.sideband.connect(session_id="live_000001"):
        await asyncio.sleep(0.1)


# Frames that the SDK reads, written by its own types.


def _written(name: str) -> list[dict[str, Any]]:
    from pydantic import TypeAdapter

    if name == "openai-realtime":
        from openai.types.realtime import RealtimeServerEvent as AnyEvent
    else:
        from openai.types.live import ConnectServerEvent as AnyEvent
    adapter: Any = TypeAdapter(AnyEvent)
    made = [adapter.validate_python(event) for event in (REALTIME if name == "openai-realtime" else LIVELY)]
    return [event.model_dump(mode="json", exclude_unset=True) for event in made]


def _at(item: str = "item_1", response: str = "resp_1") -> dict[str, Any]:
    return {"event_id": "event_1", "item_id": item, "response_id": response, "output_index": 0, "content_index": 0}


_MESSAGE = {"id": "item_1", "object": "realtime.item", "type": "message", "role": "assistant", "content": []}
_RESPONSE = {"id": "resp_1", "object": "realtime.response", "status": "in_progress", "output": []}
_ENDED = _RESPONSE | {
    "status": "cancelled",
    "status_details": {"type": "cancelled", "reason": "turn_detected"},
    "usage": {"total_tokens": 30, "input_tokens": 10, "output_tokens": 20},
}
_E = {"event_id": "event_1"}
REALTIME: list[dict[str, Any]] = [
    {"type": "session.created", **_E, "session": SESSION},
    {"type": "session.updated", **_E, "session": SESSION},
    {"type": "response.created", **_E, "response": _RESPONSE},
    {"type": "response.output_item.added", **_E, "response_id": "resp_1", "output_index": 0, "item": _MESSAGE},
    {"type": "conversation.item.added", **_E, "previous_item_id": None, "item": _MESSAGE},
    {"type": "response.content_part.added", **_at(), "part": {"type": "audio", "transcript": ""}},
    {"type": "response.output_audio.delta", **_at(), "delta": AUDIO},
    {"type": "response.output_audio_transcript.delta", **_at(), "delta": "Hel"},
    {"type": "response.output_audio_transcript.delta", **_at(), "delta": "lo."},
    {"type": "response.output_audio_transcript.done", **_at(), "transcript": "Hello."},
    {"type": "response.output_audio.done", **_at()},
    {"type": "response.content_part.done", **_at(), "part": {"type": "audio", "transcript": "Hello."}},
    {"type": "response.output_item.done", **_E, "response_id": "resp_1", "output_index": 0, "item": _MESSAGE},
    {"type": "input_audio_buffer.speech_started", **_E, "audio_start_ms": 1200, "item_id": "item_2"},
    {"type": "response.done", **_E, "response": _ENDED},
    {"type": "response.output_audio.delta", **_at(), "delta": AUDIO},
    {"type": "conversation.item.truncated", **_E, "item_id": "item_1", "content_index": 0, "audio_end_ms": 0},
    {"type": "input_audio_buffer.speech_stopped", **_E, "audio_end_ms": 2400, "item_id": "item_2"},
    {"type": "input_audio_buffer.committed", **_E, "previous_item_id": None, "item_id": "item_2"},
    {
        "type": "conversation.item.input_audio_transcription.completed",
        **_E,
        "item_id": "item_2",
        "content_index": 0,
        "transcript": "Stop.",
        "usage": {"type": "duration", "seconds": 1.2},
    },
    {
        "type": "rate_limits.updated",
        **_E,
        "rate_limits": [{"name": "tokens", "limit": 40_000, "remaining": 39_970, "reset_seconds": 0.05}],
    },
    {"type": "error", **_E, "error": {"type": "server_error", "code": "server_error", "message": "Bad luck."}},
]
_RESOURCE = LIVE | {"id": "live_000001", "expires_at": 1_900_000_000, "status": "active"}
LIVELY: list[dict[str, Any]] = [
    {"type": "session.started", **_E, "session": _RESOURCE},
    {"type": "session.output_audio.delta", "delta": AUDIO},
    {"type": "session.output_audio.delta", "delta": AUDIO, "start_ms": 400, "end_ms": 402},
    {"type": "session.input_audio.append", "audio": AUDIO},
    {"type": "session.output_transcript.delta", **_E, "delta": "Hello.", "start_ms": 400, "end_ms": 600},
    {"type": "session.input_transcript.delta", **_E, "delta": "Hi.", "start_ms": 200, "end_ms": 400},
    {"type": "session.usage.updated", **_E, "usage": {"seconds": 3.0}},
    {
        "type": "error",
        **_E,
        "error": {"type": "invalid_request_error", "code": "unknown_parameter", "message": "What?"},
    },
    {"type": "session.closed", **_E, "reason": "close_requested", "session": _RESOURCE, "usage": {"seconds": 4.0}},
]

NAMES = ("openai-realtime", "gpt-live")


@SDK
@pytest.mark.parametrize(("name", "talk"), [(NAMES[0], _realtime), (NAMES[1], _live)])
def test_the_fixture_is_what_the_vendors_client_sends(name: str, talk: Any) -> None:
    assert fixture(name, "client") == asyncio.run(_recorded(talk))


@SDK
@pytest.mark.parametrize("name", NAMES)
def test_the_fixture_of_the_server_is_what_the_vendors_types_write(name: str) -> None:
    assert fixture(name, "server") == _written(name)


# Our client says what the SDK says.


class Script:
    """A wire whose other side says what it was given, and keeps what it hears."""

    def __init__(self, frames: list[dict[str, Any]], stays: bool = False) -> None:
        self.frames, self.heard, self.stays = list(frames), list[dict[str, Any]](), stays

    async def send(self, message: str | bytes) -> None:
        self.heard.append(json.loads(message))

    async def receive(self) -> str | bytes:
        if not self.frames and self.stays:
            await asyncio.Event().wait()
        if not self.frames:
            raise Gone("1000")
        return json.dumps(self.frames.pop(0))


async def _taken(system: Any, frames: list[dict[str, Any]]) -> tuple[Script, list[Happening], Any]:
    wire, events = Script(frames), []
    async with system.over(wire, "Be brief.") as link:
        await link.send(PCM)
        async for event in link:
            events.append(event)
            if isinstance(event, Flush):
                await link.heard(Position(0, "resp_1", 1_000))
    return wire, events, link


def test_we_ask_for_a_realtime_session_as_the_vendors_client_does() -> None:
    where, *said = fixture("openai-realtime", "client")
    wire, _, _ = asyncio.run(_taken(ASKED, fixture("openai-realtime", "server")))
    assert [one for one in wire.heard if one["type"] != "conversation.item.truncate"] == said[:2]
    door = Realtime(url="ws://127.0.0.1:9/v1", key="sk-test").door("")
    assert door.url == f"ws://127.0.0.1:9{where['path']}"
    assert dict(door.headers) == {"Authorization": "Bearer sk-test"}


def test_we_truncate_as_the_vendors_client_does() -> None:
    told = [one for one in fixture("openai-realtime", "client") if one.get("type") == "conversation.item.truncate"]
    wire, _, _ = asyncio.run(_taken(Realtime(), fixture("openai-realtime", "server")))
    ours = [one for one in wire.heard if one["type"] == "conversation.item.truncate"]
    # Of the two milliseconds that came one was heard.
    assert ours == [told[0] | {"audio_end_ms": 1}]


def test_we_hold_a_live_session_as_the_vendors_client_does() -> None:
    where, *said, aside = fixture("gpt-live", "client")

    async def hold() -> Script:
        wire = Script(fixture("gpt-live", "server")[:1], stays=True)
        async with GptLive(voice="quartz", store=True).over(wire, "Be brief.") as link:
            await link.send(PCM)
        return wire

    assert asyncio.run(hold()).heard == said
    at = GptLive(url="ws://127.0.0.1:9/v1")
    assert at.door("").url == f"ws://127.0.0.1:9{where['path']}"
    assert at.door("", "live_000001").url == f"ws://127.0.0.1:9{aside['path']}"


# Our client understands what the SDK's types write.


def test_the_driver_understands_what_the_vendors_types_write() -> None:
    _, events, link = asyncio.run(_taken(Realtime(), fixture("openai-realtime", "server")))
    assert link.ready.settings["session"] == SESSION
    chunks = [event for event in events if isinstance(event, Chunk)]
    assert [(chunk.id, len(chunk.samples)) for chunk in chunks] == [("resp_1", 48)] * 2
    assert np.abs(chunks[0].samples - PCM).max() <= 1 / 32_768
    said = [(event.who, event.text) for event in events if isinstance(event, Said)]
    assert said == [("system", "Hel"), ("system", "lo."), ("user", "Stop.")]
    vads = [(event.speaking, event.source) for event in events if isinstance(event, UserVad)]
    assert vads == [(True, ms(1200)), (False, ms(2400))]
    assert [event.scope for event in events if isinstance(event, Flush)] == ["resp_1"]
    notes = {event.kind: event.data for event in events if isinstance(event, Note)}
    assert notes["response.done"]["usage"] == {"total_tokens": 30, "input_tokens": 10, "output_tokens": 20}
    assert notes["response.done"]["status_details"]["reason"] == "turn_detected"
    assert notes["rate_limits"]["limits"][0]["remaining"] == 39_970
    assert notes["usage"] == {"of": "transcription", "type": "duration", "seconds": 1.2}
    assert notes["error"]["message"] == "Bad luck."


def test_without_interrupt_response_the_users_speech_takes_nothing_back() -> None:
    _, events, _ = asyncio.run(_taken(ASKED, fixture("openai-realtime", "server")))
    assert not any(isinstance(event, Flush) for event in events)
    assert ASKED.traits.flush == "none"


def test_the_driver_understands_a_live_session_that_the_vendors_types_write() -> None:
    _, events, link = asyncio.run(_taken(GptLive(), fixture("gpt-live", "server")))
    assert link.ready.settings["session"]["id"] == "live_000001"
    assert link.ready.settings["expires_at"] == 1_900_000_000
    assert [len(event.samples) for event in events if isinstance(event, Chunk)] == [48, 48]
    said = [(event.who, event.text, event.source) for event in events if isinstance(event, Said)]
    assert said == [("system", "Hello.", ms(400)), ("user", "Hi.", ms(200))]
    closed = next(event for event in events if isinstance(event, Note) and event.kind == "session_closed")
    assert closed.data["usage"] == {"seconds": 4.0}
    assert not any(isinstance(event, Flush) for event in events)


# The facades say what the SDK reads.


class _Kept(Memory):
    said: list[dict[str, Any]]

    async def receive(self) -> str | bytes:
        message = await super().receive()
        self.said.append(json.loads(message))
        return message


def facade_frames(name: str) -> list[dict[str, Any]]:
    """Return what a facade says in a talk with an interruption, words and an end."""
    said: list[dict[str, Any]] = []
    system: Any = Realtime() if name == "openai-realtime" else GptLive()

    class Listening(type(system)):  # type: ignore[misc]
        def over(self, wire: Any, prompt: str) -> Any:
            kept = _Kept(wire._there, wire._back)
            kept.said = said
            return super().over(kept, prompt)

    behaviour = Behaviour(
        say=(Utterance(ms(100), ms(300), 3), Utterance(ms(500), seconds(2), 40)),
        pace="burst",
        flush="id",
        flushes=((ms(700), "u2"),),
        late=2,
        words=ms(300),
    )
    listening = Listening(url="")
    run_on("virtual", drive(FacedTwin(listening, facade_of(name), behaviour), (), length=ms(1_100)))
    return said


@pytest.mark.parametrize("name", NAMES)
def test_the_facade_says_what_the_fixture_says(name: str) -> None:
    """Each of its events has the members of the SDK's, of the same kinds."""
    known = {frame["type"]: frame for frame in fixture(name, "server")}
    frames = facade_frames(name)
    kinds = {frame["type"] for frame in frames}
    needed = {"session.created", "response.output_audio.delta", "response.done", "input_audio_buffer.speech_started"}
    live = {"session.started", "session.output_audio.delta", "session.output_transcript.delta", "session.closed"}
    assert kinds >= (needed if name == "openai-realtime" else live)
    optional = {"start_ms", "end_ms"} if name == "gpt-live" else set()
    for frame in frames:
        like = known[frame["type"]]
        primary = optional if frame["type"] == "session.output_audio.delta" else set()
        assert set(frame) >= set(like) - primary, frame["type"]
        for member in set(like) & set(frame):
            if like[member] is not None and frame[member] is not None:
                assert type(frame[member]) is type(like[member]), (frame["type"], member)


@SDK
@pytest.mark.parametrize("name", NAMES)
def test_the_vendors_types_read_what_the_facade_says(name: str) -> None:
    from pydantic import TypeAdapter

    if name == "openai-realtime":
        from openai.types.realtime import RealtimeServerEvent as AnyEvent
    else:
        from openai.types.live import ConnectServerEvent as AnyEvent
    adapter: Any = TypeAdapter(AnyEvent)
    for frame in facade_frames(name):
        adapter.validate_python(frame)


SPEAKS = Behaviour(
    say=(Utterance(ms(100), ms(300), 3), Utterance(ms(500), seconds(2), 40)),
    pace="burst",
    flush="id",
    flushes=((ms(700), "u2"),),
)


async def _with_sdk_realtime() -> list[Any]:
    import openai

    events: list[Any] = []
    async with serve(facade_of("openai-realtime"), SPEAKS) as port:
        client = openai.AsyncOpenAI(api_key="sk-test", websocket_base_url=f"ws://127.0.0.1:{port}/v1")
        async with client.realtime.connect(model="gpt-realtime-2.1") as connection:
            await connection.session.update(session=SESSION)  # type: ignore[arg-type]

            async def speak() -> None:
                for _ in range(45):
                    await connection.input_audio_buffer.append(audio=text_of(bytes(960)))
                    await asyncio.sleep(0.02)
                for end in (100, 100_000):
                    await connection.conversation.item.truncate(item_id="item_2", content_index=0, audio_end_ms=end)

            speaking = asyncio.create_task(speak())
            async for event in connection:
                events.append(event)
                if event.type == "error":
                    break
            await speaking
    return events


@SDK
def test_the_vendors_client_holds_a_realtime_talk_with_the_facade() -> None:
    events = asyncio.run(_with_sdk_realtime())
    names = [event.type for event in events]
    assert names[:2] == ["session.created", "session.updated"]
    assert 15 < names.count("response.output_audio.delta") < 15 + 100
    ended = [event.response.status for event in events if event.type == "response.done"]
    assert ended == ["completed", "cancelled"]
    assert events[1].session.audio.output.voice == "cedar"
    assert "input_audio_buffer.speech_started" in names
    # It takes what was heard, and refuses more than it sent.
    assert names[-2:] == ["conversation.item.truncated", "error"]
    assert "already shorter" in events[-1].error.message


async def _with_sdk_live() -> tuple[list[Any], list[Any]]:
    import openai

    primary: list[Any] = []
    aside: list[Any] = []
    async with serve(facade_of("gpt-live"), SPEAKS) as port:
        client = openai.AsyncOpenAI(api_key="sk-test", websocket_base_url=f"ws://127.0.0.1:{port}/v1")
        async with client.live.connect() as connection:
            await connection.session.start(session=LIVE)  # type: ignore[arg-type]
            primary.append(await connection.recv())
            async with client.live.sideband.connect(session_id=primary[0].session.id) as sideband:

                async def look_on() -> None:
                    async for event in sideband:
                        aside.append(event)

                looking = asyncio.create_task(look_on())
                for _ in range(30):
                    await connection.session.input_audio.append(audio=text_of(bytes(960)))
                    await asyncio.sleep(0.02)
                await connection.session.close()
                async for event in connection:
                    primary.append(event)
                    if event.type == "session.closed":
                        break
                await asyncio.wait_for(looking, 5)
    return primary, aside


@SDK
def test_the_vendors_client_holds_a_live_talk_with_the_facade_and_its_sideband() -> None:
    primary, aside = asyncio.run(_with_sdk_live())
    assert primary[0].type == "session.started" and primary[0].session.model == "gpt-live-1"
    assert primary[-1].reason == "close_requested" and primary[-1].usage.seconds >= 0
    sound = [event for event in primary if event.type == "session.output_audio.delta"]
    reflected = [event for event in aside if event.type == "session.output_audio.delta"]
    assert len(sound) == len(reflected) >= 15
    assert all(event.start_ms is None for event in sound)
    assert all(a.end_ms <= b.start_ms + 1 for a, b in pairwise(reflected))
    assert sum(event.type == "session.input_audio.append" for event in aside) >= 25


if __name__ == "__main__":
    for one, how in zip(NAMES, (_realtime, _live), strict=True):
        for side, frames in (("client", asyncio.run(_recorded(how))), ("server", _written(one))):
            where = FIXTURES / one / f"{side}.jsonl"
            where.parent.mkdir(parents=True, exist_ok=True)
            where.write_text("".join(json.dumps(frame) + "\n" for frame in frames), "utf-8")
