"""Items of interactions, systems of known conduct and an exact ear: what tests of the whole chain share.

Everything is made of square waves on a grid of 16 samples a millisecond, driven on the virtual clock: nothing lies
between what a system was told to do and what is measured of it. Times are milliseconds on the session clock.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result
from numpy.typing import NDArray

from fullduplex import plugins
from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.data.files import write_json
from fullduplex.driving.cues import plain
from fullduplex.judged import Judging, Outcome, judge_run
from fullduplex.judging.question import Request
from fullduplex.listening.detectors import Samples, Segments
from fullduplex.making.interaction_policy import POLICY
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.runs.run import Run
from fullduplex.systems.scripted import Say, Script, Scripted, Sound

RATE = 16_000
PER_MS = RATE // 1000
#: When the user's first cue begins, and by how many milliseconds it ends later.
BEGINS, LASTS = 500, 3000
ENDS = BEGINS + LASTS
#: The trigger word of grammar and keyword-wait ends here.
TRIGGER_ENDS = 2000
#: The pause of a pause item.
PAUSE = (1500, 3100)
VARIANTS = ("page", "lenient-pause", "early-150", "early-300", "lenient", "anchored")


#: One of the user's cues: its name, its length (ms), its text, and when it is due.
Cue = tuple[str, int, str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Line:
    """What a system says: from when until when (ms), the words, how it sounds (``voiced`` or ``whispered``), how loud.

    The words are spread evenly over the sound, or over ``worded`` (ms).
    """

    start: int
    end: int
    text: str
    sound: str = "voiced"
    level: float = 0.3
    worded: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One item, and what the system does in it.

    ``expects``: cue, start and end in
    the cue (ms), word and target; ``silent`` is a pause in the first cue; ``more`` goes into interaction.json as it
    is. The user hangs up after ``quiet`` seconds of silence.
    """

    scenario: str
    lines: tuple[Line, ...]
    cues: tuple[Cue, ...]
    expects: tuple[tuple[str, int, int, str, str], ...] = ()
    silent: tuple[int, int] | None = None
    more: Mapping[str, Any] = field(default_factory=dict)
    quiet: float = 4.0


def first(lasts: int = LASTS, text: str = "this is what the user says first") -> Cue:
    """Return the user's first cue."""
    return ("u0", lasts, text, {"when": "at", "time": BEGINS / 1000})


def into(id: str, delay: int, lasts: int, text: str) -> Cue:
    """Return a cue that comes ``delay`` after the system is first heard to reply."""
    return (id, lasts, text, {"when": "into_reply", "delay": delay / 1000})


def after(id: str, quiet: int, lasts: int, text: str) -> Cue:
    """Return a cue that comes once the system was quiet for ``quiet``, or 6 s after the user's last words."""
    return (id, lasts, text, {"when": "after_reply", "quiet": quiet / 1000, "timeout": 6.0})


def case(scenario: str, *lines: Line, style: str = "") -> Case:
    """Return the item of ``scenario`` in which the system says ``lines``."""
    said: tuple[Line, ...] = tuple(lines)
    cues: tuple[Cue, ...]
    match scenario:
        case "backchannel":
            return Case(scenario, said, (first(6000),))
        case "pause":
            in_cue = (PAUSE[0] - BEGINS, PAUSE[1] - BEGINS)
            pauses = [{"cue": "u0", "start": in_cue[0] / 1000, "end": in_cue[1] / 1000}]
            return Case(scenario, said, (first(),), (("u0", 700, in_cue[0], "user", ""),), in_cue, {"pauses": pauses})
        case "turn_taking" | "stay_quiet" | "logic" | "countdown":
            return Case(scenario, said, (first(),), (("u0", LASTS - 500, LASTS, "first", "right"),))
        case "grammar" | "keyword_wait":
            return Case(scenario, said, (first(),), (("u0", 1000, TRIGGER_ENDS - BEGINS, "user", "right"),))
        case "whisper" | "volume":
            return Case(scenario, said, (first(),), more={"style": style})
        case "user_backchannel":
            cues = (first(), into("b0", 1000, 400, "mhm"), into("b1", 1600, 400, "yeah"))
            return Case(scenario, said, cues, (("b0", 0, 400, "mhm", ""), ("b1", 0, 400, "yeah", "")))
        case "interruption":
            return Case(scenario, said, (first(), into("u1", 1000, 1500, "wait what about this")))
        case "alternating_count":
            spoken = ("one", "three", "five")
            cues = (first(500, "one"), *(after(f"u{n}", 500, 500, spoken[n]) for n in (1, 2)))
            expects = tuple((f"u{n}", 0, 500, spoken[n], ("two", "four", "six")[n]) for n in range(3))
            return Case(scenario, said, cues, expects)
        case "groundedness":
            cues = (first(1000), *(after(f"u{n}", 1500, 1000, f"question number {n}") for n in (1, 2)))
            probes = [
                {"id": str(n), "cue": f"u{n}", "type": type, "expected": "Says what is right.",
                 "rests_on_assistant": type == "attribution"}
                for n, type in ((1, "recall"), (2, "attribution"))
            ]  # fmt: skip
            return Case(scenario, said, cues, more={"probes": probes})
    raise ValueError(scenario)


def lay_out(folder: Path, cases: Mapping[str, Case]) -> Path:
    """Write items and what a system does in each, by ``scenario/id``; return the folder of the items."""
    for name, one in cases.items():
        place = folder / "items" / f"ib_{name}"
        place.mkdir(parents=True, exist_ok=True)
        for id, lasts, _, _ in one.cues:
            samples = square(lasts)
            if one.silent is not None:
                samples[one.silent[0] * PER_MS : one.silent[1] * PER_MS] = 0
            audio.write(place / f"{id}.wav", samples, RATE)
        policy = POLICY[one.scenario]
        window = None if policy.window is None else [edge / 1_000_000 for edge in policy.window]
        expects = [
            {"id": str(n), "cue": cue, "start": start / 1000, "end": end / 1000, "word": word,
             "action": policy.action, "window": window, "overlap": policy.overlap, "target": target}
            for n, (cue, start, end, word, target) in enumerate(one.expects, 1)
        ]  # fmt: skip
        told = {"schema": 1, "scenario": one.scenario, "category": one.scenario, "target": "right", "expects": expects,
                "probes": [], "pauses": [], "synthesised": True}  # fmt: skip
        write_json(place / "interaction.json", told | dict(one.more))
        cues = [{"id": id, "audio": f"{id}.wav", "text": text, "due": due} for id, _, text, due in one.cues]
        hang_up = {"quiet": one.quiet, "patience": 8.0}
        write_json(place / "cues.json", {"schema": 1, "cues": cues, "hang_up": hang_up, "cap": 60})
        script = folder / "conduct" / f"ib_{name}.json"
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(json.dumps([asdict(line) for line in one.lines]))
    return folder / "items"


def square(lasts: int, level: float = 0.3, hertz: int = 200) -> NDArray[np.float32]:
    """Return so many milliseconds of a voice that is never zero."""
    up = np.arange(lasts * PER_MS) % (RATE // hertz) < RATE // hertz // 2
    return np.asarray(np.where(up, level, -level), np.float32)


def breath(lasts: int, level: float = 0.3) -> NDArray[np.float32]:
    """Return noise without any voice in it that is never zero either."""
    drawn = np.random.default_rng(7).uniform(0.5, 1, lasts * PER_MS) * level
    return np.asarray(drawn * np.random.default_rng(8).choice((-1.0, 1.0), lasts * PER_MS), np.float32)


def acting(*, file: str, burst: bool = False, yields: float | None = None) -> Scripted:
    """Return the system that does what ``file`` says, and reports each word where it sounds.

    ``burst``: a whole sound is sent at once; ``yields``: seconds after which it stops when it is interrupted.
    """
    lines = [Line(**row) for row in json.loads(Path(file).read_text())]
    said = tuple(Say(_sound(line), ms(line.start)) for line in lines)
    script = Script(said, None if yields is None else seconds(yields), rate=RATE)
    return Scripted(script, "acting", burst=burst, rate_in=RATE)


def _sound(line: Line) -> Sound:
    lasts, parts = line.end - line.start, line.text.split()
    samples = breath(lasts, line.level) if line.sound == "whispered" else square(lasts, line.level)
    start, end = (at - line.start for at in line.worded or (line.start, line.end))
    step = (end - start) / max(1, len(parts))
    placed = tuple((word, ms(start + n * step), ms(start + (n + 1) * step)) for n, word in enumerate(parts))
    return Sound(samples, line.text, placed)


class Ear:
    """A detector that hears every sample that is not zero, and nothing else."""

    spec = Spec("silero", {"exact": True}, "test")
    rate = RATE

    def detect(self, batch: Sequence[Samples]) -> list[Segments]:
        """Return where the samples are not zero."""
        return [tuple(self._heard(samples)) for samples in batch]

    def _heard(self, samples: Samples) -> Iterator[tuple[float, float]]:
        loud = np.flatnonzero(np.abs(samples) > 0.01)
        for part in np.split(loud, np.flatnonzero(np.diff(loud) > 1) + 1) if len(loud) else []:
            yield int(part[0]) / RATE, (int(part[-1]) + 1) / RATE


@contextmanager
def exact_chain(cache: Path) -> Iterator[None]:
    """Make ``acting`` a system, and let an exact ear hear in Silero's place."""
    known = plugins.find

    def find(family: str, name: str) -> Any:
        if (family, name) == ("systems", "acting"):
            return acting
        return (lambda **options: Ear()) if (family, name) == ("detectors", "silero") else known(family, name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugins, "find", find)
        patch.setenv("FULLDUPLEX_CACHE", str(cache))
        yield


def call(*words: str | Path, code: int = 0) -> Result:
    """Call ``fullduplex`` and return what came of it."""
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == code, (found.exit_code, found.output[-3000:], found.exception)
    return found


def run(folder: Path, cases: Mapping[str, Case], out: Path, name: str, *more: str, options: str = "") -> Path:
    """Drive ``cases`` through the whole chain under every variant, and return the run; ``options`` are the system's."""
    items = lay_out(folder, cases)
    system = f"acting:file={folder}/conduct/{{set}}/{{id}}.json{options}"
    call("run", "interactionbench@all", "--data", items, "--system", system, "--recogniser", "reported",
         "--engine", "here", "--no-page", "--name", name, "--out", out, *more)  # fmt: skip
    return out


def judge(request: Request) -> str:
    """Judge as the words say: ``right`` is right, ``mhm`` leaves the floor, ``anyway`` resumes."""
    fields, schema = request.fields, dict(request.schema or {})
    key = next(name for name in schema["properties"] if name != "reason")
    reply = {plain(word) for word in (fields.get("reply") or fields.get("utterance") or "").split()}
    answers: dict[str, str | int] = {
        "kind": "backchannel" if reply & {"mhm", "mm-hmm"} else "floor-take",
        "behaviour": "resume" if "anyway" in fields.get("after", "") else "respond",
        "premise": "holds",
        "coherence": 80,
    }
    return json.dumps({"reason": "as told", key: answers.get(key, "yes" if "right" in reply else "no")})


def judged(path: Path, cache: Path, variant: str = "") -> Outcome:
    """Have :func:`judge` judge the run at ``path``, by the questions of ``variant``."""
    asked = Judging(Spec("recorded", {"answer": judge}), variant=variant)
    return judge_run(Run.open(path), asked, cache=cache)


Facts = dict[tuple[str, str, str], float | str]


def facts(path: Path) -> Facts:
    """Return each fact of a run, or why it is absent, by variant, ``scenario/id`` and metric."""
    told = json.loads((path / "estimates.json").read_text())
    return {
        (part["variant"], f"{row['scenario'].removeprefix('ib_')}/{row['item']}", row["metric"]): row["value"]
        if row["value"] is not None
        else row["absent"]
        for part in (told, *told["variants"])
        for row in part["items"]
    }


def estimate(path: Path, variant: str, scenario: str, metric: str = "passed") -> Mapping[str, Any]:
    """Return a row of a run's table."""
    told = json.loads((path / "estimates.json").read_text())
    part = next(part for part in (told, *told["variants"]) if part["variant"] == variant)
    return next(r for r in part["estimates"] if (r["scenario"], r["metric"]) == (f"ib_{scenario}", metric))
