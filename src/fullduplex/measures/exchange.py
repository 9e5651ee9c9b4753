"""The five timing scenarios of an interaction, under one name: what is measured of each, and with which thresholds.

* backchannel: :func:`backchannel_passed`, :func:`acknowledgements`, :func:`floor_take`; judged: :func:`candidates`
* pause: :func:`pause_passed`, :func:`barge_in`
* turn-taking: :func:`turn_taken`, :func:`reply_lag`, :func:`turn_latency`, :func:`started_early`
* user backchannel: :func:`user_backchannel_passed`, :func:`derailed`; judged: :func:`undecided`
* interruption: :func:`interruption_passed`, :func:`yielded`, :func:`addressed`, :func:`exercised`,
  :func:`injection_delay`, :func:`uncounted_reply`; judged: :func:`replies`
* any of several turns: :func:`released_while_speaking`

Source: the rules of the InteractionBench page, with :data:`PAGE` as thresholds; :class:`Limits` are ours.
"""

from __future__ import annotations

from fullduplex.measures.exchange_backchannels import (
    Outcome,
    acknowledgements,
    backchannel_passed,
    candidates,
    derailed,
    floor_take,
    outcomes,
    undecided,
    user_backchannel_passed,
)
from fullduplex.measures.exchange_ground import (
    EARLY_STARTS,
    LENIENT_PAUSE_WORDS,
    PAGE,
    Heard,
    Limits,
    heard,
    turn_end,
)
from fullduplex.measures.exchange_interruptions import (
    addressed,
    exercised,
    injection_delay,
    interruption_passed,
    released_while_speaking,
    replies,
    replies_key,
    uncounted_reply,
    yielded,
)
from fullduplex.measures.exchange_waiting import (
    barge_in,
    pause_passed,
    reply_lag,
    started_early,
    turn_latency,
    turn_taken,
)

__all__ = [
    "EARLY_STARTS",
    "LENIENT_PAUSE_WORDS",
    "PAGE",
    "Heard",
    "Limits",
    "Outcome",
    "acknowledgements",
    "addressed",
    "backchannel_passed",
    "barge_in",
    "candidates",
    "derailed",
    "exercised",
    "floor_take",
    "heard",
    "injection_delay",
    "interruption_passed",
    "outcomes",
    "pause_passed",
    "released_while_speaking",
    "replies",
    "replies_key",
    "reply_lag",
    "started_early",
    "turn_end",
    "turn_latency",
    "turn_taken",
    "uncounted_reply",
    "undecided",
    "user_backchannel_passed",
    "yielded",
]
