"""The command that makes overlap items: overlaps."""

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
from fullduplex.cli.keys import voice_keys
from fullduplex.cli.making import _specs
from fullduplex.data.official import V15_SETS
from fullduplex.errors import printable


@main.command()
@click.argument("source", type=_PATH, required=False)
@click.option("--out", type=_PATH, required=True, help="The folder for the items.")
@click.option("--task", "kinds", multiple=True, default=V15_SETS, type=click.Choice(V15_SETS),
              help="What is said over the answer; may be repeated. Default: all four.")  # fmt: skip
@click.option("--lines", type=_PATH, metavar="FILE", help="What is said. Default: 100 lines of each task, in English.")
@click.option("--voice", "voices", multiple=True, metavar="SPEC", shell_complete=_family("voices"),
              help="A voice of the pool; may be repeated. Default: ten of Kokoro's, drawn by the seed.")  # fmt: skip
@click.option("--language", default="en", show_default=True, help="The language spoken.")
@click.option("--after", type=_Range(0, 600), default=4.0, show_default=True, metavar="SECONDS",
              help="From the end of the question to what is said over its answer.")  # fmt: skip
@click.option("--tail", type=_Range(0, 600), default=15.0, show_default=True, metavar="SECONDS",
              help="Silence after it.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N",
              help="The first N of each task. Default: as many as the published set has.")  # fmt: skip
@click.option("--recogniser", default="whisper", show_default=True, metavar="SPEC",
              shell_complete=_family("recognisers"),
              help="What places words that come without times; none: nothing does.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Draws voices, rooms, and which line meets which question.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Count what would be made, and make nothing.")
@_engine
@_json
def overlaps(source: Path | None, out: Path, **given: Any) -> int:
    """Make items in which something is said over the answer, from SOURCE: a folder of items or a dialogue script.

    Without SOURCE, from the dialogues that ship. Items have the layout of Full-Duplex-Bench v1.5, each with its clean
    twin. What is there already is not made again.
    """
    from fullduplex.engines import each, open_engine
    from fullduplex.making.overlaps import make_overlaps, plan_overlaps
    from fullduplex.making.script_file import shipped
    from fullduplex.model.spans import seconds
    from fullduplex.stages import engine_for

    recogniser = None if given["recogniser"] in ("", "none") else _specs("--recogniser", (given["recogniser"],))[0]
    plan = plan_overlaps(
        source or shipped(),
        out,
        _specs("--voice", given["voices"]),
        kinds=given["kinds"],
        lines=given["lines"],
        language=given["language"],
        seed=given["seed"],
        after=seconds(given["after"]),
        tail=seconds(given["tail"]),
        limit=given["limit"],
        recogniser=recogniser,
        cache=_cache(),
        keys=voice_keys(),
    )
    if given["dry_run"]:
        return _counted(plan, out, given)
    bar = _Bar()
    try:
        with open_engine(given["engine"] or engine_for(1_000)) as opened:
            made = make_overlaps(plan, out, progress=bar, each=partial(each, opened))
    finally:
        bar.close()
    kinds = {kind: sum(one.kind == kind for one in made.items) for kind in dict.fromkeys(t.kind for t in plan.tasks)}
    other = sum(one.own_voice is False for one in made.items)
    unplaced = sum(not one.placed for one in made.items)
    if given["as_json"]:
        _shown_json(
            {
                "out": str(out),
                "items": kinds,
                "kept": sum(one.kept for one in made.items),
                "other_voice": other,
                "without_words": unplaced,
                "failed": dict(made.failed),
                "left_out": dict(made.left_out),
            }
        )
    else:
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
        click.echo(f"{counted(len(made.items), 'item')} ({told}): {out}")
        if other:
            click.echo(f"note: in {counted(other, 'item')} another voice, near in pitch, speaks for a recorded user")
        if unplaced:
            have = "1 item has" if unplaced == 1 else f"{unplaced} items have"
            click.echo(f"note: {have} no input.json: nothing placed all the words")
        _say_left_out(made.left_out)
    for name, why in made.failed[:1]:
        _say(f"{counted(len(made.failed), 'item')} failed; the first, {name}: {why}")
    return SOME_FAILED if made.failed else 0


def _counted(plan: Any, out: Path, given: Any) -> int:
    counts = plan.counts()
    if given["as_json"]:
        _shown_json({"out": str(out), "would_make": counts, "left_out": dict(plan.left_out)})
        return 0
    for kind, count in counts.items():
        there = f", {count['there']} of them there already" if count["there"] else ""
        click.echo(f"{kind}: {counted(count['items'], 'item')}{there}")
    _say_left_out(plan.left_out)
    return 0


def _say_left_out(left_out: tuple[tuple[str, str], ...]) -> None:
    for name, why in left_out[:1]:
        click.echo(
            printable(f"note: {counted(len(left_out), 'item')} of the source left out; the first, {name}: {why}", 500)
        )
