"""What a language model writes is used where a person could say it, and counted where not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.making.pairs import TRIES, said_in, write_pairs, write_script
from fullduplex.making.script_file import read_script
from fullduplex.model.spec import Spec
from fullduplex.providers.language_models import Message


class Writes:
    """A language model that says its lines one after another, in pieces, and the last for ever."""

    spec = Spec("writes")

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.asked: list[Sequence[Message]] = []

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        self.asked.append(messages)
        line = self.lines.pop(0) if len(self.lines) > 1 else self.lines[0]
        yield from (line[:5], line[5:])


def test_a_question_and_its_interruption_become_a_dialogue_that_the_script_reader_reads(tmp_path: Path) -> None:
    model = Writes(
        'QUESTION: "How do I cook rice?"', "**Wait, is it brown rice?**", "How far is the moon?", "I meant Mars."
    )
    written = write_pairs(model, 2)
    assert [(d["context"], d["interrupt"]) for d in written.dialogues] == [
        ("How do I cook rice?", "Wait, is it brown rice?"),
        ("How far is the moon?", "I meant Mars."),
    ]
    write_script(tmp_path / "s.json", written)
    assert [entry.task for entry in read_script(tmp_path / "s.json")] == ["user_interruption"] * 2


def test_the_interruption_is_asked_for_with_its_question() -> None:
    model = Writes("How do I cook rice?", "Wait, is it brown rice?")
    write_pairs(model, 1)
    assert "How do I cook rice?" in model.asked[1][-1].text


def test_the_unusable_is_asked_for_again_and_counted() -> None:
    model = Writes("Rice", "How do I cook", "How do I cook rice?", "Wait, is it brown rice?")
    written = write_pairs(model, 1)
    assert len(written.dialogues) == 1 and written.asked == 3
    assert written.dropped == {"not a whole sentence": 1, "too short or too long": 1}


def test_what_was_said_before_is_not_said_again() -> None:
    model = Writes("How do I cook rice?", "Wait, is it brown rice?", "How do I cook rice?")
    written = write_pairs(model, 2)
    assert len(written.dialogues) == 1 and written.dropped == {"said before": TRIES}


def test_an_interruption_is_not_its_question() -> None:
    with pytest.raises(PluginError, match="said before"):
        write_pairs(Writes("How do I cook rice?"), 1)


def test_a_model_that_writes_nothing_usable_is_a_sentence() -> None:
    with pytest.raises(PluginError, match=r"no usable pair in 4 tries \(nothing said: 4\)"):
        write_pairs(Writes(" "), 1)


@pytest.mark.parametrize(
    "reply",
    [
        "As an AI language model I cannot.",
        "How can I assist you today?",
        "Say [name] to them.",
        "Red \x1b[31m red is it.",
    ],
)
def test_what_no_person_says_is_dropped(reply: str) -> None:
    with pytest.raises(Exception, match="not what a person says"):
        said_in(reply)


def test_the_seed_draws_what_is_asked() -> None:
    def asked(seed: int) -> str:
        model = Writes("How do I cook rice?", "Wait, is it brown rice?")
        write_pairs(model, 1, seed)
        return model.asked[0][-1].text

    assert asked(1) == asked(1) and len({asked(seed) for seed in range(6)}) > 1


def test_no_pairs_is_refused() -> None:
    with pytest.raises(InputError, match="1 or more"):
        write_pairs(Writes("x"), 0)
