"""The human baseline: people's conversations counted and scored as systems are, and systems held against them.

:mod:`.sources` turns corpora and runs into conversations of two sides, :mod:`.statistics` counts them side by side,
:mod:`.people` scores harvested items with the person who was there as the system, :mod:`.acts` makes them for
DuplexAct, :mod:`.listening` holds responses against a panel of listeners.
"""

from __future__ import annotations

from fullduplex.baselines.listening import Listening, listening_of
from fullduplex.baselines.people import harvested, harvested_by, has_the_other, named, people_run
from fullduplex.baselines.sources import BY, Counted, items_of, named_apart, people_of
from fullduplex.baselines.statistics import STATISTICS, statistics_of

__all__ = [
    "BY",
    "STATISTICS",
    "Counted",
    "Listening",
    "harvested",
    "harvested_by",
    "has_the_other",
    "items_of",
    "listening_of",
    "named",
    "named_apart",
    "people_of",
    "people_run",
    "statistics_of",
]
