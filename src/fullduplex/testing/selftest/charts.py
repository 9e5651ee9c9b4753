"""Distributions as drawings: SVG text that a page can hold, in the colours of its style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fullduplex.model.spans import ms
from fullduplex.testing.selftest.score import Errors

_WIDTH, _HEIGHT = 420, 230
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 12, 40


@dataclass(frozen=True, slots=True)
class Line:
    """A distribution to draw: its name, the number of its colour, and whether it is dashed."""

    name: str
    errors: Errors
    colour: int
    dashed: bool = False


def shares(lines: Sequence[Line], title: str, *, up_to: int = 150) -> str:
    """Return a drawing of the share of errors that are at most so large, for sizes up to ``up_to`` milliseconds.

    The share is of all that was planted: what was missed or merged never counts as found.
    """
    parts = _axes(title, [0, up_to // 3, 2 * up_to // 3, up_to], 0, up_to, "at most so many ms off")
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = _y(share)
        parts.append(f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(f'<text class="tick" text-anchor="end" x="{_LEFT - 6}" y="{y + 4}">{share:.0%}</text>')
    for line in lines:
        asked = line.errors.n + sum(line.errors.absent.values())
        if not asked:
            continue
        sizes = sorted(abs(error) / ms(1) for error in line.errors.known)
        points, at = [(0.0, 0.0)], 0.0
        for k, size in enumerate(sizes):
            if size > up_to:
                break
            points += [(size, at), (size, (k + 1) / asked)]
            at = (k + 1) / asked
        points.append((float(up_to), at))
        path = " ".join(f"{_x(x, 0, up_to):.1f},{_y(y):.1f}" for x, y in _thinned(points))
        parts.append(_path(path, line))
    return _drawing(title, parts)


def histogram(lines: Sequence[Line], title: str, *, within: int = 150, width: int = 10) -> str:
    """Return a drawing of how many signed errors lie in each ``width`` ms; those past ±``within`` at its ends."""
    ticks = [-within, -within // 2, 0, within // 2, within]
    parts = _axes(title, ticks, -within, within, "ms too early or too late")
    counted = [(line, _counts(line.errors, within, width)) for line in lines]
    most = max((max(counts) for _, counts in counted), default=0) or 1
    zero = _x(0, -within, within)
    parts.append(f'<line class="zero" x1="{zero}" x2="{zero}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
    for share in (0.0, 0.5, 1.0):
        parts.append(
            f'<text class="tick" text-anchor="end" x="{_LEFT - 6}" y="{_y(share) + 4}">{share * most:.0f}</text>'
        )
    for line, counts in counted:
        points = [(_x(-within, -within, within), _y(0))]
        for k, count in enumerate(counts):
            left = -within + k * width
            points += [
                (_x(left, -within, within), _y(count / most)),
                (_x(left + width, -within, within), _y(count / most)),
            ]
        points.append((_x(within, -within, within), _y(0)))
        parts.append(_path(" ".join(f"{x:.1f},{y:.1f}" for x, y in points), line))
    return _drawing(title, parts)


def _counts(errors: Errors, within: int, width: int) -> list[int]:
    bins = [0] * (2 * within // width)
    for error in errors.known:
        bins[min(len(bins) - 1, max(0, int((error / ms(1) + within) // width)))] += 1
    return bins


def _thinned(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points without those that fall on the same spot to a tenth of a unit."""
    kept: list[tuple[float, float]] = []
    for point in points:
        spot = round(point[0], 1), round(point[1], 3)
        if not kept or spot != kept[-1]:
            kept.append(spot)
    return kept


def _x(value: float, low: float, high: float) -> float:
    return round(_LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _BOTTOM - share * (_HEIGHT - _TOP - _BOTTOM), 1)


def _axes(title: str, ticks: Sequence[int], low: int, high: int, label: str) -> list[str]:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts = [f'<text class="tick" text-anchor="middle" x="{middle}" y="{_HEIGHT - 6}">{escape(label)}</text>']
    for tick in ticks:
        x = _x(tick, low, high)
        parts.append(f'<line class="rule" x1="{x}" x2="{x}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>')
        parts.append(f'<text class="tick" text-anchor="middle" x="{x}" y="{_HEIGHT - _BOTTOM + 16}">{tick}</text>')
    return parts


def _path(points: str, line: Line) -> str:
    dashed = ' stroke-dasharray="5 4"' if line.dashed else ""
    return (
        f'<polyline class="curve" points="{points}" style="stroke: var(--s{line.colour % 8})"{dashed}>'
        f"<title>{escape(line.name)}</title></polyline>"
    )


def _drawing(title: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title, quote=True)}">'
        + "".join(parts)
        + "</svg>"
    )
