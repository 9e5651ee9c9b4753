"""Distributions of corpora as drawings: SVG text in the colours of the page's style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import accumulate
from textwrap import wrap
from typing import Any

from fullduplex.reporting.language import ENGLISH, Language

_WIDTH, _HEIGHT = 420, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 12, 56
#: An axis is told in lines of so many letters: at the size of a tick, as many as fit below it.
_LETTERS = 50
#: What part of the bins is drawn: from, to, and where the axis is marked, in seconds.
_WINDOWS = {"transfer": (-2.0, 2.0, (-2, -1, 0, 1, 2))}
_OTHERS = (0.0, 4.0, (0, 1, 2, 3, 4))
_LABELS = {"transfer": "s from one turn's end to the next; below 0 they overlap"}


def shares(distributions: Sequence[tuple[str, Mapping[str, Any]]], kind: str, tell: Language = ENGLISH) -> str:
    """Return a drawing of the share of a kind's values up to each time, one line for each corpus.

    ``distributions``: (name, as in ``statistics.json``); a corpus without values has no line.
    """
    low, high, marks = _WINDOWS.get(kind, _OTHERS)
    lines = wrap(tell.of(_LABELS.get(kind, "length, s")), _LETTERS)
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts = [_text(middle, _HEIGHT - 22 + 15 * n, line, "middle") for n, line in enumerate(lines)]
    for mark in marks:
        x = _x(mark, low, high)
        parts.append(f'<line class="rule" x1="{x}" x2="{x}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(_text(x, _HEIGHT - _BOTTOM + 16, str(mark), "middle"))
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(_text(_LEFT - 6, y + 4, tell("{n}%", n=f"{100 * share:.0f}"), "end"))
    for colour, (name, found) in enumerate(distributions):
        if not found["n"]:
            continue
        points = " ".join(f"{_x(time, low, high)},{_y(share)}" for time, share in _steps(found, low, high))
        dashes = ' stroke-dasharray="6 4"' if colour else ""
        parts.append(
            f'<polyline class="curve" points="{points}" style="stroke: var(--s{colour % 8})"{dashes}>'
            f"<title>{escape(name)}</title></polyline>"
        )
    title = escape(tell.of(f"Share of {kind} values up to a time"), quote=True)
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def _steps(found: Mapping[str, Any], low: float, high: float) -> list[tuple[float, float]]:
    """Return (time, share up to it) at each edge of a bin between ``low`` and ``high``."""
    below = list(accumulate(found["counts"]))
    edges = [(found["lowest"] + n * found["bin"], count / found["n"]) for n, count in enumerate(below[:-1])]
    return [(round(time, 6), share) for time, share in edges if low <= time + 1e-9 and time - 1e-9 <= high]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="tick" text-anchor="{anchor}" x="{x}" y="{y}">{escape(text)}</text>'


def _x(value: float, low: float, high: float) -> float:
    return round(_LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)
