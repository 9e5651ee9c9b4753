"""Whether a system in fixed units keeps up is told by how late it answers each unit."""

from __future__ import annotations

import numpy as np
import pytest

from fullduplex.driving.link import Note
from fullduplex.driving.observe import decision_lags, falls_behind, growth, unit_of
from fullduplex.driving.playout import Chunk
from fullduplex.model.spans import SECOND, ms, seconds

SOUND = np.ones(240, np.float32)


def lags(*late: int) -> dict[int, int]:
    """Return lags of units of a second, the first that ends at 1 s."""
    return {n * SECOND: lag for n, lag in enumerate(late, 1)}


def test_a_unit_is_answered_by_sound_or_by_the_note_that_it_listens() -> None:
    events = (
        Chunk(SOUND, "t1", source=2 * SECOND, arrived=ms(2_700)),
        Note("unit", {}, ms(2_650), 2 * SECOND),
        Note("unit", {}, ms(1_200), SECOND),
        Note("queue", {}, ms(100)),
        Chunk(SOUND, "t1", arrived=ms(3_000)),
    )
    assert list(decision_lags(events).items()) == [(SECOND, ms(200)), (2 * SECOND, ms(650))]


def test_what_needs_1_3_times_real_time_falls_behind_by_0_3_s_a_second() -> None:
    slow = lags(*(ms(1_300 + 300 * n) for n in range(16)))
    assert growth(slow, 1) == pytest.approx(0.3)
    assert falls_behind(slow, 1, unit=unit_of(slow))


def test_to_speak_more_slowly_than_to_listen_is_not_to_fall_behind() -> None:
    speaks = lags(*[ms(200)] * 5, *[ms(800)] * 5)
    assert growth(speaks, 1) > 0.05 and not falls_behind(speaks, 1, unit=unit_of(speaks))


def test_one_answer_that_lingers_at_the_end_is_not_to_fall_behind() -> None:
    lingers = lags(*[ms(200)] * 9, ms(2_500))
    assert growth(lingers, 1) > 0.01 and not falls_behind(lingers, 1, unit=unit_of(lingers))


def test_a_long_way_to_the_server_is_not_to_fall_behind() -> None:
    far = lags(*[ms(1_500)] * 10)
    assert not falls_behind(far, 1, unit=unit_of(far))


def test_a_lag_of_just_a_unit_piles_nothing_up() -> None:
    just = lags(*(ms(910 + 10 * n) for n in range(7)), SECOND, SECOND, SECOND)
    assert growth(just, 1) > 0.01 and not falls_behind(just, 1, unit=unit_of(just))
    more = just | {n * SECOND: SECOND + 1 for n in (8, 9, 10)}
    assert falls_behind(more, 1, unit=unit_of(more))


def test_a_unit_is_the_usual_step_between_the_ends() -> None:
    assert unit_of({seconds(n): 0 for n in (1, 2, 5, 6)}) == SECOND
    assert unit_of(lags(ms(100))) == 0 == unit_of({})
