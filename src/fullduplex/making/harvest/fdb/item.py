"""An item as Full-Duplex-Bench lays it out: its annotation, and its sound where that may be had.

All JSON follows from the conversation and the rules; ``input.wav`` and ``output.wav`` follow from ``script.json`` and
the recordings, so that whoever has the corpus makes the same files again. Who speaks is told nowhere: a side is 1 or 2,
a conversation a digest of its name, and texts are without what :mod:`~fullduplex.making.harvest.withheld` puts out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.audio import Samples
from fullduplex.data.corpora.conversation import Recording
from fullduplex.data.fdb_folder import transcript
from fullduplex.data.files import write_json
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.floor import SPEECH, WORDS, Party
from fullduplex.making.harvest.fdb.places import Place, sounds
from fullduplex.making.harvest.fdb.ranking import Score
from fullduplex.making.harvest.fdb.rules import INTERRUPT, LISTEN, PAUSE, TURN, FdbRules
from fullduplex.making.harvest.item import MAKER, ROOM, Sounds
from fullduplex.making.harvest.withheld import Withheld
from fullduplex.making.item_folder import made_here, whole_folder
from fullduplex.making.joining import times
from fullduplex.measures.listeners.panel import Panel, likelihood, normalised
from fullduplex.measures.timing import WINDOW
from fullduplex.model.spans import SECOND, Span, Timeline, in_seconds, ms, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Token
from fullduplex.model.trials import Absent

SCRIPT = "script.json"
#: Around an event that is put out of the clean twin.
_EDGE = ms(50)
_RELEASES = {"1.0": "Full-Duplex-Bench v1.0", "1.5": "Full-Duplex-Bench v1.5"}


@dataclass(frozen=True, slots=True)
class Origin:
    """What is the same for every item of a conversation. ``language``: what is spoken, as two letters, "" untold."""

    corpus: str
    licence: str
    where: str
    rules_name: str
    rules: FdbRules
    withheld: Withheld
    language: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """A side's recording as it was harvested: its SHA-256 and its rate."""

    recording: Recording
    sha256: str
    rate: int


def cluster_of(conversation: str) -> str:
    """Return what stands for a conversation's name, which may tell who speaks: 24 digits of its SHA-256."""
    return hashlib.sha256(conversation.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def id_of(place: Place) -> str:
    """Return an item's name. Items of one conversation end alike, which makes them one cluster of intervals."""
    cluster = cluster_of(place.floor.name)
    return f"{cluster[:8]}-{place.user.number}-{place.heard.start // 1000:07d}_{cluster}"


def annotated(place: Place, score: Score, origin: Origin, sources: Sequence[Source | None]) -> dict[str, Any]:
    """Return the JSON files of an item by name; none depends on whether its sound is written."""
    made: dict[str, Any] = {**_events(place, origin), **_words(place, origin)}
    parties = {"user": (place.user, place.heard), "partner": (place.partner, place.clip)}
    script = {
        "made_for": MAKER,
        "layout": _RELEASES[origin.rules.release],
        "dataset": place.task,
        "id": id_of(place),
        "recording": {
            "conversation": cluster_of(place.floor.name),
            **{role: _cut(party, span, sources[party.number - 1]) for role, (party, span) in parties.items()},
            "silence_after": in_seconds(place.after),
            "erased": [times(one) for one in _erased(place, origin)],
            "parts": _parts(place, origin),
        },
        "corpus": origin.corpus,
        "licence": origin.licence,
        "where": origin.where,
        "rules": origin.rules_name,
        "language": origin.language,
        "doubts": [place.floor.cut] if place.floor.cut else [],
        "turns": {role: party.told_by for role, (party, _) in parties.items()},
        "words": {role: party.side.words_from for role, (party, _) in parties.items()},
        "score": score.to_json(),
        **({"listener": _listener(place)} if place.task == LISTEN else {}),
    }
    made[SCRIPT] = {"digest": digest([made, script, origin.rules.to_json()]), **script}
    return made


def _cut(party: Party, span: Span, source: Source | None) -> dict[str, Any]:
    recording = party.side.recording
    return {
        "side": party.number,
        "channel": None if recording is None else recording.channel + 1,
        "start": in_seconds(span.start),
        "end": in_seconds(span.end),
        "sha256": None if source is None else source.sha256,
        "rate": None if source is None else source.rate,
    }


def _at(place: Place, span: Span) -> list[float]:
    return times(span.shift(-place.clip.start))


def _events(place: Place, origin: Origin) -> dict[str, Any]:
    spans = [_at(place, span) for span in place.events]
    if place.task == PAUSE:
        return {"pause.json": [{"text": "[PAUSE]", "timestamp": span} for span in spans]}
    if place.task == TURN:
        return {"turn_taking.json": [{"text": "[TURN-TAKING]", "timestamp": span} for span in spans]}
    if place.task == LISTEN:
        return {}
    before = "" if place.earlier is None else origin.withheld.text(place.earlier.text or "")
    said = origin.withheld.text(place.turn.text or "")
    if _is_v10_interruption(place, origin):
        return {"interrupt.json": [{"context": before, "interrupt": said, "timestamp": span} for span in spans]}
    return {"metadata.json": {"context_text": before, "current_turn_text": said, "timestamps": spans[0]}}


def _is_v10_interruption(place: Place, origin: Origin) -> bool:
    return place.task == INTERRUPT and origin.rules.release == "1.0"


def _words(place: Place, origin: Origin) -> dict[str, Any]:
    """Return the transcripts: of words where both sides have their times, else where each is heard to speak."""
    told = (("input.json", place.user, place.heard), ("output.json", place.partner, place.clip))
    if all(party.told_by == WORDS for _, party, _ in told):
        tokens = {name: _tokens(party, span, place, origin.withheld) for name, party, span in told}
        rows = [{"speaker": n, "item": transcript(tokens[name])["chunks"]} for n, (name, _, _) in enumerate(told)]
        if _is_v10_interruption(place, origin):
            # Released scripts read what is said after the interruption alone; all of it is in transcription.json.
            since = in_seconds(place.turn.span.end - place.clip.start)
            later = tuple(one for one in tokens["output.json"] if one.start is not None and one.start >= since)
            tokens["output.json"] = later
        return {**{name: transcript(said) for name, said in tokens.items()}, "transcription.json": rows}
    if all(party.told_by == SPEECH for _, party, _ in told):
        heard = {
            name.removesuffix(".json"): [_at(place, one) for one in sounds(party).within(span)]
            for name, party, span in told
        }
        return {"vad.json": heard}
    return {}


def _tokens(party: Party, span: Span, place: Place, withheld: Withheld) -> tuple[Token, ...]:
    inside = [(word, part) for word in party.words if (part := word.span & span) and word.span.start >= span.start]
    texts = withheld.words([word.text for word, _ in inside])
    return tuple(Token(text, *_at(place, part)) for text, (_, part) in zip(texts, inside, strict=True))


def _erased(place: Place, origin: Origin) -> list[Span]:
    """Return what the clean twin is silent in, on the item's clock."""
    if origin.rules.release != "1.5":
        return []
    return [
        Span(max(0, one.start - _EDGE - place.clip.start), one.end + _EDGE - place.clip.start) for one in place.events
    ]


def _parts(place: Place, origin: Origin) -> dict[str, list[float]]:
    """Return what is written apart too, on the item's clock: the context and the interruption of v1.0."""
    if not _is_v10_interruption(place, origin):
        return {}
    told = {"interrupt.wav": place.turn.span}
    if place.earlier is not None:
        told["context.wav"] = place.earlier.span
    return {name: _at(place, span) for name, span in told.items()}


def _listener(place: Place) -> dict[str, Any]:
    """Return the partner's backchannels, and the distribution Q that they make: their share in windows of 200 ms.

    A panel of one listener, the partner: a window counts where a backchannel sounds in it.
    """
    spans = tuple(one.shift(-place.clip.start) for one in place.events)
    shares = likelihood(Panel("", place.clip.duration, {"partner": spans}), by="span")
    found = shares if isinstance(shares, Absent) else normalised(shares)
    return {
        "by": "the partner's own backchannels, over their duration; no panel",
        "backchannels": [times(one) for one in spans],
        "window": in_seconds(WINDOW),
        "distribution": [] if isinstance(found, Absent) else [float(each) for each in found],
    }


def sound_files(script: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the sounds of an item."""
    told = script["recording"]
    twin = ("clean_input.wav",) if told["erased"] else ()
    return ("input.wav", "output.wav", *twin, *sorted(told["parts"]))


def write_fdb_item(
    folder: Path, files: Mapping[str, Any], recordings: Sequence[Recording] | None, reading: Sounds
) -> None:
    """Write an item, whole or not at all: its annotation; with the ``recordings`` of user and partner its sound too.

    Raises :class:`InputError` where the folder holds what was not made here, or a recording cannot be cut.
    """
    if folder.exists() and not made_here(folder, MAKER):
        found = "a folder that harvest did not make"
        raise InputError(folder, found=found, expected="a new folder", do="choose another --out")
    made = {} if recordings is None else _sound(files[SCRIPT], recordings, reading)
    with whole_folder(folder) as half:
        for name, (samples, rate, subtype) in made.items():
            audio.write(half / name, samples, rate, subtype)
        for name, value in files.items():
            write_json(half / name, value)


def _sound(
    script: Mapping[str, Any], recordings: Sequence[Recording], reading: Sounds
) -> dict[str, tuple[Samples, int, str]]:
    told = script["recording"]
    its = told["user"]
    user, rate, coding = reading.cut(recordings[0], its["start"], its["end"], its["end"] - ROOM)
    length = seconds(told["user"]["end"]) + seconds(told["silence_after"]) - seconds(told["user"]["start"])
    whole = _padded(user, length, rate)
    # What the partner does has an end where the recording has one.
    its = told["partner"]
    partner, its_rate, its_coding = reading.cut(recordings[1], its["start"], its["end"], its["start"])
    made = {
        "input.wav": (whole, rate, coding),
        "output.wav": (_padded(partner, length, its_rate), its_rate, its_coding),
    }
    if told["erased"]:
        made["clean_input.wav"] = (_silenced(whole, rate, told["erased"]), rate, coding)
    for name, (start, end) in told["parts"].items():
        made[name] = (whole[_sample(seconds(start), rate) : _sample(seconds(end), rate)], rate, coding)
    return made


def _sample(time: int, rate: int) -> int:
    return time * rate // SECOND


def _padded(samples: Samples, length: int, rate: int) -> Samples:
    """Return samples with digital silence behind them, up to ``length``: where a recording has ended, too."""
    return np.pad(samples, (0, max(0, _sample(length, rate) - len(samples))))


def _silenced(samples: Samples, rate: int, spans: Iterable[Sequence[float]]) -> Samples:
    made = samples.copy()
    for span in Timeline(Span(seconds(start), seconds(end)) for start, end in spans):
        made[_sample(span.start, rate) : _sample(span.end, rate)] = 0
    return made
