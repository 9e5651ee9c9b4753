"""Gemini Live: the driver and the vendor's client against its facade, and what its server can do to a talk."""

from __future__ import annotations

import asyncio
import base64
import datetime
import ipaddress
import json
import ssl
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import BrokenTalk, Talk, Turn, drive
from fullduplex.driving.link import Note, Said, UserVad
from fullduplex.driving.observe import taken_back
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.plugins import make
from fullduplex.systems.gemini import GeminiLive
from fullduplex.systems.gemini.codec import Talking
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.gemini import WRONG_KEY, Turns, facade
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.watermark import stretches

#: Made by google-genai 3.6.1: what it sent, and what it writes of its own types of messages.
FIXTURES = Path(__file__).parent / "fixtures" / "gemini-live"
#: Base64 in the alphabet that is safe in URLs, in the usual one.
PLAIN = str.maketrans("-_", "+/")
SPEAKS = Utterance(ms(300), seconds(1), 40)
ASKED = GeminiLive(
    voice="Puck",
    language="en-US",
    temperature=0.5,
    thinking=0,
    word_times=True,
    start_sensitivity="high",
    end_sensitivity="low",
    prefix_padding_ms=20,
    silence_duration_ms=100,
    interrupts=False,
    coverage="all",
    compress=True,
)


def twin(behaviour: Behaviour, system: GeminiLive | None = None) -> FacedTwin:
    return FacedTwin(system or GeminiLive(), facade_of("gemini-live"), behaviour)


def talked(behaviour: Behaviour, length: int = seconds(2), prompt: str = "") -> Talk:
    return run_virtual(drive(twin(behaviour), (), length=length, prompt=prompt))


def broken(behaviour: Behaviour, system: GeminiLive | None = None) -> BrokenTalk:
    with pytest.raises(BrokenTalk) as error:
        run_virtual(drive(twin(behaviour, system), (), length=seconds(2)))
    return error.value


class Reading:
    """A wire from which some messages are read; what is sent is kept."""

    def __init__(self, messages: list[str | bytes]) -> None:
        self.messages, self.sent = messages, list[Any]()

    async def send(self, message: str | bytes) -> None:
        self.sent.append(json.loads(message))

    async def receive(self) -> str | bytes:
        if not self.messages:
            raise Gone("1000")
        return self.messages.pop(0)


def understood(*messages: Any) -> list[Any]:
    """Return the events of these messages, but for the end."""

    async def read() -> list[Any]:
        wire = Reading([m if isinstance(m, str | bytes) else json.dumps(m) for m in messages])
        return [event async for event in Talking(wire, {}, {})][:-1]

    return asyncio.run(read())


def content(**members: Any) -> dict[str, Any]:
    return {"serverContent": members}


def sound(samples: int = 240) -> dict[str, Any]:
    blob = {"mimeType": "audio/pcm;rate=24000", "data": base64.b64encode(bytes(2 * samples)).decode()}
    return content(modelTurn={"parts": [{"inlineData": blob}]})


# Conformance.


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(GeminiLive(), clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) == 19
    assert all(r.why for r in results if r.outcome == "not applicable")


def test_the_driver_passes_over_real_sockets() -> None:
    # Those that lean least on how busy the machine is; all of them are run by `fullduplex conform gemini-live`.
    found = conform(GeminiLive(), clocks=("wall",), cases=(9, 15, 18))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


# Turns and interruptions.


def test_what_comes_of_an_interrupted_turn_is_not_heard_and_the_next_turn_is() -> None:
    events = understood(sound(), content(interrupted=True), sound(), content(turnComplete=True), sound())
    flush = next(event for event in events if isinstance(event, Flush))
    covered = [flush.covers(event) for event in events if isinstance(event, Chunk)]
    assert covered == [True, True, False]


def test_an_interruption_takes_back_what_earlier_turns_have_queued() -> None:
    events = understood(sound(), content(turnComplete=True), sound(), content(interrupted=True))
    *chunks, flush = (event for event in events if isinstance(event, Chunk | Flush))
    assert isinstance(flush, Flush)
    assert [flush.covers(chunk) for chunk in chunks if isinstance(chunk, Chunk)] == [True, True]


def test_an_interruption_out_of_the_blue_takes_nothing_from_the_turn_that_follows() -> None:
    # python-genai issue 2333: right behind a turn's end, with no user sound at all.
    events = understood(sound(), content(turnComplete=True), content(interrupted=True), sound())
    first, flush, second = (event for event in events if isinstance(event, Chunk | Flush))
    assert isinstance(flush, Flush) and isinstance(first, Chunk) and isinstance(second, Chunk)
    assert (flush.covers(first), flush.covers(second)) == (True, False)


def test_an_interruption_by_the_user_ends_what_is_heard_at_its_moment() -> None:
    tone = (0.5 * np.cos(2 * np.pi * 300 * np.arange(8_000) / 16_000)).astype(np.float32)
    behaviour = Behaviour(say=(Utterance(ms(200), seconds(3), 7),), pace="burst", burst=40, flush="all", yields=ms(200))
    talk = run_virtual(drive(twin(behaviour), [Turn(tone, at(seconds(1)))], length=seconds(3)))
    (heard,) = stretches(talk.system, talk.rate)
    assert abs(heard.until - ms(1_200)) <= ms(21)
    assert taken_back(talk.placed) / talk.rate == pytest.approx(2.0, abs=0.03)


def test_that_all_was_generated_ends_nothing() -> None:
    talk = talked(Behaviour(say=(SPEAKS,), pace="burst", burst=50))
    (heard,) = stretches(talk.system, talk.rate)
    done = {note.kind: note.arrived for note in talk.notes if isinstance(note, Note)}
    assert done["generation_complete"] < heard.until - ms(900)
    # The server believes that it was played once it has been: a user of this client would agree.
    assert abs(done["turn_complete"] - heard.until) <= ms(25)


# What is understood.


def test_words_of_the_user_lie_on_the_servers_clock() -> None:
    words = [
        {"word": "good", "startOffset": "1.5s", "endOffset": "1.75s"},
        {"word": "day", "startOffset": "1.8s", "endOffset": "2s"},
    ]
    (said,) = understood(content(inputTranscription={"text": "good day", "words": words}))
    assert (said.who, said.text, said.source) == ("user", "good day", ms(1_500))
    assert said.words == (("good", 0, ms(250)), ("day", ms(300), ms(500)))


def test_words_of_the_system_carry_no_time_since_their_beginning_is_not_defined() -> None:
    words = [{"word": "hello", "startOffset": "0s", "endOffset": "0.2s"}]
    said, times = understood(content(outputTranscription={"text": "hello", "words": words}))
    assert isinstance(said, Said) and (said.source, said.words) == (None, ())
    assert isinstance(times, Note) and times.data["words"] == words


def test_speech_that_the_server_notices_is_told_with_its_time_in_either_spelling() -> None:
    events = understood(
        {"voiceActivity": {"voiceActivityType": "ACTIVITY_START", "audioOffset": "1.200s"}},
        {"voice_activity": {"voice_activity_type": "ACTIVITY_END", "audio_offset": "2.5s"}},
        {"voiceActivityDetectionSignal": {"vadSignalType": "VAD_SIGNAL_TYPE_SOS"}},
    )
    assert events == [UserVad(True, ms(1_200)), UserVad(False, ms(2_500)), UserVad(True)]


def test_a_rate_that_a_chunk_announces_is_the_rate_of_its_samples() -> None:
    blob = {"mimeType": "audio/pcm; rate=48000", "data": base64.b64encode(bytes(9_600)).decode()}
    events = understood(content(modelTurn={"parts": [{"inlineData": blob}]}), content(generationComplete=True))
    assert sum(len(event.samples) for event in events if isinstance(event, Chunk)) == 2_400


def test_a_rate_that_changes_in_the_middle_loses_no_sample() -> None:
    def said(rate: int) -> Any:
        sound = base64.b64encode(bytes(rate // 5)).decode()
        return content(modelTurn={"parts": [{"inlineData": {"mimeType": f"audio/pcm;rate={rate}", "data": sound}}]})

    events = understood(said(48_000), said(16_000), said(24_000), content(generationComplete=True))
    assert sum(len(event.samples) for event in events if isinstance(event, Chunk)) == 3 * 2_400


def test_an_offset_that_is_none_is_left_out() -> None:
    (vad,) = understood({"voiceActivity": {"voiceActivityType": "ACTIVITY_START", "audioOffset": "soon"}})
    assert vad == UserVad(True, None)


# What is asked.


def test_the_prompt_is_the_system_instruction_and_the_settings_are_kept() -> None:
    talk = talked(Behaviour(), prompt="You are brief.")
    assert talk.ready.settings["setup"]["systemInstruction"] == {"parts": [{"text": "You are brief."}]}
    assert talk.ready.settings["session"] == "facade"


def test_the_end_of_the_sound_is_told() -> None:
    async def held() -> list[Any]:
        wire = Reading(['{"setupComplete": {}}'])
        async with GeminiLive().over(wire, "") as talking:
            await talking.send(np.zeros(320, np.float32))
            await talking.finish()
        return wire.sent

    setup, frame, end = asyncio.run(held())
    assert list(setup) == ["setup"]
    assert frame["realtimeInput"]["audio"]["mimeType"] == "audio/pcm;rate=16000"
    assert end == {"realtimeInput": {"audioStreamEnd": True}}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"coverage": "some"}, "coverage"),
        ({"end_sensitivity": "huge"}, "end_sensitivity"),
        ({"model": "../../x<script>"}, "model"),
        ({"silence_duration_ms": -1}, "silence_duration_ms"),
        ({"proactive": True}, "v1alpha"),
        ({"word_times": True, "transcripts": False}, "word_times"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence(options: dict[str, Any], word: str) -> None:
    with pytest.raises(PluginError, match=word):
        make("systems", "gemini-live", options, Path())


# Keys.


def test_without_a_key_google_is_not_asked() -> None:
    with pytest.raises(ConversationError, match="GEMINI_API_KEY"):
        run_on("wall", drive(GeminiLive(), (), length=seconds(1)))


def test_a_key_travels_in_a_header_and_is_in_no_spec_and_no_repr(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("s3cret\n")
    for system in (GeminiLive(key="s3cret"), GeminiLive(key_file=str(file))):
        door = system.door("")
        assert door.headers == {"x-goog-api-key": "s3cret"} and "s3cret" not in door.url
        assert "s3cret" not in f"{system!r}{door!r}{system.spec}"
        assert system.spec == GeminiLive().spec


def test_a_key_file_that_holds_none_is_refused_and_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("my s3cret\nwords\n")
    with pytest.raises(InputError, match="in one line") as error:
        GeminiLive(key_file=str(file)).door("")
    assert "s3cret" not in str(error.value)


def test_a_wrong_key_is_refused_in_a_sentence_that_does_not_repeat_it() -> None:
    async def held() -> str:
        async with serve(facade({}), Behaviour()) as port:
            system = GeminiLive(url=f"ws://127.0.0.1:{port}", key=WRONG_KEY)
            with pytest.raises(ConversationError) as error:
                await drive(system, (), length=seconds(1))
            return str(error.value)

    why = run_on("wall", held())
    assert "API key not valid" in why and WRONG_KEY not in why


# Faults.


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"resets": ms(800)}, "reset"),
        ({"closes": ms(800), "reason": "deadline expired"}, "deadline expired"),
        ({"floods": ms(800)}, "ahead of time"),
    ],
)
def test_a_fault_in_mid_word_leaves_a_kept_talk_and_a_sentence(fault: dict[str, Any], word: str) -> None:
    error = broken(Behaviour(say=(SPEAKS,), **fault))
    assert word in str(error)
    assert error.talk is not None and stretches(error.talk.system, error.talk.rate)


def test_a_server_that_said_it_would_go_away_is_quoted_when_it_does() -> None:
    told = Sent(ms(400), '{"goAway": {"timeLeft": "0.4s"}}')
    error = broken(Behaviour(say=(SPEAKS,), resets=ms(800), messages=(told,)))
    assert "go away, 0.4s before" in str(error)
    assert error.talk is not None
    assert [n.data for n in error.talk.notes if isinstance(n, Note) and n.kind == "go_away"] == [{"time_left": "0.4s"}]


def test_a_server_that_answers_with_something_else_is_no_such_server() -> None:
    async def held() -> str:
        async with serve(facade({}), Behaviour()) as port:
            with pytest.raises(ConversationError) as error:
                await drive(GeminiLive(url=f"ws://127.0.0.1:{port}/elsewhere"), (), length=seconds(1))
            return str(error.value)

    assert "404" in run_on("wall", held())


def test_nobody_at_the_url_is_told_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="no server answers there"):
        run_on("wall", drive(GeminiLive(url="ws://127.0.0.1:9"), (), length=seconds(1)))


# The vendor's client.


def sdk() -> Any:
    pytest.importorskip("google.genai", reason="google-genai is not installed")
    from google import genai

    return genai


def sdk_config() -> Any:
    from google.genai import types

    return types.LiveConnectConfig.model_validate(
        {
            "response_modalities": ["AUDIO"],
            "temperature": 0.5,
            "speech_config": {
                "voice_config": {"prebuilt_voice_config": {"voice_name": "Puck"}},
                "language_code": "en-US",
            },
            "system_instruction": "Be brief.",
            "thinking_config": {"thinking_budget": 0},
            "input_audio_transcription": {"word_timestamp": True},
            "output_audio_transcription": {"word_timestamp": True},
            "realtime_input_config": {
                "automatic_activity_detection": {
                    "start_of_speech_sensitivity": "START_SENSITIVITY_HIGH",
                    "end_of_speech_sensitivity": "END_SENSITIVITY_LOW",
                    "prefix_padding_ms": 20,
                    "silence_duration_ms": 100,
                },
                "activity_handling": "NO_INTERRUPTION",
                "turn_coverage": "TURN_INCLUDES_ALL_INPUT",
            },
            "context_window_compression": {"sliding_window": {}},
        }
    )


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """Make an authority of our own for 127.0.0.1, and let clients trust it."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now, day = datetime.datetime.now(datetime.UTC), datetime.timedelta(days=1)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


def recording(sent: list[str | bytes]) -> Callable[[Behaviour], Turns]:
    """Return a dialect that keeps what the client sends."""

    class Recording(Turns):
        async def open(self, peer: Any, getting_ready: Any) -> None:
            first = await peer.receive()
            sent.append(first)
            peer.receive, usual = (lambda: _soon(first)), peer.receive
            await super().open(peer, getting_ready)
            peer.receive = usual

        def hears(self, message: str | bytes) -> list[Any]:
            sent.append(message)
            return super().hears(message)

    return Recording


async def _soon(message: Any) -> Any:
    return message


def held_by_the_sdk(context: ssl.SSLContext, behaviour: Behaviour, frames: int) -> tuple[list[Any], list[Any]]:
    """Return what the vendor's client received of a talk, and what it sent."""
    genai, sent, received = sdk(), list[Any](), list[Any]()
    from google.genai import types

    async def held() -> None:
        async with serve(replace(facade({}), dialect=recording(sent)), behaviour, ssl=context) as port:
            client = genai.Client(api_key="k", http_options={"base_url": f"https://127.0.0.1:{port}"})
            async with client.aio.live.connect(model=ASKED.model, config=sdk_config()) as session:
                received.append(session.session_id)

                async def read() -> None:
                    while True:
                        async for message in session.receive():
                            received.append(message)

                reading = asyncio.ensure_future(read())
                pcm = (np.arange(320) % 127 * 250 - 15_000).astype("<i2").tobytes()
                for _ in range(frames):
                    await session.send_realtime_input(audio=types.Blob(data=pcm, mime_type="audio/pcm;rate=16000"))
                    await asyncio.sleep(0.02)
                await session.send_realtime_input(audio_stream_end=True)
                await asyncio.sleep(0.2)
                reading.cancel()
                with suppress(asyncio.CancelledError):
                    await reading

    run_on("wall", held())
    return received, sent


def test_the_vendors_client_holds_a_talk_with_the_facade(tls: ssl.SSLContext) -> None:
    behaviour = Behaviour(
        say=(Utterance(ms(100), ms(400), 3), Utterance(ms(700), ms(400), 40)),
        pace="burst",
        flushes=((ms(450), None),),
        words=ms(400),
    )
    (session, *messages), _ = held_by_the_sdk(tls, behaviour, 70)
    pcm = b"".join(message.data or b"" for message in messages)
    contents = [message.server_content for message in messages if message.server_content]
    assert session == "facade"
    assert [
        s.source // ms(20) for s in stretches(np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(32_768), 24_000)
    ] == [3, 40]
    assert sum(bool(c.interrupted) for c in contents) == 1
    assert sum(bool(c.generation_complete) for c in contents) == 2
    assert sum(bool(c.turn_complete) for c in contents) == 2
    assert next(c.input_transcription.words[0].start_offset for c in contents if c.input_transcription) == "0.400000s"


def test_the_fixture_is_what_the_vendors_client_sends(tls: ssl.SSLContext) -> None:
    _, sent = held_by_the_sdk(tls, Behaviour(), 1)
    lines = (FIXTURES / "client.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(message) for message in sent] == [json.loads(line) for line in lines]


def test_we_ask_for_what_the_vendors_client_asks_for() -> None:
    first = json.loads((FIXTURES / "client.jsonl").read_text("utf-8").splitlines()[0])["setup"]
    first["systemInstruction"].pop("role")
    from fullduplex.systems.gemini.codec import _camel

    assert ASKED.setup("Be brief.") == _camel(first)


def test_the_facade_hears_what_the_vendors_client_says() -> None:
    _, frame, end = (FIXTURES / "client.jsonl").read_text("utf-8").splitlines()
    dialect = Turns(Behaviour())
    (heard,) = dialect.hears(frame)
    assert isinstance(heard, np.ndarray) and len(heard) == 320
    assert np.array_equal(np.rint(heard * 32_768), np.arange(320) % 127 * 250 - 15_000)
    assert dialect.hears(end) == [{"type": "finish"}]


def test_the_driver_understands_what_the_vendors_types_write() -> None:
    lines = (FIXTURES / "server.jsonl").read_text("utf-8").splitlines()
    events = [understood(line) for line in lines]
    kinds = [[event.kind if isinstance(event, Note) else type(event).__name__ for event in found] for found in events]
    assert kinds == [
        ["setup_complete"],
        ["Chunk"],
        ["Said"],
        ["Said"],
        ["Flush"],
        ["generation_complete"],
        ["turn_complete", "usage"],
        ["UserVad"],
        ["UserVad"],
        ["go_away"],
        ["session_resumption"],
    ]


def test_the_fixture_of_the_server_is_what_the_vendors_types_write() -> None:
    sdk()
    written = [json.loads(line) for line in server_lines()]
    kept = [json.loads(line) for line in (FIXTURES / "server.jsonl").read_text("utf-8").splitlines()]
    assert written == kept


def server_lines() -> list[str]:
    """Return messages of the server as the vendor's types write them."""
    from google.genai import types

    pcm = np.arange(-240, 240).astype("<i2").tobytes()
    blob = {"data": pcm, "mime_type": "audio/pcm;rate=24000"}
    word = {"word": "hello", "start_offset": "0.4s", "end_offset": "0.6s"}
    told: list[dict[str, Any]] = [
        {"setup_complete": {"session_id": "s"}},
        {"server_content": {"model_turn": {"role": "model", "parts": [{"inline_data": blob}]}}},
        {"server_content": {"output_transcription": {"text": "hello"}}},
        {"server_content": {"input_transcription": {"text": "hello", "words": [word]}}},
        {"server_content": {"interrupted": True}},
        {"server_content": {"generation_complete": True}},
        {"server_content": {"turn_complete": True}, "usage_metadata": {"total_token_count": 5}},
        {"voice_activity": {"voice_activity_type": "ACTIVITY_START", "audio_offset": "1.5s"}},
        {"voice_activity_detection_signal": {"vad_signal_type": "VAD_SIGNAL_TYPE_EOS"}},
        {"go_away": {"time_left": "50s"}},
        {"session_resumption_update": {"new_handle": "h", "resumable": True}},
    ]
    made = [types.LiveServerMessage.model_validate(members) for members in told]
    return [message.model_dump_json(exclude_none=True, by_alias=True) for message in made]


def test_the_vendors_types_read_what_the_facade_writes() -> None:
    sdk()
    from google.genai import types

    from fullduplex.testing.facades import Spoken

    async def written() -> list[str | bytes]:
        dialect = Turns(Behaviour())
        pcm = np.arange(-240, 240).astype("<i2").tobytes()
        return [
            *dialect.says(Spoken(pcm, 1, 1, 0, True)),
            *dialect.says({"type": "flush", "scope": None}),
            *dialect.says({"type": "said", "text": "hello", "source": 0.4}),
            *dialect.says({"type": "close", "reason": "x"}),
        ]

    for message in asyncio.run(written()):
        told = json.loads(message)
        read = types.LiveServerMessage.model_validate(told)
        # Nothing that is written is unknown to the vendor's types.
        assert json.loads(read.model_dump_json(exclude_none=True, by_alias=True).translate(PLAIN)) == told


def test_the_spec_tells_what_is_asked_and_not_where() -> None:
    assert GeminiLive(url="ws://127.0.0.1:1", verify=False).spec == Spec("gemini-live", {"model": ASKED.model}, "1")
    assert ASKED.spec.options["coverage"] == "all"
