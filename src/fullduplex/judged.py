"""The judging stage: what a benchmark has judged is asked of a judge, item by item, and kept with the item."""

from __future__ import annotations

import glob
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from fullduplex import benchmarks, plugins
from fullduplex.benchmarks.declare import Asks, Benchmark, Stretch
from fullduplex.benchmarks.fdb15_released import LABELS as OFFICIAL_LABELS
from fullduplex.data.files import write_json
from fullduplex.errors import InputError, printable
from fullduplex.judging.batch import collect_batch, submit_batch
from fullduplex.judging.cases import Case
from fullduplex.judging.cost import Bill, bill_of
from fullduplex.judging.keeping import keep_rubric, read_verdicts, write_verdict
from fullduplex.judging.providers.batch import BatchJudge
from fullduplex.judging.question import Judge
from fullduplex.judging.rubric import Rubric
from fullduplex.judging.rubric_file import load
from fullduplex.judging.session import Session
from fullduplex.judging.verdicts import Judged
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Trial, Verdict
from fullduplex.runs.clips import cut_clip
from fullduplex.runs.items import read_item, trial_or_failure
from fullduplex.runs.judges import Seated, judges_of, seat
from fullduplex.runs.measured import scenario_of
from fullduplex.runs.run import Run

#: Where a run keeps the id of a batch that is under way.
BATCH = "batch.json"
#: No answers: what was said before stands.
NOT_ANSWERED = ("unreachable", "refused")
#: Told how far judging is: verdicts so far, and what they took.
Progress = Callable[[int, Bill], None]
#: Which makers' models share their ways, by what their names hold. The writer of the official synthetic items is the
#: paper's: GPT-4o.
FAMILIES = {
    "OpenAI": r"gpt|openai|o[1345](-|$)|chatgpt",
    "Google": r"gemini|gemma|google",
    "Anthropic": r"claude|anthropic",
    "Meta": r"llama|meta-",
    "Alibaba": r"qwen|qwq",
    "Mistral": r"mistral|mixtral|ministral|voxtral",
    "DeepSeek": r"deepseek",
    "Kyutai": r"moshi|helium|kyutai",
    "Amazon": r"nova[- _]?sonic|nova[- ]|amazon",
    "Hugging Face": r"smollm",
}
WRITERS = {
    "synthetic_user_interruption": "GPT-4o",
    "user_interruption": "GPT-4o",
    "user_backchannel": "GPT-4o",
    "talking_to_other": "GPT-4o",
    "background_speech": "GPT-4o",
}


@dataclass(frozen=True, slots=True)
class Judging:
    """How a run is judged.

    ``judge`` is a spec, ``keys`` the keys of providers by name, which are written nowhere. ``rubrics`` are those
    that stand in for the benchmark's own, by the verdict's name. ``leads``: this judge's word counts from now on.
    ``hears``: the recording of what is judged goes along, also where the rubric reads only. ``variant`` is whose
    questions are asked, "" for every variant of the run. The rest is as for
    :class:`fullduplex.judging.session.Session`.
    """

    judge: Spec
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    rubrics: Mapping[str, Rubric] = field(default_factory=dict)
    variant: str = ""
    votes: int = 1
    attempts: int = 5
    concurrency: int = 8
    per_minute: float | None = None
    tokens_per_minute: float | None = None
    max_cost: float | None = None
    leads: bool = True
    hears: bool = False


@dataclass(slots=True)
class Outcome:
    """What judging a run came to: the bill, why items were not asked about, and what the reader has to know.

    ``reasons``: the first sentence under each reason for which there is no verdict.
    """

    bill: Bill = field(default_factory=Bill)
    passed_over: Counter[str] = field(default_factory=Counter)
    remarks: tuple[str, ...] = ()
    given_up: str = ""
    reasons: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ready:
    """A run ready to be judged: who judges, what is asked of which item folder, and who is named there."""

    run: Run
    judge: Judge
    session: Session
    rubrics: Mapping[str, Rubric]
    benchmarks: Sequence[Benchmark]
    remarks: tuple[str, ...]
    passed_over: Counter[str]
    clips: Path

    def cases(self) -> Iterator[Case]:
        """Yield each question; its key is the item's folder."""
        for folder in self.run.items():
            for asks, verdict, fields, heard in self._asked(folder):
                rubric = self.rubrics.get(asks.verdict)
                if isinstance(fields, Absent):
                    self.passed_over[fields.reason] += 1
                    continue
                if rubric is None:
                    self.passed_over[f"not answered by this judge: {asks.rubric}"] += 1
                    continue
                lacking = [name for name in rubric.fields if name not in fields]
                if lacking:
                    self.passed_over[f"nothing to show as {lacking[0]}"] += 1
                    continue
                shown = {name: fields[name] for name in rubric.fields}
                named = rubric if verdict == rubric.verdict else replace(rubric, verdict=verdict)
                try:
                    clips = self._clips(folder, asks, rubric, heard)
                except InputError:
                    self.passed_over["no clip: the recording cannot be read"] += 1
                    continue
                yield Case(str(folder), named, shown, clips, votes=asks.votes)

    def _asked(self, folder: Path) -> Iterator[tuple[Asks, str, Mapping[str, str] | Absent, Stretch | None]]:
        try:
            item = read_item(folder)
        except InputError:
            self.passed_over["failed"] += 1
            return
        trials: dict[str, Trial] = {}
        asked: set[str] = set()
        for number, benchmark in enumerate(self.benchmarks):
            scenario = scenario_of(benchmark, item)
            if scenario is None or not scenario.asks:
                continue
            name = benchmark.hearing.name
            if name not in trials:
                trials[name] = trial_or_failure(folder, name)
            for asks in scenario.asks:
                for verdict, fields in asks.questions(trials[name]):
                    # What several rules ask alike is asked once, as the leading one words it.
                    if verdict not in asked and (number == 0 or not isinstance(fields, Absent)):
                        asked.add(verdict)
                        yield asks, verdict, fields, asks.cut(trials[name]) if asks.cut is not None else None

    def _clips(self, folder: Path, asks: Asks, rubric: Rubric, heard: Stretch | None) -> tuple[Path, ...]:
        name = read_item(folder)["files"].get(asks.clip) if rubric.hears else None
        if not name:
            return ()
        return (folder / name if heard is None else cut_clip(folder / name, heard, self.clips),)


def ready(run: Run, asked: Judging, *, cache: Path, progress: Progress | None = None) -> Ready:
    """Return ``run`` ready to be judged, nothing asked yet.

    Raises :class:`FullDuplexError` in one sentence: no such judge, a rubric that a deaf judge cannot use, a benchmark
    that has nothing judged.
    """
    told = run.about["benchmark"]
    chosen = _whose_questions(run, asked.variant)
    needed = {asks.verdict: asks.rubric for one in reversed(chosen) for s in one.scenarios for asks in s.asks}
    variant = ",".join(one.variant for one in chosen)
    if not needed:
        raise InputError("judge", found=f"{told['name']}@{variant}", expected="a benchmark that has something judged")
    unknown = sorted(set(asked.rubrics) - set(needed))
    if unknown:
        raise InputError("--rubric", found=f"a rubric for {unknown[0]}", expected=f"one for {' or '.join(needed)}")
    loaded = {verdict: asked.rubrics.get(verdict) or load(name) for verdict, name in needed.items()}
    if asked.hears:
        loaded = {verdict: replace(rubric, hears=True) for verdict, rubric in loaded.items()}
    judge = open_judge(asked.judge, asked.keys, cache)
    rubrics, remarks = askable(loaded, judge, asked)
    counted = [0]

    def told_progress(judged: Judged, bill: Bill) -> None:
        counted[0] += 1
        if progress is not None:
            progress(counted[0], bill)

    session = Session(
        judge, cache, votes=asked.votes, attempts=asked.attempts, concurrency=asked.concurrency,
        per_minute=asked.per_minute, tokens_per_minute=asked.tokens_per_minute, max_cost=asked.max_cost,
        names=_masked(run, rubrics), progress=told_progress,
    )  # fmt: skip
    return Ready(run, judge, session, rubrics, chosen, remarks, Counter(), cache / "clips")


def _whose_questions(run: Run, variant: str) -> Sequence[Benchmark]:
    """Return the variant of that name, and without one those that the run was asked for, the leading one first."""
    told = run.about["benchmark"]
    if not variant:
        return [found for name in told["variants"] for found in benchmarks.find(f"{told['name']}@{name}")]
    found = benchmarks.find(f"{told['name']}@{variant}")
    if len(found) > 1:
        raise InputError("--as", found=variant, expected="one variant, whose questions are asked")
    return found


def askable(
    rubrics: Mapping[str, Rubric], judge: Judge, asked: Judging
) -> tuple[Mapping[str, Rubric], tuple[str, ...]]:
    """Return the rubrics that ``judge`` can be asked, and what a reader has to know of the others.

    A rubric of the benchmark's that hears is read by a judge that does not: it shows the words too. Raises
    :class:`InputError` where nothing is left, and for a deaf judge that was told to hear.
    """
    answers: Collection[str] | None = getattr(judge, "answers", None)
    kept: dict[str, Rubric] = {}
    beside: list[str] = []
    read: list[str] = []
    for verdict, rubric in rubrics.items():
        if answers is not None and rubric.name not in answers:
            beside.append(verdict)
        elif not rubric.hears or judge.hears:
            kept[verdict] = rubric
        elif asked.hears or verdict in asked.rubrics:
            found = f"{asked.judge.name}, which hears nothing"
            raise InputError("--judge", found=found, expected=f"one that can ({rubric.name})")
        else:
            kept[verdict] = replace(rubric, hears=False)
            read.append(verdict)
    rest = " or ".join(sorted(answers or ()))
    if not kept:
        raise InputError("--judge", found=f"{asked.judge.name}, which answers {rest}", expected="another judge")
    remarks = (
        (beside, f"{asked.judge.name} answers {rest} alone; not judged: {', '.join(beside)}"),
        (read, f"{asked.judge.name} hears nothing; judged from the words alone: {', '.join(read)}"),
    )
    return kept, tuple(sentence for which, sentence in remarks if which)


def judge_run(run: Run, asked: Judging, *, cache: Path, progress: Progress | None = None) -> Outcome:
    """Ask the judge about every item of ``run``, and keep what it says in the items' folders.

    What it has said before of the same words is not asked again. The run's tables stay as they are until it is
    measured. Raises as :func:`ready`; a failing item is counted, with its reason.
    """
    prepared = ready(run, asked, cache=cache, progress=progress)
    outcome = Outcome(passed_over=prepared.passed_over, remarks=prepared.remarks + kinship(run, asked.judge))
    try:
        for rubric in prepared.rubrics.values():
            keep_rubric(run.path, rubric)
        before = judges_of(run)[:1]
        seat(run, seated(prepared, asked), leads=False)
        for judged in prepared.session.run(prepared.cases()):
            _keep(judged, outcome, leads=asked.leads)
        # A judge that has said nothing takes nobody's place.
        if asked.leads and prepared.session.bill.values:
            seat(run, seated(prepared, asked), leads=True)
        elif asked.leads and prepared.session.bill.verdicts and _has_spoken(run, before, prepared.judge):
            outcome.remarks += (f"{asked.judge.name} gave no verdict; the word of the judge before it still counts",)
    finally:
        outcome.bill, outcome.given_up = prepared.session.bill, prepared.session.given_up
        outcome.remarks += tuple(f"{reason}: {why}" for reason, why in outcome.reasons.items())
        prepared.judge.close()
    return outcome


def _has_spoken(run: Run, leading: Sequence[Seated], judge: Judge) -> bool:
    """Return whether another than ``judge`` leads and has given a verdict: who was never read leaves no word."""
    others = {one.spec.digest for one in leading} - {judge.spec.digest}
    for folder in run.items() if others else ():
        with suppress(InputError):  # one item's damage says nothing of the others
            if any(one.judge.digest in others and isinstance(one.verdict, Verdict) for one in read_verdicts(folder)):
                return True
    return False


def judge_batch(run: Run, asked: Judging, *, cache: Path) -> Outcome | None:
    """Submit the run's questions as one batch, or collect what was submitted before; None while it is answered.

    The batch's id is kept in ``RUN/batch.json``, so that another process can collect it. Raises as :func:`ready`, and
    :class:`InputError` for a judge that takes no batches.
    """
    prepared = ready(run, asked, cache=cache)
    judge, state = prepared.judge, run.path / BATCH
    if not hasattr(judge, "submit"):
        raise InputError(
            "--batch", found=asked.judge.name, expected="a judge that takes batches (openai, anthropic, gemini)"
        )
    outcome = Outcome(passed_over=prepared.passed_over, remarks=prepared.remarks + kinship(run, asked.judge))
    options: dict[str, Any] = {
        "votes": asked.votes, "attempts": asked.attempts, "names": _masked(run, prepared.rubrics),
    }  # fmt: skip
    batches = cast(BatchJudge, judge)
    try:
        for rubric in prepared.rubrics.values():
            keep_rubric(run.path, rubric)
        seat(run, seated(prepared, asked), leads=False)
        if not state.is_file() and submit_batch(prepared.cases(), batches, state, cache, **options) is not None:
            return None
        found = collect_batch(prepared.cases(), batches, state, cache, **options)
    finally:
        judge.close()
    if found is None:
        return None
    for judged in found:
        _keep(judged, outcome, leads=asked.leads)
    outcome.bill = bill_of(found)
    outcome.remarks += tuple(f"{reason}: {why}" for reason, why in outcome.reasons.items())
    if asked.leads and outcome.bill.values:
        seat(run, seated(prepared, asked), leads=True)
    return outcome


def _keep(judged: Judged, outcome: Outcome, *, leads: bool) -> None:
    folder = Path(judged.key)
    if judged.value is None and judged.absent:
        outcome.reasons.setdefault(judged.absent, printable(judged.why, 300))
    try:
        write_verdict(folder, judged)
        if leads and judged.absent not in NOT_ANSWERED:
            _write_official(folder, judged)
    except InputError as error:
        # One item's file that was damaged keeps no other's verdict from being kept.
        outcome.remarks = (*outcome.remarks, str(error))


def _write_official(folder: Path, judged: Judged) -> None:
    """Write the verdict also as the released scripts have it, unless such a file came with the recordings.

    So ``RUN/trials`` scores alike as a plain folder, and their own tests can read it.
    """
    name, told = {
        "rating": ("rating.json", {"analysis": judged.why, "rating": judged.value}),
        "behaviour": ("content_tag.json", {"behaviour": [_official(each) for each in str(judged.value).split(",")]}),
    }.get(judged.rubric.verdict, ("", {}))
    if not name or name in read_item(folder)["files"]:
        return
    if judged.value is None:
        (folder / name).unlink(missing_ok=True)
    else:
        write_json(folder / name, told)


def _official(label: str) -> str:
    return OFFICIAL_LABELS.get(label, label)


def seated(prepared: Ready, asked: Judging) -> Seated:
    """Return what the run tells of its judge."""
    rubrics = {
        verdict: {"name": rubric.name, "version": rubric.version, "digest": rubric.digest, "origin": rubric.origin}
        for verdict, rubric in prepared.rubrics.items()
    }
    kin = kinship(prepared.run, asked.judge)
    return Seated(prepared.judge.spec, prepared.judge.weakness, asked.votes, rubrics, kin)


def open_judge(spec: Spec, keys: Mapping[str, str], cache: Path) -> Judge:
    """Return the judge of ``spec``, handed its key where it takes one and was given none.

    Raises :class:`PluginError` where there is no such judge.
    """
    options = dict(spec.options)
    key = keys.get(spec.name)
    if key and "key_file" not in options:
        options["key"] = key
    made: Judge = plugins.make("judges", spec.name, options, cache)
    return made


def kinship(run: Run, judge: Spec) -> tuple[str, ...]:
    """Return a sentence for each way in which the judge is of one family with what it judges.

    Models prefer what they would have said themselves. Families are told by names alone, so that a system
    under another name goes unnoticed.
    """
    # What speaks OpenAI's protocol is not OpenAI's for that.
    vendor = "" if judge.name == "openai-compatible" else judge.name
    its = _family(f"{judge.options.get('model', '')} {vendor}")
    if not its:
        return ()
    driven = (run.about.get("driven") or {}).get("system") or {}
    system = " ".join(map(str, (run.system, driven.get("name", ""), driven.get("options", ""))))
    told = []
    if _family(system) == its:
        told.append(f"the judge and the system {run.system} are both of {its}: judges favour their own kind")
    sets = {folder.parent.name for folder in run.items()}
    writers = sorted({WRITERS[name] for name in sets if name in WRITERS and not _made_here(run, name)})
    told += [
        f"the judge is of {its}, as {writer} is, which wrote the published items"
        for writer in writers
        if _family(writer) == its
    ]
    return tuple(told)


def _made_here(run: Run, set_name: str) -> bool:
    """Return whether the items of a set were made by this package, in words of its own."""
    first = next((folder for folder in run.items() if folder.parent.name == set_name), None)
    source = Path(str((run.about.get("source") or {}).get("path", "")))
    return first is not None and any(source.glob(f"**/{glob.escape(first.name)}/script.json"))


def _family(text: str) -> str:
    return next((name for name, pattern in FAMILIES.items() if re.search(pattern, text.lower())), "")


def _masked(run: Run, rubrics: Mapping[str, Rubric]) -> Sequence[str]:
    """Return the names of the system that the judge must not read.

    A released script masks nothing, so nothing is masked where its prompt is used. A name that is an everyday word
    (a folder called ``output``) would be masked wherever it is said; only names that look like names are.
    """
    if any(rubric.reads != "json" for rubric in rubrics.values()):
        return ()
    return [name for name in _names(run) if _family(name) or re.search(r"[A-Z0-9]|\w[-_]\w", name)]


def _names(run: Run) -> Sequence[str]:
    """Return what the system may be called in what it says."""
    driven = (run.about.get("driven") or {}).get("system") or {}
    options = driven.get("options") or {}
    named = [run.system, driven.get("name", ""), *(str(options.get(key, "")) for key in ("model", "name", "url"))]
    # A name of our own plug-ins says nothing of whom they stand for, and is an everyday word.
    plain = {plugin.name for plugin in plugins.members("systems")}
    return [name for name in dict.fromkeys(map(str, named)) if name and name not in plain]
