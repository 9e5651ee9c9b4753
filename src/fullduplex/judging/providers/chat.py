"""OpenAI's chat completions, as OpenAI and many servers speak them: what is asked, and what an answer says."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from fullduplex.judging.providers.clips import clips
from fullduplex.judging.providers.failures import not_readable, parsed
from fullduplex.judging.providers.prices import cost, count_of
from fullduplex.judging.providers.schemas import closed
from fullduplex.judging.providers.settings import Settings
from fullduplex.judging.question import Refused, Reply, Request, Unreachable

#: How a model is held to a schema: by the schema itself, to any JSON, or not at all.
STRUCTURES = ("json_schema", "json_object", "none")


def asked(known: Settings, request: Request, *, structure: str, plain: bool, limit_name: str) -> dict[str, Any]:
    """Return the body of a request. ``plain`` leaves seed and temperature out; ``limit_name`` names the limit.

    Raises :class:`Refused` on clips that cannot be sent.
    """
    content: Any = request.user
    if request.clips:
        content = [{"type": "text", "text": request.user}] + [
            {"type": "input_audio", "input_audio": {"data": base64.b64encode(data).decode(), "format": form}}
            for data, form in clips(request.clips)
        ]
    body: dict[str, Any] = {
        "model": known.model,
        "messages": [{"role": "system", "content": request.system}, {"role": "user", "content": content}],
        limit_name: request.limit + known.room,
    }
    if request.schema is not None and structure == "json_schema":
        held = {"name": "verdict", "strict": True, "schema": closed(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": held}
    elif request.schema is not None and structure == "json_object":
        body["response_format"] = {"type": "json_object"}
    if request.seed is not None and not plain:
        body["seed"] = request.seed
    if request.temperature is not None and not plain:
        body["temperature"] = request.temperature
    return body


def read(known: Settings, answer: str, *, heard: bool = False) -> Reply:
    """Return the reply that the text of an answer holds.

    Raises :class:`Refused` where a filter or the model itself declined, :class:`Unreachable` where it is no
    completion or one without a choice.
    """
    return reply(known, parsed(known, answer), heard=heard)


def reply(known: Settings, found: Any, *, heard: bool = False, in_batch: bool = False) -> Reply:
    """Return the reply that a completion holds, see :func:`read`."""
    if not isinstance(found, dict) or not isinstance(found.get("choices"), list):
        raise not_readable(known, json.dumps(found), "chat completion")
    if not found["choices"]:
        raise Unreachable(f"{known.where} sent a reply without a choice")
    choice = found["choices"][0]
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise not_readable(known, json.dumps(found), "chat completion")
    why = str(choice.get("finish_reason") or "")
    if message.get("refusal"):
        raise Refused(f"{known.where} declined: {known.told(message['refusal'])}")
    if why == "content_filter":
        raise Refused(f"{known.where} declined: its content filter stopped the reply")
    text, usage = _text(message.get("content")), _usage(found.get("usage"))
    if text is None:
        raise not_readable(known, json.dumps(message), "chat completion")
    return Reply(
        known.kept(text),
        model=known.kept(str(found.get("model") or "")),
        usage=usage,
        complete=why != "length",
        cost=cost(usage, known.price, heard=heard, in_batch=in_batch),
    )


def _text(content: Any) -> str | None:
    """Return the text of a message's content, which is a text or a list of parts; None where it is neither."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        return None
    return "".join(part["text"] for part in content if isinstance(part.get("text"), str))


def _usage(told: Any) -> Mapping[str, int]:
    """Return the tokens told: the prompt's, the completion's (with what a model thought), the cached ones."""
    if not isinstance(told, dict):
        return {}
    details = told.get("prompt_tokens_details")
    found = {
        "input": count_of(told, "prompt_tokens"),
        "output": count_of(told, "completion_tokens"),
        "cached": count_of(details, "cached_tokens") if isinstance(details, dict) else None,
    }
    return {name: value for name, value in found.items() if value is not None}
