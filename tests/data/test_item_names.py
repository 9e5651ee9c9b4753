"""Which item a name that somebody typed stands for."""

from __future__ import annotations

import pytest

from fullduplex.data.item_names import Called, meant

BOTH = [Called("synthetic_pause_handling", "pause_handling", "1"), Called("pause_handling", "pause_handling", "1")]
LONE = [Called("smooth_turn_taking", "smooth_turn_taking", "1"), Called("icc_backchannel", "backchannel", "2")]
NESTED = [Called("smooth_turn_taking", "smooth_turn_taking", f"{at}_turn_taking/1") for at in ("my", "a")]


@pytest.mark.parametrize(("name", "place"), [("synthetic_pause_handling/1", 0), ("pause_handling/1", 1)])
def test_a_set_goes_before_a_task_of_that_name(name: str, place: int) -> None:
    assert meant(name, BOTH) == [place]


def test_an_id_that_two_sets_have_stands_for_both() -> None:
    assert meant("1", BOTH) == [0, 1]


def test_a_folder_stands_for_the_task_that_it_tells() -> None:
    assert meant("my_turn_taking/1", LONE) == [0]


@pytest.mark.parametrize("name", ["candor_turn_taking/1", "my_backchannel/2", "my_pause/1", "/1", ""])
def test_a_folder_that_contradicts_the_set_stands_for_nothing(name: str) -> None:
    assert meant(name, LONE) == []


def test_an_id_that_begins_with_its_folder_is_called_by_it() -> None:
    assert meant("my_turn_taking/1", NESTED) == [0]
    assert meant("smooth_turn_taking/a_turn_taking/1", NESTED) == [1]
    assert meant("smooth_turn_taking/1", NESTED) == [0, 1]


def test_a_name_on_disk_is_a_name_too() -> None:
    hostile = [Called("user_interruption", "user_interruption", "../../<b>x</b>")]
    assert meant("../../<b>x</b>", hostile) == [0]
    assert meant("user_interruption/%2E.%2F..%2F%3Cb%3Ex%3C%2Fb%3E", hostile) == [0]
