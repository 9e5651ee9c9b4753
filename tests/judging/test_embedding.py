"""The offline judge: it answers as any judge does, refuses what it cannot do, and its rules do what they say."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.errors import PluginError
from fullduplex.judging.embedding import Embedding
from fullduplex.judging.embedding.behaviour import behaviour
from fullduplex.judging.embedding.interruption import rating
from fullduplex.judging.embedding.judge import spoken
from fullduplex.judging.embedding.signals import SIGNALS, signals
from fullduplex.judging.embedding.vectors import MiniLM, WordLlama
from fullduplex.judging.embedding.words import language, names, negated, numbers, slots
from fullduplex.judging.question import Judge, Refused, Request
from fullduplex.judging.reading import read
from fullduplex.judging.rubric import Read
from fullduplex.judging.rubric_file import load, render
from fullduplex.providers import weights

CACHE = weights.default_cache(os.environ)


@pytest.fixture(scope="module")
def judge() -> Embedding:
    try:
        return Embedding(cache=CACHE)
    except PluginError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def llama() -> WordLlama:
    try:
        return WordLlama(weights.path("wordllama-256", CACHE))
    except PluginError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    try:
        return MiniLM(weights.path("minilm-l6", CACHE))
    except PluginError as error:
        pytest.skip(str(error))


def verdict(judge: Judge, rubric: str, **fields: str) -> float | str:
    loaded = load(rubric)
    found = read(loaded, judge.ask(render(loaded, fields)).text)
    assert isinstance(found, Read)
    assert found.reason
    return found.value


TICKETS = {"context": "Two tickets for tonight, please.", "interruption": "Wait, make that three."}
OVERLAP = {
    "user": "How do I bake bread?",
    "overlap": "Darling, where is the remote control?",
    "overlap_time": "6.0-7.5",
    "before": "[3.0] Mix flour with",
    "during": "",
    "clean": "[3.0] Mix flour with water, salt and yeast, and let the dough rest for an hour.",
}


@pytest.mark.weights
def test_the_new_number_is_rated_above_the_old_one(judge: Embedding) -> None:
    right = verdict(judge, "interruption", **TICKETS, reply="Sure, three tickets for tonight.")
    wrong = verdict(judge, "interruption", **TICKETS, reply="Okay, two tickets for tonight.")
    assert isinstance(right, float) and isinstance(wrong, float)
    assert right >= 4 > 2 >= wrong


@pytest.mark.weights
def test_it_says_whether_an_interruption_was_addressed(judge: Embedding) -> None:
    assert verdict(judge, "addressed", **TICKETS, reply="Three tickets, done.") == "yes"
    assert verdict(judge, "addressed", **TICKETS, reply="Thank you for your patience.") == "no"


@pytest.mark.weights
def test_no_words_are_the_worst_answer(judge: Embedding) -> None:
    assert verdict(judge, "interruption", **TICKETS, reply="") == 0.0
    assert verdict(judge, "addressed", **TICKETS, reply=" ... ") == "no"


@pytest.mark.weights
@pytest.mark.parametrize(
    ("after", "label"),
    [
        ("[7.9] water, salt and yeast, and let the dough rest.", "resume"),
        ("[7.9] The remote control may be on the sofa.", "respond"),
        ("[7.9] Sorry, could you repeat that?", "uncertain"),
        ("", "unknown"),
    ],
)
def test_it_names_what_was_done_about_an_overlap(judge: Embedding, after: str, label: str) -> None:
    assert verdict(judge, "behaviour", **OVERLAP, after=after) == label


@pytest.mark.weights
def test_an_answer_that_was_finished_before_the_overlap_is_resume(judge: Embedding) -> None:
    assert verdict(judge, "behaviour", **{**OVERLAP, "before": OVERLAP["clean"]}, after="") == "resume"


@pytest.mark.weights
def test_it_answers_the_same_twice(judge: Embedding) -> None:
    request = render(load("interruption"), {**TICKETS, "reply": "Three it is."})
    assert judge.ask(request) == judge.ask(request)


@pytest.mark.weights
def test_it_refuses_a_rubric_that_it_cannot_answer(judge: Embedding) -> None:
    with pytest.raises(Refused, match="not 'coherence'; use a language model") as refused:
        judge.ask(render(load("coherence"), {"conversation": "a"}))
    assert refused.value.for_all


@pytest.mark.weights
def test_it_refuses_a_released_prompt_for_its_fields(judge: Embedding) -> None:
    with pytest.raises(Refused, match="needs the field user"):
        judge.ask(Request("", "", rubric="behaviour", fields={"input_noisy": "{}"}))


@pytest.mark.weights
def test_it_refuses_another_language_than_english(judge: Embedding) -> None:
    fields = {
        "context": "Je voudrais deux billets pour ce soir.",
        "interruption": "Non, pour demain, et pas deux mais trois.",
    }
    with pytest.raises(Refused, match="the user speaks French") as refused:
        judge.ask(render(load("addressed"), {**fields, "reply": "D'accord."}))
    assert not refused.value.for_all


@pytest.mark.weights
def test_its_weakness_says_the_figure_and_how_many_pairs(judge: Embedding) -> None:
    assert "weak" in judge.weakness
    assert "held-out replies" in judge.weakness
    assert "95 % interval" in judge.weakness
    assert "long replies" in judge.weakness


@pytest.mark.weights
def test_its_spec_names_model_weights_and_rules(judge: Embedding) -> None:
    assert judge.spec.options == {"model": "wordllama-256"}
    assert judge.spec.revision.startswith("64b47a2dc493, rules ")
    assert not judge.hears


def test_weights_that_are_not_there_are_named(tmp_path: object) -> None:
    with pytest.raises(PluginError, match="fullduplex models fetch wordllama-256"):
        Embedding(cache=tmp_path)  # type: ignore[arg-type]


def test_an_unknown_model_is_refused_in_a_sentence() -> None:
    with pytest.raises(PluginError, match="expected wordllama-256 or minilm-l6"):
        Embedding(model="../../x")  # type: ignore[arg-type]


@pytest.mark.weights
@given(st.text(), st.text(), st.text())
def test_any_words_give_finite_signals_of_bounded_size(llama: WordLlama, context: str, new: str, reply: str) -> None:
    found = signals(context, new, reply, llama)
    assert len(found) == len(SIGNALS)
    assert np.isfinite(found).all()
    assert np.abs(found).max() <= 2.0


@pytest.mark.weights
@given(st.text(), st.text(), st.text(), st.text())
def test_any_words_give_one_of_the_labels(llama: WordLlama, heard: str, before: str, during: str, clean: str) -> None:
    found = behaviour(heard, before, during, "", clean, llama)
    assert found.label in ("respond", "resume", "uncertain", "unknown")


@pytest.mark.weights
def test_vectors_have_length_one_and_no_words_none(llama: WordLlama) -> None:
    lengths = np.linalg.norm(llama(["a train to Rome", "x" * 5000, ""]), axis=1)
    assert lengths == pytest.approx([1, 1, 0], abs=1e-5)


@pytest.mark.weights
def test_wordllama_finds_sentences_of_one_meaning_nearer(llama: WordLlama) -> None:
    rows = llama(["I went to the car", "I drove to the store", "The cell divides into two"])
    assert rows[0] @ rows[1] > rows[0] @ rows[2]


@pytest.mark.weights
def test_minilm_gives_the_cosines_that_its_makers_print(minilm: MiniLM) -> None:
    """As in the documentation of Sentence Transformers, to four decimals."""
    rows = minilm(["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."])
    assert [rows[0] @ rows[1], rows[0] @ rows[2], rows[1] @ rows[2]] == pytest.approx(
        [0.6660, 0.1046, 0.1411], abs=2e-4
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("make that three", {"3"}),
        ("half past eleven", {"11:30"}),
        ("at 11:30", {"11:30"}),
        ("a quarter to nine", {"8:45"}),
        ("half an hour", {"30"}),
        ("thirty five", {"35"}),
        ("two hundred and thirty nine thousand", {"239000"}),
        ("239,000 miles", {"239000"}),
        ("the fourteenth of May", {"14"}),
        ("we only have one day", {"1"}),
        ("tell me one about cats", set()),
        ("nine twelve", {"9", "12"}),
        ("", set()),
    ],
)
def test_numbers_are_read_from_words(text: str, found: set[str]) -> None:
    assert numbers(text) == found


def test_slots_are_named_by_kind() -> None:
    assert slots("Saturday at nine, call Mum")["day"] == {"saturday"}
    assert slots("call my mother")["relative"] == slots("call Mum")["relative"]


def test_names_are_capitals_inside_sentences() -> None:
    assert names("Please add John and Maria. Then send it on Monday, I think.") == {"john", "maria"}


def test_what_is_negated_ends_with_the_clause() -> None:
    assert negated("No, no horror, the kids are watching") == {"horror"}
    assert "thursday" in negated("anything but Thursday")


@pytest.mark.parametrize(
    ("text", "code"),
    [("What is the weather in Bern?", "en"), ("Wie ist das Wetter in Bern?", "de"), ("Twelve.", ""), ("", "")],
)
def test_a_language_is_told_by_its_function_words(text: str, code: str) -> None:
    assert language(text) == code


@pytest.mark.parametrize(
    ("chance", "stars"), [(0.0, 0), (0.099, 0), (0.1, 1), (0.4, 3), (0.599, 3), (0.8, 5), (1.0, 5)]
)
def test_ratings_begin_at_their_bounds(chance: float, stars: int) -> None:
    assert rating(chance) == stars


@pytest.mark.parametrize("text", ["[1.20] hello", "[1.2-3.4] hello", "(0.5 s) hello", "[1.2, 3.4]: hello", "hello"])
def test_times_are_no_words(text: str) -> None:
    assert spoken(text).split() == ["hello"]


def test_a_remark_is_no_words() -> None:
    assert spoken("(nothing)") == spoken(" (not recorded) ") == ""
    assert spoken("(sighs) well").split() == ["(sighs)", "well"]


@pytest.mark.weights
def test_without_a_clean_run_the_words_before_stand_for_the_answer(judge: Embedding) -> None:
    fields = {
        **OVERLAP,
        "before": "[3.0] Mix flour with water and yeast",
        "clean": "(not recorded)",
        "during": "(nothing)",
    }
    assert verdict(judge, "behaviour", **fields, after="[8.0-9.0] So, mix flour with water, and the yeast") == "resume"
    assert (
        verdict(judge, "behaviour", **fields, after="[8.0-9.0] Darling, the remote control is on the sofa") == "respond"
    )
    assert verdict(judge, "behaviour", **fields, after="(nothing)") == "unknown"
