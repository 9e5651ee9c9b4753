"""One harvested item as a rater has it: the user and the person who answered, on one clock, and what the rule found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.data.dataset import Entry
from fullduplex.data.fdb_folder import load_trial
from fullduplex.data.files import brief, pair, read_json, time, write_json
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.making.harvest.fdb.item import SCRIPT
from fullduplex.making.harvest.item import MAKER
from fullduplex.making.item_folder import made_here
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, in_seconds, seconds
from fullduplex.model.trials import Trial
from fullduplex.reporting.review.card import CALLS_FOR, sheet_of
from fullduplex.reporting.review.claims import Claim
from fullduplex.reporting.review.forms import Form
from fullduplex.reporting.review.subjects import Home
from fullduplex.reporting.sound import make_sound

#: The two voices of an item, and the files beside it that a rater is shown.
SOUND = ("input.wav", "output.wav")
_SHOWN = ("pause.json", "turn_taking.json", "interrupt.json", "metadata.json", "input.json", "output.json", "vad.json",
          "transcription.json")  # fmt: skip
#: Each task of a harvest in plain words: both voices are people's.
PLAIN = {
    "pause_handling": "the user pauses and goes on; the other person lets them",
    "smooth_turn_taking": "the user has finished; the other person answers",
    "backchannel": "the user speaks at length; the other person shows that they listen",
    "user_interruption": "the user interrupts the other person",
    "user_backchannel": "the user acknowledges while the other person speaks",
    "talking_to_other": "the user talks to somebody else while the other person speaks",
}
#: What is marked on the timeline, by the kind of the event.
_MARKS = {"pause": "pause", "turn_end": "end of the turn", "interruption": "interruption", "overlap": "said over it"}
_TOKEN = "brief token"
#: Raised when the same item would give another file.
_VERSION = 1


def is_harvested(entry: Entry) -> bool:
    """Tell whether ``entry`` was harvested by rules of Full-Duplex-Bench: it then holds what a person did, too."""
    if entry.task not in PLAIN or "cues.json" in entry.files:
        return False
    beside = entry.user_voice.path if entry.user_voice is not None else next(iter(entry.files.values()), None)
    return beside is not None and made_here(beside.parent, MAKER)


@dataclass(frozen=True, slots=True)
class HarvestClip:
    """A harvested item of ``entry``; ``home`` is the folder of the review, which keeps its answers and its sound."""

    home: Home
    entry: Entry
    system: str = ""

    def card(self, form: Form, claim: Claim | None = None) -> dict[str, Any]:
        """Return what the page shows of the item under ``form``, without its sound.

        As :func:`fullduplex.reporting.review.card.card`. ``person``: the second voice is a person's, and no system's.
        Raises :class:`InputError` where a file of the item cannot be read.
        """
        trial, script, vad = self._read()
        marks = _marks(trial, script, self._script_path)
        return {
            **sheet_of(_fields(self.entry, trial, marks, _partner(trial, vad)), form),
            "tracks": {
                "user": {"words": _words(trial, "user"), "speech": vad.get("input", [])},
                "system": {"words": _words(trial, "system"), "speech": vad.get("output", [])},
            },
            "events": [
                {"kind": kind, "start": in_seconds(span.start), "end": in_seconds(span.end), "text": text}
                for kind, span, text in marks
            ],
            "person": True,
        }

    def asked(self, form: Form, claim: Claim | None = None) -> list[str]:
        """Return the keys of the questions that ``form`` puts of the item."""
        found: list[str] = self.card(form)["asked"]
        return found

    def sound(self) -> tuple[Path, Mapping[str, Any]]:
        """Return a stereo file of the item, the user left and the other person right, and its waveform.

        It is made where it is not there, or another item's. Raises :class:`InputError` where a recording cannot be
        read, or there is no place to write to.
        """
        out = self.home.path / "audio" / as_file_name(self.entry.set) / f"{as_file_name(self.entry.id)}.flac"
        kept = out.with_suffix(".json")
        of = [[name, (path := self._folder / name).stat().st_size, path.stat().st_mtime_ns] for name in SOUND]
        of.append(["all", _VERSION, 0])
        if out.is_file() and kept.is_file():
            try:
                found = read_json(kept)
            except InputError:
                found = {}  # damaged: it is made again
            if isinstance(found, dict) and found.get("of") == of:
                return out, found
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(out, found=error.strerror or str(error), expected="a place to write to") from error
        user, partner = ((self._folder / name, None) for name in SOUND)
        made = make_sound(user, partner, 0, out) | {"of": of}
        write_json(kept, made)
        return out, made

    def files(self) -> dict[str, Path]:
        """Return by name all that a rater hears and sees of the item."""
        folder = self._folder
        return {name: folder / name for name in (*SOUND, *_SHOWN, SCRIPT) if (folder / name).is_file()}

    @property
    def _folder(self) -> Path:
        assert self.entry.user_voice is not None
        return self.entry.user_voice.path.parent

    @property
    def _script_path(self) -> Path:
        return self._folder / SCRIPT

    def _read(self) -> tuple[Trial, Mapping[str, Any], dict[str, list[list[float]]]]:
        trial = load_trial(self.entry)
        if trial.failed:
            raise InputError(self._folder, found=trial.failed, expected="an item that can be read")
        script = read_json(self._script_path)
        if not isinstance(script, dict):
            raise InputError(self._script_path, found=brief(script), expected="an object")
        path = self._folder / "vad.json"
        told = read_json(path) if path.is_file() else {}
        if not isinstance(told, dict) or not all(isinstance(one, list) for one in told.values()):
            raise InputError(path, found=brief(told), expected="spans of input and output")
        vad = {
            name: [[in_seconds(each) for each in _bounds(one, path, name)] for one in told.get(name, ())]
            for name in ("input", "output")
        }
        return trial, script, vad


def _bounds(value: object, path: Path, field: str) -> tuple[int, int]:
    start, end = (seconds(time(each, path, field)) for each in pair(value, path, field))
    if not 0 <= start < end:
        raise InputError(path, field, found=brief(value), expected="the start before the end, none negative")
    return start, end


def _words(trial: Trial, who: str) -> list[list[Any]]:
    """Return the words of a side with their times: of an interrupted partner all of them, and not those after alone."""
    told: Sequence[tuple[str, Any]] = trial.item.reference.get("transcription", ())
    number = {"user": "0", "system": "1"}[who]
    tokens = [token for speaker, its in told if str(speaker) == number for token in its]
    if tokens:
        return [[one.text, one.start, one.end] for one in tokens if one.start is not None and one.end is not None]
    track = trial.user if who == "user" else trial.system
    return [[word.text, in_seconds(word.span.start), in_seconds(word.span.end)] for word in track.words or ()]


def _partner(trial: Trial, vad: Mapping[str, Sequence[Sequence[float]]]) -> list[Span]:
    """Return when the other person is heard, as far as the item tells."""
    rows = [*((start, end) for _, start, end in _words(trial, "system")), *(tuple(one) for one in vad["output"])]
    return [Span(seconds(start), max(seconds(start) + 1, seconds(end))) for start, end in sorted(rows)]


def _marks(trial: Trial, script: Mapping[str, Any], path: Path) -> list[tuple[str, Span, str]]:
    """Return what the rule found: the kind of each mark, its place, and what is said in it."""
    marks = [(_MARKS.get(one.kind, one.kind), one.span, "") for one in trial.events]
    listener = script.get("listener")
    for one in listener.get("backchannels", ()) if isinstance(listener, dict) else ():
        start, end = _bounds(one, path, "listener.backchannels")
        said = [text for text, first, last in _words(trial, "system") if start <= seconds((first + last) / 2) < end]
        marks.append((_TOKEN, Span(start, end), " ".join(said)))
    return marks


def _fields(
    entry: Entry, trial: Trial, marks: Sequence[tuple[str, Span, str]], partner: Sequence[Span]
) -> dict[str, str]:
    event = trial.events[0] if trial.events else None
    said = event.text if event is not None else ""
    return {
        "task": PLAIN[entry.task],
        "condition": PLAIN[entry.task],
        "action": CALLS_FOR.get(entry.task, ""),
        "kind": marks[0][0] if marks else "",
        "context": str(trial.item.reference.get("context", "")) or _before(trial, event),
        "event": "" if said.startswith("[") else said,
        "found": _found(entry.task, marks, partner),
        "partner": "yes" if entry.task in ("pause_handling", "smooth_turn_taking") else "",
        "pause": "yes" if entry.task == "pause_handling" else "",
    }


def _before(trial: Trial, event: Event | None) -> str:
    words = trial.user.words or ()
    return " ".join(word.text for word in words if event is None or word.span.end <= event.span.start)


def _found(task: str, marks: Sequence[tuple[str, Span, str]], partner: Sequence[Span]) -> str:
    """Return in words what the rule found, with its times in seconds."""
    if task == "pause_handling":
        return "; ".join(
            f"a pause of {in_seconds(span.duration):.2f} s from {in_seconds(span.start):.2f} s on, in which the other "
            f"person {'is heard' if any(one & span for one in partner) else 'is silent'}"
            for _, span, _ in marks
        )
    if task == "backchannel":
        return "; ".join(
            f"a brief token of the other person{f' (“{text}”)' if text else ''} at {in_seconds(span.start):.2f} s"
            for _, span, text in marks
        )
    if not marks:
        return ""
    _, span, _ = marks[0]
    if task == "smooth_turn_taking":
        answer = next((one.start for one in partner if one.start >= span.start), None)
        later = "" if answer is None else f", and the other person begins {in_seconds(answer - span.start):.2f} s later"
        return f"the turn ends at {in_seconds(span.start):.2f} s{later}"
    return (
        f"what the user says from {in_seconds(span.start):.2f} to {in_seconds(span.end):.2f} s, begun while the other "
        "person speaks"
    )
