import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.driving.branches import DECIDE, Branching, Edge, Node, read_branches, recorded
from fullduplex.driving.clock import run_on
from fullduplex.driving.conditions import (
    all_of,
    any_of,
    condition_from_json,
    overlapped,
    replied,
    said,
    silent,
    spoke_for,
    unanswered,
)
from fullduplex.driving.cues import Due, after_reply, after_word, at, into_reply
from fullduplex.driving.drive import Talk, drive
from fullduplex.driving.playout import Samples
from fullduplex.driving.talk import HangUp
from fullduplex.driving.validity import validity
from fullduplex.errors import InputError
from fullduplex.model.spans import SECOND, Span, ms, seconds
from fullduplex.systems.scripted import Answer, Say, Script, Scripted, Sound

RATE = 16_000
ODD = ms(10)


def tone(length: int, level: float = 0.3) -> Samples:
    return np.full(length * RATE // SECOND, level, np.float32)


def words_of(node: Node) -> Samples:
    """Each node is a second of its own level."""
    return tone(seconds(1))


def system(*lines: Say | Answer, yields: int | None = None) -> Scripted:
    return Scripted(Script(lines, yields, rate=RATE), rate_in=RATE)


def answer(length: int, text: str = "", delay: int = ms(400)) -> Answer:
    return Answer(Sound(tone(length), text), delay)


def hold(user: Branching, spoken_to: Scripted, length: int = seconds(30)) -> Talk:
    return run_on("step-algorithmic", drive(spoken_to, user, length=length, hang_up=HangUp(quiet=seconds(2))))


def went(user: Branching) -> list[str]:
    return [step.node for step in user.path]


def choice(*then: Edge, otherwise: str | None = None, decide: Due = DECIDE) -> tuple[Node, ...]:
    """A script that begins at half a second and has a node for each way on."""
    ends = {*(edge.go for edge in then), *([] if otherwise is None else [otherwise])}
    start = Node("start", "hello", due=at(ms(500)), then=then, otherwise=otherwise, decide=decide)
    return (start, *(Node(id, id) for id in sorted(ends)))


def test_the_first_condition_met_chooses() -> None:
    user = Branching(
        choice(Edge(said(("booked",)), "thank"), Edge(unanswered(seconds(5)), "nudge"), otherwise="repeat"), words_of
    )
    talk = hold(user, system(answer(seconds(2), "Your table is booked.")))
    assert went(user) == ["start", "thank"]
    # The report comes as the reply begins: 400 ms after the user's second ended at 1.5 s.
    assert user.path[1].begins == seconds(1.9)
    assert [taken.span for taken in talk.turns] == [Span(ms(500), ms(1500)), Span(ms(1900), ms(2900))]


def test_a_system_that_says_nothing_is_nudged_when_the_wait_is_over() -> None:
    user = Branching(choice(Edge(replied(), "thank"), Edge(unanswered(seconds(5)), "nudge")), words_of)
    hold(user, system())
    assert [(step.node, step.begins) for step in user.path] == [("start", ms(500)), ("nudge", seconds(6.5))]


def test_what_no_condition_meets_goes_otherwise_when_the_choice_is_closed() -> None:
    user = Branching(choice(Edge(said(("booked",)), "thank"), otherwise="repeat"), words_of)
    hold(user, system(answer(seconds(2), "Sorry?")))
    # 1.5 s after a reply that sounded from 1.9 s to 3.9 s.
    (step,) = user.path[1:]
    assert (step.node, step.because) == ("repeat", "otherwise")
    assert step.begins == pytest.approx(seconds(5.4), abs=1)


def test_no_condition_and_no_other_way_end_the_script() -> None:
    user = Branching(choice(Edge(said(("booked",)), "thank")), words_of)
    talk = hold(user, system(answer(seconds(2), "Sorry?")))
    assert (went(user), user.ended, talk.ended_by) == (["start"], "no condition was met", "quiet")


def test_the_user_waits_until_the_system_has_spoken_for_a_while_and_cuts_in() -> None:
    user = Branching(choice(Edge(spoke_for(seconds(3)), "cut in"), otherwise="too short"), words_of)
    hold(user, system(answer(seconds(8)), yields=ms(500)))
    assert [(step.node, step.begins) for step in user.path[1:]] == [("cut in", seconds(4.9))]


@pytest.mark.parametrize(("length", "node"), [(seconds(3), "cut in"), (seconds(3) - ODD, "too short")])
def test_speech_of_the_very_length_is_long_enough(length: int, node: str) -> None:
    user = Branching(choice(Edge(spoke_for(seconds(3)), "cut in"), otherwise="too short"), words_of)
    hold(user, system(answer(length)))
    assert went(user) == ["start", node]


@pytest.mark.parametrize(("from_", "node"), [(ms(700), "talked over"), (ms(701), "fine")])
def test_a_system_that_talked_over_the_user_for_long_enough_is_told_so(from_: int, node: str) -> None:
    then = Edge(overlapped(ms(800)), "talked over"), Edge(replied(), "fine")
    user = Branching(choice(*then), words_of)
    hold(user, system(Say(Sound(tone(seconds(2))), from_)))
    assert went(user) == ["start", node]


def test_a_node_s_own_due_counts_from_the_choice() -> None:
    start, end = choice(Edge(replied(), "cut in"))
    user = Branching((start, replace(end, due=into_reply(ms(700)))), words_of)
    hold(user, system(answer(seconds(4))))
    assert (user.path[1].chosen, user.path[1].begins) == (seconds(1.9), seconds(2.6))


def test_a_loop_is_left_when_its_node_is_used_up() -> None:
    again = Edge(unanswered(seconds(2)), "ask")
    nodes = (Node("ask", due=at(0), then=(again,), otherwise="give up", at_most=3), Node("give up"))
    user = Branching(nodes, words_of)
    hold(user, system(), length=seconds(60))
    assert [(step.node, step.visit) for step in user.path] == [("ask", 1), ("ask", 2), ("ask", 3), ("give up", 1)]


def test_a_loop_without_another_way_ends() -> None:
    node = Node("ask", due=at(0), then=(Edge(unanswered(seconds(2)), "ask"),), at_most=2)
    user = Branching((node,), words_of)
    hold(user, system())
    assert (went(user), user.finished) == (["ask", "ask"], True)


def test_where_the_system_reports_no_words_they_are_recognised_and_the_choice_waits() -> None:
    heard: list[float] = []

    def hear(samples: Samples, rate: int) -> str:
        heard.append(len(samples) / rate)
        return "Your table is booked."

    decide = after_reply(ms(600), seconds(9))
    nodes = choice(Edge(said(("table is booked",)), "thank"), otherwise="repeat", decide=decide)
    user = Branching(nodes, words_of, hear=hear, hearing=seconds(2))
    talk = hold(user, system(answer(seconds(1))))
    assert validity(talk) == ()
    # It is quiet from 2.9 s; half a second later it is written down, which takes two.
    assert went(user) == ["start", "thank"]
    assert user.path[1].begins == pytest.approx(seconds(5.4), abs=ms(40))
    assert heard == [pytest.approx(1.4)]
    assert user.path[1].heard == "your table is booked"


def test_a_recogniser_that_hears_something_else_holds_the_choice_up_and_no_longer() -> None:
    nodes = choice(Edge(said(("booked",)), "thank"), otherwise="repeat")
    user = Branching(nodes, words_of, hear=lambda samples, rate: "sorry", hearing=seconds(4))
    hold(user, system(answer(seconds(1))))
    (step,) = user.path[1:]
    assert step.node == "repeat"
    assert step.chosen == pytest.approx(seconds(7.4), abs=ms(40))


def test_a_talk_repeats_and_its_path_can_be_written() -> None:
    def once() -> tuple[str, Talk]:
        user = Branching(choice(Edge(said(("booked",)), "thank"), otherwise="repeat"), words_of)
        talk = hold(user, system(answer(seconds(2), "It is booked")))
        return json.dumps([step.to_json() for step in user.path]), talk

    (path, talk), (path_2, talk_2) = once(), once()
    assert path == path_2 and np.array_equal(talk.user, talk_2.user)
    assert json.loads(path)[1] == {
        "node": "thank",
        "visit": 1,
        "from": "start",
        "because": {"when": "said", "phrases": ["booked"], "every": False},
        "chosen": 1.9,
        "begins": 1.9,
        "heard": "it is booked",
    }


@pytest.mark.parametrize(
    "condition",
    [
        replied(),
        unanswered(ms(1)),
        silent(seconds(2)),
        spoke_for(seconds(2)),
        overlapped(0),
        said(("one", "two words"), every=True),
        all_of((replied(), any_of((at(3), after_word("no", 1))))),
    ],
)
def test_conditions_can_be_written_and_read(condition: Due) -> None:
    assert condition_from_json(json.loads(json.dumps(condition.to_json())), Path("x"), "if") == condition


def test_phrases_are_whole_words_in_any_script() -> None:
    from fullduplex.driving.wording import contains

    assert contains("Well, that’s table-for-two!", "table for TWO")
    assert not contains("tables for two", "table")
    assert contains("我想订一个桌子。", "桌子") and not contains("anything", "…")


def script(*nodes: Any) -> dict[str, Any]:
    return {"nodes": list(nodes)}


NODE = {"id": "a", "text": "hello"}
GO = {"if": {"when": "replied"}, "go": "a"}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ([], "an object with 'nodes'"),
        (script(), "at least one"),
        (script({"text": "x"}), "an object with 'id'"),
        (script({"id": "a"}), "nothing to say"),
        (script(NODE, NODE), "2 nodes of this id"),
        (script(NODE | {"else": "b"}), "a way to 'b'"),
        (script(NODE | {"at_most": 0}), "at_most"),
        (script(NODE | {"at_most": True}), "at_most"),
        (script(NODE | {"then": [GO | {"if": {"when": "never"}}]}), "then 1, if: found 'never'"),
        (script(NODE | {"then": [GO | {"if": {"when": ["replied"]}}]}), "then 1, if"),
        (script(NODE | {"then": [GO | {"if": {"when": "silent", "length": -1}}]}), "not below 0"),
        (script(NODE | {"then": [GO | {"if": {"when": "silent", "length": "1"}}]}), "a time in seconds"),
        (script(NODE | {"then": [GO | {"if": {"when": "said", "phrases": ["…"]}}]}), "expected words"),
        (script(NODE | {"then": [GO | {"to": "a"}]}), '"if" and "go"'),
        (script(NODE | {"den": []}), "'den'"),
        (script(NODE | {"audio": "../../etc/passwd"}), "in the script's folder"),
        (script(NODE | {"audio": "/etc/passwd"}), "in the script's folder"),
        (script(NODE | {"audio": "a\0b"}), "in the script's folder"),
        (script(NODE | {"audio": "a.wav", "span": [2, 1]}), "start before end"),
    ],
)
def test_a_script_that_is_none_is_refused_in_a_sentence(tmp_path: Path, value: Any, names: str) -> None:
    path = tmp_path / "script.json"
    path.write_text(json.dumps(value))
    with pytest.raises(InputError) as refused:
        read_branches(path)
    assert names in str(refused.value) and "\n" not in str(refused.value)


def test_conditions_within_each_other_without_end_are_refused() -> None:
    value: Any = {"when": "replied"}
    for _ in range(30):
        value = {"when": "all_of", "conditions": [value]}
    with pytest.raises(InputError, match="within each other"):
        condition_from_json(value, Path("x"), "if")


def test_the_next_segment_of_a_recording_is_released_by_the_system(tmp_path: Path) -> None:
    segments = np.concatenate([tone(seconds(1), 0.25), tone(seconds(2), 0.5)])
    audio.write(tmp_path / "user.wav", segments, RATE)
    nodes: Sequence[dict[str, Any]] = [
        {
            "id": "question",
            "audio": "user.wav",
            "span": [0, 1],
            "due": {"when": "at", "time": 0.2},
            "then": [{"if": {"when": "spoke_for", "length": 2.5}, "go": "interruption"}],
        },
        {"id": "interruption", "audio": "user.wav", "span": [1, 3], "text": "wait"},
    ]
    path = tmp_path / "script.json"
    path.write_text(json.dumps({"nodes": nodes}))
    user = Branching(read_branches(path), recorded(RATE))
    talk = hold(user, system(answer(seconds(6)), yields=ms(300)))
    cut_in = talk.turns[1].span
    assert cut_in == Span(seconds(4.1), seconds(6.1))
    assert np.allclose(talk.user[cut_in.start * RATE // SECOND : cut_in.end * RATE // SECOND], 0.5, atol=1e-3)
    assert user.path[1].came_from == "question"


def test_a_node_without_a_recording_needs_a_voice() -> None:
    with pytest.raises(InputError, match="a: found no audio"):
        Branching((Node("a", "hello"),), recorded(RATE))


def test_a_span_outside_its_recording_is_refused(tmp_path: Path) -> None:
    audio.write(tmp_path / "user.wav", tone(seconds(1)), RATE)
    node = Node("a", audio=tmp_path / "user.wav", span=Span(0, seconds(1.5)))
    with pytest.raises(InputError, match="within its 1 s"):
        Branching((node,), recorded(RATE))


@pytest.mark.weights
def test_a_real_voice_is_answered_by_what_a_real_recogniser_heard_of_it() -> None:
    pytest.importorskip("hibari")
    from fullduplex.listening.recognisers.whisper import Whisper
    from fullduplex.providers.voices.hibari import Hibari

    def hear(samples: Samples, rate: int) -> str:
        return " ".join(token.text for token in Whisper("base").recognise(samples, rate).tokens)

    reply = Hibari(pitch=0.9).speak("Good news, your table is booked for seven.")
    script = Script((Answer(Sound(reply.samples), ms(400)),), rate=reply.rate)
    start, *ends = choice(Edge(said(("is booked",)), "thank"), otherwise="repeat")
    user = Branching((start, *ends), recorded(RATE, Hibari()), hear=hear)
    talk = hold(user, Scripted(script, rate_in=RATE))
    assert went(user) == ["start", "thank"]
    assert validity(talk) == ()


def test_the_script_of_the_documents_is_read(tmp_path: Path) -> None:
    page = Path(__file__).parents[2] / "docs" / "explanation" / "users.md"
    block = page.read_text(encoding="utf-8").split("```json\n")[1].split("```")[0]
    (tmp_path / "script.json").write_text(block)
    assert [node.id for node in read_branches(tmp_path / "script.json")] == [
        "question",
        "interruption",
        "nudge",
        "follow-up",
    ]
