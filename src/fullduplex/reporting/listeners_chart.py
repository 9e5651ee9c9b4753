"""One stimulus of a panel as a drawing: where listeners respond, where each did, and where systems did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language

_WIDTH, _LEFT, _RIGHT = 760, 96, 12
_TOP, _CURVE, _ROW = 10, 120, 16
#: So many letters of a name stand left of its row, and marks of the axis so far from each other, or one is left out.
_LETTERS, _APART = 12, 14
#: Most rows of single listeners; above it, they are drawn closer.
_PEOPLE = 90
#: Distances of marks on the axis, in seconds; the first that leaves room is taken.
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800)
_MARKS = 12


def responses_over_time(
    stimulus: str,
    duration: float,
    likelihood: Sequence[float],
    people: Sequence[Sequence[float]],
    systems: Mapping[str, Sequence[float]],
    *,
    width: float,
    opportunity_from: float,
    tell: Language = ENGLISH,
) -> str:
    """Return a drawing as SVG text: the likelihood as steps of ``width`` s, under it a row of ticks for all people (a
    line each), and a row for each system. Times in seconds; ``opportunity_from`` is drawn as a line across.
    """
    top = max(max(likelihood, default=0.0), opportunity_from) * 1.08
    base = _TOP + _CURVE
    listeners = min(_PEOPLE, max(14, 3 * len(people)))
    height = base + 8 + listeners + 6 + _ROW * len(systems) + 36

    def x(time: float) -> float:
        return round(_LEFT + min(time, duration) / duration * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(share: float) -> float:
        return round(base - share / top * _CURVE, 1)

    parts = []
    for mark in _marks(duration):
        parts.append(f'<line class="rule" x1="{x(mark)}" x2="{x(mark)}" y1="{_TOP}" y2="{height - 34}"/>')
        parts.append(_text(x(mark), height - 20, tell.digits(f"{mark:g}"), "middle"))
    parts.append(_text((_LEFT + _WIDTH - _RIGHT) / 2, height - 4, tell("s of the stimulus"), "middle"))
    highest = max(likelihood, default=0.0)
    shares = [0.0, opportunity_from] + [highest] * (abs(y(highest) - y(opportunity_from)) >= _APART and highest > 0)
    parts += [_text(_LEFT - 6, y(share) + 4, tell("{n}%", n=f"{100 * share:.0f}"), "end") for share in shares]
    parts.append(f'<line class="from" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(opportunity_from)}" '
                 f'y2="{y(opportunity_from)}"/>')  # fmt: skip
    steps = [(x(n * width), y(share), x((n + 1) * width)) for n, share in enumerate(likelihood)]
    path = (
        f"M{_LEFT},{base}"
        + "".join(f"L{left},{at}L{right},{at}" for left, at, right in steps)
        + f"L{x(duration)},{base}"
    )
    parts.append(f'<path class="likely" d="{path}Z"/>')
    each = listeners / max(1, len(people))
    for n, times in enumerate(people):
        at = round(base + 8 + n * each, 1)
        parts += [f'<path class="tick-people" d="M{x(time)},{at}v{max(1.5, round(each - 0.5, 1))}"/>' for time in times]
    parts.append(_text(_LEFT - 6, base + 8 + listeners / 2 + 4, tell("people"), "end"))
    for n, (name, times) in enumerate(systems.items()):
        at = base + 8 + listeners + 6 + n * _ROW
        label = printable(name, 40)
        colour = f"var(--s{(n + 1) % 8})"
        marks = "".join(f"M{x(time)},{at + 2}v{_ROW - 4}" for time in times)
        parts.append(f'<g><title>{escape(label)}</title><path class="tick-system" d="{marks or "M0,0"}" '
                     f'style="stroke: {colour}"/></g>')  # fmt: skip
        parts.append(
            _text(_LEFT - 6, at + _ROW - 4, label if len(label) <= _LETTERS else label[: _LETTERS - 1] + "…", "end")
        )
    title = escape(tell("Responses to {name} over time", name=printable(stimulus, 120)), quote=True)
    return f'<svg viewBox="0 0 {_WIDTH} {round(height)}" role="img" aria-label="{title}">{"".join(parts)}</svg>'


def _marks(duration: float) -> list[float]:
    step = next((step for step in _STEPS if duration / step <= _MARKS), _STEPS[-1])
    return [float(n * step) for n in range(int(duration // step) + 1)]


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="tick" text-anchor="{anchor}" x="{x}" y="{round(y, 1)}">{escape(text)}</text>'
