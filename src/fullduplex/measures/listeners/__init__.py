"""Where listeners respond: what a panel of people did on a stimulus, how far they agree, how near a system comes."""

from __future__ import annotations

from fullduplex.measures.listeners.agreement import agreement_beyond_chance, agreement_with_the_others
from fullduplex.measures.listeners.distance import divergence_from, wasserstein_from
from fullduplex.measures.listeners.panel import Panel, counts_behind, likelihood, normalised
from fullduplex.measures.listeners.placement import (
    OPPORTUNITY_FROM,
    Placement,
    covered,
    hits,
    opportunities,
    people_placed,
    placement,
    support,
)
from fullduplex.measures.listeners.rest import MEASURES, Held, Measured, Tally, held_against_the_rest, pooled

__all__ = [
    "MEASURES",
    "OPPORTUNITY_FROM",
    "Held",
    "Measured",
    "Panel",
    "Placement",
    "Tally",
    "agreement_beyond_chance",
    "agreement_with_the_others",
    "counts_behind",
    "covered",
    "divergence_from",
    "held_against_the_rest",
    "hits",
    "likelihood",
    "normalised",
    "opportunities",
    "people_placed",
    "placement",
    "pooled",
    "support",
    "wasserstein_from",
]
