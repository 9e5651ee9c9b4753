"""Judges behind Google's Gemini API, one request at a time or in batches. All of its models hear.

Tested against a local server that speaks the documented protocol; *not verified live*.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fullduplex.judging.providers import gemini_batch
from fullduplex.judging.providers.batch import check_count
from fullduplex.judging.providers.clips import clips
from fullduplex.judging.providers.failures import not_readable, parsed, tried
from fullduplex.judging.providers.hosted import Hosted
from fullduplex.judging.providers.prices import cost, count_of
from fullduplex.judging.providers.schemas import closed
from fullduplex.judging.providers.settings import Settings, check_hears, library
from fullduplex.judging.providers.wire import client
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.model.spec import Spec

HOME = "https://generativelanguage.googleapis.com"
STRUCTURES = ("json_schema", "json_object", "none")
_VERSION = "v1beta"
#: Reasons to finish that are a policy's.
_POLICY = frozenset({"SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})
_MIME = {"wav": "audio/wav", "mp3": "audio/mp3"}


@dataclass(eq=False, repr=False)
class Gemini(Hosted):
    """The model that the Gemini API calls ``model``.

    ``audio`` false keeps clips from it. Its models count their thoughts against ``room``. ``structure`` is
    ``json_schema``, ``json_object``, or ``none``. The other options are those of :class:`Hosted`.

    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where the SDK is not installed.
    """

    name = "gemini"
    home = HOME
    structures = STRUCTURES

    audio: bool = True
    room: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        self.audio = bool(self.audio)
        sdk = library(self.name, "google.genai")
        self._errors = library(self.name, "google.genai.errors").APIError
        key = self._known.key
        self._http, self._wire = client(self._known, {"x-goog-api-key": key} if key else {})
        self._client = sdk.Client(
            vertexai=False,
            api_key="set on the wire",
            http_options={
                "base_url": self._known.url,
                "api_version": _VERSION,
                "httpx_client": self._http,
                # It is never used, but else one is built that reads the environment.
                "httpx_async_client": library(self.name, "httpx2").AsyncClient(trust_env=False),
            },
        )

    @property
    def spec(self) -> Spec:
        """Return the model, the server and what changes its replies; not the key."""
        options: dict[str, Any] = {
            "model": self._known.model,
            "url": self._known.url,
            "audio": self.audio,
            "plain": self.plain,
            "room": self._known.room,
            "structure": self.structure,
        }
        return Spec("gemini", options)

    @property
    def hears(self) -> bool:
        """Return whether clips reach the model."""
        return self.audio

    def ask(self, request: Request) -> Reply:
        """Return the reply. Raises :class:`Refused` or :class:`Unreachable`."""
        contents, config = self._asked(request)
        config["should_return_http_response"] = True
        models = self._client.models
        answer = tried(
            self._known,
            lambda: (
                models.generate_content(
                    model=self._known.model, contents=contents, config=config
                ).sdk_http_response.body
            ),
            self._errors,
        )
        return reply(self._known, parsed(self._known, answer), heard=bool(request.clips))

    def submit(self, requests: Sequence[Request]) -> str:
        """Return the id of a batch of ``requests``, answered within a day; see :class:`BatchJudge`."""
        check_count("gemini", requests, gemini_batch.MOST)
        asked = [self._asked(request) for request in requests]
        with self._wire.patient(gemini_batch.PATIENCE, gemini_batch.LARGEST):
            heard = any(request.clips for request in requests)
            return gemini_batch.submit(self._known, self._client, self._errors, asked, heard=heard)

    def collect(self, batch: str) -> list[Reply | Refused | Unreachable] | None:
        """Return what became of each request of a batch in their order, None while it is being answered."""
        with self._wire.patient(gemini_batch.PATIENCE, gemini_batch.LARGEST):
            return gemini_batch.collect(self._known, self._client, self._errors, batch, reply)

    def close(self) -> None:
        """Let connections go."""
        self._client.close()
        self._http.close()

    def _asked(self, request: Request) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the contents and the configuration of a request."""
        check_hears("gemini", request, self.audio, "leave audio=false out")
        parts: list[dict[str, Any]] = [{"text": request.user}]
        parts += [{"inline_data": {"data": data, "mimeType": _MIME[form]}} for data, form in clips(request.clips)]
        config: dict[str, Any] = {"max_output_tokens": request.limit + self._known.room}
        if request.system:
            config["system_instruction"] = request.system
        if request.seed is not None and not self.plain:
            config["seed"] = request.seed
        if request.temperature is not None and not self.plain:
            config["temperature"] = request.temperature
        if request.schema is not None and self.structure != "none":
            config["response_mime_type"] = "application/json"
            if self.structure == "json_schema":
                config["response_json_schema"] = closed(request.schema)
        return [{"role": "user", "parts": parts}], config


def reply(known: Settings, found: Any, *, heard: bool = False, in_batch: bool = False) -> Reply:
    """Return the reply that an answer holds: the first candidate's texts, without what the model thought.

    Raises :class:`Refused` where a policy blocked the request or the reply, :class:`Unreachable` where it is no
    answer or has no candidate.
    """
    if not isinstance(found, dict) or not ({"candidates", "promptFeedback", "usageMetadata"} & set(found)):
        raise not_readable(known, json.dumps(found))
    feedback = found.get("promptFeedback")
    blocked = feedback.get("blockReason") if isinstance(feedback, dict) else None
    if blocked:
        raise Refused(f"{known.where} declined: the request was blocked ({known.told(blocked, 60)})")
    candidates = found.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        raise Unreachable(f"{known.where} sent a reply without a candidate")
    why = str(candidates[0].get("finishReason") or "")
    if why in _POLICY:
        raise Refused(f"{known.where} declined: the reply was stopped ({known.told(why, 60)})")
    content = candidates[0].get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    said = [part for part in parts or () if isinstance(part, dict) and not part.get("thought")]
    text = "".join(part["text"] for part in said if isinstance(part.get("text"), str))
    usage = _usage(found.get("usageMetadata"))
    if not text and why not in ("STOP", "MAX_TOKENS", ""):
        raise Unreachable(f"{known.where} stopped without a word ({known.told(why, 60)})")
    return Reply(
        known.kept(text),
        model=known.kept(str(found.get("modelVersion") or "")),
        usage=usage,
        complete=why != "MAX_TOKENS",
        cost=cost(usage, known.price, heard=heard, in_batch=in_batch),
    )


def _usage(told: Any) -> Mapping[str, int]:
    """Return the tokens told: the prompt's, those of the reply and of the thoughts before it, the cached ones."""
    if not isinstance(told, dict):
        return {}

    count = partial(count_of, told)
    prompt, said, thought = count("promptTokenCount"), count("candidatesTokenCount"), count("thoughtsTokenCount")
    out = None if said is None and thought is None else (said or 0) + (thought or 0)
    found = {"input": prompt, "output": out, "cached": count("cachedContentTokenCount")}
    return {name: value for name, value in found.items() if value is not None}
