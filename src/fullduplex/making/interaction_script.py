"""Interaction scripts: what people say to a system, what it calls for, and what a good assistant would answer.

A script is a JSON object (``fullduplex interactions`` also takes a folder of them)::

    {"schema": 1, "scenario": "grammar",
     "items": [{"id": "01", "category": "grammar", "topic": "learning to skate",
                "lines": [{"who": "user", "text": "Fix my English. My cousin teached me to skate."},
                          {"who": "assistant", "text": "Taught."}],
                "anchor": {"line": 0, "word": "teached", "occurrence": 1}, "target": "taught", "notes": ""}]}

``lines``       the exchange in its order. Of the user: ``text``, in which ``[pause 1.6]`` is a silence in seconds, or
                ``clip``, a recording (its path from the script's folder); ``style`` (``whispered``, ``shouted``);
                ``voice``; ``probe``, what the turn checks. At most 6,000 characters are spoken. The assistant's
                lines are never spoken
``anchor``      the user's word that a reply has to react to: its line (counted from 0, over all lines), and its
                occurrence in it, from 1; null in categories that have none. ``anchors``: several, with ``targets``
``target``      what a right reply says or is; by rule it is the assistant's, never a system's
``scenario``    where not that of the file: the category's own
``instruction`` in place of the one that all systems get; ``state``, ``topic``, ``notes``: kept, never spoken
``annotated_by`` the language model that gave category, anchor and target, where one did
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, no_others, read_json, text
from fullduplex.data.interactions import PROBES
from fullduplex.driving.cues import plain
from fullduplex.errors import InputError
from fullduplex.making.interaction_policy import POLICY, SCENARIOS, Policy
from fullduplex.making.script import Turn
from fullduplex.making.script_file import _turn as turn_of
from fullduplex.making.script_file import _voice as voice_named

SCHEMA = 1
#: The longest line of the user's that a voice is given, in characters: some say a sentence in one piece, whatever the
#: memory it takes. It is about 1,000 words.
LONGEST_LINE = 6_000
_FILE = ("schema", "scenario", "items")
_ITEM = (
    "id", "scenario", "category", "topic", "lines", "anchor", "anchors", "target", "targets", "notes", "instruction",
    "state", "voice", "annotated_by",
)  # fmt: skip
_LINE = ("who", "text", "clip", "style", "voice", "probe")
_PROBE = ("type", "expected", "fact", "kind", "rests_on_assistant")
#: How many turns of the user a scenario's item has, where that is fixed.
_TURNS = {"interruption": 2, "user_backchannel": 1, "backchannel": 1, "pause": 1, "turn_taking": 1}
#: Scenarios in which a reply is right that says the target.
_ANSWERED = ("logic", "countdown", "alternating_count", "grammar", "keyword_wait", "stay_quiet")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the exchange. ``turn`` is how the user says it, None for the assistant; ``probe`` what it checks."""

    who: str
    text: str
    turn: Turn | None = None
    probe: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Anchor:
    """A trigger word: the line, the word as it stands there, and which of them, from 1; and what it calls for."""

    line: int
    word: str
    occurrence: int = 1
    target: str = ""


@dataclass(frozen=True, slots=True)
class Scripted:
    """An item of a script. ``position`` counts the items of its scenario in the file, from 0."""

    scenario: str
    id: str
    category: str
    lines: tuple[Line, ...]
    anchors: tuple[Anchor, ...] = ()
    target: str = ""
    topic: str = ""
    notes: str = ""
    instruction: str = ""
    state: tuple[str, ...] = ()
    voice: str = ""
    annotated_by: str = ""
    position: int = 0

    @property
    def dataset(self) -> str:
        """Return the name of the set that the item belongs to."""
        return f"ib_{self.scenario}"

    @property
    def policy(self) -> Policy:
        """Return what its category calls for."""
        return POLICY[self.category]

    @property
    def user(self) -> tuple[tuple[int, Turn], ...]:
        """Return the user's turns in their order, each with the number of its line."""
        return tuple((n, line.turn) for n, line in enumerate(self.lines) if line.turn is not None)

    @property
    def reply(self) -> str:
        """Return what the assistant answers to the first trigger word, or last, where no word triggers."""
        after = self.lines[self.anchors[0].line + 1 :] if self.anchors else self.lines[::-1]
        return next((line.text for line in after if line.who == "assistant"), "")

    def to_json(self) -> dict[str, Any]:
        """Return all of it as JSON."""
        return asdict(self)


def shipped() -> Path:
    """Return the folder of the scripts that come with the package: 221 items of fourteen scenarios, in English."""
    return Path(str(files(__package__).joinpath("interactions")))


def script_files(path: Path) -> tuple[Path, ...]:
    """Return the file, or the JSON files of a folder in the order of the scenarios; raises where there is none."""
    if not path.is_dir():
        return (path,)
    found = sorted(path.glob("*.json"), key=lambda file: (_order(file.stem), file.name))
    if not found:
        raise InputError(path, found="a folder without JSON files", expected="interaction scripts")
    return tuple(found)


def read_interactions(path: Path) -> list[Scripted]:
    """Return the items of a script, or of a folder of them; raises :class:`InputError` on the first thing wrong."""
    items = list[Scripted]()
    seen = dict[tuple[str, str], Path]()
    counts = dict[str, int]()
    for file in script_files(path):
        for where, told, scenario in raw_items(file):
            item = _item(told, scenario, file, where, counts)
            key = item.scenario, item.id.casefold()
            if key in seen:
                raise InputError(file, f"{where}.id", found=brief(item.id), expected="an id for each item")
            seen[key] = file
            counts[item.scenario] = item.position + 1
            items.append(item)
    if not items:
        raise InputError(path, found="no item", expected="at least one")
    return items


def raw_items(path: Path) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each item of a file as it stands there: its place, the object, and the file's scenario."""
    told = read_json(path)
    if not isinstance(told, dict):
        raise InputError(path, found=brief(told), expected="an object with items")
    no_others(told, _FILE, path)
    if told.get("schema") != SCHEMA:
        raise InputError(path, "schema", found=brief(told.get("schema")), expected=str(SCHEMA))
    scenario = text(told.get("scenario", ""), path, "scenario")
    if scenario and scenario not in SCENARIOS:
        raise InputError(path, "scenario", found=brief(scenario), expected=f"one of {', '.join(SCENARIOS)}")
    found = member(told, "items", path)
    if not isinstance(found, list):
        raise InputError(path, "items", found=brief(found), expected="a list of items")
    for n, item in enumerate(found):
        where = f"items[{n}]"
        if not isinstance(item, dict):
            raise InputError(path, where, found=brief(item), expected="an item, an object")
        no_others(item, _ITEM, path, where)
        yield where, item, scenario


def lines_of(item: Mapping[str, Any], path: Path, where: str) -> tuple[Line, ...]:
    """Return the lines of an item as it stands in a file; raises :class:`InputError`."""
    told = member(item, "lines", path, where)
    if not isinstance(told, list) or not told:
        raise InputError(path, f"{where}.lines", found=brief(told), expected="a list of lines")
    lines = tuple(_line(line, path, f"{where}.lines[{n}]") for n, line in enumerate(told))
    if lines[0].who != "user":
        raise InputError(path, f"{where}.lines[0].who", found="assistant", expected="the user, who begins")
    return lines


def occurrences(turn: Turn, word: str) -> list[tuple[int, int]]:
    """Return where a turn has ``word``, letters of either case and marks left aside: (phrase, word in the phrase)."""
    return [
        (phrase, n)
        for phrase, said in enumerate(turn.phrases)
        for n, one in enumerate(said.text.split())
        if plain(one) == plain(word)
    ]


def anchor_of(told: Any, lines: Sequence[Line], target: str, path: Path, where: str) -> Anchor:
    """Return a trigger word that stands where it says; raises :class:`InputError` where it does not."""
    if not isinstance(told, dict):
        raise InputError(path, where, found=brief(told), expected="an object with line, word and occurrence")
    no_others(told, ("line", "word", "occurrence"), path, where)
    line, word, which = member(told, "line", path, where), member(told, "word", path, where), told.get("occurrence", 1)
    turn = lines[line].turn if type(line) is int and 0 <= line < len(lines) else None
    if turn is None:
        raise InputError(
            path, f"{where}.line", found=brief(line), expected="the number of a line of the user's, from 0"
        )
    word = text(word, path, f"{where}.word")
    found = occurrences(turn, word) if plain(word) else []
    if type(which) is not int or not 1 <= which <= len(found):
        has = f"{word!r} {len(found)} times in line {line}"
        expected = f"it at least {which} times" if type(which) is int and which >= 1 else "an occurrence from 1 on"
        raise InputError(path, where, found=has, expected=expected)
    return Anchor(line, word, which, target)


def _item(told: Mapping[str, Any], scenario: str, path: Path, where: str, counts: Mapping[str, int]) -> Scripted:
    id = text(member(told, "id", path, where), path, f"{where}.id")
    if not id:
        raise InputError(path, f"{where}.id", found="an empty text", expected="an id")
    category = text(told.get("category", ""), path, f"{where}.category")
    if category not in POLICY:
        do = "" if category else "give it, or have a language model do so with --annotate"
        expected = f"one of {', '.join(POLICY)}"
        raise InputError(path, f"{where}.category", found=brief(category), expected=expected, do=do)
    belongs = text(told.get("scenario", scenario), path, f"{where}.scenario") or POLICY[category].scenario
    if belongs not in SCENARIOS:
        expected = f"one of {', '.join(SCENARIOS)}"
        raise InputError(path, f"{where}.scenario", found=brief(belongs), expected=expected)
    lines = lines_of(told, path, where)
    texts = {
        key: text(told.get(key, ""), path, f"{where}.{key}")
        for key in ("target", "topic", "notes", "instruction", "annotated_by")
    }
    item = Scripted(
        belongs,
        id,
        category,
        lines,
        tuple(_anchors(told, lines, category, path, where)),
        state=_state(told.get("state", []), path, f"{where}.state"),
        voice=voice_named(told, path, where),
        position=counts.get(belongs, 0),
        **texts,
    )
    _check(item, path, where)
    return item


def _anchors(told: Mapping[str, Any], lines: Sequence[Line], category: str, path: Path, where: str) -> Iterator[Anchor]:
    if not POLICY[category].anchored:
        if told.get("anchor") or told.get("anchors"):
            raise InputError(path, f"{where}.anchor", found="a word", expected=f"null: none triggers {category!r}")
        return
    several = told.get("anchors")
    if several is None:
        if told.get("anchor") is None:
            do = "give it, or have a language model do so with --annotate"
            raise InputError(path, f"{where}.anchor", found="none", expected="the word that triggers", do=do)
        target = text(told.get("target", ""), path, f"{where}.target")
        yield anchor_of(told["anchor"], lines, target, path, f"{where}.anchor")
        return
    targets = told.get("targets")
    if not isinstance(several, list) or not several:
        raise InputError(path, f"{where}.anchors", found=brief(several), expected="a list of trigger words")
    if not isinstance(targets, list) or len(targets) != len(several):
        expected = f"{len(several)} texts, one for each of the anchors"
        raise InputError(path, f"{where}.targets", found=brief(targets), expected=expected)
    for n, (one, target) in enumerate(zip(several, targets, strict=True)):
        target = text(target, path, f"{where}.targets[{n}]")
        yield anchor_of(one, lines, target, path, f"{where}.anchors[{n}]")


def _check(item: Scripted, path: Path, where: str) -> None:
    """Raise :class:`InputError` where an item is not what its scenario is made of."""
    turns = len(item.user)
    if turns != _TURNS.get(item.scenario, turns):
        expected = f"{_TURNS[item.scenario]} in the scenario {item.scenario!r}"
        raise InputError(path, f"{where}.lines", found=f"{turns} turns of the user", expected=expected)
    if item.scenario == "pause" and not any(turn.pauses for _, turn in item.user):
        raise InputError(path, f"{where}.lines", found="no pause", expected="[pause SECONDS] in what the user says")
    probed = any(line.probe for line in item.lines)
    if item.scenario == "groundedness" and not probed:
        raise InputError(path, f"{where}.lines", found="no probe", expected="at least one")
    if item.scenario != "groundedness" and probed:
        found = f"a probe in the scenario {item.scenario!r}"
        raise InputError(path, f"{where}.lines", found=found, expected="probes in long conversations alone",
                         do="make it one with the category groundedness")  # fmt: skip
    targets = [item.target]
    if item.scenario == "alternating_count":
        targets = [anchor.target for anchor in item.anchors]
    elif item.scenario in ("grammar", "keyword_wait"):
        targets = [anchor.target or item.target for anchor in item.anchors]
    if item.scenario in _ANSWERED and not all(plain(target.strip()) for target in targets):
        expected = "what a right reply says: it is judged by that"
        raise InputError(path, f"{where}.target", found="nothing", expected=expected)


def _line(told: Any, path: Path, where: str) -> Line:
    if not isinstance(told, dict):
        raise InputError(path, where, found=brief(told), expected="an object with who and text")
    no_others(told, _LINE, path, where)
    who = member(told, "who", path, where)
    if who not in ("user", "assistant"):
        raise InputError(path, f"{where}.who", found=brief(who), expected="user or assistant")
    words = text(told.get("text", ""), path, f"{where}.text")
    if who == "assistant":
        extra = [key for key in ("clip", "style", "voice", "probe") if key in told]
        if extra:
            raise InputError(path, f"{where}.{extra[0]}", found="one of the assistant's", expected="only the user's")
        return Line(who, words)
    if len(words) > LONGEST_LINE and not told.get("clip"):
        found = f"a line of {len(words):,} characters ({len(words.split()):,} words)"
        expected = f"at most {LONGEST_LINE:,} characters in a line that is spoken"
        raise InputError(path, f"{where}.text", found=found, expected=expected, do="say it in several lines")
    spoken = {key: told[key] for key in ("text", "clip", "style", "voice") if key in told}
    probe = None if told.get("probe") is None else _probe(told["probe"], path, f"{where}.probe")
    return Line(who, words, turn_of(spoken, path, where, ""), probe)


def _probe(told: Any, path: Path, where: str) -> Mapping[str, Any]:
    if not isinstance(told, dict):
        raise InputError(path, where, found=brief(told), expected="an object with type and expected")
    no_others(told, _PROBE, path, where)
    kind = member(told, "type", path, where)
    if kind not in PROBES:
        raise InputError(path, f"{where}.type", found=brief(kind), expected=f"one of {', '.join(PROBES)}")
    rests = told.get("rests_on_assistant", False)
    if not isinstance(rests, bool):
        raise InputError(path, f"{where}.rests_on_assistant", found=brief(rests), expected="true or false")
    texts = {key: text(told.get(key, ""), path, f"{where}.{key}") for key in ("expected", "fact", "kind")}
    if not texts["expected"]:
        raise InputError(path, f"{where}.expected", found="nothing", expected="what a right reply says or does")
    return {"type": kind, **texts, "rests_on_assistant": rests}


def _state(told: Any, path: Path, where: str) -> tuple[str, ...]:
    if isinstance(told, str):
        return (told,) if told else ()
    if not isinstance(told, list):
        raise InputError(path, where, found=brief(told), expected="a list of texts")
    return tuple(text(one, path, f"{where}[{n}]") for n, one in enumerate(told))


def _order(scenario: str) -> int:
    return SCENARIOS.index(scenario) if scenario in SCENARIOS else len(SCENARIOS)
