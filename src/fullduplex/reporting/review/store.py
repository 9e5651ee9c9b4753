"""What raters answered, kept beside the run: a file for each rater that only grows, a line for each answer.

A line is on the disk before the page is told that it is kept. Nothing is ever changed or taken out: an answer
that was changed is a later line, and the earlier one stays.
"""

from __future__ import annotations

import json
import os
import threading
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, member, number, parse_json, text
from fullduplex.data.names import as_file_name
from fullduplex.errors import InputError
from fullduplex.reporting.review.forms import Answer

SCHEMA = 1
FOLDER = "reviews"
LONGEST_NAME = 80
#: Of a review whose clip was played for a smaller share, the reader is told.
HEARD = 0.5
#: No line that the page writes is longer; a file of one endless line is damaged, and is not read into memory.
LONGEST_LINE = 1 << 17


@dataclass(frozen=True, slots=True)
class Review:
    """What one rater answered of one item under one form.

    ``answers`` maps a question to its answer, None where it was taken back. ``seconds`` is how long the rater had
    the item before them, ``heard`` the share of the clip that was played (of a pair the clip that was heard less),
    ``when`` the ISO time of the answer. ``sides`` of a pair says which system was ``A`` and which ``B``, and is
    empty otherwise. ``verdict`` is what a machine had said, by name, where the form asks about that. Which system
    an item is of is known by the run that holds the review.
    """

    rater: str
    form: str
    form_version: str
    form_digest: str
    set: str
    item: str
    answers: Mapping[str, Answer | None]
    seconds: float = 0.0
    when: str = ""
    heard: float = 0.0
    note: str = ""
    sides: Mapping[str, str] = field(default_factory=dict)
    verdict: Mapping[str, float | str | None] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return what names the item among all of its run."""
        return f"{self.set}/{self.item}"

    def value(self, question: str) -> Answer | None:
        """Return the answer to ``question``; of a pair the system that was meant by ``A`` or ``B``."""
        found = self.answers.get(question)
        return self.sides.get(found, found) if isinstance(found, str) else found

    def to_json(self) -> dict[str, Any]:
        """Return the review as a line of the file holds it."""
        told: dict[str, Any] = {
            "schema": SCHEMA, "rater": self.rater, "form": self.form, "form_version": self.form_version,
            "form_digest": self.form_digest, "set": self.set, "item": self.item, "answers": dict(self.answers),
            "seconds": round(self.seconds, 3), "when": self.when, "heard": round(self.heard, 4), "note": self.note,
        }  # fmt: skip
        more = {"sides": dict(self.sides), "verdict": dict(self.verdict)}
        return told | {name: value for name, value in more.items() if value}

    def then(self, later: Review) -> Review:
        """Return this and a later line on the same item as one: what was answered last of each question."""
        earlier = dict(self.answers)
        if self.sides != later.sides:
            # The sides were drawn anew between the two: what was A is B.
            there = {system: side for side, system in later.sides.items()}
            earlier = {key: there.get(str(self.value(key)), value) for key, value in earlier.items()}
        return replace(
            later,
            answers={**earlier, **later.answers},
            heard=max(self.heard, later.heard),
            seconds=max(self.seconds, later.seconds),
        )


@dataclass(frozen=True, slots=True)
class Kept:
    """The reviews of a run as they stand, and a sentence for each line that could not be read."""

    reviews: list[Review]
    damaged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Majority:
    """The answer that more raters gave than any other; ``value`` is None where two lead alike.

    ``votes`` counts the raters by answer, ``n`` is how many there are.
    """

    value: Answer | None
    votes: Mapping[Answer, int]
    n: int


def rater_name(given: str) -> str:
    """Return a rater's name as it is kept: composed letters, single spaces, none at the ends.

    Raises ValueError, in words for the rater, where nothing or too much is left.
    """
    name = " ".join(unicodedata.normalize("NFC", given).split())
    if not name or not name.isprintable():
        raise ValueError("Give a name of letters, digits or signs.")
    if len(name) > LONGEST_NAME:
        raise ValueError(f"Give a name of at most {LONGEST_NAME} characters.")
    return name


def file_of(run: Path, rater: str) -> Path:
    """Return the file of a rater's answers in a run; the name on disk stands for ``rater`` whatever is in it."""
    return run / FOLDER / f"{as_file_name(rater)}.jsonl"


#: One writer at a time in this process; between processes the file is locked.
_WRITING = threading.Lock()


def append(run: Path, review: Review) -> None:
    """Write ``review`` at the end of its rater's file; when this returns it is on the disk.

    Raises :class:`InputError` where it cannot be written.
    """
    path = file_of(run, review.rater)
    line = json.dumps(review.to_json(), ensure_ascii=True, allow_nan=False).encode() + b"\n"
    try:
        path.parent.mkdir(exist_ok=True)
        new = not path.exists()
        with _WRITING, _alone(os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)) as file:
            size = os.fstat(file).st_size
            if size and os.pread(file, 1, size - 1) != b"\n":
                line = b"\n" + line  # a writer was killed within its line: that line stays damaged, ours is whole
            written = 0
            while written < len(line):
                written += os.write(file, line[written:])
            os.fsync(file)
        if new:
            _keep_entry(path.parent)
    except OSError as error:
        raise InputError(path, found=error.strerror or str(error), expected="a place to write to") from error


@contextmanager
def _alone(file: int) -> Iterator[int]:
    """Keep other processes from writing into an open file meanwhile, where there are locks; close it at the end."""
    try:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
        except (ImportError, OSError):
            pass
        yield file
    finally:
        os.close(file)


def _keep_entry(folder: Path) -> None:
    # A new file is lost with the power unless its folder is written too.
    try:
        entry = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(entry)
    except OSError:
        pass
    finally:
        os.close(entry)


def read_reviews(run: Path) -> list[Review]:
    """Return what each rater last answered of each item of the run at ``run``; see :func:`read_kept`."""
    return read_kept(run).reviews


def read_kept(run: Path) -> Kept:
    """Return the reviews of a run as they stand, one for each rater, form and item, and what is damaged.

    Answers to one question follow one another: the last one counts, question by question, also where two pages
    were open. Answers under other words of a form (another digest) stand apart. A line that cannot be read is
    left out and told; it never stops the rest. A run without reviews has none.
    """
    damaged: list[str] = []
    found: dict[tuple[object, ...], Review] = {}
    for review in lines(run, damaged):
        key = (review.rater, review.form, review.form_digest, review.set, review.item, *sorted(review.sides.values()))
        before = found.pop(key, None)
        found[key] = review if before is None else before.then(review)
    return Kept(list(found.values()), tuple(damaged))


def lines(run: Path, damaged: list[str] | None = None) -> Iterator[Review]:
    """Yield every line of every rater's file of a run, changed answers too, each file in its own order.

    What cannot be read is put into ``damaged`` as a sentence, and is left out.
    """
    damaged = [] if damaged is None else damaged
    folder = run / FOLDER
    for path in sorted(folder.glob("*.jsonl")) if folder.is_dir() else ():
        if not path.is_file():  # a pipe would wait for a writer that may never come
            damaged.append(str(InputError(path, found="no file", expected="a rater's answers")))
            continue
        try:
            with path.open("rb") as file:
                n = 0
                while line := file.readline(LONGEST_LINE):
                    n += 1
                    if not line.strip():
                        continue
                    try:
                        yield _review(line, path, f"line {n}")
                    except InputError as error:
                        damaged.append(str(error))
        except OSError as error:
            damaged.append(f"{path}: {error.strerror or error}")


def _review(line: bytes, path: Path, where: str) -> Review:
    try:
        value = parse_json(line.decode("utf-8"), path, where)
    except UnicodeDecodeError as error:
        raise InputError(path, where, found="bytes that are not UTF-8", expected="a line of JSON") from error
    if member(value, "schema", path, where) != SCHEMA:
        raise InputError(path, f"{where}, schema", found=brief(value["schema"]), expected=str(SCHEMA))
    told = {
        name: text(member(value, name, path, where), path, f"{where}, {name}")
        for name in ("rater", "form", "form_version", "form_digest", "set", "item", "when", "note")
    }
    answers, sides, verdict = member(value, "answers", path, where), value.get("sides", {}), value.get("verdict", {})
    if not isinstance(answers, dict) or not all(_is_answer(one) for one in answers.values()):
        raise InputError(path, f"{where}, answers", found=brief(answers), expected="an answer to each question")
    if not isinstance(sides, dict) or not all(isinstance(one, str) for one in sides.values()):
        raise InputError(path, f"{where}, sides", found=brief(sides), expected="the systems by side")
    if not isinstance(verdict, dict) or not all(isinstance(one, str | int | float | None) for one in verdict.values()):
        raise InputError(path, f"{where}, verdict", found=brief(verdict), expected="a value by name")
    seconds, heard = (
        number(member(value, name, path, where), path, f"{where}, {name}") for name in ("seconds", "heard")
    )
    return Review(**told, answers=answers, seconds=seconds, heard=heard, sides=sides, verdict=verdict)


def _is_answer(value: object) -> bool:
    return value is None or (isinstance(value, str | int) and not isinstance(value, bool))


def majority(reviews: Iterable[Review], form: str, question: str) -> dict[str, Majority]:
    """Return what most raters said of each item, by the item's key; items that nobody answered are not in it.

    A rater counts once an item, with the last answer given. Of a pair the answers are the systems' names.
    """
    votes: dict[str, dict[str, Answer]] = {}
    for review in reviews:
        value = review.value(question)
        # Who was not asked, or has not come to the question yet under other words of the form, took nothing back.
        if review.form == form and question in review.answers:
            of_item = votes.setdefault(review.key, {})
            of_item.pop(review.rater, None)
            if value is not None and value != "":
                of_item[review.rater] = value
    return {key: most(given.values()) for key, given in votes.items() if given}


def most(values: Iterable[Answer]) -> Majority:
    """Return the majority of some answers; its value is None where two lead alike, or there are none."""
    counted = Counter(values)
    leading = counted.most_common(2)
    alone = len(leading) == 1 or (len(leading) == 2 and leading[0][1] > leading[1][1])
    return Majority(leading[0][0] if alone else None, dict(counted), counted.total())
