"""Voices behind a server, against real servers on this machine that speak the documented JSON."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.model.spans import SECOND, Span, ms
from fullduplex.providers.voices import remote
from fullduplex.providers.voices.elevenlabs import ElevenLabs
from fullduplex.providers.voices.openai import OpenAI

pytest.importorskip("httpx", reason="httpx is not installed")
RATE = 24_000
KEY = "secret-of-nobody"


def tone(length: int) -> Any:
    return (8000 * np.sin(np.arange(length * RATE // SECOND) * 0.2)).astype("<i2")


class Server:
    """A server that answers what it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, bytes]] = []
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                status, content = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        if not self.thread.is_alive():
            return
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("fullduplex.providers.voices.remote.time.sleep", lambda _: None)
    one = Server()
    yield one
    one.close()


def with_timestamps(alignment: Any) -> bytes:
    sound = base64.b64encode(tone(ms(1000)).tobytes()).decode()
    return json.dumps({"audio_base64": sound, "alignment": alignment, "normalized_alignment": None}).encode()


def aligned(text: str) -> dict[str, Any]:
    """Each character takes 100 ms."""
    return {
        "characters": list(text),
        "character_start_times_seconds": [i / 10 for i in range(len(text))],
        "character_end_times_seconds": [(i + 1) / 10 for i in range(len(text))],
    }


def wav(length_known: bool = True) -> bytes:
    import soundfile

    file = io.BytesIO()
    soundfile.write(file, tone(ms(500)), RATE, format="WAV", subtype="PCM_16")
    content = bytearray(file.getvalue())
    if not length_known:
        content[4:8] = content[40:44] = b"\xff\xff\xff\xff"
    return bytes(content)


def test_elevenlabs_characters_become_words(server: Server) -> None:
    server.answers = [(200, with_timestamps(aligned("Go on, now")))]
    spoken = ElevenLabs("abc", base_url=server.url, key=KEY).speak("Go on, now")
    assert spoken.words_from == "synthesiser" and spoken.rate == RATE
    shift = ms(1000) - spoken.duration  # a sine begins with a sample that is not audible
    assert shift < ms(2)
    assert spoken.words is not None and [w.text for w in spoken.words] == ["Go", "on,", "now"]
    assert abs(spoken.words[1].span.start - ms(300)) < ms(2) and abs(spoken.words[1].span.end - ms(600)) < ms(2)


def test_elevenlabs_is_asked_as_documented(server: Server) -> None:
    server.answers = [(200, with_timestamps(aligned("Go")))]
    ElevenLabs("a/b c", model="m", seed=7, base_url=server.url, key=KEY).speak("Go")
    path, headers, body = server.asked[0]
    assert path == "/v1/text-to-speech/a%2Fb%20c/with-timestamps?output_format=pcm_24000"
    assert headers["xi-api-key"] == KEY
    assert body == {"text": "Go", "model_id": "m", "seed": 7}


def test_elevenlabs_is_asked_for_the_settings_that_are_given_and_for_no_other(server: Server) -> None:
    server.answers = [(200, with_timestamps(aligned("Go")))]
    voice = ElevenLabs("a", base_url=server.url, stability=0.5, similarity=0.75, style=0.4, speaker_boost=True)
    voice.speak("Go")
    assert server.asked[0][2]["voice_settings"] == {
        "stability": 0.5, "similarity_boost": 0.75, "style": 0.4, "use_speaker_boost": True,
    }  # fmt: skip
    assert voice.spec.options["similarity"] == 0.75 and "speed" not in voice.spec.options
    assert "stability" not in ElevenLabs("a").spec.options


@pytest.mark.parametrize(
    "given", [{"stability": 1.01}, {"similarity": -0.01}, {"style": True}, {"speed": 0.69}, {"speaker_boost": 1}]
)
def test_a_setting_that_elevenlabs_does_not_have_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(given))):
        ElevenLabs("a", **given)


def test_elevenlabs_without_alignment_has_no_words(server: Server) -> None:
    server.answers = [(200, with_timestamps(None))]
    spoken = ElevenLabs("abc", base_url=server.url).speak("Go")
    assert spoken.words is None and spoken.words_from == ""


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[]",
        b"\xff",
        b'{"audio_base64": "??"}',
        b'{"audio_base64": "AAAA", "alignment": {"characters": ["a"]}}',
    ],
)
def test_what_is_no_speech_with_timestamps_is_refused_in_a_sentence(server: Server, content: bytes) -> None:
    server.answers = [(200, content)]
    with pytest.raises(PluginError, match="no speech with timestamps"):
        ElevenLabs("abc", base_url=server.url).speak("Go")


@pytest.mark.parametrize("length_known", [True, False])
def test_openai_sends_wav_also_with_an_open_length(server: Server, length_known: bool) -> None:
    server.answers = [(200, wav(length_known))]
    spoken = OpenAI(base_url=f"{server.url}/v1/", key=KEY).speak("Go on")
    assert spoken.words is None and spoken.rate == RATE
    assert abs(spoken.duration - ms(500)) < ms(2)


def test_openai_is_asked_as_documented(server: Server) -> None:
    server.answers = [(200, wav())]
    OpenAI("echo", "m", "softly", 1.5, f"{server.url}/v1", key=KEY).speak("Go on")
    path, headers, body = server.asked[0]
    assert path == "/v1/audio/speech" and headers["authorization"] == f"Bearer {KEY}"
    assert body == {
        "model": "m", "input": "Go on", "voice": "echo", "response_format": "wav", "speed": 1.5,
        "instructions": "softly",
    }  # fmt: skip


def test_openai_that_sends_no_audio_is_refused_in_a_sentence(server: Server) -> None:
    server.answers = [(200, b"<html>")]
    with pytest.raises(PluginError, match="6 bytes that are no audio"):
        OpenAI(base_url=server.url).speak("Go on")


def test_a_busy_server_is_asked_again(server: Server) -> None:
    server.answers = [(429, b"later"), (503, b"later"), (200, wav())]
    assert OpenAI(base_url=server.url).speak("Go on").duration > 0
    assert len(server.asked) == 3


def test_a_refusal_is_not_asked_again_and_the_key_is_not_shown(server: Server) -> None:
    server.answers = [(401, f"the key {KEY} is wrong\x1b[31m".encode())]
    with pytest.raises(PluginError, match="answered 401: the key … is wrong") as caught:
        OpenAI(base_url=server.url, key=KEY).speak("Go on")
    assert len(server.asked) == 1 and KEY not in str(caught.value) and "\x1b" not in str(caught.value)


def test_a_server_that_is_not_there_is_a_sentence(server: Server) -> None:
    server.close()
    with pytest.raises(PluginError, match="could not be reached"):
        OpenAI(base_url=server.url).speak("Go on")


def test_no_key_is_in_a_spec_or_shown() -> None:
    for voice in (OpenAI(key=KEY), ElevenLabs("abc", key=KEY)):
        assert KEY not in repr(voice) and KEY not in str(voice.spec.to_json())


@pytest.mark.parametrize("url", ["ftp://x", "https://user:word@host", "https://host/?key=x", ""])
def test_what_is_more_than_an_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="base_url"):
        OpenAI(base_url=url)
    with pytest.raises(InputError, match="base_url"):
        ElevenLabs("abc", base_url=url)


def test_elevenlabs_without_a_voice_is_refused() -> None:
    with pytest.raises(InputError, match="the id of a voice"):
        ElevenLabs()


def test_a_text_longer_than_the_endpoint_takes_is_refused() -> None:
    with pytest.raises(InputError, match="at most 4,096"):
        OpenAI().speak("word " * 1000)


def test_an_answer_without_end_is_not_read_to_its_end(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "LONGEST", 1 << 10)
    server.answers = [(200, wav())]
    with pytest.raises(PluginError, match="sent more than"):
        OpenAI(base_url=server.url).speak("Go on")


def test_a_word_of_one_moment_still_has_a_span() -> None:
    from fullduplex.providers.voices.elevenlabs import _words

    told = {"characters": ["a"], "character_start_times_seconds": [0.2], "character_end_times_seconds": [0.2]}
    assert [word.span for word in _words(told, "a", ms(300))] == [Span(ms(200), ms(200) + 1)]


@pytest.mark.parametrize(
    "change",
    [
        {"character_start_times_seconds": [-5.0, 0.1]},
        {"character_start_times_seconds": [float("nan"), 0.1]},
        {"character_end_times_seconds": [0.1, float("inf")]},
        {"character_end_times_seconds": [0.1, 1e300]},
        {"character_start_times_seconds": [0.5, 0.1]},
        {"character_end_times_seconds": [0.1]},
        {"characters": [1, 2]},
    ],
)
def test_times_that_no_speech_has_are_refused(server: Server, change: dict[str, Any]) -> None:
    server.answers = [(200, with_timestamps(aligned("Go") | change))]
    with pytest.raises(PluginError, match="no speech with timestamps"):
        ElevenLabs("abc", base_url=server.url).speak("Go")


def test_times_of_another_text_are_not_taken_for_those_of_the_words(server: Server) -> None:
    server.answers = [(200, with_timestamps(aligned("No")))]
    spoken = ElevenLabs("abc", base_url=server.url).speak("Go")
    assert spoken.words is None and spoken.words_from == ""


def test_a_voice_id_of_digits_is_an_id(server: Server) -> None:
    server.answers = [(200, with_timestamps(aligned("Go")))]
    ElevenLabs(12, base_url=server.url).speak("Go")  # type: ignore[arg-type]
    assert server.asked[0][0].startswith("/v1/text-to-speech/12/")


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), "abc", True, 1e9])
def test_patience_that_cannot_be_kept_is_refused(timeout: Any) -> None:
    with pytest.raises(InputError, match=r"timeout: found .*, expected a number from 0\.1 to 3600"):
        OpenAI(timeout=timeout)
    with pytest.raises(InputError, match=r"timeout: found .*, expected a number from 0\.1 to 3600"):
        ElevenLabs("abc", timeout=timeout)


def test_an_answer_that_drips_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    class Drips(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            try:
                while not over.wait(0.02):
                    self.wfile.write(b"R")
            except OSError:
                pass

        def log_message(self, *_: object) -> None:
            pass

    over = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Drips)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    monkeypatch.setattr(remote, "_SLOWEST", 1)
    try:
        with pytest.raises(PluginError, match="bytes and did not end in time"):
            OpenAI(base_url=f"http://127.0.0.1:{server.server_port}", timeout=0.3).speak("Go")
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def test_an_address_that_is_none_is_a_sentence() -> None:
    with pytest.raises(PluginError, match="is no address"):
        OpenAI(base_url="http://[::1", key=KEY).speak("Go")
