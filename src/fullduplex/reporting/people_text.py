"""Statistics of corpora as Markdown: what each is, its numbers, where systems lie among people, and how far away.

Takes the object that ``statistics.json`` holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.rows import figure
from fullduplex.reporting.tables import markdown_text

Told = Mapping[str, Any]
#: Marks a number that rests on edges which nobody measured.
CUT = "†"
#: What is said where whole conversations stand beside a run's items.
ITEMS = (
    "Items of a run are short, and were chosen or composed; whole conversations are not. For like beside like, hold a "
    "run against people's run on the same items."
)
#: How many remarks and failures are shown; the file has them all.
SHOWN = 20


def statistics_markdown(told: Told) -> str:
    """Return the whole report of corpora as Markdown."""
    parts = ["# Conversations: people and systems\n", corpora_table(told), "", numbers_table(told), "", notes(told)]
    if told["standings"] and not any(row["percentile"] is not None for row in told["standings"]):
        parts.append(f"\nNo percentiles: {_fewest(told)}.")
    elif told["standings"]:
        parts += [
            f"\n## Where each lies among {markdown_text(told['held_against'])}\n",
            standings_table(told),
            "\nPercentile: the share of people's conversations below the number, halves of equal ones; it cannot be "
            "told finer than 100 over their number. Neither end is better: it says how unlike people a number is.",
        ]
    if told["distances"]:
        parts += [
            f"\n## How far each lies from {markdown_text(told['held_against'])}\n",
            distances_table(told),
            "\nWasserstein: the mean time by which values have to be moved. Kolmogorov-Smirnov: the largest difference "
            "between the shares of values up to a time. Jensen-Shannon: in bins of 50 ms. Chance: the mean distance "
            "when conversations are shuffled between the two; p: how often a shuffle is at least as far.",
        ]
    failed = [(one["name"], row) for one in told["corpora"] for row in one["failed"]]
    if failed:
        parts.append(f"\n## Not counted ({len(failed)})\n")
        parts += [f"- {markdown_text(name)}: {markdown_text(row['error'])}" for name, row in failed[:SHOWN]]
        parts += [f"- and {len(failed) - SHOWN} more"] if len(failed) > SHOWN else []
    return "\n".join(parts) + "\n"


def _fewest(told: Told) -> str:
    return next((row["absent"] for row in told["standings"] if "fewer" in row["absent"]), "nothing to place")


def corpora_table(told: Told) -> str:
    """Return what each corpus is: how many conversations, how long, and what tells its times."""
    head = ["", "Sides", "Conversations", "Minutes", "When a side speaks is told by"]
    lines = [
        [one["name"], "people" if one["people"] else "a system", _drawn(one), f"{one['minutes']:.1f}", told_by(one)]
        for one in told["corpora"]
    ]
    return table(head, lines)


def numbers_table(told: Told) -> str:
    """Return a row for each statistic and a column for each corpus: value [95 % interval]."""
    head = ["Statistic", *(str(one["name"]) for one in told["corpora"])]
    lines = []
    for n, first in enumerate(told["corpora"][0]["estimates"]):
        lines.append([titled(first), *(cell(one["estimates"][n]) for one in told["corpora"])])
    return table(head, lines)


def standings_table(told: Told) -> str:
    """Return each system's percentile among people, with people's own median and range."""
    head = ["Statistic", "Of", "Value", "Percentile", "People: median [5 %, 95 %]", "n people"]
    lines = []
    for row in told["standings"]:
        unit = row["unit"]
        mark = CUT if row["unreliable"] else ""
        if row["percentile"] is None:
            lines.append([titled(row), row["system"], "—", f"— ({row['absent']})", "—", str(row["n"])])
            continue
        low, median, high = (number(row[key], unit) for key in ("low", "median", "high"))
        lines.append([
            titled(row), row["system"], number(row["value"], unit) + mark, f"{row['percentile']:.0f}",
            Figure(f"{median} [{low}, {high}]"), str(row["n"]),
        ])  # fmt: skip
    return table(head, lines)


def distances_table(told: Told) -> str:
    """Return how far the values of each kind lie from people's."""
    head = ["Of", "Whose", "Distance", "Value", "95 % interval", "Chance", "p", "n people, whose"]
    lines = []
    for row in told["distances"]:
        interval = "—" if row["low"] is None else Figure(f"[{figure(row['low'])}, {figure(row['high'])}]")
        mark = CUT if row["unreliable"] else ""
        unit = "" if row["unit"] == "share" else f" {row['unit']}"
        value = "—" if row["value"] is None else f"{figure(row['value'])}{unit}{mark}"
        lines.append([
            row["title"], row["system"], row["name"], value, interval, figure(row["chance"]),
            "—" if row["p"] is None else f"{row['p']:.3f}", f"{row['n'][0]}, {row['n'][1]}",
        ])  # fmt: skip
    return table(head, lines)


def notes(told: Told) -> str:
    """Return what a reader of the numbers has to know: units, denominators, edges that nobody measured."""
    said = [
        f"Units are speech with no silence over {told['unit_ends_after']:g} s in it; backchannels are units. "
        f"Intervals draw conversations again, {told['resamples']:,} times; few conversations have none.",
    ]
    cut_out = ["run" in one["source"] for one in told["corpora"]]
    if any(cut_out) and not all(cut_out):
        said.append(ITEMS)
    for one in told["corpora"]:
        if one["unreliable_offsets"]:
            said.append(
                f"{CUT} {one['name']}: {one['unreliable_offsets']}. What lies between turns means nothing there."
            )
        if len(one["told_by"]) > 1:
            said.append(f"{one['name']}: its times are told by different things; --by chooses one.")
    for one in told["corpora"]:
        said += [f"{one['name']}: {printable(remark, 300)}" for remark in one["remarks"][:SHOWN]]
    return "\n".join(f"- {markdown_text(sentence)}" for sentence in said)


def titled(row: Told) -> str:
    """Return a statistic's name with its denominator and its unit."""
    of = f", {row['of']}" if row["of"] else ""
    return f"{row['title']}{of} ({row['unit']})"


def cell(row: Told) -> str:
    """Return an estimate as a cell: value, interval, and the mark of edges that nobody measured."""
    if row["value"] is None:
        return f"— ({row['method']})"
    unit = row["unit"]
    mark = CUT if row["unreliable"] else ""
    interval = "" if row["low"] is None else f" [{number(row['low'], unit)}, {number(row['high'], unit)}]"
    return Figure(f"{number(row['value'], unit)}{mark}{interval}")


def number(value: float, unit: str) -> str:
    """Return a number with the decimals that its unit is worth."""
    return f"{value:.3f}" if unit == "s" else f"{value:.1f}"


def told_by(one: Told) -> str:
    """Return what tells when the sides of a corpus speak, with how many conversations where that differs."""
    detector = (one["source"].get("detector") or {}).get("name", "")
    names = {"words": "words", "lines": "lines of the transcript", "speech": detector or "a detector"}
    several = len(one["told_by"]) > 1
    return ", ".join(f"{names[by]} ({n})" if several else names[by] for by, n in one["told_by"].items())


def _drawn(one: Told) -> str:
    if one["drawn"] == one["conversations"]:
        return str(one["conversations"])
    return f"{one['conversations']} items of {one['drawn']} recording{'s' * (one['drawn'] != 1)}"


class Figure(str):
    """Digits of our own making, which need no escaping."""

    __slots__ = ()


def table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; every text is shown and does nothing else."""
    rows = [[t if isinstance(t, Figure) else markdown_text(str(t)) for t in line] for line in (head, *lines)]
    made = [rows[0], ["---"] * len(head), *rows[1:]]
    return "\n".join(f"| {' | '.join(row)} |" for row in made)
