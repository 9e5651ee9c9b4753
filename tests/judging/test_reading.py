"""What a reply says: every form that judges use, and nothing read into a reply that holds no answer."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.judging.reading import LONGEST, read
from fullduplex.judging.released import released_labels
from fullduplex.judging.rubric import Labels, Read, Rubric, Scale, Unreadable
from fullduplex.judging.rubric_file import load

RATING, BEHAVIOUR, YES_NO, HUNDRED = map(load, ("interruption", "behaviour", "addressed", "coherence"))
RELEASED_RATING = Rubric("r", "1", "rating", "", "", (), Scale(0, 5), "rating", "released-rating")
RELEASED_BEHAVIOUR = Rubric(
    "b", "1", "behaviour", "", "", (), Labels(("C_RESPOND",)), "behaviour", "released-behaviour"
)
CASES = Path(__file__).parents[2] / "../shared/cases/full-duplex-bench"


def value(rubric: Rubric, text: str) -> float | str | None:
    found = read(rubric, text)
    return found.value if isinstance(found, Read) else None


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "fits", "rating": 4}',
        '```json\n{"reason": "fits", "rating": 4}\n```',
        'The model stopped {quickly}. So:\n{"reason": "fits", "rating": 4}\nDone.',
        '{"reason": "it said {\\"rating\\": 2}", "rating": 4}',
        '{"rating": "4"}',
        '{"rating": 4.0}',
        '{"rating": "**4**"}',
        '{"rating": [4]}',
        '{"rating": "[4]"}',
        '{"rating": "4/5"}',
        '{"rating": "4 out of 5"}',
        '{"Rating": 4}',
        '{"result": {"rating": 4}}',
        '[{"rating": 4}]',
        '{"rating": 2}\nOn reflection:\n{"rating": 4}',
        '{"rating": 4, "rating": 4}',
        "{'reason': 'fits', 'rating': 4}",
        "{“reason”: “fits”, “rating”: 4}",
        "**Rating:** 4",
        "Rating: **4**",
        "rating = 4/5",
        "It is fine.\nRating: 4.",
        "4",
        "**4**",
        "[4]",
        "4/5",
        '<think>{"rating": 1}</think>{"rating": 4}',
        '\ufeff{"rating": 4}',
    ],
)
def test_a_four_is_read_in_every_form(text: str) -> None:
    assert value(RATING, text) == 4.0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        '{"rating": 4.5}',
        '{"rating": "4.5"}',
        '{"rating": 6}',
        '{"rating": -1}',
        '{"rating": NaN}',
        '{"rating": Infinity}',
        '{"rating": 1e999}',
        '{"rating": ' + "9" * 5000 + "}",
        '{"rating": "4/10"}',
        '{"rating": true}',
        '{"rating": null}',
        '{"rating": {}}',
        '{"rating": []}',
        '{"rating": [3, 4]}',
        '{"rating": "four"}',
        '{"rating": "3 or 4"}',
        '{"rating": "3-4"}',
        '{"rating": 3, "rating": 4}',
        '{"a": {"rating": 3}, "b": {"rating": 4}}',
        '{"reason": "cut here, rating 4',
        '{"reason": "cut", "rating": 4',
        "rating: 3\nrating: 4",
        "The reply deserves a 4.",
        "I can't judge that.",
        '<think>Is it a 4? {"rating": 4}',
        '{"reason": "fits"}',
    ],
)
def test_no_number_is_read_into_a_reply_without_one(text: str) -> None:
    assert value(RATING, text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"behaviour": "resume"}',
        '{"behaviour": "RESUME"}',
        '{"behaviour": "C_RESUME"}',
        '{"behaviour": ["C_RESUME"]}',
        '{"behavior": "Resume."}',
        '{"Behavior": "resume"}',
        "behaviour: resume",
        "Behavior: **C_RESUME**",
        "C_RESUME",
    ],
)
def test_a_label_is_read_in_every_form(text: str) -> None:
    assert value(BEHAVIOUR, text) == "resume"


def test_the_long_name_of_a_released_label_is_ours() -> None:
    assert value(BEHAVIOUR, '{"behaviour": "C_UNCERTAIN_HANDLING"}') == "uncertain"


@pytest.mark.parametrize(
    "text",
    [
        '{"behaviour": ["C_RESPOND", "C_RESUME"]}',
        '{"behaviour": "respond, resume"}',
        '{"behaviour": "C_IGNORE"}',
        '{"behaviour": "not resume"}',
        '{"behaviour": 1}',
        '{"behaviour": ""}',
        "It would respond or resume.",
    ],
)
def test_two_labels_or_another_are_none(text: str) -> None:
    assert value(BEHAVIOUR, text) is None


@pytest.mark.parametrize(("text", "label"), [('{"addressed": true}', "yes"), ('{"addressed": "No"}', "no")])
def test_yes_and_no_may_be_true_and_false(text: str, label: str) -> None:
    assert value(YES_NO, text) == label


def test_a_large_scale_takes_its_own_numbers() -> None:
    assert value(HUNDRED, '{"coherence": 85}') == 85.0
    assert value(HUNDRED, '{"coherence": "85/100"}') == 85.0
    assert value(HUNDRED, '{"coherence": "4/5"}') is None


@pytest.mark.parametrize("text", ['{"behavior": "resume"}', '{"behaviour": "resume"}', "Behavior: resume"])
def test_a_key_may_be_spelt_the_american_way_in_the_rubric_too(text: str) -> None:
    assert value(replace(BEHAVIOUR, key="behavior"), text) == "resume"


def test_the_reason_is_kept() -> None:
    assert read(RATING, '{"reason": "it fits", "rating": 4}') == Read(4.0, "it fits")
    assert read(RATING, 'It fits.\n{"rating": 4}') == Read(4.0, "It fits.")


def test_what_is_unreadable_says_why() -> None:
    assert read(RATING, '{"rating": 9}') == Unreadable("a number outside 0 to 5")
    assert read(BEHAVIOUR, '{"behaviour": "respond/resume"}') == Unreadable("two answers in one reply")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("Analysis: a.\nI would rate the AI's response as 4", 4),
        ("Analysis: a.\nI would rate the AI's response as 4.5", 4),
        ("Analysis: a.\nI would rate the AI's response as 10", 10),
        ("Analysis: a.\nI would rate the AI's response as 5/5", 5),
        ("Analysis: a.\n\nI would rate the AI's response as 3", 3),
        ("Analysis:\nI would rate the AI's response as 3", 3),
        ("Analysis: a.\nI would rate the AI's response as 2\nAnalysis: b.\nI would rate the AI's response as 5", 5),
        ("Analysis: a.\nI would rate the AI's response as 2\nI would rate the AI's response as 5", 2),
        ("Analysis:\nI would rate the AI's response as 2\nI would rate the AI's response as 5", 5),
        ("Analysis: a.\nI would rate the AI's response as **4**.", None),
        ("Analysis: a.\nI would rate the AI's response as [4]", None),
        ("Analysis: a.\nI would rate the AI’s response as 3", None),
        ("Analysis: a. I would rate the AI's response as 3", None),
        ("I would rate the AI's response as 4", None),
        ("analysis: a.\nI would rate the AI's response as 4", None),
        ('{"rating": 4}', None),
    ],
)
def test_a_released_rating_is_read_as_the_script_does(text: str, number: float | None) -> None:
    assert value(RELEASED_RATING, text) == number


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ('{ "behaviour": ["C_RESUME"] }', ("C_RESUME",)),
        ('x {y} { "behaviour": ["C_RESPOND", "C_RESUME"] } z', ("C_RESPOND", "C_RESUME")),
        ('{ "behaviour": ["C_IGNORE"] }', ("C_IGNORE",)),
        ('{"a": 1} {"behaviour": ["C_RESUME"]} {"behaviour": ["C_RESPOND"]}', ("C_RESUME",)),
        ('{"behavior": ["C_RESUME"]}', None),
        ('{"a": {"behaviour": ["C_RESUME"]}}', None),
        ("C_RESUME", None),
    ],
)
def test_a_released_behaviour_is_read_as_the_script_does(text: str, labels: tuple[str, ...] | None) -> None:
    found = value(RELEASED_BEHAVIOUR, text)
    assert (None if found is None else released_labels(found)) == labels


def _stored(name: str) -> Any:
    path = CASES / name
    if not path.exists():
        pytest.skip("the cases of the released scripts are not beside the project")
    return json.loads(path.read_text(encoding="utf-8"))


def test_released_ratings_and_their_retries_are_those_of_the_stored_cases() -> None:
    compared = 0
    for name, case in _stored("expected/v1_user_interruption.json").items():
        if not case["new"]["n_judge_requests"]:
            continue
        replies = _stored(f"v1_user_interruption/{name}/judge_replies.json")["replies"]
        first = next(i for i, reply in enumerate(replies) if value(RELEASED_RATING, reply) is not None)
        assert first + 1 == case["new"]["n_judge_requests"], name
        assert value(RELEASED_RATING, replies[first]) == case["new"]["rating"], name
        compared += 1
    assert compared == 9


def test_released_behaviours_and_their_retries_are_those_of_the_stored_cases() -> None:
    compared = 0
    for name, case in _stored("expected/v15_behavior.json").items():
        official = case["official"]
        if official["skipped"]:
            continue
        first = next(i for i, reply in enumerate(case["replies"]) if value(RELEASED_BEHAVIOUR, reply) is not None)
        labels = released_labels(value(RELEASED_BEHAVIOUR, case["replies"][first]) or "")
        assert first + 1 == official["n_judge_requests"], name
        assert list(labels) == official["content_tag.json"]["behaviour"], name
        compared += 1
    assert compared == 7


ALL = [RATING, BEHAVIOUR, YES_NO, HUNDRED, RELEASED_RATING, RELEASED_BEHAVIOUR]
WORDS = (
    '{ } "rating" rating behaviour "addressed" : = [ ] , 4 4.5 1e999 NaN \' " “ \\ ```json <think> </think> C_RESPOND '
    "resume yes İ \ud800 ４ Analysis: /5 ** null true - \0"
)
PIECES = st.sampled_from([*WORDS.split(" "), "\n", " out of ", "\nI would rate the AI's response as "])


@given(st.sampled_from(ALL), st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join)))
def test_any_reply_is_read_or_unreadable(rubric: Rubric, text: str) -> None:
    found = read(rubric, text)
    if isinstance(found, Read) and rubric.reads == "json":
        if isinstance(rubric.answer, Scale):
            assert isinstance(found.value, float)
            assert rubric.answer.low <= found.value <= rubric.answer.high
        else:
            assert found.value in rubric.answer.names
    else:
        assert isinstance(found, Read | Unreadable)


@given(st.integers(0, 5), st.text(), st.text(alphabet=st.characters(blacklist_characters="{}<>“”„‘’")))
def test_what_is_written_as_asked_is_read_back(number: int, reason: str, before: str) -> None:
    assert read(RATING, before + json.dumps({"reason": reason, "rating": number})) == Read(float(number), reason or "")


@pytest.mark.parametrize("size", [LONGEST, 1_000_000], ids=["searched", "megabyte"])
@pytest.mark.parametrize(
    "piece",
    [
        "{",
        '{"a":',
        '{"rating":',
        '{"a":1}',
        "[",
        "rating: ",
        "rating:\n",
        '"',
        "\\",
        "Analysis:",
        "I would rate the AI's response as ",
        "*",
        " ",
        "4",
        "{'",
        "'rating': [",
        "\nrating   :   ",
    ],
)
def test_a_long_reply_takes_no_time(size: int, piece: str) -> None:
    text = piece * (size // len(piece))
    began = time.process_time()
    for rubric in (RATING, BEHAVIOUR, RELEASED_RATING, RELEASED_BEHAVIOUR):
        read(rubric, text)
        read(rubric, "Analysis:" + text)
    assert time.process_time() - began < 2.0
