"""An agent on LiveKit, for its own environment: Silero hears the user, a sentence is the reply, Pico speaks it."""

# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from functools import cache
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, Agent, AgentSession, llm, stt, tts, utils
from livekit.plugins import silero
from py_nanotts import NanoTTS

REPLY = "That sounds good to me. Tell me more about how it went, and what you would like to do next weekend."
RATE = 16_000


@cache
def spoken() -> bytes:
    return bytes(NanoTTS().speak(text=REPLY, voice="en-GB"))


class Ears(stt.STT):
    """Takes everybody to say the same."""

    def __init__(self) -> None:
        super().__init__(capabilities=stt.STTCapabilities(streaming=False, interim_results=False))

    async def _recognize_impl(self, buffer: Any, *, language: Any, conn_options: Any) -> stt.SpeechEvent:
        said = stt.SpeechData(language="en", text="something was said here")
        return stt.SpeechEvent(type=stt.SpeechEventType.FINAL_TRANSCRIPT, alternatives=[said])


class Mind(llm.LLM):
    """Answers everything with the same."""

    def chat(
        self, *, chat_ctx: Any, tools: Any = None, conn_options: Any = DEFAULT_API_CONNECT_OPTIONS, **more: Any
    ) -> Any:
        return Thought(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class Thought(llm.LLMStream):
    async def _run(self) -> None:
        delta = llm.ChoiceDelta(role="assistant", content=REPLY)
        self._event_ch.send_nowait(llm.ChatChunk(id="c", delta=delta))


class Mouth(tts.TTS):
    """Pico, all at once."""

    def __init__(self) -> None:
        super().__init__(capabilities=tts.TTSCapabilities(streaming=False), sample_rate=RATE, num_channels=1)

    def synthesize(self, text: str, *, conn_options: Any = DEFAULT_API_CONNECT_OPTIONS) -> Any:
        return Speech(tts=self, input_text=text, conn_options=conn_options)


class Speech(tts.ChunkedStream):
    async def _run(self, output: Any) -> None:
        output.initialize(
            request_id=utils.shortuuid(), sample_rate=RATE, num_channels=1, mime_type="audio/pcm", stream=False
        )
        # One sentence at a time is asked for; each gets its share of the whole.
        share = len(self.input_text) / len(REPLY)
        size = int(len(spoken()) // 2 * share) * 2
        output.push(spoken()[:size])
        output.flush()


def agent(prompt: str = "") -> tuple[AgentSession, Agent]:
    """Return a session and its agent."""
    spoken()
    session: AgentSession = AgentSession(
        vad=silero.VAD.load(),
        stt=Ears(),
        llm=Mind(),
        tts=Mouth(),
        turn_handling={"turn_detection": "vad"},
    )
    return session, Agent(instructions=prompt or "Talk.")


def fails(prompt: str = "") -> tuple[AgentSession, Agent]:
    """Fail."""
    raise RuntimeError("no weights here")
