"""Scripts of actions: what may stand in a user's text, what each condition asks for, and what is refused."""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks.duplexact.conditions import actions, conditions
from fullduplex.data.interactions import SETTINGS
from fullduplex.errors import InputError
from fullduplex.making.acting.items import ENOUGH_VOICES, plan_actions
from fullduplex.making.acting.markup import LONGEST, Break, Marked, Place, marked
from fullduplex.making.acting.script import ActionItem, read_actions, rule_of, script_files, shipped
from fullduplex.model.spans import ms
from fullduplex.model.spec import Spec

HERE = Path("x.json")
USER, BACK = "user", "assistant"


def read(text: str) -> Marked:
    return marked(text, HERE, "text")


def lines(*texts: str) -> list[dict[str, str]]:
    """Return an exchange: the user, the assistant, the user, ..."""
    return [{"who": (USER, BACK)[n % 2], "text": text} for n, text in enumerate(texts)]


def script(folder: Path, condition: str, /, *texts: str, **more: Any) -> Path:
    path = folder / "mine.json"
    item = {"id": "01", "setting": "casual", "lines": lines(*texts), "target": "Answers.", **more}
    path.write_text(json.dumps({"schema": 1, "scenario": condition, "items": [item]}))
    return path


# What stands in a text


def test_a_pause_parts_two_phrases() -> None:
    assert read("I would [pause 0.6] go.") == Marked(("I would", "go."), (Break(pause=ms(600)),))


def test_an_aside_parts_two_phrases_and_is_said_between_them() -> None:
    found = read("A sofa. [aside: Hold this?] Is it deep?")
    assert found == Marked(("A sofa.", "Is it deep?"), (Break(aside="Hold this?"),))
    assert found.text == "A sofa. Hold this? Is it deep?" and found.words == 5


def test_a_background_parts_nothing_and_is_no_word_of_the_users() -> None:
    found = read("We go out [background: The ball!] and then we come home.")
    assert found.phrases == ("We go out and then we come home.",)
    assert found.places == (Place("background", 3, "The ball!"),) and found.text == found.phrases[0]


@pytest.mark.parametrize("kind", ["entry", "backchannel", "target"])
def test_a_place_stands_after_the_words_before_it(kind: str) -> None:
    assert read(f"One two, [{kind}] three — four.").places == (Place(kind, 2),)


def test_a_sign_after_the_brackets_closes_the_words_before_them() -> None:
    assert read("Use bleach [target], then wait.") == Marked(("Use bleach, then wait.",), (), (Place("target", 2),))
    assert read("A sofa [aside: Hold this?]. Is it deep?").phrases == ("A sofa.", "Is it deep?")


@pytest.mark.parametrize(
    ("text", "kinds"), [("[aside: Hold it.]", ("aside",)), ("[background: Rain.]", ("background",))]
)
def test_words_for_somebody_else_may_stand_alone(text: str, kinds: tuple[str, ...]) -> None:
    assert read(text).phrases == () and read(text).kinds == kinds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I would [pause 0.6 go.", "a bracket without its other half"),
        ("I would pause 0.6] go.", "a bracket without its other half"),
        ("I [aside: say [pause 1] it] go.", "a bracket without its other half"),
        ("I would [wait 0.6] go.", r"found \[wait 0.6\]"),
        ("I would [pause] go.", r"\[pause SECONDS\], 0.2 to"),
        ("I would [pause nan] go.", r"found \[pause nan\]"),
        ("I would [pause 0.199] go.", r"found \[pause 0.199\]"),
        ("I would [pause 1e9] go.", "found"),
        ("I would [aside: ] go.", r"found \[aside: \]"),
        ("I would [aside] go.", r"found \[aside\]"),
        ("I would [entry: now] go.", r"found \[entry: now\]"),
        ("[pause 0.6] I would go.", "at an edge"),
        ("I would go [aside: Hold it.]", "at an edge"),
        ("I would [pause 0.6] [pause 0.6] go.", "two side by side"),
        ("I would go. [target]", r"\[target\] at an edge"),
        ("[backchannel] I would go.", r"\[backchannel\] at an edge"),
        ("I would [pause 0.6] — [pause 0.6] go.", "words to speak"),
        ("Go [background: One two three.] on now.", "3 words in the background, over 2"),
        ("", "nothing to say"),
        ("[entry]", "nothing to say"),
        ("[aside: One.] [aside: Two.]", "nothing to say"),
        ("a" * (LONGEST + 1), f"{LONGEST + 1} characters"),
    ],
)
def test_markup_that_cannot_be_meant_is_one_sentence(text: str, found: str) -> None:
    with pytest.raises(InputError, match=found) as caught:
        read(text)
    assert str(caught.value).startswith("x.json, text: ")


def test_the_shortest_pause_is_a_pause_and_the_longest_turn_a_turn() -> None:
    assert read("I would [pause 0.2] go.").breaks[0].pause == ms(200)
    assert read("a" * LONGEST).words == 1


# What each condition asks for

RIGHT: dict[str, tuple[str, ...]] = {
    "wait_intra_pause": ("I would [pause 0.6] go.",),
    "wait_inter_pause": ("I went. [pause 0.6] Where now?",),
    "wait_continuous": ("I went there and where do I go now?",),
    "ignore_other_directed": ("A sofa. [aside: Hold this?] Is it deep?",),
    "ignore_background": ("A sofa [background: The ball!] in green or in blue?",),
    "take_turn_immediate": ("Book a table for the fourth.",),
    "take_turn_delayed": ("Two adults, one child: what is it?",),
    "take_turn_slight_overlap": ("How long does it take, [entry] you know.",),
    "backchannel_affirmative": ("We drove all night, [backchannel] and then slept.",),
    "backchannel_uncertainty": ("He counted stones, [backchannel] [pause 0.4] and wrote it down.",),
    "stop_direct_interruption": ("Tell me of bees.", "Bees live.", "No, wasps."),
    "hold_floor_background": ("Tell me of bees.", "Bees live.", "[background: The ball!]"),
    "hold_floor_other_directed": ("Tell me of bees.", "Bees live.", "[aside: Hold this.]"),
    "hold_floor_continue": ("Tell me of bees.", "Bees live.", "And then?"),
    "interrupt_help": ("I turn it right [target] and my hands hurt.",),
    "recover_repeat": ("Tell me of bees.", "Bees live.", "Sorry, where?", "In trees."),
}  # fmt: skip


@pytest.mark.parametrize("scenario", RIGHT)
def test_an_item_as_its_condition_asks_is_read(tmp_path: Path, scenario: str) -> None:
    (item,) = read_actions(script(tmp_path, scenario, *RIGHT[scenario]))
    assert (item.scenario, item.dataset, item.position) == (scenario, f"da_{scenario}", 0)


@pytest.mark.parametrize(
    ("scenario", "texts", "found"),
    [
        ("wait_intra_pause", ("I would go.",), r"no \[pause\], expected one"),
        ("wait_intra_pause", ("I [pause 0.6] would [pause 0.6] go.",), r"2 of \[pause\], expected one"),
        ("wait_intra_pause", ("I went. [pause 0.6] Where now?",), "a pause after a whole sentence"),
        ("wait_inter_pause", ("I would [pause 0.6] go.",), "a pause inside a sentence"),
        ("wait_inter_pause", ("I would... [pause 0.6] go.",), "a pause inside a sentence"),
        ("wait_continuous", ("I would [pause 0.6] go.",), r"a \[pause\], expected none"),
        ("ignore_other_directed", ("A sofa. Is it deep?",), r"no \[aside\], expected at least one"),
        ("ignore_background", ("A sofa. [aside: Hold this?] Is it deep?",), r"a \[aside\], expected none"),
        ("take_turn_immediate", ("It is [entry] so.",), r"a \[entry\], expected none"),
        ("take_turn_slight_overlap", ("One [entry] two [entry] three.",), r"2 of \[entry\], expected one"),
        ("backchannel_affirmative", ("We drove all night.",), r"no \[backchannel\], expected one"),
        ("interrupt_safety", ("I mix it. [aside: Hold this.] Now [target] more.",), r"a \[aside\], expected none"),
        ("stop_direct_interruption", ("Tell me of bees.",), "1 of the user's turns, expected 2"),
        ("wait_continuous", ("Tell me.", "Yes.", "No."), "2 of the user's turns, expected 1"),
        ("recover_resume", ("Tell [pause 0.6] me.", "Yes.", "No."), r"a \[pause\], expected none"),
        ("hold_floor_background", ("Tell me.", "Yes.", "No [background: Rain.] it does not."), "words for the system"),
        ("hold_floor_background", ("Tell me.", "Yes.", "[aside: Rain.]"), r"a \[aside\]"),
        ("hold_floor_other_directed", ("[aside: Rain.]", "Yes.", "[aside: Rain.]"), r"a \[aside\], expected none"),
        ("hold_floor_continue", ("Tell me.", "Yes.", "[aside: Rain.]"), r"a \[aside\], expected none"),
    ],
)  # fmt: skip
def test_an_item_that_is_not_of_its_condition_is_one_sentence(
    tmp_path: Path, scenario: str, texts: tuple[str, ...], found: str
) -> None:
    with pytest.raises(InputError, match=found) as caught:
        read_actions(script(tmp_path, scenario, *texts))
    assert "mine.json, items[0].lines" in str(caught.value)


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ({"setting": "school"}, r"items\[0\].setting: found 'school', expected of casual"),
        ({"persona": "Nobody"}, r"items\[0\].persona: found 'Nobody', expected of Mildred"),
        ({"target": " ."}, r"items\[0\].target: found nothing"),
        ({"id": ""}, r"items\[0\].id: found nothing"),
        ({"voice": "hibari"}, r"items\[0\].voice: found an unknown key"),
        ({"scenario": "wait_long"}, r"items\[0\].scenario: found 'wait_long', expected one of wait_intra_pause"),
        ({"lines": []}, r"items\[0\].lines: found \[\]"),
        ({"lines": [{"who": "system", "text": "A"}]}, r"lines\[0\].who: found 'system'"),
        ({"lines": [{"who": "assistant", "text": "A"}, {"who": "user", "text": "B"}]}, "the user, who begins"),
        ({"lines": [{"who": "user", "text": 3}]}, r"lines\[0\].text: found 3"),
        ({"lines": [{"who": "user", "text": "A", "clip": "a.wav"}]}, r"lines\[0\].clip: found an unknown key"),
    ],
)
def test_a_member_that_cannot_be_meant_is_one_sentence(tmp_path: Path, more: dict[str, Any], found: str) -> None:
    with pytest.raises(InputError, match=found):
        read_actions(script(tmp_path, "take_turn_immediate", "Book a table.", **more))


def test_two_turns_of_the_user_need_an_answer_between(tmp_path: Path) -> None:
    both = [{"who": USER, "text": "Tell me."}, {"who": USER, "text": "Stop."}]
    with pytest.raises(InputError, match="two turns of the user in a row"):
        read_actions(script(tmp_path, "stop_direct_interruption", lines=both))


@pytest.mark.parametrize("content", ["[]", "{}", '{"schema": 2, "scenario": "x", "items": []}', '{"schema": 1}'])
def test_a_file_that_is_no_script_is_one_sentence(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(InputError, match=r"x\.json"):
        read_actions(tmp_path / "x.json")


def test_an_id_may_be_used_once_in_a_condition(tmp_path: Path) -> None:
    one = {"id": "a", "lines": lines("Book a table."), "target": "Answers."}
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"schema": 1, "scenario": "take_turn_immediate", "items": [one, {**one, "id": "A"}]}))
    with pytest.raises(InputError, match=r"items\[1\].id"):
        read_actions(path)


def test_every_condition_has_a_rule() -> None:
    assert all(rule_of(condition).turns in (1, 2) for condition in conditions())
    two = {condition.action for condition in conditions() if rule_of(condition).turns == 2}
    assert two == {"stop", "hold_floor", "recover"}
    assert two <= {action.key for action in actions() if action.protocol == "simulator"}


# Those that ship


def ours() -> list[ActionItem]:
    return [item for file in script_files(shipped()) for item in read_actions(file)]


def test_the_scripts_that_ship_are_of_the_conditions_and_named_by_them() -> None:
    names = [file.stem for file in script_files(shipped())]
    assert names == [condition.name for condition in conditions()]
    for file in script_files(shipped()):
        assert {item.scenario for item in read_actions(file)} == {file.stem}


def test_each_condition_has_at_least_ten_items_and_every_setting_twice() -> None:
    for name, items in _by_condition().items():
        assert len(items) >= 10, name
        assert all(Counter(item.setting for item in items)[setting] >= 2 for setting in SETTINGS), name


def test_no_two_items_share_over_half_of_the_words_that_are_said() -> None:
    said = {f"{item.dataset}/{item.id}": _said(item) for item in ours()}
    for (one, words), (other, others) in combinations(said.items(), 2):
        shared = sum((words & others).values()) / min(words.total(), others.total())
        assert shared <= 0.5, f"{one} and {other} share {shared:.0%}"


def test_every_condition_is_spoken_by_at_least_four_voices(tmp_path: Path) -> None:
    pool = [Spec("hibari", {"pitch": 1 + n / 100}) for n in range(10)]
    pytest.importorskip("hibari", reason="hibari-tts is not installed")
    plan = plan_actions(shipped(), tmp_path, pool)
    voices: dict[str, set[str]] = {}
    for task in plan.tasks:
        voices.setdefault(task.item.scenario, set()).add(str(task.voice))
    assert min(map(len, voices.values())) >= ENOUGH_VOICES


def test_a_pause_that_ships_is_one_that_the_publication_would_take() -> None:
    pauses = [one.pause for item in ours() if item.condition.action == "wait" for one in item.user[0][1].breaks]
    assert pauses and all(ms(200) <= pause <= ms(1_000) for pause in pauses)


def test_the_point_to_break_in_at_lies_in_the_middle_of_a_long_turn() -> None:
    for item in (item for item in ours() if item.condition.action == "interrupt"):
        turn = item.user[0][1]
        assert 0.35 <= turn.places[0].after / turn.words <= 0.7, item.id


def _by_condition() -> dict[str, list[ActionItem]]:
    found: dict[str, list[ActionItem]] = {}
    for item in ours():
        found.setdefault(item.scenario, []).append(item)
    return found


def _said(item: ActionItem) -> Counter[str]:
    every = " ".join([*(said.text for _, said in item.user), *(p.text for _, s in item.user for p in s.places)])
    return Counter("".join(c for c in word if c.isalnum() or c == "'") for word in every.casefold().split())
