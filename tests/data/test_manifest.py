from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fullduplex.data import audio
from fullduplex.data.dataset import Voice, open_dataset
from fullduplex.data.fdb_folder import load_trial
from fullduplex.errors import InputError
from fullduplex.model.items import Event
from fullduplex.model.spans import Span, ms, seconds

SOUND = np.full(8000, 0.1, np.float32)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "audio").mkdir()
    (tmp_path / "lists").mkdir()
    for name in ("call_caller.flac", "call_agent.flac"):
        audio.write(tmp_path / "audio" / name, SOUND, 8000)
    audio.write(tmp_path / "audio/both.wav", np.stack([SOUND, SOUND / 2], axis=1), 8000)
    (tmp_path / "audio/words.json").write_text('{"chunks": [{"text": "hi", "timestamp": [0.25, 0.5]}]}')
    return tmp_path


def save(folder: Path, text: str, name: str = "m.csv") -> Path:
    path = folder / "lists" / name
    path.write_bytes(text.encode())
    return path


def says(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        open_dataset(path)
    return str(raised.value).removeprefix(str(path))


def test_two_mono_files_are_one_conversation(folder: Path) -> None:
    path = save(folder, "id,user,system,task\n49,../audio/call_caller.flac,../audio/call_agent.flac,backchannel\n")
    (entry,) = open_dataset(path).entries
    assert entry.user_voice is not None and entry.user_voice.path.samefile(folder / "audio/call_caller.flac")
    assert entry.system_voice is not None and entry.system_voice.channel is None
    assert entry.missing == ("output.json",)


def test_one_shared_file_has_the_user_on_the_left(folder: Path) -> None:
    path = save(folder, "id,user,system,task\n1,../audio/both.wav,../audio/both.wav,backchannel\n")
    (entry,) = open_dataset(path).entries
    assert entry.user_voice == Voice(folder / "lists/../audio/both.wav", 0)
    assert entry.system_voice == Voice(folder / "lists/../audio/both.wav", 1)


def test_channels_are_counted_from_one_and_the_rows_own_come_first(folder: Path) -> None:
    path = save(
        folder,
        "id,user,system,task,user_channel,system_channel\n1,../audio/both.wav,../audio/both.wav,backchannel,2,1\n",
    )
    (entry,) = open_dataset(path, channels={"user": 0, "system": 1}).entries
    assert entry.user_voice is not None and entry.user_voice.channel == 1
    assert ", line 2, user_channel: found '0'" in says(
        save(folder, "id,words,task,user_channel\n1,../audio/words.json,backchannel,0\n")
    )


def test_two_rows_never_share_a_folder_of_the_run(folder: Path) -> None:
    # v1.5's set of interruptions is called as v1.0's task is.
    row = "1,../audio/words.json,user_interruption"
    text = f"id,words,task,dataset\n{row},\n{row},user_interruption\n"
    assert "line 3: found id '1' again (line 2)" in says(save(folder, text))


def test_events_stand_in_the_row_or_in_a_file(folder: Path) -> None:
    (folder / "audio/pause.json").write_text('[{"text": "[PAUSE]", "timestamp": [0.5, 0.75]}]')
    path = save(
        folder,
        "id,words,events\n"
        '1,../audio/words.json,"[{""kind"": ""pause"", ""timestamp"": [0.5, 0.75]}]"\n'
        "2,../audio/words.json,../audio/pause.json\n",
    )
    entries = open_dataset(path).entries
    assert [e.task for e in entries] == ["pause_handling"] * 2
    expected = (Event("pause", Span(ms(500), ms(750))),)
    assert load_trial(entries[0]).events == expected
    (with_text,) = load_trial(entries[1]).events
    assert (with_text.kind, with_text.span) == ("pause", Span(ms(500), ms(750)))
    assert entries[1].missing == ("input.wav", "output.wav")


def test_a_task_tells_what_its_events_are(folder: Path) -> None:
    row = {"id": "1", "task": "user_interruption", "words": "../audio/words.json", "events": {"start": 1, "end": 2}}
    (entry,) = open_dataset(save(folder, json.dumps(row), "m.jsonl")).entries
    assert entry.events == (Event("interruption", Span(seconds(1), seconds(2))),)


def test_an_offset_moves_the_system_onto_the_session_clock(folder: Path) -> None:
    row = {"id": "1", "task": "backchannel", "system": "../audio/call_agent.flac", "words": "../audio/words.json"}
    path = save(folder, json.dumps(row | {"offset": 1.5}) + "\n" + json.dumps(row | {"id": 2}), "m.jsonl")
    own, told = (load_trial(entry) for entry in open_dataset(path, offset=seconds(1)).entries)
    assert own.system.words is not None and own.system.words[0].span == Span(ms(1750), ms(2000))
    assert own.system.tokens is not None and own.system.tokens[0].start == 1.75
    assert own.system.duration == seconds(2.5) and told.system.duration == seconds(2)


def test_a_mark_carriage_returns_quotes_and_blank_lines_are_no_matter(folder: Path) -> None:
    text = '\ufeff"id",words,task,group\r\n\r\n"a, ""b""\r\nc",../audio/words.json,backchannel,g\r\n'
    (entry,) = open_dataset(save(folder, text)).entries
    assert (entry.id, entry.group) == ('a, "b"\r\nc', "g")


def test_an_official_dataset_may_be_told_by_its_corpus(folder: Path) -> None:
    text = "id,words,task,dataset,system_name\n1,../audio/words.json,pause_handling,candor,moshi\n"
    (entry,) = open_dataset(save(folder, text)).entries
    assert (entry.dataset, entry.system) == ("candor_pause_handling", "moshi")


HEAD = "id,words,task\n"
GOOD = "1,../audio/words.json,backchannel\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ": found an empty file, expected a header row"),
        (HEAD, ": found no rows"),
        (HEAD + GOOD + GOOD, ", line 3: found id '1' again (line 2), expected a new id"),
        ("id,words,tasks\n", ", line 1: found column 'tasks', expected columns among id, user"),
        ("id,id\n", ", line 1: found column 'id' twice"),
        (HEAD + "1,words.json,backchannel\n", ", line 2, words: found no file words.json"),
        (HEAD + "1,,backchannel\n", ", line 2: found neither system nor words"),
        (HEAD + ",../audio/words.json,backchannel\n", ", line 2: found no id"),
        (HEAD + "1,../audio/words.json\n", ", line 2: found 2 cells, expected 3"),
        (HEAD + "1,../audio/words.json,pauses\n", ", line 2, task: found pauses, expected one of pause_handling"),
        (HEAD + "1,../audio/words.json,\n", ", line 2, task: found no task"),
        (HEAD + '1,"../audio"x,\n', ", line 2: found ',' expected after '\"'"),
        ("id,words,events\n1,../audio/words.json,[oops\n", ", line 2, events, line 1 column 2: found Expecting value"),
        ("id,words,events\n1,../audio/words.json,[{}]\n", ", line 2, events[0]: found an event without a kind"),
        ("id,words,task,offset\n1,../audio/words.json,backchannel,soon\n", ", line 2, offset: found 'soon'"),
        ("id,words,task,offset\n1,../audio/words.json,backchannel,inf\n", ", line 2, offset: found inf"),
    ],
)
def test_a_bad_row_is_refused_with_its_line(folder: Path, text: str, sentence: str) -> None:
    assert says(save(folder, text)).startswith(sentence)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}\n[1]", ", line 1: found no id"),
        ("[1]", ", line 1: found [1], expected an object"),
        ("{", ", line 1, line 1 column 2"),
        ('{"id": 1.5}', ", line 1, id: found 1.5, expected a text"),
        ('{"id": "1", "words": "a\\u0000b"}', ", line 1, words: found no file a\\x00b"),
    ],
)
def test_a_bad_json_line_is_refused_with_its_line(folder: Path, text: str, sentence: str) -> None:
    assert says(save(folder, text, "m.jsonl")).startswith(sentence)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(
    st.text(alphabet=st.sampled_from('id,words"\n\r\0[]{}:1\u202e é/.'), max_size=60), st.sampled_from(["csv", "jsonl"])
)
def test_any_text_is_a_dataset_or_a_sentence(folder: Path, text: str, suffix: str) -> None:
    path = save(folder, text, f"any.{suffix}")
    try:
        open_dataset(path)
    except InputError as error:
        assert "\n" not in str(error)
