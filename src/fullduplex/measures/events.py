"""Events that nobody annotated, found on the user's channel by a stated rule."""

from __future__ import annotations

from itertools import pairwise

from fullduplex.model.items import Event
from fullduplex.model.spans import Span, Timeline, ms, seconds

#: A silence of the user counts as a pause from this long on (Full-Duplex-Bench's own lower bound).
PAUSE_AT_LEAST = ms(400)
#: The user's speech must sound at least this long on each side of a pause, together.
SPEECH_AT_LEAST = ms(300)
#: A silence longer than this is not a pause inside a turn.
PAUSE_AT_MOST = seconds(3)

RULES = {
    "pause_handling": "the longest silence of 0.4-3 s between two stretches of the user's speech",
    "smooth_turn_taking": "the end of the user's last speech",
    "user_interruption": "the end of the user's last speech; the onset is not known",
    "backchannel": "none needed",
}


def inferred(task: str, user: Timeline | None) -> tuple[Event, ...]:
    """Return the events of ``task`` that ``user``'s speech shows, each naming its rule as its source.

    ``pause_handling``: one ``pause``; ``smooth_turn_taking`` and ``user_interruption``:
    one ``user_end``, a span of one microsecond at the end of the user's last
    speech. An interruption's onset is never guessed. Nothing when the user was not heard.
    Source: own.
    """
    if user is None:
        return ()
    spans = [span for span in user.bridge(ms(100)) if span.duration >= ms(100)]
    if not spans:
        return ()
    if task == "pause_handling":
        return _longest_pause(spans)
    if task in ("smooth_turn_taking", "user_interruption"):
        end = spans[-1].end
        return (Event("user_end", Span(end - 1, end), source=RULES[task]),)
    return ()


def _longest_pause(spans: list[Span]) -> tuple[Event, ...]:
    total = sum(span.duration for span in spans)
    before, best = 0, None
    for left, right in pairwise(spans):
        before += left.duration
        gap = right.start - left.end
        enough = before >= SPEECH_AT_LEAST and total - before >= SPEECH_AT_LEAST
        if enough and PAUSE_AT_LEAST <= gap <= PAUSE_AT_MOST and (best is None or gap > best.duration):
            best = Span(left.end, right.start)
    return () if best is None else (Event("pause", best, source=RULES["pause_handling"]),)
