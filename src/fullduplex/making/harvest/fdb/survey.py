"""One conversation, surveyed: every place of every task with its annotation, and why each other place was dropped.

What was found is kept beside the items, by all that it depends on, so that a harvest that was stopped goes on, and
nothing is looked for twice. Each conversation is one task of its own, for as many processes as there are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation, Corpus
from fullduplex.data.files import replacing
from fullduplex.errors import InputError
from fullduplex.making.doubts import cut_of
from fullduplex.making.harvest.counting import Funnel
from fullduplex.making.harvest.fdb.floor import Floor, Party, floor_of, needs_tokens
from fullduplex.making.harvest.fdb.holding import ANSWERS, LISTENERS, PAUSES
from fullduplex.making.harvest.fdb.item import Origin, Source, annotated, cluster_of, id_of
from fullduplex.making.harvest.fdb.places import Finder, Place
from fullduplex.making.harvest.fdb.ranking import powers_of, score_of
from fullduplex.making.harvest.fdb.rules import VERSION, FdbRules
from fullduplex.making.harvest.fdb.speaking_over import ASIDES, INTERRUPTIONS, USERS_TOKENS
from fullduplex.making.harvest.hearing import Ears, are_apart, heard, sound_of, with_speech
from fullduplex.making.harvest.reading import read_placed
from fullduplex.making.harvest.tokens import Tokens, tokens_from, tokens_of
from fullduplex.making.harvest.withheld import Withheld
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import digest
from fullduplex.providers.weights import sha256

FINDERS = {one.task: one for one in (PAUSES, ANSWERS, LISTENERS, INTERRUPTIONS, USERS_TOKENS, ASIDES)}
FOLDER = ".survey"
#: Gives what listens; it is told whether words have to be found too, since what finds them is heavy to load.
Listens = Callable[[bool], Ears]


@dataclass(frozen=True, slots=True)
class Asked:
    """What every conversation is surveyed for. ``language``: "" takes each conversation's own.

    ``system_side``: the number of the side that is the partner, None for each in turn. ``names``: what is put out of
    texts beside what is put out anyway. ``tokens``: a list of one's own. ``licence``, ``where``: of the corpus, and
    where it is to be had, in the place of what its reader knows. ``listen``: a detector hears recordings with words
    too, so that a silence is one in the sound, and not only in the transcript. ``fill``: a recogniser adds words where
    that hears speech and the transcript has none.
    """

    rules_name: str
    rules: FdbRules
    out: Path
    language: str = ""
    system_side: int | None = None
    tokens: Path | None = None
    names: tuple[str, ...] = ()
    licence: str = ""
    where: str = ""
    listen: bool = False
    fill: bool = False


@dataclass(slots=True)
class Surveyed:
    """What came of one conversation: funnels by task, the dropped places, and the found ones.

    ``found`` holds for each place its task, id, score, span and side, and where its files stand in ``path``. ``words``
    is how many are known, ``restored`` how many of them a recogniser added to a transcript. ``doubts``: why its times
    are not to be relied on. ``sound``: digests of what its recordings hold.
    """

    path: Path
    funnels: dict[str, Funnel]
    dropped: list[dict[str, Any]]
    found: list[dict[str, Any]] = field(default_factory=list)
    words: int = 0
    restored: int = 0
    doubts: tuple[str, ...] = ()
    sound: frozenset[str] = frozenset()

    def files(self, place: Mapping[str, Any]) -> dict[str, Any]:
        """Return the JSON files of a found place."""
        with self.path.open("rb") as file:
            file.seek(place["offset"])
            made: dict[str, Any] = json.loads(file.readline())
        return made


def survey(corpus: Corpus, name: str, asked: Asked, ears: Listens | None = None) -> Path:
    """Survey one conversation, and return the file that tells what was found; one that was found before is kept.

    Raises :class:`InputError` where it cannot be read, or there is no list of its language's tokens.
    """
    conversation = read_placed(corpus, name)
    are_apart(conversation)
    told = _words_in(conversation)
    by_ear = _is_unheard(conversation)
    if by_ear or asked.listen or asked.fill:
        if ears is None:
            raise InputError(name, found="recordings without words", expected="words, or what hears them")
        conversation = heard(conversation, ears(True)) if by_ear else with_speech(conversation, ears(asked.fill))
    sources = _source(conversation, 0), _source(conversation, 1)
    language = asked.language or conversation.language
    tokens = _tokens(conversation, language, asked)
    mark = digest([
        VERSION, asked.rules.to_json(), asked.rules_name, asked.system_side, language, asked.names, corpus.format,
        asked.licence or corpus.licence, asked.where or corpus.origin, None if tokens is None else _lists(tokens),
        [None if one is None else [one.sha256, one.recording.channel] for one in sources], _content(conversation),
    ])  # fmt: skip
    path = asked.out / FOLDER / f"{cluster_of(name)}.jsonl"
    if _mark_of(path) == mark:
        return path
    origin = Origin(
        corpus.format,
        asked.licence or corpus.licence,
        asked.where or corpus.origin,
        asked.rules_name,
        asked.rules,
        Withheld.of(language, asked.names),
        language,
    )
    # What a detector or a recogniser heard on each channel by itself has no edge in common by habit.
    floor = floor_of(conversation, asked.rules, tokens, "" if by_ear else cut_of(conversation))
    words = _words_in(conversation)
    known = {
        "words": words,
        "restored": words - told if told else 0,
        "doubts": [floor.cut] if floor.cut else [],
        "sound": sorted(sound_of(conversation)),
    }
    _write(path, mark, floor, origin, asked, sources, known)
    return path


def _words_in(conversation: Conversation) -> int:
    return sum(len(side.words or ()) for side in conversation.sides)


def _is_unheard(conversation: Conversation) -> bool:
    return any(side.words is None and side.speech is None and not side.utterances for side in conversation.sides)


def _tokens(conversation: Conversation, language: str, asked: Asked) -> Tokens | None:
    if asked.tokens is not None:
        return tokens_from(asked.tokens, language)
    return tokens_of(language) if needs_tokens(conversation) else None


def _lists(tokens: Tokens) -> list[list[str]]:
    return [sorted(map(" ".join, one)) for one in (tokens.affirmative, tokens.uncertain, tokens.neutral)]


def _source(conversation: Conversation, n: int) -> Source | None:
    recording = conversation.sides[n].recording
    if recording is None:
        return None
    return Source(recording, sha256(recording.file), audio.probe(recording.file).rate)


def _content(conversation: Conversation) -> list[Any]:
    """Return what is known of what was said, as a digest's input."""
    return [
        [
            None if side.words is None else [[w.text, w.span.start, w.span.end] for w in side.words],
            [[one.text, one.span.start, one.span.end] for one in side.utterances],
            *([[one.start, one.end] for one in times or ()] for times in (side.sounds, side.asides, side.speech)),
            sorted(side.cut_off),
            side.words_from,
        ]
        for side in conversation.sides
    ]


def _write(
    path: Path, mark: str, floor: Floor, origin: Origin, asked: Asked, sources: tuple[Source | None, Source | None],
    known: Mapping[str, Any],
) -> None:  # fmt: skip
    finders = [FINDERS[task] for task in asked.rules.tasks]
    funnels = {one.task: Funnel(tuple(name for name, _ in one.checks)) for one in finders}
    dropped = list[dict[str, Any]]()
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("wb") as file:
        found = list[dict[str, Any]]()
        for user, partner in floor.pairs(asked.system_side):
            powers = None
            for place in _kept(floor, user, partner, finders, asked.rules, funnels, dropped):
                source = sources[user.number - 1]
                if powers is None and source is not None:
                    powers = powers_of(*audio.read(source.recording.file, source.recording.channel))
                score = score_of(place, asked.rules, powers)
                found.append({
                    "task": place.task, "id": id_of(place), "score": score.value, "side": user.number,
                    "start": place.heard.start, "end": place.heard.end, "offset": file.tell(),
                })  # fmt: skip
                file.write(_line(annotated(place, score, origin, sources)))
        at = file.tell()
        told = {
            "mark": mark, **known, "found": found, "dropped": dropped,
            "funnels": {
                task: {
                    "candidates": funnel.candidates,
                    "kept": dict(funnel.kept),
                    "reasons": {step: dict(why) for step, why in funnel.reasons.items()},
                }
                for task, funnel in funnels.items()
            },
        }  # fmt: skip
        file.write(_line(told))
        # Where the summary stands is told at the very end, so that the places before it need not be read.
        file.write(f"{at:020d}\n".encode())


def _line(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False).encode() + b"\n"


def _kept(
    floor: Floor, user: Party, partner: Party, finders: list[Finder], rules: FdbRules, funnels: dict[str, Funnel],
    dropped: list[dict[str, Any]],
) -> Iterator[Place]:  # fmt: skip
    """Yield the places that every check keeps; count and tell every other."""
    for finder in finders:
        funnel = funnels[finder.task]
        for place in finder.places(floor, user, partner, rules):
            funnel.candidates += 1
            for step, check in finder.checks:
                if why := check(place, rules):
                    funnel.drop(step, why)
                    dropped.append({
                        "task": finder.task, "conversation": cluster_of(floor.name), "side": user.number,
                        "start": in_seconds(place.heard.start), "end": in_seconds(place.heard.end),
                        "filter": step, "reason": why,
                    })  # fmt: skip
                    break
                funnel.keep(step)
            else:
                yield place


def read_survey(path: Path) -> Surveyed:
    """Return what a survey's file tells; raises :class:`InputError` where it is damaged."""
    told = _summary(path)
    if told is None:
        raise InputError(path, found="a damaged survey", expected="one that harvest wrote", do="remove it")
    funnels = dict[str, Funnel]()
    for task, row in told["funnels"].items():
        funnels[task] = Funnel(tuple(name for name, _ in FINDERS[task].checks), row["candidates"])
        funnels[task].kept.update(row["kept"])
        for step, reasons in row["reasons"].items():
            for reason, n in reasons.items():
                funnels[task].drop(step, reason, n)
    return Surveyed(
        path,
        funnels,
        told["dropped"],
        told["found"],
        told["words"],
        told["restored"],
        tuple(told["doubts"]),
        frozenset(told["sound"]),
    )


def _mark_of(path: Path) -> str:
    told = _summary(path)
    return "" if told is None else str(told.get("mark", ""))


def _summary(path: Path) -> dict[str, Any] | None:
    try:
        with path.open("rb") as file:
            file.seek(-21, 2)
            file.seek(int(file.readline()))
            told = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return told if isinstance(told, dict) and "found" in told else None


def spent(folder: Path, kept: set[str]) -> None:
    """Remove the surveys of conversations that the corpus no longer has."""
    for path in (folder / FOLDER).glob("*.jsonl"):
        if path.stem not in kept:
            path.unlink(missing_ok=True)
