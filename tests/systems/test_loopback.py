"""The client of the loopback server, over real sockets and in memory."""

import asyncio
import json
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Traits
from fullduplex.driving.playout import Chunk
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.systems.incoming import Incoming, Rates, mulaw_decoded, mulaw_encoded
from fullduplex.systems.loopback import HEADER, Loopback
from fullduplex.systems.ogg_opus import OggOpus, Pages
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance, behaviour_from_json
from fullduplex.testing.loopback import Twin, served
from fullduplex.testing.ogg import OpusStyle, ogg_opus
from fullduplex.testing.watermark import stretches, watermark


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served() as url:
        yield url


def hold(system: Any, length: int = seconds(1)) -> Talk:
    return run_on("virtual" if isinstance(system, Twin) else "wall", drive(system, (), length=length))


def kept(system: Any, length: int = seconds(2)) -> BrokenTalk:
    with pytest.raises(BrokenTalk) as broken:
        hold(system, length)
    assert broken.value.talk is not None
    return broken.value


SPEAKS = Behaviour(say=(Utterance(ms(200), seconds(2), 50),))


def both(url: str, behaviour: Behaviour) -> tuple[Any, Any]:
    return Twin(behaviour.to_json()), Loopback(url, behaviour.to_json())


@pytest.mark.parametrize("where", [0, 1], ids=["twin", "socket"])
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ({"resets": ms(600)}, "reset"),
        ({"closes": ms(600), "reason": "out of time"}, "out of time"),
        ({"floods": ms(600)}, "ahead of time"),
    ],
)
def test_a_server_that_ends_it_leaves_what_was_heard(url: str, where: int, fault: dict[str, Any], reason: str) -> None:
    behaviour = Behaviour(say=SPEAKS.say, **fault)
    error = kept(both(url, behaviour)[where])
    assert reason in str(error)
    assert error.talk is not None
    # The sockets of a busy machine take their time.
    assert ms(590) <= error.talk.duration < seconds(6)
    # On a busy machine a late piece leaves a gap inside the first block.
    assert stretches(error.talk.system, error.talk.rate)[0].source == pytest.approx(50 * ms(20), abs=ms(20))


def test_a_server_that_reads_no_more_is_stalled() -> None:
    error = kept(Twin(Behaviour(stalls=ms(500)).to_json()), seconds(20))
    assert "took no audio" in str(error)


def test_audio_that_is_no_ogg_ends_in_a_kept_talk(url: str) -> None:
    noise = HEADER.pack(1, 0, 0, 0, 0, -1) + b"this is no Ogg page, however long it goes on"
    behaviour = Behaviour(coding="opus", messages=(Sent(ms(300), noise),))
    for system in both(url, behaviour):
        assert "no Ogg page" in str(kept(system))


def test_a_busy_server_is_left_with_what_it_noted(url: str) -> None:
    behaviour = Behaviour(busy=True).to_json()
    for system in (Twin(behaviour, ready_within=ms(300)), Loopback(url, behaviour, ready_within=ms(300))):
        with pytest.raises(ConversationError, match=r"not ready within 0\.3 s: it noted busy"):
            hold(system)


def test_nobody_there_is_a_sentence() -> None:
    for url in ("ws://127.0.0.1:9", "http://127.0.0.1:9", "nonsense"):
        with pytest.raises(ConversationError, match="no loopback server answers there"):
            hold(Loopback(url))


def test_without_a_url_it_is_told_how_to_start_a_server() -> None:
    with pytest.raises(ConversationError, match="loopback has no url: start a server with `python -m"):
        hold(Loopback())


def test_a_behaviour_that_cannot_be_is_told(url: str) -> None:
    with pytest.raises(ConversationError, match=r"cannot be opened|closed"):
        hold(Loopback(url, {"pace": "sideways"}))


def test_frames_before_ready_are_refused(url: str) -> None:
    from websockets.asyncio.client import connect

    async def hasty() -> str:
        async with connect(url, proxy=None) as socket:
            behaviour = Behaviour(handshake=seconds(5)).to_json()
            await socket.send(json.dumps({"type": "open", "rate_in": 16_000, "behaviour": behaviour}))
            await socket.send(HEADER.pack(2, 0, 0, 0, 0, -1) + bytes(640))
            told = json.loads(await socket.recv())
            return str(told["reason"])

    assert asyncio.run(hasty()) == "it spoke before the server was ready"


def test_the_server_outlives_clients_that_talk_nonsense(url: str) -> None:
    from websockets.asyncio.client import connect

    async def nonsense() -> None:
        for opening in ("{", "[]", '{"type": "open"}', '{"type": "open", "rate_in": "x"}'):
            async with connect(url, proxy=None) as socket:
                await socket.send(opening)

    asyncio.run(nonsense())
    assert hold(Loopback(url, Behaviour().to_json()), ms(200)).duration == ms(200)


def test_a_server_that_is_not_told_answers_the_user(url: str) -> None:
    from fullduplex.driving.cues import at
    from fullduplex.driving.user import Turn

    turn = Turn(np.full(8_000, 0.3, np.float32), at(ms(100)))
    talk = run_virtual(drive(Twin(), [turn], length=seconds(3)))
    (stretch, *_) = stretches(talk.system, talk.rate)
    assert stretch.at == ms(100) + ms(500) + ms(500)


def test_the_twin_and_the_server_say_the_same(url: str) -> None:
    behaviour = Behaviour(say=SPEAKS.say[:1], pace="burst")
    sounds = []
    for system in both(url, behaviour):
        talk = hold(system, seconds(2.5))
        sounds.append(np.concatenate([e.samples for e in talk.received if isinstance(e, Chunk)]))
    assert np.array_equal(sounds[0], sounds[1])


def test_a_behaviour_survives_json() -> None:
    behaviour = Behaviour(
        say=(Utterance(ms(1), ms(20), 3),),
        answer=ms(5),
        flushes=((ms(1), None), (ms(2), "u1"), (ms(3), 4)),
        messages=(Sent(0, "text"), Sent(1, b"\x00\xff")),
        opus=OpusStyle(ms(60), 2, 3840, 24_000, False, True),
        coding="opus",
        lost=(1, 2),
    )
    assert behaviour_from_json(json.loads(json.dumps(behaviour.to_json()))) == behaviour
    assert Behaviour().to_json() == {}


@pytest.mark.parametrize(
    "wrong",
    [[], {"pace": 3}, {"say": [{"at": -1, "length": 1}]}, {"burst": 0}, {"rate": 1}, {"unknown": 1}, {"say": 5},
     {"chunk": float("nan")}, {"say": [{"at": 0, "length": 1, "block": 32_767}]}, {"messages": [{"at": 0}]},
     {"chunk": 0}, {"rate": 11_025}, {"opus": {"packet": 0.03}}],
)  # fmt: skip
def test_a_wrong_behaviour_is_refused_in_a_sentence(wrong: Any) -> None:
    with pytest.raises(InputError, match="behaviour"):
        behaviour_from_json(wrong)


@pytest.mark.parametrize("coding", ["pcm16", "f32", "mulaw"])
@pytest.mark.parametrize("step", [1, 3, 333])
def test_samples_cut_anywhere_are_whole_again(coding: Any, step: int) -> None:
    sound = watermark(3, 24_000, 9)
    data = {
        "pcm16": np.rint(sound * 32_767).astype("<i2").tobytes(),
        "f32": sound.astype("<f4").tobytes(),
        "mulaw": mulaw_encoded(sound),
    }[coding]
    incoming = Incoming(coding, 24_000, 24_000)
    got = np.concatenate([incoming.take(data[i : i + step]) for i in range(0, len(data), step)])
    assert np.array_equal(got, Incoming(coding, 24_000, 24_000).take(data))
    assert len(got) == len(sound)


def test_mu_law_is_that_of_g711() -> None:
    every = bytes(range(256))
    values = mulaw_decoded(every) * np.float32(32_768)
    assert (values[0], values[0x80], values[0xFF], values[0x7F]) == (-32_124, 32_124, 0, 0)
    again = mulaw_decoded(mulaw_encoded(values / np.float32(32_768))) * np.float32(32_768)
    assert np.array_equal(again, values)


@pytest.mark.parametrize(("rate", "rate_out"), [(48_000, 24_000), (44_100, 24_000), (8_000, 24_000), (24_000, 24_001)])
@pytest.mark.parametrize("step", [7, 480, 10_000])
def test_another_rate_keeps_pitch_time_and_length_whatever_the_chunks(rate: int, rate_out: int, step: int) -> None:
    wave = np.sin(2 * np.pi * 1_000 * np.arange(rate // 2) / rate).astype(np.float32)
    rates = Rates(rate, rate_out)
    made = np.concatenate([*(rates.take(wave[i : i + step]) for i in range(0, len(wave), step)), rates.end()])
    wanted = np.sin(2 * np.pi * 1_000 * np.arange(len(made)) / rate_out)
    assert abs(len(made) - rate_out // 2) <= 1
    inner = slice(rate_out // 500, -rate_out // 500)
    assert np.abs(made[inner] - wanted[inner]).max() < 0.02


@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize("style", [OpusStyle(), OpusStyle(ms(60), 3, 3840, 24_000, False)])
def test_ogg_in_any_pieces_is_the_same_sound(step: int, style: OpusStyle) -> None:
    stream = b"".join(data for _, data in ogg_opus(watermark(10, 24_000, 4), 24_000, style))
    decoder, whole = OggOpus(), OggOpus()
    pieces = [decoder.take(stream[i : i + step]) for i in range(0, len(stream), step)]
    assert np.array_equal(np.concatenate(pieces), whole.take(stream))
    assert whole.pre_skip == style.pre_skip


@pytest.mark.parametrize("style", [OpusStyle(), OpusStyle(pre_skip=3840), OpusStyle(ms(40), granules=24_000)])
def test_no_decoded_sample_is_dropped(style: OpusStyle) -> None:
    decoder = OggOpus()
    got = sum(len(decoder.take(data)) for _, data in ogg_opus(watermark(6, 24_000, 4), 24_000, style))
    assert got == 6 * 960


def test_a_packet_over_two_pages_is_one_packet() -> None:
    # A page that ends in a full segment goes on in the next one.
    from fullduplex.systems.ogg_opus import checksum

    def page(number: int, flags: int, lacing: bytes, body: bytes) -> bytes:
        head = struct.pack("<4sBBqIII", b"OggS", 0, flags, 0, 1, number, 0) + bytes([len(lacing)]) + lacing + body
        return head[:22] + struct.pack("<I", checksum(head)) + head[26:]

    first = page(0, 0, bytes([255]), b"a" * 255)
    second = page(1, 1, bytes([10]), b"b" * 10)
    pages = list(Pages().take(first + second))
    assert [(len(p.packets[0]), p.continued, p.goes_on) for p in pages] == [(255, False, True), (10, True, False)]


def test_a_damaged_page_is_refused() -> None:
    stream = bytearray(b"".join(data for _, data in ogg_opus(watermark(3, 24_000), 24_000, OpusStyle())))
    stream[-3] ^= 1
    with pytest.raises(ConversationError, match="damaged"):
        OggOpus().take(bytes(stream))


def test_the_traits_are_what_the_driver_is_told() -> None:
    assert Loopback("ws://x", traits=Traits(exclusive=True)).traits.clocks == ("wall",)
    assert "virtual" in Twin().traits.clocks
    assert Loopback("ws://a").spec == Loopback("ws://b").spec
    assert SECOND == 1_000_000


def test_a_server_that_freezes_in_a_short_talk_is_no_silent_one() -> None:
    # It reads no more, and what is sent still fits into the buffers of the socket.
    error = kept(Twin(Behaviour(stalls=ms(500)).to_json()), seconds(1.4))
    assert "no word came back" in str(error)
    assert error.talk is not None and error.talk.ended_by == "stalled"


def wav(rate: int, samples: bytes) -> bytes:
    head = struct.pack("<IHHIIHH", 16, 1, 1, rate, 48_000, 2, 16)
    return b"RIFF" + bytes(4) + b"WAVEfmt " + head + b"data" + struct.pack("<I", len(samples)) + samples


def test_each_wav_file_has_its_own_rate() -> None:
    incoming = Incoming("wav", 24_000, 24_000)
    rates = (8_000, 48_000, 24_000, 44_100)
    made = [incoming.take(wav(rate, bytes(2 * rate // 4))) for rate in rates] + [incoming.end()]
    assert sum(map(len, made)) == 24_000


@pytest.mark.parametrize("rate", [1, 7_999, 4_000_000_000])
def test_a_wav_file_of_no_rate_of_speech_is_refused(rate: int) -> None:
    with pytest.raises(ConversationError, match=f"sent WAV at {rate} samples a second, expected 8000 to 192000"):
        Incoming("wav", 24_000, 24_000).take(wav(rate, bytes(200)))


def test_rates_that_hardly_share_a_divisor_are_refused_before_the_talk() -> None:
    with pytest.raises(ConversationError, match="191999 samples a second does not become sound at 24000"):
        Incoming("pcm16", 191_999, 24_000)
