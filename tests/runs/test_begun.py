"""A run that was killed before it was told of begins again, and a folder of other things stays one."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.errors import RunError
from fullduplex.runs.run import Run

ASKED = {"benchmark": {"name": "fdb-1.0", "version": "1", "variants": []}, "system": "a"}


def test_an_empty_folder_of_trials_is_a_run_that_was_about_to_begin(tmp_path: Path) -> None:
    (tmp_path / "trials").mkdir()
    assert Run.begin(tmp_path, ASKED).system == "a"


@pytest.mark.parametrize("name", ["trials/mine", "notes", "trial"])
def test_a_folder_with_anything_else_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir(parents=True)
    with pytest.raises(RunError, match=r"holds files but no run.json"):
        Run.begin(tmp_path, ASKED)
