"""The language that a run's report is kept in: the one that was asked for last, in its run.json.

It changes no number, so it is no part of what a run was asked. English is kept by saying nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from fullduplex.data.files import read_json, write_json
from fullduplex.errors import InputError
from fullduplex.reporting.language import ORIGINAL, Language, language_named, languages
from fullduplex.runs.run import REPORT_LANGUAGE, Run


def language_of(runs: Iterable[Run], given: str = "") -> Language:
    """Return the language of a report of ``runs``: ``given``, else the one that all of them keep, else English.

    Raises :class:`InputError` where ``given``, or what a run.json names, is no language of reports.
    """
    if given:
        return language_named(given)
    kept = {kept_language(run) for run in runs}
    return language_named(kept.pop() if len(kept) == 1 else ORIGINAL)


def kept_language(run: Run) -> str:
    """Return the code of the language that a run's report is kept in."""
    code = run.about.get(REPORT_LANGUAGE, ORIGINAL)
    if code not in languages():
        raise InputError(
            run.path / "run.json", REPORT_LANGUAGE, found=repr(code), expected=f"one of {', '.join(languages())}",
            do="give --report-language",
        )  # fmt: skip
    return str(code)


def keep_language(run: Run, code: str) -> None:
    """Keep ``code`` as the language of a run's report; nothing is written where it is kept already."""
    path = run.path / "run.json"
    there = read_json(path)
    if there.get(REPORT_LANGUAGE, ORIGINAL) == code:
        return
    rest = {key: value for key, value in there.items() if key != REPORT_LANGUAGE}
    write_json(path, rest if code == ORIGINAL else {**rest, REPORT_LANGUAGE: code})
