"""The commands that drive systems: run, and what goes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import (
    _PATH,
    SOME_FAILED,
    _asked,
    _Bar,
    _benchmarks,
    _cache,
    _engine,
    _family,
    _finish,
    _first,
    _gates,
    _json,
    _layout_options,
    _listening_options,
    _options,
    _Range,
    _report_language,
    _say,
    _shown_json,
    counted,
    main,
)
from fullduplex.cli.keys import system_keys
from fullduplex.cli.prices import priced

_CLOCKS = ("wall", "virtual", "step-honest", "step-algorithmic")


_driving_options = (
    click.argument("benchmark", shell_complete=_benchmarks, metavar="BENCH[@VARIANT]"),
    click.option("--system", "driven", required=True, shell_complete=_family("systems"), metavar="SPEC",
                 help="What is driven: NAME or NAME:option=value,…"),
    click.option("--data", type=_PATH, required=True, metavar="DIR", help="The benchmark's items."),
    click.option("--out", type=_PATH, help="The run to write or to go on with. Default: ./BENCH-SYSTEM.run"),
    click.option("--name", default="", help="The system's name in tables. Default: that of --system."),
    click.option("--clock", type=click.Choice(_CLOCKS), help="What time is. Default: the system's own."),
    click.option("--repeats", type=click.IntRange(1, 1000), default=1, show_default=True,
                 help="How often each item is driven; the item is the cluster."),
    click.option("--retries", type=click.IntRange(0, 100), default=2, show_default=True,
                 help="How often a talk that failed is held again."),
    click.option("--sessions", type=click.IntRange(1, 4096), default=1, show_default=True,
                 help="Talks that go on at once on the wall clock."),
    click.option("--priming", type=_Range(0, 10), default=0.0, show_default=True, metavar="SECONDS",
                 help="How long the listener's player holds the first audio against jitter."),
    click.option("--per-minute", type=_Range(0, 10_000), metavar="N", help="Begin no more talks in a minute."),
    click.option("--price", callback=priced, metavar="AMOUNT",
                 help="US dollars for a minute of talk, or KIND=AMOUNT,… with input_audio, output_audio, input_text, "
                      "output_text, cached_audio, … for a million tokens, minute, talk. Default: a table's."),
    click.option("--max-cost", type=_Range(0), metavar="AMOUNT",
                 help="Hold no talk that could make the run cost more US dollars than this, all calls together."),
    click.option("--access", type=click.Choice(["open", "closed"]),
                 help="How the system can be had; reports group by it. Default: what the system says of itself."),
    click.option("--exclude", type=_PATH, metavar="FILE",
                 help="Items to leave out: the validity.json of a review of items, or SET/ITEM a line."),
    click.option("--dry-run", is_flag=True, help="Say how long it would take and what it would cost; do nothing."),
    *_layout_options,
    *_listening_options,
    click.option("--reference", type=_PATH, metavar="FILE",
                 help="Backchannel reference distributions (JSD needs it)."),
    click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
                 help="Seed of effects and of every resampling."),
    _engine,
)  # fmt: skip


def _asked_for(benchmark: str, given: Mapping[str, Any]) -> tuple[Any, Any, Path]:
    """Return what is asked, how it is driven, and where it goes."""
    from fullduplex.conversations import Driving
    from fullduplex.model.spans import seconds
    from fullduplex.systems.build import named

    spec = named(given["driven"])
    driving = Driving(
        spec,
        given["clock"] or "",
        given["repeats"],
        given["retries"],
        given["sessions"],
        priming=seconds(given["priming"]),
        prices=given["price"],
        exclude=given["exclude"],
        max_cost=given["max_cost"],
        per_minute=given["per_minute"] or None,
        access=given["access"] or "",
        keys=system_keys(spec),
    )
    asked = _asked(given["data"], {**given, "benchmark": benchmark, "system": given["name"]})
    return asked, driving, given["out"] or Path(f"{benchmark.partition('@')[0]}-{spec.name}.run")


@main.command()
@_options(_driving_options)
@_json
def drive(benchmark: str, **given: Any) -> int:
    """Drive BENCH's items through a system and keep the talks; `run` with the same options goes on from there."""
    from fullduplex.conversations import hold_all

    asked, driving, out = _asked_for(benchmark, given)
    if given["dry_run"]:
        return _tell_plan(asked, driving, out, given)
    bar = _Bar()
    try:
        held = hold_all(given["data"], out, asked, driving, cache=_cache(), engine=given["engine"], progress=bar)
    finally:
        bar.close()
    failed = {f"{task.name} (repeat {task.repeat})": why for task, why in held.failed}
    if given["as_json"]:
        _shown_json({"run": str(out), "talks": len(held.tasks), "failed": failed})
    else:
        click.echo(
            f"{counted(len(held.tasks), 'talk')}: {out}; `fullduplex run` with the same options hears and measures them"
        )
    for key, why in list(failed.items())[:1]:
        _say(f"{counted(len(failed), 'talk')} failed; the first, {key}: {why}")
    return SOME_FAILED if failed else 0


@main.command()
@_options(_driving_options)
@click.option("--every-clock/--playout-only", default=True,
              help="Also measure under the other clocks, where they have the audio elsewhere.")  # fmt: skip
@click.option("--fail-if", "gates", multiple=True, metavar="GATE", help="Exit 4 if it holds, e.g. 'latency.p90 > 1'.")
@click.option("--junit", type=_PATH, metavar="FILE", help="Write gates and failed items as JUnit XML.")
@click.option("--page/--no-page", default=True, help="Write report.html, which plays every item.")
@click.option("--single-file", type=click.IntRange(min=0), metavar="N", help="Embed the sound of the first N items.")
@_report_language
@_json
def run(benchmark: str, **given: Any) -> int:
    """Drive BENCH's items through a system, then hear, measure and report: all in one go.

    The same command goes on where it was stopped; what is recorded is never held again.
    """
    from fullduplex.conversations import converse
    from fullduplex.publish import publish

    gates = _gates(given["gates"])
    asked, driving, out = _asked_for(benchmark, given)
    if given["dry_run"]:
        return _tell_plan(asked, driving, out, given)
    bar = _Bar()
    try:
        scored = [
            converse(
                given["data"], out, asked, driving, cache=_cache(), engine=given["engine"], progress=bar,
                every_clock=given["every_clock"],
            )
        ]  # fmt: skip
        embed = _first(given["single_file"])
        published = publish(
            scored, out, page=given["page"], engine=given["engine"], progress=bar, embed=embed,
            language=given["report_language"],
        )  # fmt: skip
    finally:
        bar.close()
    return _finish(scored, published.tables, out, gates, given)


def _tell_plan(asked: Any, driving: Any, out: Path, given: Mapping[str, Any]) -> int:
    from fullduplex.conversations import planned
    from fullduplex.systems.build import is_charged

    found = planned(given["data"], asked, driving, out, cache=_cache())
    if given["as_json"]:
        _shown_json(
            {"talks": found.talks, "already_held": found.already, "seconds_of_talk": found.seconds_of_talk,
             "seconds": found.seconds, "price": found.price, "spent": found.spent, "looked_for_server": False}
        )  # fmt: skip
        return 0
    click.echo(
        f"{found.talks} talks, {found.already} of them held already; at most {found.seconds_of_talk:.0f} s of talk"
    )
    if found.seconds is not None:
        click.echo(
            f"on the wall clock about {found.seconds:.0f} s, {driving.sessions} at a time; listening comes after"
        )
    else:
        click.echo("not on the wall clock: as fast as this machine computes")
    for line in _cost_told(found, charged=is_charged(driving.system)):
        click.echo(line)
    if found.served and found.talks > found.already:
        click.echo(f"whether its server is there was not looked at: `fullduplex preflight {driving.system}` does")
    return 0


def _cost_told(found: Any, *, charged: bool) -> Iterator[str]:
    """Yield what is left to pay and what cap allows it; nothing where nobody is known to ask money."""
    from fullduplex.driving.prices import dollars, rounded_up

    prices = found.prices
    spent = f"; {dollars(found.spent)} are spent" if found.spent else ""
    if found.price is not None and not prices.by_tokens:
        price = rounded_up(found.price)
        yield f"cost: {dollars(price)} at most, handshakes and farewells too ({prices.source}){spent}"
        if price:
            cap = dollars(rounded_up(found.spent + found.price)).removeprefix("US$ ")
            yield f"--max-cost {cap} lets all of it be held, where no talk has to be repeated"
    elif found.price is not None:
        yield f"cost: {dollars(found.price)} as the talks that are held cost ({prices.source}){spent}"
    elif prices is not None:
        yield f"cost: by tokens, known once a talk is held ({prices.source}){spent}"
    elif charged:
        yield f"cost: not known; give --price{spent}"


# Before many talks are held: whether one can be.
from fullduplex.cli import preflight as _preflight  # noqa: E402, F401
