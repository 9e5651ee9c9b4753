"""Conversations to count, from a corpus of people, from systems that talk with themselves, or from a run's items.

All become the same: two sides, each with the times at which it speaks. Where these times come from is told, since it
changes every number: a line of a transcript holds pauses that its words do not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from fullduplex.data import audio
from fullduplex.data.corpora.conversation import Conversation as Talk
from fullduplex.data.corpora.conversation import Corpus, Side
from fullduplex.errors import FullDuplexError, InputError, printable
from fullduplex.making.harvest.hearing import Ears, Heard, heard, sound_of
from fullduplex.measures.conversation import (
    UNIT_ENDS_AFTER,
    Abutting,
    Conversation,
    Row,
    abutting,
    conversation_statistics,
    inter_pausal_units,
)
from fullduplex.model.spans import Span, Timeline
from fullduplex.runs.items import SEEN, read_item, trial_or_failure
from fullduplex.runs.run import Run

#: What tells when a side speaks: its words, the lines of its transcript, or a detector.
By = Literal["words", "lines", "speech"]
BY: tuple[By, ...] = ("words", "lines", "speech")
#: Told how far it is: what is done, items done, items in all.
Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Counted:
    """The conversations of one corpus or one run, each as what it is made of.

    ``people``: people on both sides. ``source``: where they come from, for the record. ``told_by``: how many
    conversations by what tells their times. ``edges``: by conversation, how many turns abut, of transcripts alone.
    ``groups``: of each conversation, what it was cut out of: the unit that is drawn; "" is itself. ``failed``: the
    name and a sentence of each that could not be counted.
    """

    name: str
    people: bool
    source: dict[str, Any]
    conversations: list[Conversation] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)
    told_by: Counter[str] = field(default_factory=Counter)
    edges: dict[str, Abutting] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)

    def add(self, one: Conversation, told_by: str, group: str = "") -> None:
        """Keep one conversation."""
        self.conversations.append(one)
        self.groups.append(group)
        self.told_by[told_by] += 1

    @property
    def minutes(self) -> float:
        """Return how long all conversations are together, in minutes."""
        return sum(one.duration for one in self.conversations) / 60e6

    @property
    def abutting(self) -> Abutting | None:
        """Return how many transfers abut in all; None where no time comes from a transcript."""
        if not self.edges:
            return None
        parts = list(self.edges.values())
        return Abutting(
            sum(one.transfers for one in parts), sum(one.exact for one in parts), sum(one.nearly for one in parts),
            parts[0].within,
        )  # fmt: skip

    @property
    def unreliable(self) -> str:
        """Return why floor-transfer offsets are not to be trusted, "" where nothing speaks against them."""
        found = self.abutting
        if found is None:
            return ""
        whole = found.unreliable()
        those = sum(bool(one.unreliable()) for one in self.edges.values())
        if whole:
            return f"{whole} (so in {those} of {len(self.edges)} conversations)"
        if those:
            return f"in {those} of {len(self.edges)} conversations the turns were cut, not measured"
        return ""


def people_of(
    corpus: Corpus,
    name: str = "people",
    *,
    by: By | None = None,
    ears: Callable[[], Ears] | None = None,
    people: bool = True,
    progress: Progress | None = None,
) -> Counted:
    """Return every conversation of ``corpus`` that can be counted.

    ``by``: what tells when a side speaks; None: of each conversation the first of words, lines and speech that both
    sides have. With ``ears``, recordings are heard where nothing else tells; a conversation without any of these is
    ``failed``. ``people``: False for systems that talk with themselves.
    """
    made = Counted(name, people, {"corpus": corpus.format, "licence": corpus.licence, "origin": corpus.origin})
    made.remarks += corpus.remarks
    sounds = Heard()
    for n, one in enumerate(corpus.names, 1):
        try:
            _count(made, corpus.read(one), by, ears, sounds)
        except InputError as error:
            made.failed.append((one, str(error)))
        if progress is not None:
            progress("conversations", n, len(corpus.names))
    if not made.conversations:
        why = f" ({made.failed[0][1]})" if made.failed else ""
        raise InputError(corpus.root, found=f"no conversation that can be counted{why}", expected="one at least")
    return made


def _count(made: Counted, talk: Talk, by: By | None, ears: Callable[[], Ears] | None, sounds: Heard) -> None:
    told_by = _first_of(talk) if by is None else by
    by_ear = False
    if told_by == "speech" and not all(_has(side, "speech") for side in talk.sides):
        if ears is None or any(side.recording is None for side in talk.sides):
            raise InputError(
                talk.name, found="neither times nor recordings of both sides", expected="words, lines or recordings"
            )
        sounds.add(talk.name, sound_of(talk))
        talk, by_ear = heard(_bare(talk), ears()), True
    if not all(_has(side, told_by) for side in talk.sides):
        raise InputError(talk.name, found=f"no {told_by} of both sides", expected="what --by names", do="name another")
    first, second = (spoken(side, told_by) for side in talk.sides)
    window = Span(0, _ends(talk, [*first, *second]))
    # Times of a transcript were set by somebody; those of a detector cannot abut by habit.
    if not by_ear:
        made.edges[talk.name] = abutting(_rows(talk, first, second))
    made.add(conversation_statistics(inter_pausal_units(first, second, window), talk.name), told_by)
    made.remarks += [f"{printable(talk.name, 80)}: {remark}" for remark in talk.remarks]


def _first_of(talk: Talk) -> By:
    return next((each for each in BY if all(_has(side, each) for side in talk.sides)), "speech")


def _bare(talk: Talk) -> Talk:
    """Return the talk without its words, so that it is heard."""
    first, second = (replace(side, words=None, speech=None) for side in talk.sides)
    return replace(talk, sides=(first, second))


def _has(side: Side, by: By) -> bool:
    if by == "words":
        return side.words is not None
    return bool(side.utterances) if by == "lines" else side.speech is not None


def spoken(side: Side, by: By) -> list[Span]:
    """Return when ``side`` speaks, in order of time, as its words, the lines of its transcript or its speech tell."""
    if by == "words":
        return sorted(word.span for word in side.words or ())
    return sorted(line.span for line in side.utterances) if by == "lines" else list(side.speech or Timeline())


def _rows(talk: Talk, first: Sequence[Span], second: Sequence[Span]) -> list[Row]:
    """Return the lines of the transcript, or where it has none the stretches that speak."""
    lines = [[line.span for line in side.utterances] for side in talk.sides]
    both = lines if all(lines) else [list(Timeline(one).bridge(UNIT_ENDS_AFTER)) for one in (first, second)]
    return sorted(
        (Row(n, span.start, span.end) for n, side in enumerate(both) for span in side), key=lambda row: row.start
    )


def _ends(talk: Talk, spans: Sequence[Span]) -> int:
    """Return how long the talk is: to its last sound, or to its recordings' end."""
    end = max((span.end for span in spans), default=0)
    for side in talk.sides:
        if side.recording is not None and side.recording.file.is_file():
            end = max(end, audio.probe(side.recording.file).duration)
    if not end:
        raise InputError(talk.name, found="nobody who speaks", expected="two people who do")
    return end


def items_of(run: Run, *, people: bool | None = None, progress: Progress | None = None) -> Counted:
    """Return the items of a run, each a short conversation of user and system, as the run's detector heard them.

    Where it was not heard, its words tell. Items of one recording are one group. ``people``: None as the run says.
    """
    told = run.about.get("people")
    detector = (run.about.get("hearings") or {}).get(SEEN, {}).get("detector", {})
    made = Counted(
        run.system,
        bool(told) if people is None else people,
        {"run": run.path.name, "benchmark": run.about["benchmark"]["name"], "detector": detector},
    )
    folders = list(run.items())
    for n, folder in enumerate(folders, 1):
        name = f"{folder.parent.name}/{folder.name}"
        try:
            made_of = _item(folder)
            if isinstance(made_of, str):
                made.failed.append((name, made_of))
            else:
                made.add(*made_of)
        except FullDuplexError as error:
            made.failed.append((name, str(error)))
        if progress is not None:
            progress("items", n, len(folders))
    if not made.conversations:
        raise InputError(run.path, found="no item that can be counted", expected="one at least")
    return made


def _item(folder: Path) -> tuple[Conversation, str, str] | str:
    item = read_item(folder)
    trial = trial_or_failure(folder, SEEN)
    if trial.failed:
        return trial.failed
    spans, by = list[list[Span]](), "speech"
    for track in (trial.user, trial.system):
        if track.speech is not None:
            spans.append(list(track.speech))
        elif track.words is not None:
            spans.append([word.span for word in track.words])
            by = "words"
        else:
            return "one side was not heard"
    ends = [track.duration or 0 for track in (trial.user, trial.system)]
    end = max([*ends, *(span.end for side in spans for span in side)])
    if not end:
        return "it lasts no time"
    found = conversation_statistics(inter_pausal_units(spans[0], spans[1], Span(0, end)), f"{item['set']}/{item['id']}")
    return found, by, str(item["group"])


def named_apart(corpora: Sequence[Counted]) -> Iterator[Counted]:
    """Yield the corpora with names that are all different: an equal one gets a number."""
    seen = Counter[str]()
    for one in corpora:
        seen[one.name] += 1
        if seen[one.name] > 1:
            one.name = f"{one.name} ({seen[one.name]})"
        yield one
