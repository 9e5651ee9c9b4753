"""``judge.json``: what every judge said of an item, with all that it was shown and every raw reply."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from fullduplex.data.files import brief, member, number, read_json, replacing, text, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.judging.rubric import Labels, Rubric
from fullduplex.judging.verdicts import Judged
from fullduplex.judging.votes import Attempt, Vote
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Verdict

SCHEMA = 1
FILE = "judge.json"
_MEND = "delete the file and judge again; replies in the cache cost nothing"


@dataclass(frozen=True, slots=True)
class Kept:
    """One entry of judge.json: a judge's verdict by a rubric, and what it rests on.

    ``name`` is what was found out (``rating``, ``behaviour``); ``rubric`` and ``rubric_digest`` say by which words.
    The other members are those of :class:`fullduplex.judging.verdicts.Judged`.
    """

    name: str
    judge: Spec
    rubric: str
    rubric_version: str
    rubric_digest: str
    rubric_origin: str
    asked: str
    prompt: str
    fields: Mapping[str, str]
    clips: tuple[str, ...]
    masked: tuple[str, ...]
    votes: tuple[Vote, ...]
    value: float | str | None
    absent: str
    why: str

    @property
    def verdict(self) -> Verdict | Absent:
        """Return the verdict as measures see it."""
        if self.value is None:
            return Absent(self.absent, self.why)
        return Verdict(
            self.value, tuple(vote.value for vote in self.votes if vote.value is not None), self.why, self.asked
        )


def write_verdict(folder: Path, judged: Judged) -> bool:
    """Keep ``judged`` in ``folder``/judge.json, last; return whether it was kept.

    It takes the place of what the same judge said by the same rubric; what others said stays. A judge that could not
    be asked, or not be reached, takes no place from what it had answered to the same question. Raises
    :class:`InputError` where a judge.json is there that cannot be read, and leaves it as it is.
    """
    path = folder / FILE
    value: dict[str, Any] = _whole(path) if path.is_file() else {"schema": SCHEMA, "verdicts": {}}
    entry = _entry(judged)
    entries = value["verdicts"].setdefault(judged.rubric.verdict, [])
    same = [each for each in entries if _names(each) == _names(entry)]
    lacking = judged.value is None and (judged.absent.startswith("not asked") or judged.absent == "unreachable")
    if lacking and any(each["value"] is not None and each["asked"] == judged.asked for each in same):
        return False
    value["verdicts"][judged.rubric.verdict] = [each for each in entries if each not in same] + [entry]
    write_json(path, value)
    return True


def read_verdicts(folder: Path) -> tuple[Kept, ...]:
    """Return every entry of ``folder``/judge.json, in the file's order, none where there is no such file.

    Raises :class:`InputError` that names the place where the file is not what a run writes.
    """
    path = folder / FILE
    if not os.path.lexists(path):
        return ()
    return tuple(
        _kept(entry, name, path, f"verdicts.{name}[{n}]")
        for name, entries in _whole(path)["verdicts"].items()
        for n, entry in enumerate(entries)
    )


def verdict_of(folder: Path, name: str, judge_digest: str, *, rubric_digest: str = "") -> Verdict | Absent | None:
    """Return what the judge with that digest found as ``name``; None where it was never asked.

    By the rubric with ``rubric_digest``; unless told, by the one that was used last. Raises :class:`InputError`
    as :func:`read_verdicts`.
    """
    found = [
        kept
        for kept in read_verdicts(folder)
        if kept.name == name and kept.judge.digest == judge_digest and rubric_digest in ("", kept.rubric_digest)
    ]
    return found[-1].verdict if found else None


def keep_rubric(run: Path, rubric: Rubric) -> Path:
    """Keep every word of ``rubric`` once in ``run``/rubrics, and return the file; its name carries the digest.

    With it and an entry of judge.json the request can be made again, by whoever wants to see what was asked.
    """
    path = run / "rubrics" / f"{as_file_name(rubric.name)}-{rubric.digest}.txt"
    if not path.is_file():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(path, found=error.strerror or str(error), expected="a place to write to") from error
        with replacing(path) as part:
            part.write_bytes(_words(rubric).encode("utf-8", "backslashreplace"))
    return path


def attempt_json(attempt: Attempt) -> dict[str, Any]:
    """Return an attempt as a JSON object."""
    return {
        "seed": attempt.seed,
        "limit": attempt.limit,
        "text": attempt.text,
        "model": attempt.model,
        "usage": dict(attempt.usage),
        "cost": attempt.cost,
        "seconds": attempt.seconds,
        "complete": attempt.complete,
        "failed": attempt.failed,
        "error": attempt.error,
    }


def read_attempt(value: Any, path: Path, field: str) -> Attempt:
    """Return the attempt that :func:`attempt_json` wrote; raises :class:`InputError` where it is none."""
    seed, cost = member(value, "seed", path, field), member(value, "cost", path, field)
    usage, failed = member(value, "usage", path, field), member(value, "failed", path, field)
    complete = member(value, "complete", path, field)
    if not isinstance(usage, dict):
        raise InputError(path, f"{field}.usage", found=brief(usage), expected="an object", do=_MEND)
    if failed not in ("", "refused", "unreachable"):
        raise InputError(path, f"{field}.failed", found=brief(failed), expected="refused, unreachable or nothing")
    if not isinstance(complete, bool):
        raise InputError(path, f"{field}.complete", found=brief(complete), expected="true or false")
    return Attempt(
        None if seed is None else _count(seed, path, f"{field}.seed"),
        _count(member(value, "limit", path, field), path, f"{field}.limit"),
        _text(value, "text", path, field),
        _text(value, "model", path, field),
        {kind: _count(tokens, path, f"{field}.usage.{kind}") for kind, tokens in usage.items()},
        None if cost is None else number(cost, path, f"{field}.cost"),
        number(member(value, "seconds", path, field), path, f"{field}.seconds"),
        complete,
        cast(Literal["", "refused", "unreachable"], failed),
        _text(value, "error", path, field),
    )


def _whole(path: Path) -> dict[str, Any]:
    """Return the object in ``path``, as far as its shape goes that writing an entry relies on."""
    try:
        value = read_json(path)
        verdicts = member(value, "verdicts", path)
    except InputError as error:
        raise InputError(path, error.field, found=error.found, expected=error.expected, do=_MEND) from error
    if member(value, "schema", path) != SCHEMA:
        raise InputError(path, "schema", found=brief(value["schema"]), expected=str(SCHEMA), do="update fullduplex")
    if not isinstance(verdicts, dict):
        raise InputError(path, "verdicts", found=brief(verdicts), expected="an object", do=_MEND)
    for name, entries in verdicts.items():
        if not isinstance(entries, list):
            raise InputError(path, f"verdicts.{name}", found=brief(entries), expected="a list", do=_MEND)
        for n, entry in enumerate(entries):
            _kept(entry, name, path, f"verdicts.{name}[{n}]")
    return cast(dict[str, Any], value)


def _names(entry: Mapping[str, Any]) -> tuple[str, str]:
    return entry["digest"], entry["rubric"]["digest"]


def _entry(judged: Judged) -> dict[str, Any]:
    rubric = judged.rubric
    return {
        "judge": judged.judge.to_json(),
        "digest": judged.judge.digest,
        "rubric": {
            "name": rubric.name,
            "version": rubric.version,
            "digest": rubric.digest,
            "origin": rubric.origin,
        },
        "asked": judged.asked,
        "prompt": judged.prompt,
        "fields": dict(judged.fields),
        "clips": list(judged.clips),
        "masked": list(judged.masked),
        "votes": [
            {
                "value": vote.value,
                "reason": vote.reason,
                "absent": vote.absent,
                "attempts": [attempt_json(attempt) for attempt in vote.attempts],
            }
            for vote in judged.votes
        ],
        "value": judged.value,
        "absent": judged.absent,
        "why": judged.why,
    }


def _kept(entry: Any, name: str, path: Path, field: str) -> Kept:
    about, votes = member(entry, "rubric", path, field), member(entry, "votes", path, field)
    fields = member(entry, "fields", path, field)
    if not isinstance(fields, dict) or not all(isinstance(each, str) for each in fields.values()):
        raise InputError(path, f"{field}.fields", found=brief(fields), expected="an object of texts", do=_MEND)
    if not isinstance(votes, list):
        raise InputError(path, f"{field}.votes", found=brief(votes), expected="a list", do=_MEND)
    value, absent = _value(entry, path, field)
    spec = _spec(member(entry, "judge", path, field), path, f"{field}.judge")
    if _text(entry, "digest", path, field) != spec.digest:
        raise InputError(
            path, f"{field}.digest", found=brief(entry["digest"]), expected=f"{spec.digest}, the judge's", do=_MEND
        )
    return Kept(
        name,
        spec,
        _text(about, "name", path, f"{field}.rubric"),
        _text(about, "version", path, f"{field}.rubric"),
        _text(about, "digest", path, f"{field}.rubric"),
        _text(about, "origin", path, f"{field}.rubric"),
        _text(entry, "asked", path, field),
        _text(entry, "prompt", path, field),
        fields,
        _texts(entry, "clips", path, field),
        _texts(entry, "masked", path, field),
        tuple(_vote(vote, path, f"{field}.votes[{n}]") for n, vote in enumerate(votes)),
        value,
        absent,
        _text(entry, "why", path, field),
    )


def _vote(value: Any, path: Path, field: str) -> Vote:
    attempts = member(value, "attempts", path, field)
    if not isinstance(attempts, list):
        raise InputError(path, f"{field}.attempts", found=brief(attempts), expected="a list", do=_MEND)
    found, absent = _value(value, path, field)
    made = tuple(read_attempt(each, path, f"{field}.attempts[{n}]") for n, each in enumerate(attempts))
    return Vote(found, _text(value, "reason", path, field), absent, made, len(made))


def _value(entry: Any, path: Path, field: str) -> tuple[float | str | None, str]:
    value, absent = member(entry, "value", path, field), _text(entry, "absent", path, field)
    if value is not None and not isinstance(value, str):
        value = number(value, path, f"{field}.value", "a finite number, a label or null")
    if (value is None) != bool(absent):
        raise InputError(
            path, field, found=f"value {brief(value)}, absent {absent!r}", expected="one of them", do=_MEND
        )
    return value, absent


def _spec(value: Any, path: Path, field: str) -> Spec:
    name, options = _text(value, "name", path, field), member(value, "options", path, field)
    if not isinstance(options, dict):
        raise InputError(path, f"{field}.options", found=brief(options), expected="an object", do=_MEND)
    return Spec(name, options, _text(value, "revision", path, field))


def _text(value: Any, key: str, path: Path, field: str) -> str:
    return text(member(value, key, path, field), path, f"{field}.{key}")


def _texts(value: Any, key: str, path: Path, field: str) -> tuple[str, ...]:
    found = member(value, key, path, field)
    if not isinstance(found, list):
        raise InputError(path, f"{field}.{key}", found=brief(found), expected="a list of texts", do=_MEND)
    return tuple(text(each, path, f"{field}.{key}[{n}]") for n, each in enumerate(found))


def _count(value: Any, path: Path, field: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InputError(path, field, found=brief(value), expected="a whole number", do=_MEND)
    return value


def _words(rubric: Rubric) -> str:
    answer = rubric.answer
    asked = ", ".join(answer.names) if isinstance(answer, Labels) else f"{answer.low} to {answer.high}"
    settings = ", ".join(f"{name} {value:g}" for name, value in sorted(rubric.settings.items())) or "none"
    head = {
        "name": rubric.name,
        "version": rubric.version,
        "digest": rubric.digest,
        "origin": rubric.origin,
        "verdict": rubric.verdict,
        "fields": ", ".join(rubric.fields),
        "answer": asked,
        "key": rubric.key,
        "reads": rubric.reads,
        "hears": "yes" if rubric.hears else "no",
        "settings": settings,
    }
    lines = "\n".join(f"{name}: {value}" for name, value in head.items())
    return f"{lines}\n\n# Judge\n{rubric.system}\n\n# Item\n{rubric.user}\n"
