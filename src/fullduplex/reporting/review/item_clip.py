"""One item as a rater has it: its cues on one clock, its marks, and the script's lines in the assistant's place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.dataset import Entry
from fullduplex.data.files import read_json, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.interactions import on_the_clock, read_interaction
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, in_seconds, seconds
from fullduplex.reporting.review.card import sheet_of
from fullduplex.reporting.review.claims import Claim
from fullduplex.reporting.review.forms import Form
from fullduplex.reporting.review.labels import labels_of
from fullduplex.reporting.review.laid_out import BREAK_IN, LaidOut, laid_out, names_of
from fullduplex.reporting.review.marks import marks_of
from fullduplex.reporting.review.spoken import spoken
from fullduplex.reporting.review.subjects import Home
from fullduplex.reporting.sound import HIGHEST_RATE, make_sound
from fullduplex.runs.stimulus import stimulus

#: Raised when the same item would give another file.
_VERSION = 1


@dataclass(frozen=True, slots=True)
class ItemClip:
    """An item of ``entry``; ``home`` is the folder of the review, which keeps its answers and its sound."""

    home: Home
    entry: Entry
    system: str = ""

    def card(self, form: Form, claim: Claim | None = None) -> dict[str, Any]:
        """Return what the page shows of the item under ``form``, without its sound.

        As :func:`fullduplex.reporting.review.card.card`; also ``others``, the words of who else is heard, and
        ``script``: the system's words are the script's, and nobody speaks them.
        """
        told, laid = self._told(), self._laid()
        texts = {name: cue.text for name, cue in zip(laid.turns, stimulus(self.entry).cues, strict=True)}
        said = spoken(self._folder, texts, laid)
        lines = [
            [text, in_seconds(span.start), in_seconds(span.end)] for line in laid.lines for text, span in line.words
        ]
        return {
            **sheet_of(self._fields(told), form),
            "tracks": {"user": {"words": said.user, "speech": said.sounding}, "system": {"words": lines, "speech": []}},
            "events": _events(told, laid),
            "others": said.others,
            "script": True,
        }

    def asked(self, form: Form, claim: Claim | None = None) -> list[str]:
        """Return the keys of the questions that ``form`` puts of the item."""
        found: list[str] = sheet_of(self._fields(self._told()), form)["asked"]
        return found

    def sound(self) -> tuple[Path, Mapping[str, Any]]:
        """Return a stereo file of the item, the user on both sides, made where it is not there; and its waveform.

        Raises :class:`InputError` where a recording cannot be read, or there is no place to write to.
        """
        out = self.home.path / "audio" / as_file_name(self.entry.set) / f"{as_file_name(self.entry.id)}.flac"
        kept = out.with_suffix(".json")
        cues = stimulus(self.entry).cues
        laid = self._laid()
        of = [[cue.audio.name, cue.audio.stat().st_size, cue.audio.stat().st_mtime_ns] for cue in cues]
        of += [[name, span.start, span.end] for name, span in laid.turns.items()] + [["all", laid.duration, _VERSION]]
        if out.is_file() and kept.is_file():
            try:
                found = read_json(kept)
            except InputError:
                found = {}  # damaged: it is made again
            if isinstance(found, dict) and found.get("of") == of:
                return out, found
        heard = [audio.read(cue.audio, cue.channel) for cue in cues]
        rate = min(HIGHEST_RATE, max(rate for _, rate in heard))
        mixed = np.zeros(-(-laid.duration * rate // SECOND), np.float32)
        for (samples, its), span in zip(heard, laid.turns.values(), strict=True):
            own = audio.resample(samples, its, rate)
            at = span.start * rate // SECOND
            part = mixed[at : at + len(own)]
            part += own[: len(part)]
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(out, found=error.strerror or str(error), expected="a place to write to") from error
        side = out.with_suffix(".user.wav")
        try:
            audio.write(side, mixed, rate, "FLOAT")
            # With one side there is nothing to tell apart by ear: it sounds in both.
            made = make_sound((side, None), (side, None), 0, out) | {"of": of}
            made["peaks"] = {**made["peaks"], "system": ""}
        finally:
            side.unlink(missing_ok=True)
        write_json(kept, made)
        return out, made

    @property
    def _folder(self) -> Path:
        return self.entry.files["cues.json"].parent

    def _told(self) -> dict[str, Any]:
        path = self.entry.files.get(INTERACTION)
        if path is None:
            return {"scenario": self.entry.task, "marks": [], "script": []}
        return read_interaction(path)

    def _laid(self) -> LaidOut:
        told, cues = self._told(), stimulus(self.entry).cues
        lengths = [audio.probe(cue.audio).duration for cue in cues]
        replies = dict[str, int]()
        if str(told["scenario"]).removeprefix("da_").startswith("hold_floor"):
            replies |= dict.fromkeys(names_of(cues)[1:], 0)  # the system speaks on
        for mark in told.get("marks", ()):
            if mark["kind"] == "target":
                replies[mark["cue"]] = seconds(mark["end"]) + BREAK_IN
        return laid_out(cues, lengths, told.get("script", ()), replies)

    def _fields(self, told: Mapping[str, Any]) -> dict[str, str]:
        texts = {name: str(told.get(name, "")) for name in ("topic", "target", "instruction", "reply")}
        synthesised = told.get("synthesised") is True or told.get("origin") == "synthesised"
        return {
            **texts,
            "setting": str(told.get("setting", "")).replace("_", " "),
            **labels_of(str(told["scenario"])),
            "synthesised": "yes" if synthesised else "",
        }


def _events(told: Mapping[str, Any], laid: LaidOut) -> list[dict[str, Any]]:
    turns = [
        {"id": name, "timestamp": [in_seconds(span.start), in_seconds(span.end)]} for name, span in laid.turns.items()
    ]
    clocked = on_the_clock({"turns": [], "expects": [], "probes": [], "pauses": [], **told}, turns)
    return marks_of(clocked, turns)
