"""Full-Duplex-Bench's JSON files, each read by a function from a path to nouns.

Every reader raises :class:`InputError` that names the file, the place in it,
what was found there and what was expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, number, pair, read_json, text, time
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, seconds
from fullduplex.model.speech import Token, Word
from fullduplex.model.trials import Verdict

#: Event files in the order in which they are read.
EVENT_FILES = ("pause.json", "turn_taking.json", "interrupt.json", "metadata.json")


def read_tokens(path: Path) -> tuple[Token, ...]:
    """Return a transcript's words exactly as the file has them: order, text and floats untouched.

    The file is ``{"text", "chunks": [{"text", "timestamp": [start, end]}]}``, or a bare list of such
    chunks; a null start or end is None. A list of texts alone (as some systems write under
    this name) is refused: those are tokens of a model, without times.
    """
    value = read_json(path)
    if isinstance(value, list):
        if all(isinstance(each, str | int | float) for each in value):
            raise InputError(
                path,
                found="a token list: texts without times",
                expected="words with times",
                do="transcribe the output audio instead",
            )
        return tuple(_token(each, path, f"[{i}]") for i, each in enumerate(value))
    chunks = member(value, "chunks", path)
    if not isinstance(chunks, list):
        raise InputError(path, "chunks", found=brief(chunks), expected="a list of words")
    return tuple(_token(each, path, f"chunks[{i}]") for i, each in enumerate(chunks))


def _token(value: Any, path: Path, field: str) -> Token:
    said = text(member(value, "text", path, field), path, f"{field}.text")
    at = f"{field}.timestamp"
    start, end = pair(member(value, "timestamp", path, field), path, at)
    return Token(
        said,
        None if start is None else time(start, path, f"{at}[0]"),
        None if end is None else time(end, path, f"{at}[1]"),
    )


def words_of(tokens: tuple[Token, ...], offset: int = 0) -> tuple[Word, ...]:
    """Return tokens as words: text stripped, empty ones dropped, in order of their start.

    A word without a start is dropped; one without an end, or that ends no later than it starts, lasts
    1 µs. ``offset`` (µs) moves them onto the session clock. :func:`remarks_on` says what was changed.
    """
    words = []
    for token in tokens:
        if token.start is None or not token.text.strip():
            continue
        start = seconds(token.start) + offset
        end = start if token.end is None else seconds(token.end) + offset
        words.append(Word(token.text.strip(), Span(start, max(end, start + 1))))
    return tuple(sorted(words, key=lambda word: word.span.start))


def remarks_on(tokens: tuple[Token, ...]) -> tuple[str, ...]:
    """Return what :func:`words_of` has to mend in ``tokens``, one remark for each kind."""
    starts = [t.start for t in tokens if t.start is not None]
    kinds = {
        "without text": sum(not t.text.strip() for t in tokens),
        "without a start": sum(t.start is None for t in tokens),
        "without an end": sum(t.end is None for t in tokens),
        "ending no later than its start": sum(
            t.start is not None and t.end is not None and t.end <= t.start for t in tokens
        ),
        "starting before the file": sum(start < 0 for start in starts),
        "out of order": sum(after < before for before, after in pairwise(starts)),
    }
    return tuple(f"{n} word{'s' * (n > 1)} {kind}" for kind, n in kinds.items() if n)


def read_events(files: Mapping[str, Path]) -> tuple[Event, ...]:
    """Return the events of an item's files, by official name, each file's in its own order.

    ``pause.json``: kind ``pause``, one for each entry. ``turn_taking.json``: ``turn_end``, from the end of the
    user's turn to the other speaker's start (to 1 µs later where that start comes no later). ``interrupt.json``:
    ``interruption``, its text what the user said; also the older object with ``timestamps``.
    ``metadata.json`` (v1.5): ``overlap``. Spans are seconds, not null, not negative, start before end.
    """
    return tuple(event for name in EVENT_FILES if name in files for event in _READERS[name](files[name]))


def _listed(path: Path) -> list[Any]:
    value = read_json(path)
    if not isinstance(value, list):
        raise InputError(path, found=brief(value), expected="a list of events")
    return value


def _span(value: Any, path: Path, field: str, *, may_be_empty: bool = False) -> Span:
    raw = pair(value, path, field)
    start, end = (seconds(time(raw[i], path, f"{field}[{i}]")) for i in range(2))
    if start < 0:
        raise InputError(path, f"{field}[0]", found=brief(raw[0]), expected="a time that is not negative")
    if may_be_empty:
        return Span(start, max(end, start + 1))
    if end <= start:
        raise InputError(path, field, found=brief(list(raw)), expected="[start, end] with the start before the end")
    return Span(start, end)


def _pauses(path: Path) -> list[Event]:
    return [
        Event("pause", _span(member(each, "timestamp", path, f"[{i}]"), path, f"[{i}].timestamp"))
        for i, each in enumerate(_listed(path))
    ]


def _turn_ends(path: Path) -> list[Event]:
    return [
        Event(
            "turn_end",
            _span(member(each, "timestamp", path, f"[{i}]"), path, f"[{i}].timestamp", may_be_empty=True),
        )
        for i, each in enumerate(_listed(path))
    ]


def _interruptions(path: Path) -> list[Event]:
    value = read_json(path)
    if isinstance(value, dict) and "timestamps" in value:
        raw = value["timestamps"]
        spans = raw if isinstance(raw, list) and raw and isinstance(raw[0], list) else [raw]
        said = value.get("interrupt", "")
        texts = said if isinstance(said, list) and len(said) == len(spans) else [said] * len(spans)
        return [
            Event("interruption", _span(span, path, f"timestamps[{i}]"), text(each, path, "interrupt"))
            for i, (span, each) in enumerate(zip(spans, texts, strict=True))
        ]
    if not isinstance(value, list):
        raise InputError(path, found=brief(value), expected="a list of interruptions")
    return [
        Event(
            "interruption",
            _span(member(each, "timestamp", path, f"[{i}]"), path, f"[{i}].timestamp"),
            text(member(each, "interrupt", path, f"[{i}]"), path, f"[{i}].interrupt"),
        )
        for i, each in enumerate(value)
    ]


def _overlaps(path: Path) -> list[Event]:
    about = read_metadata(path)
    return [Event("overlap", about.span, about.current_turn)]


_READERS = {
    "pause.json": _pauses,
    "turn_taking.json": _turn_ends,
    "interrupt.json": _interruptions,
    "metadata.json": _overlaps,
}


@dataclass(frozen=True, slots=True)
class Overlap:
    """What v1.5's ``metadata.json`` says: the talk before, what is said over it, and when."""

    context: str
    current_turn: str
    span: Span


def read_metadata(path: Path) -> Overlap:
    """Return v1.5's ``metadata.json``: ``{"context_text", "current_turn_text", "timestamps": [start, end]}``."""
    value = read_json(path)
    return Overlap(
        text(member(value, "context_text", path), path, "context_text"),
        text(member(value, "current_turn_text", path), path, "current_turn_text"),
        _span(member(value, "timestamps", path), path, "timestamps"),
    )


def read_context(path: Path) -> str:
    """Return what the user had said before the (first) interruption of ``interrupt.json``, or ""."""
    value = read_json(path)
    first = value[0] if isinstance(value, list) and value else value
    return text(first.get("context", ""), path, "context") if isinstance(first, dict) else ""


def read_rating(path: Path) -> Verdict:
    """Return ``rating.json``, ``{"analysis", "rating"}``, as a verdict with that number and reason."""
    value = read_json(path)
    rating = number(member(value, "rating", path), path, "rating", "a finite number, the judge's rating")
    return Verdict(rating, (rating,), text(value.get("analysis", ""), path, "analysis"))


def read_reference(path: Path) -> dict[str, list[float]]:
    """Return ``icc_gt_distribution.json``: for each stimulus the share of human backchannels in each 0.2 s."""
    value = read_json(path)
    if not isinstance(value, dict) or not value:
        raise InputError(path, found=brief(value), expected="an object: item id to a list of numbers")
    made = {}
    for id, bins in value.items():
        if not isinstance(bins, list) or not bins:
            raise InputError(path, id, found=brief(bins), expected="a list of numbers")
        made[id] = [number(each, path, f"{id}[{i}]") for i, each in enumerate(bins)]
    return made


def read_vad(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Return ``{"output": [[start, end], …], "input": […]}``: a detector's segments in decimal seconds, untouched."""
    value = read_json(path)
    if not isinstance(value, dict):
        raise InputError(path, found=brief(value), expected="an object with 'output' and 'input'")
    return {voice: _intervals(value.get(voice, []), path, voice) for voice in ("output", "input")}


def read_latency_intervals(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Return v1.5's ``latency_intervals.json``: ``latency_stop_list`` and ``latency_resp_list`` in decimal seconds."""
    value = read_json(path)
    return {
        name: _intervals(member(value, name, path), path, name) for name in ("latency_stop_list", "latency_resp_list")
    }


def _intervals(value: Any, path: Path, field: str) -> list[tuple[float, float]]:
    if not isinstance(value, list):
        raise InputError(path, field, found=brief(value), expected="a list of [start, end]")
    made = []
    for i, each in enumerate(value):
        start, end = pair(each, path, f"{field}[{i}]")
        made.append((time(start, path, f"{field}[{i}][0]"), time(end, path, f"{field}[{i}][1]")))
    return made


def read_content_tag(path: Path) -> Verdict:
    """Return v1.5's ``content_tag.json``, ``{"behaviour": ["C_RESPOND"]}``, as a verdict with the first label."""
    value = read_json(path)
    labels = member(value, "behaviour", path)
    if not isinstance(labels, list) or not labels:
        raise InputError(path, "behaviour", found=brief(labels), expected="a list with a label")
    votes = tuple(text(each, path, f"behaviour[{i}]") for i, each in enumerate(labels))
    return Verdict(votes[0], votes)


def read_general_split(path: Path) -> dict[str, dict[str, float]]:
    """Return v1.5's ``general_split.json``: numbers for ``pre``, ``post`` and ``clean``; the rest under ``about``.

    What is null in the file is left out.
    """
    value = read_json(path)
    made: dict[str, dict[str, float]] = {"about": {}}
    for part in ("pre", "post"):
        member(value, part, path)
    for name, found in value.items():
        if isinstance(found, dict):
            made[name] = {k: number(v, path, f"{name}.{k}") for k, v in found.items() if v is not None}
        elif found is not None:
            made["about"][name] = number(found, path, name)
    return made


def read_transcription(path: Path) -> tuple[tuple[str, tuple[Token, ...]], ...]:
    """Return ``transcription.json`` as (speaker, words) in the file's order.

    Its shapes: ``[{"speaker", "item": [{"text", "timestamp"}]}]``, or one transcript as
    :func:`read_tokens` reads it, whose speaker is "".
    """
    value = read_json(path)
    if not (isinstance(value, list) and value and isinstance(value[0], dict) and "item" in value[0]):
        return (("", read_tokens(path)),)
    made = []
    for i, each in enumerate(value):
        speaker = member(each, "speaker", path, f"[{i}]")
        if isinstance(speaker, bool) or not isinstance(speaker, str | int):
            raise InputError(path, f"[{i}].speaker", found=brief(speaker), expected="a speaker's number or name")
        items = member(each, "item", path, f"[{i}]")
        if not isinstance(items, list):
            raise InputError(path, f"[{i}].item", found=brief(items), expected="a list of words")
        made.append((str(speaker), tuple(_token(w, path, f"[{i}].item[{j}]") for j, w in enumerate(items))))
    return tuple(made)


def events_given(value: Any, path: Path, field: str, kind: str = "") -> tuple[Event, ...]:
    """Return events written by hand: one object or a list of them.

    Each has ``timestamp`` (or ``timestamps``, ``span``) as [start, end] in seconds, or ``start`` and ``end``;
    ``kind`` where the task does not tell (``kind`` here); and ``text``, or ``interrupt`` or ``current_turn_text``.
    """
    listed = value if isinstance(value, list) else [value]
    made = []
    for i, each in enumerate(listed):
        at = f"{field}[{i}]" if isinstance(value, list) else field
        if not isinstance(each, dict):
            raise InputError(path, at, found=brief(each), expected='an event, {"kind", "timestamp": [start, end]}')
        its = text(each.get("kind", kind), path, f"{at}.kind")
        if not its:
            raise InputError(path, at, found="an event without a kind", expected='"kind", or a task that tells it')
        name = next((n for n in ("timestamp", "timestamps", "span") if n in each), "")
        raw = each[name] if name else [member(each, "start", path, at), member(each, "end", path, at)]
        span = _span(raw, path, f"{at}.{name}" if name else at, may_be_empty=its == "turn_end")
        said = next((each[n] for n in ("text", "interrupt", "current_turn_text") if n in each), "")
        made.append(Event(its, span, text(said, path, f"{at}.text"), text(each.get("source", ""), path, at)))
    return tuple(made)
