"""What DuplexAct's page prints: data to stand beside a run, never in it.

Its Table 4 has I and S of each action (four actions and five systems are on the page), Table 16 each condition's with
n_S, the number of instances that entered follow-through (Wait and Ignore, four systems), Table 15 the time of Stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fullduplex.benchmarks.duplexact.conditions import actions, condition_named
from fullduplex.benchmarks.printed import Printed

NAME = "duplexact"
TABLE_4, TABLE_15, TABLE_16 = (f"DuplexAct page, Table {number}" for number in (4, 15, 16))
VARIANT = "as printed; thresholds not told"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell ``I/S (n_S)`` of Table 16, in percent: S over the ``n`` instances that succeeded at once."""

    condition: str
    immediate: float
    follow_through: float
    n: int

    @property
    def followed(self) -> int:
        """Return how many instances were followed through: the whole number that the percentage stands for."""
        return round(self.follow_through * self.n / 100)

    @property
    def size(self) -> int:
        """Return how many instances the condition has, inferred (``conditions.toml``)."""
        found = condition_named(self.condition)
        if found is None:
            raise ValueError(f"{self.condition!r} is no condition")
        return found.official


#: System -> (I, S) of Wait, Ignore, Take turn and Backchannel, in percent; S None where the page has n/a.
OVERALL: dict[str, tuple[tuple[float, float | None], ...]] = {
    "Moshi": ((82.2, 45.6), (32.5, 89.2), (36.2, 19.4), (6.2, 60.0)),
    "Freeze-Omni": ((73.2, 23.2), (61.5, 9.8), (10.2, 47.5), (0.2, 0.0)),
    "Mini-Omni2": ((8.7, 32.7), (11.8, 2.1), (12.0, 15.3), (0.0, None)),
    "VITA-1.5": ((91.8, 64.4), (55.5, 91.4), (8.0, 27.1), (0.0, None)),
    "Voila-Autonomous": ((96.2, 45.8), (99.0, 82.6), (44.3, 20.3), (1.5, 33.3)),
}
OVERALL_ACTIONS = ("wait", "ignore", "take_turn", "backchannel")

_COLUMNS = ("wait_inter_pause", "wait_intra_pause", "wait_continuous", "ignore_background", "ignore_other_directed")
_CELLS: dict[str, tuple[tuple[float, float, int], ...]] = {
    "Moshi": ((81.5, 42.3, 163), (90.0, 47.8, 180), (75.0, 46.7, 150), (43.0, 89.5, 86), (22.0, 88.6, 44)),
    "Freeze-Omni": ((67.0, 14.9, 134), (83.5, 16.8, 167), (69.0, 39.1, 138), (58.5, 8.5, 117), (64.5, 10.9, 129)),
    "Mini-Omni2": ((10.5, 19.0, 21), (13.5, 33.3, 27), (2.0, 100.0, 4), (2.0, 0.0, 4), (21.5, 2.3, 43)),
    "VITA-1.5": ((95.5, 56.0, 191), (93.5, 59.9, 187), (86.5, 78.6, 173), (65.0, 100.0, 130), (46.0, 79.3, 92)),
}
#: System -> its cells of Table 16.
CONDITIONS: dict[str, tuple[Cell, ...]] = {
    system: tuple(Cell(name, *told) for name, told in zip(_COLUMNS, cells, strict=True))
    for system, cells in _CELLS.items()
}
#: System -> median, interquartile range and n_T of Stop's yield latency (direct interruption), in seconds.
YIELDS: dict[str, tuple[float, float, int]] = {
    "Moshi": (0.96, 1.97, 96),
    "Freeze-Omni": (1.80, 3.37, 90),
    "FLM-Audio": (4.13, 5.46, 146),
    "Raon-SpeechChat": (5.20, 5.06, 116),
    "BayLing-Duplex": (3.05, 1.55, 161),
    "MiniCPM-o 4.5": (3.47, 2.74, 167),
}


def pooled(cells: Sequence[Cell]) -> tuple[float, float | None]:
    """Return I and S of an action in percent from its conditions' cells, S None where no instance entered it.

    I = Σ n_S / Σ sizes, for what enters follow-through is what succeeded at once; S = Σ followed / Σ n_S. Instances
    are pooled, conditions are not averaged: for I that is the same where conditions are of one size, for S it is not.
    """
    entered = sum(cell.n for cell in cells)
    share = 100 * entered / sum(cell.size for cell in cells)
    return share, 100 * sum(cell.followed for cell in cells) / entered if entered else None


def published() -> tuple[Printed, ...]:
    """Return every printed number, row by row."""
    return (*_overall(), *_conditions(), *_times())


def _overall() -> Iterator[Printed]:
    titles = {action.key: action.title for action in actions()}
    for system, row in OVERALL.items():
        for action, (first, then) in zip(OVERALL_ACTIONS, row, strict=True):
            yield _share(system, action, titles[action], "immediate", first, TABLE_4)
            if then is not None:
                yield _share(system, action, titles[action], "follow_through", then, TABLE_4)


def _conditions() -> Iterator[Printed]:
    for system, cells in CONDITIONS.items():
        for cell in cells:
            scenario, title = f"da_{cell.condition}", _title(cell.condition)
            yield _share(system, scenario, title, "immediate", cell.immediate, TABLE_16)
            yield _share(
                system, scenario, title, "follow_through", cell.follow_through, TABLE_16, n=cell.n, part=cell.followed
            )


def _times() -> Iterator[Printed]:
    name = "stop_direct_interruption"
    for system, (median, spread, n) in YIELDS.items():
        yield Printed(
            system, f"da_{name}", "timing", median, "s", "lower", TABLE_15, VARIANT, "T (yield latency)", _title(name),
            n=n, departure=f"interquartile range {spread:.2f} s",
        )  # fmt: skip


def _share(
    system: str, scenario: str, scenario_title: str, metric: str, percent: float, source: str, *,
    n: int | None = None, part: int | None = None,
) -> Printed:  # fmt: skip
    title, rests = ("I", "voice activity") if metric == "immediate" else ("S", "content")
    responds = "take_turn" in scenario
    return Printed(
        system, scenario, metric, round(percent / 100, 4), "share", "higher", source, VARIANT, title, scenario_title,
        "content" if responds else rests, n=n, part=part,
    )  # fmt: skip


def _title(name: str) -> str:
    found = condition_named(name)
    if found is None:
        raise ValueError(f"{name!r} is no condition")
    action = next(action for action in actions() if action.key == found.action)
    return f"{action.title}: {found.title}"
