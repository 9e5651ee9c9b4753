"""Dialogue scripts: what users say, and when, before anybody has said it.

A script is a JSON list of dialogues, an object with ``dialogues``, or JSONL with one dialogue a line. A dialogue has

``dataset``, ``id``   where its item goes; the dataset's name tells the task (a Full-Duplex-Bench set, or ``…pause…``,
                      ``…turn_taking…``, ``…backchannel…``, ``…interrupt…``)
``text``              what the user says, one turn; or ``context`` and ``interrupt``, a turn and the interruption of
                      its answer; or ``turns``, several with ``gaps`` (seconds) between
``lines``             instead, the same in parallel languages: ``{"en": …, "fr": …}``, each a ``text`` or an object
``voice``, ``style``  the speaker's voice (``NAME:option=value``) and ``whispered`` or ``shouted``
``gap``, ``after``    seconds before the interruption and after the last turn, where not the set's
``answer``, ``reply`` what a system might say; kept, never spoken

A turn is a text, in which ``[pause 0.8]`` is a silence of 0.8 s between two words; or an object with ``text``,
``style`` and ``voice``, or with ``clip``, a recording (its path from the script's folder; ``text`` says what is in it);
or a list of these.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, no_others, number, parse_json, read_text_file
from fullduplex.data.official import task_named
from fullduplex.errors import InputError
from fullduplex.making.script import Dialogue, Entry, Phrase, Turn
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec

STYLES = ("", "whispered", "shouted")
#: Where a dialogue goes that does not say: by its shape.
INTERRUPTIONS, PAUSES, TURNS = "synthetic_user_interruption", "synthetic_pause_handling", "synthetic_turn_taking"
TASKS = ("pause_handling", "smooth_turn_taking", "backchannel", "user_interruption")
#: No pause, gap or silence is longer, and no pause is shorter, in seconds.
LONGEST, SHORTEST = 600.0, 0.001
_PAUSE = re.compile(r"\[\s*pause\b([^\]]*)\]", re.IGNORECASE)
_KNOWN = frozenset(
    [
        "dataset",
        "id",
        "text",
        "context",
        "interrupt",
        "turns",
        "gaps",
        "lines",
        "language",
        "voice",
        "style",
        "gap",
        "after",
        "answer",
        "reply",
    ]
)


def shipped() -> Path:
    """Return the script that comes with the package: 200 interruptions and 137 pauses, some of them also in French."""
    return Path(str(files(__package__).joinpath("dialogues.json")))


def read_script(path: Path) -> list[Entry]:
    """Return the entries of a script in its order; raises :class:`InputError` on the first thing wrong in it."""
    entries = [_entry(value, path, where, number) for number, (where, value) in enumerate(_values(path))]
    if not entries:
        raise InputError(path, found="no dialogue", expected="at least one")
    seen = set[tuple[str, str]]()
    for entry in entries:
        if (entry.dataset, entry.id) in seen:
            raise InputError(path, f"{entry.dataset}/{entry.id}", found="it twice", expected="an id for each dialogue")
        seen.add((entry.dataset, entry.id))
    return entries


def _values(path: Path) -> Iterator[tuple[str, Any]]:
    text = read_text_file(path)
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        for at, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield f"line {at}", parse_json(line, path, f"line {at}")
        return
    value = parse_json(text, path)
    if isinstance(value, dict):
        value = member(value, "dialogues", path)
    if not isinstance(value, list):
        raise InputError(path, found=brief(value), expected="a list of dialogues, or an object with 'dialogues'")
    yield from ((f"[{at}]", one) for at, one in enumerate(value))


def _entry(value: Any, path: Path, where: str, position: int) -> Entry:
    if not isinstance(value, dict):
        raise InputError(path, where, found=brief(value), expected="a dialogue, an object")
    no_others(value, _KNOWN, path, where)
    common = {key: one for key, one in value.items() if key not in ("lines", "dataset", "id")}
    own = value.get("lines")
    if own is None:
        language = _text(value, "language", path, where) or "en"
        told = {language: common}
    else:
        clash = {"text", "context", "interrupt", "turns", "language"} & set(value)
        if not isinstance(own, dict) or not own or clash:
            found = f"also {', '.join(sorted(clash))}" if clash else brief(own)
            raise InputError(path, f"{where}.lines", found=found, expected='{"en": …, "fr": …} and no other words')
        told = {name: {**common, **_line(one, path, f"{where}.lines.{name}")} for name, one in own.items()}
    dialogues = {name: _dialogue(one, path, where, name) for name, one in told.items()}
    first = next(iter(dialogues.values()))
    dataset = _text(value, "dataset", path, where) or _dataset(first)
    task = _task(dataset, first, path, where)
    for name, one in dialogues.items():
        if len(one.turns) != len(first.turns) or [len(t.pauses) for t in one.turns] != [
            len(t.pauses) for t in first.turns
        ]:
            expected = "as many turns and pauses in every language"
            raise InputError(
                path, f"{where}.lines.{name}", found=f"{len(one.turns)} turns, {one.pauses} pauses", expected=expected
            )
    id = value.get("id", str(position))
    if isinstance(id, bool) or not isinstance(id, str | int) or not str(id):
        raise InputError(path, f"{where}.id", found=brief(id), expected="a text or a whole number")
    placed = {name: replace(one, dataset=dataset, id=str(id), task=task) for name, one in dialogues.items()}
    return Entry(dataset, str(id), task, placed)


def _line(value: Any, path: Path, where: str) -> Mapping[str, Any]:
    if isinstance(value, str | list):
        return {"text": value}
    if not isinstance(value, dict):
        raise InputError(
            path, where, found=brief(value), expected="a text, or an object with text or context and interrupt"
        )
    unknown = sorted(set(value) - (_KNOWN - {"lines", "dataset", "id", "language"}))
    if unknown:
        raise InputError(
            path, f"{where}.{unknown[0]}", found="a key that is no language's", expected="text, context, …"
        )
    return value


def _dialogue(value: Mapping[str, Any], path: Path, where: str, language: str) -> Dialogue:
    style = _style(value, path, where)
    gap = _length(value.get("gap"), path, f"{where}.gap")
    if not re.fullmatch(r"[a-z]{2,3}", language):
        raise InputError(path, f"{where}.language", found=brief(language), expected="a language code such as en or fr")
    shapes = [key for key in ("text", "context", "turns") if key in value]
    if len(shapes) != 1 or ("interrupt" in value) != (shapes == ["context"]):
        found = ", ".join([*shapes, *(["interrupt"] if "interrupt" in value else [])]) or "none of them"
        raise InputError(path, where, found=found, expected="text, or context and interrupt, or turns")
    if "gaps" in value and shapes != ["turns"]:
        raise InputError(path, f"{where}.gaps", found=brief(value["gaps"]), expected="gaps only between turns")
    if shapes == ["turns"]:
        said = value["turns"]
        if not isinstance(said, list) or not said:
            raise InputError(path, f"{where}.turns", found=brief(said), expected="a list of turns")
        named = [(f"{where}.turns[{at}]", one) for at, one in enumerate(said)]
    else:
        keys = ["context", "interrupt"] if shapes == ["context"] else ["text"]
        named = [(f"{where}.{key}", value[key]) for key in keys]
    turns = tuple(_turn(one, path, at, style) for at, one in named)
    return Dialogue(
        "",
        "",
        "user_interruption" if shapes == ["context"] else "",
        turns,
        _gaps(value.get("gaps"), gap, len(turns) - 1, path, where),
        _length(value.get("after"), path, f"{where}.after"),
        _voice(value, path, where),
        language,
        _text(value, "answer", path, where),
        _text(value, "reply", path, where),
    )


def _gaps(value: Any, gap: int | None, count: int, path: Path, where: str) -> tuple[int | None, ...]:
    if value is None:
        return (gap,) * count
    if not isinstance(value, list) or len(value) != count:
        raise InputError(
            path, f"{where}.gaps", found=brief(value), expected=f"{count} lengths in seconds, one between turns"
        )
    return tuple(_length(one, path, f"{where}.gaps[{at}]") for at, one in enumerate(value))


def _turn(value: Any, path: Path, where: str, style: str) -> Turn:
    phrases, pauses, waiting = list[Phrase](), list[int](), 0
    for at, part in enumerate(value if isinstance(value, list) else [value]):
        place = f"{where}[{at}]" if isinstance(value, list) else where
        for piece in _pieces(part, path, place, style):
            if isinstance(piece, int):
                if not phrases or waiting:
                    raise InputError(
                        path, place, found="a pause with no words before it", expected="words on both sides"
                    )
                waiting = piece
            else:
                if phrases:
                    pauses.append(waiting)
                phrases.append(piece)
                waiting = 0
    if waiting or not phrases:
        found = "a pause with no words after it" if waiting else "nothing to say"
        raise InputError(path, where, found=found, expected="words, with pauses only between them")
    return Turn(tuple(phrases), tuple(pauses))


def _pieces(part: Any, path: Path, where: str, style: str) -> Iterator[Phrase | int]:
    """Yield the phrases and the pauses (microseconds) of one part of a turn."""
    if isinstance(part, str):
        part = {"text": part}
    if not isinstance(part, dict) or set(part) - {"text", "clip", "style", "voice"} or not set(part) & {"text", "clip"}:
        raise InputError(
            path, where, found=brief(part), expected="a text, or an object with text or clip, style, voice"
        )
    style, voice = _style(part, path, where) or style, _voice(part, path, where)
    text, clip = _text(part, "text", path, where), _text(part, "clip", path, where)
    if clip:
        if _PAUSE.search(text):
            raise InputError(
                path, f"{where}.text", found="a pause in a clip", expected="clips with pauses between them"
            )
        if "\0" in clip:
            raise InputError(path, f"{where}.clip", found=brief(clip), expected="a file's path")
        yield Phrase(" ".join(text.split()), clip, style, voice)
        return
    at = 0
    for found in _PAUSE.finditer(text):
        yield from _spoken(text[at : found.start()], path, where, style, voice)
        yield _pause(found.group(1), path, where)
        at = found.end()
    yield from _spoken(text[at:], path, where, style, voice)


def _spoken(text: str, path: Path, where: str, style: str, voice: str) -> Iterator[Phrase]:
    words = " ".join(text.split())
    if any(c.isalnum() for c in words):
        yield Phrase(words, "", style, voice)
    elif words:
        raise InputError(path, where, found=repr(words[:40]), expected="words to speak")


def _pause(told: str, path: Path, where: str) -> int:
    try:
        length = float(told.strip().removesuffix("s"))
    except ValueError:
        length = -1.0
    if not SHORTEST <= length <= LONGEST:
        raise InputError(path, where, found=f"[pause{told}]", expected=f"[pause SECONDS], {SHORTEST} to {LONGEST:.0f}")
    return seconds(length)


def _length(value: Any, path: Path, where: str) -> int | None:
    if value is None:
        return None
    length = number(value, path, where, "a length in seconds")
    if not 0 <= length <= LONGEST:
        raise InputError(path, where, found=brief(value), expected=f"0 to {LONGEST:.0f} seconds")
    return seconds(length)


def _text(value: Mapping[str, Any], key: str, path: Path, where: str) -> str:
    found = value.get(key, "")
    if not isinstance(found, str):
        raise InputError(path, f"{where}.{key}", found=brief(found), expected="a text")
    return found


def _style(value: Mapping[str, Any], path: Path, where: str) -> str:
    style = _text(value, "style", path, where)
    if style not in STYLES:
        raise InputError(path, f"{where}.style", found=brief(style), expected="whispered or shouted")
    return style


def _voice(value: Mapping[str, Any], path: Path, where: str) -> str:
    voice = _text(value, "voice", path, where)
    if voice:
        try:
            Spec.parse(voice)
        except ValueError as error:
            raise InputError(
                path, f"{where}.voice", found=brief(voice), expected="NAME or NAME:option=value"
            ) from error
    return voice


def _dataset(dialogue: Dialogue) -> str:
    return INTERRUPTIONS if dialogue.task else PAUSES if dialogue.pauses else TURNS


def _task(dataset: str, dialogue: Dialogue, path: Path, where: str) -> str:
    task = task_named(dataset) or ("user_interruption" if dialogue.task else "")
    if task not in TASKS:
        raise InputError(
            path, f"{where}.dataset", found=brief(dataset), expected=f"a name that tells one of {', '.join(TASKS)}"
        )
    if task == "user_interruption" and len(dialogue.turns) < 2:
        raise InputError(path, where, found="one turn", expected="context and interrupt, or two turns or more")
    if dialogue.task and task != "user_interruption":
        raise InputError(
            path, f"{where}.dataset", found=brief(dataset), expected="a set of interruptions for an interruption"
        )
    if task == "pause_handling" and not dialogue.pauses:
        raise InputError(path, where, found="no pause", expected="[pause SECONDS] in what is said")
    return task


def as_script(dialogues: list[dict[str, Any]]) -> str:
    """Return dialogues as the text of a script file, one a line."""
    return "[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in dialogues) + "\n]\n"
