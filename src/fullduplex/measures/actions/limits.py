"""The thresholds of the measures of actions: none of them is the publication's, which prints none."""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.floor import JOINED_WITHIN
from fullduplex.model.spans import ms, seconds

#: The words that a brief token may have where the lenient reading allows it.
LENIENT_WORDS = 3


@dataclass(frozen=True, slots=True)
class Limits:
    """Every threshold of the eight actions; times in microseconds, those of words are counts. All are ours.

    The publication names a wait interval and a response interval and says of neither how long it is.
    """

    # Silences of at most this long (included) lie inside an utterance; a longer one is silence.
    joined_within: int = JOINED_WITHIN
    # An utterance of at least this long (included) is substantive, whatever its words.
    substantive_from: int = seconds(1)
    # One of more words than this (exclusive) is substantive, however short; a brief token has at most so many.
    brief_words: int = 3
    # Wait, Ignore: brief tokens of at most so many words (included) are allowed; 0: no sound is.
    allowed_words: int = 0
    # Take turn: a response begins at the earliest so long before the turn's end (included). Slight overlap begins at
    # its mark instead. Backchannel: what begins so late in the turn is the answer to it, and takes no floor.
    early: int = ms(200)
    # Take turn: it begins at the latest so long after the turn's end (included): immediate and slight overlap ...
    immediate_within: int = seconds(2)
    # ... and delayed, of which the publication says that a later response is right.
    delayed_within: int = seconds(4)
    # Backchannel: the token begins at the earliest so long before its mark (included) ...
    token_before: int = ms(200)
    # ... and at the latest so long after the mark's end (included), always within the user's turn.
    token_after: int = seconds(1.5)
    # Backchannel: speech from before the turn may be heard so long into it (included); then it holds the floor.
    greeting: int = seconds(1)
    # Stop: the speech that was interrupted ends at the latest so long after the interruption's end (included).
    stops_within: int = seconds(3)
    # Hold floor: a silence longer than this (exclusive) ...
    silence_over: int = seconds(1)
    # ... that begins at the latest so long after the event's end (included) is no holding.
    holds_until: int = seconds(2)
    # Interrupt: it begins at the earliest so long before the target point (included), and before the turn's end.
    breaks_in_before: int = seconds(1)
    # Recover: a response begins at the latest so long after the interruption's end (included).
    recovers_within: int = seconds(4)
    # Stop, Recover: what begins at most so long before the interruption's end (included) answers it.
    reply_lead: int = seconds(1)
    # Where nothing was said, it takes a recording that lasts so long after the user (included) to say so.
    reply_within: int = seconds(4)
