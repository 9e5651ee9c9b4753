"""Replies that were given before: those that a run kept, those in a file, or those that a function makes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from fullduplex.data.files import brief, member, number, parse_json, read_json, read_text_file
from fullduplex.errors import InputError, printable
from fullduplex.judging.cases import prompt_digest
from fullduplex.judging.keeping import FILE, read_verdicts
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.model.spec import Spec, digest
from fullduplex.providers.weights import sha256

#: What an item's folder may hold, besides a run's own judge.json.
FILES = ("judge_replies.json", "judge_replies.jsonl")
#: Who is asked: the digest of the two texts, and the SHA-256 of each clip.
_Question = tuple[str, tuple[str, ...]]
Given = Reply | Refused


@dataclass(frozen=True, slots=True)
class _Source:
    """What one file holds: replies to questions, and replies to whatever is asked; both in order."""

    answers: Mapping[tuple[str, _Question], tuple[Given, ...]]
    free: tuple[Given, ...] = ()


class Recorded:
    """Replies from ``path``, given again in their order; nothing is asked of anyone.

    ``path`` is one of

    - a ``judge.json`` that a run kept, or a folder with any number of them (a whole run): each question gets the
      replies that it got then, text, model, tokens and cost. ``judge`` names one (its name or its digest) where
      several had been asked the same;
    - ``{"replies": [...]}``, whose replies are texts, or objects with ``text`` and, if told, ``model``, ``usage``,
      ``complete`` and ``cost``: they go to whoever asks, one after the other;
    - JSON Lines of such objects, each with ``prompt``, the digest of the question's two texts as a run keeps it
      (and ``clips``, the SHA-256 of what is heard), or without, for whoever asks;
    - a folder of item folders with a ``judge_replies.json`` or ``judge_replies.jsonl`` each. Those that name no
      question belong to their item alone: :meth:`item` gives the judge of one.

    In Python, ``answer`` is a function that makes the reply (a text or a :class:`Reply`) instead. Failed attempts of
    a run that were refused are refused again; those that reached nobody are left out. Where no reply is left, it
    is unreachable. Raises :class:`InputError` where a file is none of these.
    """

    hears = True
    weakness = ""

    def __init__(
        self, path: str = "", judge: str = "", *, answer: Callable[[Request], Reply | str] | None = None
    ) -> None:
        if bool(path) == callable(answer):
            raise InputError("recorded", "path", found=path, expected="a file or folder of replies")
        self._answer, self._name, self._lock = answer, str(path), Lock()
        self._items = _sources(Path(path), str(judge)) if path else {}
        # With one file there is no doubt whose replies they are; with several, a question has to tell.
        self._free = list(next(iter(self._items.values())).free) if len(self._items) == 1 else []
        self._known: dict[_Question, list[Given]] = {}
        askers: dict[_Question, set[str]] = {}
        for source in self._items.values():
            for (who, question), given in source.answers.items():
                askers.setdefault(question, set()).add(who)
                # Two items that asked the same may both ask again.
                self._known.setdefault(question, []).extend(given)
        both = next((sorted(found) for found in askers.values() if len(found) > 1), None)
        if both:
            raise InputError(
                path,
                found=f"replies of {len(both)} judges to one question",
                expected="those of one",
                do=f"add judge={both[0]} or judge={both[1]}",
            )

    @property
    def spec(self) -> Spec:
        """Return where the replies come from and the digest of them all, or the function's name."""
        if self._answer is not None:
            name = f"{self._answer.__module__}.{getattr(self._answer, '__qualname__', type(self._answer).__name__)}"
            return Spec("recorded", {"answer": name})
        held = {
            item: [[[who, *asked], list(map(_as_json, given))] for (who, asked), given in source.answers.items()]
            + [list(map(_as_json, source.free))]
            for item, source in self._items.items()
        }
        return Spec("recorded", {"path": Path(self._name).name, "replies": digest(held)})

    def ask(self, request: Request) -> Reply:
        """Return the next reply to this question. Raises :class:`Unreachable` where none is left."""
        if self._answer is not None:
            made = self._answer(request)
            return made if isinstance(made, Reply) else Reply(made)
        with self._lock:
            waiting = self._known.get(_question(request), self._free)
            if not waiting:
                # Waiting brings no more replies into a file.
                raise Unreachable(
                    f"{printable(self._name, 120)} holds no further reply to this question", after=float("inf")
                )
            given = waiting.pop(0)
        if isinstance(given, Refused):
            raise given
        return given

    def item(self, name: str) -> Recorded:
        """Return the judge that gives the replies of one item folder, by its path below ``path``.

        Raises :class:`InputError` where there is none.
        """
        if name not in self._items:
            raise InputError(self._name, found=f"no replies of {name}", expected="an item folder with replies")
        one = Recorded(answer=_nothing)
        one._answer, one._name, one._items = None, str(Path(self._name, name)), {name: self._items[name]}
        one._free = list(self._items[name].free)
        one._known = {asked: list(given) for (_, asked), given in self._items[name].answers.items()}
        return one

    def close(self) -> None:
        """There is nothing to close."""


def _nothing(request: Request) -> str:
    return ""


def _question(request: Request) -> _Question:
    try:
        return prompt_digest(request), tuple(map(sha256, request.clips))
    except OSError as error:
        raise Refused(f"a clip cannot be read: {error.strerror or error}") from error


def _sources(path: Path, judge: str) -> dict[str, _Source]:
    """Return what each item's folder holds, by its path below ``path``; one file stands under the name ``.``."""
    if not path.is_dir():
        return {".": _kept(path.parent, judge) if path.name == FILE else _given(path)}
    found: dict[str, _Source] = {}
    for file in sorted(path.rglob("*")):
        if file.name == FILE or file.name in FILES:
            name = file.parent.relative_to(path).as_posix()
            source = _kept(file.parent, judge) if file.name == FILE else _given(file)
            before = found.get(name, _Source({}))
            found[name] = _Source({**source.answers, **before.answers}, before.free + source.free)
    if not found:
        raise InputError(path, found="no replies", expected=f"{FILE} or {' or '.join(FILES)} in it")
    return found


def _kept(folder: Path, judge: str) -> _Source:
    answers: dict[tuple[str, _Question], tuple[Given, ...]] = {}
    if not (folder / FILE).is_file():
        raise InputError(folder / FILE, found="no file", expected="replies")
    for kept in read_verdicts(folder):
        if judge in ("", kept.judge.name, kept.judge.digest):
            given = tuple(
                Refused(attempt.error or "refused, as it was then")
                if attempt.failed == "refused"
                else Reply(attempt.text, attempt.model, dict(attempt.usage), attempt.complete, attempt.cost)
                for vote in kept.votes
                for attempt in vote.attempts
                if attempt.failed != "unreachable"
            )
            answers[(kept.judge.digest, (kept.prompt, kept.clips))] = given
    return _Source(answers)


def _given(file: Path) -> _Source:
    answers: dict[tuple[str, _Question], tuple[Given, ...]] = {}
    free: tuple[Given, ...] = ()
    for value, field in _records(file):
        reply, asked = _reply(value, file, field), value.get("prompt") if isinstance(value, dict) else None
        if isinstance(value, dict) and "asked" in value and asked is None:
            raise InputError(
                file, f"{field}, asked", found=brief(value["asked"]), expected="prompt, the digest of the two texts"
            )
        if asked is None:
            free += (reply,)
            continue
        clips = value.get("clips", [])
        if not isinstance(asked, str) or not isinstance(clips, list) or not all(isinstance(c, str) for c in clips):
            raise InputError(file, field, found=brief(value), expected="prompt, a digest, and clips, a list of them")
        question = ("", (asked, tuple(clips)))
        answers[question] = (*answers.get(question, ()), reply)
    return _Source(answers, free)


def _records(file: Path) -> Iterator[tuple[Any, str]]:
    if file.suffix.lower() == ".jsonl":
        for position, line in enumerate(read_text_file(file).split("\n"), start=1):
            if line.strip():
                yield parse_json(line, file, f"line {position}"), f"line {position}"
        return
    replies = member(read_json(file), "replies", file)
    if not isinstance(replies, list):
        raise InputError(file, "replies", found=brief(replies), expected="a list of replies")
    for position, value in enumerate(replies):
        yield value, f"replies[{position}]"


def _reply(value: Any, file: Path, field: str) -> Reply:
    if isinstance(value, str):
        return Reply(value)
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        raise InputError(file, field, found=brief(value), expected="a text, or an object with text")
    usage, model, complete = value.get("usage", {}), value.get("model", ""), value.get("complete", True)
    counts = usage.values() if isinstance(usage, dict) else [None]
    if not all(isinstance(count, int) and not isinstance(count, bool) for count in counts):
        raise InputError(file, f"{field}, usage", found=brief(usage), expected="an object of token counts")
    if not isinstance(model, str) or not isinstance(complete, bool):
        raise InputError(file, field, found=brief(value), expected="model, a text, and complete, true or false")
    cost = value.get("cost")
    return Reply(value["text"], model, usage, complete, None if cost is None else number(cost, file, f"{field}, cost"))


def _as_json(given: Given) -> Sequence[Any]:
    if isinstance(given, Refused):
        return ["refused", str(given)]
    return [given.text, given.model, json.dumps(dict(given.usage), sort_keys=True), given.complete, given.cost]
