"""Rubrics in files: ours keep their versions, a template is filled and nothing else, released prompts stay whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.errors import InputError
from fullduplex.judging import rubric_file
from fullduplex.judging.rubric import Labels, Rubric, Scale
from fullduplex.judging.rubric_file import LONGEST_FIELD, load, load_file, names, render

OURS = """+++
name = "mine"
version = "3"
verdict = "mine"
key = "score"
fields = ["reply"]
scale = [1, 7]
+++
# Judge
How good is it?

# Item
<reply>{reply}</reply>
"""
#: Shaped as the released script is, in words of our own.
SCRIPT = '''
def eval_user_interruption(root, client):
    MODEL_NAME = "some-model"
    system_msg = """
    Say how well it fits.
    """
    user_msg = f"""
      first: {in_before_interrupt_text}
      then: {in_interrupt_text}
      said: {out_after_interrupt_text}
    """
'''


def written(folder: Path, text: str, name: str = "mine.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", names())
def test_words_change_only_with_the_version(name: str) -> None:
    kept = json.loads((rubric_file.SHIPPED / "versions.json").read_text(encoding="utf-8"))
    rubric = load(name)
    assert rubric.name == name
    assert kept[name].get(rubric.version) == rubric.digest, "raise the version, then add it to versions.json"


def test_the_list_of_versions_names_only_what_ships() -> None:
    assert tuple(sorted(json.loads((rubric_file.SHIPPED / "versions.json").read_text(encoding="utf-8")))) == names()


def test_the_interruption_rubric_names_its_three_qualities_and_anchors_each_score() -> None:
    rubric = load("interruption")
    assert rubric.answer == Scale(0, 5)
    assert all(word in rubric.system for word in ("Relevance", "Coherence", "Adaptability"))
    assert all(f"\n- {score}: " in rubric.system for score in range(6))


def test_every_label_of_a_rubric_is_explained() -> None:
    for rubric in map(load, names()):
        if isinstance(rubric.answer, Labels):
            assert all(f"\n- {label}: " in rubric.system for label in rubric.answer.names), rubric.name


def test_a_continued_answer_is_not_unknown_by_the_behaviour_rubric() -> None:
    resume = next(line for line in load("behaviour").system.split("\n- ") if line.startswith("resume"))
    assert "without a break" in resume.replace("\n ", "")
    assert "already given" in resume.replace("\n ", "")


def test_the_behaviour_rubric_does_not_name_what_the_overlap_was() -> None:
    shown = render(load("behaviour"), dict.fromkeys(load("behaviour").fields, "x")).user
    assert not any(word in shown for word in ("interruption", "backchannel", "background", "other"))


def test_braces_in_a_field_are_harmless() -> None:
    request = render(load("addressed"), {"context": "{reply}", "interruption": "{0} {} {{x}}", "reply": "secret"})
    assert "<context>{reply}</context>" in request.user
    assert "<interruption>{0} {} {{x}}</interruption>" in request.user


@given(st.dictionaries(st.sampled_from(["context", "interruption", "reply"]), st.text(), min_size=3))
def test_any_text_is_shown_and_kept(fields: dict[str, str]) -> None:
    request = render(load("interruption"), fields)
    assert request.fields == fields
    request.user.encode()
    assert request.user.count("</reply>") == 1


def test_a_missing_field_is_named() -> None:
    with pytest.raises(InputError, match="rubric addressed, field reply: found only context, interruption"):
        render(load("addressed"), {"context": "", "interruption": ""})


def test_a_long_field_is_refused_and_not_cut() -> None:
    long = "word " * 15_000
    fields = {"context": "", "interruption": "", "reply": long}
    assert long.strip() in render(load("addressed"), fields).user
    with pytest.raises(InputError, match="field reply: found 100,001 characters, expected at most 100,000"):
        render(load("addressed"), {**fields, "reply": "x" * (LONGEST_FIELD + 1)})


def test_no_words_are_said_to_be_none() -> None:
    shown = render(load("addressed"), {"context": "a", "interruption": "b", "reply": " "}).user
    assert "<reply>(no words)</reply>" in shown


def test_what_the_rubric_does_not_show_is_left_out() -> None:
    fields = {"context": "a", "interruption": "b", "reply": "c", "system": "moshi"}
    assert "system" not in render(load("addressed"), fields).fields


def test_clips_go_to_a_rubric_that_hears(tmp_path: Path) -> None:
    clip = (tmp_path / "reply.wav",)
    assert render(load("backchannel-tone"), {"user": "", "utterance": "hm"}, clip).clips == clip
    assert render(load("backchannel-kind"), {"user": "", "utterance": "hm"}, clip).clips == ()


def test_each_attempt_has_its_seed() -> None:
    fields = {"context": "a", "interruption": "b", "reply": "c"}
    assert [render(load("interruption"), fields, attempt=n).seed for n in range(3)] == [1, 2, 3]


def test_the_schema_has_a_reason_first_and_the_scale() -> None:
    schema = render(load("interruption"), {"context": "", "interruption": "", "reply": ""}).schema
    assert schema is not None
    assert list(schema["properties"]) == ["reason", "rating"]
    assert schema["properties"]["rating"] == {"type": "integer", "minimum": 0, "maximum": 5}


def test_a_users_own_rubric_names_its_file(tmp_path: Path) -> None:
    rubric = load_file(written(tmp_path, OURS))
    assert (rubric.name, rubric.version, rubric.answer) == ("mine", "3", Scale(1, 7))
    assert rubric.origin.startswith("mine.md, SHA-256 ")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("scale = [1, 7]", ""), "found scale and labels both, or neither"),
        (("scale = [1, 7]", "scale = [7, 1]"), "scale: found .*, expected two whole numbers"),
        (("scale = [1, 7]", "scale = [true, 7]"), "scale: found"),
        (("scale = [1, 7]", 'labels = ["yes", "yes"]'), "expected each word once"),
        (("{reply}", "{answer}"), "'reply', which # Item does not show"),
        (("{reply}", "{reply} {other}"), "found {other}, expected one of the fields reply"),
        (('["reply"]', "[]"), "fields: found"),
        (("# Judge", "# Jugde"), "expected the line # Judge"),
        (("How good is it?", ""), "# Judge: found nothing"),
        (('key = "score"', 'key = "reason"'), "key: found reason, expected another word"),
        (('key = "score"', "key = 3"), "key: found 3, expected a text"),
        (('name = "mine"', 'name = "../x"'), "name: found"),
        (('name = "mine"', "name = mine"), "front matter: found .*, expected TOML"),
        (('key = "score"', 'key = "score"\nvotes = 3'), "votes: found a member that no rubric has"),
        (("\n+++\n# Judge", "\n# Judge"), "expected a second one that ends the front matter"),
        (("scale = [1, 7]", "scale = [1, 7]\nhears = 1"), "hears: found 1, expected true or false"),
        (("scale = [1, 7]", "scale = [1, 7]\nsettings = 4"), "settings: found 4, expected a table"),
        (("scale = [1, 7]", "scale = [1, 7]\nsettings.heat = 4"), "settings.heat: found an unknown setting"),
        (("scale = [1, 7]", "scale = [1, 7]\nsettings.seed = nan"), "settings.seed: found nan, expected a number"),
    ],
)
def test_a_rubric_that_is_none_is_refused_in_a_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        load_file(written(tmp_path, OURS.replace(*change, 1)))


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="expected one of addressed"):
        load("../../etc/passwd")


def test_a_bare_text_needs_to_be_told_how_it_is_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--reads released-rating or released-behaviour"):
        load_file(written(tmp_path, "Judge well.\n", "behavior.txt"))


def test_a_released_behaviour_prompt_is_kept_to_the_letter(tmp_path: Path) -> None:
    prompt = "  Judge {well}.\n\n"
    rubric = load_file(written(tmp_path, prompt, "behavior.txt"), "released-behaviour")
    assert rubric.system == prompt
    assert rubric.fields == ("input_clean", "input_noisy", "output_clean", "output_noisy")
    request = render(rubric, dict.fromkeys(rubric.fields, '{"text":"</x>"}'), attempt=2)
    assert (request.system, request.seed, request.temperature, request.schema) == (prompt, 3, None, None)
    assert json.loads(request.user) == {name: {"text": "</x>"} for name in rubric.fields}
    assert rubric.origin == f"behavior.txt, SHA-256 {rubric.version}"
    assert str(tmp_path) not in rubric.origin


def test_a_released_script_gives_its_two_messages_and_is_not_run(tmp_path: Path) -> None:
    path = written(tmp_path, SCRIPT + "raise SystemExit('ran')\n", "eval_user_interruption.py")
    rubric = load_file(path)
    assert rubric.reads == "released-rating"
    assert rubric.system == "\n    Say how well it fits.\n    "
    request = render(rubric, {"context": "a", "interruption": "b", "reply": "c"}, attempt=3)
    assert request.user == "\n      first: a\n      then: b\n      said: c\n    "
    assert request.seed == 0


@pytest.mark.parametrize("text", ["def f(:", "x = 1\n", "user_msg = f'{in_interrupt_text}'\n", "\0"])
def test_another_script_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match=r"expected eval_user_interruption\.py"):
        load_file(written(tmp_path, text, "x.py"))


def test_other_words_are_another_digest(tmp_path: Path) -> None:
    def of(text: str) -> Rubric:
        return load_file(written(tmp_path, text, "behavior.txt"), "released-behaviour")

    assert of("one").digest != of("two").digest


def test_the_page_on_judges_tells_of_each_rubric_what_its_file_says() -> None:
    page = (Path(__file__).parents[2] / "docs/explanation/judges.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    told = {row[0].strip("`"): row[2:] for row in rows if len(row) == 6 and row[0].startswith("`")}
    assert told == {name: row_of(load(name)) for name in names()}


def row_of(rubric: Rubric) -> list[str]:
    answer = rubric.answer
    shown = f"{answer.low} to {answer.high}" if isinstance(answer, Scale) else ", ".join(answer.names)
    return [f"`{rubric.key}`", shown, ", ".join(rubric.fields), "yes" if rubric.hears else "no"]
