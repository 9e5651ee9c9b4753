"""A panel of listeners as tables and sentences, the same for Markdown, terminal and page.

Takes the object that ``listeners.json`` holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.people_text import Figure, table
from fullduplex.reporting.tables import markdown_text

Told = Mapping[str, Any]
#: How many stimuli a report has in full; the JSON has them all.
SHOWN = 20
#: How many decimals a unit is worth.
_DECIMALS = {"%": 1, "1/min": 2}


@dataclass(frozen=True, slots=True)
class Section:
    """One table of the report: its heading, its columns (the first ``texts`` are no numbers), its rows, a sentence."""

    key: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    texts: int = 1


def heading(told: Told, tell: Language = ENGLISH) -> str:
    """Return the report's title."""
    return tell("Listeners: {panel}", panel=printable(told["panel"], 120))


def lead(told: Told, tell: Language = ENGLISH) -> str:
    """Return what the panel is, in one sentence."""
    of = told["totals"]
    numbers = {key: tell.digits(f"{of[key]:,}") for key in ("stimuli", "listeners", "heard", "responded", "responses")}
    return tell(
        "Stimuli: {stimuli}. Listeners: {listeners}. A stimulus was heard {heard} times, and responded to {responded} "
        "times, with {responses} responses in all.",
        **numbers,
    )


def sections(told: Told, tell: Language = ENGLISH) -> list[Section]:
    """Return the tables in their order: agreement, people and systems, stimuli."""
    return [_agreement(told, tell), _measures(told, tell), _stimuli(told, tell)]


def listeners_markdown(told: Told, tell: Language = ENGLISH) -> str:
    """Return the whole report as Markdown; every text is shown and does nothing else."""
    parts = [f"# {markdown_text(heading(told, tell))}\n", markdown_text(lead(told, tell))]
    for one in sections(told, tell):
        parts += [f"\n## {one.title}\n", table(one.head, one.rows)]
        parts += [f"\n{markdown_text(one.note)}"] if one.note else []
    parts += [f"\n## {tell('What else is known')}\n"]
    parts += [f"- {markdown_text(sentence)}" for sentence in notes(told, tell)]
    return "\n".join(parts) + "\n"


def _agreement(told: Told, tell: Language) -> Section:
    head = ("Agreement", "Value, 95 % interval", "n", "Absent")
    of = {"listeners": tell("{n} times a listener"), "windows": tell("{n} windows")}
    rows = [
        (
            tell.of(row["title"]),
            _value(row, "", tell),
            of[row["of"]].format(n=tell.digits(f"{row['n']:,}")),
            _absent(row, tell),
        )
        for row in told["agreement"]
    ]
    return Section("agreement", tell("How far listeners agree"), tuple(map(tell.of, head)), tuple(rows))


def _measures(told: Told, tell: Language) -> Section:
    head = (
        "Of responses to a stimulus", "Whose", "Value, 95 % interval", "By chance", "Place among people (%)",
        "n stimuli", "Absent",
    )  # fmt: skip
    rows = []
    for n, people in enumerate(told["people"]):
        title = f"{tell.of(people['title'])} ({people['unit']})"
        whose = [(tell("people, each left out"), people)]
        whose += [(printable(one["name"], 60), one["measures"][n]) for one in told["systems"]]
        rows += [
            (
                title, name, _value(row, row["unit"], tell), _value(row["chance"], row["unit"], tell),
                _value(row.get("place"), "%", tell), tell.digits(f"{row['n']:,}"), _absent(row, tell),
            )
            for name, row in whose
        ]  # fmt: skip
    note = tell(
        "Each person is held against all others, and a system against the same others. Place: how often it is nearer "
        "them than the person who was left out, a tie being half; 50 % is where a person is. Of responses a minute: "
        "how often it has more. Chance: the same responses, turned in time."
    )
    return Section("measures", tell("Against the rest"), tuple(map(tell.of, head)), tuple(rows), note, texts=2)


def _stimuli(told: Told, tell: Language) -> Section:
    head = (
        "Stimulus",
        "s",
        "Listeners",
        "Of them responded",
        "Responses",
        "Most in a window",
        "at (s)",
        "Opportunities",
    )
    rows = [
        (
            printable(one["stimulus"], 80),
            tell.digits(f"{one['seconds']:.2f}"),
            str(one["listeners"]),
            str(one["responded"]),
            str(one["responses"]),
            tell("{n}%", n=f"{100 * one['peak']:.0f}"),
            "—" if one["peak_at"] is None else tell.digits(f"{one['peak_at']:.1f}"),
            str(one["opportunities"]),
        )
        for one in told["stimuli"][:SHOWN]
    ]
    more = len(told["stimuli"]) - SHOWN
    note = tell("And {n} more, in listeners.json.", n=tell.digits(f"{more:,}")) if more > 0 else ""
    return Section("stimuli", tell("Stimuli"), tuple(map(tell.of, head)), tuple(rows), note)


def notes(told: Told, tell: Language = ENGLISH) -> list[str]:
    """Return what a reader of the numbers has to know: the windows, what silence is, what an interval draws."""
    said = [
        tell(
            "Windows are {width} s wide. Likelihood: the share of all listeners who respond in a window, silent ones "
            "too. Q: the likelihood over its sum. An opportunity: windows where at least {share}% of the listeners do; "
            "a hit: a response in one.",
            width=tell.digits(f"{told['window']:g}"), share=f"{100 * told['opportunity_from']:.0f}",
        ),
        tell("A response counts in the window where it begins.")
        if told["by"] == "onset"
        else tell("A listener's response counts in each window in which the key was held; one left out, at its onset."),
        tell(
            "Silence: who never responds to a stimulus has no divergence, distance, hits or support there, and is "
            "counted as absent; it covers nothing."
        ),
    ]  # fmt: skip
    if told["silent_as_uniform"] is not None:
        said.append(
            tell(
                "Full-Duplex-Bench's paper takes silence for a uniform distribution: that would be {bits} bits here.",
                bits=tell.digits(f"{told['silent_as_uniform']:.3f}"),
            )
        )
    said += [
        tell(
            "Both distances fall with every further response, wherever it is: compare them where responses a minute "
            "are alike, and read hits beside their chance."
        ),
        tell(
            "Intervals draw stimuli again, {times} times; below 50 stimuli they are too narrow. Chance turns each "
            "one's responses {turns} times. Seed {seed}.",
            times=tell.digits(f"{told['resamples']:,}"), turns=str(told["turns"]), seed=str(told["seed"]),
        ),
    ]  # fmt: skip
    for one in told["systems"]:
        about = tell(
            "{name}: {n} responses to {stimuli} stimuli, each a stretch of its speech without a silence over 0.2 s; "
            "{long} of them last 1 s or more, and are turns, not backchannels; {late} more come after the sound.",
            name=printable(one["name"], 120), n=tell.digits(f"{one['responses']:,}"), stimuli=str(one["stimuli"]),
            long=str(one["long"]), late=str(one["late"]),
        )  # fmt: skip
        said.append(about + (f" {tell('Absent')}{tell(': ')}{_absent(one, tell)}." if one["absent"] else ""))
    return said + [printable(tell.kept(remark), 300) for remark in told["remarks"]]


def _value(row: Told | None, unit: str, tell: Language) -> str:
    if row is None:
        return "—"
    if row["value"] is None:
        return f"— ({_absent(row, tell) or tell.of(row['method'])})"
    decimals = _DECIMALS.get(unit, 3)
    value = tell.digits(f"{row['value']:.{decimals}f}")
    if row["low"] is None:
        return Figure(value)
    low, high = (tell.digits(f"{row[key]:.{decimals}f}") for key in ("low", "high"))
    return Figure(f"{value} {tell('[{low}, {high}]', low=low, high=high)}")


def _absent(row: Told, tell: Language) -> str:
    counts: Sequence[tuple[str, int]] = sorted(row["absent"].items(), key=lambda pair: (-pair[1], pair[0]))
    return tell("; ").join(f"{count} × {printable(tell.of(why))}" for why, count in counts)
