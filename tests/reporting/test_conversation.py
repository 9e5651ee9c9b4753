"""The user's turns and the probes of a conversation, as its page shows them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fullduplex.benchmarks.interactionbench import variants
from fullduplex.model.items import Item
from fullduplex.model.spans import Span, ms
from fullduplex.model.speech import Track, Word
from fullduplex.model.trials import Absent, Trial, Verdict
from fullduplex.reporting.conversation import probes_of, short_events, turns_of

READ = [(one, next(s for s in one.scenarios if s.card == "groundedness")) for one in variants().values()]


def trial(*answers: tuple[int, str], asked: int = 2, **changes: Any) -> Trial:
    """Return a talk of three turns (0, 10, 20 s, a second each) with probes in the last two; ``asked`` of them fell."""
    turns = [
        {"id": f"u{n}", "text": f"turn [pause 1.5] {n}",
         "timestamp": [10.0 * n, 10.0 * n + 1] if n <= asked else None}
        for n in range(3)
    ]  # fmt: skip
    probes = [
        {"id": str(n), "cue": f"u{n}", "type": type, "kind": kind, "expected": "Says so.", "rests_on_assistant": rests,
         "start": 10.0 * n if n <= asked else None, "end": 10.0 * n + 1 if n <= asked else None}
        for n, type, kind, rests in ((1, "recall", "", False), (2, "false_premise", "false_action", True))
    ]  # fmt: skip
    words = [
        Word(word, Span(ms(at + 300 * n), ms(at + 300 * n + 200)))
        for at, text in answers
        for n, word in enumerate(text.split())
    ]
    told = {"scenario": "groundedness", "turns": turns, "probes": probes, "expects": [], "pauses": []}
    track = Track(tuple(words), duration=ms(30_000))
    return replace(Trial(Item("1", reference={"interaction": told}), Track(), track), **changes)


def test_the_users_turns_are_there_where_no_word_was_recognised() -> None:
    assert turns_of(trial(asked=1)) == [
        {"text": "turn 0", "start": 0.0, "end": 1.0},
        {"text": "turn 1", "start": 10.0, "end": 11.0},
        {"text": "turn 2", "start": None, "end": None},
    ]


def test_what_is_no_interaction_has_neither_turns_nor_probes() -> None:
    assert turns_of(Trial(Item("1"))) == []
    assert probes_of(Trial(Item("1")), READ) == []


def test_a_probe_has_its_question_its_reply_and_the_judges_reason() -> None:
    said = Verdict("no", ("no", "yes", "no"), "it names another day", by="model-1")
    (read,) = probes_of(trial((12_000, "on some other day"), verdicts={"probe:1": said}), READ)
    row = read["rows"][0]
    assert (row["type"], row["question"], row["asked"]) == ("recalls what it was told", "turn 1", 10.0)
    assert (row["reply"], row["replied"]) == ("on some other day", 12.0)
    assert (row["state"], row["known"], row["reason"]) == ("wrong reply", True, "it names another day")
    assert (row["by"], row["votes"]) == ("model-1", "2 of 3 votes")


def test_a_probe_says_whether_it_rests_on_the_assistant_and_is_doubted() -> None:
    talk = trial((22_000, "yes"), verdicts={"probe:2": Verdict("yes"), "premise:2": Verdict("broken", by="model-1")})
    (read,) = probes_of(talk, READ)
    first, second = read["rows"]
    assert (first["rests"], first["doubted"]) == (False, False)
    assert (second["rests"], second["doubted"], second["kind"]) == (True, True, "false action")
    assert second["state"] == "passed"


def test_without_a_reply_or_a_question_no_judge_is_named() -> None:
    rows = probes_of(trial(asked=1), READ)[0]["rows"]
    assert [(row["state"], row["reply"], row["by"]) for row in rows] == [
        ("no reply", None, ""),
        ("never asked", None, ""),
    ]
    assert rows[1]["asked"] is None


def test_what_nobody_judged_is_not_known() -> None:
    row = probes_of(trial((12_000, "on that day")), READ)[0]["rows"][0]
    assert (row["state"], row["known"], row["reply"]) == ("not judged", False, "on that day")
    row = probes_of(trial((12_000, "x"), verdicts={"probe:1": Absent("unparsable", "no label")}), READ)[0]["rows"][0]
    assert (row["state"], row["known"], row["reason"]) == ("unparsable", False, "no label")


def test_variants_that_read_alike_share_their_rows() -> None:
    (read,) = probes_of(trial(), READ)
    assert read["variants"] == [benchmark.variant for benchmark, _ in READ]


def test_a_timeline_labels_a_probe_by_its_type_alone() -> None:
    rows = [{"kind": "probe", "text": "false_premise: Says that it has not paid."}, {"kind": "trigger", "text": "a: b"}]
    assert [row["text"] for row in short_events(rows)] == ["false premise", "a: b"]
