"""What machines said of the items of a run: judges' verdicts, and the rates that were measured."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError
from fullduplex.measures.judged_reply import TO_HEAR
from fullduplex.model.trials import Verdict
from fullduplex.runs.judges import Seated, with_verdicts
from fullduplex.runs.run import Run
from fullduplex.runs.stored import estimates, read_item

_WANTED = re.compile(r"\s*([\w.-]+)\s*([=<>~])\s*(.*?)\s*", re.DOTALL)
#: Verdicts by which a judge says that it does not know.
_UNSURE = ("unknown", "uncertain", "unclear", "unsure")


@dataclass(frozen=True, slots=True)
class Claim:
    """What was said of one item: by a judge (``votes``, where it voted), or by a metric under the leading variant.

    ``value`` is None where a metric is absent; ``reason`` then says why, and ``detail`` in more words. ``disputed``:
    the votes differ, the judge does not know, another variant of the rules gives another value of 0 or 1, or the rule
    itself sends the item to a person.
    """

    name: str
    value: float | str | None
    reason: str = ""
    judged: bool = False
    disputed: bool = False
    rate: bool = False
    detail: str = ""

    @property
    def said(self) -> str:
        """Return the verdict in words, with its reason."""
        value = self.value
        if value is None:
            told = "no value"
        elif self.rate and value in (0, 1):
            told = "yes" if value else "no"
        else:
            told = f"{value:g}" if isinstance(value, float | int) else value
        return f"{self.name}: {told}" + (f" ({self.reason})" if self.reason else "")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A condition on a claim: ``rating=0``, ``latency>1.2``, ``latency<0``, ``rating~off topic``.

    ``=`` compares numbers as numbers, and otherwise text, also with the reason why a value is absent; ``~`` finds a
    text in the reason, or in what more is told of an absence. Capitals do not count.
    """

    name: str
    how: str
    value: str

    def holds(self, claim: Claim) -> bool:
        """Return whether ``claim`` is of this name and answers the condition."""
        if claim.name != self.name:
            return False
        if self.how == "~":
            return any(self.value.casefold() in text.casefold() for text in (claim.reason, claim.detail))
        number = _number(self.value)
        if isinstance(claim.value, float | int) and number is not None:
            value = float(claim.value)
            return {"=": abs(value - number) < 1e-9, "<": value < number, ">": value > number}[self.how]
        said = claim.reason if claim.value is None else str(claim.value)
        return self.how == "=" and said.casefold() == self.value.casefold()


def wanted(text: str) -> Wanted:
    """Return the condition in ``NAME=VALUE``, ``NAME<N``, ``NAME>N`` or ``NAME~TEXT``; raises :class:`InputError`."""
    found = _WANTED.fullmatch(text)
    told = found is not None and bool(found[3])
    if found is None or not told or (found[2] in "<>" and _number(found[3]) is None):
        raise InputError("--verdict", found=text, expected="NAME=VALUE, NAME<NUMBER, NAME>NUMBER or NAME~TEXT")
    return Wanted(found[1], found[2], found[3])


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None


def measured(run: Run) -> Mapping[str, Sequence[Claim]]:
    """Return what the run's table says of each item, by the item's key, under its leading variant.

    Empty where the run was not measured yet. Raises :class:`InputError` where the table cannot be read.
    """
    if not (run.path / "estimates.json").is_file():
        return {}
    table = estimates(run)
    others = [one for one in table.get("variants") or () if isinstance(one, dict)]
    rates = {(row.get("scenario"), row.get("metric")) for row in table["estimates"] if row.get("kind") == "rate"}
    elsewhere: dict[tuple[Any, ...], set[Any]] = defaultdict(set)
    for other in others:
        for row in other.get("items") or ():
            if (row.get("scenario"), row.get("metric")) in rates:
                elsewhere[row.get("scenario"), row.get("item"), row.get("metric")].add(row.get("value"))
    found: dict[str, list[Claim]] = defaultdict(list)
    for row in table["items"]:
        where = row.get("scenario"), row.get("item"), row.get("metric")
        value = row.get("value")
        reason = row.get("why") or "" if value is not None else row.get("absent") or ""
        rate = (where[0], where[2]) in rates
        why = str(row.get("why") or "")
        disputed = TO_HEAR in why or (rate and bool(elsewhere[where] - {value}))
        detail = why if value is None else ""
        found[f"{where[0]}/{where[1]}"].append(Claim(str(where[2]), value, str(reason), False, disputed, rate, detail))
    return found


def judged(folder: Path, judges: tuple[Seated, ...] = ()) -> list[Claim]:
    """Return what judges said of the item in ``folder``, by the verdict's name; raises :class:`InputError`.

    ``judges`` are those of the run, whose word counts first; what came with the recordings counts last.
    """
    made = []
    for name, verdict in sorted(with_verdicts(read_item(folder).trial, folder, judges).verdicts.items()):
        if isinstance(verdict, Verdict):
            told = str(verdict.value).casefold()
            disputed = len(set(verdict.votes)) > 1 or any(told.endswith(word) for word in _UNSURE)
            made.append(Claim(name, verdict.value, verdict.reason, True, disputed))
        else:
            made.append(Claim(name, None, verdict.reason, True, True))
    return made


def leading(claims: Sequence[Claim], names: Sequence[str]) -> Claim | None:
    """Return the claim that people are asked about: of the first of ``names``, else a judge's, else a rate."""
    for name in names:
        named = next((claim for claim in claims if claim.name == name), None)
        if named is not None:
            return named
    return next((claim for claim in claims if claim.judged), next((claim for claim in claims if claim.rate), None))
