from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.errors import InputError
from fullduplex.judging.cases import Case
from fullduplex.judging.limits import Gate
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.judging.reading import read
from fullduplex.judging.rubric import Labels, Read, Rubric, Scale
from fullduplex.judging.verdicts import judge_one
from fullduplex.judging.votes import Attempt, Vote, cast, concluded, outcome
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Verdict

RUBRIC = Rubric(
    "r", "1", "rating", "Rate it.", "{reply}", ("reply",), Scale(0, 5), "rating",
    settings={"seed": 7, "seed_step": 1, "limit": 100},
)  # fmt: skip
CASE = Case("set/1", RUBRIC, {"reply": "At noon."})
GOOD = '{"reason": "fits", "rating": 4}'
Said = str | Reply | Refused | Unreachable


@dataclass
class Scripted:
    """Answers in order, the last one for ever."""

    says: Sequence[Said]
    hears: bool = False
    weakness: str = ""
    asked: list[Request] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def spec(self) -> Spec:
        return Spec("scripted")

    def ask(self, request: Request) -> Reply:
        with self.lock:
            said = self.says[min(len(self.asked), len(self.says) - 1)]
            self.asked.append(request)
        if isinstance(said, Exception):
            raise said
        return said if isinstance(said, Reply) else Reply(said, "m-1", {"input": 10, "output": 5}, cost=0.01)

    def close(self) -> None:
        pass


@dataclass
class Clock:
    now: float = 0.0
    waits: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


def gate(clock: Clock) -> Gate:
    return Gate(clock=clock, sleep=clock.sleep)


def voted(*says: Said, attempts: int = 5, clock: Clock | None = None, vote: int = 0) -> tuple[Vote, Scripted, Clock]:
    clock = clock or Clock()
    judge = Scripted(says)
    return cast(CASE, judge, vote, attempts=attempts, gate=gate(clock)), judge, clock


# one vote


def test_a_reply_that_can_be_read_is_asked_for_once() -> None:
    vote, judge, clock = voted(GOOD)
    assert (vote.value, vote.reason, vote.absent) == (4.0, "fits", "")
    assert len(judge.asked) == 1
    assert clock.waits == []


def test_an_attempt_is_kept_with_all_that_is_known_of_it() -> None:
    (attempt,) = voted(GOOD)[0].attempts
    assert attempt == Attempt(7, 100, GOOD, "m-1", {"input": 10, "output": 5}, 0.01, 0.0)


def test_a_reply_that_cannot_be_read_is_asked_again_with_the_next_seed_and_without_a_wait() -> None:
    vote, judge, clock = voted("I like it", "four-ish", GOOD)
    assert vote.value == 4.0
    assert [request.seed for request in judge.asked] == [7, 8, 9]
    assert [attempt.text for attempt in vote.attempts] == ["I like it", "four-ish", GOOD]
    assert [bool(attempt.error) for attempt in vote.attempts] == [True, True, False]
    assert clock.waits == []


def test_replies_that_can_never_be_read_end_after_the_last_attempt_and_score_nothing() -> None:
    vote, judge, _ = voted("no idea")
    assert (vote.value, vote.absent) == (None, "unparsable")
    assert len(judge.asked) == len(vote.attempts) == 5


def test_a_judge_that_is_not_reached_is_asked_the_same_again_after_pauses_that_grow() -> None:
    vote, judge, clock = voted(Unreachable("down"))
    assert (vote.value, vote.absent, vote.reason) == (None, "unreachable", "down")
    assert [request.seed for request in judge.asked] == [7] * 5
    assert len(clock.waits) == 4
    assert all(low <= wait <= 2 * low for wait, low in zip(clock.waits, (0.5, 1, 2, 4), strict=True))


def test_pauses_are_drawn_from_the_case_and_the_vote() -> None:
    waits = [voted(Unreachable("down"), vote=vote)[2].waits for vote in (0, 0, 1)]
    assert waits[0] == waits[1] != waits[2]


def test_a_pause_is_no_shorter_than_what_the_server_asked_for() -> None:
    _, _, clock = voted(Unreachable("slow down", after=30.0), GOOD)
    assert 30.0 <= clock.now <= 33.0


def test_a_server_that_asks_to_come_back_tomorrow_is_not_waited_for() -> None:
    vote, judge, clock = voted(Unreachable("quota", after=86400.0), GOOD)
    assert (vote.absent, len(judge.asked), clock.waits) == ("unreachable", 1, [])


def test_a_refusal_is_final() -> None:
    vote, judge, _ = voted(Refused("policy"), GOOD)
    assert (vote.value, vote.absent, vote.reason, len(judge.asked)) == (None, "refused", "policy", 1)


def test_a_refusal_for_all_is_raised() -> None:
    with pytest.raises(Refused, match="no such model"):
        voted(Refused("no such model", for_all=True))


def test_a_reply_that_was_cut_counts_for_nothing_and_is_asked_for_with_more_room() -> None:
    vote, judge, _ = voted(Reply(GOOD, complete=False), Reply(GOOD, complete=False), GOOD)
    assert vote.value == 4.0
    assert [request.limit for request in judge.asked] == [100, 200, 400]
    assert "cut at its limit of 100 tokens" in vote.attempts[0].error


def test_the_room_for_a_reply_stops_growing() -> None:
    _, judge, _ = voted(Reply("{", complete=False), attempts=7)
    assert [request.limit for request in judge.asked] == [100, 200, 400, 400, 400, 400, 400]


def test_attempts_of_all_kinds_count_together() -> None:
    vote, judge, _ = voted("?", Unreachable("down"), "?", Unreachable("down"), attempts=4)
    assert len(judge.asked) == len(vote.attempts) == 4
    assert [request.seed for request in judge.asked] == [7, 8, 8, 9]


def test_a_vote_goes_on_where_it_was() -> None:
    judge = Scripted([GOOD])
    vote = cast(CASE, judge, attempts=3, tried=[Attempt(7, 100, "?"), Attempt(8, 100, "??")])
    assert (vote.value, vote.known, len(vote.attempts)) == (4.0, 2, 3)
    assert judge.asked[0].seed == 9


def test_kept_replies_are_read_anew() -> None:
    kept = [Attempt(text="4!", error="could not be read then"), Attempt(text="5")]
    assert concluded(RUBRIC, kept, read).value == 4.0


def test_a_number_that_is_none_is_not_a_value() -> None:
    def careless(rubric: Rubric, text: str) -> object:
        return Read(float("nan"))

    assert concluded(RUBRIC, [Attempt(text="x")], careless).absent == "unparsable"  # type: ignore[arg-type]


# votes together


def of(*values: float | str | None, absent: str = "unreachable") -> list[Vote]:
    return [Vote(v, f"because {v}") if v is not None else Vote(None, "down", absent) for v in values]


SCALE, LABELS = Scale(0, 5), Labels(("respond", "resume", "unknown"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((4,), 4),
        ((4, 4, 1), 4),
        ((3, 4, 5), 4),
        ((1, 5), 1),
        ((0, 0, 4, 4, 5), 4),
        ((1, 2, 4, 5), 2),
        ((None, 3, None), 3),
    ],
)
def test_a_scale_takes_the_most_frequent_grade_or_else_the_lower_median(
    values: tuple[float | None, ...], expected: float
) -> None:
    value, absent, why = outcome(of(*values), SCALE)
    assert (value, absent, why) == (expected, "", f"because {expected}")


def test_labels_take_the_most_frequent() -> None:
    assert outcome(of("resume", "respond", "resume"), LABELS) == ("resume", "", "because resume")


def test_labels_that_tie_are_no_verdict() -> None:
    assert outcome(of("resume", "respond", None), LABELS) == (None, "votes tie", "resume 1, respond 1")


def test_nothing_is_made_of_nothing() -> None:
    assert outcome(of(None, None), SCALE) == (None, "unreachable", "down")
    mixed = [*of(None, absent="refused"), *of(None, None, absent="unparsable")]
    assert outcome(mixed, SCALE)[:2] == (None, "unparsable")


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_a_verdict_on_a_scale_is_a_grade_that_somebody_gave(values: list[int]) -> None:
    value, absent, why = outcome(of(*values), SCALE)
    assert value in values
    assert (absent, why) == ("", f"because {int(float(value or 0))}")


# a case


def test_votes_are_drawn_with_seeds_of_their_own() -> None:
    judge = Scripted([GOOD])
    found = judge_one(CASE, judge, votes=3)
    assert [request.seed for request in judge.asked] == [7, 1007, 2007]
    assert found.verdict == Verdict(4.0, (4.0, 4.0, 4.0), "fits", CASE.asked())


def test_a_case_without_any_value_is_absent_for_a_reason() -> None:
    clock = Clock()
    found = judge_one(CASE, Scripted([Unreachable("down")]), gate=gate(clock))
    assert found.verdict == Absent("unreachable", "down")


def test_a_missing_field_is_told_and_nothing_is_asked() -> None:
    judge = Scripted([GOOD])
    found = judge_one(Case("set/1", RUBRIC, {}), judge)
    assert found.absent == "not asked: cannot be asked"
    assert "reply" in found.why
    assert judge.asked == []


def test_a_judge_that_reads_only_is_not_asked_about_sound() -> None:
    case = Case("set/1", replace(RUBRIC, hears=True), {"reply": "x"})
    with pytest.raises(InputError, match="one that hears"):
        judge_one(case, Scripted([GOOD]))


@pytest.mark.parametrize(("votes", "attempts"), [(0, 5), (100, 5), (True, 5), (1, 0), (1, 1001), (1, 1.5)])
def test_counts_that_cannot_be_meant_are_refused(votes: int, attempts: int) -> None:
    with pytest.raises(InputError, match="a whole number from 1 to"):
        judge_one(CASE, Scripted([GOOD]), votes=votes, attempts=attempts)


@pytest.mark.parametrize("text", ["", "\x00\x1b[31m", "{" * 10_000, '{"rating": NaN}', '{"rating": 9e999}', "\ud800"])
def test_garbage_is_unparsable_and_never_a_number(text: str) -> None:
    assert voted(text)[0].absent == "unparsable"


def test_the_reason_that_votes_carry_is_on_one_line() -> None:
    vote, _, _ = voted(Refused("no\nway\x1b[31m"))
    assert vote.reason == "no\\nway\\x1b[31m"


# as the released scripts

CASES = Path(__file__).parents[2] / "../shared/cases/full-duplex-bench"


def replay(rubric: Rubric, replies: Sequence[str]) -> tuple[Vote, Scripted]:
    judge = Scripted(replies)
    return cast(Case("set/1", rubric, {}), judge, gate=gate(Clock())), judge


def test_a_behaviour_is_asked_for_as_often_and_with_the_seeds_of_the_released_script() -> None:
    path = CASES / "expected" / "v15_behavior.json"
    if not path.is_file():
        pytest.skip("the released scripts' outputs are not here")
    rubric = replace(
        RUBRIC, fields=(), user="", answer=Labels(()), reads="released-behaviour", settings={"seed": 1, "seed_step": 1}
    )
    compared = 0
    for case in json.loads(path.read_text()).values():
        seeds = [params["seed"] for params in case["official"]["judge_params"]]
        if seeds:
            _, judge = replay(rubric, case["replies"])
            assert [request.seed for request in judge.asked] == seeds, case["note"]
            compared += 1
    assert compared == 7


def test_a_rating_takes_as_many_requests_as_the_released_script_and_is_its_rating() -> None:
    path = CASES / "expected" / "v1_user_interruption.json"
    if not path.is_file():
        pytest.skip("the released scripts' outputs are not here")
    rubric = replace(RUBRIC, fields=(), user="", reads="released-rating", settings={"seed": 0})
    compared = 0
    for item, official in json.loads(path.read_text()).items():
        replies = CASES / "v1_user_interruption" / item / "judge_replies.json"
        if replies.is_file() and official["new"]["n_judge_requests"]:
            vote, judge = replay(rubric, json.loads(replies.read_text())["replies"])
            assert len(judge.asked) == official["new"]["n_judge_requests"], item
            assert {request.seed for request in judge.asked} == {0}
            assert vote.value == official["new"]["rating"], item
            compared += 1
    assert compared == 9


def test_a_reply_for_which_the_released_script_would_ask_for_ever_ends() -> None:
    rubric = replace(RUBRIC, fields=(), user="", reads="released-rating", settings={"seed": 0})
    vote, judge = replay(rubric, ["Analysis: fine.\nI would rate the AI's response as **4**."])
    assert (vote.value, vote.absent, len(judge.asked)) == (None, "unparsable", 5)
