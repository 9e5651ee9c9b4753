"""The one table of DuplexAct's actions and conditions."""

from __future__ import annotations

from collections import Counter

from fullduplex.benchmarks.duplexact.conditions import actions, condition_named, conditions


def test_eight_actions_have_twenty_four_conditions_in_the_publications_shares() -> None:
    assert [(action.key, len(action.conditions)) for action in actions()] == [
        ("wait", 3), ("ignore", 2), ("take_turn", 3), ("backchannel", 2),
        ("stop", 1), ("hold_floor", 5), ("interrupt", 2), ("recover", 6),
    ]  # fmt: skip
    assert len({condition.name for condition in conditions()}) == 24


def test_three_conditions_are_ours_and_all_of_them_recover() -> None:
    ours = [condition for condition in conditions() if condition.source == "ours"]
    assert [condition.action for condition in ours] == ["recover"] * 3
    assert {condition.source for condition in conditions()} == {"paper", "inferred", "ours"}


def test_the_first_four_actions_are_replayed_and_the_others_simulated() -> None:
    assert Counter(action.protocol for action in actions()) == {"direct": 4, "simulator": 4}
    assert [action.key for action in actions() if action.timing] == ["stop", "interrupt", "recover"]


def test_a_condition_is_found_by_its_name() -> None:
    found = condition_named("hold_floor_background")
    assert found is not None
    assert (found.action, found.title) == ("hold_floor", "Background speech")
    assert condition_named("hold_floor") is None


def test_the_inferred_sizes_add_up_to_the_publications_totals() -> None:
    sizes = Counter[str]()
    for condition in conditions():
        sizes[condition.made] += condition.official
    assert sizes == {"recordings": 2_531, "synthesis": 2_160}
