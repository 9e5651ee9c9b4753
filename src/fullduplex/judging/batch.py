"""Many cases handed over at once and collected later, perhaps by another process: slower, and cheaper.

A file holds what was submitted. It is written before a batch is, so that none is ever paid for and forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, number, read_json, replacing, text, write_json
from fullduplex.errors import InputError, JudgeError
from fullduplex.judging.cache import Cache
from fullduplex.judging.cases import Case, blind, prompt_digest
from fullduplex.judging.keeping import attempt_json, read_attempt
from fullduplex.judging.providers.batch import BatchJudge
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.judging.reading import read
from fullduplex.judging.rubric_file import render
from fullduplex.judging.verdicts import CANNOT, Judged, check_counts, check_hears, judged, not_judged
from fullduplex.judging.votes import (
    UNPARSABLE,
    Attempt,
    Reader,
    Render,
    Vote,
    answered,
    concluded,
    replied,
    request_of,
    unanswered,
)

SCHEMA = 1
#: A vote of a case that changed after it was submitted, or that a later call no longer asks.
_GONE = "was not submitted with this batch"


@dataclass(frozen=True, slots=True)
class Line:
    """One vote: the question, its number, the attempts so far, and how many of them there were before any batch."""

    asked: str
    vote: int
    attempts: tuple[Attempt, ...] = ()
    known: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """What is under way: the provider's id, the how-manieth batch it is, and the vote behind each request.

    ``ended`` are the votes that an earlier batch has brought to an end; those that were not answered are in no cache.
    """

    id: str
    round: int
    lines: tuple[Line, ...]
    ended: tuple[Line, ...] = ()


def submit_batch(
    cases: Iterable[Case],
    judge: BatchJudge,
    state: Path,
    cache: Path,
    *,
    votes: int = 1,
    attempts: int = 5,
    names: Sequence[str] = (),
    read: Reader = read,
    render: Render = render,
) -> Batch | None:
    """Submit one batch with each vote on ``cases`` that ``cache`` does not hold, and keep its id in the file ``state``.

    None where nothing is left to ask. Cases that cannot be asked are left out; :func:`collect_batch` tells them.
    Raises :class:`JudgeError` where a batch is under way in ``state`` already, :class:`Refused` or
    :class:`Unreachable` where this one is not taken.
    """
    check_counts(votes, attempts)
    if state.is_file():
        there = read_batch(state, judge)
        raise JudgeError(f"{state}: a batch of {len(there.lines)} requests is under way; collect it first")
    kept = Cache(cache, judge.spec)
    lines: dict[tuple[str, int], tuple[Line, Request]] = {}
    for case in _posed(cases, judge, names):
        try:
            asked = case.asked()
            for vote in range(max(votes, case.votes)):
                tried = kept.attempts(asked, vote)
                if _left(case, tried, attempts, read) and (asked, vote) not in lines:
                    lines[asked, vote] = Line(asked, vote, tried, len(tried)), request_of(case, vote, tried, render)
        except InputError:
            continue
    if not lines:
        return None
    return _submitted(list(lines.values()), judge, state, Batch("", 0, ()))


def collect_batch(
    cases: Iterable[Case],
    judge: BatchJudge,
    state: Path,
    cache: Path,
    *,
    votes: int = 1,
    attempts: int = 5,
    names: Sequence[str] = (),
    read: Reader = read,
    render: Render = render,
) -> list[Judged] | None:
    """Collect the batch in ``state``; return what it says of each of ``cases``, in their order, None while it waits.

    Every answer goes to ``cache`` at once. Replies that cannot be read and requests without a reply go into a
    further batch, as long as the vote has attempts left; then this returns None too. ``cases``, ``votes`` and
    ``attempts`` are those of :func:`submit_batch`: a case that is another one today is ``not asked``. Without a
    file ``state`` the verdicts are those of the cache. Raises :class:`JudgeError` where the replies are not as many
    as the requests, and as :func:`submit_batch`; the file stays as it was, to be collected again. Raises
    :class:`Refused` where every request would be refused; then there is nothing to collect, and the file goes.
    """
    check_counts(votes, attempts)
    posed, kept = list(_posed(cases, judge, names)), Cache(cache, judge.spec)
    ended: list[Line] = []
    if state.is_file():
        under_way = read_batch(state, judge)
        replies = judge.collect(under_way.id) if under_way.id else []
        if replies is None:
            return None
        if not under_way.id:
            raise JudgeError(
                f"{state}: a batch was being submitted when the program ended, so its id is not known; look at the "
                "provider's own list of batches, then delete this file and submit again"
            )
        if len(replies) != len(under_way.lines):
            raise JudgeError(
                f"{state}: {len(replies)} replies to {len(under_way.lines)} requests, so none is anybody's for certain"
            )
        by_asked = _by_asked(posed)
        again, ended, fault = [], list(under_way.ended), None
        for line, reply in zip(under_way.lines, replies, strict=True):
            case = by_asked.get(line.asked)
            if case is None:
                # Nobody asks this now, but it is paid for.
                if isinstance(reply, Reply):
                    kept.keep(line.asked, line.vote, (*line.attempts, replied(reply)))
                continue
            if isinstance(reply, Refused) and reply.for_all:
                fault = reply
                continue
            done = _with(line, case, reply, read, render)
            if not _left(case, done.attempts, attempts, read):
                kept.keep(line.asked, line.vote, done.attempts)
                ended.append(done)
            elif len(done.attempts) < attempts:
                again.append((done, request_of(case, line.vote, done.attempts, render)))
            else:
                ended.append(done)
        if again and fault is None:
            _submitted(again, judge, state, replace(under_way, ended=tuple(ended)))
            return None
        state.unlink()
        if fault is not None:
            raise fault
    return [_judged(case, judge, kept, ended, votes, read, render) for case in posed]


def read_batch(state: Path, judge: BatchJudge) -> Batch:
    """Return the batch that is under way in the file ``state``.

    Raises :class:`InputError` where the file is none of ours, :class:`JudgeError` where another judge was asked.
    """
    value = read_json(state)
    if member(value, "schema", state) != SCHEMA:
        raise InputError(state, "schema", found=brief(value["schema"]), expected=str(SCHEMA))
    if member(value, "judge", state) != judge.spec.to_json():
        raise JudgeError(f"{state}: this batch asked another judge, or with other options, than {judge.spec}")
    return Batch(
        text(member(value, "id", state), state, "id"),
        int(number(member(value, "round", state), state, "round")),
        _lines(value, "lines", state),
        _lines(value, "ended", state),
    )


def _posed(cases: Iterable[Case], judge: BatchJudge, names: Sequence[str]) -> Iterable[Case]:
    for case in cases:
        check_hears(case, judge)
        try:
            yield blind(case, names)
        except InputError:  # it cannot be asked, and is told where its digest is asked for
            yield case


def _left(case: Case, tried: Sequence[Attempt], attempts: int, read: Reader) -> bool:
    """Return whether there is something left to ask after ``tried``."""
    if not tried:
        return True
    vote = concluded(case.rubric, tried, read)
    return not vote.settled or (vote.absent == UNPARSABLE and len(tried) < attempts)


def _submitted(lines: Sequence[tuple[Line, Request]], judge: BatchJudge, state: Path, before: Batch) -> Batch:
    batch = Batch("", before.round + 1, tuple(line for line, _ in lines), before.ended)
    had = state.read_bytes() if state.is_file() else None
    _write(state, judge, batch)
    try:
        batch = replace(batch, id=judge.submit([request for _, request in lines]))
    except (Refused, Unreachable, InputError):
        # It was not taken: what was there before can be collected again.
        if had is None:
            state.unlink(missing_ok=True)
        else:
            with replacing(state) as part:
                part.write_bytes(had)
        raise
    _write(state, judge, batch)
    return batch


def _write(state: Path, judge: BatchJudge, batch: Batch) -> None:
    try:
        state.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(state, found=error.strerror or str(error), expected="a place to write to") from error
    write_json(
        state,
        {
            "schema": SCHEMA,
            "judge": judge.spec.to_json(),
            "id": batch.id,
            "round": batch.round,
            "lines": [_line_json(line) for line in batch.lines],
            "ended": [_line_json(line) for line in batch.ended],
        },
    )


def _with(line: Line, case: Case, reply: Reply | Refused | Unreachable, read: Reader, render: Render) -> Line:
    request = request_of(case, line.vote, line.attempts, render)
    if isinstance(reply, Reply):
        made = answered(request, reply, 0.0, case.rubric, read)
    else:
        made = unanswered(request, reply, 0.0)
    return replace(line, attempts=(*line.attempts, made))


def _by_asked(cases: Iterable[Case]) -> dict[str, Case]:
    found = {}
    for case in cases:
        try:
            found[case.asked()] = case
        except InputError:
            continue
    return found


def _judged(
    case: Case,
    judge: BatchJudge,
    kept: Cache,
    ended: Sequence[Line],
    votes: int,
    read: Reader,
    render: Render,
) -> Judged:
    try:
        asked, prompt = case.asked(), prompt_digest(request_of(case, render=render))
    except InputError as error:
        return not_judged(case, judge, CANNOT, str(error))
    by_vote = {(line.asked, line.vote): line for line in ended}
    made = []
    for vote in range(max(votes, case.votes)):
        there = kept.attempts(asked, vote)
        line = by_vote.get((asked, vote), Line(asked, vote, there, len(there)))
        if line.attempts:
            made.append(concluded(case.rubric, line.attempts, read, line.known))
        else:
            made.append(Vote(None, f"{case.key} {_GONE}", CANNOT))
    return judged(case, judge, made, asked, prompt)


def _line_json(line: Line) -> Mapping[str, Any]:
    attempts = [attempt_json(each) for each in line.attempts]
    return {"asked": line.asked, "vote": line.vote, "known": line.known, "attempts": attempts}


def _lines(value: Any, key: str, state: Path) -> tuple[Line, ...]:
    rows = member(value, key, state)
    if not isinstance(rows, list):
        raise InputError(state, key, found=brief(rows), expected="a list")
    return tuple(_line(row, state, f"{key}[{n}]") for n, row in enumerate(rows))


def _line(row: Any, state: Path, field: str) -> Line:
    attempts = member(row, "attempts", state, field)
    if not isinstance(attempts, list):
        raise InputError(state, f"{field}.attempts", found=brief(attempts), expected="a list")
    return Line(
        text(member(row, "asked", state, field), state, f"{field}.asked"),
        int(number(member(row, "vote", state, field), state, f"{field}.vote")),
        tuple(read_attempt(each, state, f"{field}.attempts[{n}]") for n, each in enumerate(attempts)),
        int(number(member(row, "known", state, field), state, f"{field}.known")),
    )
