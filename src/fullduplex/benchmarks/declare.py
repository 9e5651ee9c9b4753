"""What a benchmark is: a declaration of scenarios over shared measures."""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.metric import Metric
from fullduplex.model.spec import Spec


@dataclass(frozen=True, slots=True)
class Hearing:
    """How a variant wants the recordings heard; ``listen`` keeps one track for each.

    ``detector`` finds the system's speech. ``assume_rate``: the samples are read as if
    they had this rate, whatever the file says (0: resampled properly); it repeats a
    fault of released scripts. ``channels``: ``mix`` averages, ``refuse`` fails on more than one.
    """

    name: str
    detector: Spec
    assume_rate: int = 0
    channels: str = "mix"

    def to_json(self) -> dict[str, object]:
        """Return the hearing as a JSON object, for digests."""
        return {"detector": self.detector.to_json(), "assume_rate": self.assume_rate, "channels": self.channels}


@dataclass(frozen=True, slots=True)
class Scenario:
    """A task of a benchmark on one dataset.

    ``task`` and ``dataset`` select entries (an empty dataset selects the entries whose
    dataset is not known); ``official`` is the number of items the publication counts.
    """

    name: str
    task: str
    dataset: str
    metrics: tuple[Metric, ...]
    title: str = ""
    official: int = 0
    needs_speech: bool = False
    needs_words: bool = True


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
    list every known difference from the source that the variant names.
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
