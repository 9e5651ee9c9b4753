"""Batches: submitted by one process, collected by another, each request's outcome in its place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.judging.loopback_api import MODEL, Answer, Api, serving, silent

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.judging.providers import batch
from fullduplex.judging.providers.anthropic import Anthropic
from fullduplex.judging.providers.batch import BatchJudge
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.providers.gemini import Gemini
from fullduplex.judging.providers.openai import OpenAI
from fullduplex.judging.question import Refused, Reply, Request, Unreachable

KEY = "sk-very-secret-0123456789"
JUDGES: dict[str, tuple[Callable[..., BatchJudge], str]] = {
    "openai": (OpenAI, "/v1"),
    "anthropic": (Anthropic, ""),
    "gemini": (Gemini, ""),
}
ASKED = [Request("You judge.", f"question {number}", temperature=0.0, seed=number) for number in range(12)]


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        server.text = lambda user: f"of {user}"
        yield server


@pytest.fixture(params=list(JUDGES))
def judge(request: pytest.FixtureRequest, api: Api) -> Iterator[BatchJudge]:
    make, path = JUDGES[request.param]
    made = make(url=api.url + path, model="judge", key=KEY, timeout=2.0, price_in=1.0, price_out=1.0)
    yield made
    made.close()


def test_a_batch_comes_back_in_the_order_in_which_it_was_submitted(api: Api, judge: BatchJudge) -> None:
    submitted = judge.submit(ASKED)
    assert judge.collect(submitted) is None
    api.done = True
    found = judge.collect(submitted)
    usage = {"input": 100, "output": 20, "cached": 40}
    assert found == [Reply(f"of question {number}", MODEL, usage, True, 120 / 1e6) for number in range(12)]


def test_what_is_asked_in_a_batch_is_what_is_asked_singly(api: Api, judge: BatchJudge) -> None:
    judge.ask(ASKED[3])
    singly = api.seen[0].json
    judge.submit(ASKED)
    (held,) = api.batches.values()
    in_batch = {"openai": "body", "anthropic": "params", "gemini": "request"}[judge.spec.name]
    assert held[3][in_batch] == singly


def test_failed_and_expired_requests_fail_in_their_own_place(api: Api, judge: BatchJudge) -> None:
    submitted = judge.submit(ASKED)
    api.done, api.fail, api.expire = True, (2, 5), (7,)
    found = judge.collect(submitted)
    assert found is not None and len(found) == 12
    assert [number for number, outcome in enumerate(found) if not isinstance(outcome, Reply)] == [2, 5, 7]
    assert all(isinstance(found[number], Unreachable) for number in (2, 5, 7))
    texts = [outcome.text for outcome in found if isinstance(outcome, Reply)]
    assert texts == [f"of question {number}" for number in range(12) if number not in (2, 5, 7)]


def test_another_process_collects_by_the_id_alone(api: Api, tmp_path: Path) -> None:
    judge = OpenAI("judge", KEY, url=f"{api.url}/v1")
    (tmp_path / "batch").write_text(judge.submit(ASKED[:2]))
    judge.close()
    api.done = True
    script = f"""
from pathlib import Path
from fullduplex.judging.providers.openai import OpenAI
judge = OpenAI("judge", "{KEY}", url="{api.url}/v1")
print([outcome.text for outcome in judge.collect(Path({str(tmp_path / "batch")!r}).read_text())])
judge.close()
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", script], capture_output=True, text=True, timeout=60)
    assert run.stdout.strip() == "['of question 0', 'of question 1']", run.stderr


def test_a_batch_that_is_not_known_is_refused(judge: BatchJudge) -> None:
    name = "batches/77#3" if judge.spec.name == "gemini" else "batch_77#3"
    with pytest.raises(Refused, match="answered 404"):
        judge.collect(name)


@pytest.mark.parametrize(
    "name", ["", "batch_1", "#3", "batch_1#x", "../../x#3", "a b#1", "batch_1#-1", "x\x1b[31m#1", "x?y#1"]
)
def test_what_is_no_id_is_refused_unsent(api: Api, judge: BatchJudge, name: str) -> None:
    with pytest.raises(InputError, match="an id that submitting gave"):
        judge.collect(name)
    assert not api.seen


def test_no_request_and_too_many_are_no_batch(api: Api, judge: BatchJudge) -> None:
    for requests in ([], [ASKED[0]] * 100_001):
        with pytest.raises(InputError, match="requests"):
            judge.submit(requests)
    assert not api.seen


def test_a_batch_larger_than_the_vendor_takes_is_refused_unsent(
    api: Api, judge: BatchJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = sys.modules[f"fullduplex.judging.providers.{judge.spec.name}_batch"]
    monkeypatch.setattr(module, "_LARGEST_FILE" if judge.spec.name == "openai" else "_LARGEST_BODY", 1000)
    with pytest.raises(InputError, match="submit it in parts"):
        judge.submit(ASKED)
    assert not api.seen


@pytest.mark.parametrize("body", [b"", b"ok", b"[]", b"{}", b'{"id": 7, "name": 7, "status": []}', b'{"error": "x"}'])
def test_an_answer_that_is_no_batch_is_unreachable(api: Api, judge: BatchJudge, body: bytes) -> None:
    api.says = lambda seen: Answer(200, body)
    with pytest.raises((Unreachable, Refused)) as caught:
        judge.submit(ASKED)
    assert str(caught.value).isprintable() and KEY not in str(caught.value)


@pytest.mark.parametrize("status", [401, 500])
def test_the_wire_fails_for_batches_as_for_requests(api: Api, judge: BatchJudge, status: int) -> None:
    api.says = lambda seen: Answer(status, {"error": {"message": KEY}})
    for call in (lambda: judge.submit(ASKED), lambda: judge.collect("batches/1#2")):
        with pytest.raises((Refused, Unreachable)) as caught:
            call()
        assert isinstance(caught.value, Refused if status == 401 else Unreachable) and KEY not in str(caught.value)


def test_a_batch_that_takes_for_ever_to_submit_is_left(api: Api) -> None:
    judge = OpenAI("judge", KEY, url=f"{api.url}/v1", timeout=0.05)
    api.says = lambda seen: Answer(play=silent)
    with pytest.raises(Unreachable, match=r"within 0.5 s"):
        judge.submit(ASKED)
    judge.close()


def test_a_batch_that_the_vendor_took_none_of_is_refused(api: Api) -> None:
    judge = OpenAI("judge", KEY, url=f"{api.url}/v1")
    told = {"status": "failed", "errors": {"data": [{"message": "line 1 is no JSON"}]}}
    api.says = lambda seen: Answer(200, told)
    found = judge.collect("batch_1#2")
    assert found is not None and [type(outcome) for outcome in found] == [Refused] * 2
    assert "line 1 is no JSON" in str(found[0])
    judge.close()


def test_sound_in_a_batch_is_known_to_whoever_collects(api: Api, tmp_path: Path) -> None:
    audio.write(tmp_path / "clip.wav", np.zeros(160), 16_000)
    judge = Gemini("judge", KEY, url=api.url)
    submitted = judge.submit([Request("", "What?", (tmp_path / "clip.wav",))])
    assert batch.read_id("gemini", submitted) == ("batches/1", 1, True)
    judge.close()


def test_results_that_lie_elsewhere_are_not_fetched_with_the_key(api: Api) -> None:
    judge = Anthropic("judge", KEY, url=api.url)
    told = {"id": "msgbatch_1", "processing_status": "ended", "results_url": "http://localhost:9/x"}
    api.says = lambda seen: Answer(200, told)
    with pytest.raises(Unreachable, match="another address"):
        judge.collect("msgbatch_1#1")
    judge.close()


def test_replies_without_numbers_are_given_to_nobody_unless_all_are_there(api: Api) -> None:
    judge = Gemini("judge", KEY, url=api.url)
    submitted = judge.submit(ASKED[:3])
    api.done = True
    for held in api.batches["batches/1"]:
        del held["metadata"]
    found = judge.collect(submitted)
    assert found is not None
    texts = [outcome.text for outcome in found if isinstance(outcome, Reply)]
    assert texts == ["of question 0", "of question 1", "of question 2"]
    api.expire = (0,)
    found = judge.collect(submitted)
    assert found is not None and all(isinstance(outcome, Unreachable) for outcome in found)
    judge.close()


def test_a_server_of_others_takes_no_batches(api: Api) -> None:
    judge: Any = Compatible("judge", url=f"{api.url}/v1")
    assert not isinstance(judge, BatchJudge)
    judge.close()


def test_a_damaged_line_of_results_is_unreachable(api: Api) -> None:
    judge = OpenAI("judge", KEY, url=f"{api.url}/v1")
    submitted = judge.submit(ASKED)
    api.done = True
    api.says = lambda seen: Answer(200, b'{"custom_id"') if seen.path.endswith("/content") else None
    with pytest.raises(Unreachable, match="JSON object"):
        judge.collect(submitted)
    assert json.loads(api.files["file-in"].splitlines()[0])["custom_id"] == "0"
    judge.close()
