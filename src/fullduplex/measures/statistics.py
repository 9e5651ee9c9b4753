"""The statistics that every number rests on, under one name."""

from __future__ import annotations

from fullduplex.measures.intervals import RESAMPLES, estimate, quantile_estimate, wilson
from fullduplex.measures.permutation import Paired, holm, paired
from fullduplex.measures.power import detectable, items_needed, items_needed_for_mean

__all__ = [
    "RESAMPLES",
    "Paired",
    "detectable",
    "estimate",
    "holm",
    "items_needed",
    "items_needed_for_mean",
    "paired",
    "quantile_estimate",
    "wilson",
]
