"""What a benchmark is: a declaration of scenarios over shared measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from fullduplex.measures.metric import Metric
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Trial

#: Why nothing is asked of a trial where no verdict could change what is measured of it.
NOTHING_TO_JUDGE = ("failed", "not exercised")


@dataclass(frozen=True, slots=True)
class Hearing:
    """How a variant wants the recordings heard; ``listen`` keeps one track for each.

    ``detector`` finds the system's speech. ``assume_rate``: the samples are read as if
    they had this rate, whatever the file says (0: resampled properly); it repeats a
    fault of released scripts. ``channels``: ``mix`` averages, ``refuse`` fails on more than one,
    ``without`` hears nothing of such a file.
    ``tasks`` and ``sides`` say which items need it, and whether the user's side too.
    """

    name: str
    detector: Spec
    assume_rate: int = 0
    channels: str = "mix"
    tasks: tuple[str, ...] = ("backchannel",)
    sides: tuple[Literal["user", "system"], ...] = ("system",)

    def to_json(self) -> dict[str, object]:
        """Return the hearing as a JSON object, for digests."""
        return {"detector": self.detector.to_json(), "assume_rate": self.assume_rate, "channels": self.channels}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of one side's recording, in decimal seconds; ``end`` None is its end.

    ``side``: ``system``, or ``clean_system`` for the system in the clean twin.
    """

    side: str
    start: float = 0.0
    end: float | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """Which stretches of an item's sound are measured, and how; kept in acoustics.json under ``name``.

    ``cut`` names the stretches of a trial. Of each, what ``detector`` takes for speech is put together (all of it
    where it finds none and ``whole_if_silent``), and ``measure`` turns the samples into numbers: ``voice`` is ours,
    ``released`` what the scripts of Full-Duplex-Bench v1.5 compute. ``tasks`` are those whose items it is for.
    """

    name: str
    cut: Callable[[Trial], Mapping[str, Stretch]]
    detector: Spec
    measure: Literal["voice", "released"] = "voice"
    whole_if_silent: bool = False
    tasks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return what decides the numbers as a JSON object, for digests."""
        return {
            "cut": self.cut.__qualname__,
            "detector": self.detector.to_json(),
            "measure": self.measure,
            "whole_if_silent": self.whole_if_silent,
        }


@dataclass(frozen=True, slots=True)
class Asks:
    """What a judge is asked of a trial: the verdict's name, the rubric's, and what is shown.

    ``fields`` returns the rubric's fields, or Absent where nothing is to be judged; or several questions of one item,
    each under a key: the verdict is then called ``verdict:key``. ``clip`` names the side that a judge who hears is
    given, "" for none. ``votes``: at least so many are cast. ``keys`` returns the keys of which a person may say
    something though no judge is asked, since a rule decides them. ``cut`` returns the stretch of that side that is
    heard, None (or no ``cut``) for all of it.
    """

    verdict: str
    rubric: str
    fields: Callable[[Trial], Mapping[str, str] | Mapping[str, Mapping[str, str]] | Absent]
    clip: str = ""
    votes: int = 1
    keys: Callable[[Trial], Iterable[str]] | None = None
    cut: Callable[[Trial], Stretch | None] | None = None

    def verdicts(self, trial: Trial) -> list[str]:
        """Return the names of the verdicts on ``trial`` that there can be; none where nothing came about to judge."""
        fields = self.fields(trial)
        if isinstance(fields, Absent) and fields.reason in NOTHING_TO_JUDGE:
            return []
        asked = [name for name, _ in self.questions(trial) if name != self.verdict]
        given = [name for name in trial.verdicts if name.startswith(f"{self.verdict}:")]
        more = [f"{self.verdict}:{key}" for key in self.keys(trial)] if self.keys is not None else []
        # What begins with @ names a reply as one variant cuts it: a person speaks of the item.
        known = [name for name in dict.fromkeys((*more, *asked, *given)) if not name.startswith(f"{self.verdict}:@")]
        return known if known or self.keys is not None else [self.verdict]

    def questions(self, trial: Trial) -> list[tuple[str, Mapping[str, str] | Absent]]:
        """Return each question of ``trial`` with the name of its verdict."""
        found = self.fields(trial)
        if isinstance(found, Absent):
            return [(self.verdict, found)]
        plain = {name: value for name, value in found.items() if isinstance(value, str)}
        if plain or not found:
            return [(self.verdict, plain)]
        return [(f"{self.verdict}:{key}", value) for key, value in found.items() if isinstance(value, Mapping)]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A task of a benchmark on one dataset.

    ``task`` and ``dataset`` select entries (an empty dataset selects the entries whose
    dataset is not known); ``official`` is the number of items the publication counts.
    ``asks`` is what a judge has to say before every metric has a value. ``dimension`` is the table that it belongs
    to on the page, of a benchmark that reports several apart; ``card`` names what the page tells of it.
    """

    name: str
    task: str
    dataset: str
    metrics: tuple[Metric, ...]
    title: str = ""
    official: int = 0
    needs_speech: bool = False
    needs_words: bool = True
    asks: tuple[Asks, ...] = ()
    dimension: str = ""
    card: str = ""


@dataclass(frozen=True, slots=True)
class Departure:
    """Where a variant knowingly differs from what it repeats, and why."""

    where: str
    theirs: str
    ours: str
    why: str


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A published benchmark under one set of rules.

    ``hearing`` is what it listens with; ``paper`` cites the publication; ``departures``
    list every known difference from the source that the variant names. ``parts`` are the stretches
    of sound that it measures, None where it measures none; with ``twins`` each item's clean twin is driven too.
    ``limits`` are the variant's thresholds (a dataclass), and ``rebuilt`` makes the variant with others of them.
    ``learned`` tells from all of a run's trials what each of them is measured against: it joins their references.
    """

    name: str
    version: str
    variant: str
    paper: str
    scenarios: tuple[Scenario, ...]
    hearing: Hearing
    departures: tuple[Departure, ...] = ()
    summary: str = ""
    extra_outputs: bool = False
    parts: Parts | None = None
    twins: bool = False
    limits: Any = None
    rebuilt: Callable[[Any], Benchmark] | None = None
    learned: Callable[[Iterable[Trial]], Mapping[str, Any]] | None = None
    language: str = "en"
