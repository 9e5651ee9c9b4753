"""Runs with twelve items of a system whose name nobody may see, and a review of one that is served."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.providers.weights import default_cache
from fullduplex.publish import publish
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.subjects import choose
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, score

#: What must never reach a rater.
SECRET = "Moshibert-9000"
HOSTILE = "</script><img src=x onerror=document.title='taken'>"
RATE = 8_000


def _write_item(folder: Path, number: int) -> None:
    folder.mkdir(parents=True)
    seconds = np.arange(2 * RATE) / RATE
    tone = 0.3 * np.sin(2 * np.pi * (200 + 20 * number) * seconds)
    audio.write(folder / "input.wav", np.where(seconds < 0.8, tone, 0).astype(np.float32), RATE)
    audio.write(folder / "output.wav", np.where(seconds > 1.1, tone, 0).astype(np.float32), RATE)
    words = [{"text": f"Reply{number}", "timestamp": [1.1, 1.6]}, {"text": HOSTILE, "timestamp": [1.6, 1.9]}]
    (folder / "output.json").write_text(json.dumps({"text": "", "chunks": words}))


@pytest.fixture(scope="session")
def _scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Score twelve items of two tasks as two systems, and the same again under the other name."""
    place = tmp_path_factory.mktemp("reviewed")
    data = place / "data"
    for number in range(10):
        folder = data / "user_interruption" / str(number + 1)
        _write_item(folder, number)
        event = {"context": f"question {number}", "interrupt": f"wait {HOSTILE}", "timestamp": [0.5, 0.8]}
        (folder / "interrupt.json").write_text(json.dumps([event]))
        told = f"Analysis: REASON-77. I would rate the AI's response as {number % 6}"
        (folder / "rating.json").write_text(json.dumps({"rating": number % 6, "analysis": told}))
    for number in range(2):
        folder = data / "pause_handling" / str(number + 1)
        _write_item(folder, number)
        (folder / "pause.json").write_text(json.dumps([{"text": "", "timestamp": [0.8, 1.0]}]))
    for name in (SECRET, "Other-7"):
        asked = Asked(benchmark="fdb-1.0@all", seen="energy", recogniser="none", system=name)
        scored = score(data, place / f"{name}.run", asked, cache=default_cache(os.environ), engine="here")
        publish(scored, place / f"{name}.run", page=False, engine="here")
    return place


@pytest.fixture
def run(_scored: Path, tmp_path: Path) -> Run:
    """Give a run of the test's own."""
    shutil.copytree(_scored / f"{SECRET}.run", tmp_path / f"{SECRET}.run")
    return Run.open(tmp_path / f"{SECRET}.run")


@pytest.fixture
def other(_scored: Path, tmp_path: Path) -> Run:
    """Give the run of another system on the same items."""
    shutil.copytree(_scored / "Other-7.run", tmp_path / "Other-7.run")
    return Run.open(tmp_path / "Other-7.run")


@pytest.fixture
def seated() -> Callable[..., Desk]:
    """Give a maker of a desk: runs, a form's name, and what the desk and the choice take."""

    def make(*runs: Run, form: str = "interruption", **options: Any) -> Desk:
        chosen = choose(runs, load(form), **{k: options.pop(k) for k in ("only", "verdicts", "queue") if k in options})
        return Desk(load(form), chosen, **options)

    return make


@pytest.fixture
def served() -> Iterator[Callable[[Desk], ReviewServer]]:
    """Give a function that serves a desk until the test is over."""
    with ExitStack() as stack:

        def serve(desk: Desk) -> ReviewServer:
            server = stack.enter_context(ReviewServer(desk))
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            stack.callback(thread.join)
            stack.callback(server.shutdown)
            return server

        yield serve
