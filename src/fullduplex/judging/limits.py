"""What every request passes: how fast, how dear, and when a judge is given up. Safe for threads."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Condition, Event, Lock

import numpy as np

from fullduplex.errors import InputError, JudgeError
from fullduplex.judging.question import Reply, Request

COST_CAP = "not asked: cost cap"
INTERRUPTED = "not asked: interrupted"
#: Pauses between two attempts at the same request: the first one and the longest, in seconds.
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: English has about four characters to a token; the unknown length of a first reply is taken for so many.
CHARACTERS_A_TOKEN, FIRST_REPLY = 4, 200


class NotAsked(Exception):
    """A request that does not pass: ``reason`` is the one that its vote carries, ``why`` a sentence."""

    def __init__(self, reason: str, why: str = "") -> None:
        self.reason, self.why = reason, why
        super().__init__(why or reason)


def backoff(unreached: int, generator: np.random.Generator, after: float | None = None) -> float:
    """Return how many seconds to wait after the ``unreached``-th request (from 1) in which no reply came.

    1 s, doubled each time, at most 60 s, times a draw from 0.5 to 1 so that many threads do not come back at the
    same time; ``after`` is what the server asked for: no less than that, plus up to a tenth.
    """
    pause = min(FIRST_PAUSE * 2.0 ** min(unreached - 1, 30), LONGEST_PAUSE) * generator.uniform(0.5, 1.0)
    return float(pause if after is None else max(pause, after * generator.uniform(1.0, 1.1)))


class Pace:
    """At most ``per_minute`` units in a minute, evenly spaced: a token bucket that holds one request.

    Evenly, since a bucket that is full at the start lets nearly twice the limit through in the first minute.
    Not safe for threads by itself: the gate holds its lock.
    """

    def __init__(self, per_minute: float) -> None:
        self.per_minute, self._free = per_minute, 0.0

    def slot(self, now: float, amount: float = 1.0) -> float:
        """Return when ``amount`` units may pass, and take them."""
        at = max(self._free, now)
        self._free = at + amount * 60.0 / self.per_minute
        return at

    def settle(self, amount: float) -> None:
        """Take ``amount`` units more, or give them back where it is negative: what was taken was an estimate."""
        self._free += amount * 60.0 / self.per_minute


@dataclass(slots=True)
class Passage:
    """One request on its way; ``reply`` is put there when it has come."""

    reply: Reply | None = None


class Gate:
    """The limits that all requests to one judge share.

    ``per_minute`` counts requests, ``tokens_per_minute`` tokens in and out, ``max_cost`` US dollars. The cap is kept
    before it is passed: a request goes only if it fits even when it and all those under way cost as much as the
    dearest reply so far; until one cost is known, requests go one at a time. A later reply may still be dearer than
    any before it, and what a server charges for a request that it never answered is not seen here.

    ``give_up_after``: when so many different questions in a row were not answered, no other is asked. ``patience`` is
    the longest wait in seconds that a server may ask for. ``clock`` counts seconds; ``sleep`` waits (None: a wait
    that :meth:`halt` ends).
    """

    def __init__(
        self,
        *,
        per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        max_cost: float | None = None,
        give_up_after: int | None = None,
        patience: float = 120.0,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        for name, value in (
            ("per_minute", per_minute),
            ("tokens_per_minute", tokens_per_minute),
            ("max_cost", max_cost),
            ("give_up_after", give_up_after),
            ("patience", patience),
        ):
            if value is not None and not 0 < value < float("inf"):
                raise InputError("judge", name, found=value, expected="a number above 0")
        self.max_cost, self.give_up_after, self.patience, self.clock = max_cost, give_up_after, patience, clock
        #: What makes any further request useless, to be raised when those under way are done.
        self.fault: JudgeError | None = None
        self.spent, self.capped = 0.0, False
        self._requests = None if per_minute is None else Pace(per_minute)
        self._tokens = None if tokens_per_minute is None else Pace(tokens_per_minute)
        self._sleep, self._hurry, self._lock = sleep, Event(), Lock()
        self._changed = Condition(self._lock)
        self._flying, self._dearest, self._longest = 0, -1.0, FIRST_REPLY
        self._held_until = 0.0
        self._missed: set[str] = set()
        self._halted = self._gone = False

    @contextmanager
    def admitted(self, request: Request) -> Iterator[Passage]:
        """Wait until ``request`` may go, and note what came of it. Raises :class:`NotAsked` where it may not."""
        self._reserve()
        passage = Passage()
        try:
            estimated = self._take_turn(request)
            try:
                yield passage
            finally:
                self._settle(passage.reply, estimated)
        finally:
            with self._changed:
                self._flying -= 1
                self._changed.notify_all()

    def pause(self, seconds: float, *, for_all: bool = False) -> None:
        """Wait; ``for_all``: no other request goes meanwhile. Raises :class:`NotAsked` where nothing more is asked."""
        if for_all:
            with self._lock:
                self._held_until = max(self._held_until, self.clock() + seconds)
        self._wait(seconds)

    def reached(self) -> None:
        """Take note that the judge answers."""
        with self._lock:
            self._missed.clear()

    def missed(self, asked: str) -> None:
        """Take note that the question ``asked`` was not answered, after all its attempts."""
        with self._lock:
            self._missed.add(asked)
            if self.give_up_after is not None and len(self._missed) >= self.give_up_after and not self._gone:
                self._gone = True
                self._hurry.set()

    @property
    def given_up(self) -> str:
        """Return the sentence that says so, "" while the judge is not given up."""
        return self._given_up if self._gone else ""

    def fail(self, error: JudgeError) -> None:
        """Ask nothing more, because of ``error``; the first one is kept as ``fault``."""
        self.fault = self.fault or error
        self.halt()

    def halt(self) -> None:
        """Ask nothing more; whoever waits stops waiting."""
        with self._changed:
            self._halted = True
            self._hurry.set()
            self._changed.notify_all()

    def resume(self) -> None:
        """Ask again after :meth:`halt`, unless there is a fault; a judge that was given up stays so."""
        with self._lock:
            self._halted = self.fault is not None
            if not self._halted and not self._gone:
                self._hurry.clear()

    @property
    def halted(self) -> bool:
        """Return whether nothing more is asked, of anything."""
        return self._halted

    @property
    def _given_up(self) -> str:
        return (
            f"the judge answered none of {self.give_up_after} questions in a row and was given up; "
            "the same command asks what is left"
        )

    def _check(self) -> None:
        if self._halted:
            raise NotAsked(INTERRUPTED)
        if self._gone:
            raise NotAsked("unreachable", self._given_up)

    def _wait(self, seconds: float) -> None:
        self._check()
        if seconds > 0:
            (self._sleep or self._hurry.wait)(seconds)
            self._check()

    def _reserve(self) -> None:
        with self._changed:
            while True:
                self._check()
                if self.max_cost is None or (self._dearest < 0 and not self._flying):
                    break
                if self.capped:
                    raise NotAsked(COST_CAP, self._cap_told())
                if self._dearest >= 0 and self.spent + self._dearest * (self._flying + 1) <= self.max_cost:
                    break
                if self._dearest >= 0 and not self._flying:
                    self.capped = True
                    raise NotAsked(COST_CAP, self._cap_told())
                self._changed.wait(timeout=1.0)
            self._flying += 1

    def _cap_told(self) -> str:
        return f"US$ {self.spent:.4f} of {self.max_cost:g} are spent, and a reply has cost up to {self._dearest:.4f}"

    def _take_turn(self, request: Request) -> float:
        estimated = 0.0
        with self._lock:
            now = at = self.clock()
            if self._requests is not None:
                at = max(at, self._requests.slot(now))
            if self._tokens is not None:
                estimated = len(request.system + request.user) / CHARACTERS_A_TOKEN + self._longest
                at = max(at, self._tokens.slot(now, estimated))
        self._check()
        # A server may ask for patience while this one waits.
        while (left := max(at, self._held_until) - self.clock()) > 0:
            self._wait(left)
        self._check()
        return estimated

    def _settle(self, reply: Reply | None, estimated: float) -> None:
        with self._changed:
            used = sum(reply.usage.get(kind, 0) for kind in ("input", "output")) if reply is not None else 0
            if self._tokens is not None and (reply is None or used):
                self._tokens.settle(used - estimated)
            if reply is None:
                return
            self._longest = max(self._longest, reply.usage.get("output", 0))
            if reply.cost is not None:
                self.spent += reply.cost
                self._dearest = max(self._dearest, reply.cost)
        if reply.cost is None and self.max_cost is not None:
            self.fail(JudgeError(self._unpriced_told(reply)))

    def _unpriced_told(self, reply: Reply) -> str:
        model = f" {reply.model}" if reply.model else ""
        when = "the first reply" if self._dearest < 0 else "a reply"
        cannot = f"so a cap of US$ {self.max_cost:g} cannot be kept"
        if {"input", "output"} <= reply.usage.keys():
            return (
                f"judging stopped after {when}: no price is known of the judge's model{model}, {cannot}; give --judge "
                "its price_in and price_out (US dollars for a million tokens), or leave --max-cost out"
            )
        return (
            f"judging stopped after {when}: the judge's model{model} did not count its tokens, {cannot}; "
            "leave --max-cost out"
        )
