"""What a run's talks were like, all together: clocks, endings, attempts, lateness, and where the time goes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import InputError
from fullduplex.runs.run import Run
from fullduplex.runs.told import DONE, TWIN, read_told

#: Where the processor was at work for a smaller share of the work's time, the talk's times say so.
BUSY = 0.85
#: The stages of a cascade in order, and what a system in fixed units takes, each with what it lasts from and to.
STAGES = {
    "endpoint": "end of the user's speech to the endpoint",
    "recogniser": "endpoint to the words",
    "first_token": "words to the first token",
    "first_clause": "first token to a piece that can be spoken",
    "first_audio": "that piece to the first audio",
    "total": "end of the user's speech to the first audio",
    "decision_lag": "end of a unit of input to its answer",
}


@dataclass(frozen=True, slots=True)
class Stage:
    """How long a stage takes, in seconds, over ``n`` turns: median and the time that 90 of 100 do not exceed."""

    name: str
    n: int
    median: float
    p90: float


@dataclass(slots=True)
class Talks:
    """Counts over a run's talks.

    ``ended`` by reason, ``clocks`` by name; ``late``: talks with a frame sent later than its own length;
    ``behind``: talks whose system, frame for frame or in fixed units, lagged more and more; ``lost_frames``: those in
    which it left frames out. ``again``: talks that took more than one attempt; ``discarded``: attempts thrown away for
    what the user did, by fault; ``never_began``: of the ``failed``, those of which nothing is there; ``invalid``: talks
    whose user was right in no attempt; ``whole_turns``: talks whose system was given its input whole, so that
    restraint holds by construction. ``worked`` and ``processed`` are how long work took on the step-honest clock, and
    how long the processor was at it; with ``worst_lateness`` in seconds.
    """

    n: int = 0
    clocks: Counter[str] = field(default_factory=Counter)
    protocols: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    late: int = 0
    late_items: list[str] = field(default_factory=list)
    again: int = 0
    attempts: int = 0
    failed: int = 0
    never_began: int = 0
    unsaid: int = 0
    behind: int = 0
    lost_frames: int = 0
    discarded: Counter[str] = field(default_factory=Counter)
    invalid: int = 0
    whole_turns: int = 0
    unreadable: int = 0
    worst_lateness: float = 0.0
    stages: tuple[Stage, ...] = ()
    repeats: int = 1
    worked: float = 0.0
    processed: float = 0.0

    def sentences(self) -> Iterator[str]:
        """Yield what a reader of the tables has to know of the talks, one sentence each."""
        clocks = ", ".join(f"{n} on the {clock} clock" for clock, n in sorted(self.clocks.items()))
        ended = ", ".join(f"{n} by {reason}" for reason, n in sorted(self.ended.items()))
        if clocks:
            yield f"{_counted(self.n, 'talk')}: {clocks}; ended {ended}; {_counted(self.attempts, 'attempt')}"
        if "step-algorithmic" in self.clocks:
            yield "on the step-algorithmic clock the system's work took declared times, so latencies are simulated"
        if self.unreadable:
            yield f"{self.unreadable} talks have a {DONE} that cannot be read, and are not counted here"
        if "step-honest" in self.clocks and self.processed < BUSY * self.worked:
            share = 100 * (1 - self.processed / self.worked)
            yield (
                f"on the step-honest clock work waited {share:.0f} % of its time, for a busy processor or a server: "
                "on an idle machine latencies would be shorter"
            )
        if self.repeats > 1:
            yield f"each item was driven {self.repeats} times: n counts talks, and intervals take the item as the unit"
        if self.never_began:
            yield f"{self.never_began} talk{'s' * (self.never_began != 1)} never began"
        if self.failed > self.never_began:
            broke = self.failed - self.never_began
            yield f"{_counted(broke, 'talk')} failed and {_were(broke)} kept as far as {_they(broke)} went"
        if self.late:
            yield (
                f"{self.late} talks have a frame that was sent later than its own length "
                f"(at worst {self.worst_lateness:.3f} s), so their times cannot be trusted: {_listed(self.late_items)}"
            )
        if self.behind:
            yield f"in {_counted(self.behind, 'talk')} the system fell behind: its frames came later and later"
        if self.lost_frames:
            yield f"in {_counted(self.lost_frames, 'talk')} frames of the system never came, though later ones did"
        if self.discarded:
            why = ", ".join(f"{n} x {kind}" for kind, n in sorted(self.discarded.items()))
            yield f"attempts were discarded for what the user's side did, and held again: {why}"
        if self.invalid:
            yield f"in {_counted(self.invalid, 'talk')} the user's side was not what it was meant to be in any attempt"
        if self.unsaid:
            yield f"{_counted(self.unsaid, 'turn')} of the user never fell due, and {_were(self.unsaid)} not said"
        if self.whole_turns:
            yield (
                f"in {_counted(self.whole_turns, 'talk')} the system was given its whole input at once: "
                "that it kept quiet holds by construction, and is no restraint"
            )


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"


def _were(n: int) -> str:
    return "was" if n == 1 else "were"


def _they(n: int) -> str:
    return "it" if n == 1 else "they"


def _listed(names: Sequence[str], most: int = 10) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _folders(run: Run) -> Iterator[tuple[Path, str]]:
    """Yield the folder of every talk of ``run`` with its name, an item's before its clean twin's."""
    for item in run.items():
        name = f"{item.parent.name}/{item.name}"
        yield item, name
        if (item / TWIN).is_dir():
            yield item / TWIN, f"{name} (clean twin)"


def talks(run: Run) -> Talks | None:
    """Return the counts over every talk of ``run``; None of a run whose recordings were given."""
    found = Talks()
    times: dict[str, list[float]] = {name: [] for name in STAGES}
    for folder, called in _folders(run):
        try:
            told = read_told(folder)
        except InputError:
            found.unreadable += (folder / DONE).exists()
            continue
        found.n += 1
        found.repeats = max(found.repeats, int(told.get("repeat", 1)))
        work = told.get("work", {})
        found.worked += float(work.get("seconds", 0.0))
        found.processed += float(work.get("processor_seconds", 0.0))
        found.attempts += len(told.get("attempts", ()))
        for attempt in told.get("attempts", ()):
            found.discarded.update({fault["kind"] for fault in attempt.get("discarded", ())})
        found.invalid += not told.get("valid_user", True)
        found.again += len(told.get("attempts", ())) > 1
        found.failed += bool(told.get("failed"))
        found.never_began += bool(told.get("failed")) and "clock" not in told
        found.ended[told.get("ended_by", "no connection")] += 1
        found.protocols[told.get("protocol", "direct replay")] += 1
        found.whole_turns += bool(told.get("whole_turns"))
        if "clock" in told:
            found.clocks[told["clock"]] += 1
        pacing = told.get("pacing", {})
        found.late += bool(pacing.get("late"))
        if pacing.get("late"):
            found.late_items.append(called)
        received = told.get("received", {})
        found.behind += bool(received.get("falls_behind"))
        found.lost_frames += bool(received.get("missing_frames"))
        found.worst_lateness = max(found.worst_lateness, float(pacing.get("worst_lateness", 0.0)))
        found.unsaid += sum(turn["timestamp"] is None for turn in told.get("turns", ()))
        for stage in told.get("stages", ()):
            for name in STAGES:
                if isinstance(stage.get(name), int | float):
                    times[name].append(float(stage[name]))
        times["decision_lag"] += [float(lag) for _, lag in (received.get("decision_lag") or {}).get("units", ())]
    if not found.n and not found.unreadable:
        return None
    found.stages = tuple(
        Stage(name, len(spent), float(np.median(spent)), float(np.percentile(spent, 90)))
        for name, spent in times.items()
        if spent
    )
    return found


def as_json(found: Talks) -> dict[str, Any]:
    """Return the counts as a JSON object."""
    return {
        "talks": found.n,
        "unreadable": found.unreadable,
        "clocks": dict(found.clocks),
        "protocols": dict(found.protocols),
        "ended_by": dict(found.ended),
        "late": found.late,
        "late_items": found.late_items,
        "attempts": found.attempts,
        "failed": found.failed,
        "never_began": found.never_began,
        "unsaid_turns": found.unsaid,
        "fell_behind": found.behind,
        "lost_frames": found.lost_frames,
        "discarded_for_the_user": dict(found.discarded),
        "invalid_user": found.invalid,
        "whole_turns": found.whole_turns,
        "worst_lateness": found.worst_lateness,
        "stages": [{"stage": s.name, "n": s.n, "median": s.median, "p90": s.p90} for s in found.stages],
    }
