"""A language model annotates bare scripts: what is believed, what is asked again, what a person finds afterwards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.making.annotate import CATEGORIES, TRIES, annotate, is_bare, parse_annotation
from fullduplex.making.interaction_policy import POLICY
from fullduplex.making.interaction_script import lines_of, read_interactions
from fullduplex.model.spec import Spec
from fullduplex.providers.language_models import Message
from fullduplex.providers.language_models.openai_compatible import OpenAICompatible

LINES = [{"who": "user", "text": "Fix it. He goed home."}, {"who": "assistant", "text": "Went, not goed."}]
GOOD = '{"category": "grammar", "anchor": {"line": 0, "word": "goed", "occurrence": 1}, "target": "Went"}'
BARE: dict[str, Any] = {"id": "01", "lines": LINES}


class Writes:
    """A model that says given replies, the last one again and again, and keeps what it was asked."""

    spec = Spec("writes", {"model": "m"})

    def __init__(self, *replies: str) -> None:
        self.replies, self.asked = list(replies), list[Sequence[Message]]()

    def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
        self.asked.append(messages)
        yield self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def write(folder: Path, *items: Any, scenario: str = "") -> Path:
    path = folder / "bare.json"
    path.write_text(json.dumps({"schema": 1, "scenario": scenario, "items": list(items)}))
    return path


def test_a_bare_script_becomes_one_that_can_be_made_and_says_who_annotated_it(tmp_path: Path) -> None:
    path = write(tmp_path, BARE)
    found = annotate(path, Writes(GOOD))
    (item,) = read_interactions(path)
    assert found.done == ("bare.json, 01",) and not found.failed
    assert (item.category, item.anchors[0].word, item.target) == ("grammar", "goed", "Went")
    assert item.annotated_by == str(Writes.spec)


def test_what_was_annotated_is_neither_asked_about_nor_changed(tmp_path: Path) -> None:
    path = write(tmp_path, {**BARE, **json.loads(GOOD), "notes": "mine"})
    before, model = path.read_bytes(), Writes(GOOD)
    assert annotate(path, model).kept == 1
    assert not model.asked and path.read_bytes() == before


def test_everything_else_in_the_script_stays(tmp_path: Path) -> None:
    path = write(tmp_path, {**BARE, "notes": "accent: Spanish", "topic": "home"})
    annotate(path, Writes(GOOD))
    (item,) = json.loads(path.read_text())["items"]
    assert (item["notes"], item["topic"], item["lines"]) == ("accent: Spanish", "home", LINES)


def test_what_a_person_wrote_stays_where_only_the_trigger_was_missing(tmp_path: Path) -> None:
    path = write(tmp_path, {**BARE, "category": "grammar", "target": "went home"})
    annotate(path, Writes(GOOD))
    (item,) = read_interactions(path)
    assert (item.target, item.anchors[0].word) == ("went home", "goed")


@pytest.mark.parametrize("odd", [{"category": []}, {"scenario": {}}, {"scenario": ["x"]}, {"category": ["x"]}])
def test_members_of_another_kind_break_nothing(tmp_path: Path, odd: Any) -> None:
    annotate(write(tmp_path, {**BARE, **odd}), Writes(GOOD))


def test_a_wrong_answer_is_told_what_is_wrong_and_asked_again(tmp_path: Path) -> None:
    model = Writes("I would say grammar.", GOOD.replace('"goed"', '"gone"'), GOOD)
    assert annotate(write(tmp_path, BARE), model).done
    assert len(model.asked) == 3 and "'gone' 0 times in line 0" in model.asked[2][-1].text
    assert str(tmp_path) not in model.asked[2][-1].text


def test_after_some_tries_the_item_stays_bare_and_the_next_is_asked_about(tmp_path: Path) -> None:
    model = Writes(*["no"] * TRIES, GOOD)
    path = write(tmp_path, BARE, {**BARE, "id": "02"})
    found = annotate(path, model)
    assert found.done == ("bare.json, 02",) and f"{TRIES} tries" in found.failed[0][1]
    assert "category" not in json.loads(path.read_text())["items"][0] and len(model.asked) == TRIES + 1


def test_the_scenario_of_the_file_is_the_only_category_to_choose(tmp_path: Path) -> None:
    model = Writes(GOOD.replace('"grammar"', '"logic"'))
    assert annotate(write(tmp_path, BARE, scenario="grammar"), model).failed
    assert "logic:" not in model.asked[0][-1].text


@pytest.mark.parametrize("scenario", ["alternating_count", "groundedness"])
def test_what_has_several_triggers_or_probes_is_left_to_a_person(tmp_path: Path, scenario: str) -> None:
    model = Writes(GOOD)
    assert "a person" in annotate(write(tmp_path, BARE, scenario=scenario), model).failed[0][1]
    assert not model.asked


def test_a_script_is_checked_whole_before_the_first_question(tmp_path: Path) -> None:
    model = Writes(GOOD)
    with pytest.raises(InputError, match=r"items\[1\]"):
        annotate(write(tmp_path, BARE, {"id": "02", "lines": "none"}), model)
    assert not model.asked


def test_what_was_annotated_before_the_model_went_away_stays(tmp_path: Path) -> None:
    class Leaves(Writes):
        def reply(self, messages: Sequence[Message], *, limit: int = 60) -> Iterator[str]:
            if self.asked:
                raise PluginError("the language model is gone")
            return super().reply(messages, limit=limit)

    path = write(tmp_path, BARE, {**BARE, "id": "02"})
    model = Leaves(GOOD)
    with pytest.raises(PluginError):
        annotate(path, model)
    assert [is_bare(item) for item in json.loads(path.read_text())["items"]] == [False, True]


def parsed(reply: str, categories: Sequence[str] = tuple(CATEGORIES)) -> Any:
    return parse_annotation(reply, lines_of(BARE, Path("s"), "items[0]"), categories)


def test_an_answer_is_found_among_other_words() -> None:
    assert parsed(f"Sure {{!}}:\n```json\n{GOOD}\n```\nHope that helps").anchor.word == "goed"


def test_a_category_without_a_trigger_takes_no_word() -> None:
    told = GOOD.replace('"grammar"', '"backchannel"')
    assert parsed(told).anchor is None


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"Went"', '"gone"', "stand so in a line of the assistant's"),
        ('"Went"', '"home"', "stand so in a line of the assistant's"),
        ('"Went"', '" "', "a text"),
        ('"Went"', "3", "a text"),
        ('"grammar"', '"chess"', "one of"),
        ('"grammar"', "[]", "one of"),
        ('"line": 0', '"line": 1', "a line of the user's"),
        ('"occurrence": 1', '"occurrence": 2', "'goed' 1 times"),
        (GOOD, "", "one JSON object"),
        (GOOD, "[1]", "one JSON object"),
        (GOOD, "{" * 5_000, "one JSON object"),
    ],
)
def test_an_answer_of_the_models_own_is_refused(old: str, new: str, fault: str) -> None:
    with pytest.raises(InputError) as told:
        parsed(GOOD.replace(old, new))
    assert fault in str(told.value)


def test_every_category_that_has_one_trigger_is_explained() -> None:
    assert set(POLICY) - set(CATEGORIES) == {"alternating_count", "groundedness"}


def test_a_server_that_speaks_the_protocol_annotates(tmp_path: Path) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            event = {"choices": [{"delta": {"content": GOOD}, "finish_reason": "stop"}]}
            self.send_response(200)
            self.end_headers()
            self.wfile.write(f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        model = OpenAICompatible(f"http://127.0.0.1:{server.server_address[1]}/v1", "any")
        found = annotate(write(tmp_path, BARE), model)
        model.close()
        server.shutdown()
    assert found.done and "openai-compatible" in (tmp_path / "bare.json").read_text()
