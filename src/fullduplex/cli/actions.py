"""What ``interactions --benchmark duplexact`` does: items of actions, made, counted, heard."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import SOME_FAILED, _Bar, _cache, _say, _shown_json, counted
from fullduplex.cli.keys import voice_keys
from fullduplex.cli.making import _specs
from fullduplex.errors import InputError, printable

#: What ``--persona`` without a name asks for.
EVERY = "every"


def make_items(script: Path | None, out: Path | None, given: Any) -> int:
    """Make the items of ``script``, or of those that ship, and return the exit status; without ``out``, count them."""
    from fullduplex.engines import each, open_engine
    from fullduplex.making.acting.cues import Asking
    from fullduplex.making.acting.items import make_actions, plan_actions
    from fullduplex.making.acting.script import shipped
    from fullduplex.model.spans import seconds
    from fullduplex.stages import engine_for

    plan = plan_actions(
        script or shipped(),
        out or Path(),
        _specs("--voice", given["voices"]),
        scenarios=given["scenarios"],
        personas=_personas(given["personas"]),
        asking=Asking(seconds(given["into"]), given["prompt"]),
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
            made = make_actions(plan, out, progress=bar, each=partial(each, opened))
            if given["reviewed_by"]:
                from fullduplex.making.acting.review import review

                (spec,) = _specs("--review", (given["reviewed_by"],))
                heard = review(plan, out, spec, cache=_cache(), progress=bar, each=partial(each, opened))
    finally:
        bar.close()
    _show(plan, out, made, heard, given)
    failed = (*made.failed, *(heard.failed if heard else ()))
    for name, why in failed[:1]:
        _say(f"{counted(len(failed), 'item')} failed; the first, {name}: {why}")
    return SOME_FAILED if failed else 0


def _personas(names: tuple[str, ...]) -> tuple[Any, ...]:
    from fullduplex.driving.personas import read_personas

    known = read_personas()
    if EVERY in names:
        return tuple(known.values())
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InputError("--persona", found=", ".join(unknown), expected=f"of {', '.join(known)}, or no name for all")
    return tuple(known[name] for name in dict.fromkeys(names))


def _show(plan: Any, out: Path, made: Any, heard: Any, given: Any) -> None:
    from fullduplex.making.acting.items import ENOUGH_VOICES

    names = dict.fromkeys(task.item.scenario for task in plan.tasks)
    counts = {name: sum(one.scenario == name for one in made.items) for name in names}
    other = {task.item.scenario for task in plan.tasks if task.item.condition.made == "recordings"}
    if given["as_json"]:
        told: dict[str, Any] = {
            "out": str(out),
            "items": counts,
            "kept": sum(one.kept for one in made.items),
            "damaged": {f"{one.folder.parent.name}/{one.id}": one.damaged for one in made.items if one.damaged},
            "voices": len(plan.voices),
            "personas": sorted({one.persona for one in made.items if one.persona}),
            "published_from_recordings": sorted(other),
            "failed": dict(made.failed),
        }
        _shown_json(told | ({} if heard is None else {"review": heard.to_json()}))
        return
    items = counted(len(made.items), "item")
    click.echo(f"{items} of {counted(len(counts), 'condition')}, in {counted(len(plan.voices), 'voice')}: {out}")
    for one in (one for one in made.items if one.damaged):
        click.echo(printable(f"made again: {one.folder.parent.name}/{one.id}: {one.damaged}", 300))
    if len(plan.voices) < ENOUGH_VOICES:
        click.echo(f"note: fewer than {ENOUGH_VOICES} voices speak: what they share, a system may be good or bad at")
    if other:
        click.echo(
            f"note: in {len(other)} of these conditions the publication's items are from recordings; here voices speak"
        )
    if heard is not None:
        show_review(heard, "words that marks hang on")


def show_review(heard: Any, triggers: str) -> None:
    """Show what was heard of items; ``triggers`` is what the words are called that were listened for."""
    told = heard.to_json()
    off = f", {told['off']['median']:.2f} s from their places in the median" if told["off"] else ""
    found = f"{told['triggers_found']} of {told['triggers']} {triggers} found{off}"
    click.echo(
        f"heard {counted(told['cues'], 'cue')} of {counted(told['items'], 'item')}: "
        f"{found}; {len(heard.faults)} to listen to"
    )
    for fault in heard.faults:
        click.echo(printable(f"  {fault.item} {fault.cue}  {fault.kind}: {fault.text}", 200))


def show_counts(counts: Mapping[str, Mapping[str, int]]) -> None:
    """Show how many items there are of each scenario, and how many of them are there already."""
    for name, count in counts.items():
        there = f", {count['there']} of them there already" if count.get("there") else ""
        click.echo(f"{name}: {counted(count['items'], 'item')}{there}")


def _counted(plan: Any, out: Path | None, given: Any) -> int:
    counts = plan.counts(there=out is not None)
    if given["as_json"]:
        _shown_json({"out": None if out is None else str(out), "would_make": counts, "voices": len(plan.voices)})
        return 0
    show_counts(counts)
    items = counted(sum(count["items"] for count in counts.values()), "item")
    click.echo(f"{items}, in {counted(len(plan.voices), 'voice')}")
    return 0
