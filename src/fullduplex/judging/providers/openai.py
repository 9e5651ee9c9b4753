"""Judges behind OpenAI's chat completions, one request at a time or in batches.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.judging.providers import chat, openai_batch
from fullduplex.judging.providers.batch import check_count
from fullduplex.judging.providers.failures import tried
from fullduplex.judging.providers.hosted import Hosted
from fullduplex.judging.providers.settings import check_hears, library
from fullduplex.judging.providers.wire import client
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.model.spec import Spec

HOME = "https://api.openai.com/v1"


@dataclass(eq=False, repr=False)
class OpenAI(Hosted):
    """The model that OpenAI calls ``model``; name a dated snapshot to be judged by the same one later.

    ``audio``: the model hears, and clips are sent to it. ``effort`` is how much models that think do so. ``structure``
    is by default ``json_schema``, and ``none`` with ``audio``, whose models take no schema. The other options are
    those of :class:`Hosted`.

    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where the SDK is not installed.
    """

    name = "openai"
    home = HOME
    structures = chat.STRUCTURES

    audio: bool = False
    effort: str = ""
    structure: str = ""

    def __post_init__(self) -> None:
        self.audio, self.effort = bool(self.audio), str(self.effort)
        self.structure = self.structure or ("none" if self.audio else "json_schema")
        super().__post_init__()
        self._sdk = library(self.name, "openai")
        key = self._known.key
        self._http, self._wire = client(self._known, {"authorization": f"Bearer {key}"} if key else {})
        self._client = self._sdk.OpenAI(
            api_key="set on the wire", base_url=self._known.url, http_client=self._http, max_retries=0
        )

    @property
    def spec(self) -> Spec:
        """Return the model, the server and what changes its replies; not the key."""
        options: dict[str, Any] = {
            "model": self._known.model,
            "url": self._known.url,
            "audio": self.audio,
            "plain": self.plain,
            "effort": self.effort,
            "room": self._known.room,
            "structure": self.structure,
        }
        return Spec("openai", options)

    @property
    def hears(self) -> bool:
        """Return whether clips reach the model."""
        return self.audio

    def ask(self, request: Request) -> Reply:
        """Return the reply. Raises :class:`Refused` or :class:`Unreachable`."""
        body = self._body(request)
        completions = self._client.chat.completions.with_raw_response
        answer = tried(self._known, lambda: completions.create(**body).http_response.text, self._sdk.OpenAIError)
        return chat.read(self._known, answer, heard=bool(request.clips))

    def submit(self, requests: Sequence[Request]) -> str:
        """Return the id of a batch of ``requests``, answered within a day; see :class:`BatchJudge`."""
        check_count("openai", requests, openai_batch.MOST)
        bodies = [self._body(request) for request in requests]
        with self._wire.patient(openai_batch.PATIENCE, openai_batch.LARGEST):
            heard = any(request.clips for request in requests)
            return openai_batch.submit(self._known, self._client, self._sdk, bodies, heard=heard)

    def collect(self, batch: str) -> list[Reply | Refused | Unreachable] | None:
        """Return what became of each request of a batch in their order, None while it is being answered."""
        with self._wire.patient(openai_batch.PATIENCE, openai_batch.LARGEST):
            return openai_batch.collect(self._known, self._client, self._sdk, batch)

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    def _body(self, request: Request) -> dict[str, Any]:
        check_hears("openai", request, self.audio, "add audio=true for a model that does")
        body = chat.asked(
            self._known, request, structure=self.structure, plain=self.plain, limit_name="max_completion_tokens"
        )
        if self.audio:
            body["modalities"] = ["text"]
        return body | ({"reasoning_effort": self.effort} if self.effort else {})
