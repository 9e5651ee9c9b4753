"""The catalogue of systems as tables for its page and lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fullduplex.systems.catalogue import CATALOGUE, ITS_RECORDINGS, SOURCES, Listed

_SIGNS = {"yes": "✓", "no": "✗", "—": "—"}
_PROPERTIES = (
    "system",
    "date",
    "end-to-end",
    "input channels",
    "interruption",
    "backchannels",
    "released whole",
    "kind",
)
_DRIVEN = ("system", "measured by, with the checkpoint that it pins", "here", "to know")


def properties_table() -> str:
    """Return Table I of Full-Duplex-Bench v1.0 in Markdown, with its own signs: — is not public or not stated."""
    rows = (
        (
            one.name, one.row.date, _SIGNS[one.row.end_to_end], one.row.channels, _SIGNS[one.row.interrupted],
            _SIGNS[one.row.backchannels], _SIGNS[one.row.released], "closed" if one.row.closed else "transparent",
        )
        for one in CATALOGUE if one.row
    )  # fmt: skip
    return _table(_PROPERTIES, rows)


def driven_table() -> str:
    """Return who measured each system, on which checkpoint, and how it is driven here, in Markdown."""
    rows = (
        (
            one.name,
            "; ".join(f"`{source}`: {f'`{its}`' if its else 'not named'}" for source, its in one.by.items()),
            f"[`{one.drive}`]({one.page}.md)" if one.drive else "not driven",
            one.why,
        )
        for one in CATALOGUE
    )
    return _table(_DRIVEN, rows)


def catalogue_text() -> str:
    """Return the systems of the sources as lines for a terminal: a name, and what drives it or why nothing does."""
    wide = max(len(one.name) for one in CATALOGUE)
    lines = [f"  {one.name:<{wide}}  {_told(one)}" for one in CATALOGUE]
    return "\n".join(["systems by the names of the sources", *lines, "", f"One that is not driven: {ITS_RECORDINGS}."])


def sources_list() -> str:
    """Return the sources as a Markdown list."""
    return "".join(f"* `{name}`: {where}\n" for name, where in SOURCES.items())


def _told(one: Listed) -> str:
    return one.drive or f"not driven: {one.why}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    every = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(row)} |\n" for row in every)
