"""A script as a system: it says given lines at given times, or answers each of the user's silences.

``--system scripted:answer="One moment.",delay=0.5`` or ``--system scripted:file=script.json``.

A script file (JSON, times in decimal seconds)::

    {"voice": "hibari", "yields": 0.3, "closes": 60, "burst": true,
     "lines": [{"say": "Hello.", "at": 1.0},
               {"answer": "Let me look.", "delay": 0.4, "not_before": 2.0, "again": true},
               {"answer": "", "audio": "clip.wav", "delay": 0.4}]}
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.data import audio
from fullduplex.data.files import brief, member, parse_json, read_text_file, text, time
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, seconds
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process
from fullduplex.systems.scripted import Answer, Say, Script, Scripted, Sound

RATE = 24_000
_LINE = {"say", "at", "answer", "delay", "not_before", "again", "audio"}


def scripted(
    *,
    answer: str = "",
    delay: float = 0.4,
    again: bool = True,
    yields: float | None = None,
    file: str = "",
    voice: str = "hibari",
    burst: bool = False,
    chunk: float = 0.04,
    name: str = "scripted",
) -> Scripted:
    """Return a system that answers each of the user's silences with ``answer``, or follows ``file``.

    ``delay``: the silence, in seconds, after which it answers; ``again``: every time, not the first alone;
    ``yields``: how long after the user's onset it stops, None to talk through. ``burst`` and ``chunk``
    (seconds) as in :class:`Scripted`. Raises :class:`InputError` where the file cannot be read as a script.
    """
    for option, length in (("delay", delay), ("yields", yields)):
        if length is not None and not 0 <= length <= 1e6:
            raise InputError(name, option, found=length, expected="seconds, not below 0")
    if not 0 < chunk <= 10:
        raise InputError(name, "chunk", found=chunk, expected="seconds above 0, at most 10")
    if file:
        script, burst = _read(Path(file), burst)
    else:
        lines = (Answer(_spoken(Spec.parse(voice), answer), seconds(delay), again=again),) if answer else ()
        script = Script(lines, None if yields is None else seconds(yields), rate=RATE)
    return Scripted(script, name, max(1, round(chunk * SECOND)), burst)


def _read(path: Path, burst: bool) -> tuple[Script, bool]:
    told = parse_json(read_text_file(path), path)
    lines = member(told, "lines", path)
    if not isinstance(lines, list):
        raise InputError(path, "lines", found=brief(lines), expected="a list")
    voice = text(told.get("voice", "hibari"), path, "voice")
    yields, closes = told.get("yields"), told.get("closes")
    script = Script(
        tuple(_line(line, path, f"lines[{n}]", Spec.parse(voice)) for n, line in enumerate(lines)),
        None if yields is None else seconds(time(yields, path, "yields")),
        None if closes is None else seconds(time(closes, path, "closes")),
        RATE,
    )
    return script, bool(told.get("burst", burst))


def _line(told: Any, path: Path, where: str, voice: Spec) -> Say | Answer:
    if not isinstance(told, dict) or ("say" in told) == ("answer" in told):
        raise InputError(path, where, found=brief(told), expected='an object with "say" or "answer"')
    unknown = sorted(set(told) - _LINE)
    if unknown:
        raise InputError(path, where, found=repr(unknown[0]), expected=", ".join(sorted(_LINE)))
    kind = "say" if "say" in told else "answer"
    words = text(told[kind], path, f"{where}, {kind}")
    sound = _recorded(path.parent / text(told["audio"], path, f"{where}, audio"), words) if "audio" in told else None
    sound = sound or _spoken(voice, words)
    if kind == "say":
        return Say(sound, seconds(time(member(told, "at", path, where), path, f"{where}, at")))
    return Answer(
        sound,
        seconds(time(told.get("delay", 0.4), path, f"{where}, delay")),
        seconds(time(told.get("not_before", 0.0), path, f"{where}, not_before")),
        bool(told.get("again", False)),
    )


def _recorded(path: Path, words: str) -> Sound:
    samples, rate = audio.read(path)
    return Sound(audio.resample(samples, rate, RATE), words)


@once_per_process
def _spoken(voice: Spec, words: str) -> Sound:
    spoken = plugins.find("voices", voice.name)(**voice.options).speak(words)
    samples = audio.resample(spoken.samples, spoken.rate, RATE)
    return Sound(samples, words, tuple((w.text, w.span.start, w.span.end) for w in spoken.words or ()))
