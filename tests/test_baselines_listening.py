"""A system's responses against a panel's: drawn talks whose partner says "uh-huh" at a known time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.making.fdb_talk import write_corpus

from fullduplex.baselines import harvested, listening_of, people_run
from fullduplex.data.corpora.opened import open_corpus
from fullduplex.errors import InputError
from fullduplex.making.harvest.hearing import Ears
from fullduplex.runs.run import Run
from fullduplex.stages import Asked


def nobody_listens(_: bool = True) -> Ears:
    raise AssertionError("nothing is to be heard")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """People who say one token an item, 2.15 s after it begins."""
    root = tmp_path_factory.mktemp("listening")
    corpus = open_corpus(write_corpus(root / "c", 3, sound=False))
    items, _ = harvested(corpus, root, "fdb-1.0", ears=nobody_listens)
    return people_run(
        items, root / "people.run", Asked("fdb-1.0", recogniser="recorded"), cache=root / "cache", engine="here"
    ).run


def panel(run: Run, tmp_path: Path, windows: dict[int, float], length: int = 30) -> Path:
    """Write a reference for all items, with shares in some of ``length`` windows of 200 ms."""
    names = [path.name for path in (run.path.parent / "items" / "backchannel").iterdir()]
    shares = [windows.get(n, 0.0) for n in range(length)]
    (tmp_path / "reference.json").write_text(json.dumps(dict.fromkeys(names, shares)))
    return tmp_path / "reference.json"


def test_who_responds_where_all_do_lies_no_way_from_them(run: Run, tmp_path: Path) -> None:
    found = listening_of(run, panel(run, tmp_path, {10: 1.0}), listeners=1)
    assert (found.stimuli, found.responded, found.divergence) == (3, 3, 0.0)
    assert found.support.value == found.covered.value == 1.0
    # One response in one of thirty windows: by chance it falls there once in thirty times.
    assert found.support.chance == pytest.approx(1 / 30)
    assert found.wasserstein == pytest.approx(0.05, abs=1e-6)  # 2.15 s, and 2.1 s in the middle of the window


def test_who_responds_where_nobody_does_is_a_bit_away_and_late_by_that_time(run: Run, tmp_path: Path) -> None:
    found = listening_of(run, panel(run, tmp_path, {15: 1.0}), listeners=1)
    assert found.divergence == pytest.approx(1.0) and found.wasserstein == pytest.approx(3.1 - 2.15)
    assert found.support.value == found.covered.value == 0.0


def test_how_many_listeners_there_are_tells_what_an_opportunity_is(run: Run, tmp_path: Path) -> None:
    shares = panel(run, tmp_path, {10: 0.2, 20: 0.8})
    few, many = (listening_of(run, shares, listeners=n) for n in (5, 40))
    assert few.support.value == pytest.approx(1 / 5) and many.support.value == pytest.approx(1 / 40)
    assert few.covered.value == 0.5 and many.covered.value is None
    assert many.covered.absent == {"no opportunity": 3}


def test_an_item_that_the_panel_has_not_heard_is_counted(run: Run, tmp_path: Path) -> None:
    shares = json.loads(panel(run, tmp_path, {10: 1.0}).read_text())
    shares.popitem()
    (tmp_path / "reference.json").write_text(json.dumps(shares))
    found = listening_of(run, tmp_path / "reference.json", listeners=1)
    assert (found.stimuli, found.absent) == (2, {"not in the reference": 1})


def test_a_reference_of_other_items_is_refused_in_a_sentence(run: Run, tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text('{"other": [1.0]}')
    with pytest.raises(InputError, match=r"no item that the panel has heard \(3 not in the reference\)"):
        listening_of(run, tmp_path / "reference.json", listeners=1)
    with pytest.raises(InputError, match="1 or more"):
        listening_of(run, tmp_path / "reference.json", listeners=0)
