"""Which stretches of a talk's sound are measured: the system's reply to each of the user's turns."""

from __future__ import annotations

from collections.abc import Mapping

from fullduplex.benchmarks.declare import Stretch
from fullduplex.measures.exchange_ground import is_backchannel_turn
from fullduplex.measures.interaction import scene
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Absent, Trial


def replies(trial: Trial) -> Mapping[str, Stretch]:
    """Return the system's sound from the end of each of the user's turns to the start of the next, by the turn's id.

    Backchannels of the user's (``b0``) end no reply and begin none. A turn's end is its audio's, so that nothing but
    where the turns fell decides what is measured. Nothing for a turn that never fell, or that the next one meets.
    """
    found = scene(trial)
    if isinstance(found, Absent):
        return {}
    turns = [turn for turn in found.turns if not is_backchannel_turn(turn)]
    made: dict[str, Stretch] = {}
    for n, turn in enumerate(turns):
        if turn.span is None:
            continue
        following = next((later.span.start for later in turns[n + 1 :] if later.span is not None), None)
        if following is None or following > turn.span.end:
            end = None if following is None else in_seconds(following)
            made[turn.id] = Stretch("system", in_seconds(turn.span.end), end)
    return made
