"""What a place means: by rules on words, or by a language model whose answers are kept as they came."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.making.talked import Person, conversation, talkers

from fullduplex.errors import InputError
from fullduplex.making.harvest.by_model import TRIES, ByModel, answer_in, excerpt
from fullduplex.making.harvest.candidates import Candidate, Structure
from fullduplex.making.harvest.lexicon import AFFIRMATIVE, UNCERTAINTY, lexicon_of
from fullduplex.making.harvest.listeners import BACKCHANNELS, SLIGHT_OVERLAP
from fullduplex.making.harvest.rules import RULES
from fullduplex.making.harvest.semantics import ByRule
from fullduplex.making.harvest.turns import talk_of
from fullduplex.making.harvest.waiting import INTRA
from fullduplex.model.spec import Spec
from fullduplex.providers.language_models import Message

RULE = RULES["duplexact"]
BY_RULE = ByRule.of("en")


class Answers:
    """A language model that gives its answers one after another, the last for ever."""

    def __init__(self, *answers: str, name: str = "answers") -> None:
        self.answers, self.asked = list(answers), list[Sequence[Message]]()
        self.spec = Spec(name)

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        self.asked.append(messages)
        yield self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def found(structure: Structure, a: Person, b: Person) -> Candidate:
    return next(iter(structure.candidates(talk_of(conversation(a, b), RULE), RULE)))


def overlap(first: str, second: str, at: float) -> Candidate:
    return found(SLIGHT_OVERLAP, Person("A").at(1.0, first), Person("B").at(at, second))


YES, NO = '{"answer": "yes", "reason": "it is whole"}', '{"answer": "no", "reason": "it breaks off"}'


@pytest.mark.parametrize(
    ("token", "kind"),
    [("uh-huh", AFFIRMATIVE), ("Mm-hmm.", AFFIRMATIVE), ("yeah yeah", AFFIRMATIVE), ("oh okay", AFFIRMATIVE),
     ("that's right", AFFIRMATIVE), ("huh", UNCERTAINTY), ("oh really", UNCERTAINTY), ("I don't know", UNCERTAINTY),
     ("yeah maybe", UNCERTAINTY), ("Yeah?", UNCERTAINTY), ("oh", ""), ("uh", ""), ("no", ""), ("the potato", ""),
     ("that's great", "")],
)  # fmt: skip
def test_a_token_is_of_the_kind_that_its_words_tell(token: str, kind: str) -> None:
    assert lexicon_of("en").kind(token) == kind


def test_a_language_without_a_lexicon_needs_a_model() -> None:
    with pytest.raises(InputError, match="give --model"):
        ByRule.of("fr")


def test_the_rule_tells_a_backchannel_by_its_words() -> None:
    assert BY_RULE.judge(found(BACKCHANNELS, *talkers()), RULE).condition == "backchannel_affirmative"


@pytest.mark.parametrize(("pause", "act", "kept"), [("1.0", "sd", True), ("1.0", "qy", False), ("3.01", "qy", True)])
def test_a_token_soon_after_a_question_may_be_its_answer(pause: str, act: str, kept: bool) -> None:
    a = (
        Person("A")
        .at(1.0, f"so you are still there / {act}")
        .at(2.5 + float(pause) - 0.5, "then i will go on now / sd")
    )
    token = Person("B").at(2.25 + float(pause), "yeah / b")
    talk = talk_of(conversation(a, token), RULE)
    speaker, listener = talk.voices
    turn = Candidate("backchannel", talk, speaker, listener, 0, 11, "backchannel", token.words[0].span, 6, 0, 1, 0)
    assert bool(BY_RULE.judge(turn, RULE).condition) is kept


@pytest.mark.parametrize(
    ("text", "why"),
    [("we drove up to the lake (0.5) with all of the children / sd", ""),
     ("we drove up to the lake (0.5) with all of the / sd", "a sentence's last word leaves it open"),
     ("we drove up to the l- (0.5) lake with all of them / sd", "a word beside the pause is broken off"),
     ("we drove up to the lake (0.5) with all of th- / sd", "a word at its edge is broken off")],
)  # fmt: skip
def test_the_rule_leaves_what_is_open_or_broken_off(text: str, why: str) -> None:
    assert BY_RULE.judge(found(INTRA, Person("A").at(1.0, text), Person("B")), RULE).reason == why


@pytest.mark.parametrize(
    ("first", "second", "at", "why"),
    [
        ("where do you go this year you know / qw", "oh we go to the sea / sd", 2.5, ""),
        ("where do you go this year in July / qw", "oh we go to the sea / sd", 2.5, "something new is still"),
        ("we all go away in the year you know / sd", "they have a big dog there / sd", 2.75, "nothing shows that"),
        ("we all go away in the year you know / sd", "yeah they have a dog there / sd", 2.75, ""),
        ("where do you go this year / qw", "oh we go to the sea / sd", 2.375, ""),
        ("where do you go this year / qw", "oh we go to the sea / sd", 2.374, "something new is still"),
    ],
)
def test_the_rule_asks_for_an_answer_and_for_nothing_new_after_it_began(
    first: str, second: str, at: float, why: str
) -> None:
    """The last two: a word counts as said once half of it was."""
    assert BY_RULE.judge(overlap(first, second, at), RULE).reason.startswith(why) or not why
    assert bool(BY_RULE.judge(overlap(first, second, at), RULE).condition) is not bool(why)


def test_a_model_that_says_yes_keeps_and_its_reason_is_told() -> None:
    judged = ByModel(Answers(YES)).judge(found(INTRA, *talkers()), RULE)
    assert (judged.condition, judged.reason) == ("wait_intra_pause", "it is whole")


def test_a_model_that_says_no_drops_with_its_reason() -> None:
    judged = ByModel(Answers(NO)).judge(found(INTRA, *talkers()), RULE)
    assert (judged.condition, judged.reason) == ("", "the model says no: it breaks off")


@pytest.mark.parametrize(
    ("kind", "condition"),
    [("affirmative", "backchannel_affirmative"), ("uncertainty", "backchannel_uncertainty"), ("neither", "")],
)
def test_a_model_is_asked_about_the_turn_and_then_for_the_kind(kind: str, condition: str) -> None:
    model = Answers(YES, json.dumps({"answer": kind, "reason": "so it sounds"}))
    assert ByModel(model).judge(found(BACKCHANNELS, *talkers()), RULE).condition == condition
    assert len(model.asked) == 2 and "uh-huh" in model.asked[0][1].text


def test_an_answer_that_cannot_be_read_is_asked_for_again_and_then_drops() -> None:
    model = Answers("well, yes", '{"answer": "perhaps"}', YES)
    assert ByModel(model).judge(found(INTRA, *talkers()), RULE).condition == "wait_intra_pause"
    assert len(model.asked) == 3 and "cannot be read" in model.asked[1][-1].text
    deaf = Answers("yes")
    judged = ByModel(deaf).judge(found(INTRA, *talkers()), RULE)
    assert judged.condition == "" and "no answer that can be read" in judged.reason and len(deaf.asked) == TRIES


def test_an_answer_is_paid_for_once(tmp_path: Path) -> None:
    candidate, model = found(INTRA, *talkers()), Answers("what?", YES)
    assert ByModel(model, tmp_path).judge(candidate, RULE) == ByModel(model, tmp_path).judge(candidate, RULE)
    assert len(model.asked) == 2
    other = Answers(NO, name="another")
    assert ByModel(other, tmp_path).judge(candidate, RULE).condition == ""


def test_a_damaged_kept_answer_is_asked_for_again(tmp_path: Path) -> None:
    candidate, model = found(INTRA, *talkers()), Answers(YES)
    ByModel(model, tmp_path).judge(candidate, RULE)
    for path in tmp_path.rglob("*.json"):
        path.write_text("{")
    assert ByModel(model, tmp_path).judge(candidate, RULE).condition and len(model.asked) == 2


def test_the_place_in_question_is_marked_in_what_a_model_reads() -> None:
    assert excerpt(found(INTRA, *talkers())) == "Speaker: we drove up to the lake [pause] with all of the children"
    shown = excerpt(overlap("where do you go this year you know / qw", "oh we go to the sea / sd", 2.5))
    assert (
        shown == "First person: where do you go this year [second begins] you know\nSecond person: oh we go to the sea"
    )


@pytest.mark.parametrize(
    ("reply", "answer"),
    [('Sure: {"answer": "Yes ", "reason": 3}', ("yes", "")), ('{"answer": true}', None), ("[]", None), ("", None),
     ('{"answer": "no", "reason": "a\\u001b[31mb"}', ("no", "a\\x1b[31mb"))],
)  # fmt: skip
def test_only_a_whole_answer_is_read_and_made_harmless(reply: str, answer: tuple[str, str] | None) -> None:
    assert answer_in(reply, ("yes", "no")) == answer
