"""What others have printed for Full-Duplex-Bench v1.0: data to stand beside a run, never in it.

Two sources: Table III of the paper (arXiv 2503.04721) and the table in the README of
the benchmark's repository. The scripts' rule for backchannels changed between rows, so each row names
the variant of ours whose rule it was scored under; that is inferred from the dates of rows
and commits, and TOR outside backchannels and latency do not depend on it. Two readings
that these tables do not state: the column JSD holds what the scripts compute (the square
root of the divergence, natural logarithm, and 1.0 for a silent system), and the paper's arrow
for frequency (up) is left out, for by its own text more is not better.
"""

from __future__ import annotations

from fullduplex.benchmarks.duplexact import published as duplexact
from fullduplex.benchmarks.fdb1 import DATASETS
from fullduplex.benchmarks.interactionbench import published as interactionbench
from fullduplex.benchmarks.printed import Printed
from fullduplex.measures.metric import Better

PAPER = "Full-Duplex-Bench, Table III, arXiv 2503.04721"
README = "Full-Duplex-Bench README"
OLD = "backchannels as in released-4efb765, inferred"
NEW = "backchannels as in released-d7336bd, inferred"
FIXED = "as released-3e799c4, inferred"
UNCLEAR = "backchannel rule not known"

_SHOWN: dict[str, str] = {name: title for name, _, title, _ in DATASETS}


#: scenario, metric, unit, better, title, rests on: the columns of both tables, in their order.
_COLUMNS: tuple[tuple[str, str, str, Better, str, str], ...] = (
    ("synthetic_pause_handling", "tor", "share", "lower", "TOR", "voice activity"),
    ("candor_pause_handling", "tor", "share", "lower", "TOR", "voice activity"),
    ("icc_backchannel", "tor", "share", "lower", "TOR", "voice activity"),
    ("icc_backchannel", "frequency", "1/s", "neither", "Freq", "voice activity"),
    ("icc_backchannel", "jsd", "", "lower", "JSD", "voice activity"),
    ("candor_turn_taking", "tor", "share", "higher", "TOR", "voice activity"),
    ("candor_turn_taking", "latency", "s", "lower", "Latency", "voice activity"),
    ("synthetic_user_interruption", "tor", "share", "higher", "TOR", "voice activity"),
    ("synthetic_user_interruption", "rating", "0-5", "higher", "Rating", "content"),
    ("synthetic_user_interruption", "latency", "s", "lower", "Latency", "voice activity"),
)

_PRINTED: tuple[tuple[str, str, str, tuple[float, ...]], ...] = (
    ("dGSLM", PAPER, OLD, (0.934, 0.935, 0.691, 0.015, 0.934, 0.975, 0.352, 0.917, 0.201, 2.531)),
    ("Moshi", PAPER, OLD, (0.985, 0.980, 1.000, 0.001, 0.957, 0.941, 0.265, 1.000, 0.765, 0.257)),
    ("Freeze-Omni", PAPER, OLD, (0.642, 0.481, 0.636, 0.001, 0.997, 0.336, 0.953, 0.867, 3.615, 1.409)),
    ("Gemini Live 2.0", PAPER, OLD, (0.255, 0.310, 0.091, 0.012, 0.896, 0.655, 1.301, 0.891, 3.376, 1.183)),
    ("PersonaPlex", README, UNCLEAR, (0.584, 0.662, 0.327, 0.025, 0.649, 0.992, 0.070, 1.000, 4.210, 0.400)),
    ("GPT-Realtime", README, NEW, (0.010, 0.120, 0.000, 0.007, 0.980, 1.000, 1.470, 0.970, 3.850, 1.500)),
    (
        *("Gemini 3.1 Flash Live minimal", README, FIXED),
        (0.022, 0.153, 0.727, 0.044, 0.807, 1.000, 0.567, 1.000, 3.575, 0.337),
    ),
    (
        *("Gemini 3.1 Flash Live high", README, FIXED),
        (0.007, 0.102, 0.491, 0.030, 0.853, 0.992, 0.940, 0.995, 4.121, 0.651),
    ),
)

_IMPOSSIBLE = (
    "frequency and JSD cannot both come from the released scripts: about one event an item, placed perfectly, "
    "still gives 0.676 (events of 3 s) or 0.753 (of 0.8 s)"
)
_DEPARTURES = {
    ("Moshi", "jsd"): (
        "printed with TOR 1.000, while the paper computes JSD only without takeover: "
        "by its own rule this number has no items"
    ),
    ("PersonaPlex", "frequency"): _IMPOSSIBLE,
    ("PersonaPlex", "jsd"): _IMPOSSIBLE,
}


def published(benchmark: str) -> tuple[Printed, ...]:
    """Return the numbers printed for ``benchmark``, row by row; none for one of which none are held."""
    if benchmark == "interactionbench":
        return interactionbench.published(benchmark)
    if benchmark == duplexact.NAME:
        return duplexact.published()
    if benchmark != "fdb-1.0":
        return ()
    return tuple(
        Printed(
            *(system, scenario, metric, value, unit, better, source, rule),
            title=title,
            scenario_title=_SHOWN[scenario],
            rests_on=rests_on,
            departure=departure,
        )
        for system, source, rule, values in _PRINTED
        for (scenario, metric, unit, better, title, rests_on), value in zip(_COLUMNS, values, strict=True)
        for departure in (_DEPARTURES.get((system, metric), ""),)
    )
