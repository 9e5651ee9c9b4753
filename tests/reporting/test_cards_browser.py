"""The cards in headless Chromium: read, listened to, and followed to the items."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullduplex.reporting.cards import cards
from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.page import write_page
from fullduplex.reporting.seats import Ground

pytestmark = pytest.mark.browser

HOSTILE = "</script><img src=x onerror=document.title='taken'>../../x"
TIMING = ("backchannel", "pause", "turn_taking", "user_backchannel", "interruption")
TASKS = ("logic", "countdown", "grammar", "keyword_wait", "stay_quiet")


def _answers(place: int, systems: int) -> dict[str, Any]:
    """Return what a system answered: the nearer its place is to 0, the better."""

    def share(n: int, shift: int = 0) -> list[float]:
        part = max(0, min(n, round(n * (1 - (place + shift) / (systems + 1)))))
        # Passes and failures take turns, as they do in a run.
        return [float((i * part) % n < part) for i in range(n)]

    made: dict[str, Any] = {card: {"passed": share(20, n % 3)} for n, card in enumerate(TIMING)}
    made |= {card: {"passed": share(10, n % 2), "answered": [1.0] * 8 + [0.0] * 2} for n, card in enumerate(TASKS)}
    made["backchannel"] |= {"acknowledgements": [2.0 - place / systems] * 20, "floor_take": share(20)}
    made["pause"]["barge_in"] = [1 - value for value in made["pause"]["passed"]]
    made["turn_taking"]["turn_latency"] = [0.3 + place / 5 + i / 50 for i in range(20)]
    made["user_backchannel"]["derailed"] = [1 - value for value in made["user_backchannel"]["passed"]]
    made["interruption"]["injection_delay"] = [0.5 + place / 4 + i / 30 for i in range(20)]
    made["whisper"], made["volume"] = {"passed": share(10, 2)}, {"passed": share(10), "adapted": share(5, 3)}
    passed = [float(round(5 * (1 - place / (systems + 1))))] * 10
    made["groundedness"] = {
        "grounded": [value / 5 for value in passed], "probes_passed": passed, "probes_counted": [5.0] * 10,
        "coherence": [80.0 - 4 * place + i for i in range(10)], "probes_no_reply": [1.0] * 10,
        "probes_wrong_reply": [4.0 - value if value < 4 else 0.0 for value in passed], "probes_never_asked": [0.0] * 10,
        "probes_passed:recall": [min(value, 2.0) for value in passed], "probes_counted:recall": [2.0] * 10,
        "probes_passed:nonsense": [max(value - 2, 0.0) for value in passed], "probes_counted:nonsense": [3.0] * 10,
    }  # fmt: skip
    return made


def _items(draw: Any, ground: Ground, sounds: bool = False) -> list[Any]:
    """Return the page's items, with what each seat's columns hold; with ``sounds`` the first has its own."""
    made: list[Any] = []
    for seat in ground.seats:
        found: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for column in seat.measured.columns.values():
            if column.metric.family:
                continue
            for item, value, reason in zip(column.items, column.numbers, column.reasons, strict=True):
                found.setdefault((column.scenario.name, seat.measured.names[item]), []).append(
                    {"variant": ground.variant, "metric": column.metric.name, "value": None if reason else value,
                     "absent": reason, "why": "", "at": None, "unit": column.metric.unit}
                )  # fmt: skip
        for (scenario, name), facts in found.items():
            audio = "audio/0.flac" if sounds and not made else None
            made.append(draw.item(name, system=seat.system, scenario=scenario, task=scenario, facts=facts, audio=audio))
    return made


def _page(out: Path, draw: Any, ground: Any, names: list[str], sounds: bool = False, **seats: Any) -> Path:
    found = ground({name: _answers(n, len(names)) for n, name in enumerate(names)}, **seats)
    data = draw.data(
        title="Interactions", benchmark="interactionbench", variants=["page"], systems=names, estimates=found.rows,
        cards=cards(found), dimensions=dimensions(found),
    )  # fmt: skip
    write_page(out, data, _items(draw, found, sounds))
    return out


@pytest.fixture
def three(tmp_path: Path, draw: Any, ground: Any, stereo: Any) -> Path:
    """Write a page of three systems; the first item of the first has its sound."""
    return _page(tmp_path / "page.html", draw, ground, ["alpha", "beta", "cascade"], True, network=["beta"])


def _card(page: Any, title: str) -> Any:
    return page.locator(".card", has=page.get_by_role("heading", name=title, exact=True))


def test_a_card_tells_what_happens_and_ranks_the_systems(opened: Any, three: Path) -> None:
    seen = opened(three)
    card = _card(seen.page, "Pause")
    assert "stops to think" in card.inner_text() and "Listen for" in card.inner_text()
    assert card.locator("tbody th").all_inner_texts() == ["alpha", "beta includes network", "cascade"]
    assert "of 20" in card.locator("tbody tr").first.inner_text().replace("\xa0", " ")
    assert seen.said == []


def test_a_bar_is_as_long_as_its_value_and_says_its_interval(opened: Any, three: Path) -> None:
    bar = _card(opened(three).page, "Pause").locator("svg.bar").nth(1)
    whole, part = (bar.locator(one).bounding_box()["width"] for one in (".whole", ".part"))
    value = float(bar.get_attribute("aria-label").split(",")[0])
    assert part / whole == pytest.approx(value, abs=0.02)
    assert "95 % interval" in bar.get_attribute("aria-label")


def test_the_best_is_told_by_more_than_colour(opened: Any, three: Path) -> None:
    page = opened(three).page
    best = page.locator("#dimensions .best").first
    assert "★" in best.inner_text() and "best" in best.text_content()


def test_a_card_leads_to_its_items_by_outcome(opened: Any, three: Path) -> None:
    page = opened(three).page
    button = _card(page, "Pause").get_by_role("button", name="List failed")
    number = int(button.inner_text().split("(")[1].rstrip(")"))
    button.click()
    assert number and page.locator("#found").inner_text().startswith(f"{number} of ")
    assert set(page.locator("#list .row .where").all_inner_texts()) == {
        f"Pause · {name}" for name in ("alpha", "beta", "cascade")
    }
    assert page.locator("#f-metric").input_value() == "passed"
    assert {text.split()[-1] for text in page.locator("#list .row .verdict").all_inner_texts()} == {"no"}


def test_an_outcome_that_is_no_verdict_can_be_listed_too(opened: Any, three: Path) -> None:
    page = opened(three).page
    _card(page, "Groundedness").get_by_role("button", name="List conversations with a failed probe").click()
    assert page.locator("#found").inner_text().startswith("20 of ")


def test_the_first_that_fails_and_passes_of_each_system_stand_in_one_row(opened: Any, three: Path) -> None:
    page = opened(three).page
    card = _card(page, "Pause")
    card.get_by_text("Listen", exact=True).click()
    rows = card.locator(".hear-row:not(.heads)")
    rows.nth(2).locator("svg.strip").first.wait_for()
    assert rows.locator(".who").all_inner_texts() == ["alpha", "beta", "cascade"]
    wanted = page.evaluate("""() => document.querySelectorAll('.strip .overlap').length""")
    assert wanted > 0
    link = rows.nth(1).locator("a").first
    name = link.inner_text()
    link.click()
    assert page.locator("#item h3").inner_text().endswith(f"/{name}")
    assert "beta" in page.locator("#item .sub").inner_text()


def test_a_strip_plays_from_where_it_is_clicked_and_one_voice_at_a_time(opened: Any, three: Path) -> None:
    page = opened(three).page
    card = _card(page, "Backchannel")
    card.get_by_text("Listen", exact=True).click()
    example = card.locator(".example.passes").first
    strip = example.locator("svg.strip")
    strip.wait_for()
    box = strip.bounding_box()
    strip.click(position={"x": box["width"] / 2, "y": 5})
    playing = "() => document.querySelector('.example audio')?.currentTime > 3.05"
    page.wait_for_function(playing)
    at = float(example.locator(".at").get_attribute("x"))
    assert 3.0 <= at < 4.5
    page.locator("#item").get_by_role("button", name="Play").click()
    page.wait_for_function("() => document.querySelector('#item audio').currentTime > 0.1")
    assert page.evaluate("() => document.querySelector('.example audio').paused")


def test_twelve_systems_fit_the_page(opened: Any, tmp_path: Path, draw: Any, ground: Any) -> None:
    names = [f"system-{n}" for n in range(11)] + ["a-name-that-nobody-could-call-short-at-all-v2.1"]
    page = opened(_page(tmp_path / "page.html", draw, ground, names)).page
    assert _card(page, "Logic question").locator("tbody tr").count() == 12
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
        over = page.evaluate("""() => [...document.querySelectorAll('.card')].filter((card) =>
          [...card.querySelectorAll('*')].some((one) => !one.closest('.unseen') && !one.closest('svg') &&
            one.getBoundingClientRect().right > card.getBoundingClientRect().right + 1)).length""")
        assert over == 0


def test_one_system_has_cards_too(opened: Any, tmp_path: Path, draw: Any, ground: Any) -> None:
    seen = opened(_page(tmp_path / "page.html", draw, ground, ["alpha"]))
    assert seen.page.locator(".card").count() == 13
    assert seen.page.locator("#dimensions .best").count() == 0
    assert seen.said == []


def test_hostile_names_are_shown_as_they_are(opened: Any, tmp_path: Path, draw: Any, ground: Any) -> None:
    seen = opened(_page(tmp_path / "page.html", draw, ground, [HOSTILE, "beta"], network=[HOSTILE]))
    card = _card(seen.page, "Pause")
    card.get_by_text("Listen", exact=True).click()
    card.locator("svg.strip").first.wait_for()
    assert HOSTILE in card.locator("tbody th").first.inner_text()
    assert HOSTILE in card.locator(".who").first.inner_text()
    assert seen.page.title() == "Interactions" and seen.said == []


def test_a_card_belongs_to_its_variant(opened: Any, tmp_path: Path, draw: Any, ground: Any) -> None:
    names = ["alpha", "beta"]
    made: list[Ground] = [
        ground({name: _answers(n, 2) for n, name in enumerate(names)}, variant) for variant in ("page", "anchored")
    ]
    data = draw.data(
        variants=["page", "anchored"], systems=names, estimates=[row for one in made for row in one.rows],
        cards=[card for one in made for card in cards(one)],
        dimensions=[table for one in made for table in dimensions(one)],
    )  # fmt: skip
    write_page(tmp_path / "page.html", data, _items(draw, made[0]))
    page = opened(tmp_path / "page.html").page
    shown = page.locator(".card:visible")
    assert shown.count() == 13
    # No item has a fact under the other variant, so that nothing there can be listened to.
    assert page.locator(".card:visible .examples:visible").count() == 13
    page.locator("#variant").select_option("anchored")
    assert shown.count() == 13 and page.locator(".card:visible .examples:visible").count() == 0


def test_a_page_without_cards_has_no_such_section(opened: Any, tmp_path: Path, draw: Any) -> None:
    write_page(tmp_path / "page.html", draw.data(), [draw.item()])
    page = opened(tmp_path / "page.html").page
    assert page.locator("#cards, #dimensions").count() == 0
    assert page.get_by_role("link", name="Scenarios").count() == 0
