"""A Full-Duplex-Bench item folder as a trial, and a trial as such a folder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fullduplex.data.audio import probe
from fullduplex.data.entries import Entry, Voice
from fullduplex.data.fdb_json import (
    Overlap,
    events_given,
    read_content_tag,
    read_context,
    read_events,
    read_general_split,
    read_latency_intervals,
    read_metadata,
    read_rating,
    read_reference,
    read_tokens,
    read_transcription,
    read_vad,
    remarks_on,
    words_of,
)
from fullduplex.data.files import read_json, write_json
from fullduplex.data.interactions import on_the_clock, read_interaction
from fullduplex.data.official import EVENT_FILES, EVENT_KINDS, expected_files
from fullduplex.errors import InputError
from fullduplex.model.items import Event, Item
from fullduplex.model.spans import in_seconds, ms
from fullduplex.model.speech import Token, Track, Word
from fullduplex.model.trials import Recording, Trial, Verdict

__all__ = [
    "Overlap",
    "load_trial",
    "read_content_tag",
    "read_context",
    "read_events",
    "read_general_split",
    "read_latency_intervals",
    "read_metadata",
    "read_rating",
    "read_reference",
    "read_tokens",
    "read_transcription",
    "read_vad",
    "remarks_on",
    "twin_of",
    "words_of",
    "write_item",
]

_T = TypeVar("_T")
#: How far a speaker's last word may end from the annotated end of the turn.
_TURN_SLACK = ms(50)


def load_trial(entry: Entry) -> Trial:
    """Return what the files of ``entry`` say, on the session clock. No audio is decoded.

    The system's words and tokens come from ``output.json``, moved by the entry's offset; the user's from
    ``input.json``, else from ``transcription.json`` where it tells who ended the turn (``words_from`` is then
    "reference"). Each track lasts as long as its file. ``missing`` names the task's files that are not
    there. Nothing raises: where a file cannot be read, ``failed`` is the sentence that says so.
    """
    failures: list[str] = []

    def attempt(read: Callable[[], _T], otherwise: _T) -> _T:
        try:
            return read()
        except InputError as error:
            failures.append(str(error))
            return otherwise

    files, offset = entry.files, entry.offset
    tokens = attempt(lambda: _tokens(files, "output.json", offset), None)
    user_tokens = attempt(lambda: _tokens(files, "input.json", 0), None)
    no_events: tuple[Event, ...] = ()
    no_verdicts: dict[str, Verdict] = {}
    no_reference: dict[str, Any] = {}
    events = attempt(lambda: _events(entry), no_events)
    verdicts = attempt(lambda: _verdicts(files), no_verdicts)
    reference = attempt(lambda: _reference(files, entry.task), no_reference)
    user_words, words_from = (None, "") if user_tokens is None else (words_of(user_tokens), "recorded")
    if user_words is None:
        user_words = _turn_of(reference.get("transcription", ()), events)
        words_from = "" if user_words is None else "reference"
    user_length = attempt(lambda: _length(entry.user_voice, 0), None)
    system_length = attempt(lambda: _length(entry.system_voice, offset), None)
    return Trial(
        Item(entry.id, events=events, reference=reference, group=entry.group),
        user=Track(user_words, tokens=user_tokens, duration=user_length, words_from=words_from),
        system=Track(
            None if tokens is None else words_of(tokens),
            tokens=tokens,
            duration=system_length,
            words_from="" if tokens is None else "recorded",
        ),
        events=events,
        recording=Recording(_name(entry.user_voice), _name(entry.system_voice)),
        verdicts=verdicts,
        missing=missing_of(entry),
        failed="; ".join(dict.fromkeys(failures)),
    )


def twin_of(entry: Entry) -> Entry | None:
    """Return a v1.5 item's clean twin as an entry of its own, the same talk without the event; None without one."""
    files = entry.files
    if "clean_input.wav" not in files and not any(name.startswith("clean_output.") for name in files):
        return None
    words = {name: files[f"clean_{name}"] for name in ("input.json", "output.json") if f"clean_{name}" in files}
    user, system = files.get("clean_input.wav"), files.get("clean_output.wav")
    return Entry(
        entry.id, entry.task, entry.dataset, entry.system, entry.group,
        user_voice=Voice(user) if user else None,
        system_voice=Voice(system) if system else None,
        files=words,
        offset=entry.offset,
    )  # fmt: skip


def missing_of(entry: Entry) -> tuple[str, ...]:
    """Return the official names of the files that the entry's task expects and that are not there."""
    there = set(entry.files)
    there |= {"input.wav"} if entry.user_voice else set()
    there |= {"output.wav"} if entry.system_voice else set()
    if entry.events or "events.json" in entry.files:
        there |= set(EVENT_FILES.get(entry.task, ()))
    if entry.interaction is not None:  # a download's scorecard says what interaction.json would
        there.add("interaction.json")
    return tuple(name for name in expected_files(entry.task, set(entry.files)) if name not in there)


def _name(voice: Voice | None) -> str:
    return str(voice.path) if voice else ""


def _length(voice: Voice | None, offset: int) -> int | None:
    return None if voice is None else max(0, probe(voice.path).duration + offset)


def _tokens(files: Mapping[str, Path], name: str, offset: int) -> tuple[Token, ...] | None:
    if name not in files:
        return None
    tokens = read_tokens(files[name])
    if not offset:
        return tokens  # the file's very floats
    by = in_seconds(offset)
    return tuple(
        Token(t.text, None if t.start is None else t.start + by, None if t.end is None else t.end + by) for t in tokens
    )


def _events(entry: Entry) -> tuple[Event, ...]:
    if entry.events:
        return entry.events
    if "events.json" in entry.files:
        path = entry.files["events.json"]
        return events_given(read_json(path), path, "", EVENT_KINDS.get(entry.task, ""))
    wanted = EVENT_FILES.get(entry.task, ())
    there = [name for name in wanted if name in entry.files][:1]
    return read_events({name: entry.files[name] for name in there})


def _verdicts(files: Mapping[str, Path]) -> dict[str, Verdict]:
    readers = {"rating": ("rating.json", read_rating), "behaviour": ("content_tag.json", read_content_tag)}
    return {name: read(files[file]) for name, (file, read) in readers.items() if file in files}


def _reference(files: Mapping[str, Path], task: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if task == "user_interruption" and "interrupt.json" in files:
        made["context"] = read_context(files["interrupt.json"])
    elif "metadata.json" in EVENT_FILES.get(task, ()) and "metadata.json" in files:
        made["context"] = read_metadata(files["metadata.json"]).context
    if "interaction.json" in files:
        made["interaction"] = on_the_clock(read_interaction(files["interaction.json"], task))
    if "transcription.json" in files:
        # No score rests on it, and releases differ in its shape: an odd one fails no trial.
        try:
            made["transcription"] = read_transcription(files["transcription.json"])
        except InputError as error:
            made["transcription_unread"] = str(error)
    return made


def _turn_of(said: tuple[tuple[str, tuple[Token, ...]], ...], events: tuple[Event, ...]) -> tuple[Word, ...] | None:
    """Return the words of the one speaker whose last word ends where the user's turn ends, else None."""
    ends = [event.span.start for event in events if event.kind == "turn_end"]
    by_speaker: dict[str, tuple[Token, ...]] = {}
    for speaker, tokens in said:
        by_speaker[speaker] = (*by_speaker.get(speaker, ()), *tokens)
    spoken = [words for words in map(words_of, by_speaker.values()) if words]
    fitting = [words for words in spoken if ends and abs(words[-1].span.end - ends[0]) <= _TURN_SLACK]
    return fitting[0] if len(spoken) > 1 and len(fitting) == 1 else None


def write_item(folder: Path, trial: Trial) -> tuple[Path, ...]:
    """Write the JSON files of ``trial`` as released scripts read them; return their paths.

    ``output.json`` and ``input.json`` (tokens where there are any, else words), one file for each kind of
    event, ``rating.json`` and ``content_tag.json`` where there is such a verdict. The folder is made;
    other files in it stay.
    """
    made: dict[str, Any] = {}
    for name, track in (("output.json", trial.system), ("input.json", trial.user)):
        if (tokens := _tokens_of(track)) is not None and not (name == "input.json" and track.words_from == "reference"):
            made[name] = transcript(tokens)
    context = trial.item.reference.get("context", "")
    by_kind = {kind: [e for e in trial.events if e.kind == kind] for kind in ("pause", "turn_end", "interruption")}
    if pauses := by_kind["pause"]:
        made["pause.json"] = [{"text": "[PAUSE]", "timestamp": _times(e)} for e in pauses]
    if turn_ends := by_kind["turn_end"]:
        made["turn_taking.json"] = [{"text": "[TURN-TAKING]", "timestamp": _times(e)} for e in turn_ends]
    if interruptions := by_kind["interruption"]:
        made["interrupt.json"] = [
            {"context": context, "interrupt": e.text, "timestamp": _times(e)} for e in interruptions
        ]
    if overlap := trial.event("overlap"):
        made["metadata.json"] = {
            "context_text": context,
            "current_turn_text": overlap.text,
            "timestamps": _times(overlap),
        }
    rating, behaviour = trial.verdicts.get("rating"), trial.verdicts.get("behaviour")
    if isinstance(rating, Verdict):
        made["rating.json"] = {"analysis": rating.reason, "rating": rating.value}
    if isinstance(behaviour, Verdict):
        made["content_tag.json"] = {"behaviour": list(behaviour.votes or (behaviour.value,))}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(folder, found=error.strerror or str(error), expected="a folder to write to") from error
    for name, value in made.items():
        write_json(folder / name, value)
    return tuple(folder / name for name in made)


def transcript(tokens: tuple[Token, ...]) -> dict[str, Any]:
    """Return tokens in the shape of ``output.json``: the text, and each word with its times in seconds."""
    return {
        "text": " ".join(filter(None, (token.text.strip() for token in tokens))),
        "chunks": [{"text": token.text, "timestamp": [token.start, token.end]} for token in tokens],
    }


def _tokens_of(track: Track) -> tuple[Token, ...] | None:
    if track.tokens is not None or track.words is None:
        return track.tokens
    return tuple(Token(word.text, in_seconds(word.span.start), in_seconds(word.span.end)) for word in track.words)


def _times(event: Event) -> list[float]:
    return [in_seconds(event.span.start), in_seconds(event.span.end)]
