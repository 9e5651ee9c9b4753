"""Behind the command harvest: by the rules of Full-Duplex-Bench, conversations are surveyed in many processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from fullduplex.cli import SOME_FAILED, _Bar, _cache, _say, _shown_json, counted
from fullduplex.errors import InputError, printable
from fullduplex.once import once_per_process

#: The form that people decide with, and its question of that name; and what they can decide.
ACCEPT, DECISIONS = "accept", ("accept", "reject", "unsure")


@dataclass(frozen=True, slots=True)
class _Survey:
    """One conversation to be surveyed, in whatever process: nothing in it is sound."""

    root: Path
    form: str
    recordings: Path | None
    language: str
    speakers: tuple[str, ...]
    name: str
    asked: Any
    detector: Any
    recogniser: Any
    cache: Path


def for_fdb(opened: Any, corpus: Path, name: str, rules: Any, given: Any) -> int:
    """Harvest by rules of Full-Duplex-Bench, tell what came of it, and return the exit status."""
    from fullduplex.engines import each, open_engine
    from fullduplex.making.doubts import told_once
    from fullduplex.making.harvest.counting import table_of
    from fullduplex.making.harvest.fdb.harvest import COUNTS, REFERENCE, harvest_fdb
    from fullduplex.making.harvest.fdb.survey import Asked
    from fullduplex.making.harvest.fdb.tables import retention_table
    from fullduplex.stages import engine_for

    asked = Asked(
        name, rules, given["out"], given["language"] or "", given["system_side"], given["tokens"],
        _names(given["withhold"]), given["licence"], given["where"], given["listen"], given["fill"],
    )  # fmt: skip
    seen, said = listening(given)
    tasks = [
        _Survey(corpus, given["form"] or opened.format, given["recordings"], given["language"] or "en",
                given["speakers"], one, asked, seen, said, _cache())
        for one in opened.names
    ]  # fmt: skip
    bar = _Bar()
    try:
        with open_engine(given["engine"] or engine_for(50 * len(tasks))) as engine:

            def surveys(names: Sequence[str]) -> Iterator[tuple[str, str]]:
                for outcome in each(engine, _surveyed, tasks):
                    yield outcome.task.name, outcome.error or ""

            found = harvest_fdb(
                opened, asked, surveys=surveys, audio_allowed=given["audio"], cap=given["cap"],
                decisions=decisions(given["accepted"]), progress=bar,
            )  # fmt: skip
    finally:
        bar.close()
    if given["as_json"]:
        _shown_json({
            "out": str(given["out"]), "conversations": found.conversations, "items": dict(found.items),
            "written": found.written, "words": found.words, "words_restored": found.restored,
            "retained": found.retained, "decided": dict(found.decided),
            "tasks": {task: funnel.to_json() for task, funnel in found.funnels}, "failed": dict(found.failed),
            "not_read": list(found.remarks), "doubts": told_once(found.doubts),
        })  # fmt: skip
    else:
        click.echo(table_of(found.funnels))
        click.echo(retention_table(found))
        if given["fill"]:
            click.echo(f"{found.restored:,} of {found.words:,} words were added where transcripts had none")
        if found.decided:
            click.echo("people: " + ", ".join(f"{n:,} {what}" for what, n in sorted(found.decided.items())))
        items = counted(sum(found.items.values()), "item")
        click.echo(f"{items} of {counted(found.conversations, 'conversation')}: {given['out']}")
        click.echo(f"Counts: {given['out'] / COUNTS}")
        if found.items.get("backchannel"):
            click.echo(f"Where the partners' backchannels lie, for --reference: {given['out'] / REFERENCE}")
        for option, known, what in (
            ("licence", given["licence"] or opened.licence, "under which licence the corpus is"),
            ("where", given["where"] or opened.origin, "where the corpus is to be had"),
        ):
            if not known:
                click.echo(f"note: no item tells {what}; --{option} TEXT says it")
        notes((*told_once(found.doubts), *found.remarks), given, found.audio)
    return conversations_failed(found.failed)


def _surveyed(task: _Survey) -> str:
    """Survey one conversation, in whatever process this is."""
    from fullduplex.making.harvest.fdb.survey import survey

    def ears(with_words: bool) -> Any:
        from fullduplex.making.harvest.hearing import Ears
        from fullduplex.runs.listen import detector, recogniser

        cache = str(task.cache)
        said = recogniser(task.recogniser, cache) if with_words and task.recogniser is not None else None
        return Ears(detector(task.detector, cache), said, task.language, task.cache)

    opened = _opened(task.root, task.form, task.recordings, task.language, task.speakers)
    return survey(opened, task.name, task.asked, ears).name


@once_per_process
def _opened(root: Path, form: str, recordings: Path | None, language: str, speakers: tuple[str, ...]) -> Any:
    from fullduplex.data.corpora.opened import open_corpus

    return open_corpus(root, form, recordings=recordings, language=language, speakers=speakers)


def _names(path: Path | None) -> tuple[str, ...]:
    from fullduplex.data.files import read_text_file

    lines = read_text_file(path).splitlines() if path else []
    return tuple(line.strip() for line in lines if line.strip())


def decisions(path: Path | None) -> dict[str, str] | None:
    """Return what people decided of each item, None where nobody was asked."""
    if path is None:
        return None
    from fullduplex.data.files import brief, parse_json, read_text_file
    from fullduplex.reporting.review.store import majority, read_kept

    if path.is_dir():
        kept = read_kept(path)
        of_form = [review for review in kept.reviews if review.form == ACCEPT]
        if not of_form and not kept.damaged:
            found = f"reviews with {kept.reviews[0].form} alone" if kept.reviews else "no review in it"
            raise InputError(path, found=found, expected="a run that was reviewed with the form accept")
        for sentence in kept.damaged:
            _say(f"left out: {sentence}")
        known = [review for review in of_form if review.value(ACCEPT) in (None, *DECISIONS)]
        for review in of_form:
            if review not in known:
                given = f"{brief(review.value(ACCEPT))} of {printable(review.rater)} on {printable(review.key, 160)}"
                _say(f"left out: {given}, which is none of {', '.join(DECISIONS)}")
        # Raters of whom as many accept as reject have not decided.
        told = majority(known, ACCEPT, ACCEPT)
        return {key: "unsure" if one.value is None else str(one.value) for key, one in told.items()}
    value = parse_json(read_text_file(path), path, keys_once=True)
    if not isinstance(value, dict) or not all(one in DECISIONS for one in value.values()):
        raise InputError(path, found=brief(value), expected="an object: TASK/ID to accept, reject or unsure")
    return dict(value)


def notes(remarks: Sequence[str], given: Any, right: str) -> None:
    """Tell that no sound was written, where none was, or by what ``right`` it was before, and what is not read."""
    if right and not given["audio"]:
        click.echo(f"note: sound that was written before is still there, by this right: {printable(right, 160)}")
    elif not right:
        click.echo("note: annotations only; --audio LICENCE writes the sound, where the corpus' licence allows it")
    for remark in remarks[:5]:
        click.echo(f"note: {printable(remark, 300)}")
    if len(remarks) > 5:
        click.echo(f"note: {len(remarks) - 5} more of the corpus, in harvest's --json")


def conversations_failed(failed: Sequence[tuple[str, str]]) -> int:
    """Tell the first conversation that failed, and return the exit status."""
    for name, why in failed[:1]:
        _say(f"{counted(len(failed), 'conversation')} failed; the first, {name}: {why}")
    return SOME_FAILED if failed else 0


def listening(given: Any) -> tuple[Any, Any]:
    """Return the specs of what finds speech and of what finds words, None where nothing is to."""
    from fullduplex.cli.making import _specs

    (seen,) = _specs("--detector", (given["detector"],))
    (said,) = _specs("--recogniser", (given["recogniser"],))
    return seen, None if given["recogniser"] == "none" else said
