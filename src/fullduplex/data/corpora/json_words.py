"""Words or lines in JSON, as recognisers write them.

Read are: a list, or an object with ``words``, ``chunks`` or ``segments`` (Whisper, WhisperX, faster-whisper,
Full-Duplex-Bench), each with ``word``, ``text`` or ``utterance`` and ``start`` and ``end`` or ``timestamp``, and
``speaker`` or ``channel`` where one file has both sides; Amazon Transcribe's ``results`` by channel or speaker; and
JSON lines of such objects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.spoken import label, said
from fullduplex.data.files import brief, number, parse_json, read_json, read_text_file, time
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, seconds

_LISTS = ("words", "segments", "chunks", "utterances", "items")
_EXPECTED = "words or lines with text, start and end"


def read_json_words(path: Path) -> Gathered:
    """Return the transcript in a JSON file; raises :class:`InputError` where it holds no words or lines."""
    transcript = Gathered(path, words_from="JSON")
    if path.suffix.lower() == ".jsonl":
        lines = enumerate(read_text_file(path).splitlines(), 1)
        told: Any = [parse_json(line, path, f"line {n}") for n, line in lines if line.strip()]
    else:
        told = read_json(path)
    if isinstance(told, dict) and isinstance(told.get("results"), dict):
        _amazon(transcript, told["results"])
        return transcript
    speaker = ""
    if isinstance(told, dict):
        speaker = _named(told)
        told = next((told[name] for name in _LISTS if isinstance(told.get(name), list)), told)
    if not isinstance(told, list):
        raise InputError(path, found=brief(told), expected=_EXPECTED)
    for n, one in enumerate(told, 1):
        _one(transcript, one, f"entry {n}", speaker)
    return transcript


def _one(transcript: Gathered, told: Any, where: str, speaker: str) -> None:
    path = transcript.path
    if not isinstance(told, dict):
        raise InputError(path, where, found=brief(told), expected=_EXPECTED)
    speaker = _named(told) or speaker
    channel = told.get("channel")
    if isinstance(channel, int) and not isinstance(channel, bool) and 0 <= channel < 99:
        transcript.of(speaker).channels.add(channel)
    text = next((told[name] for name in ("word", "text", "utterance", "transcript") if name in told), None)
    if not isinstance(text, str):
        raise InputError(path, where, found=brief(told), expected=_EXPECTED)
    inner = told.get("words")
    # A recogniser that could not place a word leaves its times out.
    span = _span(told, path, where)
    if isinstance(inner, list) and inner:
        for n, one in enumerate(inner, 1):
            _one(transcript, one, f"{where}, word {n}", speaker)
        transcript.line(speaker, said(text), span)
    elif "word" in told or _single(told, text):
        if span is None:
            transcript.remarks.append(f"{where}: {text.strip()[:40]!r} has no times and is left out")
        else:
            transcript.word(speaker, label(text), span, _confidence(told, path, where))
    else:
        transcript.line(speaker, said(text), span)


def _single(told: dict[str, Any], text: str) -> bool:
    return "timestamp" in told and len(text.split()) <= 1


def _named(told: dict[str, Any]) -> str:
    for name in ("speaker", "speaker_role", "participant", "channel"):
        value = told.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            return str(value)
    return ""


def _span(told: dict[str, Any], path: Path, where: str) -> Span | None:
    pair = told.get("timestamp")
    if pair is None and told.get("start") is None and told.get("start_time") is None:
        return None
    if pair is not None and not (isinstance(pair, list) and len(pair) == 2):
        raise InputError(path, where, found=brief(pair), expected="two times in seconds, [start, end]")
    start, end = pair or [told.get("start", told.get("start_time")), told.get("end", told.get("end_time"))]
    return stretch(_time(start, path, where), _time(end if end is not None else start, path, where), path, where)


def _time(value: object, path: Path, where: str) -> int:
    if isinstance(value, str):
        return moment(value, path, where)
    found = time(value, path, where)
    if found < 0:
        raise InputError(path, where, found=brief(value), expected="a time in seconds, not negative")
    return seconds(found)


def _confidence(told: dict[str, Any], path: Path, where: str) -> float | None:
    value = told.get("confidence", told.get("probability", told.get("score")))
    if value is None:
        return None
    found = number(value, path, where)
    return found if 0 <= found <= 1 else None


def _amazon(transcript: Gathered, results: dict[str, Any]) -> None:
    """Add the words of Amazon Transcribe, by channel where there are channels, else by speaker."""
    labels = results.get("channel_labels")
    channels = labels.get("channels") if isinstance(labels, dict) else None
    lists: list[tuple[str, int | None, Any]] = [("", None, results.get("items"))]
    if isinstance(channels, list):
        lists = [
            (str(one.get("channel_label", n)), n, one.get("items"))
            for n, one in enumerate(channels)
            if isinstance(one, dict)
        ]
    for name, channel, items in lists:
        if not isinstance(items, list):
            raise InputError(transcript.path, "results", found=brief(items), expected="a list of items")
        if channel is not None:
            transcript.of(name).channels.add(channel)
        for n, item in enumerate(items, 1):
            _item(transcript, item, name, f"{name or 'item'} {n}".strip())


def _item(transcript: Gathered, item: Any, name: str, where: str) -> None:
    path = transcript.path
    choices = item.get("alternatives") if isinstance(item, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise InputError(path, where, found=brief(item), expected="an item with alternatives")
    text = str(choices[0].get("content", ""))
    speaker = name or str(item.get("speaker_label", ""))
    if item.get("type") == "punctuation":
        words = transcript.of(speaker).words
        if words:
            last, whole = words[-1]
            words[-1] = type(last)(last.text + text, last.span, last.confidence), whole
        return
    span = _span(item, path, where)
    if span is not None:
        told = label(text)
        raw = choices[0].get("confidence")
        transcript.word(speaker, told, span, float(raw) if isinstance(raw, str) and _is_share(raw) else None)


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
