"""Every system that the four sources measure or list: who names it, which checkpoint they pin, how it is driven here.

Properties are those of Table I of Full-Duplex-Bench v1.0 (arXiv 2503.04721) and of nobody else: what is not public or
not stated there is ``—``, which is not ``no``. A checkpoint is as the source writes it; where it names none there is
none. What is said of releases was read in the sources and in the projects' own repositories by November 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Literal

from fullduplex import plugins
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec

#: The sources, by the names of their benchmarks here, and where in each its systems stand.
SOURCES: Mapping[str, str] = {
    "fdb-1.0": "Full-Duplex-Bench v1.0 (Table III, section IV)",
    "duplexact": "DuplexAct (Tables 4, 14, 15)",
    "interactionbench": "InteractionBench (its page and references)",
    "fdb-french": "Full-Duplex-Bench in French (section 3)",
}
#: Short names of published checkpoints. What a server really runs, only who started it can say.
SHORT_NAMES: Mapping[str, str] = {
    "moshiko": "kyutai/moshiko-pytorch-bf16",
    "moshika": "kyutai/moshika-pytorch-bf16",
    "j-moshi": "nu-dialogue/j-moshi-ext",
    "personaplex-7b-v1": "nvidia/personaplex-7b-v1",
    "raon": "KRAFTON/Raon-SpeechChat-9B",
    "freeze-omni": "VITA-MLLM/Freeze-Omni",
    "vita-1.5": "VITA-MLLM/VITA-1.5",
}
#: What to do with one that cannot be driven.
ITS_RECORDINGS = "score recordings of it with `fullduplex score FOLDER`, or replay one with recorded:path=FILE"

Mark = Literal["yes", "no", "—"]
YES: Mark = "yes"
NO: Mark = "no"
UNSTATED: Mark = "—"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of Table I: the month of publication, and what the paper says of the model.

    ``end_to_end``: it models speech without text; ``channels``: how many of speech it takes in; ``interrupted``: it
    handles interruptions; ``backchannels``: it gives them; ``released``: its whole speech-to-speech pipeline is public.
    """

    date: str
    end_to_end: Mark
    channels: str
    interrupted: Mark
    backchannels: Mark
    released: Mark
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Listed:
    """A system by the name that the sources give it.

    ``by``: who measures it, and the checkpoint that they pin ("" where they name none). ``drive``: the spec that drives
    it here; without one ``why`` says what stands in the way, with one what to know. ``page`` in docs/systems.
    ``also``: other spellings, beyond case, spaces and signs.
    """

    name: str
    drive: str = ""
    why: str = ""
    row: Row | None = None
    by: Mapping[str, str] = field(default_factory=dict)
    page: str = ""
    also: tuple[str, ...] = ()

    @property
    def system(self) -> str:
        """Return the name of the system that drives it; empty where none does."""
        return self.drive.partition(":")[0]

    @property
    def sentence(self) -> str:
        """Return how it is driven here, or why it is not and what can be done."""
        if not self.drive:
            return f"{self.name} cannot be driven: {self.why}; {ITS_RECORDINGS}"
        return f"{self.name} is driven as {self.drive}" + (f": {self.why}" if self.why else "")


_NOT_RELEASED = (
    "its whole pipeline was not released (Full-Duplex-Bench v1.0, Table I), and whether it is now is unknown"
)
_APP = "an application without an interface for programs, shown in demos (Full-Duplex-Bench v1.0, section II)"

CATALOGUE: tuple[Listed, ...] = (
    Listed(
        "dGSLM", "dgslm", "offline continuation, or chunk by chunk against a live user; in its project's folder",
        Row("2022/3", YES, "2", YES, YES, YES), {"fdb-1.0": ""}, "dgslm",
    ),
    Listed("FSM", "", _NOT_RELEASED, Row("2024/5", NO, "1", UNSTATED, UNSTATED, NO)),
    Listed("MiniCPM-Duplex", "", _NOT_RELEASED, Row("2024/6", NO, "1", UNSTATED, UNSTATED, NO)),
    Listed(
        "VITA", "", f"{_NOT_RELEASED}; its successor VITA-1.5 is driven as vita",
        Row("2024/8", NO, "1", YES, UNSTATED, NO),
    ),
    Listed("SyncLLM", "", "no weights are published", Row("2024/9", YES, "2", YES, YES, NO)),
    Listed("Parrot", "", _NOT_RELEASED, Row("2024/9", YES, "2", YES, UNSTATED, NO)),
    Listed("MiniCPM-Duo", "", _NOT_RELEASED, Row("2024/9", NO, "1", UNSTATED, UNSTATED, NO)),
    Listed(
        "Moshi", "moshi", "", Row("2024/10", YES, "2", YES, YES, YES),
        {
            "fdb-1.0": "", "duplexact": "kyutai/moshiko-pytorch-bf16",
            "interactionbench": "kyutai/moshika-pytorch-bf16",
        }, "moshi",
    ),
    Listed(
        "SALMONN-omni", "", "its project's repository held nothing to run it when it was read (July 2026)",
        Row("2024/11", YES, "1", YES, UNSTATED, NO),
    ),
    Listed("MinMo", "", _NOT_RELEASED, Row("2025/1", YES, "1", YES, YES, NO)),
    Listed("OmniFlatten", "", "no weights are published", Row("2025/1", YES, "2", YES, UNSTATED, NO)),
    Listed("RTTL-DG", "", _NOT_RELEASED, Row("2025/1", YES, "2", YES, YES, NO)),
    Listed(
        "Freeze-Omni", "freeze-omni", "", Row("2024/11", NO, "1", YES, UNSTATED, YES),
        {
            "fdb-1.0": "", "duplexact": "VITA-MLLM/Freeze-Omni", "interactionbench": "VITA-MLLM/Freeze-Omni",
            "fdb-french": "",
        }, "freeze-omni",
    ),
    Listed(
        "GPT-4o Voice Mode", "", f"{_APP}; its vendor's interfaces are openai-realtime and gpt-live, which are not it",
        Row("2024/5", UNSTATED, UNSTATED, YES, UNSTATED, NO, closed=True), also=("gpt-4o voice", "chatgpt voice mode"),
    ),
    Listed(
        "Gemini Live", "gemini-live", "", Row("2024/8", UNSTATED, UNSTATED, YES, UNSTATED, NO, closed=True),
        {"fdb-1.0": "gemini-2.0-flash-live-001", "interactionbench": ""}, "gemini-live",
    ),
    Listed("DouBao", "", _APP, Row("2025/1", UNSTATED, UNSTATED, YES, UNSTATED, NO, closed=True)),
    Listed(
        "Nova Sonic", "nova-sonic", "", Row("2025/4", UNSTATED, UNSTATED, YES, UNSTATED, NO, closed=True),
        page="nova-sonic", also=("amazon nova sonic",),
    ),
    Listed("Mini-Omni2", "mini-omni2", "", by={"duplexact": "gpt-omni/mini-omni2"}, page="mini-omni2"),
    Listed("VITA-1.5", "vita", "", by={"duplexact": "VITA-MLLM/VITA-1.5"}, page="vita"),
    Listed(
        "Voila-Autonomous", "voila", "in its project's folder",
        by={"duplexact": "maitrix-org/Voila-autonomous-preview"}, page="voila",
    ),
    Listed("FLM-Audio", "flm-audio", "", by={"duplexact": "CofeAI/FLM-Audio"}, page="moshi"),
    Listed("Raon-SpeechChat", "raon", "", by={"duplexact": ""}, page="moshi", also=("raon-speechchat-9b",)),
    Listed("BayLing-Duplex", "bayling-duplex", "in its project's folder", by={"duplexact": ""}, page="bayling-duplex"),
    Listed("MiniCPM-o 4.5", "minicpm-o", "", by={"duplexact": ""}, page="minicpm-o"),
    Listed(
        "PersonaPlex", "personaplex", "",
        by={"interactionbench": "nvidia/personaplex-7b-v1", "fdb-french": "nvidia/personaplex-7b-v1"}, page="moshi",
    ),
    Listed("GPT-Live", "gpt-live", "", by={"interactionbench": ""}, page="gpt-live"),
    Listed("GPT-Realtime", "openai-realtime", "", by={"interactionbench": ""}, page="openai-realtime"),
    Listed(
        "Turn-based cascade (InteractionBench)", "cascade",
        "with parts of yours; the source's are voice activity, Parakeet, gpt-4o-mini and MiMo TTS, and it was given "
        "whole turns",
        by={"interactionbench": ""}, page="../how-to/cascade", also=("turn-based cascade",),
    ),
    Listed(
        "English cascade (French benchmark)", "cascade:preset=french-fdb-en",
        "Vosk, Qwen3 8B, Piper: the first and the last are files of yours",
        by={"fdb-french": ""}, page="../how-to/cascade", also=("english cascade",),
    ),
    Listed(
        "French cascade (French benchmark)", "cascade:preset=french-fdb-fr",
        "Vosk, Qwen3 8B, Piper: the first and the last are files of yours",
        by={"fdb-french": ""}, page="../how-to/cascade", also=("french cascade",),
    ),
)  # fmt: skip


def listed(name: str) -> Listed | None:
    """Return what the sources call ``name``, in any case, with any signs between its letters; None where nothing is.

    A checkpoint that a source pins stands for its system, with or without whose it is.
    """
    wanted = _letters(name)
    if not wanted:
        return None
    for one in CATALOGUE:
        checkpoints = [name for name in one.by.values() if name]
        spelled = [one.name, *one.also, *checkpoints, *(name.rpartition("/")[2] for name in checkpoints)]
        if wanted in map(_letters, spelled):
            return one
    return None


def check_name(spec: Spec) -> None:
    """Raise :class:`InputError` where ``spec`` names one of the sources and none here: how it is driven, or why not.

    A name that nobody knows is left to whoever looks for the plug-in.
    """
    if any(plugin.name == spec.name for plugin in plugins.members("systems")):
        return
    one = listed(spec.name)
    if one is None:
        return
    expected = f"--system {one.drive}" if one.drive else "a system that can be driven"
    raise InputError("--system", found=spec.name, expected=expected, do=one.sentence)


def with_checkpoint(spec: Spec) -> Spec:
    """Return ``spec`` with the ``model`` that its ``preset`` (of :data:`SOURCES`) pins; unchanged where it has none.

    It stays as said: nothing here can see what a server runs. A system with presets of its own keeps them. Raises
    :class:`InputError` for a source that pins no checkpoint of the system, and for a ``model`` that is another one.
    """
    preset = spec.options.get("preset")
    pins = {source: its for one in CATALOGUE if one.system == spec.name for source, its in one.by.items()}
    if preset is None or not pins or "preset" in signature(plugins.find("systems", spec.name)).parameters:
        return spec
    where = f"--system {spec.name}"
    found = str(preset)
    if not pins.get(found):
        told = ", ".join(source for source, its in pins.items() if its) or "none: no source names a checkpoint of it"
        known = f"{SOURCES[found]} names none, as far as it was read here; " if found in pins else ""
        raise InputError(where, "preset", found=found, expected=told, do=f"{known}name one with model=")
    model = str(spec.options.get("model", pins[found]))
    if SHORT_NAMES.get(model, model) != pins[found]:
        raise InputError(where, "model", found=model, expected=f"{pins[found]}, of preset={found}", do="leave one out")
    return Spec(spec.name, {**spec.options, "model": pins[found]}, spec.revision)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
