"""What each system of a report is: how it was reached and timed, in which language, told what, at what cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from fullduplex.driving.prices import dollars
from fullduplex.errors import InputError, printable
from fullduplex.reporting.asked_alike import told_what
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.people_text import table
from fullduplex.reporting.seats import NETWORK, WHOLE_TURNS, Seat
from fullduplex.reporting.spent import spent
from fullduplex.runs.measured import Measured
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, read_told

#: The columns of the table, in order.
HEADS = ("System", "Driven as", "Clock", "Timing class", "Language", "Instruction", "Cost")
RECORDINGS = "recordings that were given"
PEOPLE = "recordings of people"
NOTE = (
    "Timing class: how a system’s sound comes, as it declares: burst, ahead of real time; paced, at it; sync, a frame "
    "for a frame; unit, in fixed units; track, a media track; aligned, a file as long as the input; reply, after all "
    "of it. Language: that words were recognised in."
)


def systems_rows(pairs: Sequence[tuple[Run, Measured]]) -> list[dict[str, str]]:
    """Return a row for each run, with the keys of :data:`HEADS`; "—" where there is nothing to tell.

    ``Driven as``: its spec; ``Clock``: what time was in its talks; ``Timing class``: the one that it declares (how its
    sound comes), and what else is to be known of its times; ``Language``: that it was heard in; ``Instruction``:
    whether it was told that of its items; ``Cost``: of all attempts, in US dollars.
    """
    return [_row(run, measured) for run, measured in pairs]


def _row(run: Run, measured: Measured) -> dict[str, str]:
    driven = run.about.get("driven")
    driven = driven if isinstance(driven, Mapping) else {}
    seat = Seat.of(run, measured)
    its = {"System": run.system, "Language": printable(str(run.about.get("language") or "—"), 40)}
    if not driven:
        given = PEOPLE if run.about.get("people") else RECORDINGS
        unknown = {"Clock": "as recorded", "Timing class": "—", "Instruction": "not known", "Cost": "—"}
        return its | {"Driven as": given} | unknown
    return its | {
        "Driven as": _named(driven.get("system")),
        "Clock": printable(str(driven.get("clock") or "—"), 40),
        "Timing class": "; ".join(
            filter(None, (_declared(run), *(m for m in seat.marks if m in (NETWORK, WHOLE_TURNS))))
        )
        or "—",
        "Instruction": told_what(run),
        "Cost": _cost(run),
    }


def _named(spec: Any) -> str:
    if not isinstance(spec, Mapping):
        return "—"
    options = spec.get("options")
    told = options.get("model") or options.get("preset") if isinstance(options, Mapping) else None
    return printable(f"{spec.get('name', '—')} ({told})" if isinstance(told, str) else str(spec.get("name", "—")), 120)


def _declared(run: Run) -> str:
    """Return the timing classes that the talks of a run noted: how the sound of its system comes, as it declares."""
    found: dict[str, None] = {}
    for folder in run.items():
        if (folder / DONE).is_file():
            with suppress(InputError):  # counted where the talks are
                found[str(read_told(folder).get("timing") or "")] = None
    return ", ".join(printable(one, 40) for one in found if one)


def _cost(run: Run) -> str:
    its = spent(run)
    return dollars(its.cost) if its.priced else "not known" if its.unpriced else "—"


def systems_markdown(pairs: Sequence[tuple[Run, Measured]], tell: Language = ENGLISH) -> str:
    """Return the rows of :func:`systems_rows` as Markdown, "" of one system alone."""
    if len(pairs) < 2:
        return ""
    rows = systems_rows(pairs)
    lines = [[row["System"], *(tell.kept(row[head]) for head in HEADS[1:])] for row in rows]
    return f"## {tell('Systems')}\n\n{table([tell.of(head) for head in HEADS], lines)}\n\n{tell(NOTE)}\n"
