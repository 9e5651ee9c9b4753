"""What of a conversation's times is not to be relied on is said."""

from __future__ import annotations

from fullduplex.data.corpora.conversation import Conversation, Side, Utterance
from fullduplex.making.doubts import cut_of, doubts_of
from fullduplex.model.spans import Span, seconds
from fullduplex.model.speech import Word


def talk(gap: float, **options: object) -> Conversation:
    """Make ten turns of a second in turn, each so long after the one before."""
    turns = [Utterance("yes", Span(seconds(n * (1 + gap)), seconds(n * (1 + gap) + 1))) for n in range(10)]
    sides = [Side(name, utterances=tuple(turns[n::2]), **options) for n, name in enumerate("AB")]  # type: ignore[arg-type]
    return Conversation("t", (sides[0], sides[1]), remarks=("a remark",))


def test_turns_that_abut_are_told_as_cut() -> None:
    remark, doubt = doubts_of(talk(0))
    assert remark == "a remark" and "9 of 9 floor transfers lie within 10 ms of 0 (9 exactly)" in doubt


def test_turns_with_measured_gaps_and_words_with_times_raise_no_doubt() -> None:
    assert doubts_of(talk(0.2)) == ("a remark",)
    assert doubts_of(talk(0, words=())) == ("a remark",)


def test_words_whose_units_abut_are_told_as_cut_whatever_the_lines_do() -> None:
    sides = [
        Side(name, words=tuple(Word("yes", Span(seconds(n), seconds(n + 1))) for n in range(k, 10, 2)))
        for k, name in enumerate("AB")
    ]
    assert "9 of 9 floor transfers" in cut_of(Conversation("t", (sides[0], sides[1])))
