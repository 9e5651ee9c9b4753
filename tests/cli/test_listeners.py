"""``fullduplex listeners``: the example of its how-to as printed, what it writes, and what it refuses."""

from __future__ import annotations

import json
import re
import runpy
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import fullduplex.cli.listeners as _listeners
from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.data.fdb_json import read_reference
from fullduplex.measures.listeners import counts_behind
from fullduplex.model.trials import Absent

assert _listeners.listeners.name == "listeners"

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to" / "listeners.md"
PUBLISHED = HOW_TO.parents[3] / "shared" / "data" / "fdb_official" / "icc_gt_distribution.json"
FILES = ["backchannel_reference.json", "likelihood.json", "listeners.html", "listeners.json", "listeners.md"]


def command(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the how-to's example as printed, and return the folder that it was run in."""
    folder = tmp_path_factory.mktemp("how-to")
    page = HOW_TO.read_text(encoding="utf-8").partition("## An example")[2]
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (shell,) = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (folder / "make_panel.py").write_text(script, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for line in shell.splitlines():
            program, *words = shlex.split(line)
            if program == "python":
                runpy.run_path(words[0])
                continue
            words += ["--engine", "here", "--no-page"] if words[0] == "run" else []
            found = command(*words)
            assert found.exit_code == 0, found.output
    return folder


def test_the_numbers_of_the_how_to_are_those_that_come_out(example: Path) -> None:
    told = json.loads((example / "listeners" / "listeners.json").read_text("utf-8"))
    page = HOW_TO.read_text(encoding="utf-8")
    for row in told["agreement"]:
        assert f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in page
    whose = [told["people"], *(one["measures"] for one in told["systems"])]
    for n, label in enumerate(
        ("responses a minute", "divergence (bits)", "Wasserstein (s)", "hits (%)", "covered (%)")
    ):
        digits = (2, 3, 3, 1, 1)[n]
        cells = [f"{one[n]['value']:.{digits}f}" for one in whose]
        chances = [f", chance {one[n]['chance']['value']:.{digits}f}" if n else "" for one in whose]
        line = " | ".join(value + chance for value, chance in zip(cells, chances, strict=True))
        assert f"| {label} | {line} |" in page
    places = [one["measures"][3]["place"] for one in told["systems"]]
    cells = [f"{one['value']:.1f} [{one['low']:.1f}, {one['high']:.1f}]" for one in places]
    assert f"| place among people by hits (%) | | {' | '.join(cells)} |" in page


def test_the_reference_that_is_written_is_read_by_the_backchannel_task(example: Path) -> None:
    for name, value in (("attentive", "0.391"), ("regular", "0.787")):
        rows = json.loads((example / f"{name}.run" / "estimates.json").read_text("utf-8"))
        tables = rows if isinstance(rows, list) else [rows]
        jsd = [row for one in tables for row in one["estimates"] if row["metric"].startswith("jsd")]
        assert [row["n"] for row in jsd] == [12]
        assert f"{jsd[0]['value']:.3f}" == value and value in HOW_TO.read_text(encoding="utf-8")


def test_five_files_are_written_and_q_sums_to_one(example: Path) -> None:
    out = example / "listeners"
    assert sorted(path.name for path in out.iterdir()) == FILES
    q = json.loads((out / "backchannel_reference.json").read_text("utf-8"))
    likely = json.loads((out / "likelihood.json").read_text("utf-8"))
    assert likely["window"] == 0.2 and set(q) == set(likely["stimuli"])
    for name, shares in q.items():
        assert sum(shares) == pytest.approx(1)
        its = likely["stimuli"][name]
        assert len(its["likelihood"]) == len(shares) == 100 and its["listeners"] == 15
        assert max(its["likelihood"]) <= 1


def test_the_same_command_gives_the_same_bytes(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example)
    words = ("listeners", "panel.csv", "--items", "items", "--run", "attentive.run", "--json")
    assert command(*words).stdout == command(*words).stdout


def test_every_drawing_stands_on_the_page_with_people_and_systems(example: Path) -> None:
    page = (example / "listeners" / "listeners.html").read_text("utf-8")
    assert page.count('<svg viewBox="0 0 760') == 12
    assert "<title>attentive</title>" in page and "<script" not in page and "://" not in page


def panel(tmp_path: Path, *rows: str) -> Path:
    (tmp_path / "panel.csv").write_text("\n".join(["stimulus,listener,onset,end,duration", *rows]), encoding="utf-8")
    return tmp_path / "panel.csv"


def test_one_listener_alone_is_told_and_no_number_made_up(tmp_path: Path) -> None:
    found = command("listeners", panel(tmp_path, "s,a,1,,5"), "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "| — (1 × one listener) |" in found.stdout
    assert json.loads((tmp_path / "out" / "backchannel_reference.json").read_text())["s"][5] == 1


def test_a_stimulus_to_which_nobody_responded_has_a_likelihood_and_no_q(tmp_path: Path) -> None:
    found = command("listeners", panel(tmp_path, "s,a,,,5", "s,b,,,", "t,a,1,,5"), "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert set(json.loads((tmp_path / "out" / "backchannel_reference.json").read_text())) == {"t"}
    likely = json.loads((tmp_path / "out" / "likelihood.json").read_text())["stimuli"]
    assert likely["s"] == {"listeners": 2, "likelihood": [0.0] * 25}


def test_a_held_key_counts_where_it_was_held_if_so_told(tmp_path: Path) -> None:
    path = panel(tmp_path, "s,a,1,1.5,2", "s,b,1,,2")
    for by, expected in (("onset", [1.0, 0.0, 0.0]), ("held", [1.0, 0.5, 0.5])):
        assert command("listeners", path, "--by", by, "--out", tmp_path / by).exit_code == 0
        likely = json.loads((tmp_path / by / "likelihood.json").read_text())["stimuli"]["s"]["likelihood"]
        assert likely[5:8] == expected


def test_hostile_names_do_nothing(tmp_path: Path) -> None:
    rows = ["<script>alert(1)</script>|../../x,\x1b[31ma,1,,5", "<script>alert(1)</script>|../../x,b,2,,"]
    found = command("listeners", panel(tmp_path, *rows), "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    assert "\x1b" not in found.stdout
    assert "<script" not in (tmp_path / "out" / "listeners.html").read_text("utf-8")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES


def test_what_cannot_be_is_one_sentence_and_exit_1(tmp_path: Path) -> None:
    for words, sentence in (
        ((tmp_path / "no.csv",), "a file that can be read"),
        ((panel(tmp_path, "s,a,1,,5"), "--items", tmp_path / "none"), "expected a folder of sounds or of items"),
        ((panel(tmp_path, "s,a,1,,5"), "--run", tmp_path), "run.json"),
    ):
        found = command("listeners", *words)
        assert (found.exit_code, found.stderr.count("\n")) == (1, 1), found.output
        assert sentence in found.stderr


def test_a_run_of_other_stimuli_is_refused(example: Path, tmp_path: Path) -> None:
    found = command("listeners", panel(tmp_path, "s,a,1,,5"), "--run", example / "attentive.run")
    assert found.exit_code == 1
    assert "found no item that the panel has heard (12 not of the panel)" in found.stderr


def test_two_runs_of_one_system_have_names_of_their_own(example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(example)
    found = command(
        "listeners", "panel.csv", "--run", "regular.run", "--run", "regular.run", "--items", "items", "--json"
    )
    first, second = json.loads(found.stdout)["systems"]
    assert (first.pop("name"), second.pop("name")) == ("regular", "regular (2)")
    assert first == second


def test_a_panel_with_the_published_counts_gives_the_published_reference(tmp_path: Path) -> None:
    if not PUBLISHED.exists():
        pytest.skip("no fdb_official in the shared data beside the checkout")
    published = dict(list(read_reference(PUBLISHED).items())[:5])
    stimuli = {}
    for name, shares in published.items():
        counts = counts_behind(shares)
        assert not isinstance(counts, Absent)
        people: dict[str, list[float]] = {str(n): [] for n in range(59)}
        for window, count in enumerate(counts.tolist()):
            for n in range(count):
                people[str(n)].append(round(0.2 * window + 0.1, 3))
        stimuli[name] = {"duration": round(0.2 * len(shares), 3), "listeners": people}
    (tmp_path / "panel.json").write_text(json.dumps({"stimuli": stimuli}))
    found = command("listeners", tmp_path / "panel.json", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    ours = read_reference(tmp_path / "out" / "backchannel_reference.json")
    assert {name: pytest.approx(shares, abs=1e-9) for name, shares in published.items()} == ours


def driven(example: Path, data: Path, out: Path, *more: object) -> Path:
    """Drive the how-to's attentive system with the items in ``data``."""
    done = command("run", "fdb-1.0", "--data", data, "--system", f"scripted:file={example / 'attentive'}/{{id}}.json",
                   "--name", "attentive", "--recogniser", "reported", "--engine", "here", "--no-page", "--out", out,
                   *more)  # fmt: skip
    assert done.exit_code == 0, done.output
    return out


def two_stimuli(example: Path, data: Path, seconds: float = 20) -> Path:
    for name in ("story00", "story01"):
        (data / name).mkdir(parents=True)
        samples, rate = audio.read(example / "items" / "backchannel" / name / "input.wav")
        audio.write(data / name / "input.wav", samples[: int(seconds * rate)], rate)
    return data


def test_each_repeat_of_a_talk_counts(example: Path, tmp_path: Path) -> None:
    two_stimuli(example, tmp_path / "items" / "backchannel")
    run = driven(example, tmp_path / "items", tmp_path / "run", "--repeats", 2)
    found = command("listeners", example / "panel.csv", "--items", example / "items", "--run", run, "--json")
    (system,) = json.loads(found.output)["systems"]
    assert (system["stimuli"], system["played"], system["responses"]) == (2, 4, 16)
    assert system["absent"] == {"not in the run": 10}


def test_a_talk_that_ended_before_the_stimulus_did_is_not_held_against_the_panel(example: Path, tmp_path: Path) -> None:
    two_stimuli(example, tmp_path / "items" / "backchannel", seconds=19.7)
    run = driven(example, tmp_path / "items", tmp_path / "run")
    found = command("listeners", example / "panel.csv", "--items", example / "items", "--run", run)
    assert found.exit_code == 1 and "(2 heard less than the panel)" in found.output


def test_items_of_two_sets_with_one_name_are_refused(example: Path, tmp_path: Path) -> None:
    for name in ("backchannel", "icc_backchannel"):
        two_stimuli(example, tmp_path / "items" / name)
    run = driven(example, tmp_path / "items", tmp_path / "run")
    found = command("listeners", example / "panel.csv", "--items", example / "items", "--run", run)
    assert found.exit_code == 1
    assert "stimulus story00: found backchannel/story00 and icc_backchannel/story00, expected items of one set" in (
        found.output
    )
