"""Measure the memory and the time that reading a long corpus of transcripts takes, one conversation at a time.

``python bench/corpus_memory.py [HOURS]``: makes conversations of half an hour (26 hours of them unless told) in each
format, from a seed, reads them all, and prints how much memory was needed beyond that before, at its peak, with one
conversation and with all. Each reading is a process of its own.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

FORMATS = ("ctm", "stm", "rttm", "table", "textgrid", "chat", "json")
MINUTES = 30
_WORDS = ("oui", "d'accord", "well", "the", "house", "that", "déjà", "mhm", "think", "of", "it", "yes")


def talk(seed: int) -> Iterator[tuple[str, list[tuple[str, float, float]]]]:
    """Yield a conversation's turns: who, and the words with their start and end in seconds."""
    rng = np.random.default_rng(seed)
    at, n = 0.0, 0
    while at < MINUTES * 60 - 20:
        words = []
        for word in rng.choice(_WORDS, rng.integers(1, 25)):
            length = float(rng.uniform(0.1, 0.4))
            words.append((str(word), round(at, 3), round(at + length, 3)))
            at += length + float(rng.choice([0.0, 0.05, 0.4], p=[0.6, 0.3, 0.1]))
        yield "AB"[n % 2], words
        at, n = at + float(rng.normal(0.2, 0.3)), n + 1
        at = max(at, words[-1][1])


def write(folder: Path, form: str, talks: int) -> None:
    """Write a corpus of so many conversations in one format."""
    if form in ("ctm", "stm", "rttm"):
        with (folder / f"all.{form}").open("w", encoding="utf-8") as file:
            for n in range(talks):
                for who, words in talk(n):
                    start, end = words[0][1], words[-1][2]
                    if form == "ctm":
                        file.writelines(f"t{n:03d} {who} {s} {e - s:.3f} {w}\n" for w, s, e in words)
                    elif form == "stm":
                        file.write(f"t{n:03d} {who} {who} {start} {end} {' '.join(w for w, _, _ in words)}\n")
                    else:
                        file.write(f"SPEAKER t{n:03d} 1 {start} {end - start:.3f} <NA> <NA> {who} <NA> <NA>\n")
    elif form == "table":
        with (folder / "all.csv").open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(["conversation", "speaker", "start", "end", "word"])
            for n in range(talks):
                table.writerows([f"t{n:03d}", who, s, e, w] for who, words in talk(n) for w, s, e in words)
    else:
        for n in range(talks):
            turns = list(talk(n))
            text = {"textgrid": _textgrid, "chat": _chat, "json": _json}[form](turns)
            suffix = {"textgrid": "TextGrid", "chat": "cha", "json": "json"}[form]
            (folder / f"t{n:03d}.{suffix}").write_text(text, encoding="utf-8")


def _textgrid(turns: list[tuple[str, list[tuple[str, float, float]]]]) -> str:
    made = ['File type = "ooTextFile"', 'Object class = "TextGrid"', "", "xmin = 0", f"xmax = {MINUTES * 60}"]
    made += ["tiers? <exists>", "size = 2", "item []:"]
    for side in "AB":
        words = [one for who, spoken in turns if who == side for one in spoken]
        made += ['class = "IntervalTier"', f'name = "{side} - words"', "xmin = 0", "xmax = 1", f"size = {len(words)}"]
        for m, (word, start, end) in enumerate(words, 1):
            made += [f"intervals [{m}]:", f"xmin = {start}", f"xmax = {end}", f'text = "{word}"']
    return "\n".join(made)


def _chat(turns: list[tuple[str, list[tuple[str, float, float]]]]) -> str:
    made = ["@UTF8", "@Begin", "@Languages:\teng", "@Participants:\tA Adult, B Adult"]
    for who, words in turns:
        bullets = [f"{w} \x15{s * 1000:.0f}_{e * 1000:.0f}\x15" for w, s, e in words]
        line = " ".join(w for w, _, _ in words)
        made.append(f"*{who}:\t{line} . \x15{words[0][1] * 1000:.0f}_{words[-1][2] * 1000:.0f}\x15")
        made.append(f"%wor:\t{' '.join(bullets)} .")
    return "\n".join([*made, "@End"])


def _json(turns: list[tuple[str, list[tuple[str, float, float]]]]) -> str:
    rows = [{"speaker": who, "word": w, "start": s, "end": e} for who, words in turns for w, s, e in words]
    return json.dumps({"words": rows}, ensure_ascii=False)


def read(folder: Path, form: str, at_most: int) -> None:
    """Read so many conversations, and print the peak of memory beyond the start in MB, seconds, and words or turns."""
    from fullduplex.data.corpora.opened import open_corpus

    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before, began, count = _memory("VmRSS"), time.perf_counter(), 0
    corpus = open_corpus(folder, form)
    opened = time.perf_counter() - began
    for name in corpus.names[:at_most]:
        for side in corpus.read(name).sides:
            count += len(side.words or side.utterances)
    print(json.dumps([_memory("VmHWM") - before, opened, time.perf_counter() - began, count]))


def _memory(name: str) -> float:
    """Return this process' resident memory in MB: ``VmRSS`` now, ``VmHWM`` at its peak. Linux alone tells it."""
    # The peak that getrusage tells is the parent's too.
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    """Measure each format."""
    if sys.argv[1:2] == ["--read"]:
        read(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
        return
    hours = float(sys.argv[1]) if len(sys.argv) > 1 else 26.0
    talks = max(2, round(hours * 60 / MINUTES))
    print(f"{talks} conversations of {MINUTES} minutes, {talks * MINUTES / 60:g} hours")
    print("format\tMB on disk\tMB for one\tMB for all\topened in s\tread in s\twords or turns")
    for form in FORMATS:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            write(folder, form, talks)
            size = sum(path.stat().st_size for path in folder.iterdir()) / 1e6
            one, every = (_measured(folder, form, n) for n in (1, talks))
            opened, took, count = every[1:]
            print(
                f"{form}\t{size:.0f}\t{one[0]:.0f}\t{every[0]:.0f}\t{opened:.1f}\t{took:.1f}\t{count:,.0f}", flush=True
            )


def _measured(folder: Path, form: str, at_most: int) -> list[float]:
    asked = [sys.executable, __file__, "--read", str(folder), form, str(at_most)]
    done = subprocess.run(asked, check=True, capture_output=True, text=True)
    found: list[float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    main()
