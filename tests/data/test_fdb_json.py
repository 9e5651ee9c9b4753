from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullduplex.data import fdb_json
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, ms, seconds
from fullduplex.model.speech import Token, Word

NAMES: dict[str, Callable[[Path], Any]] = {
    "output.json": fdb_json.read_tokens,
    "pause.json": lambda path: fdb_json.read_events({"pause.json": path}),
    "turn_taking.json": lambda path: fdb_json.read_events({"turn_taking.json": path}),
    "interrupt.json": lambda path: fdb_json.read_events({"interrupt.json": path}),
    "metadata.json": lambda path: fdb_json.read_events({"metadata.json": path}),
    "rating.json": fdb_json.read_rating,
    "reference.json": fdb_json.read_reference,
    "vad.json": fdb_json.read_vad,
    "latency_intervals.json": fdb_json.read_latency_intervals,
    "content_tag.json": fdb_json.read_content_tag,
    "general_split.json": fdb_json.read_general_split,
    "transcription.json": fdb_json.read_transcription,
    "context": fdb_json.read_context,
}


def save(folder: Path, name: str, value: object) -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def chunk(text: object = "yes", *timestamp: object) -> dict[str, object]:
    return {"text": text, "timestamp": list(timestamp)}


def says(read: Callable[[Path], object], path: Path) -> str:
    with pytest.raises(InputError) as raised:
        read(path)
    return str(raised.value).removeprefix(f"{path}")


# -- words


def test_tokens_are_exactly_what_the_file_has(tmp_path: Path) -> None:
    path = save(tmp_path, "output.json", {"chunks": [chunk(" b ", 1.9, 2.0100000000000016), chunk("", 0, None)]})
    assert fdb_json.read_tokens(path) == (Token(" b ", 1.9, 2.0100000000000016), Token("", 0.0, None))


def test_a_bare_list_of_chunks_is_read_but_a_token_list_is_not(tmp_path: Path) -> None:
    assert fdb_json.read_tokens(save(tmp_path, "a.json", [chunk("yes", 1, 2)])) == (Token("yes", 1.0, 2.0),)
    assert "a token list: texts without times" in says(fdb_json.read_tokens, save(tmp_path, "b.json", ["yes", "no"]))


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({"text": "uh-huh"}, ": found an object with text, expected an object with 'chunks'"),
        ({"chunks": {}}, ", chunks: found an object with nothing, expected a list of words"),
        ({"chunks": [chunk("a", 0, 1), {"text": "b"}]}, ", chunks[1]: found an object with text"),
        ({"chunks": [chunk("a", "0", 1)]}, ", chunks[0].timestamp[0]: found '0', expected a time in seconds"),
        ({"chunks": [chunk("a", True, 1)]}, ", chunks[0].timestamp[0]: found True"),
        ({"chunks": [chunk("a", 0)]}, ", chunks[0].timestamp: found [0], expected two times"),
        ({"chunks": [chunk(None, 0, 1)]}, ", chunks[0].text: found null, expected a text"),
        ({"chunks": [chunk("a", 0, 1e12)]}, ", chunks[0].timestamp[1]: found 1000000000000.0"),
        ('{"chunks": [{"text": "a", "timestamp": [0, NaN]}]}', ": found NaN, expected JSON with finite numbers"),
        ('{"chunks": [{"text": "a", "timestamp": [0, 1e999]}]}', ", chunks[0].timestamp[1]: found inf"),
        ('{"chunks": [', ", line 1 column 13: found Expecting value, expected JSON"),
        ("[" * 100_000, ": found lists nested without end"),
        ('{"chunks": [{"text": "a", "timestamp": [0, 1' + "0" * 5000 + "]}]}", ": found Exceeds the limit"),
    ],
)
def test_a_bad_transcript_is_refused_with_its_place(tmp_path: Path, value: object, sentence: str) -> None:
    assert says(fdb_json.read_tokens, save(tmp_path, "output.json", value)).startswith(sentence)


def test_bytes_that_are_no_text_are_refused_and_a_byte_order_mark_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xff\xfe{}")
    assert "not UTF-8" in says(fdb_json.read_tokens, tmp_path / "a.json")
    (tmp_path / "b.json").write_bytes(b'\xef\xbb\xbf{"chunks": []}')
    assert fdb_json.read_tokens(tmp_path / "b.json") == ()


def test_words_are_stripped_sorted_and_mended() -> None:
    tokens = (
        Token(" late", 4.0, 4.4),
        Token("early", 1.0, 1.4),
        Token(" ", 2.0, 2.1),
        Token("nowhere", None, 3.0),
        Token("open", 3.0, None),
        Token("reversed", 3.5, 3.1),
    )
    assert fdb_json.words_of(tokens) == (
        Word("early", Span(seconds(1.0), seconds(1.4))),
        Word("open", Span(seconds(3.0), seconds(3.0) + 1)),
        Word("reversed", Span(seconds(3.5), seconds(3.5) + 1)),
        Word("late", Span(seconds(4.0), seconds(4.4))),
    )
    assert fdb_json.remarks_on(tokens) == (
        "1 word without text",
        "1 word without a start",
        "1 word without an end",
        "1 word ending no later than its start",
        "1 word out of order",
    )


@given(st.lists(st.tuples(st.floats(0, 100), st.floats(0, 100)), max_size=20))
def test_words_are_in_order_whatever_the_tokens(times: list[tuple[float, float]]) -> None:
    words = fdb_json.words_of(tuple(Token("w", a, b) for a, b in times))
    starts = [word.span.start for word in words]
    assert len(words) == len(times) and starts == sorted(starts)


# -- events


def test_every_pause_is_an_event_in_the_order_of_the_file(tmp_path: Path) -> None:
    path = save(tmp_path, "pause.json", [chunk("[PAUSE]", 5, 6), chunk("[PAUSE]", 1, 1.5)])
    assert fdb_json.read_events({"pause.json": path}) == (
        Event("pause", Span(seconds(5), seconds(6))),
        Event("pause", Span(seconds(1), seconds(1.5))),
    )


@pytest.mark.parametrize("reply", [2.0, 1.5])
def test_a_turn_end_whose_reply_comes_no_later_lasts_a_microsecond(tmp_path: Path, reply: float) -> None:
    path = save(tmp_path, "turn_taking.json", [chunk("[TURN-TAKING]", 2.0, reply)])
    assert fdb_json.read_events({"turn_taking.json": path}) == (Event("turn_end", Span(seconds(2), seconds(2) + 1)),)


def test_an_interruption_is_read_in_the_new_and_in_the_old_shape(tmp_path: Path) -> None:
    told = {"context": "Before.", "interrupt": "Stop!", "timestamp": [4, 6]}
    new = save(tmp_path, "new.json", [told])
    old = save(tmp_path, "old.json", {"context": "Before.", "interrupt": "Stop!", "timestamps": [4, 6]})
    expected = (Event("interruption", Span(seconds(4), seconds(6)), "Stop!"),)
    for path in (new, old):
        assert fdb_json.read_events({"interrupt.json": path}) == expected
        assert fdb_json.read_context(path) == "Before."


def test_metadata_tells_the_overlap_and_what_is_said_in_it(tmp_path: Path) -> None:
    told = {"context_text": "a", "current_turn_text": "uh huh", "timestamps": [6.0, 6.5]}
    path = save(tmp_path, "metadata.json", told)
    assert fdb_json.read_events({"metadata.json": path}) == (Event("overlap", Span(seconds(6), ms(6500)), "uh huh"),)


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("pause.json", {}, ": found an object with nothing, expected a list of events"),
        ("pause.json", [{"text": "[PAUSE]"}], ", [0]: found an object with text, expected an object with 'timestamp'"),
        ("pause.json", [chunk("", 2, 1)], ", [0].timestamp: found [2, 1], expected [start, end]"),
        ("pause.json", [chunk("", 1, 1)], ", [0].timestamp: found [1, 1]"),
        ("pause.json", [chunk("", -1, 1)], ", [0].timestamp[0]: found -1, expected a time that is not negative"),
        ("pause.json", [chunk("", 1, 2), chunk("", None, 1)], ", [1].timestamp[0]: found null"),
        ("turn_taking.json", [chunk("", 1, None)], ", [0].timestamp[1]: found null"),
        (
            "interrupt.json",
            [chunk("", 1, 2)],
            ", [0]: found an object with text, timestamp, expected an object with 'int",
        ),
        (
            "metadata.json",
            {"timestamps": [1, 2]},
            ": found an object with timestamps, expected an object with 'context",
        ),
    ],
)
def test_a_bad_event_is_refused_with_its_place(tmp_path: Path, name: str, value: object, sentence: str) -> None:
    assert says(NAMES[name], save(tmp_path, name, value)).startswith(sentence)


@pytest.mark.parametrize("kind", ["pause", "turn_end"])
def test_events_by_hand_need_a_kind_from_somewhere(kind: str) -> None:
    given_ = [{"start": 1, "end": 2, "text": "x"}]
    assert fdb_json.events_given(given_, Path("m"), "", kind) == (Event(kind, Span(seconds(1), seconds(2)), "x"),)
    with pytest.raises(InputError, match="without a kind"):
        fdb_json.events_given(given_, Path("m"), "", "")


# -- the other files


def test_a_rating_is_a_verdict_with_its_reason(tmp_path: Path) -> None:
    found = fdb_json.read_rating(save(tmp_path, "rating.json", {"analysis": "Good.", "rating": 4}))
    assert (found.value, found.reason) == (4.0, "Good.")
    assert "rating: found '4'" in says(fdb_json.read_rating, save(tmp_path, "b.json", {"rating": "4"}))


def test_a_reference_holds_finite_numbers_only(tmp_path: Path) -> None:
    assert fdb_json.read_reference(save(tmp_path, "a.json", {"0": [0.5, 0.5]})) == {"0": [0.5, 0.5]}
    assert ", 3[1]: found 'x'" in says(fdb_json.read_reference, save(tmp_path, "b.json", {"3": [1, "x"]}))
    assert "a list of numbers" in says(fdb_json.read_reference, save(tmp_path, "c.json", {"3": []}))


def test_a_detectors_segments_keep_their_floats(tmp_path: Path) -> None:
    path = save(tmp_path, "vad.json", {"output": [[0.1, 2.2]]})
    assert fdb_json.read_vad(path) == {"output": [(0.1, 2.2)], "input": []}


def test_a_transcription_tells_its_speakers(tmp_path: Path) -> None:
    told = [{"speaker": 1, "item": [chunk("Hi", 0, 1)]}, {"speaker": 0, "item": []}]
    assert fdb_json.read_transcription(save(tmp_path, "a.json", told)) == (("1", (Token("Hi", 0.0, 1.0),)), ("0", ()))


def test_every_file_of_the_released_cases_can_be_read_or_is_known(shared: Path) -> None:
    refused = []
    for path in sorted((shared / "cases/full-duplex-bench").glob("v1*/*/*.json")):
        name = "output.json" if path.name in ("input.json", "clean_input.json", "clean_output.json") else path.name
        try:
            NAMES[name](path) if name in NAMES else None
        except InputError:
            refused.append(f"{path.parent.name}/{path.name}")
    assert refused == ["118/output.json"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "text",
                    "chunks",
                    "timestamp",
                    "timestamps",
                    "interrupt",
                    "rating",
                    "behaviour",
                    "item",
                    "speaker",
                    "pre",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("name", sorted(NAMES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(content=JSON.map(json.dumps) | st.text(max_size=20))
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content, encoding="utf-8")
    try:
        NAMES[name](path)
    except InputError as error:
        assert "\n" not in str(error)
