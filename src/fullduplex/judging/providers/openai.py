"""Judges behind OpenAI's chat completions, one request at a time or in batches.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fullduplex.judging.providers import chat, openai_batch
from fullduplex.judging.providers.batch import check_count
from fullduplex.judging.providers.failures import tried
from fullduplex.judging.providers.settings import check_hears, library, one_of, settings
from fullduplex.judging.providers.wire import client
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.model.spec import Spec

HOME = "https://api.openai.com/v1"


class OpenAI:
    """The model that OpenAI calls ``model``; name a dated snapshot to be judged by the same one later.

    ``audio``: the model hears, and clips are sent to it. ``plain`` leaves seed and temperature out, which models that
    think refuse. ``effort`` is how much these think, ``room`` how many tokens they may take for it beyond a
    request's limit. ``structure`` is how replies are held to a schema: ``json_schema``, ``json_object`` or ``none``;
    by default the first, and none with ``audio``, whose models take no schema. ``timeout`` is how many seconds
    one request may take in all. ``key`` or ``key_file`` is the key; it is no part of the spec. ``price_in`` and
    ``price_out`` are US dollars for a million tokens. ``url`` and ``proxy`` are addresses.

    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where the SDK is not installed.
    """

    weakness = ""

    def __init__(
        self,
        model: str = "",
        key: str = "",
        key_file: str = "",
        timeout: float = 60.0,
        audio: bool = False,
        plain: bool = False,
        effort: str = "",
        room: int = 0,
        structure: str = "",
        price_in: float | None = None,
        price_out: float | None = None,
        url: str = "",
        proxy: str = "",
    ) -> None:
        self._known = settings(
            "openai",
            home=HOME,
            url=url,
            model=model,
            key=key,
            key_file=key_file,
            timeout=timeout,
            room=room,
            proxy=proxy,
            price_in=price_in,
            price_out=price_out,
        )
        self._structure = one_of(
            "openai", "structure", structure or ("none", "json_schema")[not audio], chat.STRUCTURES
        )
        self._hears, self._plain, self._effort = bool(audio), bool(plain), str(effort)
        self._sdk = library("openai", "openai")
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
            "audio": self._hears,
            "plain": self._plain,
            "effort": self._effort,
            "room": self._known.room,
            "structure": self._structure,
        }
        return Spec("openai", options)

    @property
    def hears(self) -> bool:
        """Return whether clips reach the model."""
        return self._hears

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
        check_hears("openai", request, self._hears, "add audio=true for a model that does")
        body = chat.asked(
            self._known, request, structure=self._structure, plain=self._plain, limit_name="max_completion_tokens"
        )
        if self._hears:
            body["modalities"] = ["text"]
        return body | ({"reasoning_effort": self._effort} if self._effort else {})
