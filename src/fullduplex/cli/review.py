"""The command at which people judge: review."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullduplex.cli import _PATH, _json, _report_language, _say, _shown_json, counted, main
from fullduplex.errors import RunError

if TYPE_CHECKING:
    from fullduplex.reporting.language import Language
    from fullduplex.reporting.review.forms import Form
    from fullduplex.reporting.review.store import Kept
    from fullduplex.reporting.review.subjects import Chosen
    from fullduplex.runs.run import Run


def _forms(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from fullduplex.reporting.review.forms import names

    return [name for name in names() if name.startswith(incomplete)]


@main.command()
@click.argument("runs", nargs=-1, required=True, type=_PATH, metavar="RUN|ITEMS [RUN ...]")
@click.option(
    "--form",
    "form_name",
    default="",
    shell_complete=_forms,
    metavar="NAME|FILE",
    help="The questionnaire, or a file of your own that ends in .toml. Default: behaviour for fdb-1.5, interruption "
    "where the run has interruptions, whisper where all chosen items ask for one, else naturalness; preference for "
    "two runs; duplexact for items, accept for those that harvest made by rules of Full-Duplex-Bench.",
)
@click.option("--only", multiple=True, metavar="SET", help="Only items of this set; may be given several times.")
@click.option(
    "--verdict",
    "verdicts",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only items of which a judge or a metric says so: rating=0, 'latency>1.2', 'rating~off topic' (in "
    "the reason). Several all have to hold. Raters are not told.",
)
@click.option(
    "--queue",
    default="",
    metavar="FILE|unsure",
    help="Only the items that a file lists (SET/ITEM a line), or those on which judges, variants or raters "
    "do not agree.",
)
@click.option(
    "--raters", type=click.IntRange(1), metavar="N", help="How many raters an item gets. Default: the form's."
)
@click.option(
    "--per-rater",
    type=click.IntRange(1),
    metavar="N",
    help="How many items a rater gets: first those with the fewest answers.",
)
@click.option(
    "--per-set",
    type=click.IntRange(1),
    metavar="N",
    help="Of items without a run: so many of each set (of each condition), drawn. Default: all.",
)
@click.option(
    "--out", type=_PATH, help="Of items without a run: the folder that keeps the answers. Default: ./NAME.review"
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=0,
    show_default=True,
    help="Seed of each rater's order, of the sides of a pair, and of --per-set.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="The port to serve at. Default: any free one.")
@click.option("--open/--no-open", "opens", default=True, help="Open the page in the browser.")
@click.option("--figures", "only_figures", is_flag=True, help="Print what was answered so far; serve nothing.")
@click.option(
    "--amend",
    "amends",
    is_flag=True,
    help="Make what most raters answered the run's corrections, where the form corrects a number (whisper); serve "
    "nothing.",
)
@_report_language
@_json
def review(runs: Sequence[Path], **given: Any) -> int:
    """Let people judge the clips of a run blind, on a page of this machine.

    The page is served to this machine alone. Every answer is on the disk before the page goes on, in
    RUN/reviews/RATER.jsonl; the same command goes on, and so does a rater under the same name. Of several runs
    the clips are mixed; `review RUN_A RUN_B --form preference` hears them against each other.

    Of a folder of items that no system has been driven through, people judge the items: what the user says, with what
    is marked in it. Answers lie in --out; `fullduplex agree OUT` makes tables of them.
    """  # fmt: skip
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.review.forms import load
    from fullduplex.reporting.review.translated import form_told
    from fullduplex.stages import runs_at

    if not any(map(_has_run, runs)):
        return _items(runs, given)
    for name in ("out", "per_set"):
        if given[name] is not None:
            option = f"--{name.replace('_', '-')}"
            raise RunError(f"{option} is for items without a run, and {runs[0]} is a run; leave {option} out")

    opened = [run for path in runs for run in runs_at(path)]
    tell = language_of(opened, given["report_language"])
    form = form_told(load(given["form_name"] or _default(opened, given["only"])), tell)
    if given["only_figures"]:
        return _print_figures([run.path for run in opened], form, given["as_json"])
    if given["amends"]:
        return _amend(opened, form, given["as_json"])
    return _serve(opened, form, given, tell)


def _has_run(path: Path) -> bool:
    return (path / "run.json").is_file() or any(path.glob("*/run.json"))


def _items(paths: Sequence[Path], given: Mapping[str, Any]) -> int:
    """Let people judge items, or print what they answered; return the exit status."""
    from fullduplex.reporting.language import language_named
    from fullduplex.reporting.review.forms import load
    from fullduplex.reporting.review.items import ItemReview, choose_items, is_harvest, is_review
    from fullduplex.reporting.review.translated import form_told

    if len(paths) > 1:
        raise RunError(f"items are reviewed a folder at a time, and {len(paths)} were given; give one")
    there = ItemReview.open(paths[0]) if is_review(paths[0]) else None
    of_harvest = there is None and is_harvest(paths[0])
    if there is None and not of_harvest and not any(paths[0].rglob("cues.json")):
        raise RunError(f"{paths[0]}: holds neither a run (run.json) nor items (cues.json); give one or the other")
    data, out = paths[0], given["out"] or Path(f"{paths[0].resolve().name}.review")
    if there is not None:
        data, out = there.data, paths[0]
    if there is None and is_review(out):
        there = ItemReview.open(out)
    default = "accept" if of_harvest else "duplexact"
    tell = language_named(given["report_language"] or (there.language if there else "en"))
    form = form_told(load(given["form_name"] or (str(there.about["form"]["name"]) if there else default)), tell)
    if given["amends"] or given["verdicts"]:
        option = "--amend" if given["amends"] else "--verdict"
        raise RunError(f"{option} is for runs, and {paths[0]} holds items; leave {option} out")
    if given["only_figures"]:
        if there is None:
            raise RunError(f"{out}: no review in it; give the folder that `fullduplex review ITEMS --out` wrote")
        return _print_figures([there.path], form, given["as_json"])
    ask = {"only": given["only"], "queue": given["queue"], "per_set": given["per_set"], "seed": given["seed"]}
    if there is not None and out == paths[0]:
        ask |= {name: there.about[name] for name in ("per_set", "seed")}
    review, chosen = choose_items(data, out, form, language=tell.code, **ask)
    return _serve_chosen(chosen, form, given, tell, f"answers: {review.path}")


def _default(runs: Sequence[Run], only: Sequence[str]) -> str:
    from fullduplex.errors import InputError
    from fullduplex.runs.items import read_item

    if len(runs) == 2:
        return "preference"
    if all(run.about["benchmark"]["name"] == "fdb-1.5" for run in runs):
        return "behaviour"
    tasks = set[str]()
    for run in runs:
        for folder in run.items():
            with contextlib.suppress(InputError):  # told when the items are chosen
                item = read_item(folder)
                if not only or item["set"] in only:
                    tasks.add(item["task"])
    if tasks == {"ib_whisper"}:
        return "whisper"
    return "interruption" if "user_interruption" in tasks else "naturalness"


def _serve(runs: Sequence[Run], form: Form, given: Mapping[str, Any], tell: Language) -> int:
    from fullduplex.reporting.review.claims import wanted
    from fullduplex.reporting.review.subjects import choose

    verdicts = [wanted(text) for text in given["verdicts"]]
    chosen = choose(runs, form, only=given["only"], verdicts=verdicts, queue=given["queue"])
    return _serve_chosen(chosen, form, given, tell)


def _serve_chosen(chosen: Chosen, form: Form, given: Mapping[str, Any], tell: Language, where: str = "") -> int:
    from fullduplex.reporting.review.desk import Desk
    from fullduplex.reporting.review.server import ReviewServer

    desk = Desk(
        form, chosen, given["seed"], given["raters"] or form.raters, given["per_rater"], tell=_say, language=tell
    )
    for sentence in (*chosen.remarks, *desk.damage()):
        _say(sentence)
    changed = desk.others()
    if changed:
        were = "answer was" if changed == 1 else "answers were"
        _say(f"{changed} {were} given to other words of {form.name}; kept, and not counted here")
    with ReviewServer(desk, given["port"], tell=_say) as server, contextlib.suppress(KeyboardInterrupt):
        if given["as_json"]:
            _shown_json({"url": server.url, "form": form.name, "version": form.version, "items": len(chosen.subjects)})
        else:
            click.echo(f"{len(chosen.subjects)} to judge with {form.name} {form.version}: {server.url}")
            click.echo("Ctrl-C ends it; what was answered is kept." + (f" {where}" if where else ""))
        if given["opens"]:
            click.launch(server.url)
        server.serve_forever(poll_interval=0.2)
    _say("ended; progress is kept, and the same command goes on")
    return 0


def _amend(runs: Sequence[Run], form: Form, as_json: bool) -> int:
    from datetime import UTC, datetime

    from fullduplex.errors import printable
    from fullduplex.reporting.review.amending import amending
    from fullduplex.runs.amendments import amend

    when = datetime.now(UTC).isoformat(timespec="seconds")
    told = []
    for run in runs:
        with run.alone():
            found = amending(run, form, when)
            for made in found.made:
                amend(run, made)
        for sentence in found.remarks:
            _say(sentence)
        if as_json:
            told += [{name: getattr(made, name) for name in made.__slots__} for made in found.made]
            continue
        for made in found.made:
            click.echo(printable(made.told(), 2_000))
        click.echo(f"{counted(len(found.made), 'correction')}; `fullduplex measure {run.path}` applies them")
    if as_json:
        _shown_json(told)
    return 0


def _kept(folders: Sequence[Path]) -> Kept:
    from fullduplex.reporting.review.store import Kept, read_kept

    found = [read_kept(folder) for folder in folders]
    return Kept([one for kept in found for one in kept.reviews], tuple(text for kept in found for text in kept.damaged))


def _print_figures(folders: Sequence[Path], form: Form, as_json: bool) -> int:
    from dataclasses import asdict

    from fullduplex.reporting.review.figures import figures, told

    kept = _kept(folders)
    for sentence in kept.damaged:
        _say(sentence)
    if len(folders) > 1 and not form.pairwise:
        raise RunError("answers about several systems are not added up; give one run for --figures")
    found = figures(kept.reviews, form)
    if as_json:
        rows = [
            asdict(one) | {"n": one.n, "ratings": _by_text(one.ratings), "majorities": _by_text(one.majorities)}
            for one in found
        ]
        _shown_json({"form": form.name, "version": form.version, "damaged": len(kept.damaged), "questions": rows})
    else:
        click.echo(f"{form.name} {form.version}")
        for one in found:
            click.echo(told(one))
    return 0


def _by_text(counts: Mapping[Any, int]) -> dict[str, int]:
    return {str(value): n for value, n in counts.items()}
