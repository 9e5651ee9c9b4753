"""A person's corrections: who, when, why, the old value and the new one. They are applied when a run is measured.

``amendments.jsonl`` only grows. A later line about the same thing wins; a line whose new value is None takes the
correction back.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fullduplex.data.files import brief, number, parse_json, read_text_file
from fullduplex.errors import InputError
from fullduplex.measures.judged_reply import WITHDRAWN
from fullduplex.model.trials import Absent, Fact, Trial, Verdict
from fullduplex.runs.run import Run

FILE = "amendments.jsonl"
SCHEMA = 1
_TEXTS = ("who", "when", "why", "set", "item", "what")


@dataclass(frozen=True, slots=True)
class Amendment:
    """One correction.

    ``what`` is a verdict's name (``rating``, ``probe:2``), else a metric's, perhaps with the variant before it
    (``anchored/latency``). ``old`` is what stood there, ``new`` a number, a label, ``absent`` (the value is to be
    left out), or None, which takes an earlier correction back.
    """

    who: str
    when: str
    why: str
    set: str
    item: str
    what: str
    old: float | str | None
    new: float | str | None

    @property
    def by(self) -> str:
        """Return who says so, as a verdict and a reason have it."""
        return f"amended by {self.who}"

    def told(self) -> str:
        """Return the correction in one sentence."""
        old = "nothing" if self.old is None else _shown(self.old)
        new = "as it was measured" if self.new is None else _shown(self.new)
        return f"{self.set}/{self.item}, {self.what}: {old}, now {new} ({self.who}, {self.when}: {self.why})"


def amend(run: Run, made: Amendment) -> None:
    """Add a correction to the run's; it is on disk when this returns.

    Raises :class:`InputError` on one that is unsigned or has no reason, and where earlier ones cannot be read: those
    are left as they are.
    """
    for name in ("who", "why", "what"):
        if not getattr(made, name).strip():
            raise InputError("amend", name, found="nothing", expected="a text: corrections are signed and reasoned")
    if isinstance(made.new, float) and made.new != made.new:
        raise InputError("amend", "value", found="no number", expected="a number, a label, or absent")
    every_amendment(run)
    told = {name: getattr(made, name) for name in (*_TEXTS, "old", "new")} | {"schema": SCHEMA}
    line = json.dumps(told, ensure_ascii=True, allow_nan=False)
    with (run.path / FILE).open("a+", encoding="utf-8") as file:
        # What was written by hand may not end its last line.
        file.seek(0)
        text = file.read()
        file.write(("\n" if text and not text.endswith("\n") else "") + line + "\n")
        file.flush()
        os.fsync(file.fileno())


def every_amendment(run: Run) -> tuple[Amendment, ...]:
    """Return every line of the run's amendments, the oldest first; raises :class:`InputError` on a damaged one."""
    path = run.path / FILE
    if not os.path.lexists(path):
        return ()
    made = []
    for n, line in enumerate(read_text_file(path).split("\n"), 1):
        if line.strip():
            try:
                made.append(_read(parse_json(line, path), path))
            except (InputError, KeyError, TypeError, ValueError) as error:
                raise InputError(
                    path,
                    f"line {n}",
                    found=brief(line[:80]),
                    expected="a correction as `fullduplex amend` writes",
                    do="mend or take out that line",
                ) from error
    return tuple(made)


def standing(run: Run) -> tuple[Amendment, ...]:
    """Return the corrections that hold: of those about the same thing the last, and none that was taken back."""
    last = {(made.set, made.item, made.what): made for made in every_amendment(run)}
    return tuple(made for made in last.values() if made.new is not None)


class Amendments:
    """The corrections of a run, by item; ``used`` are those that were applied."""

    def __init__(self, made: Iterable[Amendment]) -> None:
        self._by_item: dict[tuple[str, str], list[Amendment]] = {}
        for one in made:
            self._by_item.setdefault((one.set, one.item), []).append(one)
        self.used: dict[Amendment, None] = {}
        self._was: dict[Amendment, str] = {}

    def to_verdicts(self, trial: Trial, set_name: str, item: str, verdicts: Iterable[str]) -> Trial:
        """Return ``trial`` with the corrected verdicts of the item; ``verdicts`` are the names that can be.

        One of several questions under a name is corrected as ``name:key``.
        """
        known = set(verdicts) | set(trial.verdicts)
        found = dict(trial.verdicts)
        for one in self._of(set_name, item):
            if (one.what in known or one.what.partition(":")[0] in known) and one.new is not None:
                self.used[one] = None
                there = trial.verdicts.get(one.what)
                # Verdicts on single replies have other names; who corrected wrote down the one that counted.
                self._was[one] = _standing(there) if there is not None or one.old is None else _shown(one.old)
                found[one.what] = (
                    Absent(WITHDRAWN, f"{one.by}: {one.why}")
                    if one.new == "absent"
                    else Verdict(one.new, (one.new,), one.why, by=one.by)
                )
        return trial if found == trial.verdicts else replace(trial, verdicts=found)

    def to_fact(self, found: Fact | Absent, set_name: str, item: str, variant: str, metric: str) -> Fact | Absent:
        """Return what was found of a metric, or what a person says it is."""
        for one in self._of(set_name, item):
            if one.what in (metric, f"{variant}/{metric}"):
                # A verdict's correction has reached what was found of it already.
                was = self._was.get(one) or _standing(found)
                if one.new == "absent":
                    self.used[one] = None
                    return Absent(WITHDRAWN, f"{one.by}: {one.why} (was {was})")
                if isinstance(one.new, int | float):
                    self.used[one] = None
                    at = found.at if isinstance(found, Fact) else None
                    return Fact(float(one.new), at, f"{one.by}: {one.why} (was {was})")
        return found

    def unused(self) -> tuple[Amendment, ...]:
        """Return the corrections that met nothing they could correct."""
        return tuple(one for listed in self._by_item.values() for one in listed if one not in self.used)

    def _of(self, set_name: str, item: str) -> Iterator[Amendment]:
        yield from self._by_item.get((set_name, item), ())


def _read(value: Mapping[str, Any], path: Path) -> Amendment:
    if value["schema"] != SCHEMA:
        raise ValueError("another schema")
    texts = {name: value[name] for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise TypeError("not a text")
    old, new = (
        each if each is None or isinstance(each, str) else number(each, path, "value")
        for each in (value["old"], value["new"])
    )
    return Amendment(**texts, old=old, new=new)


def _standing(found: Verdict | Fact | Absent | None) -> str:
    if found is None:
        return "nothing"
    return found.reason if isinstance(found, Absent) else _shown(found.value)


def _shown(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"
