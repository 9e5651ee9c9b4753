"""The command that makes items of recorded conversations: harvest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fullduplex.cli import _PATH, SOME_FAILED, _Bar, _cache, _family, _json, _say, _shown_json, main
from fullduplex.errors import InputError, printable


@main.command()
@click.argument("corpus", type=_PATH, required=False)
@click.option("--rules", default="duplexact", show_default=True, metavar="NAME", help="What is looked for.")
@click.option("--out", type=_PATH, help="The folder for the items.")
@click.option("--format", "form", default="", metavar="NAME",
              help="What the corpus is: switchboard, two-channel. Default: by what the folder holds.")  # fmt: skip
@click.option("--recordings", type=_PATH, metavar="DIR", help="Where the audio lies, if not in the corpus.")
@click.option("--audio", metavar="LICENCE", default="",
              help="Write sound too, by this right, which is written down. Default: annotations only.")  # fmt: skip
@click.option("--setting", metavar="NAME", help="casual, meeting, interview, customer_service. Default: the corpus'.")
@click.option("--language", default="en", show_default=True, help="The language spoken, as a two-letter code.")
@click.option("--model", metavar="SPEC", shell_complete=_family("language_models"),
              help="The language model that decides what a place means. Default: rules on words, marked.")  # fmt: skip
@click.option("--detector", default="silero:edges=refined", show_default=True, metavar="SPEC",
              shell_complete=_family("detectors"), help="What finds speech where there are no words.")  # fmt: skip
@click.option("--recogniser", default="whisper", show_default=True, metavar="SPEC",
              shell_complete=_family("recognisers"), help="What finds words where there are none.")  # fmt: skip
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N items of each condition.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Draws the order of conversations, with --limit.")  # fmt: skip
@click.option("--rebuild", type=_PATH, metavar="DIR", help="Make the items of an annotations-only release again.")
@click.option("--corpus", "again", type=_PATH, metavar="PATH", help="The corpus that --rebuild takes the sound from.")
@_json
def harvest(corpus: Path | None, **given: Any) -> int:
    """Make items from the two-channel conversations of CORPUS: pauses, backchannels, slight overlaps.

    Every filter is counted, and every place that was dropped has its reason in dropped.jsonl. Without --audio nothing
    of the corpus' sound is written, only where it is. What is there already is not made again.
    """
    if given["rebuild"]:
        if corpus is not None or given["again"] is None:
            raise click.UsageError("--rebuild needs --corpus, and no CORPUS")
        return _rebuild(given["rebuild"], given)
    if corpus is None or given["again"] is not None:
        raise click.UsageError("Missing argument 'CORPUS'." if corpus is None else "--corpus belongs to --rebuild")
    if given["out"] is None:
        raise click.UsageError("Missing option '--out'.")
    from fullduplex.data.corpora.opened import open_corpus
    from fullduplex.making.harvest.counting import table_of
    from fullduplex.making.harvest.harvest import COUNTS
    from fullduplex.making.harvest.harvest import harvest as harvested

    opened = open_corpus(corpus, given["form"], recordings=given["recordings"], language=given["language"])
    _apart(corpus, given["out"])
    bar = _Bar()
    try:
        found = harvested(
            opened,
            given["out"],
            given["rules"],
            semantics=_semantics(given),
            ears=lambda: _ears(given),
            audio_allowed=given["audio"],
            setting=given["setting"],
            language=given["language"],
            limit=given["limit"],
            seed=given["seed"],
            progress=bar,
        )
    finally:
        bar.close()
    total = sum(found.items.values())
    if given["as_json"]:
        _shown_json({
            "out": str(given["out"]), "conversations": found.conversations, "items": dict(sorted(found.items.items())),
            "written": found.written, "conditions": {name: funnel.to_json() for name, funnel in found.funnels},
            "backchannels_against_acts": found.against.to_json(), "failed": dict(found.failed),
            "not_read": list(found.remarks),
        })  # fmt: skip
    else:
        click.echo(table_of(found.funnels))
        if told := found.against.text():
            click.echo(told)
        items = ", ".join(f"{n:,} {name}" for name, n in sorted(found.items.items())) or "none"
        click.echo(f"{total:,} items of {found.conversations:,} conversations ({items}): {given['out']}")
        click.echo(f"Counts: {given['out'] / COUNTS}")
        if not given["audio"]:
            click.echo("note: annotations only; --audio LICENCE writes the sound, where the corpus' licence allows it")
        for remark in found.remarks[:5]:
            click.echo(f"note: {printable(remark, 300)}")
        if len(found.remarks) > 5:
            click.echo(f"note: {len(found.remarks) - 5} more are in harvest.json")
    for name, why in found.failed[:1]:
        _say(f"{len(found.failed)} conversations failed; the first, {name}: {why}")
    return SOME_FAILED if found.failed else 0


def _apart(corpus: Path, out: Path) -> None:
    """Raise :class:`InputError` where items would be written among what they are made from."""
    inside, base = out.resolve(), corpus.resolve()
    if inside == base or (base.is_dir() and inside.is_relative_to(base)):
        raise InputError(out, found="a folder inside the corpus", expected="a folder outside of it")


def _semantics(given: Any) -> Any:
    if not given["model"]:
        return None
    from fullduplex import plugins
    from fullduplex.cli.making import _specs
    from fullduplex.making.harvest.by_model import ByModel

    (spec,) = _specs("--model", (given["model"],))
    return ByModel(plugins.make("language_models", spec.name, spec.options, _cache()), _cache())


def _ears(given: Any) -> Any:
    from fullduplex.cli.making import _specs
    from fullduplex.making.harvest.hearing import Ears
    from fullduplex.runs.listen import detector, recogniser

    (seen,) = _specs("--detector", (given["detector"],))
    (said,) = _specs("--recogniser", (given["recogniser"],))
    cache = _cache()
    return Ears(detector(seen, str(cache)), recogniser(said, str(cache)), given["language"], cache)


def _rebuild(release: Path, given: Any) -> int:
    from fullduplex.data.corpora.opened import open_recordings
    from fullduplex.making.harvest.rebuild import format_of, rebuild

    corpus = open_recordings(given["again"], given["form"] or format_of(release), recordings=given["recordings"])
    bar = _Bar()
    try:
        made = rebuild(release, corpus, given["out"], progress=bar)
    finally:
        bar.close()
    out = given["out"] or release
    if given["as_json"]:
        _shown_json({
            "out": str(out), "items": made.items, "kept": made.kept, "unchecked": made.unchecked,
            "failed": dict(made.failed),
        })  # fmt: skip
    else:
        click.echo(f"{made.items:,} items have their sound, {made.kept:,} of them before: {out}")
        if made.unchecked:
            click.echo(f"note: {made.unchecked:,} are from recordings of which the release has no digest to check")
    for name, why in made.failed[:1]:
        _say(f"{len(made.failed)} items failed; the first, {name}: {why}")
    return SOME_FAILED if made.failed else 0
