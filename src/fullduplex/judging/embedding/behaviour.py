"""What a system did about speech during its turn, by words in common and nearness."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fullduplex.judging.embedding.vectors import Vectoriser
from fullduplex.judging.embedding.words import content, tokens

#: A stretch of at most so many words is uncertain where it has a phrase of :data:`_UNCERTAIN`.
BRIEF = 16
#: From this share of the old answer on, an answer counts as finished.
FINISHED_FROM = 0.85
#: From this share of its content words in the old answer on, a stretch continues it.
CONTINUES_FROM = 0.5
#: Below this nearness to either side a stretch fits neither.
FITS_FROM = 0.25
#: A stretch of fewer words after the heard ones is judged with what sounded during them.
ENOUGH = 3

_UNCERTAIN = re.compile(
    r"\b(?:pardon|come again|excuse me|once more|what was that|what did you say|did you say|you said something|"
    r"(?:say|repeat) (?:that|it|this|your)|(?:could|can|would|please) (?:you )?(?:please )?repeat|"
    r"(?:didn't|didn’t|did not|couldn't|couldn’t|could not|don't|don’t|not sure i|haven't) (?:quite |really )?"
    r"(?:catch|get|hear|understand|understood|follow)|(?:missed|miss) (?:that|something|it|what)|"
    r"(?:talking|speaking) to (?:me|someone)|(?:meant|was that) for me|who are you|what do you mean|"
    r"heard (?:someone|something))\b|"
    r"^\W*(?:sorry|hm+|huh|what|sorry what|sorry,? what was .*)\W*\?\W*$|\bsorry,? what\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The label, and what decided in words."""

    label: str
    why: str


def behaviour(overlap: str, before: str, during: str, after: str, clean: str, vectors: Vectoriser) -> Behaviour:
    """Return what the system did: ``respond``, ``uncertain``, ``resume`` or ``unknown``.

    The old answer is that of the clean run; where none is known, what the system had said before. Nothing said from
    the overlap on: ``resume`` where at least :data:`FINISHED_FROM` of the clean answer's content words were said
    before it, else ``unknown``. Else the last stretch of at least :data:`ENOUGH` words decides: a phrase that asks
    back in a brief one is ``uncertain``; a share of at least :data:`CONTINUES_FROM` of its content words in the old
    answer is ``resume``, unless it has more of the heard words; else the nearer of heard words and old answer, if it
    is as near as :data:`FITS_FROM`, else ``unknown``.
    """
    words_after, words_during = tokens(after), tokens(during)
    if not words_after and not words_during:
        return _silent(before, clean)
    said = after if len(words_after) >= ENOUGH else f"{during} {after}".strip()
    if len(tokens(said)) <= BRIEF and _UNCERTAIN.search(after or said):
        return Behaviour("uncertain", "it asks back")
    answer = clean if tokens(clean) else before
    old, heard, own = set(content(tokens(answer))), set(content(tokens(overlap))), set(content(tokens(said)))
    continued = len(own & old) / len(own) if own else 0.0
    taken = len(own & (heard - old)) / len(own) if own else 0.0
    if continued >= CONTINUES_FROM and continued > taken:
        return Behaviour("resume", f"{continued:.0%} of its words are of the old answer")
    rows = vectors([said, overlap, answer])
    to_overlap, to_clean = float(rows[1] @ rows[0]) + taken, float(rows[2] @ rows[0]) + continued
    told = f"nearness {to_overlap:.2f} to the heard words, {to_clean:.2f} to the old answer"
    if max(to_overlap, to_clean) < FITS_FROM:
        return Behaviour("unknown", told)
    return Behaviour("respond" if to_overlap > to_clean else "resume", told)


def _silent(before: str, clean: str) -> Behaviour:
    answer = set(content(tokens(clean)))
    share = len(answer & set(content(tokens(before)))) / len(answer) if answer else 0.0
    if share >= FINISHED_FROM:
        return Behaviour("resume", "its answer was finished before the heard words")
    return Behaviour("unknown", "it said nothing more, and its answer was not finished")
