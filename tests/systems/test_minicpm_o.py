"""MiniCPM-o: the gateway's driver against its facade, the model step by step, and what can befall a talk."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.driving.clock import run_on, run_virtual
from fullduplex.driving.drive import BrokenTalk, Talk, drive
from fullduplex.driving.link import Closed, Note, Said
from fullduplex.driving.playout import Chunk, Flush
from fullduplex.errors import ConversationError, InputError, PluginError
from fullduplex.model.spans import SECOND, ms, seconds
from fullduplex.plugins import make
from fullduplex.systems.function import Function
from fullduplex.systems.minicpm_o import MiniCPMo
from fullduplex.systems.minicpm_o.codec import Talking
from fullduplex.systems.minicpm_o.steps import SecondBySecond
from fullduplex.systems.wire import Gone
from fullduplex.testing.behaviour import Behaviour, Sent, Utterance
from fullduplex.testing.conform import conform
from fullduplex.testing.facades import facade_of
from fullduplex.testing.facades.serving import FacedTwin
from fullduplex.testing.watermark import stretches, watermark

SPEAKS = Utterance(ms(320), seconds(1), 40)


def talked(behaviour: Behaviour, system: MiniCPMo | None = None, **more: Any) -> Talk:
    twin = FacedTwin(system or MiniCPMo(), facade_of("minicpm-o"), behaviour)
    return run_virtual(drive(twin, (), **({"length": seconds(2)} | more)))


class Reading:
    """A wire from which some messages are read; what is sent is kept."""

    def __init__(self, *messages: Any) -> None:
        self.messages = [m if isinstance(m, str | bytes) else json.dumps(m) for m in messages]
        self.sent: list[Any] = []

    async def send(self, message: str | bytes) -> None:
        self.sent.append(json.loads(message))

    async def receive(self) -> str | bytes:
        if not self.messages:
            raise Gone("1000")
        return self.messages.pop(0)


def understood(*messages: Any) -> list[Any]:
    async def read() -> list[Any]:
        return [event async for event in Talking(Reading(*messages), {}, {})][:-1]

    return asyncio.run(read())


def sound(samples: int = 240) -> str:
    return base64.b64encode(np.full(samples, 0.25, "<f4").tobytes()).decode()


def test_every_case_passes_or_does_not_apply() -> None:
    results = conform(MiniCPMo(), clocks=("virtual",))
    assert [(r.number, r.why) for r in results if r.outcome == "failed"] == []
    assert sum(r.outcome == "passed" for r in results) == 13
    assert all(r.why for r in results if r.outcome == "not applicable")


def test_the_driver_passes_over_a_real_socket() -> None:
    # All cases are run so by `fullduplex conform minicpm-o`.
    found = conform(MiniCPMo(), clocks=("wall",), cases=(18,))
    assert [(r.number, r.why) for r in found if r.outcome not in ("passed", "not judged")] == []


def test_a_message_holds_a_whole_second_whatever_the_frames() -> None:
    async def sent() -> list[Any]:
        wire = Reading('{"type": "queue_done"}', '{"type": "prepared"}')
        async with MiniCPMo().over(wire, "") as talking:
            for i in range(105):
                await talking.send(np.full(320, i / 256, np.float32))
        return wire.sent

    prepare, *chunks, stop = asyncio.run(sent())
    assert (prepare["type"], stop) == ("prepare", {"type": "stop"})
    pcm = [np.frombuffer(base64.b64decode(chunk["audio_base64"]), "<f4") for chunk in chunks]
    assert [len(part) for part in pcm] == [16_000, 16_000]
    assert np.array_equal(np.concatenate(pcm)[::320] * 256, np.arange(100, dtype=np.float32))


def test_a_result_belongs_to_the_second_that_it_answers() -> None:
    said, chunk, unit = understood(
        {
            "type": "result",
            "is_listen": False,
            "text": "good",
            "audio_data": sound(),
            "current_time": 3,
            "cost_llm_ms": 9,
        }
    )
    assert (said.text, said.source, chunk.source) == ("good", 3 * SECOND, 3 * SECOND)
    assert unit.data == {"current_time": 3, "is_listen": False, "cost_llm_ms": 9}


@pytest.mark.parametrize("name", ["audio_data", "audio", "audio_base64"])
def test_sound_is_taken_by_each_name_that_code_and_documentation_give_it(name: str) -> None:
    chunk = understood({"type": "result", "is_listen": False, name: sound()})[0]
    assert isinstance(chunk, Chunk) and np.all(chunk.samples == np.float32(0.25)) and len(chunk.samples) == 240


def test_each_turn_has_a_name_and_listening_takes_nothing_back() -> None:
    events = understood(
        {"type": "result", "is_listen": False, "audio_data": sound(), "end_of_turn": False},
        {"type": "result", "is_listen": False, "audio_data": sound(), "end_of_turn": True},
        {"type": "result", "is_listen": True, "audio_data": None},
        {"type": "result", "is_listen": False, "audio_data": sound()},
    )
    assert [event.id for event in events if isinstance(event, Chunk)] == ["t1", "t1", "t2"]
    assert not any(isinstance(event, Flush) for event in events)


@pytest.mark.parametrize("number", [-1, True, "3", 1e999, 10**30])
def test_a_number_of_no_second_is_no_source(number: Any) -> None:
    chunk = understood(json.dumps({"type": "result", "audio_data": sound(), "current_time": number}))[0]
    assert chunk.source is None


def test_the_prompt_takes_the_place_of_the_role_and_sampling_is_asked_for() -> None:
    async def prepared(prompt: str) -> Any:
        wire = Reading('{"type": "queued", "position": 2}', '{"type": "queue_done"}', '{"type": "prepared"}')
        async with MiniCPMo(role="You chat.", force_listen_count=0, top_k=5).over(wire, prompt):
            return wire.sent[0]

    assert asyncio.run(prepared("You wait.")) == {
        "type": "prepare",
        "system_prompt": "You wait.",
        "config": {"chunk_ms": 1_000, "force_listen_count": 0, "top_k": 5},
    }
    assert asyncio.run(prepared(""))["system_prompt"] == "You chat."


def test_a_voice_is_sent_at_16_khz_and_its_file_is_told_by_its_digest(tmp_path: Path) -> None:
    soundfile = pytest.importorskip("soundfile")
    file = tmp_path / "voice.wav"
    soundfile.write(file, watermark(50, 24_000), 24_000)

    async def prepared() -> Any:
        wire = Reading('{"type": "queue_done"}', '{"type": "prepared"}')
        async with MiniCPMo(voice=str(file)).over(wire, ""):
            return wire.sent[0]

    told = asyncio.run(prepared())
    assert len(base64.b64decode(told["ref_audio_base64"])) == 4 * 16_000
    assert told["tts_ref_audio_base64"] == told["ref_audio_base64"]
    assert len(MiniCPMo(voice=str(file)).spec.options["voice"]) == 16
    with pytest.raises(InputError, match="no such file"):
        _ = MiniCPMo(voice=str(tmp_path / "none.wav")).spec


def test_each_talk_has_a_name_of_its_own_that_says_that_there_is_no_camera() -> None:
    one, two = (MiniCPMo(url="ws://h:1").door("").url for _ in range(2))
    assert one != two and one.startswith("ws://h:1/ws/duplex/adx_")


def test_an_option_that_cannot_be_meant_is_refused_in_a_sentence() -> None:
    with pytest.raises(PluginError, match="force_listen_count"):
        make("systems", "minicpm-o", {"force_listen_count": -1}, Path())


@pytest.mark.parametrize(
    ("fault", "word"),
    [
        ({"resets": ms(800)}, "reset"),
        ({"closes": ms(800), "reason": "restarting"}, "restarting"),
        ({"messages": (Sent(ms(800), '{"type": "timeout", "reason": "paused for too long"}'),)}, "paused for too long"),
        ({"messages": (Sent(ms(800), '{"type": "stopped"}'),)}, "stopped"),
        ({"messages": (Sent(ms(700), '{"type": "error", "error": "out of memory"}'),), "resets": ms(800)}, "memory"),
    ],
)
def test_a_fault_in_mid_word_leaves_a_kept_talk_and_a_sentence(fault: Mapping[str, Any], word: str) -> None:
    with pytest.raises(BrokenTalk, match=word) as error:
        talked(Behaviour(say=(SPEAKS,), **fault))
    assert error.value.talk is not None
    assert stretches(error.value.talk.system, error.value.talk.rate)


@pytest.mark.parametrize(
    ("messages", "word"),
    [
        (['{"type": "error", "error": "Queue full (10 requests)"}'], "Queue full"),
        (['{"type": "queue_done"}', '{"type": "timeout"}'], "timeout"),
        ([], "left before it was ready"),
    ],
)
def test_a_gateway_that_does_not_prepare_is_told_in_a_sentence(messages: list[str], word: str) -> None:
    async def opened() -> None:
        async with MiniCPMo().over(Reading(*messages), ""):
            raise AssertionError

    with pytest.raises(ConversationError, match=word):
        asyncio.run(opened())


def test_a_place_in_the_queue_is_told_where_it_takes_too_long() -> None:
    class Queueing(Reading):
        async def receive(self) -> str | bytes:
            if self.messages:
                return self.messages.pop(0)
            await asyncio.Event().wait()
            raise AssertionError

    async def opened() -> None:
        async with MiniCPMo(ready_within=1).over(Queueing('{"type": "queued", "position": 4}'), ""):
            raise AssertionError

    with pytest.raises(ConversationError, match="place 4 in its queue"):
        run_virtual(opened())


# A second at a time.


class StandIn:
    """A model that listens for two seconds and then says what it was told to say, a second at a time."""

    def __init__(self) -> None:
        self.prepared: dict[str, Any] = {}
        self.heard: list[int] = []
        self.asked: dict[str, Any] = {}

    def prepare(self, **told: Any) -> None:
        self.prepared = told

    def streaming_prefill(self, audio_waveform: Any, frame_list: Any) -> None:
        self.heard.append(len(audio_waveform))

    def streaming_generate(self, **asked: Any) -> Any:
        self.asked = asked
        n = len(self.heard)
        return {"is_listen": n < 3, "audio_waveform": None if n < 3 else watermark(50, 24_000, 50 * n)}


class Duplex(SecondBySecond):
    def __init__(self, prompt: str = "") -> None:
        super().__init__(StandIn(), prompt)


class Mute(StandIn):
    def streaming_generate(self, **asked: Any) -> Any:
        return None


def test_a_model_that_steps_is_driven_a_second_at_a_time_on_a_step_clock() -> None:
    system = Function(call=f"{__file__}:Duplex", frame=1.0, declared=0.3)
    talk = run_on("step-algorithmic", drive(system, (), length=seconds(6), prompt="Be brief."))
    (heard,) = stretches(talk.system, talk.rate)
    # What answers the third second sounds once that is over and has been computed.
    assert abs(heard.at - ms(3_300)) <= ms(1) and heard.source == 150 * ms(20)


def test_the_model_is_prepared_with_the_prompt_in_its_own_marks() -> None:
    model = StandIn()
    SecondBySecond(model, "Be brief.", voice_file="voice.wav").step(np.zeros(16_000, np.float32))
    assert model.prepared["prefix_system_prompt"] == "<|im_start|>system\nBe brief.\n<|audio_start|>"
    assert (model.prepared["prompt_wav_path"], model.asked["prompt_wav_path"]) == ("voice.wav", "voice.wav")
    assert model.heard == [16_000]


def test_a_result_that_is_none_ends_the_talk_in_a_sentence() -> None:
    with pytest.raises(ConversationError, match="no result"):
        SecondBySecond(Mute()).step(np.zeros(16_000, np.float32))


def test_notes_of_each_second_are_kept() -> None:
    talk = talked(Behaviour(say=(SPEAKS,), words=ms(900)), length=seconds(2))
    assert any(isinstance(note, Note) and note.kind == "unit" for note in talk.notes)
    assert [note.source for note in talk.notes if isinstance(note, Said)] == [0, SECOND]
    assert not any(isinstance(note, Closed) for note in talk.notes)
