"""Holding one item's talk, and keeping it: both voices, every arrival, how it ended, and each attempt."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from fullduplex.data.dataset import Entry, Voice
from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.drive import drive
from fullduplex.driving.link import System
from fullduplex.driving.talk import Talk
from fullduplex.errors import ConversationError, FullDuplexError, InputError, RunError, printable
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, in_seconds, ms
from fullduplex.model.spec import Spec, digest
from fullduplex.once import once_per_process
from fullduplex.providers.weights import sha256
from fullduplex.runs.limits import COST_CAP, Limits, Patience, Spending
from fullduplex.runs.record import KEPT, REPORTED, REPORTED_OUTPUT, events_in, write_attempt
from fullduplex.runs.run import Run
from fullduplex.runs.session_length import TooLong, whole, within
from fullduplex.runs.stimulus import Stimulus, stimulus
from fullduplex.runs.told import DONE, TWIN, read_told, was_held
from fullduplex.runs.user import Part, part
from fullduplex.systems.build import build
from fullduplex.systems.discreet import Discreet
from fullduplex.systems.pages import way_to_a_server
from fullduplex.systems.refusals import Refusal, refusal_of

T = TypeVar("T")
#: The folder of what earlier attempts left.
ATTEMPTS = "attempts"
#: What belongs to the answer that an item's folder came with, and is not true of another.
_OF_AN_ANSWER = frozenset(
    {"output.json", "words.json", "rating.json", "content_tag.json", "latency_intervals.json", "general_split.json",
     "clean_output.wav", "clean_output.json"}
)  # fmt: skip
#: The clocks on which a talk is held at some hour of some day; on the others it comes out the same on any.
LIVED = ("wall", "step-honest")
#: Talks that are held together begin so far apart, since a handshake keeps the others' frames waiting.
_APART = ms(5)


@dataclass(frozen=True, slots=True)
class DriveTask:
    """One talk to hold; small and picklable.

    ``system`` is a spec, ``clock`` "" for the system's own. ``repeat`` counts from 1. ``retries``: how often a
    talk that failed is held again. ``frame`` and ``priming`` are in microseconds. ``cache`` holds weights.
    ``twin``: the user says what the item's clean twin has. ``limits``: what it may cost, and how it is let in.
    ``reached``: whether the server was there before; where it was not, and is not now, it is not asked again.
    """

    run: str
    entry: Entry
    system: Spec
    clock: str = ""
    repeat: int = 1
    retries: int = 2
    frame: int = ms(20)
    priming: int = 0
    seed: int = 0
    cache: str = ""
    language: str = "en"
    twin: bool = False
    limits: Limits = field(default_factory=Limits)
    reached: bool = True

    @property
    def folder(self) -> Path:
        """Return the folder of the talk: the item's own, or that of its clean twin inside of it."""
        item = Run(Path(self.run), {}).folder(self.entry.set, self.entry.id, self.repeat)
        return item / TWIN if self.twin else item

    @property
    def name(self) -> str:
        """Return what names the talk among all of its run, but for the repeat."""
        return f"{self.entry.key} (clean twin)" if self.twin else self.entry.key


@dataclass(frozen=True, slots=True)
class Held:
    """What became of a talk: its folder, how many attempts it took, why it failed if it did; ``kept``: it was there.

    ``refused``: the server refuses every talk alike, so that no other need be tried; ``absent``: nobody is there.
    ``spending``: what it cost now.
    """

    folder: str
    attempts: int = 1
    failed: str = ""
    kept: bool = False
    late: bool = False
    refused: bool = False
    absent: bool = False
    spending: Spending = field(default_factory=Spending)


def hold(task: DriveTask) -> Held:
    """Hold the task's talk, unless the run has it already, and keep it.

    A talk that fails is held again up to ``retries`` times; every attempt is kept, the last one in the
    item's folder and those before it in ``attempts/N``. Raises :class:`FullDuplexError` where it cannot be
    held at all: no such system, an item without a user's voice.
    """
    job = _prepared(task)
    return job.there() or run_on(job.clock, job.hold())


def hold_together(tasks: Sequence[DriveTask]) -> list[Held | str]:
    """Hold the tasks' talks at the same time on the wall clock; of one that cannot be held, the sentence."""
    import gc

    jobs = [_ready(task) for task in tasks]

    async def all_of_them() -> list[Held | str]:
        return await asyncio.gather(*(one(n, job) for n, job in enumerate(jobs)))

    async def one(n: int, job: _Job | str) -> Held | str:
        if isinstance(job, str):
            return job
        # Frames of talks that begin at different moments fall due at different moments.
        await asyncio.sleep(n * (_APART + job.task.frame / len(tasks)) / SECOND)
        try:
            return job.there() or await job.hold()
        except Exception as error:  # noqa: BLE001 - it is this talk's, and the others go on
            return _sentence(error)

    if len(tasks) == 1:
        return asyncio.run(all_of_them())
    # A collection of garbage in the middle of hundreds of frames would make them late.
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        return asyncio.run(all_of_them())
    finally:
        gc.enable()
        gc.unfreeze()


def _ready(task: DriveTask) -> _Job | str:
    """Return the task's talk, with all that would keep other talks waiting done; or why it cannot be held."""
    try:
        job = _prepared(task)
        if job.there() is None:
            job.first = job.part(1)
        return job
    except Exception as error:  # noqa: BLE001 - it is this talk's, and the others go on
        return _sentence(error)


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, FullDuplexError) else printable(f"{type(error).__name__}: {error}")


def driven(entry: Entry, run: Run, repeat: int = 1, *, reported: bool = False) -> Entry:
    """Return ``entry`` with what the run's talk recorded in place of what it had.

    ``reported``: with the words that the system reported of itself. Events are where the user's turns really fell.
    A clean twin whose talk failed is none.
    """
    folder = run.folder(entry.set, entry.id, repeat)
    files = {name: path for name, path in entry.files.items() if name not in _OF_AN_ANSWER}
    if reported and (folder / REPORTED).is_file():
        files |= {"words.json": folder / REPORTED, "output.json": folder / REPORTED_OUTPUT}
    if was_held(folder / TWIN) and (folder / TWIN / "output.wav").is_file():
        files |= {"clean_input.wav": folder / TWIN / "input.wav", "clean_output.wav": folder / TWIN / "output.wav"}
        if reported and (folder / TWIN / REPORTED_OUTPUT).is_file():
            files["clean_output.json"] = folder / TWIN / REPORTED_OUTPUT
    return replace(
        entry,
        user_voice=Voice(folder / "input.wav"),
        system_voice=Voice(folder / "output.wav"),
        files=files,
        offset=0,
        missing=(),
        events=entry.events or _events(folder),
    )


def _events(folder: Path) -> tuple[Event, ...]:
    return events_in(read_told(folder)) if (folder / DONE).is_file() else ()


@dataclass(slots=True)
class _Attempt:
    """One attempt at a talk: what was held, what its record says, and why it failed, if it did."""

    talk: Talk | None = None
    decided: Any = None
    told: dict[str, Any] = field(default_factory=dict)
    failed: str = ""
    too_long: bool = False
    refusal: Refusal | None = None

    @property
    def refused(self) -> bool:
        """Return whether the server refuses every talk alike."""
        return self.refusal is not None and not self.refusal.passing and not self.absent

    @property
    def absent(self) -> bool:
        """Return whether nobody was there."""
        return self.refusal is not None and self.refusal.absent

    @property
    def hopeless(self) -> bool:
        """Return whether another attempt would end like this one, or was waited for in vain."""
        return self.too_long or (self.refusal is not None and not self.absent)


class _Job:
    """One talk, prepared."""

    def __init__(self, task: DriveTask, system: System, asked: Stimulus, clock: Clock) -> None:
        self.task, self.system, self.asked, self.clock = task, system, asked, clock
        self.first: Part | None = None
        self.folder = task.folder
        parts = {
            "system": system.spec.to_json(),
            "clock": clock,
            "repeat": task.repeat,
            "seed": task.seed,
            "frame": in_seconds(task.frame),
            "priming": in_seconds(task.priming),
            "stimulus": _content(asked),
        }
        self.digest, self.parts = digest(parts), {name: digest(part) for name, part in parts.items()}

    def there(self) -> Held | None:
        """Return the talk that an earlier run held for this very task, if it was whole.

        Raises :class:`RunError` for one that was held with something else: what is recorded is not overwritten.
        """
        told = self.told()
        if told is None or told.get("failed"):
            return None
        if told["digest"] != self.digest:
            parts = told.get("made_of") or {}
            other = [name for name, part in self.parts.items() if parts.get(name) != part]
            raise RunError(
                f"{self.folder}: holds a talk with another {' and another '.join(other)}; "
                "give another --out, or delete that folder to hold it again"
            )
        return Held(str(self.folder), len(told["attempts"]), kept=True, late=told["pacing"]["late"])

    def told(self, folder: Path | None = None) -> dict[str, Any] | None:
        """Return what the folder, else the item's, says of the talk that it holds; None where it holds none."""
        try:
            told = read_told(folder or self.folder)
        except InputError:
            return None
        return told if {"digest", "attempts", "failed"} <= set(told) else None

    def before(self) -> list[dict[str, Any]]:
        """Return the attempts of an earlier call that all failed, having put the last of them beside the others."""
        last = self.told()
        if last is not None and last["digest"] == self.digest:
            place = self.folder / ATTEMPTS / str(len(last["attempts"]))
            place.mkdir(parents=True, exist_ok=True)
            # The record last: as long as it is there, this is done again.
            for name in reversed(KEPT):
                if (self.folder / name).is_file():
                    (self.folder / name).replace(place / name)
        kept = [self.told(place) for place in (self.folder / ATTEMPTS).glob("*")]
        known = [told["attempts"] for told in kept if told is not None and told["digest"] == self.digest]
        if not known:
            shutil.rmtree(self.folder / ATTEMPTS, ignore_errors=True)
        return max(known, key=len, default=[])

    async def hold(self) -> Held:
        self.folder.mkdir(parents=True, exist_ok=True)
        attempts = self.before()
        retries = len(attempts) + self.task.retries
        limits, spending = self.task.limits, Spending()
        patience = Patience(self.task.seed, self.task.name)
        while True:
            number = len(attempts) + 1
            made = await self.attempt(number)
            if made.refusal is not None and made.refusal.passing:
                pause = patience.pause(made.refusal)
                if pause is not None:
                    # Nothing was said: no attempt was made yet.
                    await asyncio.sleep(pause)
                    continue
                made.failed += f" (it had no room for {patience.waited:.0f} s)" if patience.waited else ""
            told = {"attempt": number} | made.told | patience.told() | spending.take(made.talk, limits.prices)
            last = not (made.failed or made.told) or number > retries or made.hopeless
            last = last or (made.absent and not self.task.reached)
            if not last and not limits.allows(spending.spent):
                last = True
                made.failed = f"{made.failed or 'discarded for what the user did'}; not held again: {COST_CAP}"
            attempts.append(told | ({"failed": made.failed} if made.failed else {}))
            place = self.folder if last else self.folder / ATTEMPTS / str(number)
            await self.aside(partial(self.keep, place, made.talk, list(attempts), made.failed, made.decided))
            if last:
                late = bool(made.talk and made.talk.pacing.late)
                return Held(
                    str(self.folder), number, made.failed,
                    late=late, refused=made.refused, absent=made.absent, spending=spending,
                )  # fmt: skip
            # A server that has just failed is not asked again at once.
            await asyncio.sleep(min(10.0, 0.5 * 2 ** min(number - 1, 9)) if made.failed else 0)

    async def attempt(self, number: int) -> _Attempt:
        made = _Attempt()
        try:
            if self.clock == "wall":
                await self.task.limits.pace()
            made.talk, its = await self.talk(number)
            made.decided = {"decided": its.told(), "effects": its.put}
            faults = await self.aside(partial(its.check, made.talk)) if self.asked.judged else ()
            if faults:
                made.told = {"discarded": [fault.to_json() for fault in faults]}
        except ConversationError as error:
            made.failed, made.talk = str(error), getattr(error, "talk", None)
            made.too_long = isinstance(error, TooLong)
            made.refusal = refusal_of(error) if made.talk is None else None
            if made.absent:
                made.failed += f"; {way_to_a_server(self.task.system)}"
        return made

    def part(self, attempt: int) -> Part:
        task = self.task
        return part(
            self.asked,
            self.system.traits,
            seed=task.seed,
            # Another repeat of a simulated user is another user.
            attempt=attempt + 100 * (task.repeat - 1),
            language=task.language,
            cache=Path(task.cache),
        )

    async def talk(self, attempt: int) -> tuple[Talk, Part]:
        task = self.task
        its = self.first if attempt == 1 else None
        if its is None:
            its = await self.aside(lambda: self.part(attempt))
        length = within(its.length, self.system, self.asked.hang_up)
        talk = await drive(
            self.system,
            its.user,
            length=length,
            hang_up=self.asked.hang_up,
            prompt=self.asked.prompt,
            frame=task.frame,
            priming=task.priming,
            echo=its.echo,
            bed=its.bed,
        )
        if length < its.length:
            whole(talk, self.system, its.length)
        return talk, its

    async def aside(self, work: Callable[[], T]) -> T:
        """Do what is no part of the talk: on the wall clock beside the other talks, else at once."""
        return await asyncio.to_thread(work) if self.clock == "wall" else work()

    def keep(self, folder: Path, talk: Talk | None, attempts: list[dict[str, Any]], failed: str, decided: Any) -> None:
        """Write what is known of an attempt."""
        told = {
            "system": self.system.spec.to_json(),
            "timing": self.system.traits.timing,
            "protocol": self.asked.protocol,
            "whole_turns": self.system.traits.offline,
            "effects": list(self.asked.effects),
            "seed": self.task.seed,
            "repeat": self.task.repeat,
            "user": decided,
            "valid_user": "discarded" not in attempts[-1],
            "attempts": list(attempts),
            "failed": failed,
            "digest": self.digest,
            "made_of": self.parts,
        }
        told |= {name: attempts[-1][name] for name in ("usage", "cost") if name in attempts[-1]}
        if self.task.limits.prices is not None:
            told["prices"] = self.task.limits.prices.to_json()
        if self.clock in LIVED:
            told["held"] = datetime.now(UTC).isoformat(timespec="seconds")
        write_attempt(folder, talk, told, self.system, self.asked, self.task.entry)


def changed(task: DriveTask) -> str:
    """Return why the talk that the run holds for the task is another one; nothing where it is not, or there is none."""
    if not (task.folder / DONE).is_file():
        return ""
    try:
        job = _prepared(task)
    except FullDuplexError:
        return ""
    try:
        job.there()
    except RunError as error:
        return str(error)
    return ""


def _prepared(task: DriveTask) -> _Job:
    entry = task.entry
    names = (("id", entry.id), ("set", entry.set))
    system = _system(task.system, task.cache, names if "{" in str(task.system) else (), task.limits.keys)
    asked = stimulus(entry)
    allowed = tuple(clock for clock in system.traits.clocks if clock != "virtual" or not asked.computes)
    clock = next((known for known in allowed if known == (task.clock or allowed[0])), None)
    if clock is None:
        raise InputError("--clock", found=task.clock, expected=f"{' or '.join(allowed)} for {task.system.name}")
    return _Job(task, system, asked, clock)


@once_per_process
def _system(
    spec: Spec, cache_folder: str, names: tuple[tuple[str, str], ...], keys: tuple[tuple[str, str], ...]
) -> System:
    system = build(spec, Path(cache_folder), dict(names), dict(keys))
    return Discreet(system, tuple(key for _, key in keys)) if keys else system


def _content(asked: Stimulus) -> Any:
    return {
        "cues": [
            {"audio": _hashed(str(c.audio), c.audio.stat().st_mtime_ns), "channel": c.channel, "due": c.due.to_json(),
             "text": c.text, "event": c.event, "effects": list(c.effects)}
            for c in asked.cues
        ],
        "prompt": asked.prompt,
        "effects": list(asked.effects),
        "hang_up": None if asked.hang_up is None else asked.hang_up.to_json(),
        "cap": asked.cap,
        "branches": None if asked.branches is None else sha256(asked.branches),
        "simulated": asked.simulated,
        "voice": asked.voice,
        "recogniser": asked.recogniser,
        "check": asked.check,
        "events": dict(asked.events),
    }  # fmt: skip


@cache
def _hashed(path: str, changed: int) -> str:
    return sha256(Path(path))
