"""An item's words, speech and events as labels on one clock, for Audacity and for diarisation tools."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fullduplex.data.names import as_file_name
from fullduplex.model.spans import SECOND, Span, seconds
from fullduplex.model.speech import Track
from fullduplex.model.trials import Trial
from fullduplex.runs.stored import StoredItem

# Controls, line and paragraph separators; half a surrogate pair has no bytes in UTF-8.
_NOT_A_LABEL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class Label(NamedTuple):
    """A stretch of time and what to call it."""

    span: Span
    text: str


def tiers(trial: Trial) -> dict[str, list[Label]]:
    """Return the five tiers of ``trial``, each in order of time: words and speech of both voices, and events.

    A tier is empty both where a voice was silent and where nobody listened.
    """
    found: dict[str, list[Label]] = {}
    for voice, track in (("user", trial.user), ("system", trial.system)):
        found[f"{voice} words"] = [Label(word.span, one_line(word.text)) for word in track.words or ()]
        found[f"{voice} speech"] = [Label(span, "speech") for span in _segments(track)]
    found["events"] = [
        Label(event.span, one_line(f"{event.kind}: {event.text}" if event.text else event.kind))
        for event in sorted(trial.events, key=lambda event: event.span)
    ]
    return found


def audacity(trial: Trial) -> str:
    """Return ``trial`` as an Audacity label track: start, end and label a line, in order of time.

    Times are decimal seconds on the session clock. A label begins with its tier:
    ``user words: hello``, ``system speech``, ``events: pause``.
    """
    lines = []
    for tier, labels in tiers(trial).items():
        for span, label in labels:
            lines.append((span, tier if label == "speech" and tier.endswith("speech") else f"{tier}: {label}"))
    lines.sort()
    return "".join(f"{decimal(span.start)}\t{decimal(span.end)}\t{label}\n" for span, label in lines)


def rttm(item: StoredItem) -> Iterator[str]:
    """Yield the lines of RTTM for ``item``: a SPEAKER line for each stretch of speech of ``user`` and ``system``.

    Overlapping and touching segments of one voice are joined. The file's id is
    ``SET/ID``, each percent-escaped so that it holds no space.
    """
    name = "/".join(as_file_name(part).replace(" ", "%20") for part in (item.set, item.id))
    spans = [(span, "user") for span in item.trial.user.speech or ()]
    spans += [(span, "system") for span in item.trial.system.speech or ()]
    for span, voice in sorted(spans):
        times = f"{decimal(span.start)} {decimal(span.duration)}"
        yield f"SPEAKER {name} 1 {times} <NA> <NA> {voice} <NA> <NA>\n"


def one_line(text: str) -> str:
    """Return ``text`` without line breaks, tabs and other control characters: each becomes a space.

    Half a surrogate pair becomes ``U+FFFD``, for it cannot be written. Spaces at the ends go.
    """
    return _NOT_A_LABEL.sub(lambda m: "\ufffd" if m[0] >= "\ud800" else " ", text).strip()


def decimal(time: int) -> str:
    """Return a time in decimal seconds with all six places, exactly."""
    whole, part = divmod(abs(time), SECOND)
    return f"{'-' if time < 0 else ''}{whole}.{part:06d}"


def _segments(track: Track) -> list[Span]:
    # Rounding to a decimal place can leave a detector's segment no length.
    times = ((seconds(start), seconds(end)) for start, end in track.segments or ())
    return sorted(Span(start, end) for start, end in times if start < end)
