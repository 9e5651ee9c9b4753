"""A metric: a measure of one trial, and how many measures become one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fullduplex.model.trials import Absent, Fact, Trial

Measure = Callable[[Trial], Fact | Absent]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True)
class Metric:
    """What is measured on each trial of a scenario, and how it is read.

    ``kind`` is ``rate`` (each value 0 or 1), ``share`` (the same, but parts of 1 can occur), ``mean``,
    ``median``, or ``trimmed``: the mean of what lies from the 5th to the 95th percentile. ``judged`` names the verdict
    it needs, "" where it needs none. Metrics of one ``family`` belong in a table of their own; one that is ``optional``
    stands in no table where no item has a value. ``rests_on`` says what the metric needs to be right: ``voice
    activity`` or ``content`` (words, meaning).
    ``better`` belongs to the metric in its scenario, not to its name alone. ``sways`` names metrics of the same
    scenario: whether they depend on this one is tested. ``listed``: under this heading a report lists each item whose
    value is not 0, with its reason; "" where it lists none.
    """

    name: str
    measure: Measure
    better: Better
    unit: str
    kind: Literal["rate", "share", "mean", "trimmed", "median"] = "mean"
    rests_on: Literal["voice activity", "content"] = "content"
    title: str = ""
    version: str = "1"
    judged: str = ""
    family: str = ""
    optional: bool = False
    sways: tuple[str, ...] = ()
    listed: str = ""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number over many trials: its 95 % interval, its n, what is missing and why, and the method."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    absent: dict[str, int]
    method: str = ""


def given(condition: Measure, measure: Measure, reason: str) -> Measure:
    """Apply ``measure`` only to trials in which ``condition`` holds (its value is not 0).

    Absent: whatever ``condition`` lacks, else ``reason``. This is the one way to
    write a conditional denominator; the name says so in the report.
    """

    def conditional(trial: Trial) -> Fact | Absent:
        held = condition(trial)
        if isinstance(held, Absent):
            return held
        return measure(trial) if held.value else Absent(reason)

    conditional.__doc__ = measure.__doc__
    conditional.__name__ = f"{name_of(measure)} given {name_of(condition)}"
    return conditional


def name_of(measure: object) -> str:
    """Return a measure's name, also through ``functools.partial``."""
    return getattr(measure, "__name__", None) or name_of(getattr(measure, "func", type(measure)))
