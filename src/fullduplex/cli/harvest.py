"""The command that makes items of recorded conversations: harvest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fullduplex.cli import _PATH, SOME_FAILED, _Bar, _cache, _family, _json, _say, _shown_json, counted, main
from fullduplex.cli.harvesting import conversations_failed, decisions, for_fdb, listening, notes
from fullduplex.errors import InputError, printable


@main.command()
@click.argument("corpus", type=_PATH, required=False)
@click.option("--rules", default="duplexact", show_default=True, metavar="NAME|FILE",
              help="What is looked for: duplexact, fdb-1.0, fdb-1.5, french-callfc, french-media, or your own "
              "file that ends in .toml.")  # fmt: skip
@click.option("--out", type=_PATH, help="The folder for the items.")
@click.option("--format", "form", default="", metavar="NAME",
              help="What the corpus is: switchboard, two-channel ... Default: by what the folder holds.")  # fmt: skip
@click.option("--recordings", type=_PATH, metavar="DIR", help="Where the audio lies, if not in the corpus.")
@click.option("--audio", metavar="LICENCE", default="",
              help="Write sound too, by this right, which is written down. Default: annotations only.")  # fmt: skip
@click.option(
    "--setting",
    metavar="NAME",
    help="casual, meeting, interview, customer_service; of duplexact alone. Default: the corpus'.",
)
@click.option("--language", metavar="CODE",
              help="The language spoken, as a two-letter code. Default: the corpus' own, else en.")  # fmt: skip
@click.option("--model", metavar="SPEC", shell_complete=_family("language_models"),
              help="The language model that decides what a place means, for duplexact alone. Default: rules on words, "
              "marked.")  # fmt: skip
@click.option("--detector", default="silero:edges=refined", show_default=True, metavar="SPEC",
              shell_complete=_family("detectors"), help="What finds speech where there are no words.")  # fmt: skip
@click.option("--recogniser", default="whisper", show_default=True, metavar="SPEC|none",
              shell_complete=_family("recognisers"),
              help="What finds words where there are none; none: speech alone.")  # fmt: skip
@click.option(
    "--listen", is_flag=True, help="Have the detector hear recordings that have words, too; of Full-Duplex-Bench alone."
)
@click.option(
    "--fill",
    is_flag=True,
    help="Have the recogniser add words where that hears speech and the transcript has none, as in overlaps; "
    "of Full-Duplex-Bench alone.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most N items of each condition of duplexact.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Draws the order of conversations, with --limit; of duplexact alone.")  # fmt: skip
@click.option("--cap", type=click.IntRange(0), metavar="N",
              help="The best N of each task of Full-Duplex-Bench, 0 for all. Default: the rules', 150.")  # fmt: skip
@click.option("--speakers", metavar="A,B", callback=lambda _, __, text: tuple(text.split(",")) if text else (),
              help="The two people of transcripts with more, or that do not tell whose the channels are.")  # fmt: skip
@click.option("--system-side", type=click.IntRange(1, 2), metavar="1|2",
              help="The side that a system replaces, for Full-Duplex-Bench alone. Default: each in turn; french-media "
              "has to be told.")  # fmt: skip
@click.option(
    "--tokens",
    type=_PATH,
    metavar="FILE",
    help="Your own list of listeners' tokens, as TOML; of Full-Duplex-Bench alone.",
)
@click.option(
    "--withhold",
    type=_PATH,
    metavar="FILE",
    help="Names to put out of all texts, one a line; of Full-Duplex-Bench alone.",
)
@click.option(
    "--licence",
    default="",
    metavar="TEXT",
    help="The corpus' licence, if its folder does not tell it; of Full-Duplex-Bench alone.",
)
@click.option(
    "--where",
    default="",
    metavar="TEXT",
    help="Where the corpus is to be had, if its folder does not tell; of Full-Duplex-Bench alone.",
)
@click.option("--accepted", type=_PATH, metavar="PATH",
              help="What people decided: a run or a folder that was reviewed with the form accept, or a JSON file "
              "{TASK/ID: accept|reject}. What is rejected is left out. Of Full-Duplex-Bench alone.")  # fmt: skip
@click.option("--rebuild", type=_PATH, metavar="DIR", help="Make the items of an annotations-only release again.")
@click.option("--corpus", "again", type=_PATH, metavar="PATH", help="The corpus that --rebuild takes the sound from.")
@click.option("--table", "tables", type=_PATH, multiple=True, metavar="DIR",
              help="Print how many items of each task these harvests have, no more; may be repeated.")  # fmt: skip
@click.option("--engine", default="", metavar="SPEC", shell_complete=_family("engines"),
              help="Where conversations are surveyed for Full-Duplex-Bench: here, processes:N, dask://HOST:PORT, "
              "ray://HOST:PORT. Default: this machine's cores. duplexact works in this process.")  # fmt: skip
@_json
@click.pass_context
def harvest(context: click.Context, /, corpus: Path | None, **given: Any) -> int:
    """Make items from the two-channel conversations of CORPUS: pauses, answers, backchannels, interruptions.

    Every filter is counted, and every place that was dropped has its reason in dropped.jsonl. Without --audio nothing
    of the corpus' sound is written, only where it is. What is there already is not made again.
    """
    if given["tables"]:
        from fullduplex.making.harvest.fdb.tables import table_by_corpus

        click.echo(table_by_corpus(given["tables"]))
        return 0
    if given["rebuild"]:
        if corpus is not None or given["again"] is None:
            raise click.UsageError("--rebuild needs --corpus, and no CORPUS")
        return _rebuild(given["rebuild"], given)
    if corpus is None or given["again"] is not None:
        raise click.UsageError("Missing argument 'CORPUS'." if corpus is None else "--corpus belongs to --rebuild")
    if given["out"] is None:
        raise click.UsageError("Missing option '--out'.")
    from fullduplex.data.corpora.opened import open_corpus
    from fullduplex.data.writers import alone_in, made_folder
    from fullduplex.making.harvest.chosen_rules import chosen_rules
    from fullduplex.making.harvest.rules import Rules

    name, rules = chosen_rules(given["rules"])
    of_duplexact = isinstance(rules, Rules)
    for option in _OF_FDB if of_duplexact else _OF_DUPLEXACT:
        if context.get_parameter_source(option) is click.core.ParameterSource.COMMANDLINE:
            where = "Full-Duplex-Bench" if of_duplexact else "duplexact"
            more = "; without it, duplexact works in this process" if option == "engine" else ""
            raise click.UsageError(
                f"--{option.replace('_', '-')} belongs to the rules of {where}, not to {name}{more}."
            )
    language = given["language"] or "en"
    opened = open_corpus(
        corpus, given["form"], recordings=given["recordings"], language=language, speakers=given["speakers"]
    )
    _apart(corpus, given["out"])
    with alone_in(made_folder(given["out"])):
        if isinstance(rules, Rules):
            return _for_duplexact(opened, name, rules, {**given, "language": language})
        return for_fdb(opened, corpus, name, rules, given)


#: What belongs to one kind of rules alone; the help of each option says so.
_OF_DUPLEXACT = ("setting", "model", "limit", "seed")
_OF_FDB = ("cap", "system_side", "tokens", "withhold", "licence", "where", "listen", "fill", "accepted", "engine")


def _for_duplexact(opened: Any, name: str, rules: Any, given: Any) -> int:
    from fullduplex.making.harvest.counting import table_of
    from fullduplex.making.harvest.harvest import COUNTS
    from fullduplex.making.harvest.harvest import harvest as harvested

    bar = _Bar()
    try:
        found = harvested(
            opened,
            given["out"],
            name,
            semantics=_semantics(given),
            ears=lambda: _ears(given),
            audio_allowed=given["audio"],
            setting=given["setting"],
            language=given["language"],
            limit=given["limit"],
            seed=given["seed"],
            progress=bar,
            rules=rules,
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
        click.echo(
            f"{counted(total, 'item')} of {counted(found.conversations, 'conversation')} ({items}): {given['out']}"
        )
        click.echo(f"Counts: {given['out'] / COUNTS}")
        notes(found.remarks, given, found.audio)
    return conversations_failed(found.failed)


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
    from fullduplex.making.harvest.hearing import Ears
    from fullduplex.runs.listen import detector, recogniser

    seen, said = listening(given)
    cache = _cache()
    heard = None if said is None else recogniser(said, str(cache))
    return Ears(detector(seen, str(cache)), heard, given["language"], cache)


def _rebuild(release: Path, given: Any) -> int:
    from fullduplex.data.corpora.opened import open_recordings
    from fullduplex.data.writers import alone_in, made_folder
    from fullduplex.making.harvest.fdb.rebuild import is_fdb_release
    from fullduplex.making.harvest.rebuild import format_of

    of_fdb = is_fdb_release(release)
    corpus = None
    try:
        corpus = open_recordings(given["again"], given["form"] or format_of(release), recordings=given["recordings"],
                                 speakers=given["speakers"])  # fmt: skip
    except InputError:
        # Recordings alone will do: they are known by their digests.
        if not of_fdb or not given["again"].is_dir():
            raise
    out = release if given["out"] is None else made_folder(given["out"])
    bar, rejected = _Bar(), 0
    try:
        with alone_in(out):
            made, rejected = _rebuilt(release, corpus, of_fdb, given, bar)
    finally:
        bar.close()
    if given["as_json"]:
        _shown_json({
            "out": str(out), "items": made.items, "kept": made.kept, "unchecked": made.unchecked,
            "rejected": rejected, "on_no_item": list(made.strange), "failed": dict(made.failed),
        })  # fmt: skip
    else:
        click.echo(f"sound is there for {counted(made.items, 'item')}, {made.kept:,} of them before: {out}")
        if rejected:
            click.echo(f"{rejected:,} are left out: a person rejected them")
        if made.strange:
            click.echo(
                f"note: {counted(len(made.strange), 'decision')} on no item of these; the first: "
                f"{printable(made.strange[0], 160)}"
            )
        if made.unchecked:
            click.echo(f"note: {made.unchecked:,} are from recordings of which the release has no digest to check")
    for name, why in made.failed[:1]:
        _say(f"{counted(len(made.failed), 'item')} failed; the first, {name}: {why}")
    return SOME_FAILED if made.failed else 0


def _rebuilt(release: Path, corpus: Any, of_fdb: bool, given: Any, bar: _Bar) -> tuple[Any, int]:
    """Return what came of a release, and how many items a person rejected."""
    from fullduplex.making.harvest.fdb.rebuild import rebuild_fdb
    from fullduplex.making.harvest.rebuild import rebuild

    if of_fdb:
        folders = [path for path in (given["again"], given["recordings"]) if path is not None and path.is_dir()]
        return rebuild_fdb(
            release, corpus, given["out"], folders=folders, decisions=decisions(given["accepted"]), progress=bar
        )
    if given["accepted"]:
        raise click.UsageError("--accepted belongs to the rules of Full-Duplex-Bench.")
    return rebuild(release, corpus, given["out"], progress=bar), 0
