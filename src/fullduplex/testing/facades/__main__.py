"""Serve a facade: ``python -m fullduplex.testing.facades NAME --port 8998``."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

from fullduplex.errors import FullDuplexError
from fullduplex.testing.behaviour import behaviour_from_json
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
    behaviour = USUAL
    try:
        facade = facade_of(given.name, json.loads(given.options))
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


async def _alone(facade: Facade, behaviour: object, port: int) -> None:
    async with serve(facade, behaviour, port=port) as got:  # type: ignore[arg-type]
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
