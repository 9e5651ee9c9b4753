"""Every rule's edge, one millisecond to either side, through the whole chain and under every variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conducts import (
    BEGINS,
    ENDS,
    PAUSE,
    TRIGGER_ENDS,
    VARIANTS,
    Case,
    Facts,
    Line,
    call,
    case,
    exact_chain,
    facts,
    first,
    into,
    judged,
    run,
)

ANSWER = "right that is what it is"
LONG = "so there was a very long story that goes on and on"
#: What comes of an item: under the page's rules and all that are not named, and under those that are.
Expected = Mapping[str, float | str]
#: An item, the metric that is looked at, and what it comes to.
Edge = tuple[Case, str, Expected]
EDGES: dict[str, Edge] = {}


def edge(name: str, item: Case, value: float | str, metric: str = "passed", **variants: float | str) -> None:
    """Add an edge: ``value`` under the page's rules and every variant that is not in ``variants``."""
    others = {variant.replace("_", "-"): one for variant, one in variants.items()}
    # The rules that are lenient in both do what each of them alone does.
    for one in {"lenient-pause", "early-300"} & set(others):
        others["lenient"] = others[one]
    EDGES[f"{item.scenario}/{name}"] = (replace(item, quiet=3.0), metric, {"page": value} | others)


def answered(scenario: str, start: int, text: str = ANSWER, lasts: int = 1200) -> Case:
    return case(scenario, Line(start, start + lasts, text))


for scenario in ("grammar", "keyword_wait"):
    for lag, passed in ((49, 0), (50, 1), (300, 1), (301, 0)):
        edge(f"{lag} ms", answered(scenario, TRIGGER_ENDS + lag, "right", 500), passed)
    # The user's last word ends 0.1 s after the trigger word.
    for lag, passed in ((99, 1), (100, 0)):
        short = answered(scenario, TRIGGER_ENDS + lag, "right", 500)
        edge(f"overlap {lag} ms", replace(short, cues=(first(TRIGGER_ENDS + 100 - BEGINS),)), passed)
    late_too = case(scenario, Line(2400, 2600, "okay"), Line(3300, 3800, "right"))
    edge("a correction after an okay", late_too, 0, "content")

for lag, timely in ((199, 0), (200, 1), (600, 1), (601, 0)):
    edge(f"window {lag} ms", answered("stay_quiet", ENDS + lag), timely, "timing")
    edge(f"passes at {lag} ms", answered("stay_quiet", ENDS + lag), 1)
for lag, apart in ((-51, 0), (-50, 1)):
    edge(f"overlap {lag} ms", answered("stay_quiet", ENDS + lag), apart, "overlap")
# The last word of the question begins half a second before its end.
for before, quiet in ((501, 0), (500, 1)):
    edge(f"silent until {before} ms before", answered("stay_quiet", ENDS - before), quiet)

for lag, passed in ((99, 0), (100, 1), (399, 1), (400, 1), (401, 0)):
    counts = (Line(1000 + lag, 2000 + lag, "two"), Line(3250 + lag, 4250 + lag, "four"))
    # The user's next number comes half a second after the system's, and lasts as long.
    edge(f"first {lag} ms", case("alternating_count", *counts, Line(5500 + lag, 6500 + lag, "six")), passed)
    last = Line(5500 + lag, 6500 + lag, "six")
    edge(f"last {lag} ms", case("alternating_count", Line(1250, 2250, "two"), Line(3500, 4500, "four"), last), passed)
edge("a wrong number", case("alternating_count", Line(1250, 2250, "two"), Line(3500, 4500, "five"),
                            Line(5750, 6750, "six")), 0)  # fmt: skip

for lag, page, at_150, at_300 in (
    (-50, 1, 1, 1), (-51, 0, 1, 1), (-150, 0, 1, 1), (-151, 0, 0, 1), (-300, 0, 0, 1), (-301, 0, 0, 0),
    (2500, 1, 1, 1), (2501, 0, 0, 0),
):  # fmt: skip
    edge(f"{lag} ms", answered("turn_taking", ENDS + lag), page, early_150=at_150, early_300=at_300)
greets = case("turn_taking", Line(1000, 1500, "hello there"), Line(ENDS + 250, ENDS + 1500, ANSWER))
edge("a greeting within the turn", greets, 0, anchored=1)
for lag, page, at_150, at_300 in ((-50, 1, 1, 1), (-51, 0, 1, 1)):
    breathes = Line(ENDS + lag - 40, ENDS + 1500, ANSWER, worded=(ENDS + lag, ENDS + 1500))
    edge(f"a breath and a word at {lag} ms", case("turn_taking", breathes), page,
         anchored=0, early_150=at_150, early_300=at_300)  # fmt: skip

after_it = Line(ENDS + 250, ENDS + 1500, ANSWER)
edge("101 ms before", case("pause", Line(PAUSE[0] - 101, PAUSE[0] + 200, "mhm"), after_it), 1)
edge("100 ms before", case("pause", Line(PAUSE[0] - 100, PAUSE[0] + 200, "mhm"), after_it), 0, lenient_pause=1)
edge("1 ms before its end", case("pause", Line(PAUSE[1] - 1, PAUSE[1] + 300, "mhm"), after_it), 0)
edge("at its end", case("pause", Line(PAUSE[1], PAUSE[1] + 300, "mhm")), 1, anchored=0)
for words, lenient in ((4, 1), (5, 0)):
    said = Line(1700, 2700, " ".join(["go", "on", "please", "do", "so"][:words]))
    edge(f"{words} words", case("pause", said, after_it), 0, lenient_pause=lenient)
for over, lenient in ((0, 1), (1, 0)):
    said = Line(2500, PAUSE[1] + over, "go on please do")
    edge(f"ends {over} ms after it", case("pause", said, after_it), 0, lenient_pause=lenient)
for gap, lenient in ((600, 0), (601, 1)):
    parts = (Line(1550, 1900, "go on please"), Line(1900 + gap, 2900, "go on please"))
    edge(f"six words with {gap} ms between", case("pause", *parts, after_it), 0, lenient_pause=lenient)

gives = Line(2000, 2400, "mhm")
for start, page, anchored in ((6450, 0, 0), (6451, 0, 1), (6900, 0, 1), (6901, 1, 1)):
    edge(f"response at {start} ms", case("backchannel", gives, Line(start, start + 1500, ANSWER)), page,
         anchored=anchored)  # fmt: skip
responds = Line(7200, 8500, ANSWER)
for lasts, words, passed in ((3000, 10, 1), (3001, 10, 0), (3000, 11, 0)):
    said = Line(1000, 1000 + lasts, " ".join(["mhm"] * words))
    edge(f"{words} words of {lasts} ms", case("backchannel", said, responds), passed)

once = case("user_backchannel")
once = replace(once, cues=(first(), into("b0", 1000, 400, "mhm")))
once = replace(once, expects=once.expects[:1])
for end, passed in ((7000, 0), (7001, 1)):
    edge(f"talks until {end} ms", replace(once, lines=(Line(4000, end, LONG),)), passed)
edge("was silent when it began", replace(once, lines=(Line(4000, 5000, LONG),)), "not exercised")
edge("was heard when it began", replace(once, lines=(Line(4000, 5001, LONG),)), 0)
for gap, page, anchored in ((500, 1, 1), (501, 1, 0), (600, 1, 0), (601, 0, 0)):
    said_on = (Line(4000, 5200, LONG), Line(5200 + gap, 9000, LONG))
    edge(f"goes on after {gap} ms", replace(once, lines=said_on), page, anchored=anchored)
anyway = (Line(4000, 5200, LONG), Line(6400, 9000, "so anyway it goes on"))
edge("goes on as the judge says", replace(once, lines=anyway), 1)


def interrupted(stops: int, start: int, lasts: int = 1500, text: str = ANSWER) -> Case:
    """Return an answer from 4 s that stops when it does; the interruption is from 5 s to 6.5 s."""
    return case("interruption", Line(4000, stops, LONG), Line(start, start + lasts, text))


for start, page in ((6299, 0), (6300, 1)):
    edge(f"reply {6500 - start} ms before its end", interrupted(5300, start), page, anchored=1)
for start, anchored in ((5499, 0), (5500, 1)):
    edge(f"reply {6500 - start} ms before its end", interrupted(4990, start, 2200), 0, anchored=anchored)
for text, lasts, page in (
    ("right it is", 900, 0), ("right it is so", 900, 1), ("right it is", 1000, 0), ("right it is", 1001, 1),
):  # fmt: skip
    edge(f"{len(text.split())} words of {lasts} ms", interrupted(5300, 6900, lasts, text), page, anchored=1)
for stops, passed in ((7500, 1), (7501, 0)):
    edge(f"stops at {stops} ms", interrupted(stops, 8300), passed)
late = (first(), into("u1", 1500, 1500, "wait what about this"))
for stops, exercised in ((4499, 0), (4500, 1)):
    edge(f"was heard until {5500 - stops} ms before", replace(interrupted(stops, 7300), cues=late), exercised,
         "exercised")  # fmt: skip

# Of what began earlier only the words that are heard after the end belong to the answer.
for before, passed in ((1000, 1), (1001, 0)):
    edge(f"begins {before} ms before", answered("logic", ENDS - before, lasts=2500), passed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give the run of all edges, judged."""
    root = tmp_path_factory.mktemp("edges")
    with exact_chain(root / "cache"):
        made = run(root, {name: item for name, (item, *_) in EDGES.items()}, root / "run", "edges")
        for variant in ("anchored", ""):
            judged(made, root / "cache", variant)
        call("measure", made)
        yield made


@pytest.fixture(scope="module")
def measured(folder: Path) -> Facts:
    return facts(folder)


@pytest.mark.parametrize("name", EDGES)
def test_each_rule_has_its_edge_where_it_says(measured: Facts, name: str) -> None:
    _, metric, expected = EDGES[name]
    found = {variant: measured[variant, name, metric] for variant in VARIANTS}
    assert found == {variant: expected.get(variant, expected["page"]) for variant in VARIANTS}
