"""The commands that make items and test systems and ourselves: synth, conform, selftest."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import (
    _PATH,
    GATE_FAILED,
    SOME_FAILED,
    _Bar,
    _cache,
    _engine,
    _family,
    _json,
    _Range,
    _say,
    _shown_json,
    counted,
    main,
)
from fullduplex.cli.keys import system_keys, voice_keys
from fullduplex.errors import InputError, printable


def _specs(option: str, texts: tuple[str, ...]) -> tuple[Any, ...]:
    from fullduplex.model.spec import Spec

    try:
        return tuple(Spec.parse(text) for text in texts)
    except ValueError as error:
        raise InputError(option, found=", ".join(texts), expected="NAME or NAME:option=value,option=value") from error


@main.command()
@click.argument("script", type=_PATH, required=False)
@click.option("--out", type=_PATH, required=True, help="The folder for the items.")
@click.option("--voice", "voices", multiple=True, metavar="SPEC", shell_complete=_family("voices"),
              help="A voice of the pool; may be repeated. Default: ten of Kokoro's, drawn by the seed.")  # fmt: skip
@click.option("--language", "languages", multiple=True, default=("en",), show_default=True,
              help="The lines to speak; several for matched items with equal times.")  # fmt: skip
@click.option("--gap", type=_Range(0, 600), default=7.0, show_default=True, metavar="SECONDS",
              help="From the end of the context to the interruption.")  # fmt: skip
@click.option("--after", type=_Range(0, 600), metavar="SECONDS",
              help="Silence after the last words. Default: that of the official set.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N of each dataset.")
@click.option("--write", type=click.IntRange(1, 10_000), metavar="N",
              help="Have a language model write N pairs of a context and an interruption first.")  # fmt: skip
@click.option("--model", default="smollm2", show_default=True, metavar="SPEC",
              shell_complete=_family("language_models"), help="What --write writes with.")  # fmt: skip
@click.option("--recogniser", metavar="SPEC", shell_complete=_family("recognisers"),
              help="What places the words of a voice that does not tell their times; marked so.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws voices, rooms and topics.")
@_engine
@_json
def synth(script: Path | None, out: Path, **given: Any) -> int:
    """Make items from a dialogue SCRIPT by speech synthesis; without one, from the dialogues that ship.

    Items have the layout of Full-Duplex-Bench. What is there already is not made again.
    """
    from fullduplex.engines import each, open_engine
    from fullduplex.making.script_file import shipped
    from fullduplex.making.synthesis import synthesise
    from fullduplex.model.spans import seconds
    from fullduplex.stages import engine_for

    voices = _specs("--voice", given["voices"])
    recogniser = _specs("--recogniser", (given["recogniser"],))[0] if given["recogniser"] else None
    if given["write"]:
        if script is None:
            raise click.UsageError("--write needs SCRIPT: the file that it writes")
        _write_script(script, given)
    bar = _Bar()
    try:
        with open_engine(given["engine"] or engine_for(1_000)) as opened:
            made = synthesise(
                script or shipped(),
                out,
                voices,
                seed=given["seed"],
                gap=seconds(given["gap"]),
                after=None if given["after"] is None else seconds(given["after"]),
                languages=given["languages"],
                limit=given["limit"],
                recogniser=recogniser,
                cache=_cache(),
                keys=voice_keys(),
                progress=bar,
                each=partial(each, opened),
            )
    finally:
        bar.close()
    if given["as_json"]:
        _shown_json(
            {"out": str(out), "items": len(made.items), "failed": dict(made.failed), "left_out": list(made.left_out)}
        )
    else:
        click.echo(f"{counted(len(made.items), 'item')}: {out}")
        if made.left_out:
            click.echo(f"note: {len(made.left_out)} dialogues have no lines in {' and '.join(given['languages'])}")
    for name, why in made.failed[:1]:
        _say(f"{counted(len(made.failed), 'item')} failed; the first, {name}: {why}")
    return SOME_FAILED if made.failed else 0


def _write_script(script: Path, given: Any) -> None:
    from fullduplex import plugins
    from fullduplex.data.files import replacing
    from fullduplex.making.pairs import write_pairs
    from fullduplex.making.script_file import as_script

    if script.exists():
        raise InputError(script, found="a file", expected="a new name, since --write writes it")
    (spec,) = _specs("--model", (given["model"],))
    model = plugins.make("language_models", spec.name, spec.options, _cache())
    written = write_pairs(model, given["write"], given["seed"])
    with replacing(script) as part:
        part.write_text(as_script(list(written.dialogues)), encoding="utf-8")
    dropped = ", ".join(f"{n} {why}" for why, n in written.dropped.items())
    click.echo(
        f"{counted(len(written.dialogues), 'pair')} written: {script}" + (f" (dropped: {dropped})" if dropped else ""),
        err=True,
    )


@main.command()
@click.argument("system", shell_complete=_family("systems"), metavar="SYSTEM")
@click.option("--clock", "clocks", multiple=True,
              type=click.Choice(["wall", "virtual", "step-honest", "step-algorithmic"]),
              help="What time is; several times for several. Default: the system's own.")  # fmt: skip
@click.option("--case", "cases", multiple=True, type=click.IntRange(1, 26), help="Only this case; may be repeated.")
@click.option(
    "--say",
    type=_PATH,
    metavar="FILE",
    help="What the user says to a system that is judged from outside; silence behind it is left out.",
)
@click.option(
    "--limit",
    is_flag=True,
    help="Hold one more talk, in silence, as long as the longest that the system declares and 5 % more.",
)
@_json
def conform(
    system: str, clocks: tuple[Any, ...], cases: tuple[int, ...], say: Path | None, limit: bool, as_json: bool
) -> int:
    """Try a system, or its driver, on the 26 cases of conformance; exit 4 where one fails.

    Exit 3 where none fails but one was not judged, since this machine was too busy to keep time.

    The loopback system (`loopback`) is played every case, on the virtual and the wall clock; any other is judged from
    outside on those that need no server that can be told what to do, and on what it declares.
    """
    from fullduplex.data import audio
    from fullduplex.systems.build import build, named
    from fullduplex.testing.conform import conform as tried
    from fullduplex.testing.conform import failed, render, to_json, unjudged
    from fullduplex.testing.probes import said_of

    spec = named(system)
    built = build(spec, _cache(), keys=system_keys(spec))
    said = None
    if say is not None:
        samples, rate = audio.read(say)
        said = audio.resample(samples, rate, built.traits.rate_in)
        ends = len(said_of(said))
        if len(said) - ends >= built.traits.rate_in // 10:
            behind = (len(said) - ends) / built.traits.rate_in
            _say(f"note: {say.name} ends in {behind:.1f} s of silence, which is left out: the user speaks on")

    def told(result: Any) -> None:
        if not as_json and sys.stderr.isatty():
            click.echo(f"case {result.number}, {result.clock}: {result.outcome}", err=True)

    results = tried(built, clocks=clocks, cases=cases, limit=limit, say=said, told=told)
    if as_json:
        _shown_json(to_json(built, results))
    else:
        from rich.console import Console

        Console(width=None if sys.stdout.isatty() else 140, highlight=False).print(render(results))
    if failed(results):
        wrong = [f"{r.number} ({r.clock})" for r in sorted(results, key=lambda r: r.number) if r.outcome == "failed"]
        _say(f"{counted(len(wrong), 'case')} failed: {', '.join(wrong)}")
        return GATE_FAILED
    if unjudged(results):
        busy = counted(sum(r.outcome == "not judged" for r in results), "case")
        _say(f"{busy} not judged: this machine was too busy; try again when it is quiet, or with --clock virtual")
        return SOME_FAILED
    return 0


@main.command()
@click.option(
    "--out", type=_PATH, default=Path("selftest"), show_default=True, help="Where clips, numbers and page go."
)
@click.option("--detector", "detectors", multiple=True, default=("silero", "webrtc", "energy"), show_default=True,
              metavar="SPEC", shell_complete=_family("detectors"))  # fmt: skip
@click.option("--recogniser", "recognisers", multiple=True, metavar="SPEC", shell_complete=_family("recognisers"),
              help="Also measure this recogniser's word times; may be repeated.")  # fmt: skip
@click.option("--clips", type=_PATH, metavar="DIR", help="Recordings of real speech, planted too.")
@click.option("--quick", is_flag=True, help="Fewer talks; the page says so.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@_engine
@_json
def selftest(out: Path, **given: Any) -> int:
    """Measure our own error: plant answers at known times, drive, spoil and hear them, and compare with the truth.

    Exit 4 where a promise is not kept.
    """
    from fullduplex.engines import each, open_engine
    from fullduplex.stages import engine_for
    from fullduplex.testing.selftest import selftest as tested

    bar = _Bar()
    try:
        with open_engine(given["engine"] or engine_for(1_000)) as opened:

            def run_tasks(function: Any, tasks: Any) -> Any:
                for outcome in each(opened, function, tasks):
                    if outcome.error is not None:
                        raise InputError("selftest", found=outcome.error, expected="a talk that can be held")
                    yield outcome.result

            found = tested(
                out,
                seed=given["seed"],
                cache=_cache(),
                detectors=given["detectors"],
                recognisers=given["recognisers"],
                clips=given["clips"],
                quick=given["quick"],
                progress=bar,
                run_tasks=run_tasks,
            )
    finally:
        bar.close()
    if given["as_json"]:
        _shown_json(found.to_json())
    else:
        click.echo((out / "selftest.md").read_text(encoding="utf-8"))
        click.echo(f"See the distributions: {(out / 'selftest.html').resolve()}")
    for gate in found.broken:
        value = "nothing measured" if gate.value is None else f"{gate.value:g} {gate.unit}"
        _say(
            printable(f"a promise is not kept: {gate.name}: {value}, and the limit is {gate.limit:g} {gate.unit}", 500)
        )
    return GATE_FAILED if found.broken else 0
