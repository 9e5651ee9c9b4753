"""How many talks may go before a cap is passed, and what a session's length leaves of a talk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fullduplex.driving.clock import run_virtual
from fullduplex.driving.cues import at
from fullduplex.driving.drive import Turn, drive
from fullduplex.driving.link import Traits
from fullduplex.driving.prices import Prices, dollars, rounded_up
from fullduplex.driving.talk import HangUp, Talk
from fullduplex.holding import LEEWAY, Budget, fits_all
from fullduplex.model.spans import ms, seconds
from fullduplex.runs.drive import Held
from fullduplex.runs.limits import Limits, Patience, Spending, spent_on
from fullduplex.runs.session_length import BEFORE, TooLong, whole, within
from fullduplex.systems.refusals import Refusal
from fullduplex.testing.loopback import Twin
from fullduplex.testing.probes import like_speech

TOKENS = Prices(tokens={"output": 10.0})
MINUTE = Prices(minute=6.0)


def cost(dollars: float, rate: float = 0.0) -> Held:
    return Held("", spending=Spending(dollars, dollars, rate))


def test_the_first_talk_of_unknown_cost_goes_alone() -> None:
    assert Budget(10.0, TOKENS).round([30.0] * 5, 4) == [0.0]


def test_talks_by_tokens_go_no_more_at_a_time_than_there_are_sessions() -> None:
    budget = Budget(10.0, TOKENS)
    budget.take(cost(1.0))
    assert budget.round([30.0] * 20, 4) == [1.0] * 4


def test_a_longer_talk_is_taken_for_dearer_by_its_rate() -> None:
    budget = Budget(10.0, TOKENS)
    budget.take(cost(1.0, rate=0.1))
    assert budget.round([5.0, 60.0], 2) == [1.0, 6.0]
    assert budget.round([95.0], 1) == []


def test_a_cap_by_the_minute_is_reached_exactly_and_not_passed() -> None:
    budget = Budget(3 * 6.0 * (30 + LEEWAY) / 60, MINUTE)
    assert len(budget.round([30.0] * 9, 1)) == 3
    assert len(replace(budget, most=budget.most - 1e-6).round([30.0] * 9, 1)) == 2


def test_what_was_spent_leaves_less() -> None:
    budget = Budget(2.0, TOKENS, spent=1.5, dearest=0.5, known=True)
    assert budget.round([1.0] * 3, 3) == [0.5]
    budget.take(cost(0.5))
    assert budget.round([1.0], 1) == [] and "cost cap" in budget.why


def test_an_attempt_whose_cost_is_not_known_ends_it() -> None:
    budget = Budget(2.0, TOKENS)
    budget.take(Held("", spending=Spending(unknown=1, why="the system did not count its tokens")))
    assert budget.round([1.0], 1) == [] and "did not count" in budget.why


def test_another_attempt_has_to_fit_its_talk_s_allowance() -> None:
    limits = Limits(prices=TOKENS, allowance=1.0, bound=0.5)
    assert limits.allows(0.5) and not limits.allows(0.51) and Limits().allows(1e9)


def test_keys_are_shown_nowhere() -> None:
    assert "secret" not in repr(Limits((("KEY", "secret"),)))


def test_costs_that_are_none_are_not_added_up() -> None:
    assert spent_on([{"cost": 1.5}, {"cost": None}, {"cost": True}, {}, "x"]) == 1.5


def test_patience_with_a_full_server_ends() -> None:
    patience = Patience(0, "item")
    assert patience.pause(Refusal(True, 601.0)) is None
    pauses = [patience.pause(Refusal(True)) for _ in range(40)]
    given = [pause for pause in pauses if pause is not None]
    assert pauses[-1] is None and 500 < sum(given) <= 600 and 0.5 <= given[0] <= 1.0
    assert patience.told()["waited"]["refusals"] == len(given) and patience.told() == {}


def test_a_server_s_wait_is_kept_to() -> None:
    pause = Patience(0, "item").pause(Refusal(True, 5.0))
    assert pause is not None and 5.0 <= pause <= 5.5


def system(longest: int) -> Twin:
    return Twin({"handshake": 0.001}, Traits(virtual=True, longest=longest))


def test_a_talk_whose_length_is_stated_has_to_fit_a_session() -> None:
    assert within(seconds(10) - BEFORE, system(seconds(10)), None) == seconds(10) - BEFORE
    with pytest.raises(TooLong, match="lasts 10 s, and its sessions at most 10 s"):
        within(seconds(10), system(seconds(10)), None)
    assert within(seconds(9_999), system(0), None) == seconds(9_999)


def test_a_talk_that_ends_by_hanging_up_is_given_the_session() -> None:
    assert within(seconds(60), system(seconds(10)), HangUp()) == seconds(10) - BEFORE


def held(turns: list[Turn], longest: int) -> Talk:
    its, rule = system(longest), HangUp(seconds(1), seconds(2))
    return run_virtual(drive(its, turns, length=within(seconds(60), its, rule), hang_up=rule))


def test_what_was_not_said_when_the_session_ended_makes_the_talk_a_failure() -> None:
    said = like_speech(16_000, seconds(1))
    longest = seconds(4)
    short, cut = [Turn(said, at(ms(500)))], [Turn(said, at(ms(500))), Turn(said, at(seconds(3)))]
    whole(held(short, longest), system(longest), seconds(60))
    for turns in (cut, [Turn(said, at(ms(500))), Turn(said, at(seconds(30)))]):
        with pytest.raises(TooLong, match="had not said everything") as error:
            whole(held(turns, longest), system(longest), seconds(60))
        assert error.value.talk is not None


def test_the_run_is_no_place_for_secrets(tmp_path: Path) -> None:
    # A task travels to other processes; what is printed of it there holds no key.
    from fullduplex.data.dataset import Entry
    from fullduplex.model.spec import Spec
    from fullduplex.runs.drive import DriveTask

    task = DriveTask(str(tmp_path), Entry("1", "s"), Spec("scripted"), limits=Limits((("KEY", "secret"),)))
    assert "secret" not in repr(task)


def test_what_a_plan_reckons_is_what_the_cap_needs() -> None:
    lengths = [17.6, 9.1, 3.3]
    cap = fits_all(lengths, MINUTE)
    assert cap is not None and len(Budget(cap, MINUTE).round(lengths, 1)) == 3
    assert fits_all(lengths, TOKENS) is None and fits_all([], MINUTE) == 0
    assert fits_all(lengths, Prices(talk=1.0)) == 3.0


def test_the_talk_that_does_not_fit_is_told_with_its_own_bound() -> None:
    budget = Budget(0.0461, Prices(minute=0.06), spent=0.0286, dearest=0.0097, known=True)
    assert budget.round([17.6], 1) == []
    assert "the next talk may cost US$ 0.0226 (17.6 s, and 5 s" in budget.why and "0.0097" not in budget.why


@pytest.mark.parametrize(("amount", "shown"), [(0.04613, "US$ 0.0462"), (0.25, "US$ 0.25"), (1.001, "US$ 1.01")])
def test_what_is_shown_as_a_cap_is_no_less_than_it(amount: float, shown: str) -> None:
    assert dollars(rounded_up(amount)) == shown and rounded_up(0.0) == 0
