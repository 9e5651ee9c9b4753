"""A recorded conversation of two people: what each said and when, as far as its corpus tells.

Everything lies on the conversation's own clock. What a corpus does not tell is None or empty, never made up.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fullduplex.model.spans import Span, Timeline
from fullduplex.model.speech import Word


@dataclass(frozen=True, slots=True)
class Recording:
    """Where a side is heard: a file, and its channel in it, counted from 0."""

    file: Path
    channel: int = 0


@dataclass(frozen=True, slots=True)
class Utterance:
    """A stretch that the transcript tells apart: a line of it, as its makers cut it.

    ``text`` is "" where the transcript tells when somebody speaks, and not what. ``unclear``: there is more in it than
    its text, a sound or what nobody understood.
    """

    text: str
    span: Span
    unclear: bool = False


@dataclass(frozen=True, slots=True)
class Loose:
    """Lines without times of their own, in their order, that were said somewhere in ``within``."""

    text: str
    within: Span


@dataclass(frozen=True, slots=True)
class Act:
    """A dialogue act: its ``tag``, and the words ``[first, last)`` of its side that it covers.

    ``unit`` is the name that the corpus gives the stretch, which several acts of one stretch share.
    """

    tag: str
    first: int
    last: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two people. ``name`` is A or B; ``speaker`` what the corpus calls this side, "" where nothing.

    ``words`` are in order of time, without marks that are no words; None where nobody has written them down.
    ``cut_off`` are the indices of words that were broken off. ``sounds`` is when the side makes a sound that is no
    word (laughter, a cough) or says what ``words`` do not tell (unclear, without times, a third person at the
    microphone), ``asides`` when it speaks to somebody else; ``speech`` what a detector heard, or a transcript without
    text marks, None where nobody listened. ``loose`` are lines that have no times; while words have none either, they
    are to be found in the sound.
    """

    name: str
    recording: Recording | None = None
    words: tuple[Word, ...] | None = None
    words_from: str = ""
    cut_off: frozenset[int] = frozenset()
    utterances: tuple[Utterance, ...] = ()
    acts: tuple[Act, ...] = ()
    sounds: Timeline = field(default_factory=Timeline)
    asides: Timeline = field(default_factory=Timeline)
    speech: Timeline | None = None
    speaker: str = ""
    loose: tuple[Loose, ...] = ()


@dataclass(frozen=True, slots=True)
class Conversation:
    """What two people said to each other; ``sides`` are two. ``remarks``: what of it is not to be relied on."""

    name: str
    sides: tuple[Side, Side]
    language: str = "en"
    remarks: tuple[str, ...] = ()


class Corpus(Protocol):
    """A folder of conversations. Each is read when it is asked for, and no other is kept.

    ``format`` is the reader's name; ``licence`` what the folder says of its licence, "" where nothing; ``origin``
    where the corpus is to be had; ``setting`` of what kind its talks are, "" where unknown; ``remarks`` what of the
    folder is not read, and why.
    """

    @property
    def format(self) -> str:
        """Return the reader's name."""
        ...

    @property
    def root(self) -> Path:
        """Return the folder."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the conversations, in order, all different."""
        ...

    @property
    def licence(self) -> str:
        """Return what is known of the licence."""
        ...

    @property
    def origin(self) -> str:
        """Return where the corpus is to be had."""
        ...

    @property
    def setting(self) -> str:
        """Return of what kind the talks are."""
        ...

    @property
    def remarks(self) -> tuple[str, ...]:
        """Return what is not read, a sentence each."""
        ...

    def recordings(self, name: str) -> tuple[Recording | None, Recording | None]:
        """Return where the sides of a conversation are heard, None where its recording is not at hand."""
        ...

    def read(self, name: str) -> Conversation:
        """Return one conversation; raises :class:`InputError` where a file of it cannot be read."""
        ...
