"""Which metrics can be computed on how many items, and what the others lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fullduplex.data.entries import Entry
from fullduplex.data.official import INTERACTION_TASKS, is_v15
from fullduplex.model.trials import Trial


@dataclass(frozen=True, slots=True)
class Scorable:
    """A metric of a task and dataset: on how many items it is possible, and what the others lack."""

    task: str
    dataset: str
    metric: str
    possible: int
    of: int
    lacking: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the record as a JSON object."""
        return {
            "task": self.task,
            "dataset": self.dataset,
            "metric": self.metric,
            "possible": self.possible,
            "of": self.of,
            "lacking": dict(self.lacking),
        }


def lacks(entry: Entry, trial: Trial, reference: frozenset[str]) -> dict[str, str]:
    """Return, for each metric of the entry's task, what it lacks ("" where nothing).

    ``reference`` holds the ids that a reference distribution of backchannels covers.
    """
    words = "" if trial.system.tokens is not None else "no output.json (listen makes it)"
    if words and entry.system_voice is None:
        words = "neither output.wav nor output.json"
    sound = "" if entry.system_voice else "no output.wav"
    if trial.failed:
        words = sound = "a file that cannot be read"
    needs: dict[str, tuple[str, ...]]
    if entry.task == "backchannel":
        covered = "" if entry.id in reference else "no reference distribution for it"
        needs = {"tor": (sound, words), "frequency": (sound,), "jsd": (sound, covered)}
    elif is_v15(entry.task, entry.files) or trial.event("overlap"):
        judged = "" if "behaviour" in trial.verdicts else "no content_tag.json (a judge makes it)"
        both = sound or ("" if entry.user_voice else "no input.wav")
        needs = {"behaviour": (judged,), "timing": (both, "" if trial.events else "no event")}
    elif entry.task in INTERACTION_TASKS:
        known = "interaction.json" in entry.files or entry.interaction is not None
        first = "passed" if entry.task.startswith("ib_") else "immediate"
        needs = {first: (sound, "" if entry.user_voice else "no input.wav", "" if known else "no interaction.json")}
    else:
        kind = {"smooth_turn_taking": "turn_end", "user_interruption": "interruption"}.get(entry.task, "")
        needs = {"tor": (words,)}
        if kind:
            needs["latency"] = (words, "" if trial.event(kind) else "no event")
        if entry.task == "user_interruption":
            needs["rating"] = (words, "" if "rating" in trial.verdicts else "no rating.json (a judge makes it)")
    return {metric: next(filter(None, reasons), "") for metric, reasons in needs.items()}


def scorable(task: str, dataset: str, items: Sequence[Mapping[str, str]]) -> tuple[Scorable, ...]:
    """Return a record for each metric, from what each item :func:`lacks`."""
    metrics = dict.fromkeys(metric for item in items for metric in item)
    made = []
    for metric in metrics:
        reasons = [item[metric] for item in items if metric in item]
        missing = Counter(filter(None, reasons))
        made.append(Scorable(task, dataset, metric, reasons.count(""), len(reasons), dict(missing)))
    return tuple(made)
