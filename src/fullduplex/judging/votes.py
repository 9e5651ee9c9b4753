"""One vote: a judge is asked until its reply can be read, and no longer; and what several votes amount to."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from fullduplex.errors import printable
from fullduplex.judging.cases import Case
from fullduplex.judging.limits import Gate, NotAsked, backoff
from fullduplex.judging.question import Judge, Refused, Reply, Request, Unreachable
from fullduplex.judging.reading import read
from fullduplex.judging.rubric import Labels, Read, Rubric, Scale, Unreadable
from fullduplex.judging.rubric_file import render

#: Why a vote has no value: each reply was one that cannot be read, the judge would not answer, it did not answer.
UNPARSABLE, REFUSED, UNREACHABLE = "unparsable", "refused", "unreachable"
TIE = "votes tie"
#: So far apart are the seeds of a case's votes: further than any vote's attempts go.
VOTES_APART = 1000
#: A reply that was cut is asked for with twice the limit, up to so many times the rubric's: a model that never comes
#: to an end must not be paid for its ramblings at length.
_LONGEST = 4
#: An error's text is kept up to here; a reply's is kept whole.
_TOLD = 500

Reader = Callable[[Rubric, str], Read | Unreadable]


class Render(Protocol):
    """Make the request of a rubric and its fields; ``attempt`` moves the seed by the rubric's ``seed_step``."""

    def __call__(
        self, rubric: Rubric, fields: Mapping[str, str], clips: tuple[Path, ...] = (), attempt: int = 0
    ) -> Request:
        """Return the request."""
        ...


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request and what came of it, raw.

    ``failed`` is "" where a reply came, else ``refused`` or ``unreachable``; ``error`` says why it is of no use, ""
    where it is. ``complete`` is False where the reply was cut at ``limit`` (tokens). ``cost`` is in US dollars, None
    where no price is known; ``seconds`` are those of the request alone, without what it waited for its turn.
    """

    seed: int | None = None
    limit: int = 0
    text: str = ""
    model: str = ""
    usage: Mapping[str, int] = field(default_factory=dict)
    cost: float | None = None
    seconds: float = 0.0
    complete: bool = True
    failed: Literal["", "refused", "unreachable"] = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Vote:
    """What one vote came to: ``value`` with the judge's ``reason``; or None, ``absent`` and a sentence in ``reason``.

    ``known`` counts those of its attempts that were there before and have cost nothing now.
    """

    value: float | str | None
    reason: str = ""
    absent: str = ""
    attempts: tuple[Attempt, ...] = ()
    known: int = 0

    @property
    def settled(self) -> bool:
        """Return whether asking again would tell nothing new: a value, a refusal, or replies that cannot be read."""
        return self.value is not None or self.absent in (UNPARSABLE, REFUSED)


def request_of(case: Case, vote: int = 0, tried: Sequence[Attempt] = (), render: Render = render) -> Request:
    """Return what is asked next of ``case`` for its vote number ``vote`` (from 0), after ``tried``.

    The seed is the rubric's, plus its ``seed_step`` for each reply that could not be read, plus 1000 for each vote
    before this one; a request that got no reply is made again as it was. The limit doubles after a reply that was
    cut, up to four times the rubric's. Raises :class:`InputError` where a field or a clip is missing.
    """
    unread = sum(not attempt.failed for attempt in tried)
    cut = sum(not attempt.failed and not attempt.complete for attempt in tried)
    request = render(case.rubric, case.shown, case.heard, attempt=unread)
    seed = request.seed if request.seed is None else request.seed + VOTES_APART * vote
    return replace(request, seed=seed, limit=request.limit * min(2**cut, _LONGEST))


def replied(reply: Reply, seconds: float = 0.0, seed: int | None = None, limit: int = 0) -> Attempt:
    """Return the attempt that got ``reply``, as it came."""
    usage = dict(reply.usage)
    return Attempt(seed, limit, reply.text, reply.model, usage, reply.cost, round(seconds, 3), reply.complete)


def answered(request: Request, reply: Reply, seconds: float, rubric: Rubric, read: Reader) -> Attempt:
    """Return the attempt that got ``reply`` to ``request``, and in ``error`` why it cannot be read."""
    made = replied(reply, seconds, request.seed, request.limit)
    found = _read(rubric, made, read)
    return replace(made, error=printable(found.why, _TOLD)) if isinstance(found, Unreadable) else made


def unanswered(request: Request, error: Refused | Unreachable, seconds: float) -> Attempt:
    """Return the attempt that got no reply."""
    failed: Literal["refused", "unreachable"] = "refused" if isinstance(error, Refused) else "unreachable"
    told = printable(str(error), _TOLD)
    return Attempt(request.seed, request.limit, seconds=round(seconds, 3), failed=failed, error=told)


def concluded(rubric: Rubric, attempts: Sequence[Attempt], read: Reader, known: int = 0) -> Vote:
    """Return the vote that ``attempts`` amount to: of the first reply that can be read, else absent as the last one is.

    Replies are kept raw and read each time, so that what is concluded never lags behind how replies are read. A
    reply that was cut counts as one that cannot be read, whatever its beginning says.
    """
    for attempt in attempts:
        found = _read(rubric, attempt, read)
        if isinstance(found, Read):
            return Vote(found.value, found.reason, "", tuple(attempts), known)
    last = attempts[-1]
    return Vote(None, last.error, last.failed or UNPARSABLE, tuple(attempts), known)


def cast(
    case: Case,
    judge: Judge,
    vote: int = 0,
    *,
    read: Reader = read,
    render: Render = render,
    attempts: int = 5,
    tried: Sequence[Attempt] = (),
    gate: Gate | None = None,
    asked: str = "",
) -> Vote:
    """Return vote number ``vote`` (from 0) on ``case``, after at most ``attempts`` requests, ``tried`` included.

    Asked again are a reply that cannot be read, at once and with the next seed; and a judge that did not answer,
    after a pause that doubles, is drawn from the case and the vote, and is no shorter than what the server asked for.
    A refusal is final. ``gate`` is what all requests pass (limits of rate and cost); ``asked`` is
    ``case.asked()`` where the caller has it. Raises :class:`Refused` where
    every other request would be refused too, :class:`InputError` where the request cannot be made.
    """
    gate = Gate() if gate is None else gate
    made, known = list(tried), len(tried)
    generator = np.random.default_rng([int(asked or case.asked(), 16), vote])
    while len(made) < attempts:
        request = request_of(case, vote, made, render)
        started = gate.clock()
        try:
            with gate.admitted(request) as passage:
                started = gate.clock()
                passage.reply = reply = judge.ask(request)
        except NotAsked as left:
            return Vote(None, left.why, left.reason, tuple(made), known)
        except Refused as error:
            made.append(unanswered(request, error, gate.clock() - started))
            if error.for_all:
                raise
            break
        except Unreachable as error:
            made.append(unanswered(request, error, gate.clock() - started))
            if len(made) == attempts or (error.after or 0) > gate.patience:
                break
            try:
                unreached = sum(attempt.failed == UNREACHABLE for attempt in made)
                gate.pause(backoff(unreached, generator, error.after), for_all=error.after is not None)
            except NotAsked as left:
                return Vote(None, left.why, left.reason, tuple(made), known)
            continue
        made.append(answered(request, reply, gate.clock() - started, case.rubric, read))
        if not made[-1].error:
            break
    return concluded(case.rubric, made, read, known)


def outcome(votes: Sequence[Vote], answer: Scale | Labels) -> tuple[float | str | None, str, str]:
    """Return what ``votes`` amount to: the value, why it is absent ("" where it is not), and the reason.

    Only votes that have a value count. The value is the most frequent one. Where several are: of labels there is
    none (``votes tie``); on a scale it is the median of all values, the lower one of two, so that it is a grade that
    somebody gave. Without any value it is absent for the votes' most frequent reason; nothing is ever made of
    nothing. The reason is that of the first vote for the value.
    """
    values = [vote.value for vote in votes if vote.value is not None]
    if not values:
        absent = Counter(vote.absent for vote in votes).most_common(1)[0][0]
        return None, absent, next(vote.reason for vote in votes if vote.absent == absent)
    counted = Counter(values).most_common()
    most = [value for value, count in counted if count == counted[0][1]]
    if len(most) == 1:
        value: float | str = most[0]
    elif isinstance(answer, Scale) and all(isinstance(each, int | float) for each in values):
        value = statistics.median_low([float(each) for each in values])
    else:
        return None, TIE, ", ".join(f"{value} {count}" for value, count in counted)
    return value, "", next(vote.reason for vote in votes if vote.value == value)


def _read(rubric: Rubric, attempt: Attempt, read: Reader) -> Read | Unreadable:
    if attempt.failed:
        return Unreadable(attempt.error)
    if not attempt.complete:
        return Unreadable(f"cut at its limit of {attempt.limit} tokens" if attempt.limit else "cut at its limit")
    found = read(rubric, attempt.text)
    if isinstance(found, Read) and not isinstance(found.value, str):
        if not math.isfinite(found.value):
            return Unreadable("no finite number")
        return replace(found, value=float(found.value))
    return found
