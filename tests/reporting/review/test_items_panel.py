"""A panel of known conduct over the real server: what comes out is what they said."""

from __future__ import annotations

import csv
import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from click.testing import CliRunner, Result
from tests.reporting.review.items import write_items

from fullduplex.cli import main
from fullduplex.reporting.review.desk import Desk
from fullduplex.reporting.review.forms import load
from fullduplex.reporting.review.items import ItemReview, choose_items
from fullduplex.reporting.review.server import ReviewServer
from fullduplex.reporting.review.validated import validated

FORM = load("duplexact")
#: What the five say of the label and the condition of an item, by its number in its set.
SAID = {
    0: (("yes",) * 5, ("yes", "yes", "yes", "no", "unclear")),
    1: (("yes", "yes", "yes", "yes", "unclear"), ("yes", "yes", "no", "no", "unclear")),
    2: (("no", "no", "no", "yes", "yes"), ("unclear", "unclear", "unclear", "yes", "no")),
}
MOS = ((5, 1), (4, 2), (4, 3), (3, 4), (2, 5))


@contextmanager
def serving(desk: Desk) -> Iterator[ReviewServer]:
    with ReviewServer(desk) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def post(server: ReviewServer, path: str, body: dict[str, Any]) -> dict[str, Any]:
    token = parse_qs(urlsplit(server.url).query)["token"][0]
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}{path}", json.dumps(body).encode(), {"X-Review-Token": token}
    )
    with urllib.request.urlopen(request) as answer:
        found: dict[str, Any] = json.load(answer)
    return found


@pytest.fixture(scope="session")
def panel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with twelve items, ``data``, and the review of them by five, ``out``."""
    place = tmp_path_factory.mktemp("panel")
    _, chosen = choose_items(write_items(place / "data"), place / "out", FORM)
    desk = Desk(FORM, chosen, raters=5)
    with serving(desk) as server:
        for rater in range(5):
            for clip in post(server, "/join", {"rater": f"R{rater}"})["clips"]:
                subject = chosen.subjects[desk._seats[clip["id"]].place]
                label, condition = (row[rater] for row in SAID[int(subject.item)])
                answers: dict[str, Any] = {"label": label, "condition": condition}
                if "content" in post(server, "/open", {"id": clip["id"]})["asked"]:
                    answers |= dict(zip(("content", "voice"), MOS[rater], strict=True))
                done = post(server, "/answer", {"id": clip["id"], "answers": answers, "heard": 1.0})
                assert done == {"done": True}
    return place


def call(*args: object) -> Result:
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


def test_the_panels_rates_come_out_of_every_line_of_the_tables(panel: Path) -> None:
    told, remarks = validated(ItemReview.open(panel / "out"))
    assert remarks == () and told["ratings_an_item"] == {"5": 12} and len(told["raters"]) == 5
    rows = {(row["action"], row["condition"]): row for row in told["rows"]}
    assert len(rows) == 1 + 4 + 4
    for (action, _), row in rows.items():
        sets = 1 if action else 4
        label, condition = row["found"]["label"], row["found"]["condition"]
        assert (row["items"], label["ratings"]) == (3 * sets, {"yes": 11 * sets, "no": 3 * sets, "unclear": 1 * sets})
        assert label["majorities"] == {"yes": 2 * sets, "no": 1 * sets, "unclear": 0, "tied": 0}
        assert condition["ratings"] == {"yes": 6 * sets, "no": 4 * sets, "unclear": 5 * sets}
        assert condition["majorities"] == {"yes": 1 * sets, "no": 0, "unclear": 1 * sets, "tied": 1 * sets}
        assert label["by_rating"]["value"] == pytest.approx(11 / 15)
        assert label["by_majority"]["value"] == pytest.approx(2 / 3)
        if action == "Wait":  # from recordings: nobody was asked
            assert row["found"]["voice"]["items"] == 0 and row["found"]["voice"]["mean"]["value"] is None
            continue
        content, voice = row["found"]["content"], row["found"]["voice"]
        assert (content["mean"]["value"], voice["mean"]["value"]) == (pytest.approx(3.6), 3.0)
        assert content["non_negative"]["value"] == pytest.approx(0.8)
        assert voice["spread"] == pytest.approx((10 * voice["items"] / (5 * voice["items"] - 1)) ** 0.5)


def test_agree_prints_the_shares_with_their_counts_and_keeps_three_files(panel: Path) -> None:
    done = call("agree", panel / "out")
    assert done.exit_code == 0
    assert "Overall: 12 items\n  action label: by rating 73.3 % (44/60)" in done.output
    assert "by majority 66.7 % (8/12) [39.1, 86.2]; 4 no" in done.output
    assert "4 unclear, 4 tied" in done.output
    assert "content naturalness: 3.60 ± 1.03" in done.output
    assert "not valid: da_wait_intra_pause/02: label: no (2 yes, 3 no); condition: unclear (" in done.output
    text = (panel / "out" / "validity.md").read_text()
    assert "| Stop | Direct interruption | 3 | 73.3 % (11/15)" in text
    assert "a formula" not in text and "more than half" in text
    with (panel / "out" / "validity.csv").open() as file:
        rows = list(csv.DictReader(file))
    (row,) = [one for one in rows if (one["of"], one["question"]) == ("all", "condition")]
    assert (row["yes"], row["tied"], row["majority_unclear"]) == ("24", "4", "4")


def test_agreement_of_the_raters_is_that_of_their_ratings(panel: Path) -> None:
    told = json.loads(call("agree", panel / "out", "--json").output)
    # Pairs alike of ten: label 10, 6, 4; condition 3, 2, 3.
    assert told["agreement"]["label"]["percent"]["value"] == pytest.approx(2 / 3)
    assert told["agreement"]["condition"]["percent"]["value"] == pytest.approx(0.8 / 3)
    by_chance = (44**2 + 12**2 + 4**2) / 60**2
    assert told["agreement"]["label"]["fleiss_kappa"]["value"] == pytest.approx((2 / 3 - by_chance) / (1 - by_chance))


def test_a_run_leaves_out_what_most_found_invalid(panel: Path, tmp_path: Path) -> None:
    call("agree", panel / "out")
    run = ("run", "duplexact", "--system", "scripted", "--data", panel / "data", "--out", tmp_path / "r", "--dry-run")
    assert call(*run).output.startswith("12 talks")
    assert call(*run, "--exclude", panel / "out" / "validity.json").output.startswith("8 talks")


def test_figures_of_the_same_answers_are_printed_by_review(panel: Path) -> None:
    done = call("review", panel / "data", "--out", panel / "out", "--figures")
    assert "label: 60 ratings of 12 items by 5 raters" in done.output
    assert call("review", panel / "out", "--figures").output == done.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--amend"], "--amend is for runs"),
        (["--verdict", "rating=0"], "--verdict is for runs"),
        (["--form", "preference"], "asks about systems"),
        (["--seed", "3"], "began with seed 0, now 3"),
    ],
)
def test_what_is_for_runs_is_refused_in_a_sentence(panel: Path, options: list[str], said: str) -> None:
    done = call("review", panel / "data", "--out", panel / "out", *options)
    assert done.exit_code == 1 and said in done.output


def test_a_folder_of_neither_runs_nor_items_is_refused_in_a_sentence(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nothing"):
        done = call("review", path)
        assert done.exit_code == 1 and "neither a run (run.json) nor items (cues.json)" in done.output


def test_few_ratings_and_other_words_are_told(panel: Path, tmp_path: Path) -> None:
    _, chosen = choose_items(panel / "data", tmp_path / "out", FORM)
    desk = Desk(FORM, chosen)
    clips = desk.join("Ann")["clips"]
    desk.answer(clips[0]["id"], {"answers": {"label": "yes"}, "heard": 0.1})
    path = next((tmp_path / "out" / "reviews").iterdir())
    path.write_text(path.read_text() + path.read_text().replace(FORM.digest, "another"))
    told, remarks = validated(ItemReview.open(tmp_path / "out"))
    assert remarks == (
        "1 answer was given to other words of duplexact; not counted",
        "12 of 12 items have fewer than the 5 ratings that the form asks for; they count",
        "1 of 1 reviews were given before half of the clip was played; they count",
    )
    assert told["rows"][0]["found"]["label"]["ratings"]["yes"] == 1 and told["agreement"]["label"] == {}
