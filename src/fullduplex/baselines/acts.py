"""People under DuplexAct's rules: its harvested items as talks, with the person who was there in the system's place."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Corpus
from fullduplex.data.fdb_folder import transcript
from fullduplex.data.files import read_json, write_json
from fullduplex.data.interactions import FILE as INTERACTION
from fullduplex.errors import InputError
from fullduplex.making.harvest.harvest import SUMMARY, Progress, harvest
from fullduplex.making.harvest.hearing import Ears, heard
from fullduplex.making.harvest.item import Sounds
from fullduplex.making.harvest.reading import read_placed
from fullduplex.making.harvest.rules import Rules, rules_named
from fullduplex.making.harvest.turns import Voice, talk_of
from fullduplex.making.item_folder import clear_halves, made_here, whole_folder
from fullduplex.making.joining import times
from fullduplex.model.spans import SECOND, Span, in_seconds, seconds
from fullduplex.model.spec import digest
from fullduplex.model.speech import Token

#: How long the other person is heard after the item's last word, where the speaker says nothing more of substance.
TAIL = seconds(10)
_SCRIPT = "script.json"
MAKER = "baseline"
#: Raised when the same item would give another talk.
_VERSION = 1


def harvested_acts(
    corpus: Corpus, out: Path, rules_name: str, *, ears: Callable[[bool], Ears], language: str, audio_allowed: str,
    progress: Progress | None = None,
) -> tuple[Path, tuple[tuple[str, str], ...]]:  # fmt: skip
    """Harvest DuplexAct's items from ``corpus`` into ``out``/items, and return ``out``/talks: what people did in them;
    and the name of each conversation or item that failed, with a sentence.

    A talk is an item's folder as a talk with a system leaves it: ``input.wav`` is the item's own sound with silence
    behind it, ``output.wav`` the other side of the conversation at the same time, up to where the speaker says more
    than something brief again, or :data:`TAIL` after the item. What is measured later than that is ``censored``.
    Raises :class:`InputError` where the corpus has no recordings: words do not tell how long somebody was heard.
    """
    if not any(one is not None for name in corpus.names for one in corpus.recordings(name)):
        raise InputError(
            corpus.root, found="a corpus without recordings",
            expected="recordings: duplexact judges silences, and words alone do not tell how long a side was heard",
        )  # fmt: skip
    rules = rules_named(rules_name)
    items, talks = out / "items", out / "talks"
    found = harvest(
        corpus, items, rules_name, ears=lambda: ears(True), audio_allowed=audio_allowed, language=language,
        progress=progress, rules=rules,
    )  # fmt: skip
    scripts = [(path.parent, read_json(path)) for path in sorted(items.glob(f"da_*/*/{_SCRIPT}"))]
    scripts.sort(key=lambda one: str(one[1]["recording"]["conversation"]))
    listened = list[Ears]()
    for task in {folder.parent.name for folder, _ in scripts}:
        clear_halves(talks / task)
    done = 0
    for name, members in groupby(scripts, key=lambda one: str(one[1]["recording"]["conversation"])):
        conversation: Conversation | None = None
        sounds = Sounds(keep=2)
        for folder, script in members:
            talk = talks / folder.parent.name / folder.name
            mark = digest([_VERSION, script["digest"]])
            done += 1
            if progress:
                progress("talks", done, len(scripts))
            if _is_there(talk, mark):
                continue
            if conversation is None:
                conversation = _known(read_placed(corpus, name), ears, listened)
            _write(talk, folder, script, conversation, rules, sounds, mark)
    _remove_others(talks, {(folder.parent.name, folder.name) for folder, _ in scripts})
    write_json(talks / SUMMARY, read_json(items / SUMMARY))
    return talks, found.failed


def _known(conversation: Conversation, ears: Callable[[bool], Ears], listened: list[Ears]) -> Conversation:
    if all(side.words is not None for side in conversation.sides):
        return conversation
    if not listened:
        listened.append(ears(True))
    return heard(conversation, listened[0])


def _is_there(talk: Path, mark: str) -> bool:
    try:
        told = read_json(talk / _SCRIPT)
    except InputError:
        return False
    return isinstance(told, dict) and told.get("digest") == mark


def _write(
    talk: Path, item: Path, script: Mapping[str, Any], conversation: Conversation, rules: Rules, sounds: Sounds,
    mark: str,
) -> None:  # fmt: skip
    """Write one item as a talk, whole or not at all; raises :class:`InputError` where a recording cannot be cut."""
    if talk.exists() and not made_here(talk, MAKER):
        raise InputError(talk, found="a folder that baseline did not make", expected="a new folder", do="move it away")
    told = script["recording"]
    voices = talk_of(conversation, rules).voices
    user, partner = voices if voices[0].side.name == told["side"] else voices[::-1]
    clip = Span(seconds(told["start"]), seconds(told["end"]))
    until = _goes_on(user, clip.end, rules)
    if partner.side.recording is None:
        raise InputError(conversation.name, found="no recording of the other side", expected="both sides' sound")
    output, rate, coding = sounds.cut(
        partner.side.recording, in_seconds(clip.start), in_seconds(until), in_seconds(clip.start)
    )
    heard_for = len(output) * SECOND // rate
    until = min(until, clip.start + heard_for)
    own, its_rate = audio.read(item / "u0.wav")
    length = max(len(own), heard_for * its_rate // SECOND)
    interaction = read_json(item / INTERACTION)
    text = " ".join(line["text"] for line in interaction["script"])
    turn = {"id": "u0", "timestamp": [0.0, in_seconds(len(own) * SECOND // its_rate)], "text": text}
    with whole_folder(talk) as half:
        audio.write(
            half / "input.wav", np.pad(own, (0, length - len(own))), its_rate, audio.probe(item / "u0.wav").subtype
        )
        audio.write(half / "output.wav", output, rate, coding)
        write_json(half / INTERACTION, {**interaction, "turns": [turn]})
        for name, voice, span in (("input", user, clip), ("output", partner, Span(clip.start, until))):
            write_json(half / f"{name}.json", transcript(_tokens(voice, span)))
        write_json(half / _SCRIPT, _about(script, mark, partner, Span(clip.start, until)))


def _goes_on(user: Voice, end: int, rules: Rules) -> int:
    """Return when a speaker says more than something brief after ``end``, at most :data:`TAIL` later.

    What is still the utterance that the item was cut out of is more, however little.
    """
    latest = end + TAIL
    for one in user.utterances:
        if one.span.end <= end:
            continue
        rest = [word for word in user.words[one.first : one.last] if word.span.start >= end]
        if rest and (one.span.start < end or one.count > rules.brief_words):
            latest = min(latest, rest[0].span.start)
            break
    return min([latest, *(max(one.start, end + 1) for one in user.untold if one.end > end)])


def _tokens(voice: Voice, span: Span) -> tuple[Token, ...]:
    inside = [(word, word.span & span) for word in voice.words if word.span.start >= span.start]
    return tuple(Token(word.text, *times(part.shift(-span.start))) for word, part in inside if part is not None)


def _about(script: Mapping[str, Any], mark: str, partner: Voice, span: Span) -> dict[str, Any]:
    """Return what a talk tells of where it is from."""
    start, end = times(span)
    return {
        "digest": mark,
        "made_for": MAKER,
        "id": script["id"],
        "recording": {
            **{name: script["recording"][name] for name in ("corpus", "conversation")},
            "user": {name: script["recording"][name] for name in ("side", "start", "end")},
            "partner": {"side": partner.side.name, "start": start, "end": end},
        },
        "licence": script["licence"],
        "where": script["where"],
        "words": {"partner": partner.side.words_from},
    }


def _remove_others(talks: Path, kept: set[tuple[str, str]]) -> None:
    """Remove the talks of items that are none any more."""
    for folder in talks.glob("da_*/*"):
        if (folder.parent.name, folder.name) not in kept and made_here(folder, MAKER):
            shutil.rmtree(folder)
