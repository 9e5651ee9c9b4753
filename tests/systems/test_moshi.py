"""The Moshi family: each driver against its facade, and what a server of theirs can do to a talk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Note, Said
from fullduplex.driving.observe import output_lags
from fullduplex.driving.playout import Chunk
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.plugins import make
from fullduplex.systems.moshi import FlmAudio, Moshi, PersonaPlex, Raon
from fullduplex.systems.moshi.codec import DELAY, FRAME
from fullduplex.systems.moshi.personaplex import LONGEST_URL
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin, serve
from fullduplex.testing.stage import CaseResult
from fullduplex.testing.watermark import stretches

SYSTEMS: dict[str, Any] = {
    "moshi": Moshi(),
    "moshi, rust": Moshi(server="rust"),
    "personaplex": PersonaPlex(),
    "flm-audio": FlmAudio(),
    "raon": Raon(),
}
EVERY = pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
SPEAKS = Utterance(ms(480), seconds(1), 40)


def twin(system: Any, behaviour: Behaviour, **more: Any) -> FacedTwin:
    return FacedTwin(system, facade_of(system.spec.name, system.spec.options), behaviour, **more)


def talked(system: Any, behaviour: Behaviour, length: int = seconds(2), prompt: str = "") -> Talk:
    return run_virtual(drive(twin(system, behaviour), (), length=length, prompt=prompt))


def broken(system: Any, behaviour: Behaviour, length: int = seconds(2), prompt: str = "") -> BrokenTalk:
    with pytest.raises(BrokenTalk) as error:
        talked(system, behaviour, length, prompt)
    return error.value


# Conformance.


@pytest.mark.parametrize("name", ["moshi", "raon"])
def test_every_case_passes_or_does_not_apply(name: str) -> None:
    results = conform(SYSTEMS[name], clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) >= 13
    assert all(r.why for r in results if r.outcome == "not applicable")


@pytest.mark.parametrize("name", ["moshi, rust", "personaplex", "flm-audio"])
def test_the_cases_in_which_the_others_differ_pass(name: str) -> None:
    # What they share with Moshi is one codec.
    results = conform(SYSTEMS[name], clocks=("virtual",), cases=(8, 9, 10, 19))
    assert [(r.number, r.outcome, r.why) for r in results] == [(n, "passed", "") for n in (8, 9, 10, 19)]


def test_a_driver_passes_over_real_sockets() -> None:
    # Those that lean least on how busy the machine is; all of them are run by `fullduplex conform moshi`.
    found = conform(Moshi(), clocks=("wall",), cases=(9, 15, 18))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


def test_a_system_with_a_url_is_judged_from_outside() -> None:
    behaviour = Behaviour(say=(Utterance(0, seconds(10), 0),))

    async def judged() -> list[CaseResult]:
        async with serve(facade_of("moshi"), behaviour) as port:
            system = Moshi(f"ws://127.0.0.1:{port}")
            return await asyncio.to_thread(conform, system, clocks=("wall",), cases=(11, 15, 18))

    found = {r.number: r for r in run_on("wall", judged())}
    assert found[15].outcome == found[18].outcome == "passed"
    assert "needs a server that can be told" in found[11].why


# Frames and what is heard of them.


@pytest.mark.parametrize("name", ["moshi", "moshi, rust", "personaplex", "flm-audio"])
def test_output_frame_k_answers_input_frame_k_plus_1(name: str) -> None:
    talk = talked(SYSTEMS[name], Behaviour(say=(SPEAKS,)))
    (stretch,) = stretches(talk.system, talk.rate)
    # Not a frame early, as a client that puts a frame of silence in front would have it; nor 80 ms by a pre-skip.
    assert stretch.at - stretch.source + SPEAKS.block * ms(20) == pytest.approx(
        SPEAKS.at + 2 * FRAME + DELAY, abs=ms(1)
    )
    assert set(output_lags(talk.received, FRAME, sourced=True).values()) == {0}
    assert talk.ready.settings["codec_delay"] == 0.00725


def test_raon_answers_the_first_frame_too() -> None:
    talk = talked(SYSTEMS["raon"], Behaviour(say=(SPEAKS,)))
    (stretch,) = stretches(talk.system, talk.rate)
    assert stretch.at == SPEAKS.at + FRAME
    assert min(output_lags(talk.received, FRAME, sourced=True)) == 1


def test_raon_shows_lost_input_as_lag() -> None:
    talk = talked(SYSTEMS["raon"], Behaviour(drops=(5, 6, 7)))
    lags = output_lags(talk.received, FRAME, sourced=True)
    assert (lags[5], lags[6]) == (0, 3 * FRAME)


@EVERY
def test_a_frame_goes_out_at_the_end_of_its_capture_and_the_schedule_is_absolute(system: Any) -> None:
    reports: list[Any] = []
    run_virtual(drive(twin(system, Behaviour(), reported=reports.append), (), length=seconds(2)))
    assert reports[0]["arrivals"] == [(n + 1) * FRAME for n in range(25)]


@pytest.mark.parametrize("name", ["moshi", "personaplex"])
def test_a_piece_of_text_belongs_to_the_frame_of_its_step(name: str) -> None:
    # In front of the 10th frame, and behind it: the frame is the same, as each server sends it.
    when = 11 * FRAME + (ms(1) if name == "moshi" else -ms(1))
    talk = talked(SYSTEMS[name], Behaviour(messages=(Sent(when, b"\x02 hello"),)))
    (said,) = [note for note in talk.notes if isinstance(note, Said)]
    assert (said.text, said.source) == (" hello", 2 * FRAME + 9 * FRAME)


def test_a_monologue_ends_in_a_note() -> None:
    sent = (Sent(ms(500), b"\x02two words"), Sent(ms(600), b"\x02\n"))
    talk = talked(FlmAudio(), Behaviour(messages=sent))
    assert [n.text for n in talk.notes if isinstance(n, Said)] == ["two words"]
    assert [n.kind for n in talk.notes if isinstance(n, Note)] == ["monologue_end"]


# Handshakes.


def test_metadata_before_the_handshake_and_its_versions_are_kept() -> None:
    talk = talked(Moshi(server="rust"), Behaviour())
    assert talk.ready.settings["metadata"]["text_temperature"] == 0.7
    assert (talk.ready.settings["protocol_version"], talk.ready.settings["model_version"]) == (0, 0)


@EVERY
def test_a_server_that_is_never_ready_is_told_to_be_busy(system: Any) -> None:
    error = broken_or_not(replace(system, ready_within=2.0), Behaviour(busy=True))
    assert "not ready within 2 s" in error and "busy" in error


def broken_or_not(system: Any, behaviour: Behaviour) -> str:
    with pytest.raises(ConversationError) as error:
        talked(system, behaviour)
    return str(error.value)


@EVERY
def test_the_handshake_is_no_part_of_the_talk(system: Any) -> None:
    talk = talked(system, Behaviour(handshake=seconds(7)), seconds(1))
    assert talk.handshake == seconds(7) and talk.duration == seconds(1)


# Ends.


@EVERY
def test_a_server_that_closes_leaves_a_kept_talk_and_its_reason(system: Any) -> None:
    error = broken(system, Behaviour(say=(SPEAKS,), closes=seconds(1), reason="out of memory"))
    assert "out of memory" in str(error) and "\n" not in str(error)
    assert error.talk is not None and error.talk.duration == seconds(1)
    assert stretches(error.talk.system, error.talk.rate)


def test_the_rust_servers_limit_ends_the_item_with_its_reason() -> None:
    system = Moshi(server="rust", max_steps=25)
    assert system.traits.longest == seconds(2)
    error = broken(system, Behaviour(closes=seconds(2), reason=""), seconds(4))
    assert "the server's limit of 2 s was reached" in str(error)
    assert Moshi(server="rust").traits.longest == seconds(360) and Moshi().traits.longest == 0


def test_an_end_before_the_limit_is_not_put_down_to_it() -> None:
    error = broken(Moshi(server="rust"), Behaviour(closes=seconds(2)), seconds(4))
    assert "limit" not in str(error)


@pytest.mark.parametrize(
    ("garbage", "sentence"),
    [
        (b"\x01garbage of more than twenty-seven bytes", "no Ogg page"),
        (b"\x01OggS\x00\x02" + bytes(20) + b"\x01\x04abcd", "damaged"),
    ],
)
def test_garbage_in_place_of_sound_ends_the_talk_in_a_sentence(garbage: bytes, sentence: str) -> None:
    error = broken(Moshi(), Behaviour(messages=(Sent(ms(40), garbage),)))
    assert sentence in str(error) and error.talk is not None


# What a user tells it.


def test_hostile_words_of_a_server_are_harmless() -> None:
    sent = tuple(
        Sent(ms(100 * n), m) for n, m in enumerate([b"\x05\x1b[2J../../x\n<script>", b"\x02\xff\xfe", b"\x04[1]"])
    )
    error = broken(Moshi(), Behaviour(messages=sent, closes=seconds(1), reason="\x1b[2J"))
    assert error.talk is not None and str(error).isprintable()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ('moshi:url="http://x"', "expected ws://HOST:PORT or wss://HOST:PORT"),
        ("moshi:server=go", "expected python or rust"),
        ("moshi:text_temperature=0.5", "read by the Rust server alone"),
        ("moshi:server=rust,max_steps=4501", "expected 1 to 4500"),
        ("moshi:server=rust,repetition_penalty=1.1", "both or neither"),
        ("moshi:voice=NATF2", "has no option 'voice'"),
        ("personaplex:voice=../../x", "expected the name of a file"),
        ("personaplex:voice=NATF9", "folder of voices with its ending"),
        ("personaplex:voice=BOB", "folder of voices with its ending"),
        ("personaplex:voice=.pt", "folder of voices with its ending"),
        ("personaplex:voice=BOB.", "folder of voices with its ending"),
        ('personaplex:role=" "', "an empty text prompt fails the server"),
        ('personaplex:url="ws://x/?seed=1"', "a seed in it fails the server"),
        ("raon:language=fra", "expected one of eng, kor"),
        ("raon:speaker=recorded", "a recorded speaker has one"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(spec: str, sentence: str, tmp_path: Any) -> None:
    read = Spec.parse(spec)
    with pytest.raises((PluginError, InputError)) as error:
        made = make("systems", read.name, read.options, tmp_path)
        made.door("")
    assert sentence in str(error.value)


def query(system: Any, prompt: str = "") -> dict[str, str]:
    return {name: value[0] for name, value in parse_qs(urlsplit(system.door(prompt).url).query).items()}


def test_the_rust_server_is_told_its_sampling_in_the_url() -> None:
    system = Moshi(server="rust", text_temperature=0.7, audio_topk=250, audio_seed=1)
    assert query(system) == {"text_temperature": "0.7", "audio_topk": "250", "audio_seed": "1"}
    assert system.door("").url.startswith("wss://localhost:8998/api/chat?") and not system.door("").verify
    assert system.spec.options["audio_seed"] == 1


def test_personaplex_always_has_both_prompts() -> None:
    assert query(PersonaPlex())["voice_prompt"] == "NATF2.pt" and query(PersonaPlex())["text_prompt"]
    assert query(PersonaPlex(voice="mine.wav"), "Be & stay ../brief?") == {
        "voice_prompt": "mine.wav",
        "text_prompt": "Be & stay ../brief?",
    }


def test_a_prompt_that_no_url_holds_fails_its_item_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="takes its prompt from the URL"):
        PersonaPlex().door("é" * (LONGEST_URL // 6))


def test_the_prompt_of_a_talk_is_told_and_so_is_one_that_was_not_taken() -> None:
    assert talked(PersonaPlex(), Behaviour(), ms(500), "Be brief.").ready.settings["role"] == "Be brief."
    assert talked(Moshi(), Behaviour(), ms(500), "Be brief.").ready.settings["prompt_taken"] is False
    assert "prompt_taken" not in talked(Moshi(), Behaviour(), ms(500)).ready.settings
    assert talked(Raon(), Behaviour(), ms(500), "Be brief.").ready.settings["custom_system_prompt"] == "Be brief."


def test_a_checkpoint_is_what_the_user_says_and_is_not_said_to_be_verified() -> None:
    assert Moshi(model="moshiko").spec.options["model"] == "kyutai/moshiko-pytorch-bf16"
    assert Moshi(model="moshika").spec != Moshi(model="moshiko").spec
    assert talked(Moshi(model="moshiko"), Behaviour(), ms(500)).ready.settings["model_verified"] is False


def test_where_it_runs_changes_no_spec() -> None:
    assert Moshi("ws://a:1").spec == Moshi("ws://b:2", ready_within=9).spec


# Raon's strictness.


def test_raon_is_sent_sound_pongs_and_a_farewell_and_nothing_else() -> None:
    kinds: list[int] = []
    facade = facade_of("raon")

    class Counting:
        def __init__(self, behaviour: Behaviour) -> None:
            self._dialect = facade.dialect(behaviour)
            self.rate_in, self.open, self.says = self._dialect.rate_in, self._dialect.open, self._dialect.says

        def hears(self, message: str | bytes) -> Any:
            assert isinstance(message, bytes)
            kinds.append(message[0])
            return self._dialect.hears(message)

    counted = replace(facade, dialect=Counting)
    run_virtual(drive(FacedTwin(Raon(), counted, Behaviour(ping=ms(300), pong=ms(200))), (), length=seconds(2)))
    assert set(kinds) == {1, 8, 6} and kinds[-1] == 6 and kinds.count(1) == 25


def test_raon_without_a_free_worker_says_so() -> None:
    class Full:
        rate_in = 24_000

        def __init__(self, behaviour: Behaviour) -> None: ...

        async def open(self, peer: Any, getting_ready: Callable[[], Awaitable[None]]) -> None:
            await peer.send(b"\x05no workers available")
            await peer.close("")

        def says(self, event: Any) -> list[bytes]:
            return []

        def hears(self, message: Any) -> list[Any]:
            return []

    with pytest.raises(ConversationError, match=r"left before it was ready.*no workers available"):
        run_virtual(drive(FacedTwin(Raon(), replace(facade_of("raon"), dialect=Full), Behaviour()), (), length=ms(500)))


# Over real sockets.


def test_nobody_there_is_a_sentence_without_the_query() -> None:
    with pytest.raises(ConversationError, match="no server answers there") as error:
        run_on("wall", drive(PersonaPlex("ws://127.0.0.1:9", role="secret"), (), length=ms(500)))
    assert "secret" not in str(error.value)


def test_a_server_of_another_kind_is_a_sentence() -> None:
    async def http(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def talk() -> None:
        server = await asyncio.start_server(http, "127.0.0.1", 0)
        async with server:
            await drive(Moshi(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"), (), length=ms(500))

    with pytest.raises(ConversationError, match="HTTP 500"):
        run_on("wall", talk())


def test_no_extension_is_asked_for_and_messages_have_no_limit() -> None:
    async def talk() -> tuple[Any, int]:
        from websockets.asyncio.server import serve as listen

        asked: list[Any] = []

        async def answer(connection: Any) -> None:
            asked.append(connection.request.headers.get("Sec-WebSocket-Extensions"))
            await connection.send(b"\x00")
            await connection.send(b"\x2a" + bytes(2 << 20))
            await connection.wait_closed()

        async with listen(answer, "127.0.0.1", 0) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            held = await drive(Moshi(f"ws://127.0.0.1:{port}"), (), length=ms(500))
        return asked[0], max(n.data["bytes"] for n in held.notes if isinstance(n, Note))

    assert run_on("wall", talk()) == (None, 2 << 20)


@asynccontextmanager
async def with_settings(port: int, status: int, taken: list[bytes]) -> AsyncIterator[int]:
    """Answer a POST and pass anything else on to ``port``."""

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"POST"):
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            taken.append(head.split(b" ")[1] + await reader.readexactly(length))
            writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno".encode())
            await writer.drain()
            writer.close()
            return
        there, back = await asyncio.open_connection("127.0.0.1", port)
        back.write(head)

        async def copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(ConnectionError):
                while data := await source.read(65_536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(copy(reader, back), copy(there, writer))

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


def flm(status: int, **options: Any) -> tuple[list[bytes], Talk]:
    async def talk() -> tuple[list[bytes], Talk]:
        taken: list[bytes] = []
        async with serve(facade_of("flm-audio"), Behaviour()) as port, with_settings(port, status, taken) as front:
            held = await drive(FlmAudio(f"ws://127.0.0.1:{front}", **options), (), length=ms(500))
        return taken, held

    return run_on("wall", talk())


def test_flm_audio_is_given_its_settings_before_the_talk() -> None:
    taken, talk = flm(200, temp_audio=0.8, top_k_text=5)
    assert taken == [b'/api/settings{"temp_audio":0.8,"top_k_text":5}']
    assert talk.ready.settings["temp_audio"] == 0.8
    assert talk.ready.settings["settings"] == "the others as whoever came before left them"


def test_flm_audio_without_settings_is_given_none() -> None:
    assert flm(200)[0] == []


def test_flm_audio_s_own_facade_takes_settings_between_talks_and_none_during_one() -> None:
    async def talks() -> None:
        async with serve(facade_of("flm-audio"), Behaviour()) as port:
            its, others = (FlmAudio(f"ws://127.0.0.1:{port}", temp_text=t, use_sampling=True) for t in (0.7, 0.9))
            async with its.connect("") as link:
                assert link.ready.settings["temp_text"] == 0.7
                with pytest.raises(ConversationError, match="busy with another talk, and takes no settings"):
                    async with others.connect(""):
                        pass
            await asyncio.sleep(0.2)
            async with others.connect("") as link:
                assert link.ready.settings["temp_text"] == 0.9

    run_on("wall", talks())


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        (b"POST /api/settings HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b"200"),
        (b"POST /api/settings HTTP/1.1\r\nContent-Length: 2\r\n\r\n[]", b"422"),
        (b"POST /elsewhere HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", b"404"),
        (b"POST /api/settings HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"404"),
        (b"POST \r\n\r\n", b"404"),
    ],
)
def test_flm_audio_s_facade_answers_what_is_posted_in_pieces(sent: bytes, answered: bytes) -> None:
    async def posted() -> bytes:
        async with serve(facade_of("flm-audio"), Behaviour()) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for n in range(0, len(sent), 3):
                writer.write(sent[n : n + 3])
                await writer.drain()
                await asyncio.sleep(0)
            found = await asyncio.wait_for(reader.read(), 5)
            writer.close()
            return found

    found = asyncio.run(posted())
    assert found.split(b" ")[1:2] == [answered], found


def test_flm_audio_that_holds_a_talk_takes_no_settings() -> None:
    with pytest.raises(ConversationError, match="busy with another talk, and takes no settings"):
        flm(503, temp_audio=0.8)


def test_sound_before_the_handshake_would_cost_personaplex_its_talk() -> None:
    """The facade closes as the server does: so a driver that waits is told apart from one that does not."""

    async def early() -> str:
        async with serve(facade_of("personaplex"), Behaviour(handshake=ms(300))) as port:
            from websockets.asyncio.client import connect

            async with connect(f"ws://127.0.0.1:{port}/api/chat?voice_prompt=a&text_prompt=b", proxy=None) as socket:
                await socket.send(b"\x01" + bytes(10))
                with suppress(Exception):
                    await socket.recv()
                return socket.close_reason or ""

    assert "before the handshake" in run_on("wall", early())


def test_chunks_hold_whole_sound_at_the_declared_rate() -> None:
    talk = talked(Moshi(), Behaviour(say=(SPEAKS,)))
    chunks = [event for event in talk.received if isinstance(event, Chunk)]
    assert talk.rate == 24_000 and sum(len(c.samples) for c in chunks) == pytest.approx(23 * 1_920, abs=20)
    assert all(c.samples.dtype == np.float32 for c in chunks)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a server's context with a certificate that nobody signed, such as the Rust server makes at its start."""
    import datetime
    import ipaddress
    import ssl

    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    day = datetime.timedelta(days=1)
    now = datetime.datetime.now(datetime.UTC)
    address = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now - day, now + day)
        .add_extension(address, critical=False)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain, form = serialization.NoEncryption(), serialization.PrivateFormat.PKCS8
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, form, plain))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


def over_tls(context: Any, **options: Any) -> Talk:
    async def talk() -> Talk:
        async with serve(facade_of("moshi", {"server": "rust"}), Behaviour(), ssl=context) as port:
            return await drive(Moshi(f"wss://127.0.0.1:{port}", **options), (), length=ms(500))

    return run_on("wall", talk())


def test_the_rust_servers_own_certificate_is_taken(certificate: Any) -> None:
    assert over_tls(certificate, server="rust").ready.settings["protocol_version"] == 0


def test_a_certificate_that_has_to_be_trusted_is_refused_where_it_is_not(certificate: Any) -> None:
    with pytest.raises(ConversationError, match="certificate verify failed"):
        over_tls(certificate, server="rust", verify=True)
