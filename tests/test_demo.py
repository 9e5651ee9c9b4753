"""The demo end to end: what it plants comes back, and the same seed gives the same numbers."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fullduplex import cli
from fullduplex.errors import PluginError
from fullduplex.providers import weights


def has_cascade() -> bool:
    """Return whether the cascade's parts are at hand; without them the demo leaves it out and says so."""
    from fullduplex.model.spec import Spec
    from fullduplex.systems.build import build

    try:
        return bool(build(Spec("cascade"), weights.default_cache(os.environ)).spec.name)
    except PluginError:
        return False


needs_cascade = pytest.mark.skipif(not has_cascade(), reason="the cascade's packages or weights are not at hand")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        weights.path("silero-v6-sequence", weights.default_cache(os.environ))
    except PluginError as error:
        pytest.skip(str(error))
    pytest.importorskip("hibari", reason="the demo needs the voices extra")
    out = tmp_path_factory.mktemp("demo") / "demo"
    found = CliRunner().invoke(cli.main, ["demo", "--out", str(out)])
    assert found.exit_code == 0, found.output
    assert "report.html" in found.stdout
    return out


def estimates(demo: Path, system: str, variant: str) -> dict[tuple[str, str], dict[str, Any]]:
    table = json.loads((demo / "runs" / system / "estimates.json").read_text())
    part = next(part for part in (table, *table["variants"]) if part["variant"] == variant)
    return {(row["scenario"], row["metric"]): row for row in part["estimates"]}


def test_the_good_listener_waits_answers_and_yields(demo: Path) -> None:
    found = estimates(demo, "good-listener", "anchored")
    assert found["synthetic_pause_handling", "tor"]["value"] == 0
    assert found["candor_turn_taking", "tor"]["value"] == 1
    assert found["candor_turn_taking", "latency"]["value"] == pytest.approx(0.4, abs=0.06)
    assert found["synthetic_user_interruption", "latency"]["value"] == pytest.approx(0.6, abs=0.06)
    assert found["icc_backchannel", "frequency"]["value"] > 0.1


def test_talking_through_is_a_perfect_answer_as_released_and_none_when_anchored(demo: Path) -> None:
    released = estimates(demo, "interrupter", "released-3e799c4")
    anchored = estimates(demo, "interrupter", "anchored")
    assert released["candor_turn_taking", "tor"]["value"] == 1
    assert released["candor_turn_taking", "latency"]["value"] == 0
    assert anchored["candor_turn_taking", "tor"]["value"] == 0
    assert anchored["candor_turn_taking", "latency"]["n"] == 0


def test_the_mute_is_silent_and_its_latency_absent(demo: Path) -> None:
    found = estimates(demo, "mute", "released-3e799c4")
    assert found["candor_turn_taking", "tor"]["value"] == 0
    assert found["candor_turn_taking", "latency"]["absent"] == {"no takeover": 5}


def test_the_words_say_that_they_are_the_synthesisers(demo: Path) -> None:
    words = json.loads((demo / "runs/good-listener/trials/candor_turn_taking/0/words.json").read_text())
    assert words["tracks"]["output"]["from"].startswith("synthesiser")


@needs_cascade
def test_the_cascade_really_hears_answers_and_says_where_its_time_went(demo: Path) -> None:
    found = estimates(demo, "cascade", "anchored")
    # Every recording was heard, whatever was said in it.
    assert all(not {"no output", "failed"} & set(row["absent"]) for row in found.values())
    assert found["candor_turn_taking", "tor"]["value"] == 1
    # Half a second of silence ends a turn, and nothing is said sooner.
    assert 0.5 < found["candor_turn_taking", "latency"]["value"] < 3
    assert found["synthetic_user_interruption", "tor"]["value"] == 1
    report = (demo / "runs/cascade/report.md").read_text()
    assert "first token" in report and "simulated" in report
    talk = json.loads((demo / "runs/cascade/trials/candor_turn_taking/0/talk.json").read_text())
    assert talk["clock"] == "step-algorithmic" and talk["stages"]


COLUMNS = {
    "Pause TOR ↓ (synthetic)": ("synthetic_pause_handling", "tor"),
    "Backchannel TOR ↓": ("icc_backchannel", "tor"),
    "JSD ↓": ("icc_backchannel", "jsd"),
    "Turn TOR ↑": ("candor_turn_taking", "tor"),
    "Turn latency ↓": ("candor_turn_taking", "latency"),
    "Interruption TOR ↑": ("synthetic_user_interruption", "tor"),
    "Interruption latency ↓": ("synthetic_user_interruption", "latency"),
}


@pytest.mark.parametrize(
    "system", ["good-listener", "interrupter", "mute", pytest.param("cascade", marks=needs_cascade)]
)
def test_the_readme_shows_what_the_demo_gives(demo: Path, system: str) -> None:
    lines = (Path(__file__).parents[1] / "README.md").read_text("utf-8").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    variant = "released-3e799c4"
    _, *columns = next(row for row in rows if row[0] == f"`fdb-1.0@{variant}`")
    _, *shown = next(row for row in rows if row[0] == system)
    assert columns == list(COLUMNS)
    given = estimates(demo, system, variant)
    for column, cell in zip(columns, shown, strict=True):
        row = given[COLUMNS[column]]
        if system == "cascade":
            # Its models round as the processor does, and may hear other words on another kind.
            if "latency" in column:
                assert float(cell.split()[0]) == pytest.approx(row["value"], abs=0.3), column
        elif row["value"] is None:
            assert cell == "— " + ", ".join(f"{why} ({n})" for why, n in row["absent"].items()), column
        else:
            told = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", cell)]
            assert told == pytest.approx([row["value"], row["low"], row["high"], row["n"]], abs=0.005), column


def test_one_seed_gives_one_result_whatever_does_the_work(demo: Path, tmp_path: Path) -> None:
    found = CliRunner().invoke(cli.main, ["demo", "--out", str(tmp_path / "again"), "--engine", "processes:2"])
    assert found.exit_code == 0, found.output
    for system in ("good-listener", "interrupter", "mute", *(("cascade",) if has_cascade() else ())):
        first = (demo / "runs" / system / "estimates.json").read_bytes()
        assert (tmp_path / "again/runs" / system / "estimates.json").read_bytes() == first


def test_a_folder_with_files_of_its_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    found = CliRunner().invoke(cli.main, ["demo", "--out", str(tmp_path)])
    assert found.exit_code == 1
    assert "not a demo's" in found.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]
