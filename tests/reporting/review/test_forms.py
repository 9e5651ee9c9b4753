"""Questionnaires: those that ship, and a user's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fullduplex.errors import InputError
from fullduplex.judging.rubric_file import load as load_rubric
from fullduplex.reporting.review.forms import load, names, parse

HEAD = 'name = "mine"\nversion = "1"\ntitle = "Mine"\n'
SCALE = '[[question]]\nkey = "q"\nask = "How?"\nkind = "scale"\nlow = 1\nhigh = 5\n'


def test_the_questionnaires_that_ship_are_there() -> None:
    assert set(names()) == {
        *("interruption", "behaviour", "duplexact", "preference", "naturalness"),
        *("satisfaction", "coherence", "accept", "verdict", "whisper"),
    }


@pytest.mark.parametrize("name", names())
def test_every_answer_of_a_shipped_form_has_a_key_of_its_own(name: str) -> None:
    form = load(name)
    assert form.name == name
    for question in form.questions:
        keys = [option.key for option in question.options]
        assert len(set(keys)) == len(keys) and all(len(key) == 1 for key in keys)


@pytest.mark.parametrize(("form", "key"), [("interruption", "rating"), ("behaviour", "behaviour")])
def test_people_and_judges_go_by_the_same_words(form: str, key: str) -> None:
    rubric = " ".join(load_rubric(form).system.split())
    question = load(form).question(key)
    assert question is not None
    for option in question.options:
        assert option.help and f"- {option.value}: {option.help}" in rubric


def test_duplexact_asks_naturalness_of_synthesised_items_only_and_wants_five_raters() -> None:
    form = load("duplexact")
    assert form.raters == 5
    assert [(q.key, q.shown_if) for q in form.questions] == [
        ("label", "action"), ("condition", "condition"), ("content", "synthesised"), ("voice", "synthesised"),
    ]  # fmt: skip


def test_a_changed_word_changes_the_digest() -> None:
    first, second = (parse(HEAD + SCALE.replace("How?", ask), Path("f.toml")) for ask in ("How?", "How so?"))
    assert first.digest != second.digest


def test_a_scale_takes_its_points_and_nothing_else() -> None:
    question = parse(HEAD + SCALE, Path("f.toml")).questions[0]
    assert [value for value in (0, 1, 5, 6, True, "3", 3.0, None) if question.takes(value)] == [1, 5]


def test_ten_points_are_answered_with_ten_digits() -> None:
    question = parse(HEAD + SCALE.replace("high = 5", "high = 10"), Path("f.toml")).questions[0]
    assert [option.key for option in question.options] == [*"1234567890"]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "question"),
        (HEAD, "question"),
        ("name = ", "f.toml"),
        (HEAD + SCALE.replace('"scale"', '"slider"'), "question 1, kind"),
        (HEAD + SCALE.replace("high = 5", "high = 100"), "low and high"),
        (HEAD + SCALE.replace("low = 1", "low = 5"), "low and high"),
        (HEAD + SCALE + "[question.anchors]\n7 = 'x'", "anchors"),
        (HEAD + SCALE + SCALE, "another key"),
        (HEAD + SCALE + "colour = 'red'", "'colour'"),
        (HEAD + SCALE.replace("scale", "choice").replace("low = 1\nhigh = 5", "options = [{value='a'}]"), "options"),
        (
            HEAD + SCALE.replace("scale", "choice").replace(
                "low = 1\nhigh = 5", "options = [{value='a', key='r'}, {value='b'}]"
            ),
            "key",
        ),
        ("raters = 0\n" + HEAD + SCALE, "raters"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_form_is_refused_in_one_sentence(text: str, where: str) -> None:
    with pytest.raises(InputError) as refused:
        parse(text, Path("f.toml"))
    assert "f.toml" in str(refused.value) and where in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_name_that_is_no_form_names_those_there_are() -> None:
    with pytest.raises(InputError, match=re.escape("accept, behaviour")):
        load("nothing")


def test_a_form_of_ones_own_is_read_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(HEAD + SCALE)
    assert load(str(tmp_path / "mine.toml")).title == "Mine"


def test_the_page_about_reviews_names_the_forms_there_are_and_shows_one_that_works() -> None:
    page = (Path(__file__).parents[3] / "docs" / "how-to" / "review.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \|", page, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"\w+", row)} == set(names())
    (shown,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert [question.key for question in parse(shown, Path("review.md")).questions] == ["polite", "tone"]
