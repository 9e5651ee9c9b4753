"""An interaction on the page: its probes, the user's turns, and labels that can be read."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.page import write_page

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=document.title='taken'>"
#: Where each text on the timeline was drawn: its text, left and right edge, and line.
DRAWN = """() => {
  const drawn = [], plain = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    if (text) drawn.push([text, x, x + this.measureText(text).width, y]);
    return plain.call(this, text, x, y);
  };
  document.querySelector('.controls [aria-label="The whole recording"]').click();
  CanvasRenderingContext2D.prototype.fillText = plain;
  return drawn;
}"""


def probe(**changes: Any) -> dict[str, Any]:
    standing = {
        "id": "1", "type": "recalls what it was told", "kind": "", "rests": False, "doubted": False,
        "question": "which day was it", "expected": "Says Saturday.", "asked": 2.0, "reply": "on Sunday",
        "replied": 3.5, "state": "wrong reply", "known": True, "by": "model-1", "reason": "it names another day",
        "votes": "2 of 3 votes",
    }  # fmt: skip
    return standing | changes


@pytest.fixture
def page(tmp_path: Path, draw: Any, stereo: dict[str, Any]) -> Path:
    """Write a page with one conversation: two variants read its second probe otherwise."""
    plain = draw.item()
    tracks = {side: dict(track, peaks=stereo["peaks"][side]) for side, track in plain.tracks.items()}
    tracks["user"]["words"] = []
    second = probe(
        id="2", rests=True, doubted=True, state="no reply", reply=None, replied=None, by="", votes="", reason=""
    )
    alike = probe(id="2", state="passed", question=HOSTILE)
    turns = [{"text": "so I begin", "start": 1.0, "end": 1.5}, {"text": HOSTILE, "start": None, "end": None}]
    events = [{"kind": "probe", "start": 1.0 + n / 5, "end": 1.1 + n / 5, "text": "false premise", "source": ""}
              for n in range(12)]  # fmt: skip
    facts = [{"variant": variant, "metric": "released", "value": 0.0, "absent": "", "why": "0 of 21 turns", "at": None,
              "unit": "share"} for variant in ("paper", "released")]  # fmt: skip
    item = draw.item(
        audio="audio/0.flac", tracks=tracks, turns=turns, events=events, facts=facts,
        probes=[{"variants": [name], "rows": [probe(), two]} for name, two in (("paper", second), ("released", alike))],
    )  # fmt: skip
    row = draw.estimate(metric="released", unit="share", title="Released while speaking") | {"kind": "mean"}
    write_page(tmp_path / "page.html", draw.data(estimates=[row, row | {"variant": "released"}]), [item])
    return tmp_path / "page.html"


def test_each_probe_has_a_row_with_what_it_asked_and_what_was_said(opened: Any, page: Path) -> None:
    seen = opened(page)
    first, second = seen.page.locator(".probes:visible tbody tr").all_inner_texts()
    for text in ("recalls what it was told", "which day was it", "Says Saturday.", "on Sunday", "wrong reply",
                 "model-1", "2 of 3 votes", "it names another day"):  # fmt: skip
        assert text in first, text
    assert "rests on what the assistant said" in second and "premise doubted" in second and "no reply" in second
    assert "rests on" not in first
    assert "0 of 2 passed" in seen.page.locator(".probes:visible caption").inner_text()
    assert seen.said == []


@pytest.mark.parametrize(("name", "at"), [("Go to 2.000 seconds", 1.5), ("Go to 3.500 seconds", 3.0)])
def test_a_probes_times_lead_there(opened: Any, page: Path, name: str, at: float) -> None:
    seen = opened(page).page
    seen.wait_for_function("() => document.querySelector('#item audio').readyState >= 1")
    seen.locator(".probes:visible").get_by_role("button", name=name).first.click()
    assert seen.evaluate("document.querySelector('#item audio').currentTime") == pytest.approx(at, abs=0.02)


def test_the_probes_are_those_of_the_variant_in_sight(opened: Any, page: Path) -> None:
    seen = opened(page).page
    seen.select_option("#variant", "released")
    assert seen.locator(".probes:visible").count() == 1
    assert "1 of 2 passed" in seen.locator(".probes:visible caption").inner_text()
    assert HOSTILE in seen.locator(".probes:visible").inner_text() and seen.title() != "taken"


def test_the_users_turns_stand_in_time_though_no_word_was_recognised(opened: Any, page: Path) -> None:
    seen = opened(page).page
    user = seen.locator(".voice.user")
    assert "so I begin" in user.inner_text() and "never said" in user.inner_text()
    assert "No words" not in user.inner_text()
    seen.wait_for_function("() => document.querySelector('#item audio').readyState >= 1")
    user.get_by_role("button", name="Go to 1.000 seconds").click()
    assert seen.evaluate("document.querySelector('#item audio').currentTime") == pytest.approx(0.5, abs=0.02)


def test_no_label_on_the_timeline_lies_on_another(opened: Any, page: Path) -> None:
    drawn = opened(page).page.evaluate(DRAWN)
    labels = [one for one in drawn if "probe" in one[0] or one[0].endswith("…")]
    assert len(labels) >= 3
    for line in {one[3] for one in labels}:
        row = sorted((one for one in labels if one[3] == line), key=lambda one: one[1])
        for before, after in pairwise(row):
            assert before[2] <= after[1] + 0.5, (before, after)


def test_events_of_one_kind_are_counted(opened: Any, page: Path) -> None:
    assert "events: probe × 12" in opened(page).page.locator(".legend").inner_text()


def test_a_share_is_no_yes_and_no_but_how_many_of_how_many(opened: Any, page: Path) -> None:
    seen = opened(page).page
    assert "0 of 21 turns" in seen.locator(".facts tbody tr").first.inner_text()
    assert "no" not in seen.locator(".row .verdict").first.inner_text().split()
