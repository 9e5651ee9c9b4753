"""Groundedness: what each probe comes to, which of them count, and what a conversation's share is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fullduplex.measures import grounded
from fullduplex.measures.replies import Limits
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, Timeline, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Fact, Trial, Verdict

LIMITS = Limits()
YES, NO = Verdict("yes", by="judge"), Verdict("no", reason="says eight", by="judge")
BROKEN = Verdict("broken", reason="it claimed so", by="judge")
AMENDED = Verdict("broken", reason="read", by="amended by Ada")
#: Turns u0, u1, ... of 2 s each, every 10 s, the first at 1 s; the probes are u1, u2 and u3.
TYPES = {"1": "recall", "2": "false_premise", "3": "recall"}


def talk(
    *replies: int,
    verdicts: Mapping[str, Verdict | Absent] | None = None,
    fell: int = 4,
    rests: tuple[str, ...] = ("2",),
    lasts: int = 60_000,
    heard: bool = True,
) -> Trial:
    """Return a conversation whose first ``fell`` turns fell, with replies half a second after those numbered."""
    spans = {n: (1 + 10 * n, 3 + 10 * n) if n < fell else None for n in range(4)}
    probes = [
        {"id": id, "cue": f"u{id}", "type": type, "expected": "Says twelve.", "fact": "", "kind": "",
         "rests_on_assistant": id in rests,
         "start": None if spans[int(id)] is None else spans[int(id)][0],  # type: ignore[index]
         "end": None if spans[int(id)] is None else spans[int(id)][1]}  # type: ignore[index]
        for id, type in TYPES.items()
    ]  # fmt: skip
    turns = [{"id": f"u{n}", "text": "", "timestamp": None if at is None else list(at)} for n, at in spans.items()]
    told: dict[str, Any] = {
        "scenario": "groundedness", "expects": [], "probes": probes, "pauses": [], "turns": turns,
    }  # fmt: skip
    said = [Span(ms(3500 + 10_000 * n), ms(5500 + 10_000 * n)) for n in replies]
    system = Track(tuple(Word("twelve", span) for span in said) if heard else None, Timeline(said), duration=ms(lasts))
    user = Track(tuple(Word("word", Span(ms(at[0] * 1000), ms(at[1] * 1000))) for at in spans.values() if at))
    return Trial(Item("1", reference={"interaction": told}), user, system, verdicts=verdicts or {})


def judged(*values: Verdict | Absent, **others: Verdict | Absent) -> dict[str, Verdict | Absent]:
    return {f"probe:{n}": one for n, one in enumerate(values, 1)} | {
        name.replace("_", ":"): one for name, one in others.items()
    }


def value(found: Fact | Absent) -> float | str:
    return found.value if isinstance(found, Fact) else found.reason


def states(trial: Trial) -> list[str]:
    found = grounded.probed(trial, LIMITS)
    assert not isinstance(found, Absent)
    return [one.state.reason if isinstance(one.state, Absent) else one.state for one in found]


def test_a_conversations_share_is_of_the_probes_that_count() -> None:
    trial = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES))
    found = grounded.grounded(trial, LIMITS)
    assert value(found) == pytest.approx(2 / 3)
    assert isinstance(found, Fact) and found.why == "2 passed, 1 wrong reply"


def test_no_reply_and_a_wrong_reply_are_told_apart_and_both_fail() -> None:
    trial = talk(0, 1, 2, verdicts=judged(YES, NO))
    assert states(trial) == ["passed", "wrong reply", "no reply"]
    assert value(grounded.grounded(trial, LIMITS)) == pytest.approx(1 / 3)
    assert [value(grounded.count(trial, state, LIMITS)) for state in grounded.STATES] == [1, 1, 1, 0, 0]


def test_a_probe_that_the_talk_ended_before_fails_and_says_so() -> None:
    trial = talk(0, 1, fell=2, verdicts=judged(YES))
    assert states(trial) == ["passed", "never asked", "never asked"]
    facts = grounded.probe_facts(trial, LIMITS)
    assert [(id, type, value(fact)) for id, type, fact in facts] == [
        ("1", "recall", 1), ("2", "false_premise", 0), ("3", "recall", 0),
    ]  # fmt: skip
    last = facts[2][2]
    assert isinstance(last, Fact) and last.why == "never asked: the talk ended before it"
    assert value(grounded.grounded(trial, LIMITS)) == pytest.approx(1 / 3)


def test_a_talk_that_ends_right_after_a_probe_has_no_reply_to_it() -> None:
    trial = talk(0, 1, 2, lasts=34_000, verdicts=judged(YES, YES))
    assert states(trial) == ["passed", "passed", "no reply"]


def test_the_reply_ends_where_the_users_next_turn_begins() -> None:
    trial = talk(0, 2, 3, verdicts=judged(YES, YES, YES))
    late = replace(trial, system=replace(trial.system, words=(Word("twelve", Span(ms(21_000), ms(22_000))),),
                                         speech=Timeline([Span(ms(21_000), ms(22_000))])))  # fmt: skip
    assert states(late)[0] == "no reply"


def test_a_doubted_premise_counts_until_a_person_confirms_that_it_is_broken() -> None:
    doubted = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES, premise_2=BROKEN))
    assert value(grounded.grounded(doubted, LIMITS)) == pytest.approx(2 / 3)
    assert value(grounded.premises_doubted(doubted, LIMITS)) == 1
    fact = grounded.probe_facts(doubted, LIMITS)[1][2]
    assert isinstance(fact, Fact) and fact.why.endswith("its premise is doubted, and no person has confirmed that")
    confirmed = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES, premise_2=AMENDED))
    assert states(confirmed)[1] == "premise does not hold"
    assert value(grounded.grounded(confirmed, LIMITS)) == 1
    assert value(grounded.counted(confirmed, LIMITS)) == 2
    assert value(grounded.premises_doubted(confirmed, LIMITS)) == 0


def test_a_premise_that_a_person_upholds_is_doubted_no_more() -> None:
    trial = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES, premise_2=Verdict("holds", by="amended by Ada")))
    assert value(grounded.premises_doubted(trial, LIMITS)) == 0
    assert value(grounded.counted(trial, LIMITS)) == 3


def test_premises_that_nobody_judged_are_not_upheld() -> None:
    nobody = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES))
    assert value(grounded.premises_doubted(nobody, LIMITS)) == "not judged"
    unread = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES) | {"premise:2": Absent("unparsable")})
    assert value(grounded.premises_doubted(unread, LIMITS)) == "unparsable"
    assert value(grounded.counted(unread, LIMITS)) == 3
    assert value(grounded.premises_doubted(talk(0, 1, 2, 3, rests=()), LIMITS)) == 0


def test_a_premise_matters_only_where_the_probe_rests_on_the_assistant() -> None:
    trial = talk(0, 1, 2, 3, rests=(), verdicts=judged(YES, NO, YES, premise_2=AMENDED))
    assert value(grounded.counted(trial, LIMITS)) == 3


def test_a_share_without_every_verdict_is_not_known() -> None:
    # What fails by rule would be all that is left.
    assert value(grounded.grounded(talk(0, 1, 2), LIMITS)) == "not judged"
    unreached = talk(0, 1, 2, 3, verdicts=judged(YES, Absent("unreachable"), YES))
    assert value(grounded.grounded(unreached, LIMITS)) == "unreachable"
    assert value(grounded.count(talk(0, 1, 2), "passed", LIMITS)) == "not judged"
    assert value(grounded.count(talk(0, 1, 2), "no reply", LIMITS)) == 1


def test_a_silent_system_fails_every_probe_without_a_judge() -> None:
    assert value(grounded.grounded(talk(), LIMITS)) == 0
    assert value(grounded.coherence(talk(), LIMITS)) == 0


def test_a_type_of_probe_has_a_share_of_its_own() -> None:
    trial = talk(0, 1, 2, 3, verdicts=judged(YES, YES, NO))
    assert value(grounded.grounded(trial, LIMITS, type="recall")) == 0.5
    assert value(grounded.grounded(trial, LIMITS, type="false_premise")) == 1
    assert value(grounded.grounded(trial, LIMITS, type="nonsense")) == "no such probe"


def test_a_persons_correction_counts_over_every_rule() -> None:
    trial = talk(0, 1, 2, verdicts=judged(YES, YES, Verdict("yes", by="amended by Ada")))
    assert states(trial) == ["passed"] * 3


@pytest.mark.parametrize(
    ("said", "found"), [(0.0, 0), (87.0, 87), ("100", 100), (101.0, "unparsable"), ("good", "unparsable")]
)
def test_coherence_is_a_number_from_0_to_100(said: float | str, found: float | str) -> None:
    assert value(grounded.coherence(talk(0, verdicts={"coherence": Verdict(said)}), LIMITS)) == found


def test_what_cannot_be_known_has_its_reason() -> None:
    assert value(grounded.grounded(Trial(Item("1")), LIMITS)) == "no annotation"
    assert value(grounded.grounded(replace(talk(), failed="no such file"), LIMITS)) == "failed"
    assert value(grounded.grounded(replace(talk(), system=Track()), LIMITS)) == "no output"
    assert value(grounded.grounded(talk(0, 1, 2, 3, heard=False, verdicts=judged(YES, YES, YES)), LIMITS)) == "no words"
    assert value(grounded.coherence(talk(0), LIMITS)) == "not judged"
    assert grounded.probe_facts(Trial(Item("1")), LIMITS) == []


@pytest.mark.parametrize(
    ("trial", "share", "lost"),
    [
        (talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES)), "probe", "probe"),
        (talk(0, verdicts=judged()), "", ""),
        (talk(0, 1, 2, 3, verdicts=judged(*[Verdict("yes", by="amended by Ann")] * 3)), "", ""),
    ],
)
def test_a_share_rests_on_a_judge_where_one_said_what_a_probe_came_to(trial: Trial, share: str, lost: str) -> None:
    found, wrong = grounded.grounded(trial, LIMITS), grounded.count(trial, "wrong reply", LIMITS)
    none = grounded.count(trial, "no reply", LIMITS)
    assert isinstance(found, Fact) and isinstance(wrong, Fact) and isinstance(none, Fact)
    assert (found.verdict, wrong.verdict, none.verdict) == (share, lost, "")


def test_premises_and_coherence_rest_on_verdicts_of_their_own() -> None:
    trial = talk(0, 1, 2, 3, verdicts=judged(YES, NO, YES, premise_2=BROKEN) | {"coherence": Verdict("80")})
    doubted, whole = grounded.premises_doubted(trial, LIMITS), grounded.coherence(trial, LIMITS)
    assert isinstance(doubted, Fact) and isinstance(whole, Fact)
    assert (doubted.verdict, whole.verdict) == ("premise", "coherence")
    confirmed = grounded.premises_doubted(talk(0, 1, 2, 3, verdicts=judged(YES, YES, YES, premise_2=AMENDED)), LIMITS)
    corrected = grounded.coherence(talk(0, verdicts={"coherence": Verdict("80", by="amended by Ann")}), LIMITS)
    for found in confirmed, corrected:
        assert isinstance(found, Fact) and found.verdict == ""
