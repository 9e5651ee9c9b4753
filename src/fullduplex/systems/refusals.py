"""What a server's refusal means for those who come after: wait, or stop asking.

A driver tells nothing of it: an error that a library raised for an HTTP answer is found behind the driver's sentence.
One whose protocol refuses in words of its own raises :class:`Busy`.
"""

from __future__ import annotations

import errno
import math
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from fullduplex.errors import ConversationError

#: Statuses that pass by themselves: too many requests, no room.
_PASSING = frozenset({429, 503, 529})
#: Statuses after which every further talk would be refused alike: the key, the bill, the model, the address.
_FOR_ALL = frozenset({401, 402, 403, 404, 410})
#: Words of a refusal that mean the account rather than the moment, whatever the status.
_ACCOUNT = ("insufficient_quota", "billing", "exceeded your current quota")
#: What the machine says where nobody listens.
_NOBODY = frozenset({errno.ECONNREFUSED, errno.EHOSTUNREACH, errno.ENETUNREACH})


class Busy(ConversationError):
    """A server has no room for now; ``after`` are the seconds that it asks to wait, None where it does not say."""

    def __init__(self, message: str, after: float | None = None) -> None:
        super().__init__(message)
        self.after = after

    def __reduce__(self) -> tuple[object, ...]:
        return (Busy, (str(self), self.after))


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal: ``passing`` by itself, ``after`` so many seconds where it says; else it meets every talk alike.

    ``absent``: nobody refused, since nobody is there: the connection is refused, or the name is not known.
    """

    passing: bool
    after: float | None = None
    absent: bool = False


def refusal_of(error: BaseException) -> Refusal | None:
    """Return what ``error`` means for other talks, None where it means nothing."""
    seen: BaseException | None = error
    for _ in range(12):
        if seen is None:
            return None
        if isinstance(seen, Busy):
            return Refusal(True, seen.after)
        answer = getattr(seen, "response", None)
        status = getattr(answer, "status_code", None)
        if isinstance(status, int):
            return _answered(status, answer)
        if _nobody(seen):
            return Refusal(False, absent=True)
        # httpcore hands the machine's error on as what its own is made of.
        seen = seen.__cause__ or next((one for one in seen.args if isinstance(one, BaseException)), None)
    return None


def _nobody(error: BaseException) -> bool:
    """Return whether ``error`` says that nobody listens, at any of the addresses that were tried."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_nobody, error.exceptions))
    if not isinstance(error, OSError):
        return False
    if isinstance(error, socket.gaierror) or error.errno in _NOBODY:
        return True
    # asyncio puts the reasons of several addresses into one text.
    reasons = str(error).partition("Multiple exceptions: ")[2].split(", [Errno ")
    return all(any(f"{number}]" in reason[:13] for number in _NOBODY) for reason in reasons if reason) and any(reasons)


def _answered(status: int, answer: Any) -> Refusal | None:
    text = _text(answer).lower()
    if status in _FOR_ALL or (400 <= status < 500 and any(word in text for word in _ACCOUNT)):
        return Refusal(False)
    if status in _PASSING:
        headers = getattr(answer, "headers", {})
        told = headers.get("Retry-After") or headers.get("retry-after") or ""
        return Refusal(True, seconds_asked(str(told), time.time()))
    return None


def _text(answer: Any) -> str:
    body = getattr(answer, "body", None)
    if body is None and isinstance(getattr(answer, "extensions", None), Mapping):
        try:
            body = answer.content
        except RuntimeError:
            return ""  # a stream that nobody has read
    return bytes(body or b"")[:20_000].decode("utf-8", "replace") if isinstance(body, bytes | bytearray) else ""


def seconds_asked(told: str, now: float) -> float | None:
    """Return the seconds that a ``Retry-After`` asks to wait: a number, or a date less ``now``; None for neither."""
    told = told.strip()
    if not told:
        return None
    try:
        seconds = float(told)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(told).timestamp() - now
        except (ValueError, TypeError, OverflowError, OSError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


__all__ = ["Busy", "Refusal", "refusal_of", "seconds_asked"]
