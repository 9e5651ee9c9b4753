"""What is kept of one attempt at a talk: both voices, the log, and the record, which is written last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.dataset import Entry
from fullduplex.data.fdb_folder import transcript
from fullduplex.data.files import read_json, write_json
from fullduplex.driving import keep
from fullduplex.driving.heard import words_heard
from fullduplex.driving.link import Note, Said, System, Timing
from fullduplex.driving.observe import (
    decision_lags,
    dropped_frames,
    falls_behind,
    growth,
    output_lags,
    receive_factor,
    samples_received,
    taken_back,
    underruns,
    unit_of,
)
from fullduplex.driving.placements import fit_source, parts_by, seconds_apart, source_points
from fullduplex.driving.talk import Talk
from fullduplex.model.items import Event
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Token
from fullduplex.runs.stimulus import Stimulus
from fullduplex.runs.told import DONE

SCHEMA = 1
LATENESS, REPORTED, REPORTED_OUTPUT = "lateness.json", "reported.json", "reported_output.json"
#: All that an attempt leaves, the record first.
KEPT = (
    DONE, "input.wav", "sent.flac", "output.wav", keep.LOG, keep.AUDIO, LATENESS, REPORTED, REPORTED_OUTPUT,
)  # fmt: skip


def write_attempt(
    folder: Path, talk: Talk | None, about: Mapping[str, Any], system: System, asked: Stimulus, entry: Entry
) -> None:
    """Write what is known of an attempt into ``folder``; ``talk.json`` last.

    ``about`` is what its record says beside what the talk itself tells; ``talk`` is None of one that never began.
    """
    folder.mkdir(parents=True, exist_ok=True)
    # Nothing of another attempt may be taken for this one's; the record goes first.
    for name in KEPT:
        (folder / name).unlink(missing_ok=True)
    told: dict[str, Any] = {"schema": SCHEMA}
    if talk is not None:
        told = keep.about(talk)
        audio.write(folder / "input.wav", talk.user, talk.user_rate)
        if talk.sent is not talk.user:
            audio.write(folder / "sent.flac", talk.sent, talk.user_rate)
        audio.write(folder / "output.wav", talk.system, talk.rate)
        keep.write_received(folder, talk)
        write_json(folder / LATENESS, told["pacing"].pop("lateness"))
        told["stages"] = [dict(note.data) for note in talk.notes if isinstance(note, Note) and note.kind == "stage"]
        told["received"] = _received(talk, system.traits.timing, system.traits.source == "session")
        told["clocks"] = _clocks(talk, system.traits.source == "session")
        for turn, cue in zip(told["turns"], asked.cues, strict=False):
            turn["event"] = cue.event
        for turn in told["turns"] if asked.events else ():
            turn["event"] = asked.events.get(turn["id"], "")
        _write_reported(folder, talk, events_in(told), system.spec.name, entry)
    write_json(folder / DONE, told | dict(about))


def events_in(told: Mapping[str, Any]) -> tuple[Event, ...]:
    """Return the events that the turns of a talk's record came to be, where they really fell."""
    last = seconds(told.get("duration", 0.0))
    return tuple(
        # What the end of the talk cut off was not said.
        Event(turn["event"], Span(start, max(start + 1, min(end, last))), turn["text"])
        for turn in told.get("turns", ())
        if turn.get("event") and turn["timestamp"]
        for start, end in [map(seconds, turn["timestamp"])]
    )


def _write_reported(folder: Path, talk: Talk, events: Sequence[Event], system: str, entry: Entry) -> None:
    """Write the words that the system reported of itself, where it says when each sounded.

    A system that made no sound said no word, and of one that was cut short nobody may have heard a whole
    one. A system that sounded and reports no words has told nothing.
    """
    words = words_heard(talk.placed, talk.notes, talk.rate, length=talk.duration)
    tells = any(isinstance(note, Said) and note.who == "system" and note.words for note in talk.notes)
    if not tells and talk.system.any():
        return
    rows = [[word.text, in_seconds(word.span.start), in_seconds(word.span.end), None] for word in words]
    tracks = {"output": {"from": f"reported by {system}", "words": rows}}
    write_json(folder / REPORTED, {"schema": 1, "spec": None, "digest": digest(tracks), "tracks": tracks})
    # The released scripts see only what follows an interruption.
    ends = [event.span.end for event in events if event.kind == "interruption"]
    given = entry.files.get("interrupt.json")
    if not ends and given is not None:
        ends = [seconds(read_json(given)[0]["timestamp"][1])]
    after = ends[0] if ends else 0
    tokens = tuple(
        Token(w.text, in_seconds(w.span.start), in_seconds(w.span.end)) for w in words if w.span.start >= after
    )
    write_json(folder / REPORTED_OUTPUT, transcript(tokens))


def _received(talk: Talk, timing: Timing, sourced: bool) -> dict[str, Any]:
    """Return what came, and whether it kept to what the system says of itself; times in decimal seconds."""
    factor = receive_factor(talk.received, talk.rate)
    told: dict[str, Any] = {
        "seconds": round(samples_received(talk.received) / talk.rate, 6),
        "taken_back": round(taken_back(talk.placed) / talk.rate, 6),
        "receive_factor": None if factor is None else round(factor, 3),
        "underruns": underruns(talk.placed),
    }
    if timing == "sync":
        frame = talk.pacing.frame
        lags = output_lags(talk.received, frame, sourced=sourced)
        told |= {"lag_growth": round(growth(lags, frame), 4), "falls_behind": falls_behind(lags, frame)}
        told["missing_frames"] = len(dropped_frames(lags, frame))
    if timing == "unit" and sourced:
        lags = decision_lags((*talk.received, *talk.notes))
        told |= {"lag_growth": round(growth(lags, 1), 4), "falls_behind": falls_behind(lags, 1, unit=unit_of(lags))}
        told["decision_lag"] = _decisions(lags)
    return told


def _decisions(lags: Mapping[int, int]) -> dict[str, Any] | None:
    """Return how late units were answered: median, p90, and each unit's end with its lag; None where none was."""
    if not lags:
        return None
    late = list(lags.values())
    return {
        "median": round(float(np.median(late)) / SECOND, 6),
        "p90": round(float(np.percentile(late, 90)) / SECOND, 6),
        "units": [[in_seconds(end), in_seconds(lag)] for end, lag in lags.items()],
    }


def _clocks(talk: Talk, source: bool) -> dict[str, Any]:
    """Return for how many seconds each other clock places the audio differently, and the source clock's line."""
    told: dict[str, Any] = {}
    for clock in ("arrival", "source") if source else ("arrival",):
        other = parts_by(clock, talk.received, talk.rate)
        told[clock] = round(seconds_apart(talk.placed, other, talk.rate), 6)
    fit = fit_source(source_points(talk.received)) if source else None
    if fit is not None:
        worst = max(map(abs, fit.residuals))
        told["source_fit"] = {
            "slope": round(fit.slope, 9),
            "offset": round(fit.offset / SECOND, 6),
            "worst_residual": round(worst / SECOND, 6),
        }
    return told
