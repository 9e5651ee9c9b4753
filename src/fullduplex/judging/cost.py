"""What judging took, and about what it will take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from fullduplex.errors import InputError
from fullduplex.judging.cases import Case
from fullduplex.judging.limits import CHARACTERS_A_TOKEN, FIRST_REPLY
from fullduplex.judging.rubric_file import render
from fullduplex.judging.verdicts import Judged
from fullduplex.judging.votes import UNPARSABLE, Render, request_of


@dataclass(frozen=True, slots=True)
class Bill:
    """What was asked and what it took; bills add up.

    ``verdicts`` counts cases, ``values`` those that have one, ``absent`` the others by reason. ``requests`` are those
    that were made now, ``replies`` the answered ones among them, ``known`` the votes that were kept from before and
    cost nothing, and ``unread`` those among them whose replies could not be read. ``tokens_in`` and ``tokens_out`` are
    as the judge counted them; ``cached_in`` are those of ``tokens_in`` that it had in a cache of its own. ``cost`` is
    in US dollars and holds what has a price: ``unpriced`` replies have none.
    """

    verdicts: int = 0
    values: int = 0
    absent: Mapping[str, int] = field(default_factory=dict)
    requests: int = 0
    replies: int = 0
    known: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cached_in: int = 0
    cost: float = 0.0
    unpriced: int = 0
    unread: int = 0

    def __add__(self, other: Bill) -> Bill:
        return Bill(
            self.verdicts + other.verdicts,
            self.values + other.values,
            dict(sorted((Counter(self.absent) + Counter(other.absent)).items())),
            self.requests + other.requests,
            self.replies + other.replies,
            self.known + other.known,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.cached_in + other.cached_in,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.unread + other.unread,
        )

    def told(self) -> str:
        """Return the bill in one sentence."""
        without = "".join(f", {count} {reason}" for reason, count in self.absent.items())
        parts = [f"{_count(self.verdicts, 'item')}: {self.values} with a verdict{without}"]
        unread = f", {self.unread} of them unparsable: a higher --attempts asks again" if self.unread else ""
        kept = f", {_count(self.known, 'vote')} kept from before{unread}" if self.known else ""
        parts.append(_count(self.requests, "request") + kept)
        if self.tokens_in or self.tokens_out:
            parts.append(f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out")
        if self.cost or self.replies > self.unpriced:
            without = f" and {_count(self.unpriced, 'reply', 'replies')} without a price" if self.unpriced else ""
            parts.append(f"US$ {self.cost:.4f}{without}")
        elif self.unpriced:
            parts.append("no price known")
        return "; ".join(parts)


def bill_of(judged: Iterable[Judged]) -> Bill:
    """Return the bill of ``judged``; attempts that were known before cost nothing."""
    total = Bill()
    for one in judged:
        new = [attempt for vote in one.votes for attempt in vote.attempts[vote.known :]]
        replies = [attempt for attempt in new if not attempt.failed]
        total += Bill(
            1,
            int(one.value is not None),
            {one.absent: 1} if one.absent else {},
            len(new),
            len(replies),
            sum(0 < vote.known == len(vote.attempts) for vote in one.votes),
            sum(attempt.usage.get("input", 0) for attempt in replies),
            sum(attempt.usage.get("output", 0) for attempt in replies),
            sum(attempt.usage.get("cached", 0) for attempt in replies),
            sum(attempt.cost or 0.0 for attempt in replies),
            sum(attempt.cost is None for attempt in replies),
            sum(0 < vote.known == len(vote.attempts) and vote.absent == UNPARSABLE for vote in one.votes),
        )
    return total


@dataclass(frozen=True, slots=True)
class Plan:
    """About what asking takes: ``requests`` if every reply can be read, ``known`` votes that are kept already.

    ``tokens`` counts four characters as one, clips not at all, and a reply as those seen so far, else as 200.
    ``cost`` is that of the requests at the mean cost of those seen so far, in US dollars; None where none is known.
    """

    requests: int
    known: int
    tokens: int
    cost: float | None

    def told(self) -> str:
        """Return the plan in one sentence."""
        kept = f" ({_count(self.known, 'vote')} kept from before)" if self.known else ""
        cost = "no price known" if self.cost is None else f"about US$ {self.cost:.4f}"
        return f"{_count(self.requests, 'request')}{kept}, about {self.tokens:,} tokens, {cost}"


def plan(
    cases: Iterable[Case],
    *,
    render: Render = render,
    votes: int = 1,
    known: Callable[[Case, str, int], bool] | None = None,
    seen: Bill | None = None,
    cost_of: Callable[[Mapping[str, int]], float | None] | None = None,
) -> Plan:
    """Return about what ``votes`` votes on each of ``cases`` take; cases that cannot be asked take nothing.

    ``known(case, asked, vote)``: whether a vote is kept already. ``seen`` is the bill of earlier replies of the
    same judge; where it tells no cost, ``cost_of`` is asked for that of a usage (tokens ``input`` and ``output``).
    """
    seen = seen or Bill()
    reply = seen.tokens_out / seen.replies if seen.replies and seen.tokens_out else FIRST_REPLY
    met: set[str] = set()
    requests = kept = 0
    tokens_in = 0.0
    for case in cases:
        try:
            asked, request = case.asked(), request_of(case, render=render)
        except InputError:
            continue
        if asked in met:
            continue
        met.add(asked)
        there = sum(known(case, asked, vote) for vote in range(votes)) if known is not None else 0
        kept += there
        requests += votes - there
        tokens_in += (votes - there) * len(request.system + request.user) / CHARACTERS_A_TOKEN
    tokens_out, priced = requests * reply, seen.replies - seen.unpriced
    if not requests:
        cost: float | None = 0.0
    elif priced:
        cost = seen.cost / priced * requests
    else:
        cost = cost_of({"input": round(tokens_in), "output": round(tokens_out)}) if cost_of is not None else None
    return Plan(requests, kept, round(tokens_in + tokens_out), cost)


def _count(n: int, one: str, many: str = "") -> str:
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"
