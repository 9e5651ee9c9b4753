"""What a conversation of two sides is made of: units, silences, overlaps, floor transfers; how corpora differ.

Everything is computed from when each side speaks; whole microseconds, O(n log n).
"""

from __future__ import annotations

from fullduplex.measures.conversation.abutting import Abutting, abutting
from fullduplex.measures.conversation.distances import Distance, jensen_shannon, kolmogorov_smirnov, wasserstein
from fullduplex.measures.conversation.holding import Floor, Transfer, floor_of
from fullduplex.measures.conversation.published import (
    Row,
    from_earlier_row,
    from_previous_row,
    overlap_with_rows_before,
    turns_by_onset,
)
from fullduplex.measures.conversation.sides import UNIT_ENDS_AFTER, Sides, inter_pausal_units, without_units
from fullduplex.measures.conversation.silences import Silences, silences
from fullduplex.measures.conversation.standing import Standing, standing
from fullduplex.measures.conversation.statistics import (
    KINDS,
    Conversation,
    conversation_statistics,
    overlap_share,
    per_minute,
    quantile,
    seconds_per_minute,
)

__all__ = [
    "KINDS",
    "UNIT_ENDS_AFTER",
    "Abutting",
    "Conversation",
    "Distance",
    "Floor",
    "Row",
    "Sides",
    "Silences",
    "Standing",
    "Transfer",
    "abutting",
    "conversation_statistics",
    "floor_of",
    "from_earlier_row",
    "from_previous_row",
    "inter_pausal_units",
    "jensen_shannon",
    "kolmogorov_smirnov",
    "overlap_share",
    "overlap_with_rows_before",
    "per_minute",
    "quantile",
    "seconds_per_minute",
    "silences",
    "standing",
    "turns_by_onset",
    "wasserstein",
    "without_units",
]
