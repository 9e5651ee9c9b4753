"""A harvested item on disk: what it calls for, where its sound is, and, where that may be had, the sound itself.

``interaction.json`` and ``script.json`` are the annotation; ``cues.json`` and ``u0.wav`` follow from it and from the
recording, so that whoever has the corpus can make the very same files again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data import audio
from fullduplex.data.audio import Samples
from fullduplex.data.corpora.conversation import Recording
from fullduplex.data.files import read_json, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.names import as_file_name
from fullduplex.driving.cues import at
from fullduplex.errors import InputError
from fullduplex.making.acting.cues import PATIENCE, PLACES, PROMPT, QUIET
from fullduplex.making.harvest.candidates import Candidate
from fullduplex.making.harvest.rules import Rules
from fullduplex.making.interaction_cues import CAP, LEAD
from fullduplex.making.item_folder import made_here, whole_folder
from fullduplex.making.joining import times
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds
from fullduplex.model.spec import digest

MAKER = "harvest"
#: What an item consists of once its sound is there.
FILES = ("cues.json", INTERACTION, "u0.wav")
#: A recording may end so long before a clip does: there is no more silence around the last words than that.
ROOM = 0.25
#: So many words of what the other side said are told.
_TOLD = 30
_INTEGERS = {"PCM_U8", "PCM_S8", "PCM_16", "ULAW", "ALAW", "IMA_ADPCM", "GSM610"}
_TARGETS = {
    "wait_intra_pause": "Respond to the whole sentence, what came before the pause and what came after it.",
    "wait_inter_pause": "Respond to all of the turn, what came before the pause and what came after it.",
    "wait_continuous": "Respond to all of what was said, its end included.",
    "backchannel_affirmative": "Show attention, understanding or agreement briefly, as a listener did here with “{}”, "
    "and later respond to all of the turn in keeping with that.",
    "backchannel_uncertainty": "Show doubt, surprise or hesitation briefly, as a listener did here with “{}”, and "
    "later respond to all of the turn in keeping with that.",
    "take_turn_slight_overlap": "Respond to what the turn is about; its last words change nothing. The person who was "
    "asked answered: “{}”",
}


@dataclass(frozen=True, slots=True)
class Found:
    """A candidate that became an item. ``by`` says who decided what it means, and ``reason`` why, "" where not told.

    ``sha256`` and ``rate`` are the recording's, None where it is not at hand.
    """

    candidate: Candidate
    condition: str
    by: str
    reason: str = ""
    sha256: str | None = None
    rate: int | None = None

    @property
    def dataset(self) -> str:
        """Return the folder that items of its condition lie in."""
        return f"da_{self.condition}"

    @property
    def id(self) -> str:
        """Return the item's name. Items of one conversation end alike, which makes them one cluster of intervals."""
        talk, side = self.candidate.talk.name, self.candidate.voice.side.name
        cluster = hashlib.sha256(talk.encode("utf-8", "surrogatepass")).hexdigest()[:24]
        return f"{talk}-{side}-{self.candidate.mark.start // 1000:07d}_{cluster}"

    def folder(self, out: Path) -> Path:
        """Return where the item lies; no conversation's name can lead out of ``out``."""
        return out / self.dataset / as_file_name(self.id)


@dataclass(frozen=True, slots=True)
class About:
    """What is the same for every item of a harvest."""

    corpus: str
    rules_name: str
    rules: Rules
    setting: str
    licence: str
    origin: str


def clip_of(candidate: Candidate, rules: Rules) -> Span:
    """Return what is cut out of the recording: the words, and a little of the silence around them."""
    words, span = candidate.voice.words, candidate.span
    before = span.start - (words[candidate.first - 1].span.end if candidate.first else 0)
    after = words[candidate.last].span.start - span.end if candidate.last < len(words) else 2 * rules.around
    first = 1 if candidate.first == 0 else 2
    start = span.start - max(0, min(rules.around, before // first))
    end = span.end + max(0, min(rules.around, after // 2))
    return Span(max(0, start), max(end, candidate.mark.end))


def annotation(found: Found, about: About) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return interaction.json and script.json of an item; neither depends on whether its sound is written."""
    candidate = found.candidate
    clip = clip_of(candidate, about.rules)
    start, end = times(candidate.mark.shift(-clip.start))
    reply = " ".join(candidate.reply.split()[:_TOLD])
    weak = "by rules on words, which hear no prosody" if found.by == "rule" else "by a language model, from words alone"
    told = {
        "schema": 1,
        "scenario": found.condition,
        "category": _category(found.condition),
        "topic": "",
        "setting": about.setting,
        "origin": "recorded",
        "instructed": "not",
        "synthesised": False,
        "instruction": prompt_for(about.setting),
        "target": _TARGETS[found.condition].format(reply),
        "marks": [
            {"cue": "u0", "start": start, "end": end, "kind": candidate.kind, "text": reply_in_mark(candidate)}
        ],
        "script": [{"who": "user", "text": candidate.text, "cue": "u0"}],
        "notes": f"semantic: {weak}; sentences: {candidate.voice.boundaries}; words: {candidate.voice.side.words_from}",
    }  # fmt: skip
    recording = candidate.voice.side.recording
    source = {
        "corpus": about.corpus,
        "conversation": candidate.talk.name,
        "side": candidate.voice.side.name,
        "channel": None if recording is None else recording.channel + 1,
        "start": in_seconds(clip.start),
        "end": in_seconds(clip.end),
        "sha256": found.sha256,
        "rate": found.rate,
    }
    script = {
        "made_for": MAKER,
        "dataset": found.dataset,
        "id": found.id,
        "recording": source,
        "licence": about.licence,
        "where": about.origin,
        "rules": about.rules_name,
        "semantic": found.by,
        "reason": found.reason,
        "sentences": candidate.voice.boundaries,
        "words": candidate.voice.side.words_from,
        "other": reply,
        "files": list(FILES),
    }
    return told, {"digest": digest([told, script, about.rules.to_json()]), **script}


def _category(condition: str) -> str:
    return next(name for name in ("wait", "backchannel", "take_turn") if condition.startswith(name))


def reply_in_mark(candidate: Candidate) -> str:
    """Return the text of the mark: a listener's token, or what the user still says; "" for a silence."""
    if candidate.kind == "backchannel":
        return candidate.reply
    if candidate.kind != "entry":
        return ""
    return " ".join(word.text for word in candidate.words if word.span.end > candidate.mark.start)


def prompt_for(setting: str) -> str:
    """Return what a system is told: the same as with items made from scripts."""
    return f"{PROMPT} {PLACES[setting]}".strip()


def cues_for(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return cues.json, which follows from interaction.json: the one cue is played at once."""
    text = " ".join(line["text"] for line in told["script"])
    return {
        "schema": 1,
        "prompt": told["instruction"],
        "cues": [{"id": "u0", "audio": "u0.wav", "text": text, "due": at(LEAD).to_json()}],
        "hang_up": {"quiet": in_seconds(QUIET), "patience": in_seconds(PATIENCE)},
        "cap": in_seconds(CAP),
    }


class Sounds:
    """Reads recordings: the last ``keep`` that were read are kept, no others."""

    def __init__(self, keep: int = 1) -> None:
        self._keep = keep
        self._last: dict[Recording, tuple[Samples, int, str]] = {}

    def cut(self, recording: Recording, start: float, end: float, said: float) -> tuple[Samples, int, str]:
        """Return a recording from ``start`` to ``end`` (decimal seconds), its rate, and the coding that loses nothing.

        Raises :class:`InputError` where the recording ends before ``said``, up to which something is said.
        """
        if recording not in self._last:
            while len(self._last) >= self._keep:
                del self._last[next(iter(self._last))]
            samples, rate = audio.read(recording.file, recording.channel)
            self._last[recording] = samples, rate, audio.probe(recording.file).subtype
        samples, rate, coding = self._last[recording]
        first, last = (seconds(each) * rate // SECOND for each in (start, end))
        if first >= len(samples) or len(samples) < seconds(said) * rate // SECOND:
            expected = f"sound from {start:.3f} s to {said:.3f} s"
            raise InputError(recording.file, found=f"{len(samples) / rate:.3f} s of sound", expected=expected)
        subtype = "PCM_16" if coding in _INTEGERS else "PCM_24" if coding == "PCM_24" else "FLOAT"
        return samples[first:last], rate, subtype


def write_item(
    folder: Path,
    told: Mapping[str, Any],
    script: Mapping[str, Any],
    recording: Recording | None = None,
    sounds: Sounds | None = None,
) -> None:
    """Write an item, whole or not at all: its annotation; with ``recording`` also its sound, untouched, and its cue.

    Raises :class:`InputError` where the folder holds what was not made here, or the recording cannot be cut.
    """
    if folder.exists() and not made_here(folder, MAKER):
        found = "a folder that harvest did not make"
        raise InputError(folder, found=found, expected="a new folder", do="choose another --out")
    source = script["recording"]
    cut = None
    if recording is not None:
        said = max([source["end"] - ROOM, *(source["start"] + mark["end"] for mark in told.get("marks", ()))])
        cut = (sounds or Sounds()).cut(recording, source["start"], source["end"], said)
    with whole_folder(folder) as half:
        if cut is not None:
            audio.write(half / "u0.wav", *cut)
            write_json(half / "cues.json", cues_for(told))
        write_json(half / INTERACTION, told)
        write_json(half / "script.json", script)


def is_there(folder: Path, script: Mapping[str, Any], *, with_sound: bool) -> bool:
    """Tell whether the folder is this very item, with its sound where that is asked for."""
    try:
        there = read_json(folder / "script.json")
    except InputError:
        return False
    same = isinstance(there, dict) and there.get("digest") == script["digest"]
    return same and all((folder / name).is_file() for name in (FILES if with_sound else (INTERACTION,)))
