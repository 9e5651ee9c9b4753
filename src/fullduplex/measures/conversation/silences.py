"""The silences of a conversation: pauses inside one speaker's speech, and gaps between two speakers."""

from __future__ import annotations

from dataclasses import dataclass

from fullduplex.measures.conversation.sides import Sides
from fullduplex.model.spans import Span


@dataclass(frozen=True, slots=True)
class Silences:
    """When nobody speaks, by what lies around it; together all of the window without speech.

    ``pauses``: the same speaker goes on; ``gaps``: the other one begins; ``edges``: before the first and behind the
    last unit of the window (all of it, where nobody speaks), which lie between nothing.
    """

    pauses: tuple[Span, ...]
    gaps: tuple[Span, ...]
    edges: tuple[Span, ...]


def silences(sides: Sides) -> Silences:
    """Return the silences between units, told apart by who spoke before and who speaks after.

    A silence is a stretch in which neither side has a unit. It is a pause where a side that ended at its start begins
    again at its end, else a gap. Where both ended at the same moment, whoever goes on makes it a pause.
    Source: dGSLM. A silence of one side during which the other speaks is no pause here.
    """
    ends = [{unit.end for unit in units} for units in sides.both]
    starts = [{unit.start for unit in units} for units in sides.both]
    pauses, gaps, edges = list[Span](), list[Span](), list[Span]()
    for silence in sides.spoken.gaps(sides.window):
        if silence.start == sides.window.start or silence.end == sides.window.end:
            edges.append(silence)
        elif any(silence.start in ends[side] and silence.end in starts[side] for side in (0, 1)):
            pauses.append(silence)
        else:
            gaps.append(silence)
    return Silences(tuple(pauses), tuple(gaps), tuple(edges))
