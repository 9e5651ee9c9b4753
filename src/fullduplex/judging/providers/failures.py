"""What went wrong between us and a server, as one of two: it will not answer, or it did not."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from fullduplex.judging.providers.settings import Settings, library
from fullduplex.judging.question import Refused, Unreachable

Made = TypeVar("Made")

#: Statuses after which every further request would be answered alike: the key, the bill, the model, the address.
_FOR_ALL = frozenset({301, 302, 303, 307, 308, 401, 402, 403, 404, 405, 410})
#: Statuses that pass by themselves.
_PASSING = frozenset({408, 409, 423, 425, 429})
#: Words of an error's code or type that mean the account rather than the moment, whatever the status.
_ACCOUNT = ("insufficient_quota", "billing", "api_key_invalid", "invalid_api_key", "permission_denied")
#: Parameters that are ours rather than the item's: where one is refused, it is refused for all.
_OURS = re.compile(
    r"\b(temperature|seed|response_?format|json_schema|output_config|max_(?:completion_)?tokens|reasoning_?effort|model"
    r"|effort|input_audio|modalit(?:y|ies))\b",
    re.IGNORECASE,
)
_CODES = ("unsupported_parameter", "unsupported_value", "model_not_found", "unknown_parameter")


def tried(known: Settings, call: Callable[[], Made], *errors: type[Exception]) -> Made:
    """Return what ``call`` returns; of ``errors``, and of those of the wire, only ours come through.

    Raises :class:`Refused` or :class:`Unreachable` in one sentence without the key.
    """
    http = library(known.judge, "httpx2")
    try:
        return call()
    except (*errors, http.HTTPError, http.InvalidURL, OSError, ValueError, RecursionError) as error:
        raise explained(known, error) from None


def explained(known: Settings, error: BaseException) -> Refused | Unreachable:
    """Return what an SDK's error means.

    One with an answer by its status, see :func:`answered`. One that comes of the wire did not reach the server.
    Anything else is an answer that the SDK could not read.
    """
    answer = getattr(error, "response", None)
    status = getattr(answer, "status_code", None)
    if isinstance(status, int) and status >= 300:
        return answered(known, status, getattr(answer, "headers", {}), _text(answer))
    http = library(known.judge, "httpx2")
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, http.TimeoutException):
            return Unreachable(f"{known.where} {known.told(cause)}")
        if isinstance(cause, http.HTTPError | http.InvalidURL):
            return Unreachable(f"{known.where} could not be talked with: {known.told(cause)}")
        cause = cause.__cause__
    return not_readable(known, error)


def answered(known: Settings, status: int, headers: Mapping[str, str], text: str) -> Refused | Unreachable:
    """Return what an answer means that is no success.

    A wrong key, an unpaid bill, an unknown model or address, and a parameter that the model does not take: refused,
    for all. Rate limits, conflicts and faults of the server: unreachable, with the seconds that it asked to wait.
    Everything else (a policy, a request too large): refused, this one.
    """
    body = _object(text)
    detail = _error(body)
    code = f"{detail.get('code', '')} {detail.get('type', '')} {detail.get('status', '')}".lower()
    message = str(detail.get("message") or text)
    sentence = f"{known.where} answered {status}: {known.told(message)}"
    hints = f"{code} {json.dumps(detail.get('details', ''))}".lower()
    if status in _FOR_ALL or any(word in hints for word in _ACCOUNT):
        return Refused(sentence, for_all=True)
    if status in _PASSING or status >= 500:
        return Unreachable(sentence, after=_after(headers, detail))
    named = str(detail.get("param") or "")
    if status in (400, 422) and (any(word in code for word in _CODES) or _OURS.fullmatch(named.split(".")[0])):
        takes = "; add plain=true to ask without" if _plain_would_help(named, message) else ""
        return Refused(sentence + takes, for_all=True)
    if status == 400 and _plain_would_help(named, message):
        return Refused(f"{sentence}; add plain=true to ask without", for_all=True)
    return Refused(sentence)


def not_readable(known: Settings, what: object, kind: str = "reply") -> Unreachable:
    """Return the failure that an answer is which is no such thing."""
    return Unreachable(f"{known.where} sent what is no {kind}: {known.told(what, 120)}")


def parsed(known: Settings, answer: str) -> Any:
    """Return what an answer is as JSON; raises :class:`Unreachable` where it is none."""
    try:
        return json.loads(answer)
    except (ValueError, TypeError, RecursionError):
        raise not_readable(known, answer, "JSON") from None


def _plain_would_help(param: str, message: str) -> bool:
    return param in ("temperature", "seed") or bool(re.search(r"[`'\"](temperature|seed)[`'\"]", message))


def _text(answer: Any) -> str:
    try:
        return str(answer.text)[:20_000]
    except (AttributeError, ValueError, RuntimeError):
        return ""


def _object(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if isinstance(found, list) and found:
        found = found[0]
    return found if isinstance(found, dict) else {}


def _error(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the error of an answer: all three vendors put it under ``error``, others put its text there."""
    error = body.get("error", body.get("detail", body.get("message", "")))
    if isinstance(error, dict):
        return error
    return {"message": error if isinstance(error, str) else json.dumps(error)} if error else {}


def _after(headers: Mapping[str, str], detail: Mapping[str, Any]) -> float | None:
    """Return the seconds to wait: a header's number or date, or the delay that Google puts into the error."""
    told = str(headers.get("retry-after") or "").strip()
    details = detail.get("details")
    for part in details if isinstance(details, list) else ():
        if not told and isinstance(part, dict) and str(part.get("retryDelay", "")).endswith("s"):
            told = str(part["retryDelay"])[:-1]
    if not told:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
