"""How far numbers rest on choices: in Markdown for files, and as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import figure, label
from fullduplex.reporting.tables import markdown_text

if TYPE_CHECKING:
    from rich.console import RenderableType

Told = Mapping[str, Any]
_MOVED = "threshold of "
_AS_MEASURED = "as measured"
_LONGEST = 10_000
#: How conditions of a kind are counted.
_COUNTED = {
    "rules": ("{n} rules", "{n} rules"),
    "threshold": ("{n} threshold", "{n} thresholds"),
    "detector": ("{n} detector", "{n} detectors"),
    "recogniser": ("{n} recogniser", "{n} recognisers"),
    "judge": ("{n} judge", "{n} judges"),
    "clock": ("{n} clock", "{n} clocks"),
}
_COUNTED_OF = ("{n} threshold of {variant}", "{n} thresholds of {variant}")


@dataclass(frozen=True, slots=True)
class _Part:
    """A piece of the report, as plain text: a heading, a sentence (``note``: set apart), a list, or a table."""

    kind: Literal["title", "section", "text", "note", "list", "table"]
    lines: Sequence[Sequence[str]]


def sensitivity_markdown(told: Told, tell: Language = ENGLISH) -> str:
    """Return the band of each number that moves, what moves it, and whether the order of systems changes.

    ``told`` is what ``sensitivity.json`` holds.
    """
    made = []
    for part in _parts(told, tell):
        rows = [[markdown_text(cell, _LONGEST) for cell in line] for line in part.lines]
        if part.kind == "table":
            rows = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
            made.append("\n".join(f"| {' | '.join(row)} |" for row in rows))
        elif part.kind == "list":
            made += [f"- {row[0]}" for row in rows]
        else:
            before, after = {"title": ("# ", "\n"), "section": ("\n## ", "\n"), "note": ("\n", "")}.get(
                part.kind, ("", "")
            )
            made.append(f"{before}{rows[0][0]}{after}")
    return "\n".join(made) + "\n"


def sensitivity_terminal(told: Told, tell: Language = ENGLISH) -> RenderableType:
    """Return the same for a Rich console."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    made: list[RenderableType] = []
    for part in _parts(told, tell):
        rows = [[printable(cell, _LONGEST) for cell in line] for line in part.lines]
        if part.kind == "table":
            table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
            for name in rows[0]:
                table.add_column(Text(name), overflow="fold")
            for row in rows[1:]:
                # Text, not markup: a name in brackets would be read as a style.
                table.add_row(*map(Text, row))
            made.append(table)
        elif part.kind == "list":
            made += [Text(f"- {row[0]}") for row in rows]
        else:
            made.append(Text(f"{rows[0][0]}\n", style="bold" if part.kind in ("title", "section") else ""))
    return Group(*made)


def _parts(told: Told, tell: Language) -> Iterator[_Part]:
    conditions, bands = told["conditions"], told["bands"]
    kinds = list(dict.fromkeys(condition["kind"] for condition in conditions))[1:]
    named = _Names(conditions, tell)
    # The widest band in its own size first: it is what a reader has to know.
    moving = sorted((band for band in bands if band["low"] != band["high"]), key=_width, reverse=True)
    several = len({band["system"] for band in bands}) > 1
    yield _said("title", tell("Sensitivity"))
    yield _said("text", _tried(conditions, kinds, tell))
    yield _said("section", tell("What moves"))
    if moving:
        yield _Part("table", _moving(moving, kinds, several, named, tell))
        yield _said("note", tell("= is as measured; n: items with a value as measured."))
    yield _said("note" if moving else "text", _unmoved(bands, moving, tell))
    if told["standings"]:
        yield _said("section", tell("The order of systems"))
        yield from _orders(told["standings"], named, tell)
    short = [*told["remarks"], *told.get("left_out", ())]
    if short:
        yield _said("section", tell("Not tried, or not in full"))
        yield _Part("list", [[tell.kept(remark)] for remark in short])


def _said(kind: Literal["title", "section", "text", "note"], text: str) -> _Part:
    return _Part(kind, [[text]])


class _Names:
    """What conditions are called in a language: ``rules anchored``, ``clock arrival``."""

    def __init__(self, conditions: Sequence[Told], tell: Language) -> None:
        self._tell = tell
        self._parts = {f"{one['kind']} {one['name']}": (one["kind"], one["name"]) for one in conditions}

    def kind(self, kind: str) -> str:
        if kind.startswith(_MOVED):
            return self._tell("threshold of {variant}", variant=kind.removeprefix(_MOVED))
        return self._tell.of(kind)

    def __call__(self, condition: str) -> str:
        kind, name = self._parts.get(condition, ("", condition))
        # A threshold has a text; all else goes by names of variants, plug-ins and clocks.
        return f"{self.kind(kind)} {self._tell.kept(name) if kind.startswith('threshold') else name}".strip()


def _tried(conditions: Sequence[Told], kinds: Sequence[str], tell: Language) -> str:
    counts = [_counted(sum(c["kind"] == kind for c in conditions), kind, tell) for kind in kinds]
    others = [kind.removeprefix(_MOVED) for kind in kinds if kind.startswith(_MOVED)]
    tried = tell.plural(
        "{n} condition beside the run as measured: {counts}.",
        "{n} conditions beside the run as measured: {counts}.",
        len(conditions) - 1,
        counts=", ".join(counts) or tell("none"),
    )
    if not others:
        return f"{tried} {tell('Each differs from it in one choice.')}"
    # Rules without thresholds are shown beside those of another variant, which differ from them twice.
    twice = tell(
        "Each differs from it in one choice, a threshold of {variants} in its variant's rules too.",
        variants=tell(" or ").join(others),
    )
    return f"{tried} {twice}"


def _counted(n: int, kind: str, tell: Language) -> str:
    if kind.startswith(_MOVED):
        return tell.plural(*_COUNTED_OF, n, variant=kind.removeprefix(_MOVED))
    forms = _COUNTED.get(kind)
    return tell.plural(*forms, n) if forms else f"{n} {tell.of(kind)}"


def _width(band: Told) -> float:
    size = max(abs(band["low"]), abs(band["high"]))
    return float((band["high"] - band["low"]) / size) if size else 0.0


def _moving(
    bands: Sequence[Told], kinds: Sequence[str], several: bool, named: _Names, tell: Language
) -> list[list[str]]:
    lacking = any(band["missing"] for band in bands)
    head = ["System"] * several + ["Scenario", "Metric", "As measured", "n", "Lowest", "Highest"]
    rows = [[*map(tell.of, head), *map(named.kind, kinds), *([tell("No value under")] if lacking else [])]]
    for band in bands:
        ends = [_end(band, "low", "lowest", named, tell), _end(band, "high", "highest", named, tell)]
        row = [band["system"]] * several + [_scenario(band, tell), label(band, tell)]
        row += [figure(band["value"], str(band["unit"]), tell), str(band.get("n") or "—"), *ends]
        row += [_between(band, kind, tell) for kind in kinds]
        rows.append(row + ([_missing(band["missing"], named, tell)] if lacking else []))
    return rows


def _scenario(one: Told, tell: Language) -> str:
    """Return a scenario's title, else its name: files that were written before titles have none."""
    return tell.of(str(one.get("scenario_title") or one["scenario"]))


def _end(band: Told, end: str, under: str, named: _Names, tell: Language) -> str:
    """Return one end of a band with the condition that reaches it."""
    if band[under] == _AS_MEASURED:
        return "="
    return f"{figure(band[end], str(band['unit']), tell)}{tell(', ')}{named(band[under])}"


def _between(band: Told, kind: str, tell: Language) -> str:
    """Return the ends of a band under one kind of condition."""
    ends, unit = band["kinds"].get(kind), str(band["unit"])
    if ends is None:
        return "—"
    if ends[0] == ends[1]:
        return "=" if ends[0] == band["value"] else figure(ends[0], unit, tell)
    low, high = ("=" if end == band["value"] else figure(end, unit, tell) for end in ends)
    return tell("{low} to {high}", low=low, high=high)


def _missing(conditions: Sequence[str], named: _Names, tell: Language) -> str:
    if len(conditions) < 3:
        return ", ".join(map(named, conditions))
    return tell("{n} conditions, {first} first", n=len(conditions), first=named(conditions[0]))


def _unmoved(bands: Sequence[Told], moving: Sequence[Told], tell: Language) -> str:
    alike = [band for band in bands if band["low"] == band["high"]]
    lacking = sum(1 for band in alike if band["missing"])
    counts = {"n": len(alike), "all": len(bands)}
    if not lacking:
        return tell("{n} of {all} numbers are the same under every condition that has them.", **counts)
    return tell(
        "{n} of {all} numbers are the same under every condition that has them; {lacking} of them without a value "
        "under some.",
        **counts,
        lacking=lacking,
    )


def _orders(standings: Sequence[Told], named: _Names, tell: Language) -> Iterator[_Part]:
    """Yield the orders of systems as a table; those that put all systems level throughout in one sentence."""
    level = [one for one in standings if len(one["order"]) == 1 and all(shift["same"] for shift in one["shifts"])]
    rest = [one for one in standings if one not in level]
    if rest:
        head = ["Scenario", "Metric", "Order", "Ahead on other items, at each >", "Another order under"]
        rows = [
            [_scenario(one, tell), tell.of(one["title"]), _line(one), _wins(one, tell), _shifts(one, named, tell)]
            for one in rest
        ]
        yield _Part("table", [[*map(tell.of, head)], *rows])
        notes = dict.fromkeys(note for one in rest for win in _apart(one) if (note := _note(win, tell)))
        ahead = tell("Ahead: the share of resamples of the n items in which the order of two neighbours holds")
        yield _said("note", f"{tell('; ').join([ahead, *notes])}.")
    if level:
        by_scenario: dict[str, list[str]] = {}
        for one in level:
            by_scenario.setdefault(_scenario(one, tell), []).append(tell.of(one["title"]))
        names = tell("; ").join(
            f"{scenario}{tell(': ')}{', '.join(titles)}" for scenario, titles in by_scenario.items()
        )
        yield _said(
            "note", tell("All systems are level, under every condition that has them all: {names}.", names=names)
        )


def _line(one: Told) -> str:
    return " > ".join(" = ".join(tier) for tier in one["order"])


def _apart(one: Told) -> list[Told]:
    """Return the neighbours of which one is ahead: of equals nobody is."""
    tier = {system: n for n, tier in enumerate(one["order"]) for system in tier}
    return [win for win in one["wins"] if tier[win["first"]] != tier[win["second"]]]


def _wins(one: Told, tell: Language) -> str:
    def told(win: Told) -> str:
        share = "—" if win["probability"] is None else tell("{n} %", n=f"{100 * win['probability']:.0f}")
        return f"{share} (n {win['n']})"

    return ", ".join(map(told, _apart(one))) or "—"


def _note(win: Told, tell: Language) -> str:
    """Return what has to be said of a share of resamples: why there is none, or that it is too sure."""
    method = str(win["method"])
    if win["probability"] is None:
        return f"—{tell(': ')}{tell.kept(method)}"
    remark = method.partition(" (")[2].rstrip(")")
    return tell.kept(remark) if remark else ""


def _shifts(one: Told, named: _Names, tell: Language) -> str:
    shifts = one["shifts"]
    changed = [shift for shift in shifts if not shift["same"]]
    if not shifts:
        return tell("no other condition has all systems")
    if not changed:
        return tell("none of {n}", n=len(shifts))
    worst = min(changed, key=lambda shift: 1.0 if shift["tau"] is None else float(shift["tau"]))
    tau = tell("tau not defined: ties")
    if worst["tau"] is not None:
        tau = f"tau {tell.digits(format(worst['tau'], '.2f'))}"
    values = {"changed": len(changed), "all": len(shifts), "condition": named(worst["condition"]), "tau": tau}
    values["leads"] = " = ".join(worst["leads"])
    if len(changed) > 1:
        return tell("{changed} of {all}, the farthest: {condition} ({tau}; {leads} first)", **values)
    return tell("{changed} of {all}: {condition} ({tau}; {leads} first)", **values)
