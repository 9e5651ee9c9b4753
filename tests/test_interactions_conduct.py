"""Systems of known conduct are driven, heard, judged and measured: each gets the verdicts that the rules give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from tests.conducts import (
    ENDS,
    TRIGGER_ENDS,
    VARIANTS,
    Case,
    Facts,
    Line,
    call,
    case,
    estimate,
    exact_chain,
    facts,
    judged,
    run,
)

LONG = "so there was a very long story that goes on and on " * 2
ANSWER = "right that is what it is"
NOT_EXERCISED = "not exercised"


def replies(lag: int, lasts: int = 1200) -> dict[str, tuple[Line, ...]]:
    """Return right answers, each ``lag`` after the user's end, in the scenarios of several turns."""
    found: dict[str, list[Line]] = {"alternating_count": [], "groundedness": []}
    for scenario, cue, quiet in (("alternating_count", 500, 500), ("groundedness", 1000, 1500)):
        end = 500 + cue
        for number in ("two", "four", "six"):
            said = Line(end + lag, end + lag + lasts, number if cue == 500 else ANSWER)
            found[scenario].append(said)
            end = said.end + quiet + cue
    return {scenario: tuple(lines) for scenario, lines in found.items()}


def answering(lag: int, answer: str = ANSWER) -> dict[str, tuple[Line, ...]]:
    """Return a system that does all as it is asked, its answers ``lag`` after what they answer."""
    after = Line(ENDS + lag, ENDS + lag + 1500, answer)
    interjection = Line(TRIGGER_ENDS + lag, TRIGGER_ENDS + lag + 700, "right")
    heard = ENDS + lag + 1000  # the interruption, and the first backchannel
    stops = heard + lag + 400
    return {
        **dict.fromkeys(("pause", "turn_taking", "stay_quiet", "logic", "countdown", "whisper", "volume"), (after,)),
        **dict.fromkeys(("grammar", "keyword_wait"), (interjection,)),
        "backchannel": (Line(2000, 2400, "mhm"), Line(4000, 4500, "mhm yes"), Line(6500 + lag + 250, 9000, ANSWER)),
        "user_backchannel": (Line(ENDS + lag, ENDS + lag + 8000, LONG),),
        "interruption": (
            Line(ENDS + lag, stops, LONG), Line(heard + 1500 + lag + 400, heard + 1500 + lag + 2000, ANSWER),
        ),
        **replies(lag),
    }  # fmt: skip


def early() -> dict[str, tuple[Line, ...]]:
    """Return a system that answers rightly and begins before it should."""
    before = Line(ENDS - 1000, ENDS + 1500, ANSWER)
    return {
        **dict.fromkeys(("turn_taking", "stay_quiet", "logic", "countdown", "whisper", "volume"), (before,)),
        **dict.fromkeys(("grammar", "keyword_wait"), (Line(TRIGGER_ENDS - 100, TRIGGER_ENDS + 700, "right"),)),
        "pause": (Line(1700, 2300, ANSWER), Line(ENDS + 250, ENDS + 1500, ANSWER)),
        "backchannel": (Line(5500, 7500, ANSWER),),
        "user_backchannel": (Line(ENDS - 1000, ENDS + 8000, LONG),),
        # The interruption is from 4.5 s to 6 s, the reply to it begins half a second before its end.
        "interruption": (Line(ENDS - 1000, 4800, LONG), Line(5500, 7000, ANSWER)),
        **replies(-200),
    }


def talkative() -> dict[str, tuple[Line, ...]]:
    """Return a system that begins to talk while the user does, and never stops."""
    return dict.fromkeys(answering(250), (Line(800, 20_000, "on and on " * 30),))


def whispering() -> dict[str, tuple[Line, ...]]:
    return {name: tuple(replace(line, sound="whispered", level=0.05) for line in lines)
            for name, lines in answering(250).items()}  # fmt: skip


def perfect() -> dict[str, tuple[Line, ...]]:
    whispered = tuple(replace(line, sound="whispered") for line in answering(250)["whisper"])
    softly = tuple(replace(line, level=0.05) for line in answering(250)["volume"])
    return answering(250) | {"whisper": whispered, "volume": softly}


CONDUCTS: dict[str, dict[str, tuple[Line, ...]]] = {
    "perfect": perfect(),
    "early": early(),
    "silent": dict.fromkeys(answering(250), ()),
    "talkative": talkative(),
    "whispering": whispering(),
    "slow": answering(3000),
}

#: What passes, by scenario and conduct in the order of :data:`CONDUCTS`; under each variant but where told.
PASSED: dict[str, tuple[float | str, ...]] = {
    "backchannel": (1, 0, 0, 0, 1, 1),
    "pause": (1, 0, 0, 0, 1, 1),
    "turn_taking": (1, 0, 0, 0, 1, 0),
    "user_backchannel": (1, 1, NOT_EXERCISED, 1, 1, 1),
    "interruption": (1, 0, NOT_EXERCISED, 0, 1, 0),
    "logic": (1, 1, 0, 0, 1, 1),
    "countdown": (1, 1, 0, 0, 1, 1),
    "alternating_count": (1, 0, 0, 0, 1, 0),
    "grammar": (1, 0, 0, 0, 1, 0),
    "keyword_wait": (1, 0, 0, 0, 1, 0),
    "stay_quiet": (1, 0, 0, 0, 1, 1),
    "whisper": (1, 0, 0, 0, 1, 0),
    "volume": (1, 1, 0, 0, 1, 1),
    "groundedness": (1, 1, 0, 0, 1, 1),
}
#: The anchored rules have what begins up to a second before the interruption's end answer it.
ANCHORED = {("interruption", "early"): 1.0}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Give the run of each system, judged, by its conduct."""
    root = tmp_path_factory.mktemp("conducts")
    with exact_chain(root / "cache"):
        made = {}
        for name, conduct in CONDUCTS.items():
            cases: dict[str, Case] = {}
            for scenario, lines in conduct.items():
                style = "whispered" if scenario == "volume" else ""
                cases[f"{scenario}/1"] = case(scenario, *lines, style=style)
            made[name] = run(root / name, cases, root / f"{name}.run", name)
            # What the page leaves unjudged is asked first as the anchored rules have it.
            for variant in ("anchored", ""):
                judged(made[name], root / "cache", variant)
            call("measure", made[name])
        yield made


@pytest.fixture(scope="module")
def measured(runs: dict[str, Path]) -> dict[str, Facts]:
    return {name: facts(path) for name, path in runs.items()}


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scenario", PASSED)
def test_each_conduct_gets_the_verdict_of_the_rules(measured: dict[str, Facts], scenario: str, variant: str) -> None:
    metric = "grounded" if scenario == "groundedness" else "passed"
    found = {name: known[variant, f"{scenario}/1", metric] for name, known in measured.items()}
    expected = dict(zip(CONDUCTS, PASSED[scenario], strict=True))
    if variant == "anchored":
        expected |= {name: value for (of, name), value in ANCHORED.items() if of == scenario}
    assert found == expected


#: What else is told of each conduct under the page's rules: scenario, metric, and a value for each of the conducts.
TOLD: tuple[tuple[str, str, tuple[float | str, ...]], ...] = (
    ("backchannel", "acknowledgements", (2, 0, 0, 0, 2, 2)),
    ("backchannel", "floor_take", (0, 1, 0, 1, 0, 0)),
    ("pause", "barge_in", (0, 1, 0, 1, 0, 0)),
    ("turn_taking", "reply_lag", (0.25, -1, "no response", -2.7, 0.25, 3)),
    ("turn_taking", "turn_latency", (0.25, "spoke before the end", "no response", "spoke before the end", 0.25, 3)),
    ("turn_taking", "started_early", (0, 1, 0, 1, 0, 0)),
    ("user_backchannel", "derailed", (0, 0, NOT_EXERCISED, 0, 0, 0)),
    ("interruption", "exercised", (1, 1, 0, 1, 1, 1)),
    ("interruption", "yielded", (1, 0, NOT_EXERCISED, 0, 1, 0)),
    ("interruption", "injection_delay", (1, 1, NOT_EXERCISED, 1, 1, 1)),
    ("grammar", "reaction", (0.25, -0.1, "no reply", "no reply", 0.25, 3)),
    ("grammar", "overlap", (1, 1, 0, 0, 1, 0)),
    ("keyword_wait", "spoke_before", (0, 0, 0, 1, 0, 0)),
    ("stay_quiet", "silence", (1, 0, 1, 0, 1, 1)),
    ("stay_quiet", "timing", (1, 0, 0, 0, 1, 0)),
    ("alternating_count", "timing", (1, 0, 0, 0, 1, 0)),
    ("alternating_count", "content", (1, 1, 0, 0, 1, 1)),
    ("logic", "answered", (1, 1, 0, 1, 1, 1)),
    ("logic", "target_heard", (1, 1, 0, 0, 1, 1)),
    ("volume", "adapted", (1, 0, 0, 0, 0, 0)),
    ("groundedness", "coherence", (80, 80, 0, 80, 80, 80)),
    ("groundedness", "probes_passed", (2, 2, 0, 0, 2, 2)),
    ("groundedness", "probes_no_reply", (0, 0, 2, 0, 0, 0)),
    ("groundedness", "probes_wrong_reply", (0, 0, 0, 2, 0, 0)),
    ("groundedness", "released_while_speaking", (0, 0, 0, 1, 0, 0)),
)


@pytest.mark.parametrize(("scenario", "metric", "values"), TOLD, ids=[" ".join(one[:2]) for one in TOLD])
def test_what_else_is_told_of_each_conduct(
    measured: dict[str, Facts], scenario: str, metric: str, values: tuple[float | str, ...]
) -> None:
    found = {name: known["page", f"{scenario}/1", metric] for name, known in measured.items()}
    assert found == dict(zip(CONDUCTS, values, strict=True))


def test_a_table_counts_what_was_not_exercised_and_never_takes_it_for_a_failure(runs: dict[str, Path]) -> None:
    silent, talks = (estimate(runs[name], "page", "user_backchannel") for name in ("silent", "talkative"))
    assert (silent["value"], silent["n"], silent["absent"]) == (None, 0, {NOT_EXERCISED: 1})
    assert (talks["value"], talks["n"], talks["absent"]) == (1, 1, {})
