"""What a judge is asked of a benchmark with many rubrics: what it answers, and what it can hear or read."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from fullduplex.errors import InputError
from fullduplex.judged import Judging, askable
from fullduplex.judging.question import Reply, Request
from fullduplex.judging.rubric_file import load
from fullduplex.model.spec import Spec

RUBRICS = {name: load(name) for name in ("addressed", "correction", "probe")}


@dataclass
class Told:
    """A judge that is never asked."""

    hears: bool
    answers: tuple[str, ...] | None = None
    spec: Spec = field(default_factory=lambda: Spec("told"))
    weakness: str = ""

    def ask(self, request: Request) -> Reply:
        raise AssertionError("nothing is asked here")

    def close(self) -> None:
        """Do nothing."""


def judging(**more: object) -> Judging:
    return Judging(Spec("told"), **more)  # type: ignore[arg-type]


def test_one_that_hears_is_asked_everything_as_it_stands() -> None:
    assert askable(RUBRICS, Told(hears=True), judging()) == (RUBRICS, ())


def test_one_that_hears_nothing_reads_the_words_and_it_is_told() -> None:
    kept, remarks = askable(RUBRICS, Told(hears=False), judging())
    assert not kept["correction"].hears and kept["correction"].digest != RUBRICS["correction"].digest
    assert (kept["addressed"], kept["probe"]) == (RUBRICS["addressed"], RUBRICS["probe"])
    assert remarks == ("told hears nothing; judged from the words alone: correction",)


def test_what_it_does_not_answer_is_left_unjudged_and_told() -> None:
    kept, remarks = askable(RUBRICS, Told(False, ("addressed", "behaviour")), judging())
    assert kept == {"addressed": RUBRICS["addressed"]}
    assert remarks == ("told answers addressed or behaviour alone; not judged: correction, probe",)


def test_a_judge_that_answers_none_of_them_is_refused() -> None:
    with pytest.raises(InputError, match="found told, which answers behaviour, expected another judge"):
        askable(RUBRICS, Told(False, ("behaviour",)), judging())


@pytest.mark.parametrize("asked", [judging(hears=True), judging(rubrics={"correction": RUBRICS["correction"]})])
def test_whoever_was_told_to_hear_has_to(asked: Judging) -> None:
    with pytest.raises(InputError, match=r"which hears nothing, expected one that can \(correction\)"):
        askable({"correction": RUBRICS["correction"]}, Told(hears=False), asked)
