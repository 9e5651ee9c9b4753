from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.judging.loopback_api import Api, serving

from fullduplex.errors import InputError, JudgeError
from fullduplex.judging.batch import collect_batch, read_batch, submit_batch
from fullduplex.judging.cases import Case
from fullduplex.judging.cost import bill_of
from fullduplex.judging.providers.openai import OpenAI
from fullduplex.judging.question import Refused, Reply, Request, Unreachable
from fullduplex.judging.rubric import Rubric, Scale
from fullduplex.judging.rubric_file import load
from fullduplex.judging.session import Session
from fullduplex.judging.verdicts import Judged
from fullduplex.model.spec import Spec

RUBRIC = Rubric(
    "r", "1", "rating", "Rate it.", "{reply}", ("reply",), Scale(0, 5), "rating", settings={"seed": 1, "seed_step": 1}
)
GOOD = '{"reason": "fits", "rating": 4}'
Outcome = Reply | Refused | Unreachable


def cases(count: int) -> list[Case]:
    return [Case(f"set/{n}", RUBRIC, {"reply": f"reply {n}"}) for n in range(count)]


@dataclass
class Fake:
    """Takes batches, and answers each request of the n-th batch by ``says(n, shown)``."""

    says: Callable[[int, str], Outcome | str] = lambda n, shown: GOOD
    spec: Spec = field(default_factory=lambda: Spec("fake"))
    hears: bool = False
    weakness: str = ""
    batches: list[list[Request]] = field(default_factory=list)
    done: bool = True

    def ask(self, request: Request) -> Reply:
        raise AssertionError("nothing is asked singly")

    def close(self) -> None:
        pass

    def submit(self, requests: Sequence[Request]) -> str:
        self.batches.append(list(requests))
        return f"b{len(self.batches) - 1}"

    def collect(self, batch: str) -> list[Outcome] | None:
        if not self.done:
            return None
        number = int(batch[1:])
        found = [self.says(number, request.user) for request in self.batches[number]]
        return [
            Reply(each, "m", {"input": 9, "output": 3}, cost=0.01) if isinstance(each, str) else each for each in found
        ]


def by_key(found: list[Judged] | None) -> dict[str, Judged]:
    assert found is not None
    return {one.key: one for one in found}


def test_a_batch_waits_until_it_is_done_and_then_says_what_a_session_would(tmp_path: Path) -> None:
    judge, state = Fake(done=False), tmp_path / "batches" / "b.json"
    batch = submit_batch(cases(3), judge, state, tmp_path, votes=2)
    assert batch is not None
    assert [len(each) for each in judge.batches] == [6]
    assert collect_batch(cases(3), judge, state, tmp_path, votes=2) is None
    judge.done = True
    found = by_key(collect_batch(cases(3), judge, state, tmp_path, votes=2))
    assert [one.value for one in found.values()] == [4.0] * 3
    assert not state.exists()
    assert bill_of(found.values()).requests == 6
    session = list(Session(judge, tmp_path, votes=2).run(cases(3)))
    assert {one.verdict for one in session} == {one.verdict for one in found.values()}


def test_another_process_collects_what_one_has_submitted(tmp_path: Path) -> None:
    one = Fake()
    submit_batch(cases(3), one, tmp_path / "b.json", tmp_path)
    other = Fake(batches=one.batches)
    assert len(by_key(collect_batch(cases(3), other, tmp_path / "b.json", tmp_path))) == 3


def test_what_is_kept_is_not_submitted(tmp_path: Path) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    collect_batch(cases(2), judge, state, tmp_path)
    submit_batch(cases(5), judge, state, tmp_path)
    assert [len(each) for each in judge.batches] == [2, 3]
    found = by_key(collect_batch(cases(5), judge, state, tmp_path))
    bill = bill_of(found.values())
    assert (bill.values, bill.requests, bill.known) == (5, 3, 2)
    assert submit_batch(cases(5), judge, state, tmp_path) is None
    assert len(by_key(collect_batch(cases(5), judge, state, tmp_path))) == 5


def test_the_same_question_is_submitted_once(tmp_path: Path) -> None:
    judge = Fake()
    twice = [Case(f"set/{n}", RUBRIC, {"reply": "same"}) for n in range(4)]
    submit_batch(twice, judge, tmp_path / "b.json", tmp_path)
    assert [len(each) for each in judge.batches] == [1]
    assert len(by_key(collect_batch(twice, judge, tmp_path / "b.json", tmp_path))) == 4


def test_what_cannot_be_read_goes_into_further_batches_and_no_further_than_its_attempts(tmp_path: Path) -> None:
    def says(n: int, shown: str) -> str:
        return GOOD if shown.endswith("0") or (n == 1 and shown.endswith("1")) else "no idea"

    judge, state = Fake(says), tmp_path / "b.json"
    submit_batch(cases(3), judge, state, tmp_path, attempts=3)
    rounds = 0
    while (found := collect_batch(cases(3), judge, state, tmp_path, attempts=3)) is None:
        rounds += 1
        assert rounds < 10
    assert [len(each) for each in judge.batches] == [3, 2, 1]
    assert [request.seed for request in judge.batches[2]] == [3]
    assert [(one.value, one.absent) for one in by_key(found).values()] == [(4.0, ""), (4.0, ""), (None, "unparsable")]
    assert bill_of(found).requests == 6
    assert submit_batch(cases(3), judge, state, tmp_path, attempts=3) is None


def test_each_failure_of_a_batch_has_its_reason(tmp_path: Path) -> None:
    outcomes: dict[str, Outcome] = {"0": Reply(GOOD), "1": Refused("policy"), "2": Unreachable("expired")}
    judge, state = Fake(lambda n, shown: outcomes[shown[-1]]), tmp_path / "b.json"
    submit_batch(cases(3), judge, state, tmp_path, attempts=2)
    assert collect_batch(cases(3), judge, state, tmp_path, attempts=2) is None
    found = by_key(collect_batch(cases(3), judge, state, tmp_path, attempts=2))
    assert [one.absent for one in found.values()] == ["", "refused", "unreachable"]
    assert [len(each) for each in judge.batches] == [3, 1]
    # An unreachable one is no answer: it is asked again, the others are not.
    submit_batch(cases(3), judge, state, tmp_path, attempts=2)
    assert [request.user for request in judge.batches[-1]] == ["reply 2"]


def test_a_wrong_key_is_no_answer_and_ends_the_batch(tmp_path: Path) -> None:
    judge, state = Fake(lambda n, shown: Refused("the key is not accepted", for_all=True)), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    with pytest.raises(Refused, match="the key"):
        collect_batch(cases(2), judge, state, tmp_path)
    assert not state.exists()
    judge.says = lambda n, shown: GOOD
    submit_batch(cases(2), judge, state, tmp_path)
    assert len(by_key(collect_batch(cases(2), judge, state, tmp_path))) == 2


def test_a_second_batch_is_not_submitted_over_the_first(tmp_path: Path) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    with pytest.raises(JudgeError, match="collect it first"):
        submit_batch(cases(2), judge, state, tmp_path)
    assert len(judge.batches) == 1


def test_a_batch_that_is_not_taken_leaves_nothing_behind(tmp_path: Path) -> None:
    class Closed(Fake):
        def submit(self, requests: Sequence[Request]) -> str:
            raise Unreachable("closed")

    with pytest.raises(Unreachable):
        submit_batch(cases(2), Closed(), tmp_path / "b.json", tmp_path)
    assert not (tmp_path / "b.json").exists()


def test_a_further_batch_that_is_not_taken_leaves_the_first_to_be_collected_again(tmp_path: Path) -> None:
    class Once(Fake):
        closed = True

        def submit(self, requests: Sequence[Request]) -> str:
            if self.batches and self.closed:
                raise Unreachable("closed")
            return super().submit(requests)

    judge, state = Once(lambda n, shown: GOOD if n else "no idea"), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    with pytest.raises(Unreachable):
        collect_batch(cases(2), judge, state, tmp_path)
    judge.closed = False
    assert collect_batch(cases(2), judge, state, tmp_path) is None
    assert [one.value for one in by_key(collect_batch(cases(2), judge, state, tmp_path)).values()] == [4.0, 4.0]


def test_a_program_that_ends_while_submitting_leaves_a_note(tmp_path: Path) -> None:
    class Killed(Fake):
        def submit(self, requests: Sequence[Request]) -> str:
            raise KeyboardInterrupt

    judge, state = Killed(), tmp_path / "b.json"
    with pytest.raises(KeyboardInterrupt):
        submit_batch(cases(2), judge, state, tmp_path)
    with pytest.raises(JudgeError, match="the provider's own list of batches"):
        collect_batch(cases(2), judge, state, tmp_path)


def test_replies_that_are_too_few_are_nobodys(tmp_path: Path) -> None:
    class Short(Fake):
        def collect(self, batch: str) -> list[Outcome] | None:
            found = super().collect(batch)
            return found[1:] if found else found

    judge, state = Short(), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    with pytest.raises(JudgeError, match="1 replies to 2 requests"):
        collect_batch(cases(2), judge, state, tmp_path)
    assert state.exists()
    assert not list((tmp_path / "judged").rglob("*.json")) if (tmp_path / "judged").exists() else True


def test_a_case_that_changed_meanwhile_gets_no_answer_to_another_question(tmp_path: Path) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    changed = [cases(2)[0], Case("set/1", RUBRIC, {"reply": "other words"}), Case("set/2", RUBRIC, {})]
    found = by_key(collect_batch(changed, judge, state, tmp_path))
    assert found["set/0"].value == 4.0
    assert {found["set/1"].absent, found["set/2"].absent} == {"not asked: cannot be asked"}
    assert "was not submitted" in found["set/1"].why


def test_a_reply_that_nobody_asks_for_any_more_is_kept_all_the_same(tmp_path: Path) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    submit_batch(cases(3), judge, state, tmp_path)
    assert len(by_key(collect_batch(cases(1), judge, state, tmp_path))) == 1
    assert submit_batch(cases(3), judge, state, tmp_path) is None
    assert [one.value for one in by_key(collect_batch(cases(3), judge, state, tmp_path)).values()] == [4.0] * 3


def test_another_judge_does_not_collect_it(tmp_path: Path) -> None:
    submit_batch(cases(2), Fake(), tmp_path / "b.json", tmp_path)
    with pytest.raises(JudgeError, match="asked another judge"):
        collect_batch(cases(2), Fake(spec=Spec("other")), tmp_path / "b.json", tmp_path)


@pytest.mark.parametrize("damage", ["{", "[]", '{"schema": 1}', "lines", "attempts"])
def test_a_damaged_file_is_told_in_a_sentence(tmp_path: Path, damage: str) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    submit_batch(cases(2), judge, state, tmp_path)
    value = json.loads(state.read_text())
    if damage == "lines":
        value["lines"] = "none"
    elif damage == "attempts":
        value["lines"][0]["attempts"] = {}
    state.write_text(json.dumps(value) if damage.isalpha() else damage)
    with pytest.raises(InputError, match=r"b\.json"):
        read_batch(state, judge)


def test_the_systems_name_is_in_no_batch(tmp_path: Path) -> None:
    judge, state = Fake(), tmp_path / "b.json"
    given = [Case("a", RUBRIC, {"reply": "I'm Moshi"})]
    submit_batch(given, judge, state, tmp_path, names=["moshi"])
    assert [request.user for request in judge.batches[0]] == ["I'm the system"]
    assert by_key(collect_batch(given, judge, state, tmp_path, names=["moshi"]))["a"].masked == ("moshi",)


# a real server


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        yield server


def test_a_batch_over_real_sockets_is_collected_after_what_failed_was_asked_again(api: Api, tmp_path: Path) -> None:
    rubric = load("interruption")
    shown = {"context": "You asked for a table.", "interruption": "For three."}
    given = [Case(f"set/{n}", rubric, {**shown, "reply": f"A table for {n}."}) for n in range(5)]
    judge, state = OpenAI(url=f"{api.url}/v1", model="judge", key="k", timeout=5.0), tmp_path / "b.json"
    submit_batch(given, judge, state, tmp_path)
    assert collect_batch(given, judge, state, tmp_path) is None
    api.done, api.fail = True, (1, 3)
    assert collect_batch(given, judge, state, tmp_path) is None
    api.fail = ()
    found = by_key(collect_batch(given, judge, state, tmp_path))
    judge.close()
    assert [one.value for one in found.values()] == [4.0] * 5
    assert [len(one.votes[0].attempts) for one in found.values()] == [1, 2, 1, 2, 1]
