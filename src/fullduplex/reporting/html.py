"""The page one can hear, from runs and what was measured in them."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from fullduplex.benchmarks.declare import Benchmark, Scenario
from fullduplex.benchmarks.published import published
from fullduplex.data.files import read_json
from fullduplex.errors import InputError
from fullduplex.model.spans import in_seconds
from fullduplex.model.trials import Trial
from fullduplex.reporting.among_people import among_people
from fullduplex.reporting.cards import cards, grounds
from fullduplex.reporting.condition import condition_of
from fullduplex.reporting.conversation import probes_of, short_events, turns_of
from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.listed import listings
from fullduplex.reporting.page import PageData, PageItem, write_page
from fullduplex.reporting.provenance import accents, made_with
from fullduplex.reporting.remarks import folded
from fullduplex.reporting.report import Pair, corrections, departures, moved
from fullduplex.reporting.sounds import TWIN, has_twin, sound_path
from fullduplex.reporting.spent import spent
from fullduplex.reporting.systems import systems_rows
from fullduplex.runs.first_sounds import APART, first_onsets
from fullduplex.runs.items import SEEN, event_rows, read_item, trial_or_failure
from fullduplex.runs.judges import with_verdicts
from fullduplex.runs.measured import Measured, scenario_of
from fullduplex.runs.run import Run
from fullduplex.runs.talks import STAGES, Talks, talks


def write_html(
    pairs: Sequence[Pair],
    rows: Mapping[str, list[dict[str, Any]]],
    out: Path,
    *,
    title: str = "",
    comparison: Any = None,
    embed: Callable[[str, str], bool] | None = None,
    remarks: Iterable[str] = (),
    clocks: Sequence[Mapping[str, Any]] = (),
    speech: Mapping[str, Sequence[Mapping[str, Any]]] = MappingProxyType({}),
    tell: Language = ENGLISH,
) -> None:
    """Write the page one can hear. Each item's stereo file must have been made (see :mod:`.sounds`).

    ``embed`` says of a system and an item whether its sound goes into the page itself; ``tell`` is its language.
    """
    first = pairs[0][0]
    name = first.about["benchmark"]["name"]
    driven = _talks_of(pairs)
    told = grounds(pairs, rows)
    data = PageData(
        title=title or f"{name}{tell(': ')}{', '.join(run.system for run, _ in pairs)}",
        benchmark=name,
        variants=list(rows),
        systems=[run.system for run, _ in pairs],
        estimates=[row for table in rows.values() for row in table],
        published=[one.to_row() for one in published(name)],
        departures=departures(pairs),
        moved=moved(pairs, rows),
        clocks=clocks,
        stages=_stages(driven),
        speech=speech,
        cards=[card for ground in told for card in cards(ground)],
        dimensions=[table for ground in told for table in dimensions(ground)],
        people=among_people(pairs),
        listed=listings(pairs),
        made_of=systems_rows(pairs) if len(pairs) > 1 else (),
        flips=_flips(comparison),
        comparisons=_comparisons(comparison),
        about={
            "fullduplex": first.about["fullduplex"],
            "remarks": folded(
                [
                    *remarks,
                    *_of_talks(driven, len(pairs) > 1),
                    *_whose(pairs, lambda run: [*spent(run).sentences()]),
                    *_whose(pairs, accents),
                    *(f"corrected by hand: {one}" for one in corrections(pairs)),
                ],
                [run.system for run, _ in pairs],
            ),
            "runs": [
                {"system": run.system, "made with": made_with(run)} | {key: run.about.get(key) for key in _SHOWN}
                for run, _ in pairs
            ],
        },
    )
    embedded: dict[str, Path] = {}
    if embed is not None:
        for run, _ in pairs:
            for folder in run.items():
                item = _item(folder)
                if item is None:
                    continue
                path = sound_path(run, folder)
                if embed(run.system, item["id"]) and path.is_file():
                    embedded[f"{run.system}/{item['set']}/{item['id']}"] = path
    write_page(out, data, _page_items(pairs, out.parent), embed=embedded, tell=tell)


#: Each driven run's system with the counts over its talks.
_Talks = list[tuple[str, Talks]]


def _talks_of(pairs: Sequence[Pair]) -> _Talks:
    found = [(run.system, talks(run)) for run, _ in pairs]
    return [(system, its) for system, its in found if its is not None]


def _stages(driven: _Talks) -> list[dict[str, Any]]:
    return [
        {
            "system": system, "stage": stage.name.replace("_", " "), "means": STAGES[stage.name],
            "n": stage.n, "median": stage.median, "p90": stage.p90,
        }
        for system, its in driven
        for stage in its.stages
    ]  # fmt: skip


def _of_talks(driven: _Talks, several: bool) -> list[str]:
    return [(f"{system}: " if several else "") + sentence for system, its in driven for sentence in its.sentences()]


def _whose(pairs: Sequence[Pair], told: Callable[[Run], list[str]]) -> list[str]:
    return [(f"{run.system}: " if len(pairs) > 1 else "") + sentence for run, _ in pairs for sentence in told(run)]


_SHOWN = ("driven", "source", "hearings", "recogniser", "language", "seed", "reference", "options")


def _page_items(pairs: Sequence[Pair], base: Path) -> Iterator[PageItem]:
    for run, measured in pairs:
        facts = _facts_by_item(measured)
        for folder in run.items():
            item = _item(folder)
            if item is None:
                continue
            trial = _judged(measured, folder, item, trial_or_failure(folder, SEEN))
            scenarios = _scenarios(measured, item)
            probes = probes_of(trial, scenarios)
            found = [fact for b, its in scenarios for fact in facts.get((b.variant, its.name, item["id"]), ())]
            yield _page_item(run, folder, item, trial, base, found, probes=probes)
            if trial.twin is not None and has_twin(folder):
                yield _page_item(run, folder, item, trial.twin, base, [], twin=True)


def _page_item(
    run: Run,
    folder: Path,
    item: Mapping[str, Any],
    trial: Trial,
    base: Path,
    facts: Sequence[Mapping[str, Any]],
    *,
    probes: Sequence[Mapping[str, Any]] = (),
    twin: bool = False,
) -> PageItem:
    path = sound_path(run, folder, twin=twin)
    waves = read_json(path.with_suffix(".json")) if path.with_suffix(".json").is_file() else {}
    tracks = {}
    for role, track in (("user", trial.user), ("system", trial.system)):
        tracks[role] = {
            "words": [[w.text, w.span.start / 1e6, w.span.end / 1e6] for w in track.words or ()],
            "speech": [[s.start / 1e6, s.end / 1e6] for s in track.speech or ()],
            "words_from": track.words_from,
            "speech_from": track.speech_from,
            "peaks": waves.get("peaks", {}).get(role, ""),
        }
    ends = [t.duration or 0 for t in (trial.user, trial.system)]
    last = [w.span.end for t in (trial.user, trial.system) for w in t.words or ()]
    return PageItem(
        system=run.system,
        scenario=item["set"],
        task=item["task"],
        item=item["id"] + (TWIN if twin else ""),
        audio=quote(os.path.relpath(path, base), safe="/") if path.is_file() else None,
        duration=waves.get("duration") or max([*ends, *last, 1]) / 1e6,
        tracks=tracks,
        events=short_events(event_rows(trial.events)),
        facts=facts,
        turns=turns_of(trial),
        probes=probes,
        condition=condition_of(trial),
        firsts=_firsts(trial),
        twin=twin,
    )


def _firsts(trial: Trial) -> dict[str, float | bool]:
    """Return when the first word and the first sound of the reply begin, and whether they are ``apart``; or nothing."""
    found = first_onsets(trial)
    if found is None:
        return {}
    word, sound = found
    return {"word": in_seconds(word), "sound": in_seconds(sound), "apart": abs(word - sound) > APART}


def _scenarios(measured: Measured, item: Mapping[str, Any]) -> list[tuple[Benchmark, Scenario]]:
    """Return what each variant measures an item as."""
    found = [(benchmark, scenario_of(benchmark, item)) for benchmark in measured.benchmarks]
    return [(benchmark, scenario) for benchmark, scenario in found if scenario is not None]


def _judged(measured: Measured, folder: Path, item: Mapping[str, Any], trial: Trial) -> Trial:
    """Return ``trial`` with what judges and people said of it."""
    try:
        judged = with_verdicts(trial, folder, measured.judges)
    except InputError:
        judged = trial  # its failure is counted already
    asked = {asks.verdict for _, scenario in _scenarios(measured, item) for asks in scenario.asks}
    return measured.amendments.to_verdicts(judged, item["set"], item["id"], asked)


def _item(folder: Path) -> dict[str, Any] | None:
    """Return an item's names and files; None where they cannot be read, which is a counted failure already."""
    try:
        return read_item(folder)
    except InputError:
        return None


def _facts_by_item(measured: Measured) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Return what was found for each item, by variant, scenario and the item's name."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for column in measured.columns.values():
        if column.metric.family:
            continue  # too many to read beside an item; they are in measures.parquet
        for i, item in enumerate(column.items):
            absent = column.reasons[i]
            found[column.variant, column.scenario.name, measured.names[item]].append(
                {
                    "variant": column.variant,
                    "metric": column.metric.name,
                    "value": None if absent else column.numbers[i],
                    "absent": absent,
                    "why": column.whys[i],
                    "at": None if column.at[i] != column.at[i] else column.at[i],
                    "unit": column.metric.unit,
                }
            )
    return found


def _flips(comparison: Any) -> list[dict[str, Any]]:
    if comparison is None:
        return []
    return [
        {"scenario": d.scenario, "metric": d.metric, "item": c.item, "values": {d.a: c.a, d.b: c.b}}
        for d in comparison.differences
        for c in d.changes
    ]


def _comparisons(comparison: Any) -> list[dict[str, Any]]:
    if comparison is None:
        return []
    return [
        {"scenario": d.scenario, "metric": d.metric, "a": d.a, "b": d.b, "n": d.paired.n, "effect": d.paired.effect,
         "low": d.paired.low, "high": d.paired.high, "p": d.paired.p, "p_holm": d.adjusted}
        for d in comparison.differences
    ]  # fmt: skip
