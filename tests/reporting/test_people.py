"""What is told of people beside systems: tables, the page, distances, and the table of language match."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fullduplex.errors import InputError, RunError
from fullduplex.measures.metric import Metric
from fullduplex.model.trials import Absent, Trial
from fullduplex.reporting.among_people import among_people, among_people_markdown, optimum
from fullduplex.reporting.mismatch import about_system, mismatch_markdown, mismatch_rows
from fullduplex.reporting.people_charts import shares
from fullduplex.reporting.people_page import statistics_html
from fullduplex.reporting.people_text import statistics_markdown
from fullduplex.runs.run import Run
from fullduplex.stages import Asked, Scored, score

HOSTILE = "<script>alert(1)</script> | `x` [y](javascript:z)"


def estimate(**given: Any) -> dict[str, Any]:
    row = {
        "statistic": "median_gap", "title": "Median length of gaps", "of": "of all of them", "unit": "s",
        "value": 0.25, "low": 0.2, "high": 0.3, "n": 9, "method": "bootstrap", "unreliable": "",
    }  # fmt: skip
    return row | given


def corpus(name: str, **given: Any) -> dict[str, Any]:
    counts = [0] * 122
    counts[45] = 4
    drawn = {"n": 4, "bin": 0.05, "lowest": -2.0, "highest": 4.0, "counts": counts}
    made = {
        "name": name, "people": True, "source": {"corpus": "drawn"}, "conversations": 9, "drawn": 9, "minutes": 3.0,
        "told_by": {"words": 9}, "abutting": None, "unreliable_offsets": "", "estimates": [estimate()],
        "distributions": dict.fromkeys(("transfer", "pause", "gap", "overlap", "unit"), drawn), "remarks": [],
        "failed": [],
    }  # fmt: skip
    return made | given


def told(*corpora: dict[str, Any], **given: Any) -> dict[str, Any]:
    made = {
        "schema": 1, "fullduplex": "0", "seed": 0, "resamples": 2000, "unit_ends_after": 0.2,
        "held_against": corpora[0]["name"], "corpora": list(corpora), "standings": [], "distances": [],
    }  # fmt: skip
    return made | given


def placed(**given: Any) -> dict[str, Any]:
    row = {
        "system": "one", "statistic": "median_gap", "title": "Median length of gaps", "of": "", "unit": "s",
        "value": 0.4, "percentile": 87.5, "low": 0.1, "median": 0.25, "high": 0.5, "n": 8, "absent": "",
        "unreliable": "",
    }  # fmt: skip
    return row | given


class Tags(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen = list[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)


def test_a_number_stands_with_its_interval_and_its_denominator() -> None:
    text = statistics_markdown(told(corpus("people")))
    assert "| Median length of gaps, of all of them (s) | 0.250 [0.200, 0.300] |" in text


def test_a_number_on_edges_that_nobody_measured_is_marked_and_said_why() -> None:
    cut = corpus("chat", unreliable_offsets="9 of 10 transfers abut", estimates=[estimate(unreliable="9 of 10")])
    text = statistics_markdown(told(cut))
    assert "0.250† [0.200, 0.300]" in text
    assert "† chat: 9 of 10 transfers abut. What lies between turns means nothing there." in text


def test_a_percentile_stands_with_peoples_own_range_and_number() -> None:
    text = statistics_markdown(told(corpus("people"), corpus("one", people=False), standings=[placed()]))
    assert "| one | 0.400 | 88 | 0.250 [0.100, 0.500] | 8 |" in text


def test_no_percentile_is_said_once_and_never_printed_as_a_number() -> None:
    none = placed(percentile=None, low=None, median=None, high=None, absent="fewer than 5 conversations of people", n=2)
    text = statistics_markdown(told(corpus("people"), corpus("one", people=False), standings=[none]))
    assert text.count("fewer than 5 conversations of people") == 1
    assert "Where each lies" not in text


def test_items_beside_whole_conversations_are_warned_of() -> None:
    whole, items = corpus("people"), corpus("one", source={"run": "one.run"})
    assert "hold a run against people" in statistics_markdown(told(whole, items))
    assert "hold a run against people" not in statistics_markdown(told(items, items))
    assert "hold a run against people" in statistics_html(told(whole, items))


def test_names_of_others_are_shown_and_do_nothing() -> None:
    failed = [{"conversation": HOSTILE, "error": HOSTILE}]
    object_ = told(
        corpus(HOSTILE, remarks=[HOSTILE], failed=failed), corpus("b", people=False), standings=[placed(system=HOSTILE)]
    )
    page = statistics_html(object_)
    assert "script" not in Tags(page).seen
    text = statistics_markdown(object_)
    assert "<script" not in text
    assert not re.search(r"(?<!\\)\]\(javascript", text)


def test_the_page_fetches_nothing() -> None:
    page = statistics_html(told(corpus("people")))
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    assert "default-src 'none'" in page


def test_a_drawing_rises_where_the_values_are() -> None:
    counts = [0] * 122
    counts[1 + 40] = 3  # 0.00 to 0.05 s
    counts[1 + 60] = 1  # 1.00 to 1.05 s
    drawing = shares([("x", {"n": 4, "bin": 0.05, "lowest": -2.0, "highest": 4.0, "counts": counts})], "gap")
    points = re.search(r'points="([^"]+)"', drawing)
    assert points is not None
    heights = [float(point.partition(",")[2]) for point in points[1].split()]
    below, all_ = 230 - 56, 12
    assert heights[0] == below
    assert heights[1] == heights[20] == round(below - 0.75 * (below - all_), 1)
    assert heights[-1] == all_


def test_a_corpus_without_values_has_no_line() -> None:
    none = {"n": 0, "bin": 0.05, "lowest": -2.0, "highest": 4.0, "counts": [0] * 122}
    assert "polyline" not in shares([("x", none)], "gap")


def _nothing(_: Trial) -> Absent:
    return Absent("nothing")


@pytest.mark.parametrize(
    ("metric", "best"),
    [
        (Metric("tor", _nothing, "higher", "share", "rate"), 1.0),
        (Metric("tor", _nothing, "lower", "share", "rate"), 0.0),
        (Metric("rating", _nothing, "higher", "0-5"), 5.0),
        (Metric("latency", _nothing, "lower", "s"), 0.0),
        (Metric("frequency", _nothing, "neither", "1/s"), None),
        (Metric("snr", _nothing, "higher", "dB"), None),
    ],
)
def test_the_optimum_is_the_best_that_a_metric_can_have(metric: Metric, best: float | None) -> None:
    assert optimum(metric) == best


def scored(root: Path, name: str, delays: list[float], *, people: bool = False) -> Scored:
    """Score interruptions of six conversations, answered so many seconds after their end."""
    for n, delay in enumerate(delays):
        item = root / name / "user_interruption" / f"{n}_{n:024x}"
        item.mkdir(parents=True)
        event = {"context": "Rome.", "interrupt": "Paris?", "timestamp": [1.0, 2.0]}
        (item / "interrupt.json").write_text(json.dumps([event]))
        chunks = [{"text": w, "timestamp": [2 + delay + 0.4 * k, 2.3 + delay + 0.4 * k]} for k, w in enumerate("abcd")]
        (item / "output.json").write_text(json.dumps({"text": "a b c d", "chunks": chunks}))
    asked = Asked("fdb-french@anchored", system=name, recogniser="recorded", language="fr")
    (made,) = score(root / name, root / f"{name}.run", asked, cache=root / "cache")
    if not people:
        return made
    about = {**made.run.about, "people": {"rules": "french-callfc"}}
    return Scored(Run(made.run.path, about), made.measured, made.failed)


def test_a_system_has_two_distances_and_a_place_among_people(tmp_path: Path) -> None:
    theirs = scored(tmp_path, "people", [0.2, 0.3, 0.4, 0.5, 0.6, 0.7], people=True)
    its = scored(tmp_path, "slow", [0.8] * 6)
    rows = {row["metric"]: row for row in among_people([(o.run, o.measured) for o in (its, theirs)])}
    latency = rows["latency"]
    assert (latency["value"], latency["people"]) == (pytest.approx(0.8), pytest.approx(0.45))
    assert (latency["to_optimum"], latency["people_to_optimum"]) == (pytest.approx(0.8), pytest.approx(0.45))
    assert (latency["to_people"], latency["pairs"]) == (pytest.approx(0.35), 6)
    assert latency["to_people_low"] < 0.35 < latency["to_people_high"]
    assert (latency["percentile"], latency["conversations"]) == (100.0, 6)
    assert rows["tor"]["to_optimum"] == 0
    text = among_people_markdown([(o.run, o.measured) for o in (its, theirs)])
    assert "| slow | User interruption | Latency ↓ | 0.800 (n 6) | 0.450 (n 6) | 0.000 | +0.800 | +0.450 |" in text


def test_the_repeats_of_an_item_are_held_against_people_by_their_mean(tmp_path: Path) -> None:
    theirs = scored(tmp_path, "people", [0.2] * 6, people=True)
    its = scored(tmp_path, "slow", [0.4] * 6 + [0.8] * 6)
    its.measured.names[6:] = [f"{name} (repeat 2)" for name in its.measured.names[:6]]
    (row,) = (r for r in among_people([(o.run, o.measured) for o in (its, theirs)]) if r["metric"] == "latency")
    assert (row["value"], row["to_people"], row["pairs"]) == (pytest.approx(0.6), pytest.approx(0.4), 6)


def test_without_people_there_is_no_such_table(tmp_path: Path) -> None:
    its = scored(tmp_path, "slow", [0.8, 0.9])
    assert among_people_markdown([(its.run, its.measured)]) == ""


def run_of(name: str, benchmark: str = "fdb-french", variant: str = "paper", **about: Any) -> Run:
    told = {"name": benchmark, "version": "1", "variants": [variant]}
    return Run(Path(f"{name}-{benchmark}.run"), {"benchmark": told, "system": name, **about})


def row_of(value: float, scenario: str = "media_pause_handling", **given: Any) -> dict[str, Any]:
    row = {
        "scenario": scenario, "scenario_title": "Pause handling, MEDIA", "metric": "tor", "title": "TOR",
        "unit": "share", "better": "lower", "value": value, "low": value - 0.1, "high": value + 0.1, "n": 9,
        "absent": {}, "rests_on": "voice activity", "family": "",
    }  # fmt: skip
    return row | given


def driven(preset: str) -> dict[str, Any]:
    return {"system": {"name": "cascade", "options": {"preset": preset}}}


def test_systems_stand_by_match_then_architecture_with_people_last() -> None:
    runs = [
        (run_of("people", people={"rules": "french-media"}), 0.1, "", ""),
        (run_of("english", driven=driven("offline-en")), 0.4, "", ""),
        (run_of("duplex"), 0.5, "en", "end-to-end"),
        (run_of("french", driven=driven("french-fdb-fr")), 0.3, "", ""),
    ]
    rows = mismatch_rows((run, [row_of(x)], about_system(run, lang, kind)) for run, x, lang, kind in runs)
    text = mismatch_markdown(rows)
    lines = [line for line in text.splitlines() if "fdb-french, media (fr)" in line]
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines] == [
        "matched, cascade", "mismatched, end-to-end", "mismatched, cascade", "human",
    ]  # fmt: skip
    assert "0.300 [0.200, 0.400] 9" in lines[0]


def test_one_system_is_matched_on_one_benchmark_and_not_on_the_other() -> None:
    runs = [run_of("duplex"), run_of("duplex", "fdb-1.0")]
    scenarios = ["media_pause_handling", "candor_pause_handling"]
    about = [about_system(run, "en", "end-to-end") for run in runs]
    rows = mismatch_rows(zip(runs, ([row_of(0.5, s)] for s in scenarios), about, strict=True))
    assert [(row["match"], row["corpus"], row["task"]) for row in rows] == [
        ("mismatched", "media", "pause_handling"), ("matched", "candor", "pause_handling"),
    ]  # fmt: skip


def test_runs_of_one_name_keep_their_own_numbers() -> None:
    first, second = run_of("cascade", driven=driven("offline-fr")), run_of("cascade", driven=driven("offline-en"))
    second = Run(Path("en/other.run"), second.about)
    elsewhere = Run(Path("callfr.run"), first.about)
    scenarios = {0.25: "media_pause_handling", 0.5: "media_pause_handling", 0.75: "callfc_pause_handling"}
    runs = zip((first, second, elsewhere), scenarios.items(), strict=True)
    rows = mismatch_rows((run, [row_of(value, scenario)], about_system(run)) for run, (value, scenario) in runs)
    lines = {line.split(" | ")[1]: line for line in mismatch_markdown(rows).splitlines() if "| cascade" in line}
    assert set(lines) == {"cascade (cascade-fdb-french.run)", "cascade (other.run)", "cascade (callfr.run)"}
    assert "0.250 [0.150, 0.350] 9" in lines["cascade (cascade-fdb-french.run)"]
    assert "0.500 [0.400, 0.600] 9" in lines["cascade (other.run)"]
    assert "callfc (fr)" in lines["cascade (callfr.run)"]
    assert "0.750 [0.650, 0.850] 9" in lines["cascade (callfr.run)"]


def test_people_speak_the_language_that_their_run_was_scored_in() -> None:
    run = run_of("people", "fdb-1.0", people={"rules": "fdb-1.0"}, language="de")
    (row,) = mismatch_rows([(run, [row_of(0.5, "candor_pause_handling")], about_system(run))])
    assert (row["items_language"], row["system_language"]) == ("de", "de")


def test_a_run_given_twice_is_refused() -> None:
    run = run_of("a")
    about = about_system(run, "en", "cascade")
    with pytest.raises(RunError, match="given twice"):
        mismatch_rows([(run, [row_of(0.5)], about), (run, [row_of(0.5)], about)])


@pytest.mark.parametrize("code", ["xx", "klingon", "f", "<script>", "ééé"])
def test_what_is_no_language_is_refused(code: str) -> None:
    with pytest.raises(InputError, match="--system-language"):
        about_system(run_of("duplex"), code, "cascade")


def test_a_language_may_be_told_by_three_letters_or_with_a_region() -> None:
    told = [about_system(run_of("duplex"), code, "cascade").language for code in ("fra", "fr-CA", "FR")]
    assert told == ["fr", "fr", "fr"]


@pytest.mark.parametrize(("language", "kind", "lacks"), [("en", "", "--architecture"), ("", "cascade", "--system-l")])
def test_what_a_run_does_not_tell_of_its_system_is_asked_for(language: str, kind: str, lacks: str) -> None:
    with pytest.raises(InputError, match=lacks):
        about_system(run_of("duplex"), language, kind)


def test_an_architecture_that_there_is_not_is_refused() -> None:
    with pytest.raises(InputError, match="end-to-end or cascade or human"):
        about_system(run_of("duplex"), "en", "half-duplex")


def test_runs_under_different_rules_never_share_the_table() -> None:
    runs = [run_of("a"), run_of("b", variant="anchored")]
    with pytest.raises(RunError, match="score all alike"):
        mismatch_rows((run, [row_of(0.5)], about_system(run, "en", "cascade")) for run in runs)


def test_a_benchmark_of_no_language_is_refused() -> None:
    run = run_of("a", "interactionbench")
    with pytest.raises(RunError, match="no language"):
        mismatch_rows([(run, [row_of(0.5)], about_system(run, "en", "cascade"))])


def test_a_missing_value_says_why() -> None:
    run = run_of("a")
    rows = mismatch_rows([(run, [row_of(0) | {"value": None, "absent": {"no output": 9}}],
                           about_system(run, "en", "cascade"))])  # fmt: skip
    assert "— (9 × no output)" in mismatch_markdown(rows)
