"""What harvest finds in a talk, and what it does not: each filter, with the edge beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from tests.making.talked import Person, conversation, talkers

from fullduplex.data.corpora.conversation import Utterance
from fullduplex.making.harvest.candidates import Candidate, Structure
from fullduplex.making.harvest.listeners import BACKCHANNELS, SLIGHT_OVERLAP
from fullduplex.making.harvest.rules import RULES
from fullduplex.making.harvest.sentences import PUNCTUATION, SLASH_UNITS, UTTERANCES, sentences_of
from fullduplex.making.harvest.turns import talk_of
from fullduplex.making.harvest.waiting import CONTINUOUS, INTER, INTRA
from fullduplex.model.spans import Span, Timeline, ms, seconds

RULE = RULES["duplexact"]


def kept(structure: Structure, a: Person, b: Person) -> list[Candidate]:
    return [one for one, why in judged(structure, a, b) if not why]


def judged(structure: Structure, a: Person, b: Person, **about: object) -> list[tuple[Candidate, str]]:
    talk = conversation(a, b)
    if about:
        talk = replace(talk, sides=(a.side(**about), talk.sides[1]))
    found = structure.candidates(talk_of(talk, RULE), RULE)
    return [(one, next((why for _, check in structure.checks if (why := check(one, RULE))), "")) for one in found]


def reasons(structure: Structure, a: Person, b: Person, **about: object) -> list[str]:
    return [why for _, why in judged(structure, a, b, **about)]


def lone(text: str, at: float = 1.0) -> tuple[Person, Person]:
    return Person("A").at(at, text), Person("B")


def texts(found: Sequence[Candidate]) -> list[str]:
    return [one.text for one in found]


# --- the talk that has one of each ---


def test_the_pause_in_a_sentence_is_found_with_the_sentence_around_it() -> None:
    (found,) = kept(INTRA, *talkers())
    assert found.text == "we drove up to the lake with all of the children"
    assert found.mark == Span(seconds(2.5), seconds(3.0))


def test_the_pause_between_sentences_is_found_with_both() -> None:
    found = kept(INTER, *talkers())
    assert "i like the small boats there my brother has bought one of them" in texts(found)
    assert found[0].mark == Span(seconds(15.5), seconds(16.1))


def test_speech_that_goes_on_is_found() -> None:
    assert texts(kept(CONTINUOUS, *talkers())) == ["we stayed for two weeks at the cabin near the big woods"]


def test_the_listener_s_token_is_found_with_the_turn_that_it_falls_into() -> None:
    (found,) = kept(BACKCHANNELS, *talkers())
    assert (found.reply, found.mark) == ("uh-huh", Span(seconds(39.6), seconds(39.85)))
    assert found.text == "it rained on the first day and then the sun came out again"


def test_the_early_answer_is_found_with_the_turn_that_it_answers() -> None:
    (found,) = kept(SLIGHT_OVERLAP, *talkers())
    assert found.text == "where do you go this year you know"
    assert found.mark == Span(seconds(47.6), seconds(48.0)) and found.reply == "oh we go to the sea this time"


# --- edges ---


@pytest.mark.parametrize(("pause", "taken"), [("0.199", False), ("0.2", True), ("1.0", True), ("1.001", False)])
def test_a_pause_lasts_from_0_2_to_1_0_seconds_both_included(pause: str, taken: bool) -> None:
    assert bool(kept(INTRA, *lone(f"we drove up to the lake ({pause}) with all the children / sd"))) is taken


@pytest.mark.parametrize(("pause", "taken"), [("0.199", False), ("0.2", True), ("1.0", True), ("1.001", False)])
def test_so_does_one_between_sentences(pause: str, taken: bool) -> None:
    assert bool(kept(INTER, *lone(f"i like the small boats / sd ({pause}) my brother has one / sd"))) is taken


def test_a_second_pause_leaves_neither() -> None:
    assert (
        reasons(INTRA, *lone("we drove (0.4) up to the lake (0.4) with all of them / sd"))
        == ["another pause is in it"] * 2
    )


def test_a_pause_inside_a_sentence_excludes_the_one_between_sentences() -> None:
    told = reasons(INTER, *lone("i like the (0.3) small boats there / sd (0.5) my brother has one / sd"))
    assert told == ["another pause is in it"]


def test_a_laugh_in_the_pause_is_no_silence() -> None:
    assert reasons(INTRA, *lone("we drove up to the lake (0.1) [laughter] (0.1) with them all / sd")) == [
        "the speaker is heard in the pause"
    ]


def test_a_word_that_lasts_into_the_pause_leaves_no_silence() -> None:
    a, b = lone("we drove up to the lake (0.5) with all of them / sd")
    # Two words of one speaker at once, as recognisers and people write them.
    a.words[4] = replace(a.words[4], span=Span(a.words[4].span.start, seconds(2.8)))
    assert reasons(INTRA, a, b) == ["a word of the speaker's lasts into the pause"]
    a.words[4] = replace(a.words[4], span=Span(a.words[4].span.start, seconds(2.5)))
    assert reasons(INTRA, a, b) == [""]


def test_a_cut_goes_through_no_word_that_lasts_longer_than_the_last_one() -> None:
    a, b = lone("we stayed for two weeks at the cabin near the big woods / sd (0.3) and then we left it / sd")
    assert reasons(CONTINUOUS, a, b)[0] == ""
    last = next(n for n, word in enumerate(a.words) if word.text == "big")
    a.words[last] = replace(a.words[last], span=Span(a.words[last].span.start, seconds(4.28)))
    assert reasons(CONTINUOUS, a, b)[0] == "the speaker is heard just after it"


def test_a_pause_that_a_detector_hears_speech_in_is_none() -> None:
    a, b = lone("we drove up to the lake (0.5) with all of them / sd")
    whole = Timeline([Span(seconds(1), seconds(5))])
    assert reasons(INTRA, a, b, speech=whole) == ["a detector hears the speaker in the pause"]
    parted = Timeline([Span(seconds(1), seconds(2.55)), Span(seconds(2.95), seconds(4))])
    ((found, why),) = judged(INTRA, a, b, speech=parted)
    assert not why and found.mark == Span(seconds(2.55), seconds(2.95))


def test_a_silence_that_only_a_detector_hears_breaks_speech_that_goes_on() -> None:
    a, b = lone("we stayed for two weeks at the cabin near the big woods / sd")
    heard = Timeline([Span(seconds(1), seconds(2)), Span(seconds(2.3), seconds(4))])
    assert reasons(CONTINUOUS, a, b) == [""]
    assert reasons(CONTINUOUS, a, b, speech=heard) == ["a detector hears a pause in it"]


def test_the_other_side_s_token_does_not_disturb_a_pause_and_its_sentence_does() -> None:
    a, _ = lone("we drove up to the lake (0.5) with all of them / sd")
    assert reasons(INTRA, a, Person("B").at(2.0, "uh-huh / b")) == [""]
    assert reasons(INTRA, a, Person("B").at(2.0, "no you really did not / sd")) == ["the other side speaks too"]


def test_sound_of_the_other_side_without_words_counts_as_speech_once_it_lasts() -> None:
    a, b = lone("we drove up to the lake (0.5) with all of them / sd")
    talk = conversation(a, b)
    for length, told in ((1.0, ""), (1.001, "the other side speaks too")):
        other = b.side(speech=Timeline([Span(seconds(1), seconds(1 + length))]))
        found = INTRA.candidates(talk_of(replace(talk, sides=(talk.sides[0], other)), RULE), RULE)
        (one,) = found
        assert next((why for _, check in INTRA.checks if (why := check(one, RULE))), "") == told


@pytest.mark.parametrize(("words", "taken"), [(11, False), (12, True), (120, True), (121, False)])
def test_speech_that_goes_on_lasts_three_seconds_or_more_and_thirty_at_most(words: int, taken: bool) -> None:
    assert bool(kept(CONTINUOUS, *lone("go " * words + "/ sd"))) is taken


@pytest.mark.parametrize(("gap", "taken"), [("0.2", True), ("0.201", False)])
def test_it_holds_no_gap_over_0_2_seconds(gap: str, taken: bool) -> None:
    found = texts(kept(CONTINUOUS, *lone(f"{'go ' * 8} ({gap}) {'on ' * 8} / sd")))
    assert bool(found) is taken


def test_what_cannot_be_cut_off_from_the_next_sentence_is_left() -> None:
    text = "we drove up to the lake (0.5) with all of them / sd ({}) and then we came back home / sd"
    told = reasons(INTRA, *lone(text.format("0.059")))
    assert told == ["the speaker is heard just after it"]
    assert reasons(INTRA, *lone(text.format("0.06"))) == [""]


def test_an_abandoned_sentence_is_left() -> None:
    assert reasons(INTRA, *lone("we drove up to the (0.5) well i mean to / %")) == [
        "a sentence of it is abandoned, or its ends are not known"
    ]


def test_an_aside_is_left() -> None:
    a, b = lone("we drove up to the lake (0.5) with all of them / sd")
    a.asides.append(Span(seconds(1), seconds(1.5)))
    assert reasons(INTRA, a, b) == ["the speaker talks to somebody else"]


TURN = "it rained on the first day / sd (0.3) and then the sun came out again / sd"


@pytest.mark.parametrize(
    ("said", "at", "told"),
    [
        ("uh-huh / b", 2.6, ""),
        ("oh i see now / b", 2.6, "it has more words"),
        ("yes right sure / b", 2.6, ""),
        ("uh-huh / b", 1.3, "the speaker's turn had hardly begun"),
    ],
)
def test_a_backchannel_is_brief_and_falls_into_a_turn(said: str, at: float, told: str) -> None:
    assert reasons(BACKCHANNELS, Person("A").at(1.0, TURN), Person("B").at(at, said)) == [told]


def test_it_is_none_where_the_speaker_does_not_go_on() -> None:
    a = Person("A").at(1.0, "it rained on the first day we came / sd (1.5) so it was / sd")
    assert reasons(BACKCHANNELS, a, Person("B").at(3.1, "uh-huh / b")) == ["the speaker does not go on at once"]


def test_a_second_token_in_the_same_stretch_is_told() -> None:
    a = Person("A").at(1.0, "it rained on the first day and then the sun came out again for good / sd")
    b = Person("B").at(2.2, "uh-huh / b").at(3.6, "yeah / b")
    assert reasons(BACKCHANNELS, a, b) == ["the listener says something else in it"] * 2


@pytest.mark.parametrize(
    ("overlap", "told"),
    [(0.099, "they hardly overlap"), (0.1, ""), (1.5, ""), (1.501, "they overlap for longer")],
)
def test_turns_overlap_from_0_1_to_1_5_seconds(overlap: float, told: str) -> None:
    a = Person("A").at(1.0, "where do you all want to go this summer then / qw")
    b = Person("B").at(3.5 - overlap, "we would like to go to the sea this time / sd")
    assert reasons(SLIGHT_OVERLAP, a, b) == [told]


def test_a_second_turn_of_three_words_is_no_answer_of_substance() -> None:
    a = Person("A").at(1.0, "where do you all want to go this summer then / qw")
    assert reasons(SLIGHT_OVERLAP, a, Person("B").at(3.2, "to the sea / sd")) == ["the second turn is brief"]


def test_a_first_speaker_who_speaks_on_has_not_left_the_floor() -> None:
    a = Person("A").at(1.0, "where do you all want to go this summer then / qw").at(5.2, "no tell me where / sd")
    b = Person("B").at(3.2, "we would like to go to the sea this time / sd")
    assert reasons(SLIGHT_OVERLAP, a, b)[0] == "the first speaker speaks on"


# --- sentences and turns ---


def test_sentences_are_told_by_punctuation_then_acts_then_lines() -> None:
    a = Person("A").at(1.0, "Mr. Smith came. Did he? Yes / sd")
    found, by = sentences_of(a.side(), RULE)
    assert by == PUNCTUATION and [(one.first, one.last, one.finished) for one in found] == [
        (0, 3, True), (3, 5, True), (5, 6, False),
    ]  # fmt: skip
    plain = Person("A").at(1.0, "he came home / sd and then / + he left / sd")
    found, by = sentences_of(plain.side(), RULE)
    assert by == SLASH_UNITS and [(one.first, one.last) for one in found] == [(0, 5), (5, 7)]
    lines = (Utterance("he came home", Span(0, seconds(1.75))), Utterance("and", Span(seconds(1.75), seconds(9))))
    found, by = sentences_of(plain.side(acts=(), utterances=lines), RULE)
    assert by == UTTERANCES and [(one.first, one.last) for one in found] == [(0, 3), (3, 7)]


def test_without_any_of_them_there_are_no_sentences() -> None:
    assert sentences_of(Person("A").at(1.0, "he came home").side(), RULE)[0] == ()


def test_words_that_no_act_covers_are_an_unfinished_sentence() -> None:
    side = Person("A").at(1.0, "he came home / sd").side()
    assert side.words is not None
    uncovered = replace(side, acts=(replace(side.acts[0], first=1),))
    found, _ = sentences_of(uncovered, RULE)
    assert [(one.first, one.last, one.finished) for one in found] == [(0, 1, False), (1, 3, True)]


def test_a_long_silence_ends_a_sentence_that_has_no_mark() -> None:
    words = Person("A").at(1.0, "Well (2.1) I think so. Yes. It is.").side()
    assert [(one.first, one.last) for one in sentences_of(words, RULE)[0]] == [(0, 1), (1, 4), (4, 5), (5, 7)]


@pytest.mark.parametrize(("gap", "turns"), [(2.0, 1), (2.001, 2)])
def test_a_turn_spans_silences_of_up_to_two_seconds(gap: float, turns: int) -> None:
    talk = talk_of(conversation(*lone(f"he came home ({gap}) and he left / sd")), RULE)
    assert len(talk.voices[0].turns) == turns


def test_what_the_other_says_ends_a_turn_if_it_is_substantive() -> None:
    a = Person("A").at(1.0, "he came home (1.5) and he left / sd")
    for said, turns in (("uh-huh / b", 1), ("did he come home / qy", 2)):
        talk = talk_of(conversation(a, Person("B").at(1.9, said)), RULE)
        assert len(talk.voices[0].turns) == turns


def test_every_threshold_is_told_with_its_unit() -> None:
    told = RULE.to_json()
    assert told["pause_at_least"] == 0.2 and told["brief_words"] == 3 and RULE.pause_at_least == ms(200)
