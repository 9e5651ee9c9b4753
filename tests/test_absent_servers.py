"""Runs whose server is not there, and runs that a cap ends: what is tried, what is told, and of what stage."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades.serving import served

RATE = 16_000


@pytest.fixture
def items(tmp_path: Path) -> Path:
    """Three turn-taking items of 0.6 s."""
    for name in ("1", "2", "3"):
        folder = tmp_path / "items" / "candor_turn_taking" / name
        folder.mkdir(parents=True)
        tone = 0.3 * np.sin(2 * np.pi * 220 * np.arange(RATE * 6 // 10) / RATE)
        audio.write(folder / "input.wav", tone.astype(np.float32), RATE)
        (folder / "turn_taking.json").write_text(json.dumps([{"text": "[TURN-TAKING]", "timestamp": [0.3, 0.3]}]))
    return tmp_path / "items"


@pytest.fixture
def nowhere() -> str:
    """An address at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"


def run(items: Path, system: str, *more: object) -> tuple[int, str]:
    found = CliRunner().invoke(
        main,
        [str(a) for a in (
            "run", "fdb-1.0", "--system", system, "--data", items, "--out", items.parent / "run",
            "--recogniser", "none", "--detector", "energy", "--no-page", *more,
        )],
    )  # fmt: skip
    assert found.exception is None or isinstance(found.exception, SystemExit), found.exception
    return found.exit_code, found.output


def errors(items: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (items.parent / "run" / "errors.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("system", ["flm-audio:url=ws://{}", "mini-omni2:url=http://{}"])
def test_a_server_that_is_not_there_ends_the_run_after_one_attempt(items: Path, nowhere: str, system: str) -> None:
    status, text = run(items, system.format(nowhere))
    found = errors(items)
    assert status == 3
    assert [row["stage"] for row in found] == ["talk", "not held", "not held"]
    assert all("docs/systems/" in row["error"] and "start its server" in row["error"] for row in found)
    assert "1 talk never began" in text and "kept as far as" not in text and "; ended" not in text
    talk = json.loads((items.parent / "run" / "trials" / "candor_turn_taking" / "1" / "talk.json").read_text())
    assert len(talk["attempts"]) == 1


def test_a_name_that_is_not_known_ends_the_run_too(items: Path) -> None:
    run(items, "moshi:url=ws://no-such-host.invalid:1")
    assert [row["stage"] for row in errors(items)] == ["talk", "not held", "not held"]


def test_talks_at_once_that_fail_are_a_sentence_each(items: Path, nowhere: str) -> None:
    status, _ = run(items, f"websocket:url=ws://{nowhere}", "--sessions", 2)
    assert status == 3 and len(errors(items)) == 3


def test_the_cap_that_a_dry_run_names_lets_all_be_held(items: Path) -> None:
    with served("openai-realtime") as stand:
        url = stand.behaving(Behaviour(say=(Utterance(100_000, 200_000, 40),)))
        system = f"openai-realtime:url={url}"
        _, plan = run(items, system, "--price", 0.06, "--dry-run")
        cap = plan.partition("--max-cost ")[2].split()[0]
        status, text = run(items, system, "--price", 0.06, "--max-cost", cap)
    assert status == 0, text


def test_an_item_that_the_cap_left_was_not_held_and_is_told_what_it_could_cost(items: Path) -> None:
    with served("openai-realtime") as stand:
        url = stand.behaving(Behaviour(say=(Utterance(100_000, 200_000, 40),)))
        run(items, f"openai-realtime:url={url}", "--price", 0.06, "--max-cost", 0.006)
    found = errors(items)
    assert [row["stage"] for row in found] == ["not held", "not held"]
    assert "the next talk may cost US$ 0.0056 (0.6 s, and 5 s for handshake and farewell)" in found[0]["error"]


def test_a_plan_says_that_it_did_not_look_for_the_server(items: Path, nowhere: str) -> None:
    _, text = run(items, f"moshi:url=ws://{nowhere}", "--dry-run")
    assert "`fullduplex preflight moshi" in text and "cost" not in text


def test_a_server_without_encryption_is_told_of_as_such(items: Path) -> None:
    with served("websocket") as stand:
        url = stand.behaving(Behaviour()).replace("ws://", "wss://")
        run(items, f"websocket:url={url}", "--retries", 0)
    assert "may speak without encryption; try ws:// in place of wss://" in errors(items)[0]["error"]
