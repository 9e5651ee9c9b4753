"""Rules that cut what was said differently have different replies judged, and each counts its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conducts import Line, call, case, exact_chain, facts, judged, run

from fullduplex.agreeing import agree
from fullduplex.data import audio
from fullduplex.data.files import read_json
from fullduplex.judged import Judging, judge_run
from fullduplex.judging.question import Request
from fullduplex.model.spec import Spec
from fullduplex.publish import publish
from fullduplex.reporting.review.store import Review, append
from fullduplex.runs.run import Run
from fullduplex.stages import measure_again


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give a run in which a reply is one utterance under the page's rules and two under ours."""
    root = tmp_path_factory.mktemp("variants")
    with exact_chain(root / "cache"):
        grammar = case("grammar", Line(2200, 2400, "okay"), Line(2950, 3400, "right"))
        made = run(root / "a", {"grammar/1": grammar}, root / "talks", "joined")
        judged(made, root / "cache")
        publish(measure_again(made), made, page=False)
        yield made


def test_each_variant_counts_what_was_said_of_its_own_reply(talks: Path) -> None:
    found = facts(talks)
    assert found["page", "grammar/1", "content"] == 1, "joined over 0.55 s: okay right"
    assert found["anchored", "grammar/1", "content"] == 0, "okay alone"


def test_both_replies_were_asked_about_once(talks: Path) -> None:
    kept = read_json(talks / "trials/ib_grammar/1/judge.json")
    assert sorted(kept["verdicts"]) == ["correction:@2.200-2.400", "correction:@2.200-3.400"]


def test_a_judge_asked_of_one_variant_leaves_the_other_waiting(tmp_path: Path) -> None:
    with exact_chain(tmp_path / "cache"):
        grammar = case("grammar", Line(2200, 2400, "okay"), Line(2950, 3400, "right"))
        made = run(tmp_path / "a", {"grammar/1": grammar}, tmp_path / "talks", "joined")
        judged(made, tmp_path / "cache", "anchored")
        publish(measure_again(made), made, page=False)
        found = facts(made)
        assert found["page", "grammar/1", "content"] == "not judged"
        assert found["anchored", "grammar/1", "content"] == 0


def test_people_speak_of_the_item_whatever_reply_a_variant_takes(talks: Path, tmp_path: Path) -> None:
    made = tmp_path / "talks"
    shutil.copytree(talks, made)
    call("amend", made, "ib_grammar/1", "correction", "no", "--who", "Ada", "--why", "it says okay first")
    call("measure", made)
    found = facts(made)
    assert (found["page", "grammar/1", "content"], found["anchored", "grammar/1", "content"]) == (0, 0)
    append(made, Review("Ada", "verdict", "1", "d", "ib_grammar", "1", {"correction": "yes"}, heard=1.0))
    told, _ = agree(Run.open(made))
    (judge,) = next(one for one in told["verdicts"] if one["verdict"] == "correction")["judges"].values()
    assert (judge["n"], judge["accuracy"]["value"]) == (1, 1)


def test_a_judge_that_hears_is_given_the_reply_and_no_more(talks: Path, tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []

    def listening(request: Request) -> str:
        for clip in request.clips:
            samples, rate = audio.read_all(clip)
            heard.append((request.fields["reply"], len(samples), rate))
        return json.dumps({"reason": "heard", "corrected": "yes"})

    spec = Spec("recorded", {"answer": listening})
    judge_run(Run.open(talks), Judging(spec, leads=False), cache=tmp_path)
    # From 0.2 s before the reply to 0.5 s after its last word.
    assert sorted(heard) == [("okay", 16_000 * 9 // 10, 16_000), ("okay right", 16_000 * 19 // 10, 16_000)]
