"""Who sits at a table of several systems, and where each one's numbers are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fullduplex.benchmarks.boards import Board
from fullduplex.benchmarks.declare import Scenario
from fullduplex.reporting.rows import Row
from fullduplex.runs.measured import Column, Measured
from fullduplex.runs.run import Run
from fullduplex.runs.talks import talks

#: What stands beside the name of a system that was reached over a network.
NETWORK = "includes network"
#: What stands beside the name of a system that cannot speak inside a turn of the user's.
WHOLE_TURNS = "given whole turns"
#: What stands beside the name of a system whose times were computed and not lived through.
SIMULATED = "simulated timing"


#: Whether a system's weights can be had, and how a table calls it.
ACCESS = {"open": "Open", "closed": "Closed"}


@dataclass(frozen=True, slots=True)
class Seat:
    """One system at the table.

    ``network``: it was reached over one, so that its times include the way there and back. ``whole_turns``: it was
    given the user's turns whole, so that it cannot have spoken within one. ``simulated``: its times were computed.
    ``access``: ``open`` or ``closed``, as run.json or the system's own option says, "" where neither does.
    """

    system: str
    measured: Measured
    network: bool = False
    whole_turns: bool = False
    simulated: bool = False
    access: str = ""

    @classmethod
    def of(cls, run: Run, measured: Measured) -> Seat:
        """Return the seat of a run: run.json says how the system was reached, and its talks what it was given."""
        held = talks(run)
        whole = _options(run.about).get("whole_turns") is True or (held is not None and held.whole_turns > 0)
        simulated = _driven(run.about).get("clock") == "step-algorithmic"
        told = run.about.get("access") or _options(run.about).get("access")
        access = str(told) if told in ACCESS else ""
        return cls(run.system, measured, over_network(run.about), whole, simulated, access)

    @property
    def marks(self) -> list[str]:
        """Return what stands beside its name."""
        return [NETWORK] * self.network + [WHOLE_TURNS] * self.whole_turns + [SIMULATED] * self.simulated


@dataclass(frozen=True, slots=True)
class Ground:
    """Everything that the cards and tables of one variant are made of.

    ``rows``: its estimates, of every system; ``seed``: of the intervals that are not among them.
    """

    board: Board
    seats: Sequence[Seat]
    rows: Sequence[Row]
    variant: str
    seed: int = 0
    _placed: dict[tuple[str, str, str], Row] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        placed = {(str(row.get("system") or ""), str(row["scenario"]), str(row["metric"])): row for row in self.rows}
        object.__setattr__(self, "_placed", placed)

    def scenario(self, card: str) -> Scenario | None:
        """Return the scenario that ``card`` tells of, None where the variant has none."""
        found = (
            scenario
            for seat in self.seats
            for benchmark in seat.measured.benchmarks
            if benchmark.variant == self.variant
            for scenario in benchmark.scenarios
        )
        return next((one for one in found if one.card == card), None)

    def column(self, seat: Seat, card: str, metric: str) -> Column | None:
        """Return what was found of a metric for each item of ``card``'s scenario, None where it was not measured."""
        scenario = self.scenario(card)
        return None if scenario is None else seat.measured.columns.get((self.variant, scenario.name, metric))

    def row(self, seat: Seat, card: str, metric: str) -> Row | None:
        """Return the estimate of a metric in ``card``'s scenario, None where it was not measured."""
        scenario = self.scenario(card)
        return None if scenario is None else self._placed.get((seat.system, scenario.name, metric))


def over_network(about: Mapping[str, Any]) -> bool:
    """Return whether the system of a run, by its run.json, was reached over a network.

    Its spec has a ``url`` whose host is not this machine, or says ``network=true``.
    """
    options = _options(about)
    if isinstance(options.get("network"), bool):
        return bool(options["network"])
    try:
        host = urlsplit(str(options.get("url") or "")).hostname or ""
    except ValueError:
        return True  # an address that cannot be read is not known to be this machine's
    return bool(host) and not (host in ("localhost", "::1") or host.startswith("127."))


def _driven(about: Mapping[str, Any]) -> Mapping[str, Any]:
    driven = about.get("driven")
    return driven if isinstance(driven, Mapping) else {}


def _options(about: Mapping[str, Any]) -> Mapping[str, Any]:
    spec = _driven(about).get("system")
    options = spec.get("options") if isinstance(spec, Mapping) else None
    return options if isinstance(options, Mapping) else {}
