"""One interaction as an item: a WAV for each of the user's cues, when each is released, and what each calls for.

Pauses are silence that was put in; a trigger word lies where the synthesiser says, or, marked, a recogniser; one that
ends a phrase ends with its last audible sample.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.data.names import as_file_name
from fullduplex.driving.cues import plain
from fullduplex.errors import InputError
from fullduplex.making.cue_folder import CueItem, is_whole, made_once
from fullduplex.making.interaction_cues import Said, Timing, backchannels, cues_json
from fullduplex.making.interaction_script import Anchor, Scripted, occurrences
from fullduplex.making.joining import Phrase as Placed
from fullduplex.making.joining import join, times
from fullduplex.making.make_item import content_of, recogniser_of, voice_of
from fullduplex.making.script import Phrase, Turn
from fullduplex.making.speaking import Said as SaidPhrase
from fullduplex.making.speaking import Speaker
from fullduplex.model.spans import SECOND, Span, in_seconds
from fullduplex.model.spec import Spec, digest
from fullduplex.model.speech import Word
from fullduplex.providers.voices import LEVEL, PEAK

#: Who made the folder.
MAKER = "interactions"
#: Part of every item's digest: raised when the same script would be made into other bytes.
_VERSION = 1
_ACCENT = re.compile(r"\baccent:\s*([\w -]+)")


@dataclass(frozen=True, slots=True)
class InteractionTask:
    """One item to make; small, and it travels.

    ``voice`` speaks all of the user's lines that name none. ``clips`` is the folder from which recordings are named.
    ``keys`` are for voices behind a server, as ``(name, key)``; they are never written.
    """

    item: Scripted
    clips: Path
    out: Path
    voice: Spec
    timing: Timing = field(default_factory=Timing)
    seed: int = 0
    rate: int = 24_000
    language: str = "en"
    recogniser: Spec | None = None
    cache: Path | None = None
    keys: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def folder(self) -> Path:
        """Return where the item goes; no name in a script can lead out of ``out``."""
        return self.out / self.item.dataset / as_file_name(self.item.id)


@dataclass(frozen=True, slots=True)
class MadeInteraction:
    """An item as it was made: where it lies, how long the user speaks (microseconds), and whether it was there already.

    ``words``: where its word times are from. ``voice`` is the first line's, ``language`` that voice's own.
    ``accent``: the one that its script asks for. ``damaged``: what was wrong with the sound there, "" if nothing.
    """

    scenario: str
    id: str
    folder: Path
    duration: int
    words: str
    voice: str
    language: str
    accent: str
    kept: bool
    damaged: str = ""


def make_interaction(task: InteractionTask) -> MadeInteraction:
    """Make one item, and return it; one that was made from the same is kept.

    It is written whole or not at all. Raises :class:`InputError` where it cannot be spoken, nothing places a
    trigger word, or its folder holds what was not made here.
    """
    found = "a folder that interactions did not make"
    mark = mark_of(task)
    kept, damaged = made_once(task.folder, MAKER, found, mark, lambda: _item(task, mark))
    return _made(task, kept=kept, damaged=damaged)


def _item(task: InteractionTask, mark: str) -> CueItem:
    said = _say(task)
    files = {INTERACTION: _interaction(task, said), "cues.json": cues_json(task.item, said, task.timing)}
    return CueItem({one.id: one.samples for one in said}, task.rate, files, _about(task, mark, said))


def is_made(task: InteractionTask) -> bool:
    """Tell whether the item is there, made from the same and whole."""
    return is_whole(task.folder, MAKER, mark_of(task))


def mark_of(task: InteractionTask) -> str:
    """Return the digest of all that an item is made from; nothing is spoken."""
    phrases = [phrase for _, turn in task.item.user for phrase in turn.phrases]
    voices = [_voice(task, phrase).spec.to_json() for phrase in phrases if not phrase.clip]
    clips = {phrase.clip: content_of(task.clips / phrase.clip) for phrase in phrases if phrase.clip}
    listens = task.recogniser and recogniser_of(task.recogniser, task.cache).spec.to_json()
    made_with = [_VERSION, asdict(task.item.policy), asdict(task.timing), task.seed, task.rate, task.language]
    return digest([made_with, LEVEL, PEAK, listens, task.item.to_json(), voices, clips])


def _voice(task: InteractionTask, phrase: Phrase) -> Any:
    told = phrase.voice or task.item.voice
    return voice_of(Spec.parse(told) if told else task.voice, task.cache, task.keys)


def _say(task: InteractionTask) -> list[Said]:
    """Return every cue as it sounds: the user's turns, and the backchannels that the user gives."""
    speaker = Speaker(
        lambda phrase: _voice(task, phrase),
        task.clips,
        task.rate,
        task.language,
        recogniser_of(task.recogniser, task.cache) if task.recogniser else None,
        task.seed,
    )
    turns = [(f"u{n}", turn, turn.text) for n, (_, turn) in enumerate(task.item.user)]
    if task.item.scenario == "user_backchannel":
        given = backchannels(task.item.position)
        turns += [(f"b{n}", Turn((Phrase(one.spoken),)), one.name) for n, one in enumerate(given)]
    return [_said(id, turn, label, speaker, task.rate) for id, turn, label in turns]


def _said(id: str, turn: Turn, label: str, speaker: Speaker, rate: int) -> Said:
    parts = speaker.say(turn)
    phrases, samples = join(
        [part.phrase.text for part in parts], [part.spoken for part in parts], turn.pauses, 0, 0, rate
    )
    return Said(id, label, turn, tuple(parts), phrases, samples, rate)


def _interaction(task: InteractionTask, said: Sequence[Said]) -> dict[str, Any]:
    item, policy = task.item, task.item.policy
    numbers = {line: n for n, (line, _) in enumerate(item.user)}
    calls = {
        "action": policy.action,
        "window": None if policy.window is None else [in_seconds(edge) for edge in policy.window],
        "overlap": policy.overlap,
    }

    def expected(id: str, cue: str, word: str, span: Span, target: str) -> dict[str, Any]:
        start, end = times(span)
        return {"id": id, "cue": cue, "start": start, "end": end, "word": word, **calls, "target": target}

    expects = [
        expected(str(n), f"u{numbers[anchor.line]}", anchor.word, _trigger(task, anchor, said[numbers[anchor.line]]),
                 anchor.target)
        for n, anchor in enumerate(item.anchors, 1)
    ]  # fmt: skip
    # What the user says over an answer triggers as a whole.
    expects += [
        expected(one.id, one.id, one.label, Span(0, one.duration), item.target) for one in said if one.id[0] == "b"
    ]
    probes = [
        {"id": str(n), "cue": f"u{numbers[line]}", **probe}
        for n, (line, probe) in enumerate(((at, one.probe) for at, one in enumerate(item.lines) if one.probe), 1)
        if probe is not None
    ]
    told: dict[str, Any] = {
        "schema": 1,
        "scenario": item.scenario,
        "category": item.category,
        "topic": item.topic,
        "synthesised": not any(part.phrase.clip for one in said for part in one.parts),
        "voice": _spoken_by(said),
        "style": said[0].parts[0].phrase.style,
        "instruction": task.timing.prompt_for(item),
        "target": item.target,
        "reply": item.reply,
        "expects": expects,
        "probes": probes,
        "pauses": [
            {"cue": one.id, "start": start, "end": end} for one in said for start, end in map(times, _pauses(one))
        ],
        "script": [
            {"who": line.who, "text": line.turn.text if line.turn else line.text}
            | ({"cue": f"u{numbers[n]}"} if line.turn else {})
            for n, line in enumerate(item.lines)
        ],
        "state": list(item.state),
        "notes": item.notes,
    }
    if len(item.anchors) > 1:
        told["targets"] = [anchor.target for anchor in item.anchors]
    return told


def _trigger(task: InteractionTask, anchor: Anchor, said: Said) -> Span:
    """Return where the trigger word sounds in its cue; raises :class:`InputError` where nothing tells."""
    phrase, n = occurrences(said.turn, anchor.word)[anchor.occurrence - 1]
    placed = said.phrases[phrase]
    span = None if placed.words is None else word_span(placed.words, said.turn.phrases[phrase].text, n)
    if span is None:
        raise InputError(
            f"{task.item.dataset}/{task.item.id}", f"{said.id}, {anchor.word}", found="a word that nothing places",
            expected="its time", do="choose a voice that tells its words, or a --recogniser",
        )  # fmt: skip
    last = n == len(said.turn.phrases[phrase].text.split()) - 1
    return Span(span.start, placed.span.end) if last else span


def word_span(words: Sequence[Word], text: str, n: int) -> Span | None:
    """Return where the ``n``-th word of ``text`` (from 0) lies, given the placed words of who said it.

    They may be cut otherwise than the text is: letters and digits are counted. Where these differ, since a recogniser
    spelt, the word of the same letters counts, if there are as many of it as in the text. Else None.
    """
    tokens = text.split()
    if _letters(tokens) == _letters(word.text for word in words):
        begin = len(_letters(tokens[:n]))
        end, at = begin + len(_letters(tokens[n : n + 1])), 0
        over = list[Word]()
        for word in words:
            size = len(_letters([word.text]))
            if at < end and at + size > begin:
                over.append(word)
            at += size
        return Span(over[0].span.start, over[-1].span.end) if over else None
    alike = [word for word in words if plain(word.text) == plain(tokens[n])]
    same = [at for at, token in enumerate(tokens) if plain(token) == plain(tokens[n])]
    return alike[same.index(n)].span if len(alike) == len(same) else None


def _letters(words: Any) -> str:
    return "".join(c for word in words for c in word.casefold() if c.isalnum())


def _pauses(said: Said) -> Iterator[Span]:
    return (Span(a.span.end, b.span.start) for a, b in pairwise(said.phrases))


def _about(task: InteractionTask, mark: str, said: Sequence[Said]) -> dict[str, Any]:
    sources = sorted({part.spoken.words_from for one in said for part in one.parts if part.spoken.words_from})
    language = getattr(_voice(task, said[0].parts[0].phrase), "language", task.language)
    return {
        "made_for": MAKER,
        "digest": mark,
        "dataset": task.item.dataset,
        "id": task.item.id,
        "category": task.item.category,
        "seed": task.seed,
        "rate": task.rate,
        "loudness": {"rms_dbfs": LEVEL, "peak_dbfs": PEAK, "of": "audible 10-ms frames"},
        "duration": in_seconds(sum(one.duration for one in said)),
        "words": " and ".join(sources),
        "voice": _spoken_by(said),
        "language": language,
        "accent": asked_accent(task.item),
        "annotated_by": task.item.annotated_by,
        "processed": sorted({part.phrase.style for one in said for part in one.parts if part.phrase.style}),
        "cues": [
            {"id": one.id, "phrases": [_phrase(*each) for each in zip(one.parts, one.phrases, strict=True)]}
            for one in said
        ],
    }  # fmt: skip


def _phrase(part: SaidPhrase, placed: Placed) -> dict[str, Any]:
    return {
        "text": placed.text,
        "timestamp": times(placed.span),
        "time_from": "recording" if part.phrase.clip else "synthesiser",
        "voice": part.voice,
        **({"clip": part.phrase.clip} if part.phrase.clip else {}),
        **({"processed": part.phrase.style} if part.phrase.style else {}),
        **({"cut_at_a_word": True} if part.cut else {}),
        "words_from": part.spoken.words_from,
        "words": [{"text": word.text, "timestamp": times(word.span)} for word in placed.words or ()],
    }


def asked_accent(item: Scripted) -> str:
    """Return the accent that the item's notes ask for (``accent: Spanish``), or nothing."""
    found = _ACCENT.search(item.notes)
    return found.group(1).strip() if found else ""


def _spoken_by(said: Sequence[Said]) -> str:
    voice = next((part.voice for one in said for part in one.parts if part.voice), None)
    return "" if voice is None else str(Spec(voice["name"], voice["options"]))


def _made(task: InteractionTask, *, kept: bool, damaged: str = "") -> MadeInteraction:
    about: Mapping[str, Any] = read_json(task.folder / "script.json")
    return MadeInteraction(
        task.item.scenario, task.item.id, task.folder, round(about["duration"] * SECOND),
        about["words"], about["voice"], about["language"], about["accent"], kept, damaged,
    )  # fmt: skip
