from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.errors import InputError
from fullduplex.judging.cache import Cache
from fullduplex.judging.keeping import (
    attempt_json,
    keep_rubric,
    read_attempt,
    read_verdicts,
    verdict_of,
    write_verdict,
)
from fullduplex.judging.rubric import Labels, Rubric, Scale
from fullduplex.judging.verdicts import Judged
from fullduplex.judging.votes import Attempt, Vote
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Verdict

RUBRIC = Rubric("interruption", "1.0", "rating", "Rate it.", "{reply}", ("reply",), Scale(0, 5), "rating")
ANOTHER = Rubric("behaviour", "2", "behaviour", "Which?", "{reply}", ("reply",), Labels(("a", "b")), "behaviour")
GPT, LLAMA = Spec("openai", {"model": "g"}, "1"), Spec("openai-compatible", {"model": "l"})
ATTEMPTS = (
    Attempt(1, 100, "four, I think", "g-1", {"input": 9, "output": 3}, 0.001, 0.5, error="no answer in it"),
    Attempt(2, 100, '{"rating": 4}', "g-1", {"input": 9, "output": 3}, 0.001, 0.5),
)


def judged(value: float | str | None = 4.0, absent: str = "", *, judge: Spec = GPT, **given: Any) -> Judged:
    vote = Vote(value, "it fits" if value is not None else "down", absent, ATTEMPTS if value is not None else ())
    base = Judged(
        "set/1", judge, RUBRIC, "aaaa", {"reply": "I'm the system"}, (vote,), value, absent, vote.reason, "pppp",
        ("c1",), ("Moshi",),
    )  # fmt: skip
    return replace(base, **given)


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(files("fullduplex.runs").joinpath("schemas", "judge.json").read_bytes())
    return found


def stored(folder: Path) -> Any:
    return json.loads((folder / "judge.json").read_text(encoding="utf-8"))


def test_a_verdict_comes_back_whole(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged())
    (kept,) = read_verdicts(tmp_path)
    assert (kept.name, kept.judge, kept.rubric, kept.rubric_version) == ("rating", GPT, "interruption", "1.0")
    assert (kept.rubric_digest, kept.asked, kept.prompt) == (RUBRIC.digest, "aaaa", "pppp")
    assert (kept.fields, kept.clips, kept.masked) == ({"reply": "I'm the system"}, ("c1",), ("Moshi",))
    assert kept.votes[0].attempts == ATTEMPTS
    assert kept.verdict == Verdict(4.0, (4.0,), "it fits", "aaaa")


def test_where_nobody_judged_there_is_no_verdict(tmp_path: Path) -> None:
    assert read_verdicts(tmp_path) == ()
    assert verdict_of(tmp_path, "rating", GPT.digest) is None


def test_each_judge_and_each_rubric_has_its_own_entry(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged(4.0))
    write_verdict(tmp_path, judged(2.0, judge=LLAMA))
    write_verdict(tmp_path, judged("a", rubric=ANOTHER))
    assert [(kept.name, kept.value) for kept in read_verdicts(tmp_path)] == [
        ("rating", 4.0),
        ("rating", 2.0),
        ("behaviour", "a"),
    ]
    assert verdict_of(tmp_path, "rating", LLAMA.digest) == Verdict(2.0, (2.0,), "it fits", "aaaa")
    assert verdict_of(tmp_path, "behaviour", LLAMA.digest) is None


def test_the_same_judge_and_rubric_replace_what_they_said(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged(4.0))
    write_verdict(tmp_path, judged(2.0, judge=LLAMA))
    write_verdict(tmp_path, judged(1.0, asked="bbbb"))
    assert [(kept.value, kept.asked) for kept in read_verdicts(tmp_path)] == [(2.0, "aaaa"), (1.0, "bbbb")]


def test_of_two_rubrics_the_one_used_last_speaks_unless_told(tmp_path: Path) -> None:
    reworded = replace(RUBRIC, system="Rate it well.", version="1.1")
    write_verdict(tmp_path, judged(4.0))
    write_verdict(tmp_path, judged(3.0, rubric=reworded))
    found = verdict_of(tmp_path, "rating", GPT.digest)
    assert isinstance(found, Verdict)
    assert found.value == 3.0
    found = verdict_of(tmp_path, "rating", GPT.digest, rubric_digest=RUBRIC.digest)
    assert isinstance(found, Verdict)
    assert found.value == 4.0


@pytest.mark.parametrize("absent", ["unreachable", "not asked: cost cap"])
def test_a_judge_that_said_nothing_takes_nothing_away(tmp_path: Path, absent: str) -> None:
    assert write_verdict(tmp_path, judged(4.0))
    assert not write_verdict(tmp_path, judged(None, absent))
    assert [kept.value for kept in read_verdicts(tmp_path)] == [4.0]


def test_an_answer_to_another_question_does_not_stay(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged(4.0))
    assert write_verdict(tmp_path, judged(None, "unreachable", asked="bbbb"))
    assert verdict_of(tmp_path, "rating", GPT.digest) == Absent("unreachable", "down")


def test_what_cannot_be_read_takes_the_place_of_what_could(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged(4.0))
    write_verdict(tmp_path, judged(None, "unparsable"))
    assert verdict_of(tmp_path, "rating", GPT.digest) == Absent("unparsable", "down")


def test_the_file_keeps_to_its_schema_and_the_schema_describes_every_field(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged(4.0))
    write_verdict(tmp_path, judged(None, "unreachable", judge=LLAMA))
    write_verdict(tmp_path, judged("a", rubric=ANOTHER))
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.Draft202012Validator(schema()).validate(stored(tmp_path))

    def described(value: dict[str, Any]) -> bool:
        fields = value.get("properties", {}).values()
        return all("description" in field or "$ref" in field for field in fields)

    assert all(map(described, (schema(), *schema()["$defs"].values())))


BREAKS = [
    lambda v: v.update(schema=2),
    lambda v: v.update(verdicts=[]),
    lambda v: v["verdicts"].update(rating={}),
    lambda v: v["verdicts"]["rating"].append(None),
    lambda v: v["verdicts"]["rating"][0].pop("asked"),
    lambda v: v["verdicts"]["rating"][0].update(value=None),
    lambda v: v["verdicts"]["rating"][0].update(absent="unreachable"),
    lambda v: v["verdicts"]["rating"][0].update(value=[4]),
    lambda v: v["verdicts"]["rating"][0].update(votes={}),
    lambda v: v["verdicts"]["rating"][0].update(fields={"reply": 1}),
    lambda v: v["verdicts"]["rating"][0].update(clips="c1"),
    lambda v: v["verdicts"]["rating"][0].update(rubric="interruption"),
    lambda v: v["verdicts"]["rating"][0].update(judge={"name": "x"}),
    lambda v: v["verdicts"]["rating"][0]["votes"][0].update(attempts=None),
    lambda v: v["verdicts"]["rating"][0]["votes"][0]["attempts"][0].update(seed="1"),
    lambda v: v["verdicts"]["rating"][0]["votes"][0]["attempts"][0].update(cost="free"),
    lambda v: v["verdicts"]["rating"][0]["votes"][0]["attempts"][0].update(usage={"input": "9"}),
    lambda v: v["verdicts"]["rating"][0]["votes"][0]["attempts"][0].update(complete=1),
    lambda v: v["verdicts"]["rating"][0]["votes"][0]["attempts"][0].update(failed="tired"),
]


@pytest.mark.parametrize("break_it", BREAKS)
def test_a_damaged_file_is_told_by_its_place_and_is_left_as_it_is(tmp_path: Path, break_it: Any) -> None:
    write_verdict(tmp_path, judged())
    broken = copy.deepcopy(stored(tmp_path))
    break_it(broken)
    (tmp_path / "judge.json").write_text(json.dumps(broken))
    assert not jsonschema.Draft202012Validator(schema()).is_valid(broken)
    before = (tmp_path / "judge.json").read_bytes()
    for use in (lambda: read_verdicts(tmp_path), lambda: write_verdict(tmp_path, judged(judge=LLAMA))):
        with pytest.raises(InputError, match=r"judge\.json") as told:
            use()
        assert "\n" not in str(told.value)
    assert (tmp_path / "judge.json").read_bytes() == before


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to(path.name)])
def test_what_is_no_file_is_told_and_not_passed_over(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "judge.json")
    with pytest.raises(InputError, match=r"judge\.json.*delete the file and judge again"):
        read_verdicts(tmp_path)


def test_a_verdict_under_another_judges_name_is_refused(tmp_path: Path) -> None:
    write_verdict(tmp_path, judged())
    value = stored(tmp_path)
    value["verdicts"]["rating"][0]["judge"]["options"]["model"] = "another"
    (tmp_path / "judge.json").write_text(json.dumps(value))
    with pytest.raises(InputError, match="the judge's"):
        read_verdicts(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"schema": 1}', b"\xff\xfe", b"[" * 100_000])
def test_what_is_no_such_file_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "judge.json").write_bytes(content)
    with pytest.raises(InputError, match=r"judge\.json"):
        read_verdicts(tmp_path)


TEXTS = st.text(max_size=40)
MADE = st.builds(
    Attempt,
    st.none() | st.integers(-(10**9), 10**9),
    st.integers(0, 10**6),
    TEXTS,
    TEXTS,
    st.dictionaries(st.sampled_from(["input", "output", "cached"]), st.integers(0, 10**9)),
    st.none() | st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.booleans(),
    st.sampled_from(["", "refused", "unreachable"]),
    TEXTS,
)


@given(MADE)
def test_an_attempt_is_read_as_it_was_written(attempt: Attempt) -> None:
    assert read_attempt(json.loads(json.dumps(attempt_json(attempt))), Path("f"), "") == attempt


def test_hostile_words_do_no_harm(tmp_path: Path) -> None:
    hostile = "../../x <script>alert(1)</script> \x1b[31m \u202e \ud800"
    found = judged(why=hostile, fields={"reply": hostile}, rubric=replace(RUBRIC, name="../../../x", verdict=hostile))
    write_verdict(tmp_path, found)
    assert read_verdicts(tmp_path)[0].fields == {"reply": hostile}
    path = keep_rubric(tmp_path, replace(RUBRIC, name="../../../x", system=hostile))
    assert path.parent == tmp_path / "rubrics"
    assert [each.name for each in tmp_path.iterdir()] == ["judge.json", "rubrics"] or len(list(tmp_path.iterdir())) == 2


def test_every_word_of_a_rubric_is_kept_once(tmp_path: Path) -> None:
    path = keep_rubric(tmp_path, RUBRIC)
    assert path.name == f"interruption-{RUBRIC.digest}.txt"
    text = path.read_text()
    assert all(part in text for part in ("Rate it.", "{reply}", "0 to 5", "version: 1.0", RUBRIC.digest))
    before = path.stat().st_mtime_ns
    assert keep_rubric(tmp_path, RUBRIC) == path
    assert path.stat().st_mtime_ns == before
    assert keep_rubric(tmp_path, replace(RUBRIC, system="Rate it!")) != path


# the cache


def test_a_vote_is_found_by_judge_question_and_number_alone(tmp_path: Path) -> None:
    cache = Cache(tmp_path, GPT)
    cache.keep("a" * 16, 0, ATTEMPTS)
    assert cache.attempts("a" * 16, 0) == ATTEMPTS
    assert (
        cache.attempts("a" * 16, 1) == cache.attempts("b" * 16, 0) == Cache(tmp_path, LLAMA).attempts("a" * 16, 0) == ()
    )


@pytest.mark.parametrize("damage", [b"", b"{}", b"not json", b'{"schema": 1, "attempts": []}', None])
def test_a_damaged_vote_is_no_vote(tmp_path: Path, damage: bytes | None) -> None:
    cache = Cache(tmp_path, GPT)
    cache.keep("a" * 16, 0, ATTEMPTS)
    path = cache.path("a" * 16, 0)
    path.write_bytes(path.read_bytes()[:-20] if damage is None else damage)
    assert cache.attempts("a" * 16, 0) == ()
    cache.keep("a" * 16, 0, ATTEMPTS)
    assert cache.attempts("a" * 16, 0) == ATTEMPTS


def test_a_vote_that_lies_in_anothers_place_is_no_vote(tmp_path: Path) -> None:
    cache = Cache(tmp_path, GPT)
    cache.keep("a" * 16, 0, ATTEMPTS)
    other = cache.path("b" * 16, 0)
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(cache.path("a" * 16, 0).read_bytes())
    assert cache.attempts("b" * 16, 0) == ()


def test_a_cache_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "judged").write_text("a file")
    with pytest.raises(InputError, match="a place to write to"):
        Cache(tmp_path, GPT).keep("a" * 16, 0, ATTEMPTS)
