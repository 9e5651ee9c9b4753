"""Interaction scripts become a set of items: one folder for each scenario, every one told apart and resumable.

They are made to be like the items of InteractionBench and are not them: the words are ours, or yours.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data.files import write_json
from fullduplex.errors import InputError
from fullduplex.making.interaction_cues import Timing
from fullduplex.making.interaction_item import (
    MAKER,
    InteractionTask,
    MadeInteraction,
    asked_accent,
    is_made,
    make_interaction,
)
from fullduplex.making.interaction_policy import SCENARIOS
from fullduplex.making.interaction_script import Scripted, read_interactions, script_files
from fullduplex.making.make_item import content_of, recogniser_of
from fullduplex.making.scripted_items import check_apart, check_asked, counts_of, made_all, prepare
from fullduplex.making.synthesis import Each, Progress, pool_for
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec

_SUMMARY = "interactions.json"
_ABOUT = """Items of interactions, made by fullduplex from scripts, by synthetic voices.
They are like those of InteractionBench and are not its data: numbers on them compare with nothing published.
interaction.json in each item says what it calls for, cues.json when the user speaks, script.json who spoke and where
each time is from. Accents that a script asks for are spoken only where a voice has them: script.json names both.
"""


@dataclass(frozen=True, slots=True)
class InteractionPlan:
    """What is to be made: the items in the order of the scripts."""

    source: Path
    tasks: tuple[InteractionTask, ...]
    voices: tuple[Spec, ...]

    def counts(self, *, there: bool = True) -> dict[str, dict[str, int]]:
        """Return for each scenario how many items it has, and how many of them are ``there`` already, if asked for."""
        return counts_of(self.tasks, is_made, there=there)


@dataclass(frozen=True, slots=True)
class Interactions:
    """All that was made, in the order of the plan, and what failed, with the reason."""

    items: tuple[MadeInteraction, ...]
    failed: tuple[tuple[str, str], ...] = ()


def plan_interactions(
    source: Path,
    out: Path,
    voices: Sequence[Spec] = (),
    *,
    scenarios: Sequence[str] = (),
    timing: Timing | None = None,
    seed: int = 0,
    rate: int = 24_000,
    language: str = "en",
    limit: int | None = None,
    recogniser: Spec | None = None,
    cache: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> InteractionPlan:
    """Return what :func:`make_interactions` would make; nothing is written or spoken.

    ``source`` is a script or a folder of them. ``voices`` is the pool (empty: ten of Kokoro's, drawn by ``seed``),
    dealt evenly over the items of each scenario; ``scenarios`` those to make (empty: all), ``limit`` the first so
    many of each. An item has the same voice whatever else is made. Raises :class:`InputError` on what cannot be used.
    """
    timing = timing or Timing()
    _check(scenarios, timing, rate, seed, limit)
    items = read_interactions(source)
    chosen = [item for item in items if not scenarios or item.scenario in scenarios]
    if limit is not None:
        chosen = [item for item in chosen if item.position < limit]
    if not chosen:
        found = f"none of {', '.join(scenarios)}"
        there = dict.fromkeys(item.scenario for item in items)
        raise InputError(source, found=found, expected=f"a scenario that it has: {', '.join(there)}")
    if recogniser is not None:
        # What cannot be opened is refused now, and once.
        recogniser_of(recogniser, cache)
    shared = tuple(sorted((keys or {}).items()))
    pool = pool_for(language, voices, seed, cache, shared)
    clips = source if source.is_dir() else source.parent
    tasks = tuple(
        InteractionTask(
            item, clips, out, dealt(item, pool, seed), timing, seed, rate, language, recogniser, cache, shared
        )
        for item in chosen
    )
    check_apart(source, tasks)
    return InteractionPlan(source, tasks, pool)


def dealt(item: Scripted, pool: Sequence[Spec], seed: int) -> Spec:
    """Return the voice of an item: the pool is shuffled for its scenario, and dealt round its items."""
    order = np.random.default_rng([seed, zlib.crc32(item.scenario.encode())]).permutation(len(pool))
    return pool[int(order[item.position % len(pool)])]


def make_interactions(
    plan: InteractionPlan, out: Path, *, progress: Progress | None = None, each: Each | None = None
) -> Interactions:
    """Make the items of ``plan`` in ``OUT/ib_SCENARIO/ID`` and return them; what is there already is not made again.

    Raises :class:`InputError` where ``out`` holds something else, before anything is made.
    """
    prepare(out / _SUMMARY, MAKER, "a file that interactions did not write", plan.tasks)
    found = Interactions(*made_all(plan.tasks, make_interaction, progress=progress, each=each))
    _write_summary(out, plan, found)
    return found


def _check(scenarios: Sequence[str], timing: Timing, rate: int, seed: int, limit: int | None) -> None:
    unknown = [name for name in scenarios if name not in SCENARIOS]
    if unknown:
        raise InputError("--scenario", found=", ".join(unknown), expected=f"of {', '.join(SCENARIOS)}")
    check_asked(timing.into, rate, seed, limit)


def _write_summary(out: Path, plan: InteractionPlan, found: Interactions) -> None:
    first = plan.tasks[0]
    accents = sorted({asked_accent(task.item) for task in plan.tasks} - {""})
    summary: dict[str, Any] = {
        "schema": 1,
        "made_for": MAKER,
        "scripts": [{"name": file.name, "sha256": content_of(file)} for file in script_files(plan.source)],
        "seed": first.seed,
        "rate": first.rate,
        "language": first.language,
        "into": in_seconds(first.timing.into),
        "prompt": first.timing.prompt,
        "voices": [spec.to_json() for spec in plan.voices],
        "recogniser": first.recogniser and first.recogniser.to_json(),
        "items": {
            name: sum(one.scenario == name for one in found.items)
            for name in dict.fromkeys(task.item.scenario for task in plan.tasks)
        },
        "accents": {
            "asked": accents,
            "voices": sorted({one.voice for one in found.items if one.accent}),
            "languages": sorted({one.language for one in found.items if one.accent}),
        },
        "failed": [{"item": item, "error": error} for item, error in found.failed],
    }
    write_json(out / _SUMMARY, summary)
    about = out / "README.txt"
    if not about.exists():
        about.write_text(_ABOUT, encoding="utf-8")
