"""Items that metrics with a heading list: with their reasons, in the report and on the page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fullduplex.benchmarks.declare import Benchmark, Hearing, Scenario
from fullduplex.measures.metric import Metric
from fullduplex.model.spec import Spec
from fullduplex.model.trials import Absent, Fact
from fullduplex.reporting.listed import MOST, listings, listings_markdown
from fullduplex.reporting.page import write_page
from fullduplex.reporting.page.tables import address
from fullduplex.runs.measured import Column, Measured
from fullduplex.runs.run import Run

Facts = list[Fact | Absent]


def pair(
    system: str, by_variant: dict[str, Facts], *, listed: str = "Replies that are dropped"
) -> tuple[Run, Measured]:
    metric = Metric("dropped", lambda trial: Absent("failed"), "neither", "share", "rate", listed=listed)
    scenario = Scenario("talks", "talks", "talks", (metric,))
    hearing = Hearing("silero", Spec("silero"))
    made = Measured([Benchmark("bench", "1", variant, "", (scenario,), hearing) for variant in by_variant])
    made.names = [f"{n:03}" for n in range(max(map(len, by_variant.values())))]
    for variant, facts in by_variant.items():
        column = Column(variant, scenario, metric)
        for n, fact in enumerate(facts):
            column.add(n, fact)
        made.columns[variant, "talks", "dropped"] = column
    return cast(Run, SimpleNamespace(system=system)), made


SOME: Facts = [Fact(1, why="said nothing else"), Fact(0), Absent("not judged"), Fact(1, why="<b>`loud`</b>")]


def test_only_items_whose_value_is_not_0_are_listed_with_their_reasons() -> None:
    (one,) = listings([pair("alpha", {"page": SOME})])
    assert (one["system"], one["heading"], one["n"]) == ("alpha", "Replies that are dropped", 2)
    assert [(row["item"], row["why"]) for row in one["rows"]] == [
        ("000", "said nothing else"),
        ("003", "<b>`loud`</b>"),
    ]


def test_a_metric_without_a_heading_lists_nothing() -> None:
    assert listings([pair("alpha", {"page": SOME}, listed="")]) == []


def test_a_heading_without_an_item_is_left_out() -> None:
    assert listings([pair("alpha", {"page": [Fact(0), Absent("failed")]})]) == []
    assert listings_markdown([]) == ""


def test_variants_that_list_alike_share_a_list_and_others_are_named() -> None:
    assert len(listings([pair("alpha", {"page": SOME, "paper": SOME})])) == 1
    other: Facts = [Fact(1, why="said nothing else")]
    text = listings_markdown(listings([pair("alpha", {"page": SOME, "paper": other})]))
    assert "## alpha, page: Replies that are dropped (2)" in text
    assert "## alpha, paper: Replies that are dropped (1)" in text


def test_the_report_says_each_reason_harmlessly() -> None:
    text = listings_markdown(listings([pair("<i>a", {"page": SOME})]))
    assert "## &lt;i&gt;a: Replies that are dropped (2)" in text
    assert "- talks/000: said nothing else" in text
    assert "- talks/003: &lt;b&gt;\\`loud\\`&lt;/b&gt;" in text


@pytest.mark.parametrize(("n", "told"), [(MOST, ""), (MOST + 1, "- and 1 more")])
def test_a_list_says_what_it_leaves_out(n: int, told: str) -> None:
    text = listings_markdown(listings([pair("alpha", {"page": [Fact(1, why="so")] * n})]))
    assert text.count("- talks/") == MOST
    assert (told in text) if told else "more" not in text


def test_an_address_encodes_each_name() -> None:
    assert address(["a/b", "Ω", "x\ud800<"]) == "#a%2Fb/%CE%A9/x%EF%BF%BD%3C"


def test_a_row_on_the_page_opens_its_item(tmp_path: Path, draw: Any, opened: Any) -> None:
    lists = listings([pair("alpha", {"paper": [Fact(0), Fact(1, why="said <u>nothing</u>")]})])
    lists[0]["rows"][0] |= {"scenario": "turn-taking", "item": "a/1"}
    out = tmp_path / "report.html"
    write_page(out, draw.data(listed=lists), [draw.item("0"), draw.item("a/1")])
    page = opened(out).page
    assert page.inner_text("#item h3") == "turn-taking/0"
    assert "said <u>nothing</u>" in page.inner_text("#listed")
    page.click("#listed tbody a")
    page.wait_for_selector("#item h3:text-is('a/1')")
