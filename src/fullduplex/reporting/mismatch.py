"""The language-mismatch table: systems by match and architecture, every metric with its 95 % interval.

A system is matched where its own language is that of the items. People are a group of their own. Timing should hold
across languages and content should not: the table shows each metric by its task, never a mean over tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fullduplex.benchmarks import fdb_french
from fullduplex.data.corpora.languages import two_letters
from fullduplex.errors import InputError, RunError, printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.people_text import Figure, table
from fullduplex.reporting.rows import absences, figure, interval, label, waits_for_a_judge
from fullduplex.reporting.tables import markdown_text
from fullduplex.runs.run import Run

Architecture = Literal["end-to-end", "cascade", "human"]
ARCHITECTURES: tuple[Architecture, ...] = ("end-to-end", "cascade", "human")
#: The languages that have two letters (ISO 639-1): a first letter, and every second one.
_BY_FIRST_LETTER = (
    "aabefkmnrsvyz baeghimnors caehorsuvy daevz eelnostu fafijory gadlnuv haeiortuyz iadegikostu jav "
    "kagijklmnorsuvwy labginotuv mghiklnrsty nabdeglnorvy ocjmrs pailst qu rmnouw sacdegiklmnoqrstuvw "
    "taeghiklnorstwy ugkrz veio wao xh yio zahu "
)
TWO_LETTERS = frozenset(its[0] + second for its in _BY_FIRST_LETTER.split() for second in its[1:])
MATCHED, MISMATCHED = "matched", "mismatched"
#: The languages of benchmarks whose items have one.
LANGUAGES: Mapping[str, str] = {"fdb-1.0": "en", fdb_french.NAME: fdb_french.LANGUAGE}


@dataclass(frozen=True, slots=True)
class About:
    """What a run does not tell of its system: its own language, as a two-letter code, and its architecture."""

    language: str
    architecture: Architecture


def about_system(run: Run, language: str = "", architecture: str = "") -> About:
    """Return what is told of a run's system, else what the run itself says.

    People are human and speak the language of the items; the built-in cascade says its language. Of any other
    system both have to be told: raises :class:`InputError` naming what is not, and on a ``language`` that is no
    code of ISO 639.
    """
    if language:
        language = language_code(language)
    if architecture and architecture not in ARCHITECTURES:
        raise InputError("--architecture", found=architecture, expected=" or ".join(ARCHITECTURES))
    driven = (run.about.get("driven") or {}).get("system") or {}
    options = driven.get("options") or {} if isinstance(driven, Mapping) else {}
    is_cascade = isinstance(driven, Mapping) and driven.get("name") == "cascade"
    its: Architecture | None = next((one for one in ARCHITECTURES if one == architecture), None)
    if run.about.get("people"):
        its, language = its or "human", language or language_of(run)
    elif is_cascade:
        preset = str(options.get("preset", ""))
        its = its or "cascade"
        language = language or str(options.get("language", "") or preset.rpartition("-")[2] or "en")
    if its is None or not language:
        lacks = "--architecture" if its is None else "--system-language"
        raise InputError(lacks, found=f"nothing of {printable(run.system)}", expected=f"{run.system}=…")
    return About(language, its)


def language_code(told: str) -> str:
    """Return the two letters of ``told``: a code of ISO 639, also one of three letters, or with a region (``fr-CA``).

    Raises :class:`InputError` on what is none.
    """
    code = two_letters(told)
    if code not in TWO_LETTERS:
        raise InputError("--system-language", found=told, expected="a language's two letters (ISO 639-1), as en or fr")
    return code


def language_of(run: Run) -> str:
    """Return the language of a run's items: that of the harvest, people's own, else the benchmark's.

    Raises :class:`RunError` where its benchmark has none.
    """
    name = run.about["benchmark"]["name"]
    if name not in LANGUAGES:
        raise RunError(f"{run.path}: is of {printable(name)}, whose items are of no language; give runs of "
                       f"{' or '.join(LANGUAGES)}")  # fmt: skip
    own = run.about.get("items_language") or (run.about.get("language") if run.about.get("people") else None)
    return two_letters(own) if isinstance(own, str) and own else LANGUAGES[name]


def mismatch_rows(runs: Iterable[tuple[Run, Sequence[Mapping[str, Any]], About]]) -> list[dict[str, Any]]:
    """Return each estimate of ``runs`` (run, its rows of the leading variant, what is told of its system) as a row.

    It has the row's own keys, and ``run`` (its folder), ``label`` (the system as the table calls it: with its folder
    where another run of the benchmark has that name), ``benchmark``, ``corpus`` ("" where it is not known), ``task``,
    ``items_language``, ``system_language``, ``architecture``, ``match``. Raises :class:`RunError` where the runs were
    scored under different rules, or one is given twice.
    """
    made: list[dict[str, Any]] = []
    variant = ""
    given = list(runs)
    labels = _labels([run for run, _, _ in given])
    for (run, rows, about), name in zip(given, labels, strict=True):
        its = str(run.about["benchmark"]["variants"][0])
        if variant and its != variant:
            raise RunError(f"{run.path}: scored as @{its}, and others as @{variant}; score all alike")
        variant = its
        language = language_of(run)
        match = MATCHED if about.language == language else MISMATCHED
        for row in rows:
            if row.get("family") or waits_for_a_judge(row):
                continue
            corpus, task = _corpus_of(str(row["scenario"]))
            made.append(
                {
                    **row, "system": run.system, "run": str(run.path), "label": name,
                    "benchmark": run.about["benchmark"]["name"], "corpus": corpus, "task": task,
                    "items_language": language, "system_language": about.language, "architecture": about.architecture,
                    "match": "" if about.architecture == "human" else match,
                }
            )  # fmt: skip
    return made


def _labels(runs: Sequence[Run]) -> list[str]:
    """Return what each run's row is called: its system, with its folder where two runs would else be one."""
    if len({run.path.resolve() for run in runs}) < len(runs):
        raise RunError("a run was given twice; give each run once")
    named = [(run.system, run.about["benchmark"]["name"]) for run in runs]
    alike, short = Counter(named), Counter((*key, run.path.name) for key, run in zip(named, runs, strict=True))
    return [
        run.system if alike[key] == 1
        else f"{run.system} ({run.path.name if short[(*key, run.path.name)] == 1 else run.path})"
        for key, run in zip(named, runs, strict=True)
    ]  # fmt: skip


_TASKS = {
    "candor_pause_handling": "pause_handling",
    "synthetic_pause_handling": "pause_handling",
    "candor_turn_taking": "smooth_turn_taking",
    "icc_backchannel": "backchannel",
    "synthetic_user_interruption": "user_interruption",
    **fdb_french.SETS,
}


def _corpus_of(scenario: str) -> tuple[str, str]:
    task = _TASKS.get(scenario, scenario)
    return (scenario.partition("_")[0] if scenario in _TASKS else "", task)


def _group(row: Mapping[str, Any]) -> tuple[int, int]:
    if row["architecture"] == "human":
        return 2, 0
    return (0 if row["match"] == MATCHED else 1), ARCHITECTURES.index(row["architecture"])


def _title(row: Mapping[str, Any]) -> str:
    return "human" if row["architecture"] == "human" else f"{row['match']}, {row['architecture']}"


def mismatch_markdown(rows: Sequence[Mapping[str, Any]], tell: Language = ENGLISH) -> str:
    """Return the table as Markdown: one for each task, groups down, metrics across; "" where there is no row."""
    if not rows:
        return ""
    parts = [f"# {tell('Language match')}\n"]
    for task in dict.fromkeys(row["task"] for row in rows):
        of_task = [row for row in rows if row["task"] == task]
        metrics = list({row["metric"]: row for row in of_task}.values())
        lines = []
        # Runs of one system's name are several: a line is one run's, in one of its scenarios.
        by_line: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
        for row in of_task:
            by_line.setdefault((row["run"], row["scenario"]), {})[row["metric"]] = row
        for cells in sorted(by_line.values(), key=lambda its: _group(next(iter(its.values())))):
            first = next(iter(cells.values()))
            lines.append([
                tell.of(_title(first)), first["label"], first["system_language"], _items(first),
                *(_cell(cells.get(one["metric"]), tell) for one in metrics),
            ])  # fmt: skip
        title = tell.of(str(of_task[0]["scenario_title"])).partition(",")[0]
        head = [*map(tell.of, ("Group", "System", "Speaks", "Items")), *(label(one, tell) for one in metrics)]
        parts += [f"## {markdown_text(title)}\n", table(head, lines), ""]
    rests = {row["metric"]: row["rests_on"] for row in rows}
    titles = {row["metric"]: str(row.get("title") or row["metric"]) for row in rows}
    content = sorted(name for name, what in rests.items() if what == "content")
    said = [
        tell(
            "Each cell: value [95 % interval] n. Corpora differ in domain and formality as well as in language, so a "
            "difference between items of two languages is not one of language alone."
        )
    ]
    if content:
        told = ", ".join(tell.of(titles[name]) for name in content)
        said.append(tell("Rests on content: {metrics}; all else on voice activity.", metrics=told))
    parts.append(" ".join(said))
    return "\n".join(parts) + "\n"


def _items(row: Mapping[str, Any]) -> str:
    named = f"{row['benchmark']}, {row['corpus']}" if row["corpus"] else str(row["benchmark"])
    return f"{named} ({row['items_language']})"


def _cell(row: Mapping[str, Any] | None, tell: Language) -> str:
    if row is None:
        return ""
    if row["value"] is None:
        return f"— ({absences(row, tell) or tell('no items')})"
    told = " ".join(
        filter(None, (figure(row["value"], str(row.get("unit", "")), tell), interval(row, tell), str(row["n"])))
    )
    return Figure(told)
