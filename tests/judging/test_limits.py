from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest

from fullduplex.errors import InputError, JudgeError
from fullduplex.judging.limits import COST_CAP, INTERRUPTED, Gate, NotAsked, Pace, backoff
from fullduplex.judging.question import Reply, Request

REQUEST = Request("s" * 40, "u" * 360)


@dataclass
class Clock:
    now: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self.lock:
            self.now += seconds


def sent(gate: Gate, *costs: float | None, usage: dict[str, int] | None = None) -> list[float]:
    """Return when each request went."""
    times = []
    for cost in costs:
        with gate.admitted(REQUEST) as passage:
            times.append(gate.clock())
            passage.reply = Reply("x", cost=cost, usage=usage or {})
    return times


def test_requests_are_spread_evenly_over_the_minute() -> None:
    clock = Clock()
    assert sent(Gate(per_minute=30, clock=clock, sleep=clock.sleep), *[0.0] * 4) == [0, 2, 4, 6]


def test_a_judge_that_was_idle_does_not_catch_up_in_a_burst() -> None:
    pace = Pace(60)
    assert [pace.slot(0.0), pace.slot(100.0), pace.slot(100.0)] == [0.0, 100.0, 101.0]


def test_no_minute_holds_more_requests_than_allowed_whatever_the_threads_do() -> None:
    clock, times, lock = Clock(), list[float](), threading.Lock()
    gate = Gate(per_minute=20, clock=clock, sleep=clock.sleep)
    slots = [gate._requests.slot(0.0) for _ in range(100)]  # type: ignore[union-attr]
    assert all(b - a == pytest.approx(3.0) for a, b in pairwise(slots))

    def ask() -> None:
        for _ in range(5):
            with gate.admitted(REQUEST), lock:
                times.append(clock())

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(times) == 40
    assert min(times) >= 300.0


def test_tokens_are_limited_by_what_was_used_in_the_end() -> None:
    clock = Clock()
    gate = Gate(tokens_per_minute=600, clock=clock, sleep=clock.sleep)
    # 400 characters are 100 tokens; 50 more than estimated go out in the end, at ten a second.
    assert sent(gate, 0.0, 0.0, usage={"input": 100, "output": 250}) == [0.0, pytest.approx(35.0)]


def test_a_request_without_a_reply_gives_its_tokens_back() -> None:
    clock = Clock()
    gate = Gate(tokens_per_minute=600, clock=clock, sleep=clock.sleep)
    with pytest.raises(OSError), gate.admitted(REQUEST):
        raise OSError
    assert sent(gate, 0.0) == [0.0]


def test_when_a_server_asks_for_patience_nobody_goes() -> None:
    clock = Clock()
    gate = Gate(clock=clock, sleep=lambda seconds: None)
    clock.now = 5.0
    gate.pause(30.0, for_all=True)
    gate._sleep = clock.sleep
    assert sent(gate, 0.0) == [35.0]


def test_a_pause_doubles_up_to_a_minute() -> None:
    generator = np.random.default_rng(0)
    tops = [1, 2, 4, 8, 16, 32, 60, 60]
    pauses = [backoff(n, generator) for n in range(1, 9)]
    assert all(top / 2 <= pause <= top for pause, top in zip(pauses, tops, strict=True))
    assert backoff(10_000, generator) <= 60


# cost


def test_the_cap_is_kept_before_it_is_passed() -> None:
    gate = Gate(max_cost=0.10)
    with pytest.raises(NotAsked) as left:
        sent(gate, *[0.03] * 10)
    assert left.value.reason == COST_CAP
    assert gate.spent == pytest.approx(0.09)
    assert "0.0900 of 0.1 are spent" in left.value.why


def test_a_cap_that_is_met_exactly_is_not_passed() -> None:
    gate = Gate(max_cost=0.5)
    sent(gate, 0.25, 0.25)
    with pytest.raises(NotAsked):
        sent(gate, 0.25)
    assert gate.spent == 0.5


def test_the_dearest_reply_counts_for_those_under_way() -> None:
    gate = Gate(max_cost=1.0)
    sent(gate, 0.1, 0.4)
    with gate.admitted(REQUEST) as first:
        # 0.5 spent, 0.4 under way: another 0.4 would not fit, so it waits for what the first one really costs.
        outcome: list[str] = []

        def second() -> None:
            try:
                with gate.admitted(REQUEST) as passage:
                    passage.reply = Reply("x", cost=0.4)
                outcome.append("went")
            except NotAsked:
                outcome.append("left")

        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.1)
        assert outcome == []
        first.reply = Reply("x", cost=0.05)
    thread.join(5)
    assert outcome == ["went"]
    assert gate.spent == pytest.approx(0.95)


def test_until_a_cost_is_known_requests_go_one_at_a_time() -> None:
    gate = Gate(max_cost=1.0)
    done: list[int] = []

    def second() -> None:
        sent(gate, 0.1)
        done.append(2)

    with gate.admitted(REQUEST) as first:
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.1)
        assert done == []
        first.reply = Reply("x", cost=0.1)
    thread.join(5)
    assert done == [2]


COUNTED = {"input": 10, "output": 5}


def test_a_cap_on_an_unknown_price_stops_all_in_a_sentence_that_names_the_options() -> None:
    gate = Gate(max_cost=1.0)
    with gate.admitted(REQUEST) as passage:
        passage.reply = Reply("x", model="odd-1", usage=COUNTED)
    assert isinstance(gate.fault, JudgeError)
    assert str(gate.fault) == (
        "judging stopped after the first reply: no price is known of the judge's model odd-1, so a cap of US$ 1 cannot "
        "be kept; give --judge its price_in and price_out (US dollars for a million tokens), or leave --max-cost out"
    )
    with pytest.raises(NotAsked, match="interrupted"):
        sent(gate, 0.1)


def test_a_cap_on_tokens_that_nobody_counted_asks_for_no_price() -> None:
    gate = Gate(max_cost=1.0)
    sent(gate, 0.1, None)
    told = str(gate.fault)
    assert told.startswith("judging stopped after a reply: ") and "did not count its tokens" in told
    assert "price_in" not in told


def test_without_a_cap_a_price_need_not_be_known() -> None:
    gate = Gate()
    sent(gate, None, None)
    assert gate.fault is None


# giving up


def test_a_judge_is_given_up_after_so_many_different_questions_in_a_row() -> None:
    gate = Gate(give_up_after=3)
    for asked in ("a", "b", "b", "a"):
        gate.missed(asked)
    assert sent(gate, 0.0)
    gate.missed("c")
    with pytest.raises(NotAsked) as left:
        sent(gate, 0.0)
    assert left.value.reason == "unreachable"
    assert "answered none of 3 questions in a row" in gate.given_up


def test_one_reply_in_between_is_enough_to_go_on() -> None:
    gate = Gate(give_up_after=2)
    gate.missed("a")
    gate.reached()
    gate.missed("b")
    assert gate.given_up == ""
    assert sent(gate, 0.0)


@pytest.mark.parametrize("ending", ["halt", "miss"])
def test_who_waits_stops_waiting_when_nothing_more_is_asked(ending: str) -> None:
    gate = Gate(give_up_after=1)
    left: list[str] = []

    def wait() -> None:
        try:
            gate.pause(3600.0)
        except NotAsked as error:
            left.append(error.reason)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    gate.halt() if ending == "halt" else gate.missed("a")
    thread.join(5)
    assert left == [INTERRUPTED if ending == "halt" else "unreachable"]


@pytest.mark.parametrize("name", ["per_minute", "tokens_per_minute", "max_cost", "give_up_after", "patience"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_limits_that_cannot_be_meant_are_refused(name: str, value: float) -> None:
    with pytest.raises(InputError, match=f"{name}: found {value}, expected a number above 0"):
        Gate(**{name: value})  # type: ignore[arg-type]
