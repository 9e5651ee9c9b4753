from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from fullduplex.errors import InputError, JudgeError
from fullduplex.judging.cases import Case
from fullduplex.judging.cost import Bill
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.judging.rubric import Read, Rubric, Scale, Unreadable
from fullduplex.judging.session import Session
from fullduplex.judging.verdicts import Judged
from fullduplex.model.spec import Spec

RUBRIC = Rubric(
    "r", "1", "rating", "Rate it.", "{reply}", ("reply",), Scale(0, 5), "rating", settings={"seed": 1, "seed_step": 1}
)
GOOD = '{"reason": "fits", "rating": 4}'


def cases(count: int, of: str = "reply") -> list[Case]:
    return [Case(f"set/{n}", RUBRIC, {"reply": f"{of} {n}"}) for n in range(count)]


@dataclass
class Fake:
    """Answers by what it is shown; counts what it was asked."""

    says: Callable[[str], str | Reply] = lambda shown: GOOD
    spec: Spec = field(default_factory=lambda: Spec("fake"))
    hears: bool = False
    weakness: str = ""
    asked: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: Request) -> Reply:
        with self.lock:
            self.asked[request.user] += 1
        said = self.says(request.user)
        return said if isinstance(said, Reply) else Reply(said, "m", {"input": 50, "output": 10}, cost=0.01)

    def close(self) -> None:
        pass


def no_wait(seconds: float) -> None:
    pass


def run(judge: Fake, cache: Path, given: list[Case], **options: object) -> tuple[dict[str, Judged], Session]:
    session = Session(judge, cache, sleep=no_wait, **options)  # type: ignore[arg-type]
    found = list(session.run(given))
    assert len({one.key for one in found}) == len(found)
    return {one.key: one for one in found}, session


def fails(error: Exception) -> Callable[[str], str]:
    def say(shown: str) -> str:
        raise error

    return say


def test_every_case_is_judged_once(tmp_path: Path) -> None:
    judge = Fake()
    found, session = run(judge, tmp_path, cases(20))
    assert sorted(found) == sorted(case.key for case in cases(20))
    assert {one.value for one in found.values()} == {4.0}
    assert set(judge.asked.values()) == {1}
    assert session.bill == Bill(20, 20, {}, 20, 20, 0, 1000, 200, 0, session.bill.cost, 0)
    assert session.bill.cost == pytest.approx(0.2)


def test_nothing_is_asked_twice(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(5), votes=3)
    judge = Fake()
    found, session = run(judge, tmp_path, cases(5), votes=3)
    assert not judge.asked
    assert {one.value for one in found.values()} == {4.0}
    assert (session.bill.known, session.bill.requests, session.bill.cost) == (15, 0, 0.0)


def test_an_identical_item_of_another_run_costs_nothing(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(3))
    judge = Fake()
    found, _ = run(judge, tmp_path, [replace(case, key=f"other/{case.key}") for case in cases(3)])
    assert not judge.asked
    assert set(found) == {"other/set/0", "other/set/1", "other/set/2"}


def test_further_votes_ask_only_what_is_missing(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(2), votes=1)
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(2), votes=3)
    assert list(judge.asked.values()) == [2, 2]
    assert len(found["set/0"].votes) == 3


@pytest.mark.parametrize("other", [Spec("fake", {"model": "other"}), Spec("fake", revision="2")])
def test_another_judge_is_asked_itself(tmp_path: Path, other: Spec) -> None:
    run(Fake(), tmp_path, cases(2))
    judge = Fake(spec=other)
    run(judge, tmp_path, cases(2))
    assert judge.asked.total() == 2


def test_another_rubric_is_another_question(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(2))
    judge = Fake()
    run(judge, tmp_path, [replace(case, rubric=replace(RUBRIC, system="Rate it well.")) for case in cases(2)])
    assert judge.asked.total() == 2


def test_the_same_question_in_one_run_is_asked_once_even_at_the_same_time(tmp_path: Path) -> None:
    def slowly(shown: str) -> str:
        time.sleep(0.02)
        return GOOD

    judge = Fake(slowly)
    found, _ = run(judge, tmp_path, [Case(f"set/{n}", RUBRIC, {"reply": "the same"}) for n in range(8)])
    assert judge.asked.total() == 1
    assert len(found) == 8


def test_a_damaged_file_in_the_cache_is_asked_again(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(3))
    broken = sorted(tmp_path.rglob("*.json"))[0]
    broken.write_text("{")
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(3))
    assert judge.asked.total() == 1
    assert {one.value for one in found.values()} == {4.0}
    assert broken.read_text() != "{"


def test_an_unreachable_judge_is_asked_again_by_the_next_session_and_an_unreadable_one_is_not(tmp_path: Path) -> None:
    run(Fake(fails(Unreachable("down"))), tmp_path, cases(1), attempts=2)
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(1), attempts=2)
    assert (judge.asked.total(), found["set/0"].value) == (1, 4.0)

    run(Fake(lambda shown: "no idea"), tmp_path, cases(1, "other"), attempts=2)
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(1, "other"), attempts=2)
    assert (judge.asked.total(), found["set/0"].absent) == (0, "unparsable")


def test_more_attempts_go_on_where_the_fewer_ended(tmp_path: Path) -> None:
    run(Fake(lambda shown: "no idea"), tmp_path, cases(1), attempts=2)
    judge = Fake(lambda shown: "still none")
    found, session = run(judge, tmp_path, cases(1), attempts=5)
    assert judge.asked.total() == 3
    assert [attempt.seed for attempt in found["set/0"].votes[0].attempts] == [1, 2, 3, 4, 5]
    assert session.bill.requests == 3


def test_replies_of_a_vote_that_did_not_end_are_not_paid_for_again(tmp_path: Path) -> None:
    said: Iterator[str | Exception] = iter(["no idea", Unreachable("down"), Unreachable("down")])

    def say(shown: str) -> str:
        found = next(said)
        if isinstance(found, Exception):
            raise found
        return found

    found, _ = run(Fake(say), tmp_path, cases(1), attempts=3)
    assert found["set/0"].absent == "unreachable"
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(1), attempts=3)
    assert judge.asked.total() == 1
    assert [attempt.text for attempt in found["set/0"].votes[0].attempts] == ["no idea", GOOD]


def test_kept_replies_are_read_by_the_reader_of_today(tmp_path: Path) -> None:
    def strict(rubric: Rubric, text: str) -> Read | Unreadable:
        return Unreadable("not strict enough")

    run(Fake(), tmp_path, cases(1), read=strict, attempts=1)
    judge = Fake()
    found, _ = run(judge, tmp_path, cases(1))
    assert (judge.asked.total(), found["set/0"].value) == (0, 4.0)


# failures


def test_each_failure_is_counted_under_its_reason(tmp_path: Path) -> None:
    def say(shown: str) -> str:
        kind = int(shown.split()[-1]) % 4
        if kind == 1:
            raise Refused("policy")
        if kind == 2:
            raise Unreachable("down")
        return "no idea" if kind == 3 else GOOD

    judge = Fake(say)
    found, session = run(judge, tmp_path, cases(12), attempts=3)
    assert session.bill.absent == {"refused": 3, "unparsable": 3, "unreachable": 3}
    assert session.bill.values == 3
    assert judge.asked.total() == session.bill.requests == 3 * (1 + 1 + 3 + 3)
    assert all(one.value is None or not one.absent for one in found.values())


def test_a_wrong_key_stops_the_session_in_a_sentence(tmp_path: Path) -> None:
    judge = Fake(fails(Refused("the key is not accepted", for_all=True)))
    with pytest.raises(Refused, match="the key is not accepted"):
        run(judge, tmp_path, cases(1000), concurrency=4)
    assert judge.asked.total() <= 4
    assert not list(tmp_path.rglob("*.json"))


def test_what_was_answered_before_the_session_stopped_is_kept(tmp_path: Path) -> None:
    def say(shown: str) -> str:
        if shown.endswith(" 7"):
            raise Refused("the money is spent", for_all=True)
        return GOOD

    session = Session(Fake(say), tmp_path, concurrency=1)
    seen: list[str] = []
    with pytest.raises(Refused):
        seen.extend(one.key for one in session.run(cases(20)))
    judge = Fake()
    run(judge, tmp_path, cases(20))
    assert judge.asked.total() == 13


def test_a_dead_server_is_given_up_and_the_rest_is_counted_without_being_asked(tmp_path: Path) -> None:
    judge = Fake(fails(Unreachable("down")))
    found, session = run(judge, tmp_path, cases(500), attempts=3, give_up_after=4, concurrency=4)
    assert len(found) == 500
    assert session.bill.absent == {"unreachable": 500}
    assert judge.asked.total() <= (4 + 4) * 3
    assert "answered none of 4 questions in a row" in session.given_up
    assert "given up" in found["set/499"].why


def test_giving_up_does_not_wait_for_the_pauses_of_others(tmp_path: Path) -> None:
    started = time.monotonic()
    session = Session(Fake(fails(Unreachable("down"))), tmp_path, attempts=2, give_up_after=2, concurrency=4)
    assert len(list(session.run(cases(200)))) == 200
    assert time.monotonic() - started < 4


def test_a_server_that_fails_now_and_then_is_not_given_up(tmp_path: Path) -> None:
    def say(shown: str) -> str:
        if int(shown.split()[-1]) % 2:
            raise Unreachable("down")
        return GOOD

    _, session = run(Fake(say), tmp_path, cases(40), attempts=1, give_up_after=3, concurrency=1)
    assert session.given_up == ""
    assert session.bill.values == 20


def test_cost_stops_before_the_cap(tmp_path: Path) -> None:
    judge = Fake()
    _, session = run(judge, tmp_path, cases(64), max_cost=0.105)
    assert session.bill.cost == pytest.approx(0.10)
    assert session.bill.absent == {"not asked: cost cap": 54}
    assert judge.asked.total() == 10
    again, _ = run(Fake(), tmp_path, cases(64))
    assert sum(one.value == 4.0 for one in again.values()) == 64


def test_a_cap_without_a_price_stops_in_a_sentence_and_keeps_the_reply(tmp_path: Path) -> None:
    judge = Fake(lambda shown: Reply(GOOD, usage={"input": 9, "output": 9}))
    with pytest.raises(JudgeError, match="no price is known"):
        run(judge, tmp_path, cases(64), max_cost=1.0)
    assert judge.asked.total() == 1
    assert len(list(tmp_path.rglob("*.json"))) == 1


def test_a_case_that_cannot_be_asked_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    hearing = replace(RUBRIC, hears=True)
    given = [
        *cases(2),
        Case("set/x", RUBRIC, {}),
        Case("set/y", RUBRIC, {"reply": None}),  # type: ignore[dict-item]
        Case("set/z", hearing, {"reply": "a"}, (tmp_path / "none.wav",)),
    ]
    found, session = run(Fake(hears=True), tmp_path, given, names=["moshi"])
    assert session.bill.absent == {"not asked: cannot be asked": 3}
    assert "none.wav" in found["set/z"].why
    assert session.bill.values == 2


def test_a_judge_that_reads_only_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    judge = Fake()
    with pytest.raises(InputError, match="one that hears"):
        run(judge, tmp_path, [Case("a", replace(RUBRIC, hears=True), {"reply": "x"})])
    assert not judge.asked


def test_whatever_goes_wrong_in_a_thread_reaches_the_one_who_asked(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        run(Fake(fails(ZeroDivisionError())), tmp_path, cases(50))


def test_cases_that_break_off_end_the_session_with_their_error(tmp_path: Path) -> None:
    def broken() -> Iterator[Case]:
        yield from cases(3)
        raise InputError("item.json", found="nothing")

    with pytest.raises(InputError, match=r"item\.json"):
        list(Session(Fake(), tmp_path).run(broken()))


# how it runs


def test_no_more_requests_are_under_way_than_asked(tmp_path: Path) -> None:
    now, most, lock = [0], [0], threading.Lock()

    def say(shown: str) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.01)
        with lock:
            now[0] -= 1
        return GOOD

    run(Fake(say), tmp_path, cases(24), concurrency=3)
    assert most[0] == 3


def test_verdicts_come_as_they_are_made(tmp_path: Path) -> None:
    first, ready = threading.Event(), threading.Event()

    def say(shown: str) -> str:
        if shown.endswith(" 0"):
            assert first.wait(5)
        return GOOD

    session = Session(Fake(say), tmp_path, concurrency=2)
    for n, one in enumerate(session.run(cases(5))):
        if n == 0:
            ready.set()
            assert one.key != "set/0"
            first.set()
    assert ready.is_set()


def test_whoever_stops_listening_stops_the_asking(tmp_path: Path) -> None:
    judge = Fake()

    def slowly(shown: str) -> str:
        time.sleep(0.005)
        return GOOD

    judge.says = slowly
    verdicts = Session(judge, tmp_path, concurrency=2).run(cases(1000))
    next(verdicts)
    verdicts.close()
    assert judge.asked.total() < 50
    assert len(list(tmp_path.rglob("*.json"))) == judge.asked.total()


def test_a_session_may_run_again_after_it_was_stopped(tmp_path: Path) -> None:
    session = Session(Fake(), tmp_path, concurrency=1)
    verdicts = session.run(cases(10))
    next(verdicts)
    verdicts.close()
    assert len(list(session.run(cases(10)))) == 10


def test_progress_is_told_with_the_bill_so_far(tmp_path: Path) -> None:
    told: list[tuple[str, int]] = []
    run(Fake(), tmp_path, cases(3), progress=lambda one, bill: told.append((one.key, bill.verdicts)))
    assert [count for _, count in told] == [1, 2, 3]


def test_the_systems_name_reaches_no_judge(tmp_path: Path) -> None:
    judge = Fake()
    found, _ = run(judge, tmp_path, [Case("moshi/1", RUBRIC, {"reply": "I'm Moshi."})], names=["moshi"])
    assert list(judge.asked) == ["I'm the system."]
    assert found["moshi/1"].masked == ("moshi",)
    assert found["moshi/1"].fields == {"reply": "I'm the system."}


@pytest.mark.parametrize("value", [0, 257, 1.5, True])
def test_a_concurrency_that_cannot_be_meant_is_refused(tmp_path: Path, value: int) -> None:
    with pytest.raises(InputError, match="concurrency"):
        Session(Fake(), tmp_path, concurrency=value)


# before and after


def test_a_plan_counts_what_is_left_and_asks_nothing(tmp_path: Path) -> None:
    judge = Fake()
    fresh = Session(judge, tmp_path, votes=2).planned([*cases(4), *cases(4), Case("x", RUBRIC, {})])
    assert (fresh.requests, fresh.known, fresh.cost) == (8, 0, None)
    assert fresh.told() == f"8 requests, about {fresh.tokens:,} tokens, no price known"
    run(judge, tmp_path, cases(1), votes=2)
    session = Session(judge, tmp_path, votes=2)
    left = session.planned(cases(4), seen=Bill(replies=2, tokens_out=20, cost=0.02))
    assert (left.requests, left.known) == (6, 2)
    assert left.cost == pytest.approx(0.06)
    assert judge.asked.total() == 2


def test_a_plan_takes_a_price_where_no_reply_was_seen(tmp_path: Path) -> None:
    plan = Session(Fake(), tmp_path).planned(cases(10), cost_of=lambda usage: usage["output"] / 1000)
    assert plan.cost == pytest.approx(2.0)


def test_what_is_all_kept_costs_nothing(tmp_path: Path) -> None:
    run(Fake(), tmp_path, cases(2))
    plan = Session(Fake(), tmp_path).planned(cases(2))
    assert (plan.requests, plan.known, plan.cost, plan.tokens) == (0, 2, 0.0, 0)


def test_bills_add_up_and_say_what_has_no_price() -> None:
    one = Bill(2, 1, {"refused": 1}, 3, 2, 0, 1500, 20, 0, 0.5, 1)
    two = Bill(1, 0, {"refused": 1}, 1, 0, 0, 0, 0, 0, 0.0, 0)
    assert (one + two).absent == {"refused": 2}
    assert (one + two).told() == (
        "3 items: 1 with a verdict, 2 refused; 4 requests; 1,500 tokens in, 20 out; "
        "US$ 0.5000 and 1 reply without a price"
    )
    assert Bill(1, 1, {}, 0, 0, 1).told() == "1 item: 1 with a verdict; 0 requests, 1 vote kept from before"
    assert Bill(3, 1, {"unparsable": 2}, known=3, unread=2).told() == (
        "3 items: 1 with a verdict, 2 unparsable; "
        "0 requests, 3 votes kept from before, 2 of them unparsable: a higher --attempts asks again"
    )
    assert Bill(1, 1, {}, 1, 1, 0, 0, 0, 0, 0.0, 1).told().endswith("no price known")
