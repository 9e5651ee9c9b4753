"""An item as a Praat TextGrid.

The format is Praat's long text form: objects by name and number, strings in
double quotes with a quote inside doubled, times in seconds. Within a tier the
intervals touch, from the grid's start to its end, and do not overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullduplex.model.spans import Span
from fullduplex.model.trials import Trial
from fullduplex.runs.labels import Label, decimal, tiers


def textgrid(trial: Trial) -> str:
    """Return ``trial`` as a TextGrid of interval tiers on the session clock.

    The first five tiers are always ``user words``, ``user speech``, ``system words``,
    ``system speech`` and ``events``. Labels of one tier that overlap cannot share it:
    the later one goes to a further tier, ``NAME 2``, after these, with its times untouched.
    """
    found = {name: lanes(labels) for name, labels in tiers(trial).items()}
    named = [(name, kept[0]) for name, kept in found.items()]
    named += [(f"{name} {n}", lane) for name, kept in found.items() for n, lane in enumerate(kept[1:], 2)]
    window = _window(trial, (label.span for _, lane in named for label in lane))
    lines = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", *_bounds(window)]
    lines += ["tiers? <exists>", f"size = {len(named)}", "item []:"]
    for n, (name, lane) in enumerate(named, 1):
        lines.append(f"    item [{n}]:")
        lines += (f"        {line}" for line in _tier(name, tiled(lane, window), window))
    return "\n".join(lines) + "\n"


def lanes(labels: Iterable[Label]) -> list[list[Label]]:
    """Return ``labels`` shared out over the fewest lanes in which none overlap, at least one."""
    made: list[list[Label]] = [[]]
    for label in sorted(labels, key=lambda label: label.span):
        free = next((lane for lane in made if not lane or lane[-1].span.end <= label.span.start), None)
        if free is None:
            made.append([label])
        else:
            free.append(label)
    return made


def tiled(labels: Iterable[Label], window: Span) -> Iterator[Label]:
    """Yield ``labels`` with an empty label in every gap, so that together they tile ``window``."""
    at = window.start
    for label in labels:
        if at < label.span.start:
            yield Label(Span(at, label.span.start), "")
        yield label
        at = label.span.end
    if at < window.end:
        yield Label(Span(at, window.end), "")


def quoted(text: str) -> str:
    """Return ``text`` as a string of the format."""
    return '"' + text.replace('"', '""') + '"'


def _window(trial: Trial, spans: Iterable[Span]) -> Span:
    """Return the stretch that holds everything; a grid has to have a length, so the empty one has a microsecond."""
    starts, ends = [0], [trial.user.duration or 0, trial.system.duration or 0, 1]
    for span in spans:
        starts.append(span.start)
        ends.append(span.end)
    return Span(min(starts), max(ends))


def _bounds(span: Span) -> tuple[str, str]:
    return f"xmin = {decimal(span.start)}", f"xmax = {decimal(span.end)}"


def _tier(name: str, labels: Iterable[Label], window: Span) -> Iterator[str]:
    rows = list(labels)
    yield 'class = "IntervalTier"'
    yield f"name = {quoted(name)}"
    yield from _bounds(window)
    yield f"intervals: size = {len(rows)}"
    for n, (span, text) in enumerate(rows, 1):
        yield f"intervals [{n}]:"
        for line in (*_bounds(span), f"text = {quoted(text)}"):
            yield f"    {line}"
