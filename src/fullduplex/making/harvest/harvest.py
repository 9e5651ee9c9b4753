"""A corpus becomes items, one conversation at a time: every filter counts, and all that it drops has its reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Corpus
from fullduplex.data.files import brief, read_json, replacing, write_json
from fullduplex.data.interactions import SETTINGS
from fullduplex.errors import InputError
from fullduplex.making.doubts import doubts_of, told_once
from fullduplex.making.harvest.against_acts import AgainstActs
from fullduplex.making.harvest.candidates import BACKCHANNEL, Candidate, Structure
from fullduplex.making.harvest.counting import Funnel
from fullduplex.making.harvest.hearing import Ears, Heard, are_apart, heard, sound_of
from fullduplex.making.harvest.item import About, Found, Sounds, annotation, is_there, write_item
from fullduplex.making.harvest.keeping import begun, clear_left, remove_others
from fullduplex.making.harvest.listeners import BACKCHANNELS, SLIGHT_OVERLAP
from fullduplex.making.harvest.reading import read_placed
from fullduplex.making.harvest.rules import Rules, described, rules_named
from fullduplex.making.harvest.semantics import ByRule, Semantics
from fullduplex.making.harvest.turns import Talk, talk_of
from fullduplex.making.harvest.waiting import CONTINUOUS, INTER, INTRA
from fullduplex.model.spans import Span, in_seconds
from fullduplex.providers.weights import sha256

#: What each set of rules looks for, in this order.
STRUCTURES: Mapping[str, tuple[Structure, ...]] = {
    "duplexact": (INTRA, INTER, CONTINUOUS, BACKCHANNELS, SLIGHT_OVERLAP)
}
SUMMARY, COUNTS, DROPPED = "harvest.json", "counts.json", "dropped.jsonl"
#: The steps after the structure: what it means, and that no two items of a condition are the same speech.
MEANING, APART = "meaning", "no speech in two items"
#: The first of a backchannel's checks are the rule itself; the others ask whether the place makes a good item.
_THE_RULE = 3
Progress = Callable[[str, int, int], None]
_ABOUT = """Items harvested by fullduplex from the conversations of a corpus, for DuplexAct's conditions.
They are found by the published criteria, with thresholds of ours where these are silent, and are not DuplexAct's data:
numbers on them compare with nothing published. harvest.json tells the rules and the corpus, counts.json what every
filter kept, dropped.jsonl why each other place was dropped; script.json in each item tells where its sound is.
"""


@dataclass(frozen=True, slots=True)
class Harvested:
    """What came of a harvest: its items by condition, its counts, and the conversations and items that failed, and why.

    ``written``: how many items were written now; the others had been there. ``audio``: by what right there is sound,
    "" where there is none.
    """

    items: Mapping[str, int]
    funnels: tuple[tuple[str, Funnel], ...]
    against: AgainstActs
    conversations: int
    written: int
    failed: tuple[tuple[str, str], ...]
    remarks: tuple[str, ...]
    audio: str = ""


@dataclass(slots=True)
class _State:
    about: About
    semantics: Semantics
    out: Path
    audio: bool
    limit: int | None
    funnels: dict[str, Funnel]
    dropped: IO[str]
    items: dict[str, int] = field(default_factory=dict)
    there: set[Path] = field(default_factory=set)
    failed: list[tuple[str, str]] = field(default_factory=list)
    written: int = 0
    against: AgainstActs = field(default_factory=AgainstActs)
    sounds: Sounds = field(default_factory=Sounds)


def harvest(
    corpus: Corpus,
    out: Path,
    rules_name: str = "duplexact",
    *,
    semantics: Semantics | None = None,
    ears: Callable[[], Ears] | None = None,
    audio_allowed: str = "",
    setting: str | None = None,
    language: str = "en",
    limit: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    rules: Rules | None = None,
) -> Harvested:
    """Harvest a corpus into ``out``, and return what came of it.

    ``semantics`` decides what a place means (None: rules for ``language``). ``ears`` is called where recordings have
    no words. Without ``audio_allowed``, which says by what right, no sound is written: only where it is. ``setting``
    overrules the corpus' own; ``limit``: at most so many items of a condition, from conversations in an order drawn
    by ``seed``, and no further ones are read once all have so many. ``rules``: thresholds of one's own, which then are
    called ``rules_name``. What is there already is not made again, and items that a harvest made before and that are
    none now are removed; sound that is there stays, and so does the right that it was written by. Raises
    :class:`InputError` where ``out`` holds a harvest of another make, or nothing can be read.
    """
    structures = STRUCTURES["duplexact"]
    rules = rules_named(rules_name) if rules is None else rules
    setting = corpus.setting if setting is None else setting
    if setting and setting not in SETTINGS:
        raise InputError("--setting", found=setting, expected=", ".join(SETTINGS))
    semantics = ByRule.of(language) if semantics is None else semantics
    about = About(corpus.format, rules_name, rules, setting, corpus.licence, corpus.origin)
    asked: dict[str, Any] = {
        "corpus": corpus.format,
        "conversations": len(corpus.names),
        "rules": rules_name,
        "thresholds": described(rules),
        "semantic": semantics.by,
        "setting": setting,
        "language": language,
        "limit": limit,
        "seed": seed if limit is not None else None,
    }
    right = _open(out, asked, audio_allowed)
    funnels = {one.condition: Funnel((*(name for name, _ in one.checks), MEANING, APART)) for one in structures}
    failed, listened, read = list[tuple[str, str]](), list[Ears](), 0
    doubts, sounds = list[tuple[str, str]](), Heard()
    with replacing(out / DROPPED) as part, part.open("w", encoding="utf-8") as dropped:
        state = _State(about, semantics, out, bool(audio_allowed), limit, funnels, dropped)
        names = _in_order(corpus.names, seed, limit)
        for n, name in enumerate(names):
            if _enough(state, structures):
                break
            try:
                conversation = read_placed(corpus, name)
                are_apart(conversation)
                sounds.add(name, sound_of(conversation))
                doubts += [(name, doubt) for doubt in doubts_of(conversation)]
                _harvest_one(_known(conversation, ears, listened), state, structures)
                read += 1
            except InputError as error:
                failed.append((name, str(error)))
            failed += state.failed
            state.failed.clear()
            if progress:
                progress("conversations", n + 1, len(names))
    if failed and not read:
        raise InputError(corpus.root, found=f"no conversation that can be read ({failed[0][1]})", expected="one")
    remove_others(out.glob("da_*"), state.there)
    rows = tuple(funnels.items())
    told = state.against.to_json()
    write_json(
        out / COUNTS,
        {
            "schema": 1, "conversations": read, "items": dict(sorted(state.items.items())),
            "conditions": {name: funnel.to_json() for name, funnel in rows},
            "doubts": [{"conversation": name, "doubt": doubt} for name, doubt in doubts],
            **({"backchannels_against_acts": told} if told else {}),
        },
    )  # fmt: skip
    write_json(
        out / SUMMARY,
        {
            "schema": 1, "about": _ABOUT, "asked": asked, "licence": corpus.licence, "where": corpus.origin,
            "audio": right or None, "heard_by": listened[0].to_json() if listened else None,
            "failed": [{"conversation": name, "why": why} for name, why in failed], "not_read": list(corpus.remarks),
            "doubts": [{"conversation": name, "doubt": doubt} for name, doubt in doubts],
        },
    )  # fmt: skip
    return Harvested(
        state.items,
        rows,
        state.against,
        read,
        state.written,
        tuple(failed),
        (*corpus.remarks, *told_once(doubts)),
        right,
    )


def _open(out: Path, asked: Mapping[str, Any], audio_allowed: str) -> str:
    """Make the folder ready, and return by what right sound is in it, or will be: "" where none is.

    Raises :class:`InputError` where it holds what another question was answered with.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(out, found=error.strerror or str(error), expected="a folder to write to") from error
    path = out / SUMMARY
    if path.is_file():
        there = read_json(path)
        before = there.get("asked", {}) if isinstance(there, dict) else {}
        differs = next((name for name in asked if before.get(name) != asked[name]), None)
        if differs is not None:
            raise InputError(
                path, differs, found=brief(before.get(differs)), expected=brief(asked[differs]),
                do="choose another --out",
            )  # fmt: skip
    elif any(
        child.name not in (DROPPED, COUNTS) and not child.name.startswith((".", "da_")) for child in out.iterdir()
    ):
        raise InputError(out, found="a folder with other things in it", expected="a new folder, or a harvest")
    clear_left(out, [dataset.name for dataset in out.glob("da_*")])
    return begun(path, {"schema": 1, "about": _ABOUT, "asked": asked}, audio_allowed)


def _in_order(names: Sequence[str], seed: int, limit: int | None) -> list[str]:
    if limit is None:
        return list(names)
    return [names[n] for n in np.random.default_rng(seed).permutation(len(names))]


def _enough(state: _State, structures: Sequence[Structure]) -> bool:
    return state.limit is not None and all(_full(state, each) for one in structures for each in _conditions(one))


def _full(state: _State, condition: str) -> bool:
    return state.limit is not None and state.items.get(condition, 0) >= state.limit


def _conditions(structure: Structure) -> tuple[str, ...]:
    if structure.condition != BACKCHANNEL:
        return (structure.condition,)
    return f"{BACKCHANNEL}_affirmative", f"{BACKCHANNEL}_uncertainty"


def _known(conversation: Conversation, ears: Callable[[], Ears] | None, listened: list[Ears]) -> Conversation:
    if all(side.words is not None for side in conversation.sides):
        return conversation
    if ears is None:
        found = "recordings without words"
        raise InputError(conversation.name, found=found, expected="words, or what hears them")
    if not listened:
        listened.append(ears())
    if listened[0].recogniser is None:
        raise InputError("--recogniser", found="none", expected="what finds words: these rules rest on them")
    return heard(conversation, listened[0])


def _harvest_one(conversation: Conversation, state: _State, structures: Sequence[Structure]) -> None:
    talk = talk_of(conversation, state.about.rules)
    digests = {
        side.name: None if side.recording is None else (sha256(side.recording.file), audio.probe(side.recording.file))
        for side in conversation.sides
    }
    if state.audio and any(found is None for found in digests.values()):
        raise InputError(
            conversation.name, found="no recording of it", expected="its audio, which --audio asks for",
            do="say where it is with --recordings, or leave --audio away",
        )  # fmt: skip
    for structure in structures:
        for candidate, condition, reason in _kept(talk, structure, state):
            told = digests[candidate.voice.side.name]
            by = state.semantics.by
            found = Found(candidate, condition, by, reason, *((told[0], told[1].rate) if told else (None, None)))
            _write(found, state)


def _kept(talk: Talk, structure: Structure, state: _State) -> Iterator[tuple[Candidate, str, str]]:
    """Yield the candidates that every filter keeps, with what they are; count and tell every other."""
    funnel, rules = state.funnels[structure.condition], state.about.rules
    taken: dict[tuple[str, str], list[Span]] = {}
    listeners: dict[tuple[str, int], tuple[Candidate, str, bool]] = {}
    for candidate in structure.candidates(talk, rules):
        if all(_full(state, condition) for condition in _conditions(structure)):
            return
        funnel.candidates += 1
        step, why = _dropped(candidate, structure, rules, funnel)
        if structure is BACKCHANNELS:
            at = [name for name, _ in structure.checks].index(step) if step else len(structure.checks)
            worded = bool(_words_tell(candidate, state))
            key = candidate.other.side.name, candidate.reply_first
            listeners[key] = candidate, step if at < _THE_RULE else "", worded
        if step:
            _tell(state, candidate, step, why)
            continue
        judged = state.semantics.judge(candidate, rules)
        if not judged.condition:
            funnel.drop(MEANING, judged.reason.partition(":")[0])
            _tell(state, candidate, MEANING, judged.reason)
            continue
        funnel.keep(MEANING)
        spans = taken.setdefault((judged.condition, candidate.voice.side.name), [])
        why = "its speech is in another item" if any(span & candidate.span for span in spans) else ""
        why = why or ("enough of this condition" if _full(state, judged.condition) else "")
        if why:
            funnel.drop(APART, why)
            _tell(state, candidate, APART, why)
            continue
        funnel.keep(APART)
        spans.append(candidate.span)
        yield candidate, judged.condition, judged.reason
    if structure is BACKCHANNELS:
        state.against.count(talk, listeners)


def _words_tell(candidate: Candidate, state: _State) -> str:
    """Return the kind that the words alone tell, "" where there is no lexicon of the language."""
    rule = state.semantics if isinstance(state.semantics, ByRule) else None
    if rule is None:
        try:
            rule = ByRule.of(candidate.talk.language)
        except InputError:
            return ""
    return rule.lexicon.kind(candidate.reply)


def _dropped(candidate: Candidate, structure: Structure, rules: Rules, funnel: Funnel) -> tuple[str, str]:
    for step, check in structure.checks:
        if why := check(candidate, rules):
            funnel.drop(step, why)
            return step, why
        funnel.keep(step)
    return "", ""


def _tell(state: _State, candidate: Candidate, step: str, why: str) -> None:
    told = {
        "condition": candidate.condition,
        "conversation": candidate.talk.name,
        "side": candidate.voice.side.name,
        "start": in_seconds(candidate.mark.start),
        "end": in_seconds(candidate.mark.end),
        "filter": step,
        "reason": why,
    }
    state.dropped.write(json.dumps(told, allow_nan=False) + "\n")


def _write(found: Found, state: _State) -> None:
    folder = found.folder(state.out)
    told, script = annotation(found, state.about)
    if not is_there(folder, script, with_sound=state.audio):
        recording = found.candidate.voice.side.recording if state.audio else None
        try:
            write_item(folder, told, script, recording, state.sounds)
        except InputError as error:
            state.failed.append((f"{found.dataset}/{folder.name}", str(error)))
            return
        state.written += 1
    state.there.add(folder)
    state.items[found.condition] = state.items.get(found.condition, 0) + 1
