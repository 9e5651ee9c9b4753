"""What harvest finds for Full-Duplex-Bench, and what it does not: each rule, with the edge beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.making.fdb_talk import V10, judged, kept, partners
from tests.making.talked import Person

from fullduplex.data.corpora.conversation import Side, Utterance
from fullduplex.making.harvest.fdb.edges import Range
from fullduplex.making.harvest.fdb.floor import floor_of
from fullduplex.making.harvest.fdb.ranking import score_of
from fullduplex.making.harvest.fdb.rules import ASIDE, FDB_RULES, INTERRUPT, LISTEN, PAUSE, TURN, USERS_TOKEN
from fullduplex.model.spans import Span, Timeline, ms, seconds

CALLFC, V15 = FDB_RULES["french-callfc"], FDB_RULES["fdb-1.5"]


def s(start: float, end: float) -> Span:
    return Span(seconds(start), seconds(end))


def alone(text: str, at: float = 1.0) -> tuple[Person, Person]:
    return Person("A").at(at, text), Person("B")


def reasons(task: str, a: Person | Side, b: Person | Side, **rules: object) -> list[str]:
    return [why for _, why in judged(task, a, b, replace(V10, **rules))]  # type: ignore[arg-type]


# --- the talk that has one of each ---


def test_a_pause_is_found_with_the_turn_around_it() -> None:
    (found,) = kept(PAUSE, *partners())
    assert found.events == (s(4.0, 4.6),) and found.turn.span == s(1.0, 7.6)
    # The partner's answer begins 0.2 s after the turn: the recording's lead does not reach it.
    assert found.heard == s(0.85, 7.75) and found.after == 0


def test_an_answer_is_found_with_the_turn_before_it_and_silence_after_it() -> None:
    first, second = kept(TURN, *partners())
    assert (first.events, second.events) == ((s(7.6, 7.8),), (s(12.8, 13.0),))
    assert first.after == seconds(5) and (first.user.number, second.user.number) == (1, 2)


def test_a_listener_s_token_is_found_with_the_turn_that_it_falls_into() -> None:
    (found,) = kept(LISTEN, *partners())
    assert found.events == (s(15.0, 15.25),) and found.turn.span == s(13.0, 19.0)


def test_an_interruption_is_found_with_what_the_user_said_before() -> None:
    (found,) = kept(INTERRUPT, *partners())
    assert found.events == (s(22.0, 23.5),) and found.earlier is not None and found.earlier.span == s(13.0, 19.0)
    assert found.heard.start == seconds(12.85) and found.after == seconds(15)


# --- edges of v1.0 ---


@pytest.mark.parametrize(("pause", "taken"), [("0.399", False), ("0.4", True), ("1.0", True), ("1.001", False)])
def test_a_pause_of_v1_lasts_from_0_4_to_1_0_seconds_both_included(pause: str, taken: bool) -> None:
    assert bool(kept(PAUSE, *alone(f"{'go ' * 12} ({pause}) {'go ' * 12}"))) is taken


@pytest.mark.parametrize(("words", "taken"), [(7, False), (8, True)])
def test_a_turn_with_a_pause_lasts_five_seconds_or_more(words: int, taken: bool) -> None:
    # 2.5 s, a pause of 0.5 s, and words of 0.25 s each.
    assert bool(kept(PAUSE, *alone(f"{'go ' * 10} (0.5) {'go ' * words}"))) is taken


def test_no_pause_is_taken_beside_what_may_be_a_backchannel() -> None:
    told = reasons(PAUSE, *alone(f"yeah (0.5) {'go ' * 24}"))
    assert told == ["what is said beside the pause may be a backchannel"]
    assert reasons(PAUSE, *alone(f"yeah (0.5) {'go ' * 24}"), pause_beside=False) == [""]


def test_a_pause_in_which_the_partner_speaks_is_none() -> None:
    a, _ = alone(f"{'go ' * 12} (0.9) {'go ' * 12}")
    assert kept(PAUSE, a, Person("B").at(4.2, "uh-huh")) == []


def test_the_part_of_a_turn_that_the_partner_speaks_into_is_left_out() -> None:
    a, _ = alone(f"{'go ' * 12} (0.5) {'go ' * 12} (0.5) {'go ' * 4}")
    (found,) = kept(PAUSE, a, Person("B").at(8.2, "uh-huh"))
    assert found.turn.span == s(1.0, 7.5) and found.events == (s(4.0, 4.5),)


@pytest.mark.parametrize(("start", "taken"), [(7.0, False), (7.25, True), (7.649, True), (7.65, False)])
def test_an_answer_of_v1_begins_at_the_turn_s_end_or_less_than_0_4_s_later(start: float, taken: bool) -> None:
    a, _ = alone("go " * 25)
    assert bool(kept(TURN, a, Person("B").at(start, "so " * 20))) is taken


@pytest.mark.parametrize(("words", "taken"), [(16, False), (17, True)])
def test_both_turns_of_v1_last_more_than_four_seconds(words: int, taken: bool) -> None:
    a, _ = alone("go " * words)
    assert bool(kept(TURN, a, Person("B").at(1.2 + words * 0.25, "so " * 17))) is taken
    b = Person("B").at(5.45, "so " * words)
    assert bool(kept(TURN, Person("A").at(1.0, "go " * 17), b)) is taken


def test_a_brief_answer_is_no_turn() -> None:
    a, _ = alone("go " * 20)
    assert reasons(TURN, a, Person("B").at(6.2, "uh-huh")) == ["the answer may be a backchannel"]


def test_what_a_partner_says_beside_the_list_is_no_backchannel() -> None:
    a, _ = alone("go " * 24)
    assert reasons(LISTEN, a, Person("B").at(3.0, "lamp")) == ["what the partner says is no known token"]
    assert reasons(LISTEN, a, Person("B").at(3.0, "mm-hmm")) == [""]


def test_a_backchannel_lasts_less_than_a_second() -> None:
    a, _ = alone("go " * 24)
    for end, taken in ((3.999, True), (4.0, False)):
        one = Side("B", words=(replace(Person("B").at(3.0, "yeah").words[0], span=s(3.0, end)),))
        assert bool(kept(LISTEN, a, one)) is taken


@pytest.mark.parametrize(("start", "taken"), [(19.999, False), (20.999, False), (21.0, True)])
def test_who_is_interrupted_has_had_the_floor_for_a_second(start: float, taken: bool) -> None:
    a, b = Person("A").at(13.0, "gu " * 24), Person("B").at(20.0, "bo " * 16)
    a.at(start, "no wait please stop that now")
    assert bool(kept(INTERRUPT, a, b)) is taken


def test_a_backchannel_is_no_interruption() -> None:
    a, b = Person("A").at(13.0, "gu " * 24), Person("B").at(20.0, "bo " * 16)
    assert [why for _, why in judged(INTERRUPT, a.at(22.0, "uh-huh"), b)] == ["it may be a backchannel"]


def test_an_interruption_follows_something_that_the_partner_may_answer() -> None:
    a, b = Person("A").at(22.0, "no wait please stop that now"), Person("B").at(20.0, "bo " * 16)
    assert reasons(INTERRUPT, a, b) == ["the user said nothing before that the partner may answer"]
    assert reasons(INTERRUPT, a, b, answered=False) == [""]


# --- edges of the French papers ---


@pytest.mark.parametrize(("pause", "taken"), [("0.7", False), ("0.701", True), ("2.0", True), ("2.001", False)])
def test_a_french_pause_is_longer_than_0_7_s_inside_a_turn_of_words_up_to_two_seconds_apart(
    pause: str, taken: bool
) -> None:
    assert bool(kept(PAUSE, *alone(f"oui je crois ({pause}) que non"), CALLFC, "fr")) is taken


@pytest.mark.parametrize(("gap", "taken"), [(0.999, True), (1.0, False)])
def test_a_french_answer_comes_less_than_a_second_later(gap: float, taken: bool) -> None:
    a, _ = alone("je pense que nous irons")
    assert bool(kept(TURN, a, Person("B").at(2.25 + gap, "et moi je reste ici"), CALLFC, "fr")) is taken


@pytest.mark.parametrize(("words", "taken"), [(7, False), (8, True)])
def test_french_backchannels_are_from_turns_of_two_seconds_or_more(words: int, taken: bool) -> None:
    a, _ = alone("donc " * words)
    assert bool(kept(LISTEN, a, Person("B").at(1.5, "d'accord"), CALLFC, "fr")) is taken


def test_only_the_wizard_of_media_is_the_system_and_nobody_backchannels() -> None:
    media = FDB_RULES["french-media"]
    assert media.system == "told" and LISTEN not in media.tasks and media.pause == CALLFC.pause


# --- v1.5 ---


def test_a_user_s_backchannel_is_found_where_the_partner_speaks_on() -> None:
    a, b = Person("A").at(1.0, "gu " * 12), Person("B").at(5.0, "bo " * 16)
    (found,) = kept(USERS_TOKEN, a.at(7.0, "uh-huh"), b, V15)
    assert found.events == (s(7.0, 7.25),)
    late = Person("A").at(1.0, "gu " * 12).at(7.8, "uh-huh")
    assert [why for _, why in judged(USERS_TOKEN, late, b, V15)] == ["the partner does not speak on"]


def test_words_for_somebody_else_are_those_that_the_corpus_marks() -> None:
    a, b = Person("A").at(1.0, "gu " * 12), Person("B").at(5.0, "bo " * 16)
    a.at(7.0, "close the door")
    assert kept(ASIDE, a, b, V15) == []
    a.asides.append(s(6.9, 7.8))
    (found,) = kept(ASIDE, a, b, V15)
    assert found.events == (s(7.0, 7.75),)


# --- what is known of a side ---


def test_with_speech_alone_length_tells_a_backchannel() -> None:
    def heard(name: str, *spans: tuple[float, float]) -> Side:
        return Side(name, speech=Timeline(s(*span) for span in spans))

    a, b = heard("A", (1, 4), (4.6, 8)), heard("B", (2.0, 2.9))
    assert len(kept(LISTEN, a, b)) == 1 and kept(LISTEN, a, heard("B", (2.0, 3.0))) == []
    assert len(kept(PAUSE, a, heard("B"))) == 1


def test_lines_without_word_times_make_turns() -> None:
    def lines(name: str, *told: tuple[float, float, str]) -> Side:
        return Side(name, utterances=tuple(Utterance(text, s(start, end)) for start, end, text in told))

    a = lines("A", (1, 6, "so we went there by train"))
    (found,) = kept(TURN, a, lines("B", (6.2, 11, "that must have been a long way")))
    assert found.turn.text == "so we went there by train"


def test_what_a_detector_hears_beside_the_words_counts() -> None:
    a, _ = alone(f"{'go ' * 12} (0.9) {'go ' * 12}")
    heard = Timeline([s(1.0, 4.0), s(4.3, 4.6), s(4.9, 7.9)])
    assert kept(PAUSE, a.side(speech=heard), Person("B")) == []
    less = Timeline([s(1.0, 4.0), s(4.3, 4.5), s(4.9, 7.9)])
    assert len(kept(PAUSE, a.side(speech=less), Person("B"))) == 1  # 0.2 s is within what word times are worth


def test_a_silence_in_which_the_other_says_something_ends_a_turn() -> None:
    a, _ = alone("je crois (1.8) que non")
    b = Person("B").at(1.6, "mais pourquoi donc alors")

    def turns(rules: object) -> int:
        from fullduplex.data.corpora.conversation import Conversation

        return len(floor_of(Conversation("t", (a.side(), b.side())), rules, None).parties[0].turns)  # type: ignore[arg-type]

    assert (turns(CALLFC), turns(replace(CALLFC, parted=False))) == (2, 1)


# --- rank ---


def test_the_score_is_the_mean_of_clarity_and_representation() -> None:
    (place,) = kept(PAUSE, *partners())
    score = score_of(place, V10)
    assert score.clarity == {"whole": 1.0}
    assert score.representation == {"before": 1.0, "after": 1.0, "one pause": 1.0} and score.value == 1.0
    (shorter,) = kept(PAUSE, *alone(f"{'go ' * 4} (0.5) {'go ' * 16} (0.5) {'go ' * 4}"))
    assert score_of(shorter, V10).representation == {"before": 0.5, "after": 0.5, "one pause": 0.5}
    assert score_of(shorter, V10).value == 0.75


def test_a_broken_word_makes_an_item_less_clear() -> None:
    (place,) = kept(PAUSE, *alone(f"{'go ' * 11} g- (0.5) {'go ' * 12}"))
    assert score_of(place, V10).clarity == {"whole": round(23 / 24, 4)}


# --- ranges ---


def test_a_range_says_which_edges_are_in_it() -> None:
    closed, opened = Range(at_least=ms(1), at_most=ms(2)), Range(more_than=ms(1), less_than=ms(2))
    assert [ms(1) in closed, ms(2) in closed, ms(1) in opened, ms(2) in opened] == [True, True, False, False]
    with pytest.raises(ValueError, match="not both"):
        Range(at_least=1, more_than=1)
    with pytest.raises(ValueError, match="something in it"):
        Range(more_than=5, at_most=5)


# --- what nobody measured, or understood ---


def cut_lines(overlap: float) -> tuple[Side, Side]:
    """Make two people whose lines begin where the other's ends, but for one, which begins so much before."""
    first, second = list[Utterance](), list[Utterance]()
    for n in range(12):
        (first, second)[n % 2].append(Utterance("de tout cela nous parlons", s(3 * n, 3 * n + 3)))
    second[-1] = Utterance("de tout cela nous parlons", Span(second[-1].span.start - seconds(overlap), seconds(36)))
    return Side("A", utterances=tuple(first)), Side("B", utterances=tuple(second))


@pytest.mark.parametrize(("overlap", "why"), [(0.049, "its edge was cut, not measured"), (0.05, "")])
def test_where_turns_were_cut_an_overlap_of_less_than_50_ms_is_no_interruption(overlap: float, why: str) -> None:
    told = judged(INTERRUPT, *cut_lines(overlap), CALLFC, "fr", doubted=True)
    assert [reason for _, reason in told] == [why]


def test_where_turns_were_cut_no_gap_was_measured() -> None:
    told = judged(TURN, *cut_lines(0), CALLFC, "fr", doubted=True)
    assert len(told) == 11 and {why for _, why in told} == {"its edge was cut, not measured"}


def test_where_turns_were_measured_any_overlap_counts() -> None:
    first, second = cut_lines(0.01)
    later = tuple(replace(one, span=one.span.shift(ms(300))) for one in second.utterances[:-1])
    told = judged(
        INTERRUPT, first, replace(second, utterances=(*later, second.utterances[-1])), CALLFC, "fr", doubted=True
    )
    assert "" in [why for _, why in told]


@pytest.mark.parametrize(
    ("text", "taken"), [("mh (0.1) mh (0.1) mh (0.1) mh (0.1) mh", False), ("mais non pas du tout cela", True)]
)
def test_tokens_of_listeners_are_no_interruption_however_long_they_are_said(text: str, taken: bool) -> None:
    a, b = partners()
    a.words = [word for word in a.words if word.span.start < seconds(20)]
    told = judged(INTERRUPT, a.at(22.0, text), b, CALLFC, "fr")
    assert ("" in [why for _, why in told]) is taken
    assert {why for _, why in told} == {"it may be a backchannel", *([""] if taken else [])}


def test_tokens_of_listeners_answer_nothing_however_long_they_are_said() -> None:
    a, b = Person("A").at(1.0, "go " * 12), Person("B").at(4.2, "mh (0.1) mh (0.1) mh (0.1) mh")
    assert [why for _, why in judged(TURN, a, b, CALLFC, "fr")] == ["the answer may be a backchannel"]


def test_words_that_nobody_can_say_so_fast_make_no_item() -> None:
    a, b = partners()
    a.words[-1] = replace(a.words[-1], span=Span(a.words[-1].span.start, a.words[-1].span.start + 1))
    told = {why for _, why in judged(INTERRUPT, a, b)}
    assert told == {"its words cannot have been said so fast", "it may be a backchannel"}
    a, b = partners()
    token = next(word for word in b.words if word.text == "uh-huh")
    b.words[b.words.index(token)] = replace(token, span=Span(token.span.start, token.span.start + 1))
    assert [why for _, why in judged(LISTEN, a, b)] == ["its words cannot have been said so fast"]


def test_no_pause_is_taken_in_which_the_partner_was_not_understood() -> None:
    a, b = partners()
    b.sounds.append(s(4.2, 4.4))
    assert [why for _, why in judged(PAUSE, a, b)] == ["the partner makes a sound in the pause that is no word"]


def test_no_gap_is_taken_in_which_somebody_was_not_understood() -> None:
    a, b = partners()
    b.sounds.append(s(7.65, 7.75))
    told = [why for _, why in judged(TURN, a, b)]
    assert "somebody makes a sound in the gap that is no word" in told
