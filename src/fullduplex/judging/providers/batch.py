"""Batches: many requests handed over at once, answered within a day at a lower price."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from fullduplex.errors import InputError, printable
from fullduplex.judging.providers.failures import answered, not_readable
from fullduplex.judging.providers.settings import Settings
from fullduplex.judging.question import Judge, Refused, Reply, Request, Unreachable

_SOUND = "+sound"
#: What became of each request, in their order.
Outcomes = list[Reply | Refused | Unreachable]


@runtime_checkable
class BatchJudge(Judge, Protocol):
    """A judge that also takes many requests at once; another process may collect what one has submitted."""

    def submit(self, requests: Sequence[Request]) -> str:
        """Return the batch's id: one line of text that is all that collecting needs, besides the same options.

        Raises :class:`Refused` or :class:`Unreachable`, and :class:`InputError` on no request or too many.
        """
        ...

    def collect(self, batch: str) -> Outcomes | None:
        """Return what became of each request in their order, None while the batch is being answered.

        A request that the vendor let expire, or cancelled, is unreachable. Raises :class:`Refused` where there is no
        such batch, :class:`Unreachable` where it cannot be asked for, :class:`InputError` on what is no id.
        """
        ...


def check_count(judge: str, requests: Sequence[Any], most: int) -> None:
    """Raise :class:`InputError` unless there is a request, and at most ``most``."""
    if not 0 < len(requests) <= most:
        raise InputError(
            judge, "batch", found=f"{len(requests):,} requests", expected=f"from 1 to {most:,}", do="submit it in parts"
        )


def size_in(judge: str, bodies: Sequence[Any], largest: int) -> int:
    """Return how many bytes ``bodies`` are as JSON; raises :class:`InputError` where that is more than ``largest``."""
    size = sum(len(json.dumps(body)) + 100 for body in bodies)
    if size > largest:
        raise InputError(
            judge,
            "batch",
            found=f"{size / 1e6:.0f} MB",
            expected=f"at most {largest / 1e6:.0f} MB",
            do="submit it in parts",
        )
    return size


def batch_id(vendor_id: object, count: int, *, heard: bool = False) -> str:
    """Return our id of a batch: the vendor's own, how many requests it holds, and whether any of them holds sound."""
    return f"{vendor_id}#{count}{_SOUND if heard else ''}"


def read_id(judge: str, batch: str) -> tuple[str, int, bool]:
    """Return what :func:`batch_id` was given; raises :class:`InputError` on what is no id."""
    own, _, count = str(batch).strip().rpartition("#")
    heard, count = count.endswith(_SOUND), count.removesuffix(_SOUND)
    # The id becomes part of an address: nothing in it may lead elsewhere.
    safe = own and all(c.isascii() and (c.isalnum() or c in "-_/.") for c in own) and ".." not in own
    if not safe or not count.isascii() or not count.isdecimal() or len(count) > 9:
        raise InputError(judge, "batch", found=printable(str(batch), 80), expected="an id that submitting gave")
    return own, int(count), heard


def in_order(known: Settings, found: Mapping[str, Reply | Refused | Unreachable], count: int, missing: str) -> Outcomes:
    """Return the outcomes that carry the numbers 0 to ``count`` - 1; a number that is not there is unreachable."""
    return [
        found.get(str(number))
        or Unreachable(f"{known.where} sent no reply to request {number + 1} of {count}: {missing}")
        for number in range(count)
    ]


def failed_line(known: Settings, status: Any, error: Any) -> Refused | Unreachable:
    """Return what one failed request of a batch means."""
    code = status if isinstance(status, int) and status >= 400 else 500
    return answered(known, code, {}, json.dumps({"error": error}))


def object_in(known: Settings, text: str) -> dict[str, Any]:
    """Return the JSON object that ``text`` is; raises :class:`Unreachable` where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise not_readable(known, text, "JSON object")
    return found
