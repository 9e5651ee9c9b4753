from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.errors import InputError
from fullduplex.judging.cases import MASK, Case, blind, leaks
from fullduplex.judging.rubric import Rubric, Scale


def rubric(*, hears: bool = False, system: str = "Rate it.") -> Rubric:
    return Rubric("r", "1", "rating", system, "{reply}", ("reply",), Scale(0, 5), "rating", hears=hears)


def case(reply: str, **given: object) -> Case:
    return Case("set/1", rubric(), {"reply": reply}, **given)  # type: ignore[arg-type]


def test_the_same_question_has_the_same_digest_under_another_key() -> None:
    assert Case("a", rubric(), {"reply": "yes"}).asked() == Case("b", rubric(), {"reply": "yes"}).asked()


def test_one_word_more_in_a_field_or_in_the_rubric_is_another_question() -> None:
    assert case("yes").asked() != case("yes.").asked()
    assert case("yes").asked() != Case("a", rubric(system="Rate it!"), {"reply": "yes"}).asked()


def test_what_the_rubric_does_not_show_is_no_part_of_the_question() -> None:
    shown = Case("a", rubric(), {"reply": "yes", "system": "moshi"})
    assert shown.asked() == case("yes").asked()
    assert shown.shown == {"reply": "yes"}


def test_a_clip_counts_by_its_content_and_only_where_the_rubric_hears(tmp_path: Path) -> None:
    one, copy, other = tmp_path / "1.wav", tmp_path / "2.wav", tmp_path / "3.wav"
    one.write_bytes(b"sound")
    copy.write_bytes(b"sound")
    other.write_bytes(b"noise")

    def asked(clip: Path, *, hears: bool) -> str:
        return Case("a", rubric(hears=hears), {"reply": "yes"}, (clip,)).asked()

    assert asked(one, hears=True) == asked(copy, hears=True) != asked(other, hears=True)
    assert asked(one, hears=False) == asked(other, hears=False) == case("yes").asked()


def test_a_clip_that_is_not_there_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a clip that can be read"):
        Case("a", rubric(hears=True), {"reply": "yes"}, (tmp_path / "none.wav",)).asked()


def test_a_folder_as_a_clip_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a clip that can be read"):
        Case("a", rubric(hears=True), {"reply": "yes"}, (tmp_path,)).asked()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("I'm Moshi, hello", "moshi"),
        ("I am Freeze Omni.", "freeze-omni"),
        ("this is freezeomni", "freeze-omni"),
        ("GPT-4o speaking", "gpt-4o"),
        ("we call it 4o", "4o"),
        ("ich bin ÄON", "äon"),
    ],
)
def test_a_name_is_found_however_it_is_written(said: str, name: str) -> None:
    assert leaks(case(said), [name]) == [name]


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("the moshing crowd", "moshi"),
        ("a table for two at seven", "a"),
        ("it is 7", "7"),
        ("it is on", "it"),
        ("anything", ""),
        ("anything -- at all", "--"),
    ],
)
def test_a_word_that_only_looks_like_a_name_is_left_alone(said: str, name: str) -> None:
    assert leaks(case(said), [name]) == []
    assert blind(case(said), [name]) == case(said)


def test_masking_keeps_the_sentence_and_says_what_it_took() -> None:
    found = blind(case("I'm Moshi. Ask Moshi!"), ["Moshi", "Freeze-Omni"])
    assert found.fields["reply"] == f"I'm {MASK}. Ask {MASK}!"
    assert found.masked == ("Moshi",)


def test_a_name_that_holds_another_one_is_masked_whole() -> None:
    assert blind(case("I'm Moshi Large"), ["moshi", "moshi-large"]).fields["reply"] == f"I'm {MASK}"


def test_what_stands_in_a_names_place_is_not_masked_again() -> None:
    assert blind(case("Moshi"), ["moshi", "system"]).fields["reply"] == MASK
    assert blind(blind(case("Moshi"), ["moshi"]), ["moshi"]).fields["reply"] == MASK


@pytest.mark.parametrize("name", ["(a+)+$", "[", "<script>", "../../x9", "\\", "a" * 5000])
def test_a_hostile_name_is_taken_letter_by_letter(name: str) -> None:
    assert leaks(case("a plain reply " + "a" * 3000), [name]) == []


def test_masked_and_unmasked_questions_differ() -> None:
    assert blind(case("I'm Moshi"), ["moshi"]).asked() != case("I'm Moshi").asked()
