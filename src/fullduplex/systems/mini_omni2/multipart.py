"""The parts of a ``multipart/x-mixed-replace`` answer while they come."""

from __future__ import annotations

import re
from dataclasses import dataclass

_BOUNDARY = re.compile(r"boundary=\"?([^\";\s]{1,70})", re.IGNORECASE)
#: A part's headers are shorter than this, and a part than that (bytes).
_HEADERS, _PART = 2_000, 1 << 26


@dataclass(frozen=True, slots=True)
class Part:
    """A part: its type, such as ``audio/wav``, and its bytes."""

    kind: str
    body: bytes


class Parts:
    """Bytes as they come, cut at the boundary that ``content_type`` tells; raises ValueError where it tells none."""

    def __init__(self, content_type: str) -> None:
        found = _BOUNDARY.search(content_type) if content_type.lower().startswith("multipart/") else None
        if found is None:
            raise ValueError(f"its answer is {content_type or 'of no type'}, not in parts")
        self._mark = b"\r\n--" + found[1].encode() + b"\r\n"
        self._end = b"\r\n--" + found[1].encode() + b"--"
        self._rest = b""

    def take(self, data: bytes) -> list[Part]:
        """Return the parts that ``data`` completes: each is whole where the next begins. Raises ValueError."""
        # The first boundary may come without a line before it.
        self._rest = (self._rest or b"") + data
        if self._rest.startswith(self._mark[2:]):
            self._rest = b"\r\n" + self._rest
        *whole, self._rest = self._rest.split(self._mark)
        if len(self._rest) > _PART:
            raise ValueError("a part of its answer does not end")
        return [part for text in whole if (part := _part(text)) is not None]

    def end(self) -> list[Part]:
        """Return the last part."""
        text, self._rest = self._rest.partition(self._end)[0], b""
        part = _part(text)
        return [] if part is None else [part]


def _part(text: bytes) -> Part | None:
    """Return the part that ``text`` is, one of no type where it is none; None for nothing, as before the first."""
    if not text:
        return None
    head, found, body = text.partition(b"\r\n\r\n")
    if not found or len(head) > _HEADERS:
        return Part("", text)
    for line in head.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-type":
            return Part(value.partition(";")[0].strip().lower(), body)
    return Part("", body)
