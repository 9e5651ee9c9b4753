"""A person corrects what was said of an interaction: one question of several, a premise, a whisper."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conducts import Case, Line, after, call, case, exact_chain, facts, first, judged, run

SIGNED = ("--who", "Ann", "--why", "heard it")


def conversation() -> Case:
    """Return a talk whose first probe is answered right, and whose second, which rests on the system, is not."""
    said = (Line(4000, 5000, "hello there"), Line(9000, 10_000, "right it is"), Line(14_000, 15_000, "so it was"))
    probes = [
        {"id": id, "cue": cue, "type": type, "expected": "Says right.", "rests_on_assistant": rests}
        for id, cue, type, rests in (("1", "u1", "recall", False), ("2", "u2", "false_premise", True))
    ]
    cues = (first(), after("u1", 1500, 1000, "which one was it"), after("u2", 1500, 1000, "why did you do it"))
    return Case("groundedness", said, cues, more={"probes": probes})


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("amend")
    cases = {
        "groundedness/01": conversation(),
        "backchannel/01": case("backchannel", Line(2000, 2400, "mhm")),
        "whisper/01": case("whisper", Line(4000, 6000, "right here is what it is", "whispered")),
        # The first backchannel meets the system speaking, the second comes 1.6 s into the reply, after its end.
        "user_backchannel/01": case("user_backchannel", Line(4000, 5200, "right it is"), Line(9000, 9100, "so")),
        "user_backchannel/02": case("user_backchannel"),
        "interruption/01": case("interruption"),
    }
    with exact_chain(folder / "cache"):
        path = run(folder, cases, folder / "out.run", "acting")
        judged(path, folder / "cache")
        call("measure", path, "--json")
        yield path


def corrected(path: Path, item: str, what: str, value: str) -> None:
    call("amend", path, item, what, value, *SIGNED)
    call("measure", path, "--json")


def of(path: Path, item: str, metric: str) -> float | str:
    return facts(path)["page", item, metric]


def test_a_probe_counts_until_a_person_says_that_its_premise_is_broken(talks: Path) -> None:
    before = of(talks, "groundedness/01", "probes_counted"), of(talks, "groundedness/01", "grounded")
    assert before == (2, 0.5)
    corrected(talks, "ib_groundedness/01", "premise:2", "broken")
    now = of(talks, "groundedness/01", "probes_counted"), of(talks, "groundedness/01", "grounded")
    assert now == (1, 1)
    call("amend", talks, "ib_groundedness/01", "premise:2", "--undo", *SIGNED)
    corrected(talks, "ib_groundedness/01", "probe:1", "no")
    assert of(talks, "groundedness/01", "grounded") == 0
    assert json.loads(call("amend", talks, "--list", "--json").output)[-1]["old"] == "yes"


def test_a_backchannel_of_a_system_is_corrected_by_when_it_was(talks: Path) -> None:
    assert of(talks, "backchannel/01", "passed") == 1
    corrected(talks, "ib_backchannel/01", "backchannel-kind:2.000-2.400", "floor-take")
    assert of(talks, "backchannel/01", "passed") == 0


def test_what_passes_a_whisper_is_no_judges_word_and_can_be_corrected(talks: Path) -> None:
    corrected(talks, "ib_whisper/01", "passed", "0")
    assert of(talks, "whisper/01", "passed") == 0


@pytest.mark.parametrize(
    ("item", "what", "expected"),
    [
        ("ib_groundedness/01", "probe", "one of probe:1, probe:2"),
        ("ib_groundedness/01", "probe:9", "one of probe:1, probe:2"),
        ("ib_groundedness/01", "premise:1", "one of premise:2"),
        ("ib_whisper/01", "probe:1", "an item of which probe is asked"),
        ("ib_backchannel/01", "backchannel-kind:9.000-9.400", "one of backchannel-kind:2.000-2.400"),
        ("ib_groundedness/01", "grounded", "the verdict probe"),
        ("ib_user_backchannel/01", "behaviour:b1", "one of behaviour:b0"),
        ("ib_user_backchannel/02", "behaviour:b0", "an item of which behaviour is asked"),
        ("ib_interruption/01", "addressed", "an item of which addressed is asked"),
    ],
)
def test_what_nobody_asks_of_an_item_cannot_be_corrected(talks: Path, item: str, what: str, expected: str) -> None:
    refused = call("amend", talks, item, what, "yes", *SIGNED, code=1)
    assert expected in " ".join(refused.output.split())
