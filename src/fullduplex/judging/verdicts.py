"""A verdict with all that it rests on: what was shown to whom, every vote, every raw reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fullduplex.errors import InputError
from fullduplex.judging.cases import Case, prompt_digest
from fullduplex.judging.limits import Gate
from fullduplex.judging.question import Judge
from fullduplex.judging.reading import read
from fullduplex.judging.rubric import Rubric
from fullduplex.judging.rubric_file import render
from fullduplex.judging.votes import Reader, Render, Vote, cast, outcome, request_of
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Verdict

#: The request could not be made: a field or a clip is missing. The sentence says which.
CANNOT = "not asked: cannot be asked"


@dataclass(frozen=True, slots=True)
class Judged:
    """What a judge says of one case.

    ``value`` is a number of the rubric's scale or a label, None where ``absent`` says why there is none:
    ``unparsable``, ``refused``, ``unreachable``, ``votes tie``, or ``not asked: …``. ``why`` is the judge's reason, or
    a sentence about the absence. ``asked`` and ``prompt`` are the digests of the question and of the two texts that
    it became; ``clips`` are the SHA-256 of what was heard; ``masked`` are the names that were taken out of the fields.
    """

    key: str
    judge: Spec
    rubric: Rubric
    asked: str
    fields: Mapping[str, str]
    votes: tuple[Vote, ...] = ()
    value: float | str | None = None
    absent: str = ""
    why: str = ""
    prompt: str = ""
    clips: tuple[str, ...] = ()
    masked: tuple[str, ...] = field(default=())

    @property
    def verdict(self) -> Verdict | Absent:
        """Return the verdict as measures see it."""
        if self.value is None:
            return Absent(self.absent, self.why)
        votes = tuple(vote.value for vote in self.votes if vote.value is not None)
        return Verdict(self.value, votes, self.why, self.asked)


def judged(case: Case, judge: Judge, votes: Sequence[Vote], asked: str, prompt: str) -> Judged:
    """Return what ``votes`` on ``case`` amount to; see :func:`fullduplex.judging.votes.outcome`."""
    value, absent, why = outcome(votes, case.rubric.answer)
    return Judged(
        case.key,
        judge.spec,
        case.rubric,
        asked,
        case.shown,
        tuple(votes),
        value,
        absent,
        why,
        prompt,
        case.clip_digests(),
        case.masked,
    )


def not_judged(case: Case, judge: Judge, absent: str, why: str) -> Judged:
    """Return a case that was not asked, and why; it has no digests, since what cannot be asked has no question."""
    fields = {name: value for name, value in case.shown.items() if isinstance(value, str)}
    return Judged(case.key, judge.spec, case.rubric, "", fields, absent=absent, why=why, masked=case.masked)


def judge_one(
    case: Case,
    judge: Judge,
    *,
    read: Reader = read,
    render: Render = render,
    votes: int = 1,
    attempts: int = 5,
    gate: Gate | None = None,
) -> Judged:
    """Return what ``judge`` says of ``case`` in ``votes`` votes of at most ``attempts`` requests each, uncached.

    A field or a clip that is missing makes it ``not asked``, with the sentence. Raises :class:`Refused` where every
    other request would be refused too. See :func:`fullduplex.judging.votes.cast` for what is asked again, and
    :class:`fullduplex.judging.session.Session` for many cases, a cache and limits.
    """
    gate = Gate() if gate is None else gate
    check_counts(votes, attempts)
    check_hears(case, judge)
    try:
        asked, prompt = case.asked(), prompt_digest(request_of(case, render=render))
        made = [
            cast(case, judge, vote, read=read, render=render, attempts=attempts, gate=gate, asked=asked)
            for vote in range(max(votes, case.votes))
        ]
        return judged(case, judge, made, asked, prompt)
    except InputError as error:
        return not_judged(case, judge, CANNOT, str(error))


def check_counts(votes: int, attempts: int) -> None:
    """Raise :class:`InputError` unless there is a vote to cast, and an attempt to cast it by; at most 99 and 1000."""
    for name, value, most in (("votes", votes, 99), ("attempts", attempts, 1000)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise InputError("judge", name, found=value, expected=f"a whole number from 1 to {most}")


def check_hears(case: Case, judge: Judge) -> None:
    """Raise :class:`InputError` where the rubric is about sound and the judge reads only: it would guess."""
    if case.rubric.hears and not judge.hears:
        raise InputError(
            "judge",
            found=f"{judge.spec.name}, which hears nothing",
            expected=f"one that hears, for the rubric {case.rubric.name!r}",
        )
