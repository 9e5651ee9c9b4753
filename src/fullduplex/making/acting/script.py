"""Scripts of DuplexAct's conditions: what a user says, what is marked in it, and what a follow-through has to do.

A script is a JSON object (the command also takes a folder of them)::

    {"schema": 1, "scenario": "ignore_other_directed",
     "items": [{"id": "01", "setting": "casual", "topic": "a sofa", "persona": "",
                "lines": [{"who": "user", "text": "I like it. [aside: Nadia, hold my bottle?] Is it deep?"},
                          {"who": "assistant", "text": "It is ninety centimetres deep."}],
                "target": "Tells the depth and says nothing of the bottle.", "notes": ""}]}

``scenario``  a condition's name; an item may name its own
``lines``     the exchange in its order, the user first. What may stand in a user's text is in
              :mod:`fullduplex.making.acting.markup`; the assistant's lines are never spoken
``target``    in one sentence, what a follow-through has to do: it is judged by that
``setting``   where the talk takes place, may be left out; ``persona``: who speaks, of those that a voice has settings
              for; ``topic``, ``notes``: kept, never spoken

In stop, hold_floor and recover the user speaks twice: a request, and what is said over the system's answer to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from dataclasses import field as member_of
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullduplex.benchmarks.duplexact.conditions import Condition, condition_named, conditions
from fullduplex.data.files import brief, member, no_others, read_json, text
from fullduplex.data.interactions import SETTINGS
from fullduplex.driving.personas import read_personas
from fullduplex.errors import InputError
from fullduplex.making.acting.markup import MARKUP, Marked, marked

SCHEMA = 1
_FILE = ("schema", "scenario", "items")
_ITEM = ("id", "scenario", "setting", "topic", "persona", "lines", "target", "notes")
_LINE = ("who", "text")


@dataclass(frozen=True, slots=True)
class Rule:
    """What items of a condition are made of: how often the user speaks, and what the last of these turns marks.

    ``marks``: how often each kind stands in it, at least and at most (None: as often as wanted); others do not.
    ``alone``: the turn has no words for the system.
    """

    turns: int = 1
    marks: Mapping[str, tuple[int, int | None]] = member_of(default_factory=dict)
    alone: bool = False


_ONE, _SOME, _ANY = (1, 1), (1, None), (0, None)
#: By condition, or for all other conditions of an action.
RULES: Mapping[str, Rule] = {
    "wait": Rule(marks={"pause": _ONE}),
    "wait_continuous": Rule(),
    "ignore_other_directed": Rule(marks={"aside": _SOME}),
    "ignore_background": Rule(marks={"background": _SOME}),
    "take_turn": Rule(),
    "take_turn_slight_overlap": Rule(marks={"entry": _ONE}),
    # Who leaves room for a listener may also pause for them.
    "backchannel": Rule(marks={"backchannel": _ONE, "pause": _ANY}),
    "stop": Rule(turns=2),
    "hold_floor": Rule(turns=2),
    "hold_floor_background": Rule(turns=2, marks={"background": _ONE}, alone=True),
    "hold_floor_other_directed": Rule(turns=2, marks={"aside": _ONE}, alone=True),
    "interrupt": Rule(marks={"target": _ONE}),
    "recover": Rule(turns=2),
}


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the exchange; ``said`` is how the user says it, None for the assistant."""

    who: str
    text: str
    said: Marked | None = None


@dataclass(frozen=True, slots=True)
class ActionItem:
    """An item of a script. ``position`` counts the items of its condition over all files, from 0."""

    scenario: str
    id: str
    lines: tuple[Line, ...]
    target: str
    setting: str = ""
    topic: str = ""
    persona: str = ""
    notes: str = ""
    position: int = 0

    @property
    def dataset(self) -> str:
        """Return the name of the set that the item belongs to."""
        return f"da_{self.scenario}"

    @property
    def condition(self) -> Condition:
        """Return the condition, of which every item has one."""
        found = condition_named(self.scenario)
        assert found is not None, self.scenario
        return found

    @property
    def user(self) -> tuple[tuple[int, Marked], ...]:
        """Return the user's turns in their order, each with the number of its line."""
        return tuple((n, line.said) for n, line in enumerate(self.lines) if line.said is not None)

    @property
    def reply(self) -> str:
        """Return what the assistant says after the user's last turn, or nothing where no line tells."""
        last, _ = self.user[-1]
        return " ".join(line.text for line in self.lines[last + 1 :])

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)


def shipped() -> Path:
    """Return the folder of the scripts that come with the package, one file for each condition, in English."""
    return Path(str(files("fullduplex.making").joinpath("actions")))


def script_files(path: Path) -> tuple[Path, ...]:
    """Return the file, or the JSON files of a folder in the order of the conditions; raises where there is none."""
    if not path.is_dir():
        return (path,)
    order = {condition.name: n for n, condition in enumerate(conditions())}
    found = sorted(path.glob("*.json"), key=lambda file: (order.get(file.stem, len(order)), file.name))
    if not found:
        raise InputError(path, found="a folder without JSON files", expected="scripts of actions")
    return tuple(found)


def read_actions(path: Path) -> list[ActionItem]:
    """Return the items of a script, or of a folder of them; raises :class:`InputError` on the first thing wrong."""
    items, seen, counts = list[ActionItem](), set[tuple[str, str]](), Counter[str]()
    for file in script_files(path):
        for where, told, scenario in _raw(file):
            item = _item(told, scenario, counts[scenario], file, where)
            key = item.scenario, item.id.casefold()
            if key in seen:
                raise InputError(file, f"{where}.id", found=brief(item.id), expected="an id for each item")
            seen.add(key)
            counts[item.scenario] += 1
            items.append(item)
    if not items:
        raise InputError(path, found="no item", expected="at least one")
    return items


def rule_of(condition: Condition) -> Rule:
    """Return what items of a condition are made of."""
    return RULES.get(condition.name) or RULES[condition.action]


def _raw(path: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    told = read_json(path)
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="an object with scenario and items")
    no_others(told, _FILE, path)
    if told.get("schema") != SCHEMA:
        raise InputError(path, "schema", found=brief(told.get("schema")), expected=str(SCHEMA))
    found = member(told, "items", path)
    if not isinstance(found, list):
        raise InputError(path, "items", found=brief(found), expected="a list of items")
    for n, item in enumerate(found):
        where = f"items[{n}]"
        if not isinstance(item, dict):
            raise InputError(path, where, found=brief(item), expected="an item, an object")
        no_others(item, _ITEM, path, where)
        own = "scenario" in item
        scenario = text(
            member(item if own else told, "scenario", path), path, f"{where}.scenario" if own else "scenario"
        )
        if condition_named(scenario) is None:
            expected = f"one of {', '.join(one.name for one in conditions())}"
            raise InputError(path, f"{where}.scenario" if own else "scenario", found=brief(scenario), expected=expected)
        yield where, item, scenario


def _item(told: Mapping[str, Any], scenario: str, position: int, path: Path, where: str) -> ActionItem:
    texts = {
        key: text(told.get(key, ""), path, f"{where}.{key}").strip()
        for key in ("id", "target", "setting", "topic", "persona", "notes")
    }
    if not texts["id"]:
        raise InputError(path, f"{where}.id", found="nothing", expected="an id")
    if not any(c.isalnum() for c in texts["target"]):
        expected = "in one sentence, what a follow-through has to do: it is judged by that"
        raise InputError(path, f"{where}.target", found="nothing", expected=expected)
    if texts["setting"] and texts["setting"] not in SETTINGS:
        raise InputError(path, f"{where}.setting", found=brief(texts["setting"]), expected=f"of {', '.join(SETTINGS)}")
    if texts["persona"] and texts["persona"] not in read_personas():
        expected = f"of {', '.join(read_personas())}"
        raise InputError(path, f"{where}.persona", found=brief(texts["persona"]), expected=expected)
    item = ActionItem(scenario, lines=_lines(told, path, where), position=position, **texts)
    _check(item, path, f"{where}.lines")
    return item


def _lines(told: Mapping[str, Any], path: Path, where: str) -> tuple[Line, ...]:
    listed = member(told, "lines", path, where)
    if not isinstance(listed, list) or not listed:
        raise InputError(path, f"{where}.lines", found=brief(listed), expected="a list of lines")
    lines = list[Line]()
    for n, one in enumerate(listed):
        place = f"{where}.lines[{n}]"
        if not isinstance(one, dict):
            raise InputError(path, place, found=brief(one), expected="an object with who and text")
        no_others(one, _LINE, path, place)
        who = member(one, "who", path, place)
        if who not in ("user", "assistant"):
            raise InputError(path, f"{place}.who", found=brief(who), expected="user or assistant")
        words = text(member(one, "text", path, place), path, f"{place}.text")
        lines.append(Line(who, words, marked(words, path, f"{place}.text") if who == "user" else None))
    return tuple(lines)


def _check(item: ActionItem, path: Path, where: str) -> None:
    """Raise :class:`InputError` where an item is not what its condition is made of."""
    rule, name = rule_of(item.condition), item.scenario
    if item.lines[0].who != "user":
        raise InputError(path, f"{where}[0].who", found="assistant", expected="the user, who begins")
    if len(item.user) != rule.turns:
        found, expected = f"{len(item.user)} of the user's turns", f"{rule.turns} in {name}"
        raise InputError(path, where, found=found, expected=expected)
    for turn, (n, said) in enumerate(item.user, 1):
        last = turn == rule.turns
        _check_marks(said, rule.marks if last else {}, name, path, f"{where}[{n}].text")
        if (not said.phrases) != (rule.alone and last):
            found, expected = ("words for the system", "none") if said.phrases else ("none for the system", "words")
            raise InputError(path, f"{where}[{n}].text", found=found, expected=f"{expected} in this turn of {name}")
    if rule.turns == 2 and item.user[1][0] == 1:
        expected = "a line of the assistant's between, the answer that something is said over"
        raise InputError(path, where, found="two turns of the user in a row", expected=expected)
    if item.condition.action == "wait" and rule.marks:
        _check_pause(item, path, f"{where}[0].text")


def _check_marks(said: Marked, marks: Mapping[str, tuple[int, int | None]], name: str, path: Path, where: str) -> None:
    counts = Counter(said.kinds)
    for kind in MARKUP:
        least, most = marks.get(kind, (0, 0))
        if counts[kind] < least or (most is not None and counts[kind] > most):
            found = {0: f"no [{kind}]", 1: f"a [{kind}]"}.get(counts[kind], f"{counts[kind]} of [{kind}]")
            expected = "none" if most == 0 else "one" if least == most else "at least one"
            raise InputError(path, where, found=found, expected=f"{expected} in this turn of {name}")


def _check_pause(item: ActionItem, path: Path, where: str) -> None:
    before = item.user[0][1].phrases[0].rstrip("\"'”’)")
    whole = before.endswith((".", "!", "?")) and not before.endswith("...")
    if whole != (item.condition.key == "inter_pause"):
        found = "a pause after a whole sentence" if whole else "a pause inside a sentence"
        expected = "one inside a sentence" if whole else "one after a whole sentence"
        raise InputError(path, where, found=found, expected=f"{expected} in {item.scenario}")
