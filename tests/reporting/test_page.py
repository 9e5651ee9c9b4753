"""What is in the file of the page, without opening it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.errors import InputError
from fullduplex.reporting.page import PageItem, write_page
from fullduplex.reporting.page.tables import beside, panels

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028<!--\u202e\x1b[31m../../etc"


def _written(out: Path, *arguments: Any, **options: Any) -> str:
    write_page(out, *arguments, **options)
    return out.read_text(encoding="utf-8")


def _details(text: str, number: int = 0) -> Any:
    found = re.search(rf'<script type="application/json" id="item-{number}">(.*?)</script>', text)
    assert found
    return json.loads(found[1])


def test_an_item_comes_back_as_it_went_in(tmp_path: Path, draw: Any) -> None:
    item = draw.item()
    found = _details(_written(tmp_path / "page.html", draw.data(), [item]))
    assert found["facts"] == item.facts
    assert found["events"] == item.events
    assert found["tracks"] == item.tracks


def test_hostile_texts_neither_end_nor_open_an_element(tmp_path: Path, draw: Any) -> None:
    tracks = {"user": {"words": [[HOSTILE, 0, 1]], "speech": [], "words_from": HOSTILE, "speech_from": ""}}
    item = draw.item(HOSTILE, system=HOSTILE, scenario=HOSTILE, tracks=tracks)
    rows = [draw.estimate(system=HOSTILE, title=HOSTILE, absent={HOSTILE: 1})]
    plain = _written(tmp_path / "plain.html", draw.data(estimates=[draw.estimate()]), [draw.item()])
    data = draw.data(title=HOSTILE, benchmark=HOSTILE, systems=[HOSTILE], estimates=rows, about={HOSTILE: HOSTILE})
    text = _written(tmp_path / "page.html", data, [item])
    assert "<img" not in text
    assert text.count("<script") == plain.count("<script") and text.count("</script") == plain.count("</script")
    assert _details(text)["tracks"]["user"]["words"][0][0] == HOSTILE


def test_signs_that_are_not_seen_are_told_and_come_back_from_the_index(tmp_path: Path, draw: Any) -> None:
    names = ["moshi", "mo\u200bshi", "\u202eihsom\u2066"]
    rows = [draw.estimate(system=name, title=name) for name in names]
    data = draw.data(title=names[2], systems=names, estimates=rows, about={"remarks": names})
    text = _written(tmp_path / "page.html", data, [])
    assert not set("\u200b\u202e\u2066") & set(text) and r"mo\u200bshi" in text and r"<title>\u202eihsom" in text
    (index,) = re.findall(r'<script type="application/json" id="index">(.*?)</script>', text)
    assert json.loads(index)["systems"] == names


def test_half_a_surrogate_pair_in_a_name_can_be_written(tmp_path: Path, draw: Any) -> None:
    assert _written(tmp_path / "page.html", draw.data(title="\udcff"), [draw.item("\ud800")])


def test_the_policy_forbids_the_network(tmp_path: Path, draw: Any) -> None:
    text = _written(tmp_path / "page.html", draw.data(), [])
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert found
    policy = found[1]
    assert policy.startswith("default-src &#39;none&#39;")
    assert "http" not in policy and "unsafe" not in policy


@pytest.mark.parametrize(
    "address", ["https://a.example/b.flac", "//a.example/b", "/etc/passwd", "javascript:x", "\\\\a"]
)
def test_a_sound_that_is_not_beside_the_page_is_refused(tmp_path: Path, draw: Any, address: str) -> None:
    with pytest.raises(InputError, match="relative to the page"):
        write_page(tmp_path / "page.html", draw.data(), [draw.item(audio=address)])


def test_a_page_that_fails_leaves_the_old_one(tmp_path: Path, draw: Any) -> None:
    def broken() -> Iterator[PageItem]:
        yield draw.item()
        raise KeyboardInterrupt

    (tmp_path / "page.html").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_page(tmp_path / "page.html", draw.data(), broken())
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "old"


def test_a_value_that_is_not_a_number_is_refused(tmp_path: Path, draw: Any) -> None:
    fact = draw.item().facts[0] | {"value": float("nan")}
    with pytest.raises(ValueError, match="JSON"):
        write_page(tmp_path / "page.html", draw.data(), [draw.item(facts=[fact])])


def test_an_embedded_sound_is_in_the_page_as_opus(tmp_path: Path, draw: Any) -> None:
    both = np.zeros((16_000, 2), np.float32)
    audio.write(tmp_path / "0.flac", both, 16_000)
    text = _written(
        tmp_path / "page.html", draw.data(), [draw.item()], embed={"alpha/turn-taking/0": tmp_path / "0.flac"}
    )
    assert 'id="sound-0">"data:audio/ogg;codecs=opus;base64,T2dnUw' in text


def test_only_the_items_that_are_named_are_embedded(tmp_path: Path, draw: Any) -> None:
    text = _written(tmp_path / "page.html", draw.data(), [draw.item()], embed={"alpha/other/0": tmp_path / "0.flac"})
    assert 'id="sound-' not in text


def test_a_page_without_anything_says_so(tmp_path: Path, draw: Any) -> None:
    text = _written(tmp_path / "page.html", draw.data(estimates=[], variants=[], systems=[]), [])
    assert "Nothing was measured." in text
    assert "There are no items here." in text
    assert "Nothing was noted." in text


def test_a_remark_is_told_once(tmp_path: Path, draw: Any) -> None:
    text = _written(tmp_path / "page.html", draw.data(about={"remarks": ["one file was skipped"]}), [])
    assert text.count("one file was skipped") == 1


def test_every_table_of_results_names_its_variant_and_what_it_rests_on(tmp_path: Path, draw: Any) -> None:
    text = _written(tmp_path / "page.html", draw.data(), [])
    assert "<strong>bench-1@paper</strong> · rests on voice activity" in text
    assert "<strong>bench-1@released</strong> · rests on voice activity" in text


def test_a_result_stands_with_its_interval_n_and_reasons(tmp_path: Path, draw: Any) -> None:
    text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", _written(tmp_path / "page.html", draw.data(), [])))
    assert "0.420 [0.310, 0.550] 118 2 absent: 2 × no turn taken" in text


def test_papers_figures_stand_in_a_table_of_their_own(tmp_path: Path, draw: Any) -> None:
    row = {"system": "beta", "source": "A paper", "variant": "paper", "scenario": "turn-taking", "metric": "latency",
           "value": 9.876}  # fmt: skip
    text = _written(tmp_path / "page.html", draw.data(published=[row]), [])
    for table in re.findall(r"<table.*?</table>", text, re.S):
        assert ("9.876" in table) == ('class="published"' in table)
    assert "None was measured in this run." in text


def _best(draw: Any, better: str, *values: float | None) -> list[bool]:
    systems = [f"s{i}" for i in range(len(values))]
    rows = [draw.estimate(system=s, value=v, better=better) for s, v in zip(systems, values, strict=True)]
    line = panels(draw.data(systems=systems, estimates=rows))[0]["groups"][0]["rows"][0]
    return [cell["best"] for cell in line["cells"]]


def test_the_best_system_follows_the_better_direction(draw: Any) -> None:
    assert _best(draw, "lower", 0.2, 0.4, 0.4) == [True, False, False]
    assert _best(draw, "higher", 0.2, 0.4, 0.4) == [False, True, True]


def test_nothing_is_best_without_a_direction_a_rival_or_a_difference(draw: Any) -> None:
    assert not any(_best(draw, "neither", 0.2, 0.4))
    assert not any(_best(draw, "lower", 0.2, None))
    assert not any(_best(draw, "lower", 0.2, 0.2))


def test_variants_stand_side_by_side_with_the_rule_that_moved_a_value(draw: Any) -> None:
    moved = {"system": "alpha", "scenario": "turn-taking", "metric": "latency", "values": {}, "rule": "a longer gap"}
    (line,) = beside(draw.data(moved=[moved]))
    assert [cell["text"] for cell in line["cells"]] == ["0.420", "0.520"]
    assert [cell["moved"] for cell in line["cells"]] == [False, True]
    assert line["rule"] == "a longer gap"


def test_what_the_leading_variant_does_not_measure_is_not_called_moved(draw: Any) -> None:
    (line,) = beside(draw.data(estimates=[draw.estimate(variant="released")]))
    assert [cell["n"] for cell in line["cells"]] == [None, 118]
    assert not any(cell["moved"] for cell in line["cells"])


def test_one_variant_has_nothing_beside_it(draw: Any) -> None:
    assert beside(draw.data(variants=["paper"])) == []
