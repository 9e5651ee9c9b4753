"""Many cases, one judge: asked side by side, within limits, nothing twice."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Event, Lock, Thread

from fullduplex.errors import InputError
from fullduplex.judging.cache import Cache
from fullduplex.judging.cases import Case, blind, prompt_digest
from fullduplex.judging.cost import Bill, Plan, bill_of, plan
from fullduplex.judging.limits import INTERRUPTED, Gate
from fullduplex.judging.question import Judge, Refused
from fullduplex.judging.reading import read
from fullduplex.judging.rubric_file import render
from fullduplex.judging.verdicts import CANNOT, Judged, check_counts, check_hears, judged, not_judged
from fullduplex.judging.votes import UNREACHABLE, Reader, Render, Vote, cast, concluded, request_of

#: How many seconds an interrupted session waits for replies that are under way: they are paid for.
_LINGERS = 5.0


class Session:
    """A judge at work on many cases.

    Each case gets ``votes`` votes of at most ``attempts`` requests each. ``concurrency`` requests are under way at
    once, at most ``per_minute`` requests and ``tokens_per_minute`` tokens go out in a minute, and at most ``max_cost``
    US dollars are spent (see :class:`fullduplex.judging.limits.Gate`). After ``give_up_after`` different questions in a
    row that were not answered, the judge is given up and the rest counts as ``unreachable``.

    ``cache`` is a folder: what it holds of the same judge, question and vote is not asked again, in whichever run.
    Votes that came to nothing because the judge was not reached or not asked are no answers, so the same command
    asks them again; replies that cannot be read are kept and count among the ``attempts``.

    ``names`` are those of the systems that are judged; see :func:`fullduplex.judging.cases.blind`. ``read`` reads
    a reply, ``render`` makes a request. ``progress`` is called with each verdict and the bill so far, in the caller's
    thread. ``clock`` and ``sleep`` are for tests.
    """

    def __init__(
        self,
        judge: Judge,
        cache: Path,
        *,
        read: Reader = read,
        render: Render = render,
        votes: int = 1,
        attempts: int = 5,
        concurrency: int = 8,
        per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        max_cost: float | None = None,
        give_up_after: int = 16,
        patience: float = 120.0,
        names: Sequence[str] = (),
        progress: Callable[[Judged, Bill], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        check_counts(votes, attempts)
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or not 1 <= concurrency <= 256:
            raise InputError("judge", "concurrency", found=concurrency, expected="a whole number from 1 to 256")
        self.judge, self.votes, self.attempts, self.concurrency = judge, votes, attempts, concurrency
        self.names, self.progress = tuple(names), progress
        self.bill = Bill()
        self._read, self._render = read, render
        self._cache = Cache(cache, judge.spec)
        self._gate = Gate(
            per_minute=per_minute,
            tokens_per_minute=tokens_per_minute,
            max_cost=max_cost,
            give_up_after=give_up_after,
            patience=patience,
            clock=clock,
            sleep=sleep,
        )
        self._lock = Lock()
        self._busy: dict[str, tuple[Lock, int]] = {}

    @property
    def given_up(self) -> str:
        """Return the sentence about a judge that was given up, "" where it was not."""
        return self._gate.given_up

    def planned(
        self,
        cases: Iterable[Case],
        seen: Bill | None = None,
        cost_of: Callable[[Mapping[str, int]], float | None] | None = None,
    ) -> Plan:
        """Return about what asking ``cases`` takes, without asking; ``seen`` and ``cost_of`` as for ``plan``.

        What the cache holds is free, and so is a question that another case asks too.
        """
        return plan(
            self._blinded(cases),
            votes=self.votes,
            render=self._render,
            known=lambda case, asked, vote: self._kept(case, asked, vote) is not None,
            seen=seen or self.bill,
            cost_of=cost_of,
        )

    def run(self, cases: Iterable[Case]) -> Generator[Judged, None, None]:
        """Yield what the judge says of each of ``cases``, in the order of completion; each case comes once.

        Interrupted (Ctrl-C, or the iterator is closed), nothing more is asked and what was answered is in the
        cache. Raises, after the replies that were under way, the one sentence about what makes any further request
        useless: :class:`Refused` (a wrong key), :class:`JudgeError` (a cap on an unknown price).
        """
        ahead, turn, over = iter(cases), Lock(), Event()
        results: Queue[Judged | BaseException | None] = Queue()

        def work() -> None:
            try:
                while not (over.is_set() or self._gate.halted):
                    with turn:
                        case = next(ahead, None)
                    if case is None:
                        break
                    found = self._judged(case)
                    if found is not None:
                        results.put(found)
            except BaseException as error:  # noqa: BLE001 - it belongs to the one who iterates
                self._gate.halt()
                results.put(error)
            finally:
                results.put(None)

        # Daemons: a reply that never comes must not hold up the program's end.
        workers = [Thread(target=work, name=f"judge-{n}", daemon=True) for n in range(self.concurrency)]
        self._gate.resume()
        try:
            for worker in workers:
                worker.start()
            yield from self._completed(results)
        finally:
            over.set()
            self._gate.halt()
            until = time.monotonic() + _LINGERS
            for worker in workers:
                if worker.ident is not None:
                    worker.join(max(0.0, until - time.monotonic()))

    def _blinded(self, cases: Iterable[Case]) -> Iterator[Case]:
        for case in cases:
            try:
                yield blind(case, self.names)
            except InputError:  # it cannot be asked, so it costs nothing; ``run`` tells why
                continue

    def _completed(self, results: Queue[Judged | BaseException | None]) -> Iterator[Judged]:
        running, error = self.concurrency, None
        while running:
            try:
                # With a time-out, since a wait without one cannot be interrupted everywhere.
                found = results.get(timeout=0.5)
            except Empty:
                continue
            if found is None:
                running -= 1
            elif isinstance(found, BaseException):
                error = error or found
            else:
                self.bill += bill_of([found])
                if self.progress is not None:
                    self.progress(found, self.bill)
                yield found
        error = error or self._gate.fault
        if error is not None:
            raise error

    def _judged(self, case: Case) -> Judged | None:
        """Return what the judge says, None where the session ended before it said all."""
        check_hears(case, self.judge)
        try:
            case = blind(case, self.names)
            asked, prompt = case.asked(), prompt_digest(request_of(case, render=self._render))
        except InputError as error:
            return not_judged(case, self.judge, CANNOT, str(error))
        with self._alone(asked):
            votes = tuple(self._vote(case, asked, number) for number in range(max(self.votes, case.votes)))
        if any(vote.absent == INTERRUPTED for vote in votes):
            return None
        return judged(case, self.judge, votes, asked, prompt)

    def _kept(self, case: Case, asked: str, number: int) -> Vote | None:
        """Return the vote that the cache holds whole, None where something is left to ask."""
        attempts = self._cache.attempts(asked, number)
        if not attempts:
            return None
        vote = concluded(case.rubric, attempts, self._read, len(attempts))
        exhausted = vote.absent != "unparsable" or len(attempts) >= self.attempts
        return vote if vote.settled and exhausted else None

    def _vote(self, case: Case, asked: str, number: int) -> Vote:
        kept = self._kept(case, asked, number)
        if kept is not None:
            return kept
        try:
            vote = cast(
                case,
                self.judge,
                number,
                read=self._read,
                render=self._render,
                attempts=self.attempts,
                tried=self._cache.attempts(asked, number),
                gate=self._gate,
                asked=asked,
            )
        except Refused as error:  # for all: no other request would do better
            self._gate.fail(error)
            return Vote(None, str(error), INTERRUPTED)
        # Of a vote that is not over, the replies are paid for and are not asked for again.
        kept_of = [attempt for attempt in vote.attempts if vote.settled or not attempt.failed]
        if len(kept_of) > vote.known:
            self._cache.keep(asked, number, kept_of)
        if vote.absent == UNREACHABLE:
            self._gate.missed(asked)
        elif len(vote.attempts) > vote.known:
            self._gate.reached()
        return vote

    @contextmanager
    def _alone(self, asked: str) -> Iterator[None]:
        """Let one thread at a time ask one question: the second one finds the first one's answer in the cache."""
        with self._lock:
            lock, users = self._busy.get(asked, (Lock(), 0))
            self._busy[asked] = lock, users + 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                lock, users = self._busy.pop(asked)
                if users > 1:
                    self._busy[asked] = lock, users - 1
