"""A user who follows a script with branches: what they say next depends on what the system did.

This is how recorded words are replayed to a system that has to be talking first: the next segment is
released, and chosen, by the system's behaviour. A script of one node after another without choices
is a plain replay.

A node's words begin once the node has been chosen and its own ``due`` is met. After them the conditions of
``then`` are asked without pause, and the first to be met (of several at one moment: the first in the
list) chooses the next node. When ``decide`` is met before any of them, ``otherwise`` is chosen; without it the script
has ended. A node that has been said ``at_most`` times is chosen no more.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, pair, read_json, text, time
from fullduplex.driving.clock import took
from fullduplex.driving.conditions import condition_from_json, needs_words, not_before, replied
from fullduplex.driving.cues import BREATH, Due, Ear, after_reply, at, plain
from fullduplex.driving.playout import Samples
from fullduplex.driving.user import Speak, Turn
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, Span, in_seconds, ms, seconds
from fullduplex.providers.voices import Voice

#: When a choice is closed unless the node says otherwise: 1.5 s after the reply, or 14 s after the user's words.
DECIDE = after_reply(quiet=ms(1_500), timeout=seconds(14))
#: No node is said more often.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Edge:
    """A way on: to the node ``go`` once ``condition`` is met."""

    condition: Due
    go: str


@dataclass(frozen=True, slots=True)
class Node:
    """Something to say, and where to go from it.

    ``audio`` is a recording, of which ``span`` (microseconds) is taken where given; without one ``text`` is
    spoken by a voice. ``due`` None begins at once when the node is chosen.
    """

    id: str
    text: str = ""
    audio: Path | None = None
    span: Span | None = None
    due: Due | None = None
    then: tuple[Edge, ...] = ()
    otherwise: str | None = None
    decide: Due = DECIDE
    at_most: int = 1


@dataclass(slots=True)
class Step:
    """A node that was chosen: from which, why, and when; ``begins`` is None until its words begin.

    ``because`` is the condition that was met, or ``start`` or ``otherwise``. ``heard`` is what the system was known to
    have said since the words before. Times in microseconds on the session clock.
    """

    node: str
    visit: int
    came_from: str | None
    because: Due | str
    chosen: int
    heard: str = ""
    begins: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the step, times in decimal seconds."""
        return {
            "node": self.node,
            "visit": self.visit,
            "from": self.came_from,
            "because": self.because if isinstance(self.because, str) else self.because.to_json(),
            "chosen": in_seconds(self.chosen),
            "begins": None if self.begins is None else in_seconds(self.begins),
            "heard": self.heard,
        }


class Branching:
    """A user who begins with the first of ``nodes`` and goes where the system's behaviour leads.

    ``voice_of`` gives each node's words, float32 at the system's ``rate_in``; it is asked for every node at
    once, so that no word has to wait for it. ``hear`` writes down what it hears, given samples and their rate: it
    is asked where the system reports no words, once it falls silent or a choice has to be made, and the choice
    waits for it. ``hearing`` is how long that takes on the step-algorithmic clock. ``path`` holds every step taken;
    ``ended`` says why there is no further one.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        voice_of: Callable[[Node], Samples],
        *,
        hear: Callable[[Samples, int], str] | None = None,
        hearing: int = ms(300),
    ) -> None:
        check(nodes)
        self.path: list[Step] = []
        self.ended = ""
        self._nodes = {node.id: node for node in nodes}
        self._sounds = {node.id: voice_of(node) for node in nodes}
        self._hear, self._hearing = hear, hearing
        self._visits = Counter[str]()
        self._at: Node | None = None
        self._next: Node | None = None
        self._to_hear: Span | None = None
        self._asked = asyncio.Event()
        self._heard_until, self._known_at, self._recognised = -1, 0, list[tuple[str, int]]()
        self._choose(nodes[0].id, "start", 0, Ear())

    @property
    def finished(self) -> bool:
        """Return whether the last words of the path have begun, and none will follow."""
        return bool(self.ended)

    def act(self, ear: Ear) -> Speak | None:
        """Return the next words once they are chosen and due."""
        if self.path and self.path[-1].begins is None and self._next is None:
            self.path[-1].begins = ear.spoke_from
        if self.ended or ear.spoke_until >= ear.now:
            return None
        known = replace(ear, words=sorted([*ear.words, *self._recognised], key=lambda word: word[1]))
        if self._next is None:
            self._go_on(known)
        if self._next is None:
            return None
        node, step = self._next, self.path[-1]
        due = step.chosen if node.due is None else node.due(known)
        begin = None if due is None else max(due, step.chosen)
        return None if begin is None or begin >= ear.now else self._say(node, step, begin)

    def _say(self, node: Node, step: Step, begin: int) -> Speak:
        due = self._told_due(node, step, begin)
        self._at, self._next = node, None
        self._recognised, self._heard_until, self._to_hear = [], -1, None
        if not any(map(self._open, (*(edge.go for edge in node.then), node.otherwise))):
            self.ended = "the script ends here"
        return Speak(Turn(self._sounds[node.id], due, node.id, node.text), begin)

    def _told_due(self, node: Node, step: Step, begin: int) -> Due:
        """Return the condition under which these words begin, as the talk's record can tell it again."""
        why: Due = at(0) if isinstance(step.because, str) else step.because
        if step.because == "otherwise" and step.came_from is not None:
            why = self._nodes[step.came_from].decide
        condition = node.due or why
        if self._recognised and needs_words(condition):
            # What a recogniser made of the sound is in the path; the record has the moment, and that there was a reply.
            return not_before(begin, replied())
        return not_before(step.chosen, condition)

    def _open(self, id: str | None) -> bool:
        return id is not None and self._visits[id] < self._nodes[id].at_most

    def _go_on(self, ear: Ear) -> None:
        """Choose the next node, or end, if what was heard decides it."""
        assert self._at is not None
        node = self._at
        met = [
            (when, n, edge)
            for n, edge in enumerate(node.then)
            if self._open(edge.go) and (when := edge.condition(ear)) is not None and when < ear.now
        ]
        if met:
            when, _, edge = min(met, key=lambda found: found[:2])
            self._choose(edge.go, edge.condition, when, ear)
            return
        closes = node.decide(ear)
        closed = closes is not None and closes < ear.now
        if self._owed(ear, closed) and any(needs_words(edge.condition) for edge in node.then if self._open(edge.go)):
            return
        if closed and closes is not None:
            if self._open(node.otherwise):
                assert node.otherwise is not None
                # A choice that waited for the recogniser is made now, not when it might have been.
                self._choose(node.otherwise, "otherwise", max(closes, self._known_at), ear)
            else:
                self.ended = "no condition was met"

    def _choose(self, id: str, because: Due | str, when: int, ear: Ear) -> None:
        self._visits[id] += 1
        self._next = self._nodes[id]
        heard = " ".join(word for word, _ in ear.words)
        came_from = None if self._at is None else self._at.id
        self.path.append(Step(id, self._visits[id], came_from, because, when, heard))

    def _owed(self, ear: Ear, closed: bool) -> bool:
        """Return whether what the system said is still to be written down; ask for it where the time has come."""
        if self._hear is None or ear.reply_began is None or ear.reply_until is None:
            return False
        if self._to_hear is not None:
            return True
        if (ear.words and not self._recognised) or self._heard_until >= ear.reply_until:
            return False
        if closed and self._heard_until >= 0:
            return False
        if closed or ear.now - ear.reply_until >= BREATH:
            self._to_hear = Span(ear.spoke_until, max(ear.spoke_until + 1, ear.reply_until))
            self._asked.set()
        return True

    async def think(self, ear: Ear) -> None:
        """Write down what the system said, whenever that is asked for."""
        while self._hear is not None:
            await self._asked.wait()
            self._asked.clear()
            hear, asked = self._hear, self._to_hear
            if asked is None:
                continue
            sound = ear.sound(asked.start, asked.end)
            written, _ = await took(lambda sound=sound, hear=hear: hear(sound, ear.rate), self._hearing)  # type: ignore[misc]
            if self._to_hear is asked:
                self._recognised = [(plain(word), ear.now) for word in written.split()]
                self._heard_until, self._to_hear, self._known_at = asked.end, None, ear.now


def recorded(rate: int, voice: Voice | None = None) -> Callable[[Node], Samples]:
    """Return what gives each node's words at ``rate``: its recording, or its text in ``voice``.

    Raises :class:`InputError` for a node that has no recording while there is no voice, and for a ``span``
    that does not lie in its recording.
    """

    def voice_of(node: Node) -> Samples:
        from fullduplex.data import audio

        if node.audio is None:
            if voice is None:
                raise InputError("nodes", node.id, found="no audio", expected="a recording, or a voice for its text")
            spoken = voice.speak(node.text)
            return audio.resample(spoken.samples, spoken.rate, rate)
        samples, own = audio.read(node.audio)
        if node.span is not None:
            first, end = node.span.start * own // SECOND, node.span.end * own // SECOND
            if end > len(samples) or end <= first:
                found = f"up to {in_seconds(node.span.end):g} s"
                raise InputError(node.audio, node.id, found=found, expected=f"within its {len(samples) / own:g} s")
            samples = samples[first:end]
        return audio.resample(samples, own, rate)

    return voice_of


def check(nodes: Sequence[Node], path: Path | str = "nodes") -> None:
    """Raise :class:`InputError` where the nodes are no script: none, ids twice, or a way to a node that is not."""
    if not nodes:
        raise InputError(path, "nodes", found="none", expected="at least one")
    counts = Counter(node.id for node in nodes)
    for node in nodes:
        if counts[node.id] > 1:
            raise InputError(path, node.id, found=f"{counts[node.id]} nodes of this id", expected="one")
        if not 1 <= node.at_most <= MOST:
            raise InputError(path, f"{node.id}, at_most", found=node.at_most, expected=f"1 to {MOST}")
        for go in (*(edge.go for edge in node.then), node.otherwise):
            if go is not None and go not in counts:
                raise InputError(path, node.id, found=f"a way to {go!r}", expected="the id of a node")


_KNOWN = ("id", "text", "audio", "span", "due", "then", "else", "decide", "at_most")


def read_branches(path: Path) -> tuple[Node, ...]:
    """Return the nodes of a script in JSON, the first of them its beginning.

    ``{"nodes": [{"id", "text" and/or "audio", "span": [start, end], "due": condition, "then": [{"if": condition,
    "go": id}, ...], "else": id or null, "decide": condition, "at_most": n}, ...]}``. Times are decimal seconds; an
    ``audio`` name counts from the script's folder and stays in it. Raises :class:`InputError`.
    """
    listed = member(read_json(path), "nodes", path)
    if not isinstance(listed, list):
        raise InputError(path, "nodes", found=brief(listed), expected="a list of nodes")
    nodes = tuple(_node(value, path, f"node {n}") for n, value in enumerate(listed, 1))
    check(nodes, path)
    return nodes


def _node(value: Any, path: Path, where: str) -> Node:
    id = text(member(value, "id", path, where), path, f"{where}, id")
    if not id:
        raise InputError(path, f"{where}, id", found="an empty text", expected="a name")
    where = f"{where} ({id})"
    unknown = set(value) - set(_KNOWN)
    if unknown:
        raise InputError(path, where, found=brief(min(unknown)), expected=", ".join(_KNOWN))
    words = text(value.get("text", ""), path, f"{where}, text")
    if not words.strip() and "audio" not in value:
        raise InputError(path, where, found="nothing to say", expected="a text or an audio file")
    then = value.get("then", [])
    if not isinstance(then, list):
        raise InputError(path, f"{where}, then", found=brief(then), expected="a list of conditions")
    otherwise = value.get("else")
    at_most = value.get("at_most", 1)
    if type(at_most) is not int:
        raise InputError(path, f"{where}, at_most", found=brief(at_most), expected="a whole number")
    return Node(
        id=id,
        text=words,
        audio=_audio(value["audio"], path, f"{where}, audio") if "audio" in value else None,
        span=_span(value["span"], path, f"{where}, span") if "span" in value else None,
        due=_condition(value, "due", path, where),
        then=tuple(_edge(edge, path, f"{where}, then {n}") for n, edge in enumerate(then, 1)),
        otherwise=None if otherwise is None else text(otherwise, path, f"{where}, else"),
        decide=_condition(value, "decide", path, where) or DECIDE,
        at_most=at_most,
    )


def _condition(value: Any, key: str, path: Path, where: str) -> Due | None:
    return condition_from_json(value[key], path, f"{where}, {key}") if value.get(key) is not None else None


def _edge(value: Any, path: Path, where: str) -> Edge:
    condition = condition_from_json(member(value, "if", path, where), path, f"{where}, if")
    if set(value) != {"if", "go"}:
        raise InputError(path, where, found=brief(value), expected='an object with "if" and "go"')
    return Edge(condition, text(value["go"], path, f"{where}, go"))


def _audio(value: Any, path: Path, where: str) -> Path:
    name = text(value, path, where)
    folder = path.parent.resolve()
    try:
        found = (folder / name).resolve()
        inside = found.is_relative_to(folder) and found != folder
    except (OSError, ValueError):
        inside = False
    if not inside:
        raise InputError(path, where, found=repr(name), expected="a file in the script's folder")
    return found


def _span(value: Any, path: Path, where: str) -> Span:
    start, end = (seconds(time(part, path, where)) for part in pair(value, path, where))
    if not 0 <= start < end:
        raise InputError(path, where, found=brief(value), expected="[start, end] in seconds, start before end")
    return Span(start, end)
