"""The command that makes items of interactions: interactions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import (
    _PATH,
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
from fullduplex.cli.actions import make_items, show_counts, show_review
from fullduplex.cli.keys import voice_keys
from fullduplex.cli.making import _specs
from fullduplex.errors import printable

_BENCHMARKS = ("interactionbench", "duplexact")


@main.command()
@click.argument("script", type=_PATH, required=False)
@click.option("--out", type=_PATH, help="The folder for the items.")
@click.option("--benchmark", type=click.Choice(_BENCHMARKS), default=_BENCHMARKS[0], show_default=True,
              help="Whose scenarios the script is of.")  # fmt: skip
@click.option("--scenario", "scenarios", multiple=True, metavar="NAME",
              help="A scenario to make; may be repeated. Default: all that the script has.")  # fmt: skip
@click.option("--voice", "voices", multiple=True, metavar="SPEC", shell_complete=_family("voices"),
              help="A voice of the pool; may be repeated. Default: ten of Kokoro's, drawn by the seed.")  # fmt: skip
@click.option("--language", default="en", show_default=True, help="The language spoken.")
@click.option("--into", type=_Range(0, 60), default=3.0, show_default=True, metavar="SECONDS",
              help="From the system's first sound to the interruption of its answer.")  # fmt: skip
@click.option("--prompt", metavar="TEXT", help="What every system is told. Default: one same instruction of ours.")
@click.option("--persona", "personas", multiple=True, metavar="NAME", is_flag=False, flag_value="every",
              help="duplexact: whose settings a voice is given; may be repeated. Without NAME: all five.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N of each scenario.")
@click.option("--recogniser", metavar="SPEC", shell_complete=_family("recognisers"),
              help="What places the words of a voice that does not tell their times; marked so.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Draws the voices.")
@click.option("--review", "reviewed_by", metavar="SPEC", is_flag=False, flag_value="whisper",
              shell_complete=_family("recognisers"),
              help="Hear the items with a recogniser, and tell what to listen to. Without SPEC: whisper.")  # fmt: skip
@click.option("--annotate", is_flag=True,
              help="Write category, anchor and target of the bare items into SCRIPT; makes nothing.")  # fmt: skip
@click.option(
    "--model", metavar="SPEC", shell_complete=_family("language_models"), help="The language model that annotates."
)
@click.option("--dry-run", is_flag=True, help="Count what would be made, and make nothing.")
@_engine
@_json
def interactions(script: Path | None, out: Path | None, **given: Any) -> int:
    """Make items of interactions from SCRIPT, a file or a folder; without it, from those that ship.

    Each item has the user's audio cue by cue, when each is released, and what it calls for. What is there already is
    not made again.
    """
    acts = given["benchmark"] == "duplexact"
    if acts and (given["annotate"] or given["model"]):
        raise click.UsageError("--annotate and --model are for InteractionBench's scripts")
    if given["personas"] and not acts:
        raise click.UsageError("--persona is for --benchmark duplexact")
    if given["annotate"]:
        if script is None or not given["model"]:
            raise click.UsageError("--annotate needs SCRIPT, which it writes to, and --model")
        return _annotate(script, given)
    if out is None and not given["dry_run"]:
        raise click.UsageError("Missing option '--out'.")
    if acts:
        return make_items(script, out, given)
    from fullduplex.engines import each, open_engine
    from fullduplex.making.interaction_cues import PROMPT, Timing
    from fullduplex.making.interaction_items import make_interactions, plan_interactions
    from fullduplex.making.interaction_script import shipped
    from fullduplex.model.spans import seconds
    from fullduplex.stages import engine_for

    plan = plan_interactions(
        script or shipped(),
        out or Path(),
        _specs("--voice", given["voices"]),
        scenarios=given["scenarios"],
        timing=Timing(seconds(given["into"]), PROMPT if given["prompt"] is None else given["prompt"]),
        seed=given["seed"],
        language=given["language"],
        limit=given["limit"],
        recogniser=_specs("--recogniser", (given["recogniser"],))[0] if given["recogniser"] else None,
        cache=_cache(),
        keys=voice_keys(),
    )
    if out is None or given["dry_run"]:
        return _counted(plan, out, given)
    bar, heard = _Bar(), None
    try:
        with open_engine(given["engine"] or engine_for(1_000)) as opened:
            made = make_interactions(plan, out, progress=bar, each=partial(each, opened))
            if given["reviewed_by"]:
                from fullduplex.making.interaction_review import review

                (spec,) = _specs("--review", (given["reviewed_by"],))
                heard = review(plan, out, spec, cache=_cache(), progress=bar, each=partial(each, opened))
    finally:
        bar.close()
    names = dict.fromkeys(task.item.scenario for task in plan.tasks)
    counts = {name: sum(one.scenario == name for one in made.items) for name in names}
    accents = sorted({one.accent for one in made.items if one.accent})
    spoken = sorted({one.voice for one in made.items if one.accent})
    damaged = [one for one in made.items if one.damaged]
    if given["as_json"]:
        told: dict[str, Any] = {
            "out": str(out),
            "items": counts,
            "kept": sum(one.kept for one in made.items),
            "damaged": {f"{one.folder.parent.name}/{one.id}": one.damaged for one in damaged},
            "voices": len({one.voice for one in made.items}),
            "accents": {"asked": accents, "voices": spoken},
            "failed": dict(made.failed),
        }
        _shown_json(told | ({} if heard is None else {"review": heard.to_json()}))
    else:
        click.echo(
            f"{counted(len(made.items), 'item')} ({', '.join(f'{n} {name}' for name, n in counts.items())}): {out}"
        )
        for one in damaged:
            click.echo(printable(f"made again: {one.folder.parent.name}/{one.id}: {one.damaged}", 300))
        if accents:
            click.echo(f"note: accents asked for, and spoken only where the voice has them: {', '.join(accents)}")
        if heard is not None:
            show_review(heard, "trigger words")
    failed = (*made.failed, *(heard.failed if heard else ()))
    for name, why in failed[:1]:
        _say(f"{counted(len(failed), 'item')} failed; the first, {name}: {why}")
    return SOME_FAILED if failed else 0


def _counted(plan: Any, out: Path | None, given: Any) -> int:
    counts = plan.counts(there=out is not None)
    if given["as_json"]:
        _shown_json({"out": None if out is None else str(out), "would_make": counts})
        return 0
    show_counts(counts)
    return 0


def _annotate(script: Path, given: Any) -> int:
    from fullduplex import plugins
    from fullduplex.making.annotate import annotate

    (spec,) = _specs("--model", (given["model"],))
    model = plugins.make("language_models", spec.name, spec.options, _cache())

    def told(name: str, fault: str) -> None:
        click.echo(printable(f"{name}: {fault or 'annotated'}", 200), err=True)

    found = annotate(script, model, told=told)
    if given["as_json"]:
        _shown_json({"annotated": list(found.done), "failed": dict(found.failed), "kept": found.kept})
    else:
        click.echo(f"{counted(len(found.done), 'item')} annotated: read and correct them in {script}")
    for name, why in found.failed[:1]:
        _say(f"{counted(len(found.failed), 'item')} still bare; the first, {name}: {why}")
    return SOME_FAILED if found.failed else 0
