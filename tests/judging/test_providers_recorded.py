"""Replies that were kept are given again, to the question that they were given to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from fullduplex.data.files import write_json
from fullduplex.errors import InputError
from fullduplex.judging.cases import Case, prompt_digest
from fullduplex.judging.keeping import write_verdict
from fullduplex.judging.providers.recorded import Recorded
from fullduplex.judging.question import Judge, Refused, Reply, Request, Unreachable
from fullduplex.judging.rubric import Rubric, Scale
from fullduplex.judging.verdicts import Judged, judge_one

CASES = Path(__file__).parents[3] / "shared" / "cases" / "full-duplex-bench" / "v1_user_interruption"
RUBRIC = Rubric(
    "interruption", "1", "rating", "You judge.", "They said {reply}.", ("reply",), Scale(0, 5), key="rating"
)
ANY = Request("", "anything")


def case(reply: str) -> Case:
    return Case("an-item", RUBRIC, {"reply": reply})


def rated(number: object) -> str:
    return json.dumps({"reason": "so it is", "rating": number})


def kept(folder: Path, judge: Judge, reply: str, votes: int = 1) -> Judged:
    folder.mkdir(parents=True, exist_ok=True)
    found = judge_one(case(reply), judge, votes=votes, attempts=3)
    write_verdict(folder, found)
    return found


def answering(answer: Callable[[Request], Reply | str]) -> Recorded:
    return Recorded(answer=answer)


def test_replies_of_a_file_come_in_their_order_and_end(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"replies": ["one", {"text": "two", "model": "m", "usage": {"input": 3}}]})
    judge = Recorded(str(tmp_path / "r.json"))
    assert judge.ask(ANY) == Reply("one")
    assert judge.ask(ANY) == Reply("two", "m", {"input": 3})
    with pytest.raises(Unreachable, match="no further reply to this question"):
        judge.ask(ANY)


def test_lines_are_given_to_the_question_whose_digest_they_name(tmp_path: Path) -> None:
    first, second = Request("s", "first"), Request("s", "second")
    lines = [{"prompt": prompt_digest(second), "text": "2a"}, {"prompt": prompt_digest(first), "text": "1"}]
    lines += [{"prompt": prompt_digest(second), "text": "2b"}, {"text": "to whoever asks"}]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    judge = Recorded(str(tmp_path / "r.jsonl"))
    asked = [first, second, second, ANY]
    assert [judge.ask(request).text for request in asked] == ["1", "2a", "2b", "to whoever asks"]
    with pytest.raises(Unreachable):
        judge.ask(first)


def test_the_released_cases_give_each_item_its_own_replies() -> None:
    if not CASES.is_dir():
        pytest.skip("the shared cases are not beside the checkout")
    judge = Recorded(str(CASES))
    for folder in sorted(CASES.iterdir()):
        if (folder / "judge_replies.json").is_file():
            one = judge.item(folder.name)
            told = json.loads((folder / "judge_replies.json").read_text())["replies"]
            assert [one.ask(ANY).text for _ in told] == told
            with pytest.raises(Unreachable):
                one.ask(ANY)


def test_replies_of_several_items_are_nobodys_without_a_question(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_json(tmp_path / name / "judge_replies.json", {"replies": ["of " + name]})
    judge = Recorded(str(tmp_path))
    with pytest.raises(Unreachable):
        judge.ask(ANY)
    assert judge.item("b").ask(ANY).text == "of b"
    with pytest.raises(InputError, match="no replies of"):
        judge.item("../a")


def test_a_run_is_judged_again_from_what_it_kept(tmp_path: Path) -> None:
    texts = iter(["no answer", rated(4), rated(3), rated(3), rated(1)])
    lock = threading.Lock()

    def answer(request: Request) -> Reply:
        with lock:
            return Reply(next(texts), "snapshot-1", {"input": 9, "output": 2}, cost=0.5)

    judge = answering(answer)
    first = kept(tmp_path / "trials/task/1", judge, "first", votes=3)
    second = kept(tmp_path / "trials/task/2", judge, "second")
    again = Recorded(str(tmp_path))
    for before, reply, votes in ((first, "first", 3), (second, "second", 1)):
        found = judge_one(case(reply), again, votes=votes, attempts=3)
        assert (found.value, found.asked, found.why) == (before.value, before.asked, before.why)
        assert [[a.text for a in vote.attempts] for vote in found.votes] == [
            [a.text for a in vote.attempts] for vote in before.votes
        ]
        last = found.votes[0].attempts[-1]
        assert (last.model, last.usage, last.cost) == ("snapshot-1", {"input": 9, "output": 2}, 0.5)


def test_what_was_refused_is_refused_again(tmp_path: Path) -> None:
    def answer(request: Request) -> str:
        raise Refused("against the policy")

    before = kept(tmp_path / "1", answering(answer), "first")
    again = judge_one(case("first"), Recorded(str(tmp_path)), attempts=3)
    assert (again.value, again.absent) == (None, "refused") == (before.value, before.absent)


def test_of_two_judges_one_has_to_be_chosen(tmp_path: Path) -> None:
    def four(request: Request) -> str:
        return rated(4)

    def two(request: Request) -> str:
        return rated(2)

    kept(tmp_path / "1", answering(four), "first")
    other = kept(tmp_path / "1", answering(two), "first")
    with pytest.raises(InputError, match="2 judges"):
        Recorded(str(tmp_path))
    assert judge_one(case("first"), Recorded(str(tmp_path), judge=other.judge.digest)).value == 2


def test_items_that_asked_the_same_may_both_ask_again(tmp_path: Path) -> None:
    judge = answering(lambda request: rated(4))
    for name in ("1", "2"):
        kept(tmp_path / name, judge, "the same")
    again = Recorded(str(tmp_path))
    assert [judge_one(case("the same"), again).value for _ in range(2)] == [4, 4]


def test_a_function_answers_what_it_is_asked() -> None:
    judge = answering(lambda request: request.user.upper())
    assert judge.ask(Request("", "so")).text == "SO"
    assert judge.spec.options["answer"].endswith("<lambda>")


def test_eight_threads_get_each_reply_once(tmp_path: Path) -> None:
    write_json(tmp_path / "r.json", {"replies": [str(number) for number in range(200)]})
    judge = Recorded(str(tmp_path / "r.json"))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: judge.ask(ANY).text, range(200)))
    assert sorted(found, key=int) == [str(number) for number in range(200)]


def test_the_spec_follows_the_replies_and_not_the_place(tmp_path: Path) -> None:
    specs = []
    for folder, replies in (("a", ["x"]), ("b", ["x"]), ("c", ["y"])):
        (tmp_path / folder).mkdir()
        write_json(tmp_path / folder / "r.json", {"replies": replies})
        judge = Recorded(str(tmp_path / folder / "r.json"))
        specs.append(judge.spec)
        before = judge.spec
        judge.ask(ANY)
        assert judge.spec == before and str(tmp_path) not in str(before)
    assert specs[0] == specs[1] != specs[2]


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"replies": 3}',
        '{"replies": [3]}',
        '{"replies": [{"text": 3}]}',
        '{"replies": [{"text": "x", "usage": {"input": "3"}}]}',
        '{"replies": [{"text": "x", "usage": [3]}]}',
        '{"replies": [{"text": "x", "model": 3}]}',
        '{"replies": [{"text": "x", "cost": "free"}]}',
        '{"replies": [{"text": "x", "cost": NaN}]}',
        '{"replies": [{"text": "x", "asked": "0123"}]}',
        '{"replies": [{"text": "x", "prompt": 7}]}',
    ],
)
def test_what_is_no_file_of_replies_is_refused_with_its_place(tmp_path: Path, content: str) -> None:
    (tmp_path / "r.json").write_text(content)
    with pytest.raises(InputError, match=r"r\.json"):
        Recorded(str(tmp_path / "r.json"))


@pytest.mark.parametrize("path", ["", "none.json", "judge.json", "empty"])
def test_nothing_is_no_source(tmp_path: Path, path: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError):
        Recorded(str(tmp_path / path) if path else "")


def test_a_clip_is_part_of_the_question(tmp_path: Path) -> None:
    clips: list[Any] = []
    for name in ("a", "b"):
        clips.append(tmp_path / name)
        clips[-1].write_text(name)
    from fullduplex.providers.weights import sha256

    asked = Request("s", "what?", (clips[0],))
    write_json(
        tmp_path / "r.json",
        {"replies": [{"prompt": prompt_digest(asked), "clips": [sha256(clips[0])], "text": "of a"}]},
    )
    judge = Recorded(str(tmp_path / "r.json"))
    with pytest.raises(Unreachable):
        judge.ask(Request("s", "what?", (clips[1],)))
    assert judge.ask(asked).text == "of a"
