"""Transcripts that are broken or meant to harm are refused in a sentence, or left out with one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fullduplex.data.corpora.opened import open_corpus
from fullduplex.errors import InputError

GRID = '"ooTextFile" "TextGrid" 0 1 <exists>'
TWO = "t 1 A 0 1 hello\nt 1 B 1 2 hi\n"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("t.TextGrid", "", "the file's type: found the end of the file"),
        ("t.TextGrid", '"ooTextFile" "Sound" 0 1 <exists> 0', "found ooTextFile of Sound"),
        ("t.TextGrid", GRID + ' 1 "IntervalTier" "A" 0 1 5 0 1 "x"', "interval 2: found the end"),
        ("t.TextGrid", GRID + ' 1 "IntervalTier" "A" 0 1 1 2 1 "x"', "the start before the end"),
        ("t.TextGrid", GRID + " 99999999999 ", "how many there are"),
        ("t.TextGrid", 'ooBinaryFile\x08TextGrid', "save it as text in Praat"),
        ("t.eaf", "<ANNOTATION_DOCUMENT><TIER>", "no whole XML"),
        ("t.eaf", "<html/>", "found <html>, expected <ANNOTATION_DOCUMENT>"),
        ("t.eaf", '<!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>', "found an entity of its own"),
        ("t.cha", "*A:\thello . 5_1\n", "line 1: found 0.005 to 0.001 s"),
        ("t.cha", "hello there\n", "line 1: found hello there, expected a line of CHAT"),
        ("t.cha", "*A:\thello . 0_1\n", "found no header of CHAT"),
        ("t.trs", "<Trans><Turn speaker='a' startTime='x' endTime='1'/></Trans>", "turn 1: found x, expected a time"),
        ("t.ctm", "t A 0 1 ok\nt A\n", "line 2: found 2 fields"),
        ("t.ctm", "t A nan 1 ok\n", "line 1: found nan, expected a time in seconds, not negative"),
        ("t.ctm", "t A 1_0 1 ok\n", "line 1: found 1_0"),
        ("t.stm", "t 1 A 0 1e300 ok\n", "line 1: found 1e300"),
        ("t.rttm", "SPEAKER t 1 -1 2 <NA> <NA> A\n", "line 1: found -1"),
        ("t.csv", "speaker,start,end,text\nA,0,1\n", "row 2: found 3 cells, expected 4"),
        ("t.csv", "speaker,start,end,text\nA,zero,1,hi\n", "row 2, start: found zero"),
        ("t.json", '{"start": 1}', "found an object with start"),
        ("t.json", '[{"word": "a", "start": NaN}]', "expected JSON with finite numbers"),
        ("t.json", '[{"word": "a", "start": -1, "end": 2}]', "entry 1: found -1"),
        ("t.json", '[{"word": "a", "start": 1, "end": true}]', "entry 1: found True"),
        ("fe_03_00001.txt", "0 1 C: hi\n", "expected start, end, A or B with a colon, and text"),
        ("t.conllu", "1\ta\tAlignBegin=1\n", "line 1: found 3 columns"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_meant_is_refused_in_a_sentence(tmp_path: Path, name: str, text: str, says: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refused:
        corpus = open_corpus(tmp_path)
        corpus.read(corpus.names[0])
    assert says in str(refused.value) and "\n" not in str(refused.value) and name in str(refused.value)


@pytest.mark.parametrize("name", ["t.TextGrid", "t.cha", "t.stm", "t.csv"])
def test_bytes_that_are_no_utf8_are_told(tmp_path: Path, name: str) -> None:
    head = b"speaker,start,end,text\n" if name.endswith("csv") else b""
    (tmp_path / name).write_bytes(head + b"t 1 A 0 1 d\xe9j\xe0\n")
    with pytest.raises(InputError, match="not UTF-8"):
        corpus = open_corpus(tmp_path)
        corpus.read(corpus.names[0])


def test_names_that_lead_elsewhere_stay_names(tmp_path: Path) -> None:
    inside = tmp_path / "corpus"
    inside.mkdir()
    (tmp_path / "x.wav").write_bytes(b"not to be read")
    (inside / "t.stm").write_text(
        TWO.replace("t 1", "../x 1").replace(" A ", " ../../etc/passwd ").replace("hello", "<b>")
    )
    corpus = open_corpus(inside)
    conversation = corpus.read(corpus.names[0])
    assert "/" not in corpus.names[0]
    assert [side.name for side in conversation.sides] == ["A", "B"]
    assert [side.recording for side in conversation.sides] == [None, None]


def test_control_characters_in_a_name_are_told_as_escapes(tmp_path: Path) -> None:
    (tmp_path / "t.stm").write_text(TWO + "t 1 C\x1b[31m 3 4 oh\n")
    with pytest.raises(InputError) as refused:
        open_corpus(tmp_path).read("t")
    assert "\x1b" not in str(refused.value)


def test_a_pipe_among_the_files_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "t.stm").write_text(TWO)
    for name in ("u.stm", "u.wav", "u.csv", "u.eaf"):
        os.mkfifo(tmp_path / name)
    assert open_corpus(tmp_path).names == ("t",)
    with pytest.raises(InputError, match="neither a file nor a folder"):
        open_corpus(tmp_path / "u.stm")


def test_a_broken_file_of_many_leaves_the_others(tmp_path: Path) -> None:
    (tmp_path / "good.stm").write_text(TWO)
    (tmp_path / "long.stm").write_bytes(b"x" * (1 << 20))
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("t",) and any("long.stm" in remark for remark in corpus.remarks)


def test_the_same_conversation_in_two_files_is_read_once_with_a_remark(tmp_path: Path) -> None:
    (tmp_path / "ref.stm").write_text(TWO)
    (tmp_path / "sys.stm").write_text(TWO)
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("t",) and "t is in ref.stm and in sys.stm; the first is read" in corpus.remarks


def test_json_that_is_no_transcript_is_left_alone_beside_recordings(tmp_path: Path) -> None:
    import numpy as np

    from fullduplex.data import audio

    audio.write(tmp_path / "one.wav", np.full((8000, 2), 0.01, np.float32), 8000)
    (tmp_path / "metadata.json").write_text('{"start": "2020"}')
    assert open_corpus(tmp_path).format == "two-channel"


def test_a_word_or_a_line_that_lasts_longer_than_anyone_speaks_is_refused(tmp_path: Path) -> None:
    talk = tmp_path / "talk.ctm"
    for lasts, refused in ((30, False), (30.001, True), (2400, True)):
        talk.write_text(f"talk A 0.5 {lasts} yes\ntalk B 1 0.3 no\n")
        corpus = open_corpus(tmp_path)
        if refused:
            with pytest.raises(
                InputError, match=rf"0\.5 s: found a word of {lasts:g} s \(yes\), expected words of 30 s"
            ):
                corpus.read("talk")
        else:
            assert corpus.read("talk").sides[0].words
    talk.unlink()
    (tmp_path / "talk.rttm").write_text(
        "SPEAKER t 1 0 601 <NA> <NA> a <NA> <NA>\nSPEAKER t 1 602 3 <NA> <NA> b <NA> <NA>\n"
    )
    with pytest.raises(InputError, match=r"found a turn of 601 s, expected turns of 600 s at most"):
        open_corpus(tmp_path).read("t")
