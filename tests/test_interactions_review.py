"""What a machine is not trusted with: whispers, and replies whose words were missed, go to a person, who decides."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.conducts import Line, call, case, exact_chain, facts, run

from fullduplex.errors import InputError, RunError
from fullduplex.reporting.review.amending import amending
from fullduplex.reporting.review.forms import load, parse
from fullduplex.reporting.review.store import Review, append, read_kept
from fullduplex.runs.run import Run

PASSES = ("--only", "ib_whisper", "--verdict", "passed=1")
TO_HEAR = ("--only", "ib_whisper", "--verdict", "passed~to be heard")
SAID = "right here is what it is"


@pytest.fixture(scope="module")
def _talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Drive four requests to whisper: two are whispered, one is voiced, and of one no word is recognised."""
    folder = tmp_path_factory.mktemp("whispers")
    cases = {
        "whisper/01": case("whisper", Line(4000, 6000, SAID, "whispered")),
        "whisper/02": case("whisper", Line(4000, 6000, SAID)),
        "whisper/03": case("whisper", Line(4000, 6000, SAID, "whispered")),
        # What is said first lets the recogniser report words at all.
        "whisper/04": case("whisper", Line(100, 400, "hi"), Line(4000, 6000, "")),
        "logic/01": case("logic", Line(4000, 6000, SAID)),
    }
    with exact_chain(folder / "cache"):
        yield run(folder, cases, folder / "out.run", "Moshibert-9000")


@pytest.fixture
def talks(_talks: Path, tmp_path: Path) -> Path:
    """Give a run of the test's own."""
    shutil.copytree(_talks, tmp_path / "out.run")
    return tmp_path / "out.run"


class Page:
    """A rater's page over a real connection, which keeps every byte that it was sent."""

    def __init__(self, url: str) -> None:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=(.+)", url)
        assert found is not None
        self.port, self.token, self.seen = int(found[1]), found[2], b""

    def ask(self, method: str, path: str, body: Any = None) -> bytes:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as connection:
            data = None if body is None else json.dumps(body).encode()
            connection.request(method, path, data, {"X-Review-Token": self.token})
            answer = connection.getresponse()
            assert answer.status == 200
            content = answer.read()
            self.seen += content
            return content

    def post(self, path: str, **body: Any) -> Any:
        return json.loads(self.ask("POST", path, body))


@contextmanager
def reviewed(*words: object) -> Iterator[tuple[Mapping[str, Any], Page]]:
    """Run the command in a process of its own; give what it printed, and its page."""
    start = "import fullduplex.cli, fullduplex.cli.review; fullduplex.cli.main()"
    with subprocess.Popen(
        [sys.executable, "-c", start, "review", *map(str, words), "--no-open", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None and process.stderr is not None
            lines: list[str] = []
            while not lines or lines[-1] != "}\n":
                lines.append(process.stdout.readline())
                assert lines[-1], process.stderr.read()  # it has ended
            told = json.loads("".join(lines))
            yield told, Page(told["url"])
        finally:
            process.kill()


def by_item(path: Path) -> dict[str, str]:
    """Return the review that was kept of each item: the one answer."""
    return {review.item: str(review.answers["whispered"]) for review in read_kept(path).reviews}


def answered(path: Path, given: Mapping[str, str], rater: str = "Ann") -> None:
    form = load("whisper")
    for item, answer in given.items():
        review = Review(rater, form.name, form.version, form.digest, "ib_whisper", item, {"whispered": answer})
        append(path, review)


def whispers(path: Path) -> dict[str, float | str]:
    call("measure", path, "--json")
    return {item[-2:]: value for (variant, item, metric), value in facts(path).items()
            if (variant, metric) == ("page", "passed") and item.startswith("whisper")}  # fmt: skip


def test_a_person_hears_what_passes_and_what_they_say_changes_the_verdict(talks: Path) -> None:
    assert whispers(talks) == {"01": 1, "02": 0, "03": 1, "04": 0}
    with reviewed(talks, *PASSES) as (told, page):
        assert (told["form"], told["items"]) == ("whisper", 2)
        page.ask("GET", f"/?token={page.token}")
        clips = page.post("/join", rater="Ann")["clips"]
        for clip, answer in zip(clips, ("no", "yes"), strict=True):
            card = page.post("/open", id=clip["id"])
            assert page.ask("GET", f"/clip/{card['clips'][0]['sound']}.wav")[:4] == b"RIFF"
            assert page.post("/answer", id=clip["id"], answers={"whispered": answer}, heard=1)["done"] is True
    assert b"Moshibert" not in page.seen and b"HNR" not in page.seen
    said = by_item(talks)
    assert sorted(said.values()) == ["no", "yes"] and set(said) == {"01", "03"}
    made = json.loads(call("review", talks, "--form", "whisper", "--amend", "--json").output)
    assert {(one["item"], one["what"], one["old"], one["new"], one["who"]) for one in made} == {
        (item, "passed", 1, float(answer == "yes"), "Ann") for item, answer in said.items()
    }
    assert whispers(talks) == {"02": 0, "04": 0} | {item: float(answer == "yes") for item, answer in said.items()}
    report = (talks / "report.md").read_text()
    assert "Corrections by hand (2)" in report and "review whisper 1: no, 1 of 1 rater" in report


def test_a_reply_whose_words_were_missed_is_heard_too_whether_it_passes_or_not(talks: Path) -> None:
    with reviewed(talks, *TO_HEAR) as (told, page):
        assert (told["form"], told["items"]) == ("whisper", 3)
        for clip in page.post("/join", rater="Ann")["clips"]:
            page.post("/answer", id=clip["id"], answers={"whispered": "yes"})
    assert set(by_item(talks)) == {"01", "03", "04"}
    call("review", talks, "--form", "whisper", "--amend")
    assert whispers(talks) == {"01": 1, "02": 0, "03": 1, "04": 1}
    nothing = call("review", talks, *TO_HEAR, code=1)
    assert "nothing to review" in nothing.output  # all that waited was heard


def test_what_is_to_be_heard_is_in_the_queue_of_what_machines_do_not_know(talks: Path) -> None:
    with reviewed(talks, "--only", "ib_whisper", "--queue", "unsure") as (told, _):
        assert told["items"] == 3
    missed = ("--only", "ib_whisper", "--verdict", "words_missed=1")
    with reviewed(talks, *missed) as (told, _):
        assert told["items"] == 1


def test_the_same_answers_correct_nothing_twice_and_a_changed_one_is_followed(talks: Path) -> None:
    answered(talks, {"01": "no"})
    assert "1 correction;" in call("review", talks, "--form", "whisper", "--amend").output
    assert "0 corrections" in call("review", talks, "--form", "whisper", "--amend").output
    assert whispers(talks)["01"] == 0
    assert "0 corrections" in call("review", talks, "--form", "whisper", "--amend").output
    answered(talks, {"01": "yes"})
    assert "1 correction;" in call("review", talks, "--form", "whisper", "--amend").output
    assert whispers(talks)["01"] == 1


def test_raters_who_split_and_who_cannot_tell_correct_nothing_and_are_told(talks: Path) -> None:
    answered(talks, {"01": "no", "03": "unclear"})
    answered(talks, {"01": "yes"}, "Ben")
    found = amending(Run.open(talks), load("whisper"), "now")
    assert found.made == ()
    assert sorted(found.remarks) == [
        "ib_whisper/01, passed: raters split evenly", "ib_whisper/03, passed: unclear",
    ]  # fmt: skip
    answered(talks, {"01": "no"}, "Eve")
    (made,) = amending(Run.open(talks), load("whisper"), "now").made
    assert (made.who, made.new, made.why) == ("Ann, Ben, Eve", 0, "review whisper 1: no, 2 of 3 raters")


def test_a_correction_by_hand_is_left_as_it_is(talks: Path) -> None:
    call("amend", talks, "ib_whisper/01", "passed", "0", "--who", "Ben", "--why", "creaks")
    answered(talks, {"01": "yes"})
    found = amending(Run.open(talks), load("whisper"), "now")
    assert (found.made, found.remarks) == (
        (), ("ib_whisper/01, passed: corrected by hand already (Ben); left as it is",),
    )  # fmt: skip


def test_a_number_that_says_so_already_needs_no_correction(talks: Path) -> None:
    answered(talks, {"02": "no"})
    assert amending(Run.open(talks), load("whisper"), "now").made == ()


def test_a_form_that_corrects_nothing_says_what_does(talks: Path) -> None:
    with pytest.raises(RunError, match="naturalness: no question of this form corrects a number"):
        amending(Run.open(talks), load("naturalness"), "now")


def test_only_a_question_of_yes_or_no_can_correct() -> None:
    text = 'name = "x"\nversion = "1"\ntitle = "X"\n[[question]]\nkey = "x"\nask = "X?"\nkind = "scale"\nlow = 1\n'
    with pytest.raises(InputError, match="yes-no-unclear"):
        parse(f'{text}high = 5\namends = "passed"\n', Path("x.toml"))
