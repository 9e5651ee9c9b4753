"""What a log says of the system that made it: how fast it sends, where it ran dry, how far it lags."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median_low

from fullduplex.driving.link import Happening, Note
from fullduplex.driving.placements import fit_source
from fullduplex.driving.playout import Chunk, Flush, Placed
from fullduplex.model.spans import SECOND, ms

#: A lag that grows by more than this, in seconds a second, does not stay within a listener's patience.
GROWS = 0.01
#: A frame-for-frame system that gives nothing for so long is silent; for less, it dropped a frame.
SILENT_FROM = ms(200)
#: A system in fixed units is behind where so many answers at the end came late, so that one that lingered is not it.
LAST = 3


def receive_factor(received: Iterable[Chunk | Flush], rate: int) -> float | None:
    """Return how many seconds of audio came a second, while utterances came.

    Over each id: all but the last chunk, over the time from the first chunk to the last. None where no
    utterance has two chunks, or all came at once.
    """
    by_id: dict[str, list[Chunk]] = {}
    for event in received:
        if isinstance(event, Chunk) and len(event.samples):
            by_id.setdefault(event.id, []).append(event)
    audio = sum(len(chunk.samples) for chunks in by_id.values() for chunk in chunks[:-1])
    time = sum(chunks[-1].arrived - chunks[0].arrived for chunks in by_id.values())
    return audio * SECOND / rate / time if time else None


def underruns(placed: Sequence[Placed]) -> int:
    """Return how many chunks sounded after a gap behind the chunk before them, both of one id."""
    played = [part for part in placed if part.played]
    return sum(b.start > a.end and a.played == a.size for a, b in pairwise(played) if a.chunk.id == b.chunk.id)


def samples_received(received: Iterable[Chunk | Flush]) -> int:
    """Return how many samples came."""
    return sum(len(event.samples) for event in received if isinstance(event, Chunk))


def taken_back(placed: Iterable[Placed]) -> int:
    """Return how many samples came and were taken back before they sounded, late ones not counted."""
    return sum(part.size - part.played for part in placed if not part.late)


def frame_lags(received: Iterable[Chunk | Flush], frame: int) -> dict[int, int]:
    """Return for each output frame of a frame-for-frame system how late it came, in microseconds.

    Output k can be made once input k + 1 is whole, so its lag is its arrival less ``(k + 2) * frame``.
    k is told by the chunk's source where it has one, else by counting.
    """
    chunks = [event for event in received if isinstance(event, Chunk) and len(event.samples)]
    numbers = [n if chunk.source is None else chunk.source // frame for n, chunk in enumerate(chunks)]
    return {k: chunk.arrived - (k + 2) * frame for k, chunk in zip(numbers, chunks, strict=True)}


def missing_frames(lags: Iterable[int]) -> tuple[int, ...]:
    """Return the numbers of output frames that never came, though later ones did."""
    there = set(lags)
    return tuple(k for k in range(max(there, default=-1)) if k not in there)


def output_lags(received: Iterable[Chunk | Flush], frame: int, *, sourced: bool) -> dict[int, int]:
    """Return for each input frame that was answered how long after it was whole the output came, in microseconds.

    Keys count input frames from 1. ``sourced``: a chunk's ``source`` is the end of the frame that it answers, or lies
    as far behind it as the chunk lies in its frame; else the n-th chunk answers the n-th frame. The latest chunk of a
    frame counts.
    """
    lags: dict[int, int] = {}
    for n, chunk in enumerate(c for c in received if isinstance(c, Chunk) and len(c.samples)):
        at = chunk.source if sourced and chunk.source is not None else (n + 1) * frame
        lags[at // frame] = max(lags.get(at // frame, chunk.arrived - at), chunk.arrived - at)
    return lags


def decision_lags(events: Iterable[Happening]) -> dict[int, int]:
    """Return for each input unit that was answered how long after its end the answer came, in microseconds.

    Keys are the ends of the units, in order, by the ``source`` of what came: of a chunk of sound, or of a note, which
    also tells that it decided to listen. What came first of an answer counts; what has no source answers no unit.
    """
    lags: dict[int, int] = {}
    for event in events:
        if isinstance(event, Chunk | Note) and event.source is not None:
            lag = event.arrived - event.source
            lags[event.source] = min(lags.get(event.source, lag), lag)
    return dict(sorted(lags.items()))


def unit_of(lags: dict[int, int]) -> int:
    """Return how long a unit is, in microseconds: the median step from one end to the next; 0 of fewer than two."""
    steps = [b - a for a, b in pairwise(sorted(lags))]
    return median_low(steps) if steps else 0


def dropped_frames(lags: dict[int, int], frame: int) -> tuple[int, ...]:
    """Return the input frames without an answer between answered ones.

    A gap of :data:`SILENT_FROM` or longer is the system's own silence, and counts for nothing.
    """
    gaps = [(a, b) for a, b in pairwise(sorted(lags)) if b > a + 1 and (b - a - 1) * frame < SILENT_FROM]
    return tuple(k for a, b in gaps for k in range(a + 1, b))


def growth(lags: dict[int, int], frame: int) -> float:
    """Return by how many seconds a second the lag grows: 0.3 of a system that needs 1.3 times real time."""
    line = fit_source((k * frame, lag) for k, lag in lags.items())
    return 0.0 if line is None else line.slope


def falls_behind(lags: dict[int, int], frame: int, *, unit: int = 0) -> bool:
    """Return whether the lag grows by more than :data:`GROWS`, so that its times say how long it has run.

    ``unit``: of a system that answers units so long, its :data:`LAST` answers have to be later than a unit, too.
    Speaking takes it longer than listening, so its lag rises where it begins to speak; but where each unit is answered
    before the next is whole, nothing piles up.
    """
    late = min([lags[k] for k in sorted(lags)[-LAST:]], default=0) > unit
    return growth(lags, frame) > GROWS and (late or not unit)


def at_once(arrivals: Sequence[int], within: int) -> int:
    """Return the greatest number of arrivals in any stretch of ``within``."""
    most = first = 0
    for n, time in enumerate(arrivals):
        while time - arrivals[first] >= within:
            first += 1
        most = max(most, n - first + 1)
    return most
