"""A run keeps the language of its report, and whatever writes the report again writes it so."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.errors import InputError
from fullduplex.reporting.kept_language import keep_language, kept_language, language_of
from fullduplex.runs.run import Run

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def copied(tmp_path: Path) -> Callable[..., Path]:
    """Give a maker of copies of the stored run, each of a system of its own."""

    def copy(name: str) -> Path:
        run = tmp_path / name
        shutil.copytree(GOLDEN / "run-schema-1", run)
        about = json.loads((run / "run.json").read_text("utf-8"))
        (run / "run.json").write_text(json.dumps(about | {"system": name}), encoding="utf-8")
        return run

    return copy


def report(*arguments: str) -> str:
    found = CliRunner().invoke(main, [*arguments, "--no-page"] if arguments[0] == "report" else [*arguments])
    assert found.exit_code == 3, found.output  # one item of the stored run is damaged
    return found.output


def is_french(run: Path) -> bool:
    return "prise de parole" in (run / "report.md").read_text("utf-8")


def test_a_report_that_is_written_again_is_in_the_language_that_was_asked_for_last(
    copied: Callable[..., Path],
) -> None:
    run = str(copied("alpha"))
    report("report", run, "--report-language", "fr")
    assert is_french(Path(run))
    assert "repose sur" in report("report", run)
    assert "repose sur" in report("measure", run)
    assert is_french(Path(run))
    report("report", run, "--report-language", "en")
    assert "rests on" in report("measure", run)
    assert not is_french(Path(run))


def test_english_leaves_a_runs_own_file_as_it_was(copied: Callable[..., Path]) -> None:
    run = copied("alpha")
    before = json.loads((run / "run.json").read_text("utf-8"))
    keep_language(Run.open(run), "fr")
    assert kept_language(Run.open(run)) == "fr"
    keep_language(Run.open(run), "en")
    assert json.loads((run / "run.json").read_text("utf-8")) == before


def test_a_run_that_goes_on_keeps_its_language(copied: Callable[..., Path]) -> None:
    run = copied("alpha")
    asked = {key: value for key, value in Run.open(run).about.items() if key not in ("schema", "fullduplex")}
    keep_language(Run.open(run), "fr")
    assert kept_language(Run.begin(run, asked)) == "fr"
    assert kept_language(Run.open(run)) == "fr"


def test_rules_that_are_only_shown_change_no_runs_language(copied: Callable[..., Path]) -> None:
    run = copied("alpha")
    assert "repose sur" in report("measure", str(run), "--as", "fdb-1.0@anchored", "--report-language", "fr")
    assert kept_language(Run.open(run)) == "en"


def test_runs_together_speak_the_language_that_all_keep_else_english(copied: Callable[..., Path]) -> None:
    runs = [copied("alpha"), copied("beta")]
    keep_language(Run.open(runs[0]), "fr")
    assert language_of(map(Run.open, runs)).code == "en"
    assert language_of(map(Run.open, runs), "fr").code == "fr"
    keep_language(Run.open(runs[1]), "fr")
    assert language_of(map(Run.open, runs)).code == "fr"
    assert language_of([]).code == "en"


def test_runs_together_in_two_languages_have_each_its_own(copied: Callable[..., Path], tmp_path: Path) -> None:
    runs = [copied("alpha"), copied("beta")]
    keep_language(Run.open(runs[0]), "fr")
    out = tmp_path / "both"
    report("report", *map(str, runs), "--out", str(out))
    assert [is_french(run) for run in (*runs, out)] == [True, False, False]


@pytest.mark.parametrize("code", ["tlh", "../../en", 7, None, ["fr"]])
def test_a_language_that_reports_cannot_be_in_is_refused_with_the_file_that_names_it(
    copied: Callable[..., Path], code: object
) -> None:
    run = copied("alpha")
    about = json.loads((run / "run.json").read_text("utf-8"))
    (run / "run.json").write_text(json.dumps(about | {"report_language": code}), encoding="utf-8")
    with pytest.raises(InputError, match=r"run\.json.*report_language.*en, fr.*give --report-language"):
        language_of([Run.open(run)])
    assert language_of([Run.open(run)], "fr").code == "fr"
