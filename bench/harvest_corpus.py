"""How long a harvest of a whole corpus takes: ``python bench/harvest_corpus.py [HOURS] [FOLDER] [--whole]``.

Makes a two-channel corpus of HOURS (26 by default) in FOLDER, by seed: the talks are Switchboard's as they were timed,
each side's words filled with real telephone speech, so that who speaks when is what people do, and a detector has real
speech to find. Then ``harvest --rules fdb-1.0 --listen`` runs on two cores: the detector hears both channels of every
talk. Once it is half way it is killed, with its workers, and started again; ``--whole`` leaves that out. Told are the
times, and the most memory of all its processes together.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.data import audio
from fullduplex.data.audio import Samples
from fullduplex.data.corpora.conversation import Side
from fullduplex.data.corpora.switchboard import open_switchboard
from fullduplex.listening.detectors.energy import Energy
from fullduplex.listening.hear import hear_speech
from fullduplex.model.spans import SECOND, Timeline, in_seconds, ms, seconds
from fullduplex.processes import descendants
from fullduplex.providers.weights import default_cache

DATA = Path(__file__).parents[2] / "shared" / "data"
TALKS = DATA / "human_human_timing" / "switchboard_ms98" / "swb_ms98_45conv.tar.gz"
SPEECH = DATA / "aws_lca_calls"
RATE, SEED = 8_000, 20_260
#: Words that are no farther apart are filled as one: speech does not stop between them.
JOINED = ms(150)


def pool() -> list[Samples]:
    """Return the speech of each of two people, without its silences."""
    made = list[Samples]()
    for path in sorted(SPEECH.glob("*.flac")):
        samples, rate = audio.read(path, 0)
        spans = hear_speech({"one": (samples, rate)}, Energy())["one"]
        at = [(int(start * rate), int(end * rate)) for start, end in spans]
        speech = np.concatenate([samples[first:last] for first, last in at])
        made.append(audio.resample(speech, rate, RATE))
    return made


def filled(side: Side, length: int, speech: Samples, random: np.random.Generator) -> Samples:
    """Return a channel of ``length`` samples with speech wherever the side says words, and a little noise."""
    made = random.normal(0, 3e-4, length).astype(np.float32)
    fade = RATE // 200
    for span in Timeline(word.span for word in side.words or ()).bridge(JOINED):
        first, last = span.start * RATE // SECOND, min(span.end * RATE // SECOND, length)
        size = last - first
        if size > 2 * fade:
            at = int(random.integers(0, max(1, len(speech) - size)))
            piece = np.resize(speech[at:], size).copy()
            piece[:fade] *= np.linspace(0, 1, fade, dtype=np.float32)
            piece[-fade:] *= np.linspace(1, 0, fade, dtype=np.float32)
            made[first:last] += piece
    return np.clip(made, -1, 1)


def make(folder: Path, hours: float) -> int:
    """Make the corpus, if it is not there; return how many talks it has."""
    import soundfile

    talks = folder.with_name(f"{folder.name}-talks")
    talks.mkdir(parents=True, exist_ok=True)
    with tarfile.open(TALKS) as archive:
        archive.extractall(talks, filter="data")
    source = open_switchboard(talks)
    assert source is not None
    voices, random = pool(), np.random.default_rng(SEED)
    folder.mkdir(parents=True, exist_ok=True)
    made, number, left = 0, 0, seconds(hours * 3600)
    while left > 0:
        name = source.names[number % len(source.names)]
        conversation = source.read(name)
        end = max(word.span.end for side in conversation.sides for word in side.words or ()) + SECOND
        new, target = 6000 + number, folder / f"sw0{6000 + number}.wav"
        order = random.permutation(2)
        channels = [
            filled(side, end * RATE // SECOND, voices[order[n]], random) for n, side in enumerate(conversation.sides)
        ]
        if not target.is_file():
            for side in conversation.sides:
                words = [(in_seconds(w.span.start), in_seconds(w.span.end), w.text) for w in side.words or ()]
                rows = [f"sw{new}{side.name}-ms98-a-0001 {first:.6f} {last:.6f} {text}" for first, last, text in words]
                (folder / f"sw{new}{side.name}-ms98-a-word.text").write_text("\n".join(rows) + "\n")
            soundfile.write(str(target.with_suffix(".part")), np.stack(channels, 1), RATE, "ULAW", format="WAV")
            target.with_suffix(".part").replace(target)
        left -= end
        number, made = number + 1, made + 1
    return made


def memory(process: int) -> int:
    """Return how many bytes a process and all that it started hold."""
    total = 0
    for one in (process, *(one for one, _ in descendants(process))):
        try:
            pages = int(Path(f"/proc/{one}/statm").read_text().split()[1])
        except (OSError, ValueError):
            continue
        total += pages * os.sysconf("SC_PAGE_SIZE")
    return total


def harvested(corpus: Path, out: Path, cache: Path, *, until: int | None = None) -> tuple[float, int, str]:
    """Harvest; return the seconds, the most memory and what was printed. ``until``: kill after so many surveys."""
    command = [sys.executable, "-m", "fullduplex", "harvest", str(corpus), "--rules", "fdb-1.0", "--listen",
               "--audio", "made here", "--out", str(out), "--engine", "processes:2"]  # fmt: skip
    start, most = time.perf_counter(), 0
    log = out.with_name(f"{out.name}.log")
    with log.open("w") as said:
        environment = {**os.environ, "FULLDUPLEX_CACHE": str(cache)}
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=environment)
        while process.poll() is None:
            most = max(most, memory(process.pid))
            if until is not None and len(list((out / ".survey").glob("*.jsonl"))) >= until:
                for one in (*(each for each, _ in descendants(process.pid)), process.pid):
                    os.kill(one, signal.SIGKILL)
                process.wait()
            time.sleep(0.5)
    return time.perf_counter() - start, most, log.read_text()


def tree(out: Path) -> Iterator[tuple[str, int]]:
    for path in sorted(out.glob("*/*/*")):
        yield str(path.relative_to(out)), path.stat().st_size


def main() -> None:
    words: list[Any] = [word for word in sys.argv[1:] if not word.startswith("--")]
    hours = float(words[0]) if words else 26.0
    folder = Path(words[1]) if len(words) > 1 else Path("harvest-corpus")
    start = time.perf_counter()
    talks = make(folder, hours)
    print(f"{talks} talks, {hours:g} hours of two channels, made in {time.perf_counter() - start:.0f} s", flush=True)
    out, cache = folder.with_name(f"{folder.name}-items"), folder.with_name(f"{folder.name}-cache")
    cache.mkdir(exist_ok=True)
    if not (cache / "models").exists():
        (cache / "models").symlink_to(default_cache(os.environ) / "models")
    total = 0.0
    if "--whole" not in sys.argv:
        spent, most, _ = harvested(folder, out, cache, until=max(1, talks // 2))
        total += spent
        there = len(list((out / ".survey").glob("*.jsonl")))
        print(f"killed after {there} talks: {spent:.0f} s, {most / 2**20:.0f} MiB at most", flush=True)
    spent, most, said = harvested(folder, out, cache)
    total += spent
    print(said)
    print(f"harvested: {spent:.0f} s, {most / 2**20:.0f} MiB at most; {total:.0f} s in all, "
          f"{hours * 3600 / total:.0f} times real time")  # fmt: skip
    spent, most, _ = harvested(folder, out, cache)
    print(f"again, with all there: {spent:.0f} s, {most / 2**20:.0f} MiB at most; {len(list(tree(out)))} files")
    print(json.dumps(json.loads((out / "counts.json").read_text())["retained"], indent=1))


if __name__ == "__main__":
    main()
