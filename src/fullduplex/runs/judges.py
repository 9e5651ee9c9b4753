"""Which judges a run has been before, and whose word counts: ``judges.json``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, read_json, write_json
from fullduplex.errors import InputError
from fullduplex.judging.keeping import read_verdicts
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Trial, Verdict
from fullduplex.runs.run import Run

FILE = "judges.json"
SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Seated:
    """A judge of a run: its spec, what has to be said of its worth, its votes a case, and its rubrics by verdict.

    A rubric is told as ``{"name", "version", "digest", "origin"}``. ``kin``: a sentence for each way in which the judge
    is of one family with what it judges.
    """

    spec: Spec
    weakness: str
    votes: int
    rubrics: Mapping[str, Mapping[str, str]]
    kin: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return what people call the judge: the model, else the plug-in."""
        return str(self.spec.options.get("model") or self.spec.name)


def judges_of(run: Run) -> tuple[Seated, ...]:
    """Return the judges of ``run``, the one whose word counts first; none where nobody judged.

    Raises :class:`InputError` where judges.json is not what a run writes.
    """
    path = run.path / FILE
    if not os.path.lexists(path):
        return ()
    value = read_json(path)
    try:
        if value["schema"] != SCHEMA:
            raise InputError(path, "schema", found=brief(value["schema"]), expected=str(SCHEMA))
        return tuple(
            Seated(
                Spec.from_json(one["judge"]),
                str(one["weakness"]),
                int(one["votes"]),
                dict(one["rubrics"]),
                tuple(map(str, one.get("kin", ()))),
            )
            for one in value["judges"]
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(path, found=brief(value), expected="a judges.json that a run wrote") from error


def seat(run: Run, judge: Seated, *, leads: bool) -> None:
    """Add ``judge`` to those of ``run``, or renew what is told of it; ``leads``: its word counts from now on."""
    there = {one.spec.digest: one for one in judges_of(run)}
    old = there.get(judge.spec.digest)
    if old is not None:
        judge = replace(judge, rubrics={**old.rubrics, **judge.rubrics})
    others = [one for digest, one in there.items() if digest != judge.spec.digest]
    order = list(there)
    if leads or not there:
        made = [judge, *others]
    elif old is not None:
        made = [judge if digest == judge.spec.digest else there[digest] for digest in order]
    else:
        made = [*others, judge]
    write_json(run.path / FILE, {"schema": SCHEMA, "judges": [_told(one) for one in made]})


def with_verdicts(trial: Trial, folder: Path, judges: tuple[Seated, ...]) -> Trial:
    """Return ``trial`` with what the leading judge said of the item in ``folder``.

    Where that judge was not asked for a verdict, the next one's counts, and last what came with the recordings.
    Raises :class:`InputError` where judge.json cannot be read.
    """
    if not judges:
        return trial
    found = dict(trial.verdicts)
    kept = read_verdicts(folder)
    for judge in reversed(judges):
        for one in kept:
            # Several questions of one kind are kept as NAME:KEY.
            rubric = judge.rubrics.get(one.name.partition(":")[0])
            if rubric is None or one.judge.digest != judge.spec.digest:
                continue
            if rubric.get("digest", "") in ("", one.rubric_digest):
                verdict = one.verdict
                found[one.name] = replace(verdict, by=judge.name) if isinstance(verdict, Verdict) else verdict
    return replace(trial, verdicts=found)


def _told(judge: Seated) -> dict[str, Any]:
    return {
        "judge": judge.spec.to_json(),
        "digest": judge.spec.digest,
        "weakness": judge.weakness,
        "votes": judge.votes,
        "kin": list(judge.kin),
        "rubrics": {name: dict(rubric) for name, rubric in judge.rubrics.items()},
    }
