"""Whether what an interruption comes to depends on how far into the reply it came: over a run that was driven."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conducts import Case, Line, call, exact_chain, first, into, judged, run

from fullduplex.correlations import sways
from fullduplex.runs.run import Run

ITEMS = 8
#: The reply begins here (ms), and an interruption lasts so long.
REPLY, LASTS = 4000, 1500


def interrupted(number: int) -> Case:
    """Return an item whose interruption comes later than that of the item before; the later half are answered."""
    delay = 800 + 200 * number
    at = REPLY + delay
    answer = "right it is twelve" if number >= ITEMS // 2 else "no idea"
    said = (Line(REPLY, at + 500, "a long answer that goes on"), Line(at + LASTS + 300, at + LASTS + 700, answer))
    return Case("interruption", said, (first(), into("u1", delay, LASTS, "wait what about this")))


@pytest.fixture(scope="module")
def talks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("sways")
    with exact_chain(folder / "cache"):
        cases = {f"interruption/{number:02}": interrupted(number) for number in range(ITEMS)}
        path = run(folder, cases, folder / "out.run", "acting", "--seed", "3")
        judged(path, folder / "cache")
        call("measure", path, "--json")
        yield path


def test_an_outcome_that_depends_on_the_delay_is_told_with_its_p_and_one_that_is_alike_with_the_reason(
    talks: Path,
) -> None:
    found = {one.outcome: one for one in sways(Run.open(talks))}
    assert set(found) == {"passed", "yielded", "addressed"}
    assert {one.metric for one in found.values()} == {"injection_delay"}
    # Four of eight pass, at the four longest delays: 2 of the 70 arrangements are as far.
    assert found["passed"].found.p == pytest.approx(2 / 70)
    assert found["passed"].p_holm == pytest.approx(4 / 70)
    assert found["passed"].told.startswith(
        "ib_interruption: whether 'Passed' depends on 'Into the reply': Spearman's rho 0.87 "
    )
    assert "p 0.029 (0.057 over 2 outcomes, Holm), n 8; permutation" in found["passed"].told
    assert found["yielded"].found.p is None
    assert found["yielded"].told.endswith("is not known: every outcome is alike (n 8)")


def test_a_run_that_was_not_measured_has_nothing_to_tell(talks: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.run"
    bare.mkdir()
    (bare / "run.json").write_bytes((talks / "run.json").read_bytes())
    assert sways(Run.open(bare)) == []


def test_the_reply_that_the_pages_filter_drops_is_told_of_each_item(talks: Path) -> None:
    told = json.loads((talks / "estimates.json").read_text())
    rows = [row for row in told["items"] if row["metric"] == "uncounted_reply"]
    assert {row["item"]: row["value"] for row in rows} == {f"{n:02}": n < ITEMS // 2 for n in range(ITEMS)}
    assert rows[0]["why"] == (
        'the page\'s filter counts no reply: "no idea" (2 words, begins 300 ms after the end, lasts 400 ms)'
    )
