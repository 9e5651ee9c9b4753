"""The command about panels of listeners: listeners."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fullduplex.cli import _PATH, _Bar, _json, _shown_json, _shown_language, main
from fullduplex.errors import InputError, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullduplex.baselines.panels import Responder
    from fullduplex.data.panels import PanelFile
    from fullduplex.reporting.language import Language

#: What --out holds; the first is what ``--reference`` of fdb-1.0 reads.
FILES = ("backchannel_reference.json", "likelihood.json", "listeners.json", "listeners.md", "listeners.html")


@main.command()
@click.argument("panel", type=_PATH)
@click.option("--items", type=_PATH, metavar="DIR",
              help="The sound of the stimuli: NAME.wav, or items with input.wav. Tells how long each is, and which "
              "there are.")  # fmt: skip
@click.option("--run", "runs", type=_PATH, multiple=True, metavar="RUN",
              help="A run of a system that heard the stimuli; may be repeated.")  # fmt: skip
@click.option("--by", type=click.Choice(["onset", "held"]), default="onset", show_default=True,
              help="Where a response counts: in the window where it begins, or wherever its key was held.")  # fmt: skip
@click.option("--out", type=_PATH, metavar="DIR",
              help="Where the reference distributions, the likelihoods and the report go.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of everything drawn.")
@_shown_language
@_json
def listeners(panel: Path, **given: Any) -> int:
    """Tell where listeners respond, how far they agree, and how near systems come to them.

    PANEL is a table (CSV, TSV) with the columns stimulus, listener, onset and perhaps end, duration, a row for each
    response; a listener who heard a stimulus and never responded has one row without an onset. Or it is JSON. With
    --out the distributions are written that `score` and `run` of fdb-1.0 take as --reference.
    """
    from fullduplex.baselines.panels import panel_statistics, responder
    from fullduplex.data.panels import read_panel, sound_lengths
    from fullduplex.reporting.kept_language import language_of
    from fullduplex.reporting.listeners_text import listeners_markdown
    from fullduplex.runs.run import Run

    file = read_panel(panel, sound_lengths(given["items"]) if given["items"] else None)
    runs = [Run.open(path) for path in given["runs"]]
    tell = language_of(runs, given["report_language"])
    systems = _apart([responder(run, file) for run in runs])
    bar = _Bar()
    try:
        told = panel_statistics(
            file, systems, by="span" if given["by"] == "held" else "onset", seed=given["seed"], progress=bar
        )
    finally:
        bar.close()
    if given["out"] is not None:
        _write(given["out"], file, systems, told, tell)
    if given["as_json"]:
        _shown_json(told)
        return 0
    click.echo(listeners_markdown(told, tell).encode("utf-8", "backslashreplace"))
    if given["out"] is not None:
        click.echo(tell("Panel: {paths}", paths=", ".join(printable(str(given["out"] / name)) for name in FILES)))
    return 0


def _apart(systems: Sequence[Responder]) -> list[Responder]:
    """Return systems under names of their own: of runs of one system the second is "NAME (2)"."""
    from dataclasses import replace

    taken = set[str]()
    made: list[Responder] = []
    for one in systems:
        name, n = one.name, 1
        while name in taken:
            n += 1
            name = f"{one.name} ({n})"
        taken.add(name)
        made.append(replace(one, name=name))
    return made


def _write(out: Path, file: PanelFile, systems: Sequence[Responder], told: dict[str, Any], tell: Language) -> None:
    from fullduplex.baselines.panels import distributions
    from fullduplex.data.files import clear_parts, replacing, write_json
    from fullduplex.reporting.listeners_page import listeners_html
    from fullduplex.reporting.listeners_text import listeners_markdown

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a folder to write to") from error
    clear_parts(out)
    reference, likely = distributions(file, by=told["by"])
    about = {"schema": 1, "window": told["window"], "by": told["by"], "stimuli": likely}
    for name, value in zip(FILES, (reference, about, told), strict=False):
        write_json(out / name, value)
    page = listeners_html(told, _drawings(file, systems, told, likely, tell), tell)
    for name, text in zip(FILES[3:], (listeners_markdown(told, tell), page), strict=True):
        with replacing(out / name) as part:
            part.write_text(text, encoding="utf-8", errors="backslashreplace")


def _drawings(
    file: PanelFile, systems: Sequence[Responder], told: dict[str, Any], likely: Any, tell: Language
) -> list[tuple[str, str]]:
    from fullduplex.model.spans import in_seconds
    from fullduplex.reporting.listeners_chart import responses_over_time
    from fullduplex.reporting.listeners_page import DRAWN

    made = []
    for name in file.names[:DRAWN]:
        heard = file.of(name)
        theirs = {one.name: [in_seconds(time) for said in one.onsets.get(name, ()) for time in said] for one in systems}
        made.append((
            printable(name, 120),
            responses_over_time(
                name, in_seconds(heard.duration), likely[name]["likelihood"],
                [[in_seconds(span.start) for span in spans] for spans in heard.listeners.values()], theirs,
                width=told["window"], opportunity_from=told["opportunity_from"], tell=tell,
            ),
        ))  # fmt: skip
    return made
