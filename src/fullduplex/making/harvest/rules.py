"""The thresholds of a harvest, by the name of its rules."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds, ms, seconds

#: The thresholds that are numbers of words, and no lengths of time.
COUNTED = ("brief_words", "sides_words", "between_marks", "tail_words")


@dataclass(frozen=True, slots=True)
class Rules:
    """What is a pause, a turn, something brief; times in microseconds, each with its edge.

    Of DuplexAct's Table 7: a pause lasts from ``pause_at_least`` to ``pause_at_most``, both included; in speech that
    goes on no gap is longer than ``gap_at_most``, and it lasts ``continuous_at_least`` or longer; a listener's
    utterance is brief up to ``brief_words`` words; two turns overlap by ``overlap_at_most`` or less.

    Ours: a side's words are one utterance across silences of up to ``joined_within``; its utterances are one turn
    across silences of up to ``turn_gap_at_most`` in which the other says nothing substantive, which is anything of
    more than ``brief_words`` words. A pause has ``sides_words`` or more words before and after it in its sentence.
    After a listener's brief utterance the speaker has gone on within ``resumes_within``. Turns overlap by
    ``overlap_at_least`` or more: word times are no finer. Who was overlapped says nothing substantive within
    ``leaves_for`` of the end. What is cut out is bordered by ``alone_at_least`` or more without the same side's words,
    so that no word is cut; up to ``around`` of it is kept, and it lasts ``longest`` at most; of a longer turn its last
    whole sentences that fit ``context`` are taken. Sound without words of up to ``unheard_at_most`` is nothing
    substantive. A text has punctuation where a sentence mark stands at least every ``between_marks`` words. What is
    left to say when the other begins holds ``tail_words`` words at most. A token answers a question that ended up to
    ``asked_within`` before it, where nothing else was said to its end since.
    """

    pause_at_least: int = ms(200)
    pause_at_most: int = seconds(1)
    gap_at_most: int = ms(200)
    continuous_at_least: int = seconds(3)
    brief_words: int = 3
    overlap_at_most: int = seconds(1.5)
    overlap_at_least: int = ms(100)
    joined_within: int = seconds(1)
    turn_gap_at_most: int = seconds(2)
    sides_words: int = 2
    resumes_within: int = seconds(1)
    leaves_for: int = seconds(2)
    alone_at_least: int = ms(60)
    around: int = ms(150)
    longest: int = seconds(30)
    context: int = seconds(20)
    unheard_at_most: int = seconds(1)
    between_marks: int = 40
    tail_words: int = 6
    asked_within: int = seconds(3)

    def to_json(self) -> dict[str, float | int]:
        """Return the thresholds by name, times in decimal seconds."""
        told = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value if name in COUNTED else in_seconds(value) for name, value in told.items()}


#: Raised when the same corpus and rules would give other items.
VERSION = 2
RULES: dict[str, Rules] = {"duplexact": Rules()}


def rules_named(name: str) -> Rules:
    """Return the rules of that name; raises :class:`InputError` where there are none."""
    if name not in RULES:
        raise InputError("--rules", found=name, expected=" or ".join(RULES))
    return RULES[name]


def described(rules: Rules) -> dict[str, Any]:
    """Return the rules as every product of a harvest carries them."""
    return {"version": VERSION, **rules.to_json()}
