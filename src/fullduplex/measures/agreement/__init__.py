"""How far raters, and a judge, can be believed: agreement among them, corrected for chance."""

from __future__ import annotations

from fullduplex.measures.agreement.chance import cohens_kappa, fleiss_kappa, krippendorffs_alpha, percent_agreement
from fullduplex.measures.agreement.judged import (
    Class,
    Confusion,
    accuracy,
    agreement_with_each,
    confusion,
    macro_f1,
    per_class,
)
from fullduplex.measures.agreement.ratings import Level, Ratings, Value, majority, reference
from fullduplex.measures.agreement.trust import Trust, trust
from fullduplex.measures.agreement.validity import (
    Naturalness,
    Validity,
    naturalness,
    validity,
    verdict_of,
    verdicts,
)
from fullduplex.measures.agreement.votes import Stability, stability

__all__ = [
    "Class",
    "Confusion",
    "Level",
    "Naturalness",
    "Ratings",
    "Stability",
    "Trust",
    "Validity",
    "Value",
    "accuracy",
    "agreement_with_each",
    "cohens_kappa",
    "confusion",
    "fleiss_kappa",
    "krippendorffs_alpha",
    "macro_f1",
    "majority",
    "naturalness",
    "per_class",
    "percent_agreement",
    "reference",
    "stability",
    "trust",
    "validity",
    "verdict_of",
    "verdicts",
]
