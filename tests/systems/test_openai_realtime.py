"""OpenAI's Realtime API, against its facade: over sockets, in memory, and word by word."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from io import BytesIO
from typing import Any

import numpy as np
import pytest
import soundfile

from fullduplex.driving.clock import run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.link import Closed, Happening, Note, Position, Said
from fullduplex.driving.observe import receive_factor
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.systems.openai import Realtime
from fullduplex.systems.openai.presets import PRESETS
from fullduplex.systems.openai.sound import Voice, alaw_decoded, alaw_encoded, announced, encoded, text_of
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.openai import LIMITED_KEY, WRONG_KEY
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.watermark import BLOCK, stretches

SILENCE = text_of(bytes(4_800))
TONE = (0.5 * np.cos(2 * np.pi * 300 * np.arange(14_400) / 24_000)).astype(np.float32)


def twin(behaviour: Behaviour, **options: Any) -> tuple[FacedTwin, list[Any]]:
    system, reports = Realtime(**options), list[Any]()
    return FacedTwin(system, facade_of("openai-realtime", system.spec.options), behaviour, reports.append), reports


def held(behaviour: Behaviour, *turns: Turn, length: int = seconds(3), **options: Any) -> tuple[Talk, Any]:
    system, reports = twin(behaviour, **options)
    talk = run_on("virtual", drive(system, turns, length=length, prompt="Be brief."))
    return talk, reports[0]


# Conformance.


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(Realtime(), clocks=["virtual"])
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(result.outcome == "passed" for result in results) == 18
    assert all(result.why for result in results if result.outcome == "not applicable")


def test_the_driver_passes_over_real_sockets() -> None:
    results = conform(Realtime(), cases=[4, 18, 26])
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "xai", "rate": 16_000},
        {"preset": "qwen"},
        {"preset": "glm"},
        {"preset": "azure-voice-live", "model": "m", "turn_detection": "azure_semantic_vad"},
        {"preset": "azure", "model": "deployment", "input_format": "pcmu", "output_format": "pcma"},
    ],
    ids=lambda options: options["preset"],
)
def test_other_vendors_forms_pass_too(options: dict[str, Any]) -> None:
    results = conform(Realtime(**options), clocks=["virtual"], cases=[4, 19])
    assert [(r.number, r.outcome, r.why) for r in results if r.outcome != "passed"] == []


# Flush and truncation.


def spoken(lengths: tuple[int, ...], **more: Any) -> Behaviour:
    said = tuple(Utterance(ms(200) + n * ms(50), length, 100 * n) for n, length in enumerate(lengths))
    return Behaviour(say=said, pace="burst", burst=80, flush="id", **more)


class Truncated:
    """What the server answered to each truncation."""

    def __init__(self, talk: Talk) -> None:
        self.told = [note.data for note in talk.notes if isinstance(note, Note) and note.kind == "truncated"]
        self.errors = [note.data for note in talk.notes if isinstance(note, Note) and note.kind == "error"]


def test_the_server_is_told_how_much_was_heard() -> None:
    talk, report = held(spoken((seconds(2),), flushes=((seconds(1), None),)))
    (heard,) = stretches(talk.system, talk.rate)
    (told,) = Truncated(talk).told
    assert told["item_id"] == "item_1"
    assert told["audio_end_ms"] == heard.duration // 1_000
    assert not Truncated(talk).errors and report["acks_beyond"] == 0


def test_what_was_queued_and_never_heard_is_truncated_to_nothing() -> None:
    talk, _ = held(spoken((seconds(1), seconds(1)), flushes=((ms(700), None),)))
    assert [event.scope for event in talk.received if isinstance(event, Flush)] == ["resp_1", "resp_2"]
    assert {told["item_id"]: told["audio_end_ms"] for told in Truncated(talk).told} == {"item_1": 500, "item_2": 0}
    assert len(stretches(talk.system, talk.rate)) == 1


def test_a_vendor_who_takes_no_truncation_is_sent_none() -> None:
    talk, report = held(spoken((seconds(2),), flushes=((seconds(1), None),)), preset="qwen")
    assert any(isinstance(event, Flush) for event in talk.received)
    assert report["acks"] == 0 and not Truncated(talk).errors


def test_what_was_heard_to_its_end_is_not_truncated() -> None:
    talk, report = held(spoken((ms(333),), flushes=((seconds(1), None),)))
    assert sum(isinstance(event, Flush) for event in talk.received) == 1
    assert not Truncated(talk).told and report["acks"] == 0


def test_speech_while_nothing_was_said_takes_nothing_back() -> None:
    talk, report = held(Behaviour(flushes=((ms(200), None),)), length=ms(500))
    assert [event.scope for event in talk.received if isinstance(event, Flush)] == [None]
    assert report["acks"] == 0


def test_late_deltas_of_a_cancelled_response_are_not_heard_and_the_next_response_is() -> None:
    said = (Utterance(ms(200), seconds(2), 0), Utterance(ms(1_500), ms(400), 500))
    talk, _ = held(Behaviour(say=said, pace="burst", burst=4, flush="id", flushes=((ms(400), None),), late=4))
    assert sum(part.late for part in talk.placed) == 4
    last = stretches(talk.system, talk.rate)[-1]
    assert (last.source, last.duration) == (500 * BLOCK, ms(400))


def test_a_response_that_was_cancelled_before_its_first_sound_is_not_heard() -> None:
    created = {"type": "response.created", "response": {"id": "resp_9"}}
    started = {"type": "input_audio_buffer.speech_started", "audio_start_ms": 1}
    delta = {
        "type": "response.output_audio.delta",
        "response_id": "resp_9",
        "item_id": "i",
        "delta": text_of(bytes(9_600)),
    }
    messages = tuple(Sent(ms(100 + n), json.dumps(told)) for n, told in enumerate((created, started, delta)))
    talk, _ = held(Behaviour(messages=messages), length=seconds(1))
    assert [(part.late, part.played) for part in talk.placed] == [(True, 0)]


def test_without_interrupt_response_everything_is_heard() -> None:
    talk, report = held(spoken((seconds(1),), flushes=((ms(500), None),)), interrupt_response=False, length=seconds(2))
    assert not any(isinstance(event, Flush) for event in talk.received) and report["acks"] == 0
    (heard,) = stretches(talk.system, talk.rate)
    assert heard.duration == seconds(1)


def test_a_buffer_that_the_server_says_is_cleared_is_taken_back() -> None:
    cleared = Sent(ms(600), '{"type": "output_audio_buffer.cleared", "event_id": "e", "response_id": "resp_1"}')
    talk, _ = held(replace(spoken((seconds(1),)), messages=(cleared,)), interrupt_response=False, length=seconds(2))
    (heard,) = stretches(talk.system, talk.rate)
    assert heard.duration == ms(400)


def test_the_user_who_interrupts_is_answered_within_what_is_said() -> None:
    behaviour = Behaviour(
        say=(Utterance(ms(200), seconds(2), 0),), yields=ms(200), flush="id", pace="burst", answer=ms(300)
    )
    talk, report = held(behaviour, Turn(TONE, at(seconds(1))), length=seconds(4))
    first, second = stretches(talk.system, talk.rate)
    assert abs(first.until - ms(1_200)) <= ms(20)
    assert abs(second.at - ms(1_900)) <= ms(20)
    assert report["acks_beyond"] == 0 and len(Truncated(talk).told) == 1
    assert abs((receive_factor(talk.received, talk.rate) or 0) - 8) < 0.5


# What is kept.


def test_the_session_that_the_server_tells_is_kept_with_the_talk() -> None:
    talk, _ = held(Behaviour(), length=ms(100), turn_detection="semantic_vad", eagerness="low", voice="cedar")
    session = talk.ready.settings["session"]
    assert session["instructions"] == "Be brief."
    assert session["audio"]["input"]["turn_detection"]["eagerness"] == "low"
    # What was not asked for is the server's.
    assert session["audio"]["input"]["turn_detection"]["prefix_padding_ms"] == 300
    assert session["audio"]["output"]["voice"] == "cedar"
    assert talk.ready.settings["asked"]["audio"]["input"]["turn_detection"] == {
        "type": "semantic_vad",
        "eagerness": "low",
    }


def test_usage_and_rate_limits_are_notes() -> None:
    talk, _ = held(spoken((ms(200),)), length=ms(600))
    notes = {note.kind: note.data for note in talk.notes if isinstance(note, Note)}
    assert notes["response.done"]["usage"]["output_tokens"] == 20
    assert notes["rate_limits"]["limits"][0]["name"] == "tokens"


class Script:
    """A wire whose other side says what it was given."""

    def __init__(self, *frames: Any) -> None:
        self.frames, self.heard = list(frames), list[Any]()

    async def send(self, message: str | bytes) -> None:
        self.heard.append(json.loads(message))

    async def receive(self) -> str | bytes:
        if not self.frames:
            raise Gone("1000 bye")
        frame = self.frames.pop(0)
        return frame if isinstance(frame, str | bytes) else json.dumps(frame)


def taken(system: Realtime, *frames: Any, send: int = 0) -> tuple[Script, list[Happening], Any]:
    async def take() -> tuple[Script, list[Happening], Any]:
        wire = Script(*frames)
        async with system.over(wire, "") as link:
            for _ in range(send):
                await link.send(np.zeros(480, np.float32))
            return wire, [event async for event in link], link

    return asyncio.run(take())


CREATED, UPDATED = {"type": "session.created", "session": {}}, {"type": "session.updated", "session": {}}


def test_sound_is_in_the_format_that_the_session_announces() -> None:
    announces = {"audio": {"output": {"format": {"type": "audio/pcmu"}}}}
    sound = (0.4 * np.sin(np.arange(1_600) / 5)).astype(np.float32)
    data = encoded("pcmu", sound)
    frames = [
        {"type": "response.output_audio.delta", "response_id": "r", "item_id": "i", "delta": text_of(data[n : n + 400])}
        for n in range(0, len(data), 400)
    ]
    done = {"type": "response.done", "response": {"id": "r"}}
    _, events, link = taken(Realtime(), CREATED, {"type": "session.updated", "session": announces}, *frames, done)
    assert link.ready.settings["resampled"]
    chunks = [event.samples for event in events if isinstance(event, Chunk)]
    assert sum(map(len, chunks)) == 3 * 1_600


def test_a_session_that_would_hear_another_format_is_left() -> None:
    announces = {"audio": {"input": {"format": {"type": "audio/pcma"}}}}
    with pytest.raises(ConversationError, match="another format"):
        taken(Realtime(), CREATED, {"type": "session.updated", "session": announces})


@pytest.mark.parametrize(
    ("told", "found"),
    [
        (None, ("pcm16", 24_000)),
        ({"type": "audio/pcm"}, ("pcm16", 24_000)),
        ({"type": "audio/pcm", "rate": 16_000}, ("pcm16", 16_000)),
        ("pcm16_8000hz", ("pcm16", 8_000)),
        ("g711_alaw", ("pcma", 8_000)),
    ],
)
def test_a_format_has_the_names_that_vendors_give_it(told: Any, found: Any) -> None:
    assert announced(told, ("pcm16", 24_000)) == found


@pytest.mark.parametrize("told", ["opus", {"type": "audio/pcm", "rate": 1}, {"type": 5}])
def test_a_format_that_nobody_knows_is_no_sound(told: Any) -> None:
    with pytest.raises(ConversationError):
        announced(told, ("pcm16", 24_000))


def test_a_text_that_came_in_pieces_is_not_told_twice() -> None:
    place = {"response_id": "r", "item_id": "i", "content_index": 0}
    frames = (
        {"type": "response.audio_transcript.delta", **place, "delta": "Good "},
        {"type": "response.audio_transcript.delta", **place, "delta": "day."},
        {"type": "response.audio_transcript.done", **place, "transcript": "Good day."},
        {"type": "response.audio_transcript.done", **place | {"item_id": "j"}, "transcript": "And bye."},
    )
    _, events, _ = taken(Realtime(), CREATED, UPDATED, *frames)
    assert [event.text for event in events if isinstance(event, Said)] == ["Good ", "day.", "And bye."]


def test_events_in_binary_frames_are_events() -> None:
    delta = json.dumps({"type": "response.text.delta", "delta": "Hello."}).encode()
    _, events, _ = taken(Realtime(), CREATED, UPDATED, delta)
    assert [event.text for event in events if isinstance(event, Said)] == ["Hello."]


def test_a_talk_that_begins_with_the_conversation_begins() -> None:
    wire, events, _ = taken(Realtime(preset="xai"), {"type": "conversation.created"}, UPDATED)
    assert [event["type"] for event in wire.heard] == ["session.update"]
    assert isinstance(events[-1], Closed)


def test_a_session_that_is_refused_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="refused the session: No voice 'x'") as refused:
        taken(Realtime(), CREATED, {"type": "error", "error": {"message": "No voice 'x'.\n"}})
    assert "\n" not in str(refused.value)


def test_the_limit_of_a_session_is_told_where_it_was_reached() -> None:
    system = Realtime()
    assert system.traits.longest == seconds(3_600)

    async def take(came: int) -> str:
        async with system.over(Script(CREATED, UPDATED), "") as link:
            link._sent = came
            (closed,) = [event async for event in link if isinstance(event, Closed)]
            return closed.reason

    assert "limit of 3600 s was reached" in asyncio.run(take(3_599 * 24_000))
    assert asyncio.run(take(1_800 * 24_000)) == "1000 bye"


# Options.


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"preset": "opnai"}, "preset"),
        ({"turn_detection": "vad"}, "turn_detection"),
        ({"turn_detection": "semantic_vad", "threshold": 0.5}, "threshold"),
        ({"eagerness": "low"}, "eagerness"),
        ({"threshold": 2}, "0 to 1"),
        ({"input_format": "opus"}, "input_format"),
        ({"preset": "qwen", "output_format": "pcmu"}, "output_format"),
        ({"rate": 16_000}, "24000"),
        ({"extra": "[1]"}, "extra"),
        ({"ready_within": 0}, "ready_within"),
        ({"url": "ftp://x"}, "url"),
        ({"url": "wss://me:secret@host/v1"}, "key_file"),
        ({"url": "wss://host/v1?api_key=sk-1"}, "key_file"),
        ({"voice": "a\x1b[31m"}, "voice"),
        ({"speed": "fast"}, "speed"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Any, options: Any, word: str) -> None:
    with pytest.raises((PluginError, InputError)) as refused:
        build(Spec("openai-realtime", options), tmp_path)
    assert word in str(refused.value) and "secret" not in str(refused.value) and "sk-1" not in str(refused.value)


def test_options_that_are_not_given_are_left_to_the_server() -> None:
    assert Realtime().session("")["audio"]["input"] == {
        "format": {"type": "audio/pcm", "rate": 24_000},
        "turn_detection": {"type": "server_vad"},
    }


def test_no_turn_detection_is_asked_for_as_null() -> None:
    session = Realtime(turn_detection="none").session("")
    assert session["audio"]["input"]["turn_detection"] is None


def test_the_flat_session_has_the_flat_names() -> None:
    session = Realtime(preset="qwen", voice="Cherry", silence_duration_ms=800).session("Be brief.")
    assert session == {
        "modalities": ["text", "audio"],
        "input_audio_format": "pcm",
        "output_audio_format": "pcm",
        "turn_detection": {"type": "server_vad", "silence_duration_ms": 800},
        "voice": "Cherry",
        "instructions": "Be brief.",
    }


def test_what_is_extra_is_laid_over_the_session() -> None:
    session = Realtime(extra='{"audio": {"output": {"speed": 1.1}}, "truncation": "disabled"}').session("")
    assert session["audio"]["output"] == {"format": {"type": "audio/pcm", "rate": 24_000}, "speed": 1.1}
    assert session["truncation"] == "disabled"


def test_the_address_is_the_bases_and_its_name_is_either() -> None:
    assert Realtime(base_url="https://host/openai/v1", model="m").door("").url == (
        "wss://host/openai/v1/realtime?model=m"
    )
    assert Realtime(url="ws://127.0.0.1:1/realtime", model="m").door("").url == "ws://127.0.0.1:1/realtime?model=m"


def test_the_spec_tells_what_is_asked_and_not_where() -> None:
    assert Realtime(url="ws://127.0.0.1:1").spec == Realtime().spec
    assert Realtime(threshold=0.4).spec != Realtime().spec
    assert Realtime(interrupt_response=False).spec.digest != Realtime().spec.digest


# Keys.


def test_without_a_key_the_vendor_is_not_asked() -> None:
    async def connect() -> None:
        async with Realtime().connect(""):
            pass

    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        asyncio.run(connect())


def test_each_preset_names_the_variable_of_its_key() -> None:
    assert Realtime.key_name({}) == "OPENAI_API_KEY"
    assert {Realtime.key_name({"preset": preset}) for preset in PRESETS} >= {"XAI_API_KEY", "DASHSCOPE_API_KEY"}


def test_a_key_within_a_spec_is_refused_since_a_spec_is_kept(tmp_path: Any) -> None:
    with pytest.raises(InputError, match="OPENAI_API_KEY") as refused:
        build(Spec("openai-realtime", {"key": "sk-secret"}), tmp_path)
    assert "sk-secret" not in str(refused.value)


def test_a_key_that_the_caller_has_is_handed_in_but_for_a_file_of_its_own(tmp_path: Any) -> None:
    keys = {"OPENAI_API_KEY": "sk-theirs", "XAI_API_KEY": "sk-other"}
    (tmp_path / "key").write_text("sk-mine")
    theirs: Any = build(Spec("openai-realtime"), tmp_path, keys=keys)
    assert dict(theirs.door("").headers) == {"Authorization": "Bearer sk-theirs"}
    mine: Any = build(Spec("openai-realtime", {"key_file": str(tmp_path / "key")}), tmp_path, keys=keys)
    assert dict(mine.door("").headers) == {"Authorization": "Bearer sk-mine"}
    other: Any = build(Spec("openai-realtime", {"preset": "xai"}), tmp_path, keys=keys)
    assert dict(other.door("").headers) == {"Authorization": "Bearer sk-other"}


def test_a_key_travels_in_a_header_and_is_in_no_spec_and_no_repr(tmp_path: Any) -> None:
    file = tmp_path / "key"
    file.write_text("sk-secret\n")
    for system in (Realtime(key="sk-secret"), Realtime(key_file=str(file))):
        assert dict(system.door("").headers) == {"Authorization": "Bearer sk-secret"}
        assert "sk-secret" not in repr(system) + str(system.spec) + repr(system.door(""))
    azure = Realtime(preset="azure", url="https://host/openai/v1", key="sk-secret")
    assert dict(azure.door("").headers) == {"api-key": "sk-secret"}


def test_a_key_does_not_travel_unencrypted_to_another_machine() -> None:
    assert not Realtime(url="ws://example.org/v1", key="sk-secret").door("").headers
    assert Realtime(url="ws://127.0.0.1:1/v1", key="sk-secret").door("").headers


@asynccontextmanager
async def at_facade(behaviour: Behaviour = Behaviour(), **options: Any) -> AsyncIterator[Realtime]:  # noqa: B008
    async with serve(facade_of("openai-realtime"), behaviour) as port:
        yield Realtime(url=f"ws://127.0.0.1:{port}/v1", **options)


@pytest.mark.parametrize(
    ("key", "words"),
    [(WRONG_KEY, ("HTTP 401", "refuses the key")), (LIMITED_KEY, ("HTTP 429", "quota"))],
)
def test_a_key_that_is_refused_is_told_in_a_sentence_that_does_not_repeat_it(key: str, words: tuple[str, ...]) -> None:
    async def talk() -> None:
        async with at_facade(key=key) as system:
            await drive(system, (), length=seconds(1))

    with pytest.raises(ConversationError) as refused:
        asyncio.run(talk())
    told = str(refused.value)
    assert all(word in told for word in words) and key not in told and "\n" not in told


def test_a_key_that_an_error_event_repeats_is_in_no_note() -> None:
    error = {"type": "error", "error": {"message": "Incorrect API key provided: sk-secret."}}
    _, events, _ = taken(Realtime(key="sk-secret"), CREATED, UPDATED, error)
    assert "sk-secret" not in repr(events) and "[key]" in repr(events)


# Faults.

TALKS = Behaviour(say=(Utterance(ms(100), seconds(3), 9),), pace="burst")


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"resets": ms(600)}, "broke off"),
        ({"closes": ms(600), "reason": "Your session hit the maximum duration of 60 minutes."}, "60 minutes"),
        ({"floods": ms(300)}, "ahead of time"),
    ],
)
def test_a_fault_in_mid_word_leaves_a_kept_talk_and_a_sentence(fault: dict[str, Any], word: str) -> None:
    async def talk() -> None:
        async with at_facade(replace(TALKS, **fault)) as system:
            await drive(system, (), length=seconds(2))

    with pytest.raises(BrokenTalk) as broken:
        asyncio.run(talk())
    assert word in str(broken.value) and "\n" not in str(broken.value)
    assert broken.value.talk is not None
    # A flood keeps this process, in which the server is too, from anything else.
    assert stretches(broken.value.talk.system, 24_000) or "floods" in fault


def test_nobody_at_the_url_is_told_in_a_sentence() -> None:
    async def connect() -> None:
        async with Realtime(url="ws://127.0.0.1:9").connect(""):
            pass

    with pytest.raises(ConversationError, match="realtime API"):
        asyncio.run(connect())


def test_an_error_that_ends_no_talk_is_a_note() -> None:
    sent = Sent(ms(200), '{"type": "error", "error": {"code": "server_error", "message": "Try again."}}')
    talk, _ = held(Behaviour(messages=(sent,)), length=ms(500))
    (note,) = (note for note in talk.notes if isinstance(note, Note))
    assert (note.kind, note.data["message"]) == ("error", "Try again.")


# A-law.


def test_a_law_is_read_as_libsndfile_reads_it() -> None:
    codes = bytes(range(256))
    read, _ = soundfile.read(
        BytesIO(codes), channels=1, samplerate=8_000, format="RAW", subtype="ALAW", dtype="float32"
    )
    assert (alaw_decoded(codes) == read).all()
    assert alaw_encoded(alaw_decoded(codes)) == codes


def test_a_law_is_written_as_libsndfile_writes_it_but_for_ties() -> None:
    """Below zero a multiple of 16 lies on an edge: G.191 takes the step nearer to zero."""
    values = np.arange(-32_768, 32_768, dtype=np.int16)
    file = BytesIO()
    soundfile.write(file, values, 8_000, format="RAW", subtype="ALAW")
    differ = np.frombuffer(alaw_encoded((values / 32_768).astype(np.float32)), np.uint8) != np.frombuffer(
        file.getvalue(), np.uint8
    )
    assert (values[differ] < 0).all() and (values[differ] % 16 == 0).all()


def test_a_voice_at_another_rate_keeps_its_length() -> None:
    voice = Voice("pcma", 8_000, 24_000)
    made = [voice.take(alaw_encoded(np.zeros(100, np.float32))) for _ in range(8)]
    assert sum(map(len, made)) + len(voice.end()) == 3 * 800


def test_the_position_of_an_utterance_is_never_beyond_what_came() -> None:
    async def take() -> Script:
        delta = {
            "type": "response.output_audio.delta",
            "response_id": "r",
            "item_id": "i",
            "delta": text_of(bytes(4_800)),
        }
        started = {"type": "input_audio_buffer.speech_started", "audio_start_ms": 0}
        wire = Script(CREATED, UPDATED, delta, started)
        async with Realtime().over(wire, "") as link:
            async for event in link:
                if isinstance(event, Flush):
                    await link.heard(Position(0, "r", seconds(9)))
        return wire

    assert not [told for told in asyncio.run(take()).heard if told["type"] == "conversation.item.truncate"]
