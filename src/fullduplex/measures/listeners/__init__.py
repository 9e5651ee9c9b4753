"""Where listeners respond: what a panel of people did on a stimulus, how far they agree, how near a system comes."""

from __future__ import annotations

from fullduplex.measures.listeners.agreement import agreement_beyond_chance, agreement_with_the_others
from fullduplex.measures.listeners.distance import divergence_from, wasserstein_from
from fullduplex.measures.listeners.panel import Panel, counts_behind, likelihood, normalised
from fullduplex.measures.listeners.placement import (
    Placement,
    covered,
    opportunities,
    people_placed,
    placement,
    support,
)

__all__ = [
    "Panel",
    "Placement",
    "agreement_beyond_chance",
    "agreement_with_the_others",
    "counts_behind",
    "covered",
    "divergence_from",
    "likelihood",
    "normalised",
    "opportunities",
    "people_placed",
    "placement",
    "support",
    "wasserstein_from",
]
