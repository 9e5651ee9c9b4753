"""What stands beside a judged number: who judged, how, and how far people agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.runs.items import RECORDED
from fullduplex.runs.judges import Seated
from fullduplex.runs.run import Run

FILE = "agreement.json"
NOT_VALIDATED = "not validated"


def judged_by(run: Run, judges: tuple[Seated, ...], verdict: str, *, recorded: bool) -> dict[str, str]:
    """Return who gave the verdicts of ``run`` and what their word is worth, for a table; empty where nobody did.

    ``judged_by`` is a sentence to stand under a table, ``worth`` a few words to stand beside the number.
    ``recorded``: some came with the recordings. Worth is what ``fullduplex agree`` found, else "not validated".
    """
    parts, worth = list[str](), ""
    for judge in judges:
        rubric = judge.rubrics.get(verdict)
        if rubric is None:
            continue
        votes = f", {judge.votes} votes" if judge.votes > 1 else ""
        told = f"judged by {judge.name}{votes}, rubric {rubric.get('name', '')} {rubric.get('version', '')}"
        found, worth = _worth(run, verdict, judge, str(rubric.get("digest", "")))
        parts = [told, *([judge.weakness] if judge.weakness else []), found]
        worth = f"weak judge, {worth}" if judge.weakness else worth
        break
    if not parts and recorded:
        found, worth = _worth(run, verdict, None, "")
        parts = ["as judged when recorded", found]
    return {"judged_by": "; ".join(part.rstrip(".") for part in parts), "worth": worth}


def agreement_of(run: Run, part: str = "verdicts") -> list[Mapping[str, Any]]:
    """Return what ``fullduplex agree`` kept of ``run``: by verdict, or what people's ratings go with (``goes_with``).

    Nothing where there is nothing to read.
    """
    try:
        value = read_json(run.path / FILE) if (run.path / FILE).is_file() else {}
    except InputError:
        return []
    found = value.get(part) if isinstance(value, dict) else None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _worth(run: Run, verdict: str, judge: Seated | None, rubric: str) -> tuple[str, str]:
    """Return what is known of a judge by this rubric, in full and in a few words; None: of what was recorded."""
    try:
        known = next(
            known
            for one in agreement_of(run)
            if one.get("verdict") == verdict
            for name, known in one["judges"].items()
            if (
                name == RECORDED
                if judge is None
                else (known.get("digest"), known.get("rubric")) == (judge.spec.digest, rubric)
            )
        )
        if known["validated"]:
            accuracy, kappa = known["accuracy"], known["kappa"]
            full = (
                f"agrees with people on {_share(accuracy)}, kappa {_number(kappa)}, n {known['n']} "
                f"({_between(*known['raters'])})"
            )
            return full, f"kappa {_number(kappa)} with people, n {known['n']}"
    except (StopIteration, KeyError, TypeError, ValueError, AttributeError):
        # Nothing that `agree` wrote of this judge and these words.
        pass
    return NOT_VALIDATED, NOT_VALIDATED


def _between(fewest: int, most: int) -> str:
    return f"{most} rater{'s' * (most != 1)}" if fewest == most else f"{fewest} to {most} raters"


def _share(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return "an unknown share"
    interval = "" if found["low"] is None else f" [{100 * found['low']:.0f}, {100 * found['high']:.0f}]"
    return f"{100 * found['value']:.0f} %{interval}"


def _number(found: Mapping[str, Any]) -> str:
    if found["value"] is None:
        return "without a value"
    interval = "" if found["low"] is None else f" [{found['low']:.2f}, {found['high']:.2f}]"
    return f"{found['value']:.2f}{interval}"
