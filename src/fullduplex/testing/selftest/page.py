"""The self-test as one page that needs nothing else."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from fullduplex import __version__
from fullduplex.listening.edges import EdgeRule
from fullduplex.model.spans import in_seconds
from fullduplex.testing.selftest.charts import Line, histogram, shares
from fullduplex.testing.selftest.sound import CONDITIONS
from fullduplex.testing.selftest.tables import summary, tables

if TYPE_CHECKING:
    from fullduplex.testing.selftest.result import SelfTest


def html(result: SelfTest) -> str:
    """Return the page: no script, nothing fetched, every text escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style = files("fullduplex.reporting.page").joinpath("page.css").read_text("utf-8")
    template = environment.from_string(files(__package__).joinpath("page.html").read_text("utf-8"))
    drawn = {title: [(name, Markup(svg)) for name, svg in found] for title, found in drawings(result).items()}
    shown = tables(result)
    return template.render(
        style=Markup(style),
        summary=summary(result),
        tables=shown,
        drawings={table.title: drawn.get(table.title, []) for table in shown},
        open=("Onsets", "Ends", "How a verdict would move"),
        keys=_lines(result, "clean", ends=False),
        broken=len(result.broken),
        limits=sum(gate.state == "limit" for gate in result.gates),
        gates=len(result.gates),
        seed=result.seed,
        version=__version__,
        conditions=CONDITIONS,
        rule=rule_in_words(EdgeRule()),
        specs=result.specs,
        remarks=result.remarks,
    )


def drawings(result: SelfTest) -> dict[str, list[tuple[str, str]]]:
    """Return, by the title of the table they stand over, each drawing with its caption."""
    made: dict[str, list[tuple[str, str]]] = {}
    for title, ends in (("Onsets", False), ("Ends", True)):
        made[title] = [
            (
                f"{condition}: share of all planted",
                shares(_lines(result, condition, ends=ends), f"{title}, {condition}"),
            )
            for condition in CONDITIONS
        ]
        lead = [
            (
                f"{condition}: signed error, {result.lead}",
                histogram(
                    [line for line in _lines(result, condition, ends=ends) if line.name.startswith(f"{result.lead},")],
                    f"{title}, {condition}, {result.lead}",
                ),
            )
            for condition in CONDITIONS
        ]
        made[title] += lead
    return made


def _lines(result: SelfTest, condition: str, *, ends: bool) -> list[Line]:
    names = list(dict.fromkeys(table.detector for table in result.edges))
    return [
        Line(
            f"{table.detector}, {table.edges}",
            table.offsets if ends else table.onsets,
            names.index(table.detector) % 8,
            table.edges == "raw",
        )
        for table in result.edges
        if table.part == "all" and table.condition == condition
    ]


def rule_in_words(rule: EdgeRule) -> str:
    """Return the rule of :mod:`fullduplex.listening.edges` in three sentences, with its numbers."""
    frame, out, into = (f"{1000 * in_seconds(time):g} ms" for time in (rule.frame, rule.outward, rule.inward))
    return (
        f"The level of {frame} frames is compared with the speech's less {rule.depth:g} dB, or with the noise's and a "
        f"margin of at least {rule.noise:g} dB, whichever is higher, and the edge moves to the nearest crossing, up to "
        f"{out} outward and {into} inward. Where the noise decides, the edge then moves on outward to where the "
        "evidence for sound in any run of neighbouring bands (seven in all), summed over the frames, is greatest. It "
        "never passes a neighbour's edge, and stays where there is no crossing."
    )
