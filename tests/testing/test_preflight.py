"""What is looked at before many talks are held: on facades, and on servers that lack something."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.cli.preflight import _lines
from fullduplex.driving.link import Traits
from fullduplex.driving.prices import Prices
from fullduplex.model.spans import ms, seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import is_charged
from fullduplex.testing.behaviour import Behaviour, Utterance
from fullduplex.testing.facades.__main__ import usual
from fullduplex.testing.facades.serving import served
from fullduplex.testing.loopback import Twin
from fullduplex.testing.preflight import Benchmark, Preflight, preflight

#: A facade's system with the timing that it declares.
FACADES = {"gemini-live": "burst", "moshi": "sync", "gpt-live": "paced"}
KEY = "sk-preflight-0123456789"
SPEAKS = Behaviour(say=(Utterance(ms(300), seconds(1), 40),))


@contextmanager
def server(name: str, behaviour: Behaviour = SPEAKS) -> Iterator[str]:
    with served(name) as stand:
        yield stand.behaving(behaviour)


def run(*arguments: object, **environment: str | None) -> tuple[int, str]:
    found = CliRunner().invoke(main, [str(a) for a in arguments], env=environment)
    return found.exit_code, found.output + (found.stderr if found.stderr_bytes else "")


def looked(behaviour: Behaviour, traits: Traits, **how: Any) -> Preflight:
    from dataclasses import replace

    system = Twin(behaviour.to_json(), replace(traits, virtual=True))
    return preflight(system, "virtual", lasts=seconds(4), **how)


def outcomes(found: Preflight) -> dict[str, str]:
    return {check.name: check.outcome for check in found.checks}


@pytest.mark.parametrize("name", FACADES)
def test_all_is_well_with_a_facade(name: str) -> None:
    with server(name) as url:
        status, text = run(
            "preflight", f"{name}:url={url}", "--seconds", 2.5, "--price", 0.06, "--json", OPENAI_API_KEY=KEY
        )
    found = json.loads(text)
    checks = {check["check"]: check for check in found["checks"]}
    assert status == 0 and found["ready"], text
    assert Spec.from_json(found["system"]).name == name
    assert checks["timing"]["declared"] == FACADES[name]
    assert checks["handshake"]["handshake"] > 0 and checks["server"]["round_trip"] > 0
    assert checks["audio in"]["sent"] == pytest.approx(2.5, abs=0.1)
    assert checks["audio out"]["received"] >= 0.9 and -30 < checks["audio out"]["level_dbfs"] < -5
    assert checks["audio out"]["silence"] == ("sent" if name == "moshi" else "omitted")
    assert checks["cost"]["benchmark"] == pytest.approx(3.0)
    assert found["settings"] and KEY not in text


def test_a_server_that_is_not_there_is_missing_in_one_sentence() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for shown in ((), ("--json",)):
        status, text = run("preflight", f"moshi:url=ws://127.0.0.1:{port}", *shown)
        (line,) = {line for line in text.splitlines() if line.startswith("fullduplex:")}
        sentence = f"server: 127.0.0.1:{port} takes no connection" if shown else "server, as told above"
        assert status == 1 and line.startswith(f"fullduplex: moshi is not ready: {sentence}")
        assert "docs/systems/moshi.md says how" in text


def test_a_key_that_is_not_set_is_missing_and_nothing_is_asked() -> None:
    status, text = run("preflight", "openai-realtime", OPENAI_API_KEY=None)
    assert status == 1 and "OPENAI_API_KEY" in text and "server" not in text.split("fullduplex:")[0].split()


def test_a_server_that_leaves_is_told_with_how_far_the_talk_got() -> None:
    found = looked(Behaviour(closes=seconds(1), reason="no more for today"), Traits())
    assert outcomes(found)["talk"] == "missing"
    assert "after 1.0" in found.missing[0].told and "no more for today" in found.missing[0].told


def test_a_system_that_says_nothing_is_not_ready() -> None:
    found = looked(Behaviour(handshake=ms(1)), Traits())
    assert outcomes(found)["audio out"] == "missing" and "--say" in found.missing[0].told


def test_silence_alone_is_told_and_is_no_answer() -> None:
    found = looked(Behaviour(silence=True), Traits())
    assert outcomes(found)["audio out"] == "remark"


def test_a_system_declared_paced_that_sends_ahead_is_none() -> None:
    found = looked(Behaviour(say=SPEAKS.say, pace="burst"), Traits(timing="paced"))
    assert outcomes(found)["timing"] == "missing" and "have it send at real time" in found.missing[0].told
    assert outcomes(looked(Behaviour(say=SPEAKS.say, pace="burst"), Traits(timing="burst")))["timing"] == "ok"


def test_a_system_declared_burst_that_sends_at_real_time_is_a_remark() -> None:
    assert outcomes(looked(SPEAKS, Traits(timing="burst")))["timing"] == "remark"


def test_a_system_declared_frame_for_frame_has_to_send_all_the_time() -> None:
    traits = Traits(frame=ms(80), timing="sync")
    assert outcomes(looked(Behaviour(pace="sync"), traits))["timing"] == "ok"
    assert outcomes(looked(SPEAKS, traits))["timing"] == "missing"


def test_a_benchmark_is_priced_by_its_items() -> None:
    found = looked(SPEAKS, Traits(), prices=Prices(minute=0.6), benchmark=Benchmark(10, 30.0))
    (cost,) = [check for check in found.checks if check.name == "cost"]
    assert cost.values["cost"] == pytest.approx(0.04) and cost.values["benchmark"] == pytest.approx(3.0)


def test_a_price_by_tokens_of_a_system_that_counts_none_is_not_known() -> None:
    found = looked(SPEAKS, Traits(), prices=Prices(tokens={"output": 1.0}))
    (cost,) = [check for check in found.checks if check.name == "cost"]
    assert cost.outcome == "remark" and "did not count" in cost.told


def test_what_is_said_may_be_longer_than_the_talk_was_to_be() -> None:
    from fullduplex.testing.preflight import lasts_at_least

    said = np.zeros(16_000 * 10, np.float32)
    assert lasts_at_least(said, 16_000, seconds(8)) == ms(14_500)
    assert lasts_at_least(None, 16_000, seconds(8)) == seconds(8)


@pytest.mark.parametrize("name", ["minicpm-o", "gpt-live"])
def test_a_facade_that_nobody_told_what_to_do_keeps_to_its_protocol_s_pace(name: str) -> None:
    with alone(name) as url:
        status, text = run("preflight", f"{name}:url={url}", "--seconds", 4, OPENAI_API_KEY=KEY)
    assert status == 0, text


@contextmanager
def alone(name: str) -> Iterator[str]:
    """Serve a facade as its command does by itself."""
    command = [sys.executable, "-m", "fullduplex.testing.facades", name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield f"ws://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.terminate()
        process.communicate(timeout=10)


def test_a_facade_is_served_at_the_pace_that_its_system_declares() -> None:
    paces = {name: usual(name, {}).pace for name in ("gemini-live", "gpt-live", "pipecat", "minicpm-o", "no-such:one")}
    assert paces == {
        "gemini-live": "burst", "gpt-live": "paced", "pipecat": "paced", "minicpm-o": "per-input",
        "no-such:one": "burst",
    }  # fmt: skip


def test_a_key_that_does_not_travel_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = run("preflight", "openai-realtime:url=ws://no-such-host.invalid:80", OPENAI_API_KEY=KEY)
    assert status == 1 and "not sent: a key travels only over an encrypted line" in text and KEY not in text
    with server("openai-realtime") as url:
        _, text = run("preflight", f"openai-realtime:url={url}", "--seconds", 2, OPENAI_API_KEY=KEY)
    assert "not sent" not in text


def test_another_server_at_the_usual_address_is_thought_of() -> None:
    class Elsewhere(Twin):
        url = ""

    found = preflight(Elsewhere({"handshake": 60_000_000}, Traits(virtual=True), ready_within=ms(100)), "virtual")
    assert "say where yours runs with url=" in found.missing[0].told


def test_nothing_is_said_on_the_cost_of_what_nobody_charges() -> None:
    assert "cost" not in outcomes(looked(SPEAKS, Traits(), charged=False))
    assert "cost" in outcomes(looked(SPEAKS, Traits(), charged=False, prices=Prices(minute=0.6)))
    assert outcomes(looked(SPEAKS, Traits()))["cost"] == "ok"
    told = {spec: is_charged(Spec.parse(spec)) for spec in (
        "moshi", "cascade", "openai-realtime", "openai-realtime:url=ws://localhost:80", "openai-realtime:url=wss://x.org"
    )}  # fmt: skip
    assert list(told.values()) == [False, False, True, False, True]


def test_settings_are_told_whole_a_line_each() -> None:
    settings = {"asked": {"audio": {"rate": 24_000}, "tools": []}, "sent": True, "said": "x" * 900, "none": {}}
    assert list(_lines(settings)) == [
        "asked.audio.rate: 24000", "asked.tools: []", "sent: true", f"said: {'x' * 900}", "none: {}",
    ]  # fmt: skip
    assert list(_lines({})) == []
