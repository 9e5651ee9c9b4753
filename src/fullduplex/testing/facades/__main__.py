"""Serve a facade: ``python -m fullduplex.testing.facades NAME --port 8998``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from fullduplex.errors import FullDuplexError
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.testing.behaviour import Behaviour, behaviour_from_json
from fullduplex.testing.facades import Facade, facade_of
from fullduplex.testing.facades.serving import serve, serve_as_told
from fullduplex.testing.loopback import USUAL


def main(arguments: list[str] | None = None) -> None:
    """Serve until ended."""
    parser = argparse.ArgumentParser(prog="python -m fullduplex.testing.facades", description="A vendor's protocol.")
    parser.add_argument("name", help="of the system, or module:function")
    parser.add_argument("--port", type=int, default=0, help="0: any that is free (default)")
    parser.add_argument("--options", default="{}", help="the system's options, as JSON")
    parser.add_argument("--behaviour", default="", help="what it does: JSON, or a file of it")
    parser.add_argument("--told", action="store_true", help="behaviours come over stdin, a line each")
    given = parser.parse_args(arguments)
    try:
        options = json.loads(given.options)
        facade = facade_of(given.name, options)
        behaviour = usual(given.name, options)
        if facade.within is not None:
            parser.error(f"the facade of {given.name} is a part of the driver's process, and no server")
        if given.behaviour:
            text = given.behaviour
            read = text if text.lstrip().startswith("{") else Path(text).read_text("utf-8")
            behaviour = behaviour_from_json(json.loads(read))
    except (OSError, ValueError, ImportError, AttributeError, FullDuplexError) as error:
        parser.error(str(error))
    with suppress(KeyboardInterrupt):
        if given.told:
            _said("ready")
            asyncio.run(serve_as_told(facade, _lines(), _said))
        else:
            asyncio.run(_alone(facade, behaviour, given.port))


def usual(name: str, options: dict[str, Any]) -> Behaviour:
    """Return what the facade of the system called ``name`` does that nobody told what to do: at the pace declared.

    A system that declares bursts is sent them, one that declares units a second of sound for each message of the user,
    and any other its sound at real time.
    """
    try:
        timing = build(Spec(name, options), Path()).traits.timing
    except FullDuplexError:
        # A facade without a system, or of one that needs more than this.
        return USUAL
    if timing == "unit":
        return replace(USUAL, pace="per-input", chunk=seconds(1))
    return USUAL if timing == "burst" else replace(USUAL, pace="paced")


async def _alone(facade: Facade, behaviour: Behaviour, port: int) -> None:
    async with serve(facade, behaviour, port=port) as got:
        _said(str(got))
        await asyncio.Event().wait()


async def _lines() -> AsyncIterator[str]:
    """Yield the lines of stdin until nobody holds its other end."""
    loop, chunks = asyncio.get_running_loop(), asyncio.Queue[bytes]()
    loop.add_reader(0, lambda: chunks.put_nowait(os.read(0, 65_536)))
    rest = b""
    while data := await chunks.get():
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            yield line.decode()
    loop.remove_reader(0)


def _said(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
