"""Questionnaires: what a rater is asked of a clip, as text files with a version."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from fullduplex.data.files import brief, read_text_file
from fullduplex.errors import InputError
from fullduplex.model.spec import digest

Answer = int | str
Kind = Literal["choice", "scale", "yes-no-unclear", "text"]
KINDS: tuple[Kind, ...] = ("choice", "scale", "yes-no-unclear", "text")
#: Keys of the page itself, which no answer can have.
TAKEN = " rcpxzjk?"
#: A scale is answered with one key a point.
MOST_POINTS = 11
LONGEST_TEXT = 4_000
_ENTRY = re.compile(r"^- ([\w-]+): (.+(?:\n  .+)*)", re.MULTILINE)
_FORM = {"name", "version", "title", "intro", "shows", "staged", "tasks", "pairwise", "raters", "question"}
_QUESTION = {
    "key",
    "ask",
    "kind",
    "help",
    "low",
    "high",
    "anchors",
    "options",
    "shown_if",
    "shows",
    "required",
    "rubric",
    "amends",
}
_OPTION = {"value", "label", "key", "help"}


@dataclass(frozen=True, slots=True)
class Option:
    """One answer: the value that is kept, the words and the key it is given with, and what it means."""

    value: Answer
    label: str
    key: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """One question. ``options`` is empty where the answer is a text.

    ``shown_if`` names a field of the item (``synthesised``, ``condition``): the question is put only where the item
    has it. ``shows`` names what of the item is written with this question. ``required``: an item is done when every
    such question has an answer. ``amends`` names the metric that a yes makes 1 and a no 0, "" where the answers correct
    nothing (:mod:`fullduplex.reporting.review.amending`).
    """

    key: str
    ask: str
    kind: Kind
    options: tuple[Option, ...] = ()
    help: str = ""
    shown_if: str = ""
    required: bool = True
    amends: str = ""
    shows: tuple[str, ...] = ()

    def takes(self, value: object) -> bool:
        """Return whether ``value`` is an answer to this question."""
        if self.kind == "text":
            return isinstance(value, str) and len(value) <= LONGEST_TEXT
        return any(type(value) is type(option.value) and value == option.value for option in self.options)


@dataclass(frozen=True, slots=True)
class Form:
    """A questionnaire.

    ``shows`` names what of an item is written above the questions, in this order: ``task``, ``kind`` (of its
    event), ``context`` (what the user said before the event), ``event`` (what was said in it), ``clean`` (what
    the system said in its clean twin), ``verdict`` (the machine's), or a field of the item's reference such as
    ``action`` and ``condition``. ``tasks`` are the tasks it is about, all where empty. ``pairwise``: two systems'
    clips of one item are heard against each other, and ``A`` and ``B`` stand for the sides they were on. ``raters``:
    how many raters an item gets, None for no limit. ``staged``: a question is put once those before it are answered,
    so that what it shows is not known before.
    """

    name: str
    version: str
    title: str
    questions: tuple[Question, ...]
    intro: str = ""
    shows: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    pairwise: bool = False
    raters: int | None = None
    staged: bool = False

    @property
    def labels(self) -> frozenset[str]:
        """Return what of an item is shown, above the questions or with one."""
        return frozenset(self.shows).union(*(question.shows for question in self.questions))

    @property
    def digest(self) -> str:
        """Return the digest that its answers carry: of every word that a rater sees, and of what is shown when."""
        questions = [
            [q.key, q.ask, q.kind, q.help, q.shown_if, q.required, [[o.value, o.label, o.help] for o in q.options]]
            for q in self.questions
        ]
        # What a form does not use is not in its digest: answers that were given before it could be still count.
        with_each = [[q.key, list(q.shows)] for q in self.questions if q.shows]
        more = [*([["staged"]] if self.staged else []), *([with_each] if with_each else [])]
        return digest([self.title, self.intro, list(self.shows), self.pairwise, questions, *more])

    def question(self, key: str) -> Question | None:
        """Return the question with that key, or None."""
        return next((question for question in self.questions if question.key == key), None)


def names() -> tuple[str, ...]:
    """Return the names of the questionnaires that come with the package."""
    found = files("fullduplex.reporting.review").joinpath("questionnaires").iterdir()
    return tuple(sorted(one.name.removesuffix(".toml") for one in found if one.name.endswith(".toml")))


def load(name: str) -> Form:
    """Return the questionnaire of that name, or the one in the file of that name where it ends in ``.toml``.

    Raises :class:`InputError` where there is none, or a file is not one.
    """
    if name.lower().endswith(".toml"):
        return load_file(Path(name))
    if name not in names():
        known = ", ".join(names())
        raise InputError("--form", found=name, expected=f"one of {known}, or a file that ends in .toml")
    file = files("fullduplex.reporting.review").joinpath("questionnaires", f"{name}.toml")
    return parse(file.read_text(encoding="utf-8"), Path(f"{name}.toml"))


def load_file(path: Path) -> Form:
    """Return the questionnaire in a file; raises :class:`InputError` where it is not one."""
    return parse(read_text_file(path), path)


def parse(text: str, path: Path) -> Form:
    """Return the questionnaire in a TOML text that came from ``path``; raises :class:`InputError`."""
    try:
        value = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(path, found=str(error), expected="TOML") from error
    _known(value, _FORM, path, "")
    rows = value.get("question")
    if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
        raise InputError(path, "question", found=brief(rows), expected="at least one [[question]]")
    questions = tuple(_question(row, path, f"question {n}") for n, row in enumerate(rows, 1))
    keys = [question.key for question in questions]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise InputError(path, "question", found=f"{twice!r} twice", expected="another key for each question")
    raters = value.get("raters")
    if raters is not None and (isinstance(raters, bool) or not isinstance(raters, int) or raters < 1):
        raise InputError(path, "raters", found=brief(raters), expected="a whole number of raters an item, from 1")
    pairwise = value.get("pairwise", False)
    if not isinstance(pairwise, bool):
        raise InputError(path, "pairwise", found=brief(pairwise), expected="true or false")
    staged = value.get("staged", False)
    if not isinstance(staged, bool):
        raise InputError(path, "staged", found=brief(staged), expected="true or false")
    return Form(
        name=_text(value, "name", path, ""),
        version=_text(value, "version", path, ""),
        title=_text(value, "title", path, ""),
        questions=questions,
        intro=_text(value, "intro", path, "", default=""),
        shows=_texts(value, "shows", path),
        tasks=_texts(value, "tasks", path),
        pairwise=pairwise,
        raters=raters,
        staged=staged,
    )


def _question(row: Mapping[str, Any], path: Path, where: str) -> Question:
    _known(row, _QUESTION, path, where)
    kind = _text(row, "kind", path, where)
    if kind not in KINDS:
        raise InputError(path, f"{where}, kind", found=kind, expected=f"one of {', '.join(KINDS)}")
    key = _text(row, "key", path, where)
    required = row.get("required", kind != "text")
    if not isinstance(required, bool):
        raise InputError(path, f"{where}, required", found=brief(required), expected="true or false")
    options: tuple[Option, ...] = ()
    if kind == "scale":
        options = _points(row, path, where)
    elif kind == "yes-no-unclear":
        options = (Option("yes", "Yes", "1"), Option("no", "No", "2"), Option("unclear", "Unclear", "3"))
    elif kind == "choice":
        options = _choices(row, path, where)
    about = _text(row, "help", path, where, default="")
    amends = _text(row, "amends", path, where, default="")
    if amends and kind != "yes-no-unclear":
        raise InputError(path, f"{where}, amends", found=f"a {kind}", expected="a question of kind yes-no-unclear")
    if "rubric" in row:
        options, about = _as_judged(_text(row, "rubric", path, where), options, about)
    return Question(
        key=key,
        ask=_text(row, "ask", path, where),
        kind=kind,
        options=options,
        help=about,
        shown_if=_text(row, "shown_if", path, where, default=""),
        required=required,
        amends=amends,
        shows=_texts(row, "shows", path, where),
    )


def _points(row: Mapping[str, Any], path: Path, where: str) -> tuple[Option, ...]:
    low, high = row.get("low"), row.get("high")
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in (low, high))
    if not whole or low is None or high is None or not 0 <= low < high <= 10 or high - low + 1 > MOST_POINTS:
        raise InputError(
            path, f"{where}, low and high", found=f"{brief(low)}, {brief(high)}",
            expected="two whole numbers from 0 to 10, the lower first",
        )  # fmt: skip
    told = row.get("anchors", {})
    if not isinstance(told, dict) or not all(isinstance(text, str) for text in told.values()):
        raise InputError(path, f"{where}, anchors", found=brief(told), expected='texts by point, such as 1 = "bad"')
    stray = sorted(set(told) - {str(point) for point in range(low, high + 1)})
    if stray:
        raise InputError(path, f"{where}, anchors", found=stray[0], expected=f"points from {low} to {high}")
    # Eleven points have ten digits: the last one is given with the key beside them.
    keys = [str(point) if point < 10 else "0" if low else "-" for point in range(low, high + 1)]
    points = zip(range(low, high + 1), keys, strict=True)
    return tuple(Option(point, str(point), key, told.get(str(point), "")) for point, key in points)


def _choices(row: Mapping[str, Any], path: Path, where: str) -> tuple[Option, ...]:
    given = row.get("options")
    if not isinstance(given, list) or len(given) < 2 or not all(isinstance(one, dict) for one in given):
        raise InputError(path, f"{where}, options", found=brief(given), expected="two or more options, each a table")
    made: list[Option] = []
    for n, one in enumerate(given, 1):
        place = f"{where}, option {n}"
        _known(one, _OPTION, path, place)
        key = _text(one, "key", path, place, default=str(n) if n < 10 else "")
        if len(key) != 1 or not key.isprintable() or key.casefold() in TAKEN:
            taken = ", ".join(TAKEN.split()[0])
            raise InputError(
                path, f"{place}, key", found=repr(key), expected=f"one character, not one that the page uses ({taken})"
            )
        value = _text(one, "value", path, place)
        made.append(
            Option(
                value,
                _text(one, "label", path, place, default=value),
                key.casefold(),
                _text(one, "help", path, place, default=""),
            )
        )
    for field in ("value", "key"):
        found = [getattr(option, field) for option in made]
        if len(set(found)) < len(found):
            raise InputError(
                path, f"{where}, options", found=f"one {field} twice", expected=f"another {field} for each"
            )
    return tuple(made)


def _as_judged(rubric: str, options: tuple[Option, ...], about: str) -> tuple[tuple[Option, ...], str]:
    """Return options and help in the words of a rubric that ships: people and judges go by the same ones.

    A rubric explains each answer, and each quality to weigh, in a list of ``- NAME: words``.
    """
    from fullduplex.judging.rubric_file import load as load_rubric

    told = {name: " ".join(words.split()) for name, words in _ENTRY.findall(load_rubric(rubric).system)}
    answers = {str(option.value) for option in options}
    weighed = [f"{name}: {words}" for name, words in told.items() if name not in answers]
    return (
        tuple(replace(option, help=told.get(str(option.value), option.help)) for option in options),
        "\n".join(filter(None, (about, *weighed))),
    )


def _known(value: Mapping[str, Any], fields: set[str], path: Path, where: str) -> None:
    stray = sorted(set(value) - fields)
    if stray:
        raise InputError(path, where, found=f"a field {stray[0]!r}", expected=f"none but {', '.join(sorted(fields))}")


def _text(value: Mapping[str, Any], key: str, path: Path, where: str, *, default: str | None = None) -> str:
    found = value.get(key, default)
    if not isinstance(found, str) or (default is None and not found.strip()):
        place = f"{where}, {key}" if where else key
        raise InputError(path, place, found="nothing" if found is None else brief(found), expected="a text")
    return found.strip()


def _texts(value: Mapping[str, Any], key: str, path: Path, where: str = "") -> tuple[str, ...]:
    found = value.get(key, [])
    if not isinstance(found, list) or not all(isinstance(one, str) and one for one in found):
        place = f"{where}, {key}" if where else key
        raise InputError(path, place, found=brief(found), expected="a list of names")
    return tuple(found)
