"""Try every driver against its facade on the 26 cases, and write the table of docs/reference/conformance.md.

``python bench/conformance.py [--clock virtual] [--out docs/reference/conformance.md]``: a few minutes on the virtual
clock. On the wall clock it takes an hour and wants a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from fullduplex import plugins
from fullduplex.data.files import replacing

#: A system twice: with options that change its protocol.
TWICE = ("moshi:server=rust",)
SIGNS = {"passed": "✓", "failed": "✗", "not judged": "late", "not applicable": "·"}
HEAD = """# Conformance of the drivers

What `fullduplex conform SYSTEM --clock {clock}` found of each driver against its facade, made by `python bench/conformance.py`. ✓ passed, ✗ failed, · not applicable: the protocol has no word for it, and `conform` says which. The cases are under [Check a driver or a system](../how-to/conform.md).

A facade speaks a vendor's protocol and is not the vendor's server: each system's page says by what it was checked, and what is *not verified live*.

"""  # noqa: E501


def table(found: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Yield the lines: a case a row, a system a column, and the totals."""
    yield f"| case | {' | '.join(f'`{name}`' for name, _ in found)} |"
    yield f"|---|{':-:|' * len(found)}"
    for row in zip(*(told["cases"] for _, told in found), strict=True):
        signs = " | ".join(SIGNS[case["outcome"]] for case in row)
        yield f"| {row[0]['case']}. {row[0]['title']} | {signs} |"
    passed = " | ".join(str(told["counts"]["passed"]) for _, told in found)
    failed = " | ".join(str(told["counts"]["failed"]) for _, told in found)
    yield f"| **passed** | {passed} |"
    yield f"| **failed** | {failed} |"


def conformed(name: str, clock: str) -> dict[str, Any]:
    """Return what ``conform`` says of one system."""
    command = [sys.executable, "-m", "fullduplex", "conform", name, "--clock", clock, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise SystemExit(f"{name}: {done.stderr.strip()}")
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clock", default="virtual", choices=["virtual", "wall"])
    parser.add_argument("--out", type=Path, default=Path("docs/reference/conformance.md"))
    given = parser.parse_args()
    names = sorted([*(each.name for each in plugins.members("facades")), "loopback", *TWICE])
    found = []
    for name in names:
        found.append((name, conformed(name, given.clock)))
        print(name, found[-1][1]["counts"], flush=True)
    text = HEAD.format(clock=given.clock) + "\n".join(table(found)) + "\n"
    with replacing(given.out) as part:
        part.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
