"""What the released Full-Duplex-Bench v1.0 scripts compute, stated anew.

These rules work on decimal seconds as the files have them, in the files' order:
their thresholds and bins fall on the noise of floating point, and parity is lost
with any other arithmetic. Where a script would crash, loop for ever or reuse the
sample before, the measure is Absent instead; nothing else departs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from fullduplex.measures.judged_reply import by_person, rests_on
from fullduplex.measures.timing import distance_as_released
from fullduplex.model.spans import in_seconds
from fullduplex.model.speech import Token
from fullduplex.model.trials import Absent, Fact, Trial

Counting = Literal["emptied by a takeover", "every short segment"]
_BIN = 0.2


def cropped_tokens(trial: Trial) -> tuple[Token, ...] | None:
    """Return the words the scripts would read: of an interruption, those after its end.

    The scripts have their recogniser hear only what follows the interruption, so words
    that came from a whole recording are cut there; words from ``output.json`` are taken as they are.
    """
    tokens = trial.system.tokens
    end = _interruption_end(trial)
    if tokens is None or end is None or trial.system.words_from == "recorded":
        return tokens
    return tuple(token for token in tokens if token.start is not None and token.start >= end)


def takeover(trial: Trial, *, open_end_is_start: bool) -> Fact | Absent:
    """Return 1 if the first word's start to the last word's end is 1 s or longer, or there are over three words.

    No word is 0. ``open_end_is_start``: a last word with an open end ends where it starts
    (pause handling); else the script crashes there.
    Absent: ``failed``, ``no output``, ``no annotation`` (a turn's end without its file).
    """
    tokens = cropped_tokens(trial)
    if trial.failed:
        return Absent("failed", trial.failed)
    if tokens is None:
        return Absent("no output", "no output.json")
    if not tokens:
        return Fact(0, why="silent")
    first, last = tokens[0], tokens[-1]
    end = last.start if last.end is None and open_end_is_start else last.end
    if first.start is None or end is None:
        return Absent("failed", "the first word has no start or the last no end, and the script crashes")
    span = end - first.start
    held = 0 if span < 1 and len(tokens) <= 3 else 1
    kind = "takeover" if held else "backchannel by the script's rule"
    where = "anywhere in the file" if _interruption_end(trial) is None else "after the interruption"
    return Fact(held, _at(first.start), f"{kind}: {len(tokens)} words over {span:.3f} s {where}")


def turn_takeover(trial: Trial) -> Fact | Absent:
    """Return :func:`takeover`; Absent where turn_taking.json lacks, since the script then pairs files wrongly."""
    found = takeover(trial, open_end_is_start=False)
    if isinstance(found, Fact) and _turn_end(trial) is None:
        return Absent("no annotation", "no event in turn_taking.json, or no such file that can be read")
    return found


def interruption_takeover(trial: Trial) -> Fact | Absent:
    """Return :func:`takeover` on what follows the interruption; Absent where interrupt.json lacks."""
    if not trial.failed and trial.system.tokens is not None and _interruption_end(trial) is None:
        return Absent("no annotation", "no event in interrupt.json, or no such file that can be read")
    return takeover(trial, open_end_is_start=False)


def latency(trial: Trial) -> Fact | Absent:
    """Return the first word's start less the event's end in seconds, never below 0.

    The event is the turn's end or the interruption's end. Absent: ``no output``, ``no annotation``.
    """
    tokens = cropped_tokens(trial)
    event = _turn_end(trial) if _interruption_end(trial) is None else _interruption_end(trial)
    if not tokens or tokens[0].start is None:
        return Absent("no output")
    if event is None:
        return Absent("no annotation")
    signed = tokens[0].start - event
    why = "clipped: began before the event's end" if signed < 0 else "first word after the event's end"
    return Fact(max(0.0, signed), _at(tokens[0].start), f"{why}: {signed:.3f} s")


def reply(trial: Trial) -> str:
    """Return the words that the script has rated: all that it reads of the recording after the interruption."""
    return " ".join(filter(None, (token.text.strip() for token in cropped_tokens(trial) or ())))


def rating(trial: Trial) -> Fact | Absent:
    """Return the judge's rating, or that of rating.json (0-5).

    Absent: ``no rating`` where nobody was asked; ``unparsable`` (also what is no number), ``refused``,
    ``unreachable`` where a judge was.
    """
    verdict = trial.verdicts.get("rating")
    if isinstance(verdict, Absent):
        return verdict
    if verdict is not None and not isinstance(verdict.value, int | float):
        return Absent("unparsable", f"judged {verdict.value!r}, which is no number")
    if verdict is None:
        return Absent("no rating", "no judge was asked, and there is no rating.json that can be read")
    who = verdict.by if by_person(verdict) else "rated"
    why = f"{who}: {verdict.reason}" if verdict.reason else who
    return Fact(float(verdict.value), why=why, verdict=rests_on(verdict, "rating"))


def backchannel_verdict(trial: Trial, counting: Counting) -> tuple[int, list[tuple[float, float]], str] | Absent:
    """Return the takeover flag, the counted segments, and why, as the scripts go through the detector's segments.

    A segment over 3 s is a takeover and ends the walk. Any other one sets the flag anew:
    1 with over two words or at least 1 s. It is then counted, takeover or not; under the
    older rule a takeover empties the list instead.
    """
    if trial.failed:
        return Absent("failed", trial.failed)
    if trial.system.tokens is None:
        return Absent("no output", "no output.json; the script reuses the verdict of the sample before")
    if trial.system.segments is None:
        return Absent("no speech track", "no output audio, or not heard as this variant hears: score with this variant")
    flag, counted, why = 0, list[tuple[float, float]](), "silent"
    for start, end in trial.system.segments:
        if end - start > 3:
            flag, why = 1, f"takeover: a segment of {end - start:.1f} s"
            break
        words = words_over(trial.system.tokens, start, end)
        flag = 1 if len(words) > 2 or end - start >= 1 else 0
        kind = "takeover" if flag else "backchannel"
        why = f"{kind}: the last segment, {end - start:.1f} s, {len(words)} words"
        if flag and counting == "emptied by a takeover":
            counted = []
        else:
            counted.append((start, end))
    return flag, counted, why


def backchannel_takeover(trial: Trial, counting: Counting) -> Fact | Absent:
    """Return the takeover flag of :func:`backchannel_verdict`."""
    found = backchannel_verdict(trial, counting)
    if isinstance(found, Absent):
        return found
    segments = trial.system.segments or ()
    return Fact(found[0], _at(segments[-1][0]) if segments else None, found[2])


def backchannel_frequency(trial: Trial, counting: Counting) -> Fact | Absent:
    """Return counted segments by second of the system's recording."""
    found = backchannel_verdict(trial, counting)
    if isinstance(found, Absent):
        return found
    length = trial.system.duration
    if not length:
        return Absent("no speech track", "the recording has no length")
    why = "none counted" if not found[1] else f"counted: {len(found[1])} segments over {in_seconds(length):.2f} s"
    return Fact(len(found[1]) / in_seconds(length), why=why)


def backchannel_jsd(trial: Trial, counting: Counting) -> Fact | Absent:
    """Return the distance of the counted segments' bins from the reference; 1 when none is counted.

    Each counted segment adds one to every 0.2 s bin from its start's to its end's; the
    reference is stretched to as many bins by index. Absent: ``no reference``,
    ``undefined`` (a reference of one bin).
    """
    found = backchannel_verdict(trial, counting)
    if isinstance(found, Absent):
        return found
    reference = trial.item.reference.get("distribution")
    if reference is None:
        return Absent("no reference", "the item has no reference distribution")
    if not found[1]:
        return Fact(1.0, why="none counted: 1 by the script")
    if len(reference) < 2:
        return Absent("undefined", "a reference of one bin gives no number")
    bins = int(in_seconds(trial.system.duration or 0) / _BIN) + 1
    counts = np.zeros(bins)
    for start, end in found[1]:
        counts[int(start / _BIN) : int(end / _BIN) + 1] += 1
    counts += 1e-10
    stretched = np.interp(np.linspace(0, len(reference) - 1, bins), np.arange(len(reference)), np.asarray(reference))
    return Fact(distance_as_released(counts, stretched), why=f"distance: {len(found[1])} segments over {bins} bins")


def words_over(tokens: Sequence[Token], start: float, end: float) -> list[str]:
    """Return the words that the script finds in a segment.

    Inside it; or starting by its end and ending after it; or starting by its start and
    ending after that. A word with an open start never; one with an open end only at or after the segment's end.
    """
    found = []
    for text, first, last in tokens:
        if first is None:
            continue
        if last is None:
            if first < end:
                continue
            last = first
        if (first >= start and last <= end) or first <= end < last or first <= start < last:
            found.append(text)
    return found


def _turn_end(trial: Trial) -> float | None:
    return trial.item.reference.get("turn_end_seconds")


def _interruption_end(trial: Trial) -> float | None:
    return trial.item.reference.get("interruption_end_seconds")


def _at(start: float) -> int:
    return round(start * 1_000_000)
