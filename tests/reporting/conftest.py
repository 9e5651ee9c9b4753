"""Headless Chromium, and pages with items that look real."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.benchmarks.boards import Board, board_of
from fullduplex.benchmarks.declare import Benchmark, Hearing, Scenario
from fullduplex.data import audio
from fullduplex.measures.metric import Metric
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Fact
from fullduplex.reporting.page import PageData, PageItem
from fullduplex.reporting.rows import estimate_row
from fullduplex.reporting.seats import Ground, Seat
from fullduplex.reporting.sound import make_sound
from fullduplex.runs.measured import Column, Measured

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--autoplay-policy=no-user-gesture-required",
]
VARIANTS = ("paper", "released")


@dataclass
class Opened:
    """A page in the browser, with what it asked for and complained of."""

    page: Any
    asked: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Give the operating system's Chromium; closed with its module, for the driver keeps an event loop."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with driver.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Any) -> Iterator[Any]:
    """Give a function that opens a file and waits until the page is ready; other options are the context's."""
    contexts = []

    def open_file(path: Path, at: str = "", **options: Any) -> Opened:
        context = browser.new_context(**({"viewport": {"width": 1280, "height": 900}} | options))
        contexts.append(context)
        seen = Opened(context.new_page())
        seen.page.on("request", lambda request: seen.asked.append(request.url))
        seen.page.on("console", lambda message: seen.said.append(message.text))
        seen.page.on("pageerror", lambda error: seen.said.append(str(error)))
        seen.page.goto(path.as_uri() + at)
        seen.page.wait_for_selector("html[data-ready=true]")
        return seen

    yield open_file
    for context in contexts:
        context.close()


@pytest.fixture
def stereo(tmp_path: Path) -> dict[str, Any]:
    """Make ``audio/0.flac``, a user's second of tone and then a system's; return what :func:`make_sound` says."""
    rate = 16_000
    tone = (0.4 * np.sin(2 * np.pi * 220 * np.arange(4 * rate) / rate)).astype(np.float32)
    audio.write(tmp_path / "user.wav", tone, rate)
    audio.write(tmp_path / "system.wav", tone[: 2 * rate], rate)
    (tmp_path / "audio").mkdir()
    sides = (tmp_path / "user.wav", None), (tmp_path / "system.wav", None)
    return make_sound(*sides, 4_000_000, tmp_path / "audio" / "0.flac")


def item_of(name: str = "0", **changes: Any) -> PageItem:
    """Return an item of six seconds whose system answers at 4.5 s, or 0.2 s too early under one variant."""
    said = [["so", 0.2, 0.5], ["where", 0.6, 1.0], ["is", 1.0, 1.2], ["it", 3.4, 3.9]]
    answer = [["over", 3.8, 4.7], ["there", 4.8, 5.4], ["untimed", None, None]]
    standing: dict[str, Any] = {
        "system": "alpha",
        "scenario": "turn-taking",
        "task": "smooth_turn_taking",
        "item": name,
        "audio": None,
        "duration": 6.0,
        "tracks": {
            "user": {"words": said, "speech": [[0.2, 1.2], [3.4, 3.9]], "words_from": "file", "speech_from": "silero"},
            "system": {"words": answer, "speech": [[3.8, 5.4]], "words_from": "whisper", "speech_from": "silero"},
        },
        "events": [{"kind": "turn end", "start": 3.9, "end": 4.2, "text": "", "source": "data"}],
        "facts": [
            {"variant": "paper", "metric": "latency", "value": -0.1, "absent": "", "why": "first word at 3.800 s",
             "at": 3.8, "unit": "s"},
            {"variant": "released", "metric": "latency", "value": None, "absent": "no turn taken", "why": "too short",
             "at": None, "unit": "s"},
        ],
    }  # fmt: skip
    return PageItem(**(standing | changes))


def estimate_of(**changes: Any) -> dict[str, Any]:
    """Return a row of estimates."""
    standing = {
        "system": "alpha", "variant": "paper", "scenario": "turn-taking", "metric": "latency", "title": "Latency",
        "value": 0.42, "low": 0.31, "high": 0.55, "n": 118, "absent": {"no turn taken": 2}, "unit": "s",
        "better": "lower", "rests_on": "voice activity", "method": "bootstrap over items",
        "scenario_title": "Turn-taking",
    }  # fmt: skip
    return standing | changes


def data_of(**changes: Any) -> PageData:
    """Return what stands above the items of one system."""
    standing: dict[str, Any] = {
        "title": "A run",
        "benchmark": "bench-1",
        "variants": list(VARIANTS),
        "systems": ["alpha"],
        "estimates": [estimate_of(), estimate_of(variant="released", value=0.52)],
    }
    return PageData(**(standing | changes))


@pytest.fixture
def draw() -> Any:
    """Give the makers ``item``, ``estimate`` and ``data``."""

    class Makers:
        item = staticmethod(item_of)
        estimate = staticmethod(estimate_of)
        data = staticmethod(data_of)

    return Makers


#: What is known of each item of a system: metric -> values, None for one that is not judged, a text for another reason.
Answers = dict[str, dict[str, list[float | str | None]]]


def ground_with(systems: dict[str, Answers], variant: str = "page", **seats: Any) -> Ground:
    """Return the ground of InteractionBench's board for what ``systems`` answered, by card and metric.

    ``seats``: for ``network`` and ``whole_turns`` the names of the systems that they hold of.
    """
    board = board_of("interactionbench")
    assert board is not None
    kinds: dict[str, dict[str, None]] = {}
    for answers in systems.values():
        for card, metrics in answers.items():
            kinds.setdefault(card, {}).update(dict.fromkeys(metrics))
    scenarios = tuple(
        Scenario(
            f"ib_{card}", f"ib_{card}", f"ib_{card}", tuple(map(_metric, names)), board.cards[card].title,
            dimension=_dimension(board, card), card=card,
        )
        for card, names in kinds.items()
    )  # fmt: skip
    benchmark = Benchmark(
        "interactionbench", "1", variant, "", scenarios, Hearing("silero", Spec("silero")), summary="for tests"
    )
    made = [_measured(benchmark, answers) for answers in systems.values()]
    rows = [
        estimate_row(
            column.scenario.name, column.metric, found, system=system, variant=variant,
            scenario_title=column.scenario.title,
        )
        for system, measured in zip(systems, made, strict=True)
        for column, found in measured.estimates(variant, 0)
    ]  # fmt: skip
    marks: dict[str, Any] = {system: {mark: system in names for mark, names in seats.items()} for system in systems}
    return Ground(
        board,
        [Seat(system, measured, **marks[system]) for system, measured in zip(systems, made, strict=True)],
        rows,
        variant,
    )


_METRICS = {
    "acknowledgements": ("higher", "count", "mean"), "floor_take": ("lower", "share", "rate"),
    "barge_in": ("lower", "share", "rate"), "turn_latency": ("lower", "s", "mean"),
    "derailed": ("lower", "share", "rate"), "injection_delay": ("neither", "s", "mean"),
    "released_while_speaking": ("neither", "share", "mean"), "grounded": ("higher", "share", "mean"),
    "coherence": ("higher", "0-100", "mean"), "answered": ("neither", "share", "rate"),
}  # fmt: skip


def _metric(name: str) -> Metric:
    default = ("neither", "count", "mean") if name.startswith("probes_") else ("higher", "share", "rate")
    better, unit, kind = _METRICS.get(name, default)
    family = "probes" if ":" in name else ""
    return Metric(name, lambda trial: Absent("failed"), better, unit, kind, title=name, family=family)  # type: ignore[arg-type]


def _dimension(board: Board, card: str) -> str:
    return next(one.key for one in board.dimensions if any(card in column.cards for column in one.columns))


def _measured(benchmark: Benchmark, answers: Answers) -> Measured:
    made = Measured([benchmark])
    for scenario in benchmark.scenarios:
        found = answers.get(scenario.card, {})
        length = max(map(len, found.values()), default=0)
        first = len(made.names)
        made.names += [f"{scenario.card}-{n + 1}" for n in range(length)]
        made.groups += [""] * length
        for metric in scenario.metrics:
            if metric.name not in found:
                continue
            column = Column(benchmark.variant, scenario, metric)
            for number, value in enumerate(found[metric.name]):
                if value is None or isinstance(value, str):
                    column.add(first + number, Absent(value or "not judged"))
                else:
                    column.add(first + number, Fact(value))
            made.columns[benchmark.variant, scenario.name, metric.name] = column
    return made


@pytest.fixture
def ground() -> Any:
    """Give the maker of :class:`Ground`."""
    return ground_with
