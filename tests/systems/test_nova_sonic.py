"""Nova Sonic: its events, its event stream, its signatures, and what its server can do to a talk over HTTP/2."""

from __future__ import annotations

import asyncio
import base64
import datetime
import ipaddress
import json
import os
import shutil
import ssl
import subprocess
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.observe import receive_factor, taken_back
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.driving.usage import usage_of
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.nova_sonic import NovaSonic
from fullduplex.systems.nova_sonic.codec import PROMPT, SOUND, Talking, closing, event, opening
from fullduplex.systems.nova_sonic.eventstream import Malformed, Message, Messages, encode
from fullduplex.systems.nova_sonic.http2 import chunk_of
from fullduplex.systems.nova_sonic.signing import Chain, signature_of, signed_request
from fullduplex.systems.refusals import Refusal, refusal_of
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.conform import NEAR, _all
from fullduplex.testing.facades.nova_http2 import KNOWN, serve_http2
from fullduplex.testing.facades.nova_sonic import facade
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.stage import Stage

pytest.importorskip("h2", reason="h2 is not installed")

#: What the vendor's client sent: the head of a request, the events, the bytes of its body.
FIXTURE = Path(__file__).parent / "fixtures" / "nova-sonic" / "sdk.json"
CLIENT = Path(__file__).parent / "nova_sdk" / "talk.py"
SPEAKS = Behaviour(say=(Utterance(ms(200), seconds(1), 40),), pace="burst")


def twin(behaviour: Behaviour, system: NovaSonic | None = None) -> FacedTwin:
    return FacedTwin(system or NovaSonic(), facade({}), behaviour)


def talked(behaviour: Behaviour, length: int = seconds(2), prompt: str = "") -> Talk:
    return run_virtual(drive(twin(behaviour), (), length=length, prompt=prompt))


def over_http2(
    held: Callable[[str], Coroutine[Any, Any, Talk]], behaviour: Behaviour = SPEAKS, refuses: Any = None
) -> Talk:
    async def one() -> Talk:
        async with serve_http2(facade({}), behaviour, refuses=refuses) as port:
            return await held(f"http://127.0.0.1:{port}")

    return asyncio.run(one())


def keyed(url: str, secret: str = KNOWN.secret) -> NovaSonic:
    return NovaSonic(url=url, key=secret, key_id=KNOWN.key_id)


def test_the_cases_that_are_its_protocol_s_own_hold_in_memory() -> None:
    its = facade({})

    def make(behaviour: Behaviour, traits: Any, reported: Any, ready_within: int | None = None) -> FacedTwin:
        return FacedTwin(NovaSonic(), its, behaviour, reported)

    stage = Stage("virtual", make, NEAR["virtual"], terms=its.terms, beside=its.beside)
    results = [run_on("virtual", _all(stage, [case], 1))[0] for case in (1, 3, 4, 5, 17, 18, 19, 20, 26)]
    assert [(r.number, r.outcome, r.why) for r in results if r.outcome != "passed"] == []


def test_a_request_and_its_events_are_signed_as_the_vendor_s_client_signs_them() -> None:
    told = json.loads(FIXTURE.read_text())
    headers = told["headers"]
    names = headers["authorization"].partition("SignedHeaders=")[2].partition(",")[0].split(";")
    at = datetime.datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%S%z")
    path = headers[":path"].rstrip("?")
    ours = signed_request(KNOWN, headers[":authority"], path, {n: headers[n] for n in names if n in headers}, at)
    assert ours["authorization"] == headers["authorization"]
    chain = Chain(KNOWN, signature_of(headers["authorization"]))
    sent = []
    for theirs in Messages().take(base64.b64decode(told["data"])):
        inner = Messages().take(theirs.payload)
        date = theirs.headers[":date"]
        assert isinstance(date, datetime.datetime)
        assert chain.sign(inner[0] if inner else None, date) == encode(theirs)
        if inner:
            assert inner[0].text(":event-type") == "chunk" and inner[0].text(":message-type") == "event"
            sent.append(base64.b64decode(json.loads(inner[0].payload)["bytes"]).decode())
    assert sent == told["sent"]


def test_our_body_has_the_headers_and_members_of_the_vendor_s_client() -> None:
    told = json.loads(FIXTURE.read_text())
    theirs = Messages().take(Messages().take(base64.b64decode(told["data"]))[0].payload)[0]
    ours = chunk_of(told["sent"][0])
    assert dict(ours.headers) == dict(theirs.headers)
    assert json.loads(ours.payload) == json.loads(theirs.payload)


def _python() -> str:
    """Return a Python that has the vendor's client, which needs 3.12 or newer; empty where there is none."""
    for name in (os.environ.get("FULLDUPLEX_NOVA_PYTHON"), "python3.12", "python3.13", "python3"):
        found = shutil.which(name) if name else None
        line = "import aws_sdk_bedrock_runtime, awscrt"
        if found and not subprocess.run([found, "-c", line], capture_output=True, timeout=20).returncode:
            return found
    return ""


def certified(folder: Path) -> ssl.SSLContext:
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
    plain = serialization.NoEncryption()
    whole = made.public_bytes(serialization.Encoding.PEM)
    whole += key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "certificate.pem").write_bytes(whole)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate.pem")
    context.set_alpn_protocols(["h2"])
    return context


def test_the_vendor_s_client_talks_with_the_facade(tmp_path: Path) -> None:
    python = _python()
    if not python:
        pytest.skip("no Python with aws-sdk-bedrock-runtime and awscrt; name one with FULLDUPLEX_NOVA_PYTHON")
    system = NovaSonic()
    silence = event("audioInput", promptName=PROMPT, contentName=SOUND, content=base64.b64encode(bytes(640)).decode())
    told = [*opening(system.session, system.voice, "Be brief."), silence, silence, *closing()]
    (tmp_path / "events.json").write_text(json.dumps(told))

    async def one() -> str:
        async with serve_http2(facade({}), SPEAKS, ssl=certified(tmp_path)) as port:
            line = (python, str(CLIENT), str(port), str(tmp_path / "events.json"))
            client = await asyncio.create_subprocess_exec(*line, stdout=subprocess.PIPE)
            async with asyncio.timeout(40):
                return (await client.communicate())[0].decode()

    came = [next(iter(json.loads(text)["event"])) for text in json.loads(asyncio.run(one()))]
    assert came[0] == "completionStart" and came.count("audioOutput") == 50


def test_a_talk_over_http2_comes_as_it_was_sent() -> None:
    talk = over_http2(lambda url: drive(keyed(url), (), length=seconds(1), prompt="Be brief."))
    factor = receive_factor(talk.received, talk.rate)
    assert factor is not None and 5 < factor < 12
    assert sum(len(c.samples) for c in talk.received if isinstance(c, Chunk)) == 24_000
    assert talk.ready.settings["role"] == "Be brief."


def test_a_talk_over_tls_needs_a_certificate_that_is_trusted(tmp_path: Path) -> None:
    async def one() -> tuple[Talk, str]:
        async with serve_http2(facade({}), SPEAKS, ssl=certified(tmp_path)) as port:
            url = f"https://127.0.0.1:{port}"
            with pytest.raises(ConversationError) as error:
                await drive(keyed(url), (), length=ms(300))
            trusting = NovaSonic(url=url, key=KNOWN.secret, key_id=KNOWN.key_id, verify=False)
            return await drive(trusting, (), length=ms(600)), str(error.value)

    talk, why = asyncio.run(one())
    assert "certificate" in why.lower() and any(isinstance(event, Chunk) for event in talk.received)


def test_a_wrong_key_is_refused_for_good_and_not_told() -> None:
    with pytest.raises(ConversationError, match=r"403 .InvalidSignatureException") as error:
        over_http2(lambda url: drive(keyed(url, "wrong-secret"), (), length=ms(300)))
    assert refusal_of(error.value) == Refusal(False) and "wrong-secret" not in str(error.value)


def test_a_server_without_room_says_how_long_to_wait() -> None:
    def full(headers: Any) -> Any:
        kind = {"retry-after": "3", "x-amzn-errortype": "ThrottlingException:http://x"}
        return 429, kind, json.dumps({"message": f"Too many requests, {KNOWN.secret}"}).encode()

    with pytest.raises(ConversationError, match=r"429 .ThrottlingException.: Too many") as error:
        over_http2(lambda url: drive(keyed(url), (), length=ms(300)), refuses=full)
    assert refusal_of(error.value) == Refusal(True, 3.0) and KNOWN.secret not in str(error.value)


def test_an_exception_in_the_stream_ends_the_talk_with_its_reason() -> None:
    behaviour = Behaviour(say=SPEAKS.say, closes=ms(500), reason="modelTimeoutException: took too long")
    with pytest.raises(BrokenTalk, match="modelTimeoutException: took too long") as error:
        over_http2(lambda url: drive(keyed(url), (), length=seconds(2)), behaviour)
    assert error.value.talk is not None and error.value.talk.duration >= ms(450)


def test_a_connection_that_breaks_off_keeps_the_talk_so_far() -> None:
    with pytest.raises(BrokenTalk) as error:
        over_http2(lambda url: drive(keyed(url), (), length=seconds(2)), Behaviour(say=SPEAKS.say, resets=ms(500)))
    assert error.value.talk is not None and error.value.talk.ended_by == "closed"


def test_who_speaks_no_http2_is_told_so() -> None:
    async def one() -> None:
        async def rude(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()

        server = await asyncio.start_server(rude, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            with pytest.raises(ConversationError, match="took the connection and no stream"):
                await drive(keyed(f"http://127.0.0.1:{port}"), (), length=ms(300))

    asyncio.run(one())


def test_a_bridge_passes_the_events_over_a_websocket() -> None:
    async def one() -> Talk:
        async with serve(facade({}), SPEAKS) as port:
            return await drive(NovaSonic(url=f"ws://127.0.0.1:{port}"), (), length=seconds(1))

    assert sum(len(c.samples) for c in asyncio.run(one()).received if isinstance(c, Chunk)) == 24_000


def test_an_interruption_takes_back_what_has_not_sounded() -> None:
    talk = talked(Behaviour(say=SPEAKS.say, pace="burst", flush="all", flushes=((ms(600), None),)))
    assert taken_back(talk.placed) == pytest.approx(24_000 * 0.6, abs=500)


class Nothing:
    """A wire without a server."""

    async def send(self, message: str | bytes) -> None: ...

    async def receive(self) -> str | bytes:
        await asyncio.Event().wait()
        return ""


def understood(*messages: str) -> list[Any]:
    async def read() -> list[Any]:
        talking = Talking(Nothing(), {})
        return [happening for message in messages for happening in await talking.understood(message)]

    return asyncio.run(read())


def starts(id: str, type: str, role: str = "ASSISTANT", stage: str = "", rate: int = 24_000) -> str:
    more = {"additionalModelFields": json.dumps({"generationStage": stage})} if stage else {}
    format = {"audioOutputConfiguration": {"sampleRateHertz": rate}} if type == "AUDIO" else {}
    return event("contentStart", contentId=id, type=type, role=role, **more, **format)


def sound(id: str, samples: int = 480) -> str:
    return event("audioOutput", contentId=id, content=base64.b64encode(b"\x00\x10" * samples).decode())


def test_what_it_means_to_say_is_no_word_and_what_it_said_is() -> None:
    found = understood(
        starts("p", "TEXT", stage="SPECULATIVE"),
        event("textOutput", contentId="p", content="I will", role="ASSISTANT"),
        starts("s", "AUDIO"), sound("s"),
        starts("f", "TEXT", stage="FINAL"), event("textOutput", contentId="f", content="I would", role="ASSISTANT"),
        starts("u", "TEXT", role="USER"), event("textOutput", contentId="u", content="hello", role="USER"),
    )  # fmt: skip
    said = [event for event in found if isinstance(event, Said)]
    assert [(one.text, one.who, one.id) for one in said] == [("I would", "system", "a1"), ("hello", "user", "")]
    assert [note.data["text"] for note in found if isinstance(note, Note)] == ["I will"]


def test_late_sound_of_what_was_interrupted_carries_its_epoch() -> None:
    found = understood(
        starts("a", "AUDIO"), sound("a"), event("textOutput", content='{"interrupted": true}', role="ASSISTANT"),
        sound("a"), starts("b", "AUDIO"), sound("b"),
    )  # fmt: skip
    assert [(type(one).__name__, getattr(one, "epoch", None)) for one in found] == [
        ("Chunk", 1), ("Flush", None), ("Chunk", 1), ("Chunk", 2),
    ]  # fmt: skip
    (flush,) = [one for one in found if isinstance(one, Flush)]
    assert [flush.covers(one) for one in found if isinstance(one, Chunk)] == [True, True, False]


def test_a_text_that_speaks_of_interruption_is_none() -> None:
    found = understood(event("textOutput", content='say {"interrupted": true} now', role="ASSISTANT"))
    assert [type(one) for one in found] == [Said]


def test_sound_comes_at_the_rate_that_is_announced() -> None:
    found = understood(starts("a", "AUDIO", rate=8_000), sound("a", 800), event("contentEnd", contentId="a"))
    assert sum(len(one.samples) for one in found if isinstance(one, Chunk)) == pytest.approx(2_400, abs=2)


def test_tokens_are_counted_by_what_was_added() -> None:
    talk = talked(SPEAKS)
    used = usage_of(talk.notes, 1.0)
    assert used.tokens["output_audio"] == 37 and used.tokens["output_text"] == 2 and used.counted == 1


@pytest.mark.parametrize("system", [NovaSonic(), NovaSonic(role="You are terse.", endpointing="low")])
def test_a_talk_opens_in_the_order_that_the_service_wants(system: NovaSonic) -> None:
    told = [json.loads(text)["event"] for text in opening(system.session, system.voice, system.role)]
    names = [next(iter(one)) for one in told]
    instruction = ["contentStart", "textInput", "contentEnd"] if system.role else []
    assert names == ["sessionStart", "promptStart", *instruction, "contentStart"]
    detection = told[0]["sessionStart"].get("turnDetectionConfiguration")
    assert detection == ({"endpointingSensitivity": "LOW"} if system.role else None)
    assert [next(iter(json.loads(text)["event"])) for text in closing()] == ["contentEnd", "promptEnd", "sessionEnd"]


def test_keys_are_in_no_spec_and_shown_nowhere() -> None:
    system = NovaSonic(key="s3cret", key_id="AKID", session_token="t0ken")
    assert "s3cret" not in repr(system) and "AKID" not in repr(system) and "t0ken" not in repr(system)
    assert system.spec == NovaSonic().spec


@pytest.mark.parametrize("option", ["key", "key_id", "session_token"])
def test_a_key_in_a_spec_is_refused(option: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from fullduplex import plugins
    from fullduplex.systems.build import build

    monkeypatch.setattr(plugins, "find", lambda family, name: NovaSonic)
    with pytest.raises(InputError, match="AWS_"):
        build(Spec("nova-sonic", {option: "x"}), tmp_path)
    monkeypatch.setattr(plugins, "make", lambda family, name, options, cache: NovaSonic(**options))
    made = build(Spec("nova-sonic"), tmp_path, keys={"AWS_SECRET_ACCESS_KEY": "s", "AWS_ACCESS_KEY_ID": "i"})
    assert isinstance(made, NovaSonic) and (made.key, made.key_id, made.session_token) == ("s", "i", "")


@pytest.mark.parametrize(
    ("option", "value"),
    [("voice", "a b"), ("model", "x\x1b"), ("endpointing", "soon"), ("temperature", 2.0), ("max_tokens", 0),
     ("url", "ftp://x"), ("url", "https://me@host")],
)  # fmt: skip
def test_an_option_that_is_none_is_refused(option: str, value: Any) -> None:
    with pytest.raises((ValueError, InputError)):
        NovaSonic(**{option: value})


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.text(max_size=20), st.binary(max_size=60)), max_size=5), st.integers(1, 50))
def test_messages_are_found_however_bytes_arrive(told: list[tuple[str, bytes]], size: int) -> None:
    sent = [Message({":event-type": text, "raw": data}, data) for text, data in told]
    whole = b"".join(map(encode, sent))
    reading = Messages()
    came = [m for at in range(0, len(whole), size) for m in reading.take(whole[at : at + size])]
    assert came == sent


@pytest.mark.parametrize("at", [0, 9, 14, 20, -1])
def test_a_byte_that_changed_on_the_way_is_noticed(at: int) -> None:
    data = bytearray(encode(Message({":event-type": "chunk"}, b"payload")))
    data[at] ^= 0x40
    with pytest.raises(Malformed):
        Messages().take(bytes(data))
