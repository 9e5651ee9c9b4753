"""The command that looks whether a system is ready to be driven."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import _PATH, CANNOT_START, _cache, _family, _json, _Range, _say, _shown_json, main
from fullduplex.cli.keys import origin, system_keys
from fullduplex.cli.prices import priced
from fullduplex.errors import InputError, printable

#: Instructions are settings too: so many characters of one are shown.
_LONGEST = 4_000


@main.command()
@click.argument("system", shell_complete=_family("systems"), metavar="SYSTEM")
@click.option("--say", type=_PATH, metavar="FILE", help="What the user says. Default: sound like speech.")
@click.option("--seconds", "lasts", type=_Range(2, 120), default=8.0, show_default=True, help="How long the talk is.")
@click.option("--prompt", default="", metavar="TEXT", help="The instruction that the system is given.")
@click.option("--price", callback=priced, metavar="AMOUNT", help="As with `run`: for a minute, or KIND=AMOUNT,…")
@click.option("--items", type=click.IntRange(1), default=100, show_default=True, help="Of the benchmark to be priced.")
@click.option("--item-seconds", type=_Range(1), default=30.0, show_default=True, help="How long each of them lasts.")
@_json
def preflight(
    system: str,
    say: Path | None,
    lasts: float,
    prompt: str,
    price: Any,
    items: int,
    item_seconds: float,
    as_json: bool,
) -> int:
    """Look whether SYSTEM can be driven: key, server, handshake, sound both ways, its timing, and what it costs.

    Holds one short talk, which a vendor may charge. Exit 1 where something is missing, in one sentence.
    """
    from fullduplex.data import audio
    from fullduplex.driving.prices import prices_of
    from fullduplex.model.spans import seconds
    from fullduplex.systems.build import build, hosted, is_charged, key_names, named, needs_keys
    from fullduplex.systems.discreet import unheard
    from fullduplex.testing import preflight as looking

    spec = named(system)
    keys = system_keys(spec)
    checks = [looking.Checked("key", "ok", f"{name}: {origin(name)}") for name in keys]
    made = build(spec, _cache(), keys=keys)
    prices = price or prices_of(made.spec, hosted=hosted(spec))
    settings: Any = {}
    try:
        needs_keys(spec, keys)
    except InputError as error:
        checks.append(looking.Checked("key", "missing", str(error)))
    else:
        if not checks:
            why = "in a file of its own" if spec.options.get("key_file") else "none is set" if key_names(spec) else ""
            checks.append(looking.Checked("key", "ok", why or "it needs none"))
        clock = "wall" if "wall" in made.traits.clocks else made.traits.clocks[0]
        said = None
        if say is not None:
            samples, rate = audio.read(say)
            said = audio.resample(samples, rate, made.traits.rate_in)
        found = looking.preflight(
            made,
            clock,
            lasts=looking.lasts_at_least(said, made.traits.rate_in, seconds(lasts)),
            say=said,
            prompt=prompt,
            prices=prices,
            benchmark=looking.Benchmark(items, item_seconds),
            charged=is_charged(spec),
        )
        checks += found.checks
        settings = found.settings
    return _shown(made.spec, checks, settings, lambda value: unheard(value, keys.values()), as_json)


def _shown(spec: Any, checks: list[Any], settings: Any, discreet: Any, as_json: bool) -> int:
    missing = [check for check in checks if check.outcome == "missing"]
    if as_json:
        told = {"system": spec.to_json(), "ready": not missing, "checks": [check.to_json() for check in checks]}
        _shown_json(discreet(told | {"settings": settings}))
    else:
        mark = {"ok": "ok", "remark": "note", "missing": "MISSING"}
        for check in checks:
            click.echo(discreet(f"{check.name:<12} {mark[check.outcome]:<8} {printable(check.told, 600)}"))
        for line in _lines(settings):
            click.echo(discreet(f"{'in effect':<12} {'':<8} {printable(line, _LONGEST)}"))
    sys.stdout.flush()
    if missing:
        # Who reads the rows has the sentences there; who reads JSON is given the first of them here.
        why = f"{missing[0].name}: {missing[0].told}" if as_json else f"{_listed(missing)}, as told above"
        _say(discreet(f"{spec.name} is not ready: {why}"))
        return CANNOT_START
    return 0


def _listed(missing: list[Any]) -> str:
    return " and ".join(dict.fromkeys(check.name for check in missing))


def _lines(value: Any, name: str = "") -> Iterator[str]:
    """Yield settings as lines, ``part.of.name: value`` with the value as JSON has it, texts as they are."""
    if isinstance(value, Mapping) and (value or not name):
        for key, inner in value.items():
            yield from _lines(inner, f"{name}.{key}" if name else str(key))
    else:
        yield f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)}"
