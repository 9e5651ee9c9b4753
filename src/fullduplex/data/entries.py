"""What a folder or a manifest holds, before anything is read or heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fullduplex.model.items import Event

#: The tasks of DuplexAct: one for each of its conditions.
ACTION_TASKS = (
    "da_wait_intra_pause",
    "da_wait_inter_pause",
    "da_wait_continuous",
    "da_ignore_other_directed",
    "da_ignore_background",
    "da_take_turn_immediate",
    "da_take_turn_delayed",
    "da_take_turn_slight_overlap",
    "da_backchannel_affirmative",
    "da_backchannel_uncertainty",
    "da_stop_direct_interruption",
    "da_hold_floor_background",
    "da_hold_floor_other_directed",
    "da_hold_floor_continue",
    "da_hold_floor_shorten",
    "da_hold_floor_simplify",
    "da_interrupt_help",
    "da_interrupt_safety",
    "da_recover_wrap_up",
    "da_recover_repeat",
    "da_recover_ask_follow_up",
    "da_recover_resume",
    "da_recover_correct",
    "da_recover_rephrase",
)
#: The tasks of Full-Duplex-Bench v1.0 and v1.5, by their names in its own command line, of InteractionBench and of
#: DuplexAct.
TASKS = (
    "pause_handling",
    "smooth_turn_taking",
    "backchannel",
    "user_interruption",
    "user_backchannel",
    "talking_to_other",
    "background_speech",
    "ib_backchannel",
    "ib_pause",
    "ib_turn_taking",
    "ib_user_backchannel",
    "ib_interruption",
    "ib_logic",
    "ib_countdown",
    "ib_alternating_count",
    "ib_grammar",
    "ib_keyword_wait",
    "ib_stay_quiet",
    "ib_whisper",
    "ib_volume",
    "ib_groundedness",
    *ACTION_TASKS,
)


@dataclass(frozen=True, slots=True)
class Voice:
    """Where one voice is recorded: a file, and its channel in it.

    ``channel`` counts from 0; None averages the channels of the file.
    """

    path: Path
    channel: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """One item as it lies on disk.

    ``id`` is unique among the entries of one task, dataset and system. ``dataset`` is
    the official set's folder name where it is known (``candor_pause_handling``), else "".
    ``system`` names the system that answered, where the layout tells. ``files`` maps an
    official file name (``output.json``, ``pause.json`` …) to the path that plays its part.
    ``events`` are those a manifest gave. ``offset`` is when the system's file begins on the
    session clock, in microseconds. ``missing`` names what was expected and is not there.
    ``interaction`` is what the item calls for, as interaction.json tells it, where no such file does.
    """

    id: str
    task: str
    dataset: str = ""
    system: str = ""
    group: str = ""
    user_voice: Voice | None = None
    system_voice: Voice | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    events: tuple[Event, ...] = ()
    offset: int = 0
    missing: tuple[str, ...] = ()
    interaction: Mapping[str, Any] | None = None

    @property
    def set(self) -> str:
        """Return the name of the folder of a run that holds this entry's kind."""
        return self.dataset or self.task

    @property
    def key(self) -> str:
        """Return what names this entry among all of a run."""
        return f"{self.set}/{self.id}"


@dataclass(frozen=True, slots=True)
class Dataset:
    """Entries in a stable order, with the kind of layout they were found in and remarks on what was passed over."""

    root: Path
    layout: str
    entries: tuple[Entry, ...]
    remarks: tuple[str, ...] = ()
