"""Judges behind any server that speaks OpenAI's chat completions: Ollama, vLLM, llama.cpp's own.

Tested against llama.cpp's real server and against a local server that plays what goes wrong.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fullduplex.errors import InputError
from fullduplex.judging.providers import chat
from fullduplex.judging.providers.failures import tried
from fullduplex.judging.providers.hosted import Hosted
from fullduplex.judging.providers.settings import check_hears, library
from fullduplex.judging.providers.wire import client
from fullduplex.judging.question import Reply, Request
from fullduplex.model.spec import Spec

NAME = "openai-compatible"


@dataclass(eq=False, repr=False)
class Compatible(Hosted):
    """The model that a server at ``url`` (up to and with ``/v1``) calls ``model``; no key is needed.

    ``structure`` is how replies are held to a schema: ``json_schema`` (vLLM, llama.cpp and Ollama hold a model to it
    token by token), ``json_object``, or ``none``. ``extra`` is a JSON object of further members of each request, such
    as ``{"think":false}``; it is part of the spec. ``audio``: the model hears. The other options are those of
    :class:`Hosted`.

    Raises :class:`InputError` on options that cannot be meant, :class:`PluginError` where the SDK is not installed.
    """

    name = NAME
    structures = chat.STRUCTURES

    url: str = "http://localhost:11434/v1"
    audio: bool = False
    extra: Mapping[str, Any] | str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.audio, self._extra = bool(self.audio), _object(self.extra)
        self._sdk = library(self.name, "openai")
        key = self._known.key
        self._http, _ = client(self._known, {"authorization": f"Bearer {key}"} if key else {})
        self._client = self._sdk.OpenAI(
            api_key="set on the wire", base_url=self._known.url, http_client=self._http, max_retries=0
        )

    @property
    def spec(self) -> Spec:
        """Return the server, the model's name there and what changes its replies; not the key."""
        options: dict[str, Any] = {
            "url": self._known.url,
            "model": self._known.model,
            "audio": self.audio,
            "plain": self.plain,
            "room": self._known.room,
            "structure": self.structure,
            "extra": self._extra,
        }
        return Spec(NAME, options)

    @property
    def hears(self) -> bool:
        """Return whether clips reach the model."""
        return self.audio

    def ask(self, request: Request) -> Reply:
        """Return the reply. Raises :class:`Refused` or :class:`Unreachable`."""
        check_hears(NAME, request, self.audio, "add audio=true for a model that does")
        body = chat.asked(self._known, request, structure=self.structure, plain=self.plain, limit_name="max_tokens")
        completions = self._client.chat.completions.with_raw_response
        answer = tried(
            self._known,
            lambda: completions.create(**body, extra_body=self._extra).http_response.text,
            self._sdk.OpenAIError,
        )
        return chat.read(self._known, answer, heard=bool(request.clips))

    def close(self) -> None:
        """Let connections go."""
        self._client.close()


def _object(extra: Mapping[str, Any] | str) -> dict[str, Any]:
    if not extra:
        return {}
    try:
        found = json.loads(extra) if isinstance(extra, str) else dict(extra)
        json.dumps(found, allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InputError(NAME, "extra", found=str(extra), expected="a JSON object")
    return found
