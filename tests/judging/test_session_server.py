"""Whole sessions against a real server over real sockets, and killed ones."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.judging.loopback_api import Answer, Api, Seen, completion, hung_up, serving, silent, truncated

from fullduplex.judging.cases import Case
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.rubric_file import load
from fullduplex.judging.session import Session

RUBRIC = load("interruption")
MEMBERS = {"context": "You asked for a table.", "interruption": "For three, please."}


def cases(count: int) -> list[Case]:
    return [Case(f"set/{n}", RUBRIC, {**MEMBERS, "reply": f"Item {n}: a table for three."}) for n in range(count)]


def item(seen: Seen) -> int:
    found = re.search(rb"Item (\d+):", seen.body)
    # A program that was killed may have sent half a request.
    return int(found[1]) if found else -1


def asked(api: Api) -> Counter[int]:
    return Counter(map(item, api.seen))


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        yield server


def judge(api: Api, timeout: float = 5.0) -> Compatible:
    return Compatible(url=f"{api.url}/v1", model="judge", timeout=timeout, price_in=100.0, price_out=100.0)


def awful(api: Api) -> None:
    """Make the server do to every eighth item what servers do."""
    met: Counter[int] = Counter()
    lock = threading.Lock()

    def says(seen: Seen) -> Answer | None:
        number = item(seen)
        with lock:
            met[number] += 1
        body = completion(api, seen.json)
        match number % 8:
            case 1 if met[number] == 1:
                return Answer(429, {"error": {"message": "slow down"}}, {"retry-after": "0"})
            case 2:
                return Answer(500, {"error": {"message": "oops"}})
            case 3:
                return Answer(play=silent if number < 16 else hung_up)
            case 4:
                return Answer(play=truncated)
            case 5:
                body["choices"][0]["message"]["content"] = "I would say } { it was fine <b>"
                return Answer(200, body)
            case 6:
                body["choices"][0]["finish_reason"] = "length"
                return Answer(200, body)
            case 7:
                return Answer(400, {"error": {"message": "content policy", "code": "content_filter"}})
            case _:
                return None

    api.says = says


def test_an_awful_server_ends_in_a_verdict_or_a_reason_for_every_item(api: Api, tmp_path: Path) -> None:
    awful(api)
    known = judge(api, timeout=1.0)
    session = Session(
        known, tmp_path, attempts=3, concurrency=8, give_up_after=64, sleep=lambda seconds: time.sleep(0.001)
    )
    found = list(session.run(cases(64)))
    known.close()
    assert len(found) == 64
    assert session.bill.values == 16
    assert session.bill.absent == {"refused": 8, "unparsable": 16, "unreachable": 24}
    by_kind = Counter((int(one.key.split("/")[1]) % 8, one.absent) for one in found)
    assert by_kind == {
        (0, ""): 8, (1, ""): 8, (2, "unreachable"): 8, (3, "unreachable"): 8, (4, "unreachable"): 8,
        (5, "unparsable"): 8, (6, "unparsable"): 8, (7, "refused"): 8,
    }  # fmt: skip
    # Nothing loops: as many requests as attempts allow, and each of them is in the record.
    assert len(api.seen) == session.bill.requests == 8 * (1 + 2 + 3 + 3 + 3 + 3 + 3 + 1)
    assert all(1 <= times <= 3 for times in asked(api).values())
    assert session.bill.cost == pytest.approx(0.012 * (8 + 8 + 24 + 24))


def test_the_same_command_asks_an_awful_server_only_what_it_did_not_answer(api: Api, tmp_path: Path) -> None:
    awful(api)
    known = judge(api, timeout=1.0)
    options = {"attempts": 1, "give_up_after": 64}
    list(Session(known, tmp_path, **options).run(cases(16)))  # type: ignore[arg-type]
    api.seen.clear()
    api.says = lambda seen: None
    found = {one.key: one.value for one in Session(known, tmp_path, **options).run(cases(16))}  # type: ignore[arg-type]
    known.close()
    # 1: rate limit, 2: error, 3: silence, 4: broken off. The others had answered or refused.
    assert sorted(asked(api)) == [1, 2, 3, 4, 9, 10, 11, 12]
    assert sum(value is not None for value in found.values()) == 10


def test_a_cap_on_the_cost_holds_against_a_server(api: Api, tmp_path: Path) -> None:
    known = judge(api)
    session = Session(known, tmp_path, max_cost=0.1)
    list(session.run(cases(64)))
    known.close()
    assert len(api.seen) == 8
    assert session.bill.cost == pytest.approx(0.096)
    assert session.bill.absent == {"not asked: cost cap": 56}


def test_a_server_that_is_not_there_takes_seconds_and_not_hours(tmp_path: Path) -> None:
    with serving() as api:
        known = judge(api)
    session = Session(known, tmp_path, attempts=2, give_up_after=3)
    started = time.monotonic()
    assert len(list(session.run(cases(400)))) == 400
    known.close()
    assert time.monotonic() - started < 10
    assert session.bill.absent == {"unreachable": 400}
    assert session.given_up


PROGRAM = """
import sys
from pathlib import Path
from fullduplex.judging.cases import Case
from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.rubric_file import load
from fullduplex.judging.session import Session

url, cache = sys.argv[1:]
rubric = load("interruption")
shown = {"context": "You asked for a table.", "interruption": "For three, please."}
cases = [Case(f"set/{n}", rubric, {**shown, "reply": f"Item {n}: a table for three."}) for n in range(40)]
judge = Compatible(url=url, model="judge", timeout=5.0, price_in=100.0, price_out=100.0)
for one in Session(judge, Path(cache), concurrency=2).run(cases):
    print(one.key, flush=True)
"""


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_after_a_kill_only_what_is_missing_is_asked(api: Api, tmp_path: Path, ending: signal.Signals) -> None:
    def slowly(seen: Seen) -> None:
        time.sleep(0.03)

    api.says = slowly
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, f"{api.url}/v1", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as program:
        assert program.stdout is not None
        told = [program.stdout.readline() for _ in range(8)]
        program.send_signal(ending)
        program.wait(20)
    assert all(told)
    before = asked(api)
    del before[-1]
    kept = len(list(tmp_path.rglob("*.json")))
    assert 8 <= kept <= sum(before.values()) < 40
    if ending == signal.SIGINT:
        assert kept == sum(before.values())  # replies that were under way are paid for, and kept
    assert not list(tmp_path.rglob("*.part")) or ending == signal.SIGKILL

    api.seen.clear()
    known = judge(api)
    found = list(Session(known, tmp_path).run(cases(40)))
    known.close()
    assert {one.value for one in found} == {4.0}
    assert len(found) == 40
    assert len(api.seen) == 40 - kept
    assert set(asked(api).values()) == {1}
