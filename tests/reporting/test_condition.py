"""An item of an action on its page: what it calls for, the stretches it is judged by, and what was found and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks.duplexact.conditions import condition_named, conditions
from fullduplex.data.interactions import MARKS as KINDS
from fullduplex.model.items import Item
from fullduplex.model.trials import Trial
from fullduplex.reporting.condition import MARKS, condition_of
from fullduplex.reporting.page import write_page

SAID = {"kind": "ignored", "cue": "u0", "start": 1.0, "end": 2.5, "text": "Nadia, <b>hold</b> this"}
NEVER = {"kind": "wait", "cue": "u1", "start": None, "end": None, "text": ""}


def trial(scenario: str = "ignore_other_directed", marks: Any = (SAID, NEVER)) -> Trial:
    told = {
        "scenario": scenario, "target": "Tells the depth.", "turns": [], "expects": [], "probes": [], "pauses": [],
        "marks": list(marks), "setting": "customer_service", "origin": "recorded",
    }  # fmt: skip
    return Trial(Item("01", (), (), reference={"interaction": told}))


@pytest.mark.parametrize("name", [one.name for one in conditions()])
def test_a_condition_is_told_as_the_table_of_conditions_has_it(name: str) -> None:
    known, found = condition_named(name), condition_of(trial(name))
    assert known is not None
    assert (found["calls_for"], found["definition"], found["whose"]) == (
        known.calls_for,
        known.definition,
        known.source,
    )
    assert found["title"].endswith(known.title) and found["immediate"] and found["follow_through"]


def test_marks_are_in_seconds_and_what_was_never_said_has_no_time() -> None:
    found = condition_of(trial())
    assert (found["setting"], found["origin"], found["target"]) == ("customer service", "recorded", "Tells the depth.")
    assert [(one["kind"], one["start"], one["end"]) for one in found["marks"]] == [
        ("ignored", 1.0, 2.5), ("wait", None, None),
    ]  # fmt: skip


def test_every_kind_of_mark_has_its_meaning() -> None:
    assert set(MARKS) == set(KINDS)


def test_what_is_no_condition_of_an_action_has_none() -> None:
    assert condition_of(trial("logic")) == {}
    assert condition_of(Trial(Item("01", (), ()))) == {}


def test_the_item_shows_what_is_called_for_its_marks_and_the_judges_reason(
    tmp_path: Path, draw: Any, opened: Any
) -> None:
    facts = [
        {"variant": "paper", "metric": "follow_through", "value": 0, "absent": "", "at": 4.5, "unit": "share",
         "why": "judged: no, it speaks of a <i>bottle</i>"},
        {"variant": "paper", "metric": "immediate", "value": 1, "absent": "", "at": 1.0, "unit": "share",
         "why": "silent"},
    ]  # fmt: skip
    out = tmp_path / "report.html"
    estimates = [draw.estimate(metric=metric, title=title, unit="share")
                 for metric, title in (("immediate", "I"), ("follow_through", "S"))]  # fmt: skip
    items = [draw.item("0", condition=condition_of(trial()), facts=facts, events=[]), draw.item("1")]
    write_page(out, draw.data(estimates=estimates), items)
    seen = opened(out)
    page = seen.page
    told = page.inner_text(".condition")
    known = condition_named("ignore_other_directed")
    assert known is not None and known.calls_for in told and "Tells the depth." in told
    assert "Nadia, <b>hold</b> this" in told and "never said" in told and "customer service, recorded" in told
    legend = page.inner_text(".legend")
    assert "ignored: speech that is to be ignored" in legend and "no event annotated" not in legend
    assert "judged: no, it speaks of a <i>bottle</i>" in page.inner_text(".facts")
    assert page.locator("#item b, #item .facts i").count() == 0
    page.click(".condition button")
    assert "0:00.50" in page.inner_text("#item .clock")
    page.click("#row-1")
    page.wait_for_selector("#item h3:text-is('1')")
    assert page.locator(".condition").count() == 0 and "null" not in page.inner_text("#item")
    assert not seen.said


def test_a_mark_colours_its_stretch_of_the_timeline(tmp_path: Path, draw: Any, opened: Any) -> None:
    out = tmp_path / "report.html"
    items = [draw.item("0", condition=condition_of(trial()), events=[]), draw.item("1", events=[])]
    write_page(out, draw.data(), items)
    page = opened(out).page
    at = """time => {
      const canvas = document.querySelector('.stage canvas'), wide = canvas.clientWidth, ratio = devicePixelRatio;
      const x = Math.round((5 + time / 6 * (wide - 10)) * ratio);
      return [...canvas.getContext('2d').getImageData(x, 60 * ratio, 1, 1).data].join();
    }"""
    inside, outside = page.evaluate(at, 2.3), page.evaluate(at, 2.9)
    assert inside != outside
    page.click("#row-1")
    page.wait_for_selector("#item h3:text-is('1')")
    assert page.evaluate(at, 2.3) == page.evaluate(at, 2.9)
