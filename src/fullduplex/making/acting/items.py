"""Scripts of actions become a set of items: one folder for each condition, resumable, every voice dealt.

They are made to be like DuplexAct's and are not them: the words are ours, or yours.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fullduplex.benchmarks.duplexact.conditions import actions, conditions
from fullduplex.data.files import write_json
from fullduplex.driving.personas import Persona, read_personas
from fullduplex.errors import InputError
from fullduplex.making.acting.cues import PROMPT, Asking
from fullduplex.making.acting.item import MAKER, ActionTask, MadeAction, is_made, make_action
from fullduplex.making.acting.script import ActionItem, read_actions, script_files
from fullduplex.making.make_item import content_of, recogniser_of, voice_of
from fullduplex.making.scripted_items import check_apart, check_asked, counts_of, made_all, prepare
from fullduplex.making.synthesis import Each, Progress, pool_for
from fullduplex.model.spans import in_seconds
from fullduplex.model.spec import Spec
from fullduplex.providers.voices.opened import voice_for

#: So many voices speak a set that does not stand on the manner of one of them.
ENOUGH_VOICES = 4
_SUMMARY = "actions.json"
_ABOUT = """Items of DuplexAct's conditions, made by fullduplex from scripts, by synthetic voices.
They are like those of the publication and are not its data: numbers on them compare with nothing published.
interaction.json in each item says what is marked in the user's audio, cues.json when the user speaks, script.json who
spoke, how loud, and where each time is from. Where the publication's items are from recordings, script.json says so.
"""


@dataclass(frozen=True, slots=True)
class Speaks:
    """Someone of the pool: a voice as it was named, and the persona whose settings it is given, None for none."""

    named: Spec
    persona: Persona | None = None

    @property
    def voice(self) -> Spec:
        """Return the voice with the persona's settings, which options that it states itself overrule."""
        return self.named if self.persona is None else self.persona.settled(self.named)


@dataclass(frozen=True, slots=True)
class ActionPlan:
    """What is to be made: the items in the order of the scripts, and who may speak."""

    source: Path
    tasks: tuple[ActionTask, ...]
    pool: tuple[Speaks, ...]

    @property
    def voices(self) -> tuple[str, ...]:
        """Return the voices that speak as the user, settings included."""
        return tuple(sorted({str(task.voice) for task in self.tasks}))

    def counts(self, *, there: bool = True) -> dict[str, dict[str, int]]:
        """Return for each condition how many items it has, and how many of them are ``there`` already, if asked for."""
        return counts_of(self.tasks, is_made, there=there)


@dataclass(frozen=True, slots=True)
class Actions:
    """All that was made, in the order of the plan, and what failed, with the reason."""

    items: tuple[MadeAction, ...]
    failed: tuple[tuple[str, str], ...] = ()


def plan_actions(
    source: Path,
    out: Path,
    voices: Sequence[Spec] = (),
    *,
    scenarios: Sequence[str] = (),
    personas: Sequence[Persona] = (),
    asking: Asking | None = None,
    seed: int = 0,
    rate: int = 24_000,
    language: str = "en",
    limit: int | None = None,
    recogniser: Spec | None = None,
    cache: Path | None = None,
    keys: Mapping[str, str] | None = None,
) -> ActionPlan:
    """Return what :func:`make_actions` would make; nothing is written or spoken.

    ``source`` is a script or a folder of them. ``voices`` is the pool (empty: ten of Kokoro's, drawn by ``seed``),
    dealt evenly over the items of each condition; with ``personas`` each of these, with its settings, gets a voice of
    the pool, in turn. ``scenarios``: conditions or actions to make (empty: all); ``limit``: the first so many of each
    condition. An item has the same voice whatever else is made; who is heard in its background is always another.
    Raises :class:`InputError` on what cannot be used.
    """
    asking = asking or Asking()
    wanted = _wanted(scenarios)
    check_asked(asking.into, rate, seed, limit)
    items = read_actions(source)
    chosen = [item for item in items if item.scenario in wanted and (limit is None or item.position < limit)]
    if not chosen:
        there = dict.fromkeys(item.scenario for item in items)
        found = f"none of {', '.join(scenarios)}"
        raise InputError(source, found=found, expected=f"a condition that it has: {', '.join(there)}")
    if recogniser is not None:
        # What cannot be opened is refused now, and once.
        recogniser_of(recogniser, cache)
    shared = tuple(sorted((keys or {}).items()))
    named = pool_for(language, voices, seed, cache, shared)
    pool = people(named, personas)
    opened = {str(spec): voice_of(spec, cache, shared).spec for spec in named}
    tasks = list[ActionTask]()
    for item in chosen:
        who = _speaker(item, pool, seed)
        others = [spec for spec in named if opened[str(spec)] != opened[str(who.named)]]
        if _in_background(item) and not others:
            expected = "a second voice, since another person speaks in the background"
            raise InputError("--voice", found=f"only {who.named}, the user's own", expected=expected)
        other = voice_for(f"{item.dataset}/{item.id} background", others, seed) if _in_background(item) else None
        persona = "" if who.persona is None else who.persona.name
        tasks.append(
            ActionTask(
                item, out, who.voice, other, persona, asking, seed, rate, language, recogniser, cache, shared
            )
        )  # fmt: skip
    check_apart(source, tasks)
    return ActionPlan(source, tuple(tasks), pool)


def people(voices: Sequence[Spec], personas: Sequence[Persona]) -> tuple[Speaks, ...]:
    """Return who may speak: the voices; with personas, each of these by a voice in turn, and no voice left out.

    Raises :class:`InputError` for a voice that a persona has no settings for: it would speak like any other.
    """
    if not personas:
        return tuple(map(Speaks, voices))
    for persona in personas:
        unknown = next((voice for voice in voices if voice.name not in persona.voice), None)
        if unknown is not None:
            found = f"the voice {unknown.name}, for {persona.name}"
            expected = f"a voice that this persona has settings for: {', '.join(persona.voice) or 'none'}"
            raise InputError("--persona", found=found, expected=expected)
    count = max(len(voices), len(personas))
    return tuple(Speaks(voices[n % len(voices)], personas[n % len(personas)]) for n in range(count))


def _speaker(item: ActionItem, pool: Sequence[Speaks], seed: int) -> Speaks:
    """Return who speaks as the user: the pool is shuffled for the condition, and dealt round its items.

    Where the item names a persona, one of the pool with it; where there is none, that persona's settings are put on
    the voice that was dealt, if they have any for it.
    """
    order = np.random.default_rng([seed, zlib.crc32(item.scenario.encode())]).permutation(len(pool))
    rank = [pool[int(at)] for at in order]
    dealt = rank[item.position % len(rank)]
    if not item.persona:
        return dealt
    own = [one for one in rank if one.persona is not None and one.persona.name == item.persona]
    if own:
        return own[item.position % len(own)]
    persona = read_personas()[item.persona]
    return Speaks(dealt.named, persona) if dealt.named.name in persona.voice else dealt


def make_actions(plan: ActionPlan, out: Path, *, progress: Progress | None = None, each: Each | None = None) -> Actions:
    """Make the items of ``plan`` in ``OUT/da_CONDITION/ID`` and return them; what is there already is not made again.

    Raises :class:`InputError` where ``out`` holds something else, before anything is made.
    """
    prepare(out / _SUMMARY, MAKER, "a file that was not made from these scripts", plan.tasks)
    found = Actions(*made_all(plan.tasks, make_action, progress=progress, each=each))
    _write_summary(out, plan, found)
    return found


def _in_background(item: ActionItem) -> bool:
    return any("background" in said.kinds for _, said in item.user)


def _wanted(scenarios: Sequence[str]) -> set[str]:
    """Return the names of the conditions that ``scenarios`` name, each or all of an action; all where none is named."""
    by_name = {condition.name: {condition.name} for condition in conditions()}
    by_name |= {action.key: {condition.name for condition in action.conditions} for action in actions()}
    unknown = [name for name in scenarios if name not in by_name]
    if unknown:
        raise InputError("--scenario", found=", ".join(unknown), expected=f"of {', '.join(by_name)}")
    return set[str]().union(*(by_name[name] for name in scenarios or by_name))


def _write_summary(out: Path, plan: ActionPlan, found: Actions) -> None:
    first, counts = plan.tasks[0], Counter(one.scenario for one in found.items)
    settings = Counter(task.item.setting for task in plan.tasks)
    write_json(
        out / _SUMMARY,
        {
            "schema": 1,
            "made_for": MAKER,
            "scripts": [{"name": file.name, "sha256": content_of(file)} for file in script_files(plan.source)],
            "seed": first.seed,
            "rate": first.rate,
            "language": first.language,
            "into": in_seconds(first.asking.into),
            "prompt": PROMPT if first.asking.prompt is None else first.asking.prompt,
            "voices": [one.voice.to_json() for one in plan.pool],
            "personas": sorted({one.persona for one in found.items if one.persona}),
            "recogniser": first.recogniser and first.recogniser.to_json(),
            "items": {name: counts[name] for name in dict.fromkeys(task.item.scenario for task in plan.tasks)},
            "settings": dict(sorted(settings.items())),
            "failed": [{"item": item, "error": error} for item, error in found.failed],
        },
    )
    about = out / "README.txt"
    if not about.exists():
        about.write_text(_ABOUT, encoding="utf-8")
