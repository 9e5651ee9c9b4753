"""What Full-Duplex-Bench calls its sets, tasks and files, and how many items it has."""

from __future__ import annotations

import re
from collections.abc import Iterable
from types import MappingProxyType

from fullduplex.data.entries import ACTION_TASKS, TASKS

V10_TASKS = ("pause_handling", "smooth_turn_taking", "backchannel", "user_interruption")
#: Official set -> (task, items that the publication counts).
SETS = MappingProxyType(
    {
        "candor_pause_handling": ("pause_handling", 216),
        "synthetic_pause_handling": ("pause_handling", 137),
        "candor_turn_taking": ("smooth_turn_taking", 119),
        "icc_backchannel": ("backchannel", 55),
        "synthetic_user_interruption": ("user_interruption", 200),
        "user_interruption": ("user_interruption", 200),
        "user_backchannel": ("user_backchannel", 99),
        "talking_to_other": ("talking_to_other", 100),
        "background_speech": ("background_speech", 100),
        "ib_backchannel": ("ib_backchannel", 20),
        "ib_pause": ("ib_pause", 30),
        "ib_turn_taking": ("ib_turn_taking", 30),
        "ib_user_backchannel": ("ib_user_backchannel", 30),
        "ib_interruption": ("ib_interruption", 30),
        "ib_logic": ("ib_logic", 10),
        "ib_countdown": ("ib_countdown", 10),
        "ib_alternating_count": ("ib_alternating_count", 1),
        "ib_grammar": ("ib_grammar", 10),
        "ib_keyword_wait": ("ib_keyword_wait", 10),
        "ib_stay_quiet": ("ib_stay_quiet", 10),
        "ib_whisper": ("ib_whisper", 10),
        "ib_volume": ("ib_volume", 10),
        "ib_groundedness": ("ib_groundedness", 10),
        # DuplexAct's counts are inferred; see benchmarks/duplexact/conditions.toml.
        **{task: (task, 200) for task in ACTION_TASKS},
        "da_hold_floor_background": ("da_hold_floor_background", 180),
        "da_hold_floor_other_directed": ("da_hold_floor_other_directed", 180),
        "da_hold_floor_shorten": ("da_hold_floor_shorten", 131),
        # The French benchmark's, by corpus; how many items of each it has stands in a table that is not at hand.
        **{f"callfc_{task}": (task, 0) for task in V10_TASKS},
        **{f"media_{task}": (task, 0) for task in V10_TASKS if task != "backchannel"},
    }
)
#: The tasks of InteractionBench and of DuplexAct; a folder's name has to be one of them to tell it.
INTERACTION_TASKS = tuple(name for name in SETS if name.startswith(("ib_", "da_")))
V15_SETS = ("user_interruption", "user_backchannel", "talking_to_other", "background_speech")
#: Tasks that exist only in v1.5.
V15_TASKS = V15_SETS[1:]

#: The event file of each task; user_interruption has one in v1.0 and another in v1.5.
EVENT_FILES = MappingProxyType(
    {
        "pause_handling": ("pause.json",),
        "smooth_turn_taking": ("turn_taking.json",),
        "backchannel": (),
        "user_interruption": ("interrupt.json", "metadata.json"),
        **dict.fromkeys(V15_TASKS, ("metadata.json",)),
        **dict.fromkeys(INTERACTION_TASKS, ("interaction.json",)),
    }
)
#: The task that an event file tells; metadata.json fits the four of v1.5.
TOLD_BY = MappingProxyType(
    {
        "pause.json": "pause_handling",
        "turn_taking.json": "smooth_turn_taking",
        "interrupt.json": "user_interruption",
    }
)
#: What an event is called where its file does not say.
EVENT_KINDS = MappingProxyType(
    {
        "pause_handling": "pause",
        "smooth_turn_taking": "turn_end",
        "user_interruption": "interruption",
        **dict.fromkeys(V15_TASKS, "overlap"),
    }
)

#: Recordings by stem, and every JSON file that has a reader.
AUDIO_STEMS = ("input", "output", "clean_input", "clean_output", "context", "interrupt")
AUDIO_SUFFIXES = (".wav", ".flac", ".ogg", ".opus", ".mp3", ".m4a", ".aiff", ".aif", ".au", ".sph", ".webm")
JSON_FILES = (
    "output.json",
    "input.json",
    "clean_output.json",
    "clean_input.json",
    "pause.json",
    "turn_taking.json",
    "interrupt.json",
    "transcription.json",
    "metadata.json",
    "rating.json",
    "content_tag.json",
    "latency_intervals.json",
    "general_split.json",
    "vad.json",
    "words.json",
    "cues.json",
    "interaction.json",
)

_CLEAN = ("clean_input.wav", "clean_output.wav", "clean_input.json", "clean_output.json")
_TASK_NAMES = (
    (r"user_?backchannel", "user_backchannel"),
    (r"talking_?(to|2)_?other", "talking_to_other"),
    (r"background_?speech", "background_speech"),
    (r"pause", "pause_handling"),
    (r"turn_?taking", "smooth_turn_taking"),
    (r"back_?channel", "backchannel"),
    (r"interrupt", "user_interruption"),
)


def task_named(name: str) -> str | None:
    """Return the task that a folder's name tells of (``v1_turn_taking``, ``Pause-Handling``), or None."""
    plain = re.sub(r"[\W_]+", "_", name.lower())
    if plain in INTERACTION_TASKS:
        return plain
    return next((task for pattern, task in _TASK_NAMES if re.search(pattern, plain)), None)


def set_named(task: str, name: str) -> str:
    """Return the official set of ``task`` that a folder's name or a corpus's short name means, else "".

    ``candor_pause_handling`` in any case, or the corpus alone: ``candor``, ``icc``, ``synthetic``.
    """
    plain = name.lower()
    if plain in SETS and SETS[plain][0] == task:
        return plain
    return next((known for known, (its, _) in SETS.items() if its == task and known.split("_")[0] == plain), "")


def is_v15(task: str, files: Iterable[str]) -> bool:
    """Return whether an item of ``task`` with ``files`` is of v1.5; an interruption may be of either release."""
    its = set(files)
    return task in V15_TASKS or (
        task == "user_interruption" and "interrupt.json" not in its and bool(its & {"metadata.json", *_CLEAN})
    )


def expected_files(task: str, files: frozenset[str] | set[str] = frozenset()) -> tuple[str, ...]:
    """Return the files that an item of ``task`` should have.

    ``files`` are those it has: an interruption item that has v1.5 files is expected to have all of those.
    """
    if task in INTERACTION_TASKS:
        return ("output.wav", "interaction.json")
    if is_v15(task, files):
        return ("input.wav", "output.wav", "metadata.json", "input.json", "output.json", *_CLEAN)
    return ("input.wav", "output.wav", *EVENT_FILES.get(task, ())[:1], "output.json")


def tasks_listed() -> str:
    """Return the names of all tasks, for an error that asks for one."""
    return ", ".join(TASKS)
