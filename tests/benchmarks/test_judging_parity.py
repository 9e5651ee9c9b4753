"""Judging under released rules asks as often, and reads the same, as the released script did: through whole runs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from fullduplex.judged import Judging, judge_run
from fullduplex.judging.rubric_file import load_file
from fullduplex.model.spec import Spec
from fullduplex.publish import publish
from fullduplex.stages import Asked, measure_again, score

CASES = Path(__file__).resolve().parents[3] / "shared/cases/full-duplex-bench"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="the released scripts' cases are not beside this checkout")

#: Where the script crashes, and the reason that stands for it here.
INSTEAD = {"301": "no takeover", "305": "no takeover", "314": "no annotation"}


def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CASES / "expected/v1_user_interruption.json").read_text())
    return found


@pytest.mark.parametrize("commit", ["3e799c4", "d7336bd"])
@pytest.mark.parametrize("case", sorted(expected()) if CASES.is_dir() else [])
def test_a_rating_is_the_scripts_after_as_many_requests(case: str, commit: str, tmp_path: Path) -> None:
    theirs = expected()[case]["new" if commit == "3e799c4" else "snap"]
    folder = tmp_path / "user_interruption" / case
    shutil.copytree(CASES / "v1_user_interruption" / case, folder)
    replies = folder / "judge_replies.json"
    replies.rename(tmp_path / "replies.json")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("Rate it.")
    rubric = load_file(prompt, "released-rating")
    asked = Asked(f"fdb-1.0@released-{commit}", recogniser="none")
    (made,) = score(folder.parent, tmp_path / "run", asked, cache=tmp_path / "cache", engine="here")
    judge = Spec("recorded", {"path": str(tmp_path / "replies.json")})
    outcome = judge_run(made.run, Judging(judge, rubrics={"rating": rubric}), cache=tmp_path / "cache")
    publish(measure_again(made.run.path), made.run.path, page=False)
    assert outcome.bill.requests == theirs["n_judge_requests"]
    table = json.loads((made.run.path / "estimates.json").read_text())
    (row,) = [r for r in table["estimates"] if r["metric"] == "rating" and r["n"] + sum(r["absent"].values())]
    if case in INSTEAD:
        assert theirs["returncode"] == 1
        assert (row["value"], row["absent"]) == (None, {INSTEAD[case]: 1})
    else:
        assert (row["value"], row["n"]) == (theirs["rating"], 1)
        told = json.loads((made.run.folder("user_interruption", case) / "rating.json").read_text())
        assert {case: told} == theirs["rating_json"]
