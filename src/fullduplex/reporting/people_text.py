"""Statistics of corpora as Markdown: what each is, its numbers, where systems lie among people, and how far away.

Takes the object that ``statistics.json`` holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import figure, interval
from fullduplex.reporting.tables import markdown_text

Told = Mapping[str, Any]
#: Marks a number that rests on edges which nobody measured.
CUT = "†"
#: So many conversations have an interval; below there is none.
FEWEST = 5
#: What people are called where nobody named them.
PEOPLE = "people"
#: What is said where whole conversations stand beside a run's items.
ITEMS = (
    "Items of a run are short, and were chosen or composed; whole conversations are not. For like beside like, hold a "
    "run against people's run on the same items."
)
#: How many remarks and failures are shown; the file has them all.
SHOWN = 20


def statistics_markdown(told: Told, tell: Language = ENGLISH) -> str:
    """Return the whole report of corpora as Markdown."""
    parts = [f"# {tell('Conversations: people and systems')}\n", corpora_table(told, tell), ""]
    parts += [numbers_table(told, tell), "", notes(told, tell)]
    if told["standings"] and not any(row["percentile"] is not None for row in told["standings"]):
        parts.append(f"\n{tell('No percentiles: {why}.', why=tell.of(_fewest(told)))}")
    elif told["standings"]:
        parts += [
            f"\n## {markdown_text(lie_among(told, tell))}\n",
            standings_table(told, tell),
            "\n"
            + tell(
                "Percentile: the share of people's conversations below the number, halves of equal ones; it cannot be "
                "told finer than 100 over their number. Neither end is better: it says how unlike people a number is."
            ),
        ]
    if told["distances"]:
        parts += [
            f"\n## {markdown_text(lie_from(told, tell))}\n",
            distances_table(told, tell),
            "\n"
            + tell(
                "Wasserstein: the mean time by which values have to be moved. Kolmogorov-Smirnov: the largest "
                "difference between the shares of values up to a time. Jensen-Shannon: in bins of 50 ms. Chance: the "
                "mean distance when conversations are shuffled between the two; p: how often a shuffle is at least as "
                "far."
            ),
        ]
    failed = [(one["name"], row) for one in told["corpora"] for row in one["failed"]]
    if failed:
        parts.append(f"\n## {tell('Not counted ({n})', n=len(failed))}\n")
        colon = tell(": ")
        shown = [(name, tell.kept(row["error"])) for name, row in failed[:SHOWN]]
        parts += [f"- {markdown_text(name)}{colon}{markdown_text(why)}" for name, why in shown]
        parts += [f"- {tell('and {n} more', n=len(failed) - SHOWN)}"] if len(failed) > SHOWN else []
    return "\n".join(parts) + "\n"


def _fewest(told: Told) -> str:
    return next((row["absent"] for row in told["standings"] if "fewer" in row["absent"]), "nothing to place")


def corpora_table(told: Told, tell: Language = ENGLISH) -> str:
    """Return what each corpus is: how many conversations, how long, and what tells its times."""
    head = ["", "Sides", "Conversations", "Minutes", "When a side speaks is told by"]
    lines = [
        [
            one["name"], tell("people") if one["people"] else tell("a system"), _drawn(one, tell),
            tell.digits(f"{one['minutes']:.1f}"), told_by(one, tell),
        ]
        for one in told["corpora"]
    ]  # fmt: skip
    return table([tell.of(name) for name in head], lines)


def numbers_table(told: Told, tell: Language = ENGLISH) -> str:
    """Return a row for each statistic and a column for each corpus: value [95 % interval]."""
    head = [tell("Statistic"), *(str(one["name"]) for one in told["corpora"])]
    lines = []
    for n, first in enumerate(told["corpora"][0]["estimates"]):
        lines.append([titled(first, tell), *(cell(one["estimates"][n], tell) for one in told["corpora"])])
    return table(head, lines)


def standings_table(told: Told, tell: Language = ENGLISH) -> str:
    """Return each system's percentile among people, with people's own median and range."""
    head = ["Statistic", "Of", "Value", "Percentile", "People: median [5 %, 95 %]", "n people"]
    lines = []
    for row in told["standings"]:
        unit = row["unit"]
        mark = CUT if row["unreliable"] else ""
        if row["percentile"] is None:
            lines.append([titled(row, tell), row["system"], "—", f"— ({tell.of(row['absent'])})", "—", str(row["n"])])
            continue
        low, median, high = (number(row[key], unit, tell) for key in ("low", "median", "high"))
        lines.append([
            titled(row, tell), row["system"], number(row["value"], unit, tell) + mark, f"{row['percentile']:.0f}",
            Figure(f"{median} {tell('[{low}, {high}]', low=low, high=high)}"), str(row["n"]),
        ])  # fmt: skip
    return table([tell.of(name) for name in head], lines)


def distances_table(told: Told, tell: Language = ENGLISH) -> str:
    """Return how far the values of each kind lie from people's."""
    head = ["Of", "Whose", "Distance", "Value", "95 % interval", "Chance", "p", "n people, whose"]
    lines = []
    for row in told["distances"]:
        # A distance prints three decimals, whatever its unit.
        bounds = interval({**row, "unit": ""}, tell)
        mark = CUT if row["unreliable"] else ""
        unit = "" if row["unit"] == "share" else f" {row['unit']}"
        value = "—" if row["value"] is None else f"{figure(row['value'], '', tell)}{unit}{mark}"
        lines.append([
            tell.of(row["title"]), row["system"], tell.of(row["name"]), value, Figure(bounds) if bounds else "—",
            figure(row["chance"], "", tell), "—" if row["p"] is None else tell.digits(f"{row['p']:.3f}"),
            f"{row['n'][0]}, {row['n'][1]}",
        ])  # fmt: skip
    return table([tell.of(name) for name in head], lines)


def notes(told: Told, tell: Language = ENGLISH) -> str:
    """Return what a reader of the numbers has to know: units, denominators, edges that nobody measured."""
    said = [
        tell(
            "Units are speech with no silence over {seconds} s in it; backchannels are units. Intervals draw "
            "conversations again, {times} times; there is no interval below {fewest} conversations.",
            seconds=tell.digits(f"{told['unit_ends_after']:g}"),
            fewest=FEWEST,
            times=tell.digits(f"{told['resamples']:,}"),
        )
    ]
    cut_out = ["run" in one["source"] for one in told["corpora"]]
    if any(cut_out) and not all(cut_out):
        said.append(tell(ITEMS))
    for one in told["corpora"]:
        if one["unreliable_offsets"]:
            said.append(
                f"{CUT} {one['name']}{tell(': ')}{tell.of(one['unreliable_offsets'])}. "
                + tell("What lies between turns means nothing there.")
            )
        if len(one["told_by"]) > 1:
            said.append(f"{one['name']}{tell(': ')}{tell('its times are told by different things; --by chooses one.')}")
    for one in told["corpora"]:
        said += [f"{one['name']}{tell(': ')}{printable(tell.kept(remark), 300)}" for remark in one["remarks"][:SHOWN]]
    return "\n".join(f"- {markdown_text(sentence)}" for sentence in said)


def lie_among(told: Told, tell: Language = ENGLISH) -> str:
    """Return the heading of the percentiles; a corpus that is not called ``people`` has its name in it."""
    name = str(told["held_against"])
    if name == PEOPLE:
        return tell("Where each lies among people")
    return tell("Where each lies among {people}", people=printable(name, 400))


def lie_from(told: Told, tell: Language = ENGLISH) -> str:
    """Return the heading of the distances, as :func:`lie_among` does."""
    name = str(told["held_against"])
    if name == PEOPLE:
        return tell("How far each lies from people")
    return tell("How far each lies from {people}", people=printable(name, 400))


def titled(row: Told, tell: Language = ENGLISH) -> str:
    """Return a statistic's name with its denominator and its unit."""
    of = f", {tell.of(row['of'])}" if row["of"] else ""
    return f"{tell.of(row['title'])}{of} ({row['unit']})"


def cell(row: Told, tell: Language = ENGLISH) -> str:
    """Return an estimate as a cell: value, interval, and the mark of edges that nobody measured."""
    if row["value"] is None:
        return f"— ({tell.of(row['method'])})"
    unit = row["unit"]
    mark = CUT if row["unreliable"] else ""
    bounds = ""
    if row["low"] is not None:
        ends = {"low": number(row["low"], unit, tell), "high": number(row["high"], unit, tell)}
        bounds = f" {tell('[{low}, {high}]', **ends)}"
    return Figure(f"{number(row['value'], unit, tell)}{mark}{bounds}")


def number(value: float, unit: str, tell: Language = ENGLISH) -> str:
    """Return a number with the decimals that its unit is worth."""
    return tell.digits(f"{value:.3f}" if unit == "s" else f"{value:.1f}")


def told_by(one: Told, tell: Language = ENGLISH) -> str:
    """Return what tells when the sides of a corpus speak, with how many conversations where that differs."""
    detector = (one["source"].get("detector") or {}).get("name", "")
    names = {
        "words": tell("words"), "lines": tell("lines of the transcript"), "speech": detector or tell("a detector"),
    }  # fmt: skip
    several = len(one["told_by"]) > 1
    return ", ".join(f"{names[by]} ({n})" if several else names[by] for by, n in one["told_by"].items())


def _drawn(one: Told, tell: Language) -> str:
    if one["drawn"] == one["conversations"]:
        return str(one["conversations"])
    few, many = "{items} items of {n} recording", "{items} items of {n} recordings"
    return tell.ngettext(few, many, one["drawn"]).format(items=one["conversations"], n=one["drawn"])


class Figure(str):
    """Digits of our own making, which need no escaping."""

    __slots__ = ()


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; every text is shown and does nothing else."""
    rows = [[t if isinstance(t, Figure) else markdown_text(str(t)) for t in line] for line in (head, *lines)]
    made = [rows[0], ["---"] * len(head), *rows[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in made)
