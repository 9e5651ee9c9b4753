"""Judges behind Anthropic's messages, one request at a time or in batches. They read; none of them hears.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from fullduplex.judging.providers import anthropic_batch
from fullduplex.judging.providers.batch import check_count
from fullduplex.judging.providers.failures import not_readable, parsed, tried
from fullduplex.judging.providers.hosted import Hosted
from fullduplex.judging.providers.prices import cost, count_of
from fullduplex.judging.providers.schemas import closed
from fullduplex.judging.providers.settings import Settings, check_hears, library
from fullduplex.judging.providers.wire import client
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.model.spec import Spec

HOME = "https://api.anthropic.com"
STRUCTURES = ("json_schema", "none")
#: Reasons to stop that mean a reply which is not all there.
_CUT = ("max_tokens", "model_context_window_exceeded")


@dataclass(eq=False, repr=False)
class Anthropic(Hosted):
    """The model that Anthropic calls ``model``; name a dated snapshot to be judged by the same one later.

    ``plain`` leaves the temperature out, which only older models take; a seed there is none. ``effort`` is how much a
    model thinks and writes. ``structure`` is ``json_schema``, or ``none`` for models that cannot. The other options are
    those of :class:`Hosted`.

    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where the SDK is not installed.
    """

    hears: ClassVar[bool] = False
    name = "anthropic"
    home = HOME
    structures = STRUCTURES

    plain: bool = True
    effort: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.effort = str(self.effort)
        self._sdk = library(self.name, "anthropic")
        key = self._known.key
        self._http, self._wire = client(self._known, {"x-api-key": key} if key else {})
        self._client = self._sdk.Anthropic(
            api_key="set on the wire", base_url=self._known.url, http_client=self._http, max_retries=0
        )

    @property
    def spec(self) -> Spec:
        """Return the model, the server and what changes its replies; not the key."""
        options: dict[str, Any] = {
            "model": self._known.model,
            "url": self._known.url,
            "plain": self.plain,
            "effort": self.effort,
            "room": self._known.room,
            "structure": self.structure,
        }
        return Spec("anthropic", options)

    def ask(self, request: Request) -> Reply:
        """Return the reply. Raises :class:`Refused` or :class:`Unreachable`."""
        body = self._body(request)
        # The SDK has no argument for it any more.
        further = {"temperature": body.pop("temperature")} if "temperature" in body else None
        messages = self._client.messages.with_raw_response
        answer = tried(
            self._known,
            lambda: messages.create(**body, extra_body=further).http_response.text,
            self._sdk.AnthropicError,
        )
        return reply(self._known, parsed(self._known, answer))

    def submit(self, requests: Sequence[Request]) -> str:
        """Return the id of a batch of ``requests``, answered within a day; see :class:`BatchJudge`."""
        check_count("anthropic", requests, anthropic_batch.MOST)
        bodies = [self._body(request) for request in requests]
        with self._wire.patient(anthropic_batch.PATIENCE, anthropic_batch.LARGEST):
            return anthropic_batch.submit(self._known, self._client, self._sdk, bodies)

    def collect(self, batch: str) -> list[Reply | Refused | Unreachable] | None:
        """Return what became of each request of a batch in their order, None while it is being answered."""
        with self._wire.patient(anthropic_batch.PATIENCE, anthropic_batch.LARGEST):
            return anthropic_batch.collect(self._known, self._client, self._sdk, batch, reply)

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    def _body(self, request: Request) -> dict[str, Any]:
        check_hears("anthropic", request, False)
        body: dict[str, Any] = {
            "model": self._known.model,
            "max_tokens": request.limit + self._known.room,
            "messages": [{"role": "user", "content": request.user}],
        }
        if request.system:
            body["system"] = request.system
        if request.temperature is not None and not self.plain:
            # Theirs ends at 1, where that of others goes on to 2.
            body["temperature"] = min(request.temperature, 1.0)
        output: dict[str, Any] = {"effort": self.effort} if self.effort else {}
        if request.schema is not None and self.structure == "json_schema":
            output["format"] = {"type": "json_schema", "schema": closed(request.schema, bounds=False)}
        return body | ({"output_config": output} if output else {})


def reply(known: Settings, found: Any, *, in_batch: bool = False) -> Reply:
    """Return the reply that a message holds: its texts, without what the model thought.

    Raises :class:`Refused` where the model stopped with a refusal, :class:`Unreachable` where it is no message or
    holds nothing.
    """
    if not isinstance(found, dict) or not isinstance(found.get("content"), list):
        raise not_readable(known, json.dumps(found), "message")
    why = str(found.get("stop_reason") or "")
    if why == "refusal":
        details = found.get("stop_details")
        details = details if isinstance(details, dict) else {}
        reason = details.get("explanation") or details.get("category") or "it gave no reason"
        raise Refused(f"{known.where} declined: {known.told(reason)}")
    parts = [part for part in found["content"] if isinstance(part, dict) and part.get("type") == "text"]
    text = "".join(part["text"] for part in parts if isinstance(part.get("text"), str))
    usage = _usage(found.get("usage"))
    if not found["content"] and why not in _CUT:
        raise Unreachable(f"{known.where} sent a reply without content")
    return Reply(
        known.kept(text),
        model=known.kept(str(found.get("model") or "")),
        usage=usage,
        complete=why not in _CUT,
        cost=cost(usage, known.price, in_batch=in_batch),
    )


def _usage(told: Any) -> Mapping[str, int]:
    """Return the tokens told. Theirs counts what was cached apart from the input; ours counts it in."""
    if not isinstance(told, dict):
        return {}

    count = partial(count_of, told)
    plain, out = count("input_tokens"), count("output_tokens")
    cached, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
    found = {
        "input": None if plain is None else plain + (cached or 0) + (written or 0),
        "output": out,
        "cached": cached,
    }
    return {name: value for name, value in found.items() if value is not None}
