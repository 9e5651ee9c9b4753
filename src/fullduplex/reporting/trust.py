"""What stands beside a judged number: who judged, how, and how far people agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.runs.items import RECORDED
from fullduplex.runs.judges import Seated
from fullduplex.runs.run import Run

FILE = "agreement.json"
NOT_VALIDATED = "not validated"


@dataclass(frozen=True, slots=True)
class Judge:
    """Who gave the verdicts of one name, as tables tell it.

    ``system``: whose replies they are on; ``verdicts``: how many there are; ``rubric``: its name and version, "" where
    the verdicts came with the recordings; ``weakness``: what has to be said of the judge, else ""; ``found``: what is
    known of its worth.
    """

    system: str
    name: str
    verdict: str
    verdicts: int
    votes: int
    rubric: str
    weakness: str
    found: str

    @property
    def sentence(self) -> str:
        """Return who judged, how, and what that is worth, as it stands with a single number."""
        if not self.rubric:
            return f"as judged when recorded; {self.found}"
        votes = f", {self.votes} votes" if self.votes > 1 else ""
        told = f"judged by {self.name}{votes}, rubric {self.rubric}"
        return "; ".join(filter(None, (told, self.weakness.rstrip("."), self.found)))


def judge_lines(judges: Iterable[Judge], tell: Language = ENGLISH, *, brief: bool = False) -> list[str]:
    """Return a sentence for each judge among ``judges``: on whom, how many verdicts, by what rubrics, and their worth.

    ``brief``: of what is to be said of a judge, the first sentence alone.
    """
    by_judge: dict[tuple[str, str], dict[tuple[str, str], Judge]] = {}
    for one in judges:
        by_judge.setdefault((one.name, one.weakness), {})[one.system, one.verdict] = one
    told = []
    for (name, weakness), those in by_judge.items():
        counts: Counter[str] = Counter()
        rubrics: dict[str, None] = {}
        worth: dict[str, list[str]] = {}
        for one in those.values():
            counts[one.system] += one.verdicts
            votes = tell(", {votes} votes", votes=one.votes) if one.votes > 1 else ""
            rubrics.setdefault(f"{one.rubric}{votes}" if one.rubric else one.verdict)
            worth.setdefault(one.found, []).append(one.verdict)
        on = [
            (tell("{n} verdict on {system}") if counts.total() == 1 else tell("{n} verdicts on {system}"))
            if place == 0
            else tell("{n} on {system}")
            for place in range(len(counts))
        ]
        on = [text.format(n=number, system=system) for text, (system, number) in zip(on, counts.items(), strict=True)]
        colon, semicolon = tell(": "), tell("; ")
        found = semicolon.join(
            tell.of(_in_full(text))
            if len(worth) == 1
            else f"{', '.join(dict.fromkeys(names))}{colon}{tell.of(_in_full(text))}"
            for text, names in worth.items()
        )
        weak = tell.of(weakness.partition(". ")[0].rstrip(".") if brief else weakness.rstrip("."))
        judged = any(one.rubric for one in those.values())
        who = tell("Judged by {name}", name=name) if judged else tell("As judged when recorded")
        by = tell("rubrics {names}", names=", ".join(rubrics))
        told.append(semicolon.join(filter(None, (f"{who}{colon}{', '.join(on)} ({by})", weak, found))) + ".")
    return told


def _in_full(found: str) -> str:
    return f"{found}: its verdicts were not compared with people's" if found == NOT_VALIDATED else found


def judge_of(run: Run, judges: Iterable[Seated], verdict: str, by: str, verdicts: int) -> tuple[Judge, str]:
    """Return who gave the ``verdicts`` verdicts called ``verdict`` of ``run``, and their worth in a few words.

    ``by`` is who a verdict names: one of ``judges``, else they came with the recordings. Worth is what
    ``fullduplex agree`` found, else "not validated".
    """
    for judge in judges:
        rubric = judge.rubrics.get(verdict)
        if rubric is None or judge.name != by:
            continue
        found, worth = _worth(run, verdict, judge, str(rubric.get("digest", "")))
        by = " ".join(filter(None, (rubric.get("name", ""), rubric.get("version", ""))))
        made = Judge(run.system, judge.name, verdict, verdicts, judge.votes, by, judge.weakness, found)
        return made, f"weak judge, {worth}" if judge.weakness else worth
    found, worth = _worth(run, verdict, None, "")
    return Judge(run.system, RECORDED, verdict, verdicts, 1, "", "", found), worth


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
