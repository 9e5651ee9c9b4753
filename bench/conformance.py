"""Try every driver against its facade on the 26 cases, and write the table of docs/reference/conformance.md.

``python bench/conformance.py --wall FOLDER``: on the virtual clock where a facade can be held in memory, and all on the
wall clock too. What ``conform`` says on the wall clock is kept in FOLDER, a file a system, and what is there already
is not played again: delete a file to have it anew. It takes some fifteen minutes, on a machine with nothing else to
do. Without ``--wall`` the wall clock is kept to what needs it.

LiveKit's session has an environment of its own: it is played where ``FULLDUPLEX_LIVEKIT_PYTHON`` names a Python that
has ``livekit-agents`` and ``fullduplex`` (``.ci/livekit`` makes one).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.data.files import replacing
from fullduplex.errors import FullDuplexError
from fullduplex.testing.facades import facade_of

#: A system twice: with options that change its protocol.
TWICE = ("moshi:server=rust",)
#: What is played of a system that has to be told more than its name.
TOLD = {"livekit": "livekit:agent=fullduplex.testing.facades.livekit:agent"}
#: Where a system's own environment is.
ENVIRONMENTS = {"livekit": "FULLDUPLEX_LIVEKIT_PYTHON"}
SIGNS = {"passed": "✓", "failed": "✗", "not judged": "late", "not applicable": "·"}
HEAD = """# Conformance of the drivers

What `fullduplex conform SYSTEM` found of each driver against its facade, made by `python bench/conformance.py`. ✓ passed, ✗ failed, · not applicable: the protocol has no word for it, and `conform` says which. The cases are under [Check a driver or a system](../how-to/conform.md).

A facade speaks a vendor's protocol and is not the vendor's server: each system's page says by what it was checked, and what is *not verified live*.

Clock: virtual, with the facade in memory; {wall} on the wall clock, over real sockets or within the driver's process.

"""  # noqa: E501
WALL = """
## On the wall clock
The same cases over real sockets, with the facade in a process of its own, on a quiet machine.

"""
Found = dict[str, Any]


@dataclass(frozen=True)
class Driver:
    """A driver as the table names it: what is told to ``conform``, by which Python, whether it can be in memory."""

    name: str
    python: str
    in_memory: bool

    @property
    def told(self) -> str:
        """Return what is told to ``conform``."""
        return TOLD.get(self.name, self.name)

    @property
    def file(self) -> str:
        """Return the name of the file that keeps what it says on the wall clock."""
        return re.sub(r"[^\w.-]", "_", self.name) + ".json"


def drivers() -> Iterator[Driver]:
    """Yield every driver that has a facade and can be played here; say of the others why not."""
    names = sorted([*(each.name for each in plugins.members("facades")), "loopback", *TWICE])
    for name in names:
        python = os.environ.get(ENVIRONMENTS[name], "") if name in ENVIRONMENTS else sys.executable
        if not python:
            print(f"{name}: not played, {ENVIRONMENTS[name]} names no Python", file=sys.stderr)
            continue
        try:
            in_memory = name == "loopback" or facade_of(name.partition(":")[0]).in_memory
        except FullDuplexError as error:
            print(f"{name}: not played, {error}", file=sys.stderr)
            continue
        yield Driver(name, python, in_memory)


def conformed(driver: Driver, clock: str) -> Found:
    """Return what ``conform`` says of one driver."""
    command = [driver.python, "-m", "fullduplex", "conform", driver.told, "--clock", clock, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise SystemExit(f"{driver.name}: {done.stderr.strip()}")
    told: Found = json.loads(done.stdout)
    print(f"{driver.name}, {clock} clock: {told['counts']}", flush=True)
    return told


def on_the_wall(driver: Driver, kept: Path | None) -> Found:
    """Return what ``conform`` says of it on the wall clock, from the folder ``kept`` where it is there."""
    file = None if kept is None else kept / driver.file
    if file is not None and file.exists():
        told: Found = json.loads(file.read_text("utf-8"))
        return told
    told = conformed(driver, "wall")
    if file is not None:
        with replacing(file) as part:
            part.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return told


def table(found: Sequence[tuple[Driver, Found]]) -> Iterator[str]:
    """Yield the lines: a case a row, a system a column, and the totals."""
    yield f"| case | {' | '.join(f'`{driver.name}`' for driver, _ in found)} |"
    yield f"|---|{':-:|' * len(found)}"
    for row in zip(*(told["cases"] for _, told in found), strict=True):
        signs = " | ".join(SIGNS[case["outcome"]] for case in row)
        yield f"| {row[0]['case']}. {row[0]['title']} | {signs} |"
    yield from totals(found)


def totals(found: Sequence[tuple[Driver, Found]]) -> Iterator[str]:
    """Yield how many cases each passed, failed, and was too late to be judged in, where one was."""
    for outcome in ("passed", "failed", "not judged"):
        counts = [told["counts"][outcome] for _, told in found]
        if outcome != "not judged" or any(counts):
            yield f"| **{outcome}** | {' | '.join(map(str, counts))} |"


def wall_table(found: Sequence[tuple[Driver, Found]]) -> Iterator[str]:
    """Yield the totals on the wall clock, and each case that is no pass there."""
    yield f"| | {' | '.join(f'`{driver.name}`' for driver, _ in found)} |"
    yield f"|---|{':-:|' * len(found)}"
    yield from totals(found)
    for driver, told in found:
        for case in told["cases"]:
            if case["outcome"] in ("failed", "not judged"):
                yield f"\n`{driver.name}`, case {case['case']}: {case['outcome']}, {case['why']}."


def page(found: Sequence[tuple[Driver, Found]], wall: Sequence[tuple[Driver, Found]]) -> str:
    """Return the page."""
    real = [f"`{driver.name}`" for driver, _ in found if not driver.in_memory]
    text = HEAD.format(wall=", ".join(real)) + "\n".join(table(found)) + "\n"
    return text + (WALL + "\n".join(wall_table(wall)) + "\n" if wall else "")


def main(arguments: Iterable[str] | None = None) -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wall", type=Path, metavar="FOLDER", help="play all on the wall clock too, kept there")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="so many systems at once (default: 2)")
    parser.add_argument("--out", type=Path, default=Path("docs/reference/conformance.md"))
    given = parser.parse_args(None if arguments is None else list(arguments))
    if given.wall is not None:
        given.wall.mkdir(parents=True, exist_ok=True)
    played = list(drivers())
    with ThreadPoolExecutor(given.at_once) as pool:
        # What keeps real time goes first and apart from what computes as fast as it can.
        real = [driver for driver in played if given.wall is not None or not driver.in_memory]
        wall = dict(zip(real, pool.map(lambda driver: on_the_wall(driver, given.wall), real), strict=True))
        memory = [driver for driver in played if driver.in_memory]
        virtual = dict(zip(memory, pool.map(lambda driver: conformed(driver, "virtual"), memory), strict=True))
    found = [(driver, (virtual if driver.in_memory else wall)[driver]) for driver in played]
    text = page(found, [(driver, wall[driver]) for driver in played] if given.wall is not None else [])
    with replacing(given.out) as part:
        part.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
