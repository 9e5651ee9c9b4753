"""People beside systems on the page: each value's place among people's conversations, and where people are not best."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.among_people import past_people
from fullduplex.reporting.language import language_named
from fullduplex.reporting.page import write_page


def among(**given: Any) -> dict[str, Any]:
    row = {
        "people_run": "people", "system": "alpha", "variant": "paper", "scenario": "turn-taking",
        "scenario_title": "Turn-taking", "metric": "tor", "title": "TOR", "better": "higher", "unit": "", "value": 0.9,
        "low": 0.8, "high": 1.0, "n": 43, "people": 0.6, "people_n": 41, "optimum": 1.0, "to_optimum": -0.1,
        "people_to_optimum": -0.4, "nearer": True, "to_people": 0.3, "to_people_low": 0.2, "to_people_high": 0.4,
        "to_people_p": 0.01, "pairs": 38, "percentile": 87.5, "conversations": 45, "why": "",
    }  # fmt: skip
    return row | given


def page_of(path: Path, draw: Any, *rows: dict[str, Any], language: str = "en") -> str:
    write_page(path, draw.data(people=rows), [draw.item()], tell=language_named(language))
    _, _, section = path.read_text("utf-8").partition('<section id="people"')
    return html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", section.partition("</section>")[0])))


def test_a_value_stands_with_its_percentile_and_the_number_of_peoples_conversations(tmp_path: Path, draw: Any) -> None:
    text = page_of(tmp_path / "p.html", draw, among())
    assert "88 45 conversations" in text
    assert "0.900 n\u00a043" in text and "0.600 n\u00a041" in text
    assert "+0.300 [+0.200, +0.400] , 38 pairs" in text


def test_where_a_system_is_nearer_to_the_optimum_the_page_says_that_people_are_not_best(
    tmp_path: Path, draw: Any
) -> None:
    text = page_of(tmp_path / "p.html", draw, among(), among(metric="latency", nearer=False))
    assert "1 of 2 values with an optimum is nearer to it than people’s" in text
    assert text.count("nearer than people") == 1
    assert "nearer" not in page_of(tmp_path / "q.html", draw, among(nearer=False))


def test_a_value_without_an_optimum_is_counted_neither_way() -> None:
    open_ended = among(optimum=None, to_optimum=None, people_to_optimum=None, nearer=False)
    assert past_people([open_ended]) == ""
    assert past_people([open_ended, among()]).startswith("1 of 1 values")


def test_no_percentile_is_a_reason_and_no_number(tmp_path: Path, draw: Any) -> None:
    none = among(percentile=None, conversations=3, why="fewer than 5 conversations of people")
    assert "fewer than 5 conversations of people 3 conversations" in page_of(tmp_path / "p.html", draw, none)


def test_the_section_is_told_in_french_with_decimal_commas(tmp_path: Path, draw: Any) -> None:
    text = page_of(tmp_path / "p.html", draw, among(), language="fr")
    assert "À côté des humains" in text
    assert "0,900" in text and "0.900" not in text
    assert "plus près que les humains" in text


def test_a_page_without_people_has_no_such_section(tmp_path: Path, draw: Any) -> None:
    write_page(tmp_path / "p.html", draw.data(), [draw.item()])
    assert 'id="people"' not in (tmp_path / "p.html").read_text("utf-8")
    assert 'href="#people"' not in (tmp_path / "p.html").read_text("utf-8")


def test_hostile_names_of_people_and_systems_are_shown_and_do_nothing(tmp_path: Path, draw: Any) -> None:
    hostile = "<script>alert(1)</script> %(n)s {0}"
    write_page(
        tmp_path / "p.html", draw.data(people=[among(system=hostile, people_run=hostile, scenario_title=hostile)]), []
    )
    assert "<script>alert" not in (tmp_path / "p.html").read_text("utf-8")


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1400])
def test_nothing_of_it_overflows(opened: Any, tmp_path: Path, draw: Any, width: int) -> None:
    rows = [among(), among(system="a-long-named-cascade_with_whisper")]
    write_page(tmp_path / "p.html", draw.data(people=rows), [draw.item()], tell=language_named("fr"))
    seen = opened(tmp_path / "p.html", viewport={"width": width, "height": 900})
    assert seen.said == []
    box = seen.page.locator("#people .scroll")
    assert box.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert seen.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.browser
def test_a_table_that_goes_on_to_the_right_says_so_until_its_end(opened: Any, tmp_path: Path, draw: Any) -> None:
    systems = [f"system-number-{n}" for n in range(24)]
    rows = [draw.estimate(system=one) for one in systems]
    write_page(tmp_path / "p.html", draw.data(systems=systems, estimates=rows, variants=["paper"]), [])
    page = opened(tmp_path / "p.html", viewport={"width": 900, "height": 900}).page
    onward, box = page.locator("#results .onward"), page.locator("#results .scroll")
    assert onward.is_visible() and onward.is_enabled()
    assert "more" in box.get_attribute("class")
    while onward.is_enabled():
        onward.click()
        page.wait_for_timeout(60)
    assert "more" not in box.get_attribute("class")
    assert box.evaluate("one => one.scrollLeft + one.clientWidth >= one.scrollWidth - 2")
