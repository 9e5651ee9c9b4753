from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from fullduplex.measures.timing import distance_as_released, divergence, one_hot
from fullduplex.model.spans import ms


def test_equal_distributions_do_not_diverge_and_disjoint_ones_diverge_by_one_bit() -> None:
    p, q = np.array([1.0, 0.0]), np.array([0.0, 2.0])
    assert divergence(p, p) == pytest.approx(0)
    assert divergence(p, q) == pytest.approx(1)


def test_both_forms_agree_with_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        p, q = rng.random(31), rng.random(31)
        assert distance_as_released(p, q) == pytest.approx(jensenshannon(p, q), abs=1e-12)
        assert divergence(p, q) == pytest.approx(jensenshannon(p, q, base=2) ** 2, abs=1e-12)


def test_an_onset_on_a_windows_edge_is_in_the_later_window() -> None:
    assert one_hot([0, ms(200), ms(399)], 3).tolist() == [1, 2, 0]


def test_an_onset_past_the_last_window_is_counted_in_none() -> None:
    assert one_hot([ms(600)], 3).sum() == 0
