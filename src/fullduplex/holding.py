"""Holding a run's talks: side by side, no more at once than allowed, and none that would cost more than allowed.

A cap on the cost is kept before it is passed. Talks are let go in rounds: as many as fit even when each costs the most
that it can. Where a minute has a price that is known beforehand; where tokens have, it is what the dearest talk so far
cost, or its rate over the whole length, so the first goes alone, and later ones no more at a time than
there are sessions. One may then still be dearer than any before it. What a killed process had under way, and what a
vendor charges for a talk that it broke off without counting, is not seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fullduplex.driving.prices import Prices, dollars
from fullduplex.engines import each, open_engine, usable_cores
from fullduplex.errors import InputError
from fullduplex.runs.drive import DriveTask, Held, hold, hold_together
from fullduplex.runs.limits import COST_CAP, NOT_HELD, spent_on
from fullduplex.runs.told import read_told
from fullduplex.stages import Progress, engine_for

#: A vendor counts from the handshake to the farewell: so many seconds more than the talk.
LEEWAY = 5.0
#: US dollars that no vendor charges, and that sums of the same figures differ by.
_ROUNDING = 1e-9
#: What became of a task: held, or a sentence that says why not.
Outcome = tuple[DriveTask, Held | str]


@dataclass(slots=True)
class Budget:
    """What may still be spent: ``most`` US dollars, of which ``spent`` are gone.

    ``dearest``: the cost of the dearest attempt, ``rate``: of its dearest second; ``known`` once an attempt's cost is.
    ``turned_away``: what the talk that did not fit could have cost, and why.
    """

    most: float
    prices: Prices
    spent: float = 0.0
    dearest: float = 0.0
    rate: float = 0.0
    known: bool = False
    fault: str = ""
    turned_away: str = ""

    def bound(self, seconds: float) -> float | None:
        """Return what a talk of so many seconds costs at most; None while nobody can say."""
        stated = self.prices.at_most(seconds + LEEWAY)
        if stated is not None:
            return stated
        return max(self.dearest, self.rate * seconds) if self.known else None

    def round(self, seconds: Sequence[float], together: int) -> list[float]:
        """Return for the first of the talks of these lengths that may go now what each costs at most."""
        if self.fault or self.spent >= self.most:
            return []
        first = self.bound(seconds[0])
        if first is None:
            # Nobody knows yet what a talk costs.
            return [0.0]
        going: list[float] = []
        for length in seconds if not self.prices.by_tokens else seconds[:together]:
            bound = self.bound(length) or 0.0
            # A cap that is the sum of what talks cost lets them pass, in whatever order these are added.
            if self.spent + sum(going) + bound > self.most + _ROUNDING:
                self.turned_away = f"the next talk may cost {dollars(bound)} ({self._reckoned(length)})"
                break
            going.append(bound)
        return going

    def _reckoned(self, seconds: float) -> str:
        if self.prices.by_tokens:
            return f"as the dearest before it, or its rate over {seconds:.1f} s"
        if not self.prices.minute:
            return "as each does"
        return f"{seconds:.1f} s, and {LEEWAY:g} s for handshake and farewell"

    def take(self, held: Held) -> None:
        """Take note of what a talk cost."""
        spending = held.spending
        self.spent += spending.spent
        self.dearest, self.rate = max(self.dearest, spending.dearest), max(self.rate, spending.rate)
        self.known = self.known or spending.dearest > 0
        if spending.unknown:
            self.fault = f"{spending.why}, so a cap of {dollars(self.most)} cannot be kept; give --price"

    @property
    def why(self) -> str:
        """Return why no other talk is held."""
        if self.fault:
            return f"{NOT_HELD}{self.fault}"
        next_one = f", and {self.turned_away}" if self.turned_away else ""
        return f"{NOT_HELD}{COST_CAP}: {dollars(self.spent)} of {dollars(self.most)} are spent{next_one}"


def budget_for(tasks: Sequence[DriveTask], max_cost: float | None, prices: Prices | None) -> Budget | None:
    """Return the budget of a run that holds some of its ``tasks`` already; None without a cap.

    Raises :class:`InputError` where nothing is known of what a talk costs.
    """
    if max_cost is None:
        return None
    if prices is None:
        raise InputError(
            "--max-cost", found=f"{max_cost:g}", expected="a price to keep it by: none is known of this system",
            do="give --price AMOUNT for a minute, or --price KIND=AMOUNT,… for a million tokens",
        )  # fmt: skip
    budget = Budget(max_cost, prices)
    for task in tasks:
        attempts = attempts_of(task)
        budget.spent += spent_on(attempts)
        for attempt in attempts:
            cost = spent_on([attempt])
            usage = attempt.get("usage")
            if cost and isinstance(usage, dict):
                budget.dearest, budget.known = max(budget.dearest, cost), True
                budget.rate = max(budget.rate, cost / max(1.0, float(usage.get("seconds") or 0.0)))
    return budget


def fits_all(seconds: Sequence[float], prices: Prices) -> float | None:
    """Return the US dollars that let talks of these lengths go all; None where that hangs on their tokens.

    What they may cost with handshake and farewell: the cap is kept before it is passed.
    """
    each_of_them = [prices.at_most(length + LEEWAY) for length in seconds]
    return None if prices.by_tokens else sum(cost for cost in each_of_them if cost is not None)


def attempts_of(task: DriveTask) -> list[dict[str, object]]:
    """Return what the run's record says of the attempts at a task, earlier calls' too; nothing where there is none."""
    try:
        return [dict(one) for one in read_told(task.folder).get("attempts", ())]
    except InputError:
        return []


def hold_tasks(
    tasks: Sequence[DriveTask],
    clock: str,
    *,
    sessions: int = 1,
    engine: str = "",
    progress: Progress | None = None,
    budget: Budget | None = None,
    lasts: Callable[[DriveTask], float] = lambda task: 0.0,
    there: Callable[[DriveTask], bool] = lambda task: False,
) -> list[tuple[DriveTask, str]]:
    """Hold every talk; return those that failed, or were not held, with a sentence each.

    ``lasts``: how many seconds a task's talk lasts at most; ``there``: whether the run holds it already. A server that
    refuses every talk alike is asked no more.
    """
    failed: list[tuple[DriveTask, str]] = []
    done = 0

    def took(outcome: Outcome) -> None:
        nonlocal done
        done += 1
        task, held = outcome
        why = held if isinstance(held, str) else held.failed
        if why:
            failed.append((task, why))
        if progress is not None:
            progress("talks", done, len(tasks))

    stop = _Stop()
    waiting = list(tasks)
    if budget is not None:
        # What is there already costs nothing.
        known, waiting = [t for t in waiting if there(t)], [t for t in waiting if not there(t)]
        for outcome in _held(known, clock, sessions, engine, stop):
            took(outcome)
    while waiting and not stop.why:
        if budget is None:
            going, waiting = waiting, []
        else:
            bounds = budget.round([lasts(task) for task in waiting], sessions)
            if not bounds:
                stop.why = budget.why
                break
            # What is left over is for attempts that have to be repeated.
            spare = (budget.most - budget.spent - sum(bounds)) / len(bounds)
            going = [
                replace(task, limits=replace(task.limits, allowance=bound + spare, bound=bound))
                for task, bound in zip(waiting, bounds, strict=False)
            ]
            waiting = waiting[len(bounds) :]
        for outcome in _held(going, clock, sessions, engine, stop):
            took(outcome)
            if budget is not None and isinstance(outcome[1], Held):
                budget.take(outcome[1])
    for task in (*stop.left, *waiting):
        took((task, stop.why))
    return failed


@dataclass(slots=True)
class _Stop:
    """Why no further talk is held, once there is a reason; ``left``: tasks that it met.

    ``reached``: whether the server was there for a talk of this call.
    """

    why: str = ""
    left: list[DriveTask] = field(default_factory=list)
    reached: bool = False

    def before(self, tasks: Sequence[DriveTask]) -> Iterator[DriveTask]:
        """Yield the tasks as long as there is no reason."""
        for task in tasks:
            if self.why:
                self.left.append(task)
            else:
                yield replace(task, reached=self.reached)

    def heard(self, held: Held | str) -> None:
        """Take note of what became of a talk."""
        if not isinstance(held, Held) or held.kept:
            return
        self.reached |= not held.absent
        if self.why:
            return
        if held.refused:
            self.why = f"{NOT_HELD}the server refused the talk before it for good: {held.failed}"
        elif not self.reached:
            self.why = f"{NOT_HELD}nobody answered the talk before it: {held.failed}"


def _held(tasks: Sequence[DriveTask], clock: str, sessions: int, engine: str, stop: _Stop) -> Iterator[Outcome]:
    if not tasks:
        return
    found = _side_by_side(tasks, sessions, engine, stop) if clock == "wall" else _apart(tasks, clock, engine, stop)
    for task, held in found:
        stop.heard(held)
        yield task, held


def _apart(tasks: Sequence[DriveTask], clock: str, engine: str, stop: _Stop) -> Iterator[Outcome]:
    # Measured times are truthful only when nothing else runs.
    place = engine or ("here" if clock == "step-honest" else engine_for(len(tasks)))
    with open_engine(place) as opened:
        for outcome in each(opened, hold, stop.before(tasks)):
            yield outcome.task, outcome.result if outcome.error is None else outcome.error


def _side_by_side(tasks: Sequence[DriveTask], sessions: int, engine: str, stop: _Stop) -> Iterator[Outcome]:
    """Hold ``sessions`` talks at once, on as many processes as there are cores."""
    if sessions == 1:
        for task in stop.before(tasks):
            (held,) = hold_together([task])
            yield task, held
        return
    processes = min(usable_cores(), sessions)
    size = -(-sessions // processes)
    with open_engine(engine or f"processes:{processes}") as opened:
        for outcome in each(opened, hold_together, _waves(tasks, size, processes, stop)):
            results = [outcome.error] * len(outcome.task) if outcome.error is not None else outcome.result
            yield from zip(outcome.task, results, strict=True)


def _waves(tasks: Sequence[DriveTask], size: int, processes: int, stop: _Stop) -> Iterator[list[DriveTask]]:
    wave: list[DriveTask] = []
    for task in stop.before(tasks):
        rate = task.limits.per_minute
        # Each process keeps its share of the pace.
        share = task.limits if rate is None else replace(task.limits, per_minute=rate / processes)
        wave.append(replace(task, limits=share))
        if len(wave) == size:
            yield wave
            wave = []
    if wave:
        yield wave


__all__ = ["LEEWAY", "Budget", "attempts_of", "budget_for", "fits_all", "hold_tasks"]
