"""Corpora of conversations: what their folders hold is read as it stands, or refused in a sentence."""

from __future__ import annotations

import tarfile
from pathlib import Path

import numpy as np
import pytest
import soundfile

from fullduplex.data import audio
from fullduplex.data.corpora.opened import open_corpus, open_recordings
from fullduplex.data.corpora.switchboard import said_of
from fullduplex.data.corpora.two_channel import open_two_channel
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, seconds

SHARED = Path(__file__).parents[3] / "shared" / "data"
WORDS = """\
sw4000A-ms98-a-0001 0.000000 1.000000 [silence]
sw4000A-ms98-a-0001 1.000000 1.200000 h[ow]-
sw4000A-ms98-a-0001 1.200000 1.500000 how
sw4000A-ms98-a-0001 1.500000 1.700000 [laughter-nice]
sw4000A-ms98-a-0001 1.700000 2.000000 [laughter]
sw4000A-ms98-a-0002 2.000000 2.000000 <b_aside>
sw4000A-ms98-a-0002 2.000000 2.500000 them_1
sw4000A-ms98-a-0002 2.500000 2.500000 <e_aside>
sw4000A-ms98-a-0002 3.000000 3.000000 yes
"""
ACTS = """\
sw4000A-ms98-a-0001,1.000000,1.200000,h[ow]-,B,qw,u-1-1
sw4000A-ms98-a-0001,1.200000,1.500000,how,I,qw,u-1-1
sw4000A-ms98-a-0001,1.700000,2.000000,[laughter],O,,
sw4000A-ms98-a-0002,3.000000,3.000000,yes,B,"aa,o@",u-3-1
"""


def switchboard(folder: Path, words: str = WORDS, acts: str = ACTS) -> Path:
    deep = folder / "40" / "4000"
    deep.mkdir(parents=True)
    (deep / "sw4000A-ms98-a-word.text").write_text(words)
    (deep / "sw4000A-word-da.csv").write_text(acts)
    (deep / "sw4000A-ms98-a-trans.text").write_text("sw4000A-ms98-a-0001 0.0 2.0 h[ow]- how [laughter-nice]\n")
    (deep / "sw4000B-ms98-a-word.text").write_text("sw4000B-ms98-a-0001 4.0 4.5 um-hum\n")
    return folder


def tone(path: Path, channels: int = 1, rate: int = 8_000, seconds: int = 5) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.random.default_rng(channels).normal(0, 0.1, (seconds * rate, channels)).astype(np.float32)
    audio.write(path, samples if channels > 1 else samples[:, 0], rate)
    return path


@pytest.mark.parametrize(
    ("text", "said", "whole"),
    [("yeah", "yeah", True), ("h[ow]-", "h-", False), ("[laughter-yeah]", "yeah", True), ("them_1", "them", True),
     ("{coined}", "coined", True), ("[slip/meant]", "slip", True), ("-[re]member", "-member", False),
     ("um-hum", "um-hum", True), ("[laughter-h[ow]-]", "h-", False)],
)  # fmt: skip
def test_a_word_of_ms98_is_as_it_was_said(text: str, said: str, whole: bool) -> None:
    assert said_of(text) == (said, whole)


def test_switchboard_s_words_acts_sounds_and_asides_are_told_apart(tmp_path: Path) -> None:
    corpus = open_corpus(switchboard(tmp_path))
    assert (corpus.format, corpus.names, corpus.setting) == ("switchboard", ("sw4000",), "casual")
    first, second = corpus.read("sw4000").sides
    assert [word.text for word in first.words or ()] == ["h-", "how", "nice", "them", "yes"]
    assert first.cut_off == {0}
    assert list(first.sounds) == [Span(seconds(1.7), seconds(2.0))]
    assert list(first.asides) == [Span(seconds(2.0), seconds(2.5))]
    assert [(act.tag, act.first, act.last) for act in first.acts] == [("qw", 0, 2), ("aa,o@", 4, 5)]
    assert [one.text for one in first.utterances] == ["h- how nice"]
    assert [word.text for word in second.words or ()] == ["um-hum"] and second.recording is None


def test_a_word_without_length_lasts_a_microsecond(tmp_path: Path) -> None:
    words = open_corpus(switchboard(tmp_path)).read("sw4000").sides[0].words
    assert words is not None and words[-1].span == Span(seconds(3), seconds(3) + 1)


def test_a_recording_is_found_wherever_it_lies_with_side_a_on_the_first_channel(tmp_path: Path) -> None:
    sound = tone(tmp_path / "audio" / "sw04000.wav", 2)
    corpus = open_corpus(switchboard(tmp_path / "text"), recordings=tmp_path / "audio")
    first, second = corpus.read("sw4000").sides
    assert first.recording is not None and second.recording is not None
    assert (first.recording.file, first.recording.channel, second.recording.channel) == (sound, 0, 1)


def test_a_recording_that_ends_before_its_words_do_is_another_s(tmp_path: Path) -> None:
    tone(tmp_path / "sw04000.wav", 2, seconds=3)
    with pytest.raises(InputError, match=r"found speech up to 4.5 s, and 3 s of sound \(sw04000.wav\)"):
        open_corpus(switchboard(tmp_path)).read("sw4000")


@pytest.mark.parametrize("swapped", [False, True])
def test_a_recording_with_its_sides_exchanged_is_refused(tmp_path: Path, swapped: bool) -> None:
    lines: dict[str, list[str]] = {"A": [], "B": []}
    samples = np.zeros((8_000 * 20, 2), np.float32)
    for n in range(16):
        side = "AB"[n % 2]
        lines[side].append(f"sw4000{side}-ms98-a-0001 {n + 1}.0 {n + 1}.8 word")
        samples[8_000 * (n + 1) : 8_000 * (n + 1) + 6_400, (n % 2) ^ swapped] = 0.3 * (-1) ** np.arange(6_400)
    for side, its in lines.items():
        (tmp_path / f"sw4000{side}-ms98-a-word.text").write_text("\n".join(its))
    audio.write(tmp_path / "sw04000.wav", samples, 8_000)
    if not swapped:
        assert open_corpus(tmp_path).read("sw4000").sides[0].recording is not None
        return
    with pytest.raises(InputError, match=r"sw04000.wav: found the words of side A in the second channel"):
        open_corpus(tmp_path).read("sw4000")


def test_recordings_alone_will_do_to_rebuild(tmp_path: Path) -> None:
    tone(tmp_path / "sw04000.wav", 2)
    assert open_recordings(tmp_path, "switchboard").recordings("sw4000")[1] is not None


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("sw4000A-ms98-a-0001 1.0 0.5 yes", "the start before the end"),
        ("sw4000A-ms98-a-0001 nan 0.5 yes", "a time in seconds"),
        ("sw4000A-ms98-a-0001 1.0 yes", "utterance, start, end and text"),
        ("sw4000A-ms98-a-0001 1e300 2e300 yes", "a time in seconds"),
        ("sw4000A-ms98-a-0001 9.0 9.5 a\nsw4000A-ms98-a-0001 1.0 1.5 b", "words in order of time"),
    ],
)
def test_a_line_that_cannot_be_meant_is_named(tmp_path: Path, line: str, told: str) -> None:
    corpus = open_corpus(switchboard(tmp_path, line + "\n"))
    with pytest.raises(InputError, match=told) as refused:
        corpus.read("sw4000")
    assert "sw4000A-ms98-a-word.text, line" in str(refused.value)


def test_an_act_of_too_few_cells_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"line 1: found 3 cells"):
        open_corpus(switchboard(tmp_path, acts="a,b,c\n")).read("sw4000")


def test_a_conversation_with_one_side_is_left_out_and_an_archive_told(tmp_path: Path) -> None:
    switchboard(tmp_path)
    (tmp_path / "sw4001A-ms98-a-word.text").write_text("sw4001A-ms98-a-0001 1.0 1.5 yes\n")
    with tarfile.open(tmp_path / "more.tar.gz", "w:gz"):
        pass
    corpus = open_corpus(tmp_path)
    assert corpus.names == ("sw4000",)
    assert any("sw4001" in remark for remark in corpus.remarks)
    assert any("more.tar.gz" in remark for remark in corpus.remarks)


def test_a_file_of_two_channels_and_a_pair_of_files_are_conversations(tmp_path: Path) -> None:
    tone(tmp_path / "one.wav", 2)
    tone(tmp_path / "deep" / "call_caller.flac")
    tone(tmp_path / "deep" / "call_agent.flac")
    (tmp_path / "LICENSE.txt").write_text("Apache License,\nVersion 2.0")
    corpus = open_corpus(tmp_path)
    assert (corpus.format, corpus.names) == ("two-channel", ("deep-call", "one"))
    agent, caller = corpus.recordings("deep-call")
    assert agent is not None and agent.file.name == "call_agent.flac"
    assert caller is not None and caller.file.name == "call_caller.flac"
    assert [one.channel for one in corpus.recordings("one") if one] == [0, 1]
    assert corpus.licence == "LICENSE.txt: Apache License, Version 2.0"


def test_a_pair_that_its_folder_names_is_called_by_it(tmp_path: Path) -> None:
    tone(tmp_path / "call7" / "a.wav")
    tone(tmp_path / "call7" / "b.wav")
    assert open_corpus(tmp_path).names == ("call7-call7",)


def test_no_conversation_hides_another_whose_path_gives_the_same_name(tmp_path: Path) -> None:
    for path in ("a/b-c.wav", "a-b/c.wav", "a/b-c.flac", "x/y-a.wav", "x/y-b.wav", "x-y.wav"):
        tone(tmp_path / path, 1 if path.startswith("x/") else 2)
    corpus = open_corpus(tmp_path)
    found = {str(one.file.relative_to(tmp_path)) for name in corpus.names for one in corpus.recordings(name) if one}
    assert found == {"a/b-c.flac", "a-b/c.wav", "x/y-a.wav", "x/y-b.wav", "x-y.wav"}
    assert len(corpus.names) == 4
    # Twice in two codings is one conversation, and is told.
    assert corpus.remarks == ("b-c.wav is left out: b-c.flac beside it has the same name",)


def test_one_voice_without_a_partner_is_left_out_with_a_remark(tmp_path: Path) -> None:
    tone(tmp_path / "one.wav", 2)
    tone(tmp_path / "lonely.wav")
    tone(tmp_path / "many.wav", 4)
    (tmp_path / "broken.wav").write_bytes(b"RIFFnothing")
    remarks = " ".join(open_corpus(tmp_path).remarks)
    assert "lonely.wav is left out: one voice" in remarks and "it has 4 channels" in remarks and "broken.wav" in remarks


@pytest.mark.parametrize("form", ["", "switchboard", "two-channel"])
def test_a_folder_with_nothing_to_read_is_refused_in_a_sentence(tmp_path: Path, form: str) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(InputError, match=r"no conversation that can be read \(1 of .txt\), expected"):
        open_corpus(tmp_path, form)


@pytest.mark.parametrize(
    ("channels", "samples", "why"),
    [(1, 800, "both voices in 1 channel, or one without its partner"), (3, 800, "3 channels"), (2, 0, "no samples")],
)
def test_audio_that_is_no_conversation_is_refused_with_what_it_is(
    channels: int, samples: int, why: str, tmp_path: Path
) -> None:
    soundfile.write(tmp_path / "call.wav", np.zeros((samples, channels), np.float32), 8000)
    with pytest.raises(InputError, match=rf"call\.wav: .*{why}.*\), expected audio files of two channels, or pairs"):
        open_corpus(tmp_path)


@pytest.mark.parametrize("name", ["ifadv_all20.csv.gz", "words.tar", "ms98.ZIP"])
def test_what_is_packed_is_to_be_unpacked(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"packed")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(InputError, match=rf"found what is packed \({name}\), .*; unpack it"):
            open_corpus(path)


def test_an_unknown_format_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"found nite, expected switchboard or candor or .* or two-channel"):
        open_corpus(tmp_path, "nite")
    with pytest.raises(InputError, match="no such folder"):
        open_corpus(tmp_path / "nowhere")


def test_a_name_with_markup_stays_a_name(tmp_path: Path) -> None:
    tone(tmp_path / "<script>.wav", 2)
    assert open_two_channel(tmp_path) is not None
    assert open_corpus(tmp_path).names == ("<script>",)


def test_the_real_switchboard_is_read_whole(tmp_path: Path) -> None:
    folder = SHARED / "human_human_timing" / "switchboard_ms98"
    if not folder.is_dir():
        pytest.skip("no switchboard_ms98 in the shared data beside the checkout")
    with tarfile.open(folder / "swb_ms98_45conv.tar.gz") as packed:
        packed.extractall(tmp_path, filter="data")
    corpus = open_corpus(tmp_path)
    sides = [side for name in corpus.names for side in corpus.read(name).sides]
    assert len(corpus.names) == 45 and sum(len(side.words or ()) for side in sides) == 59_758
    # Every word of an act is where its file says.
    assert sum(1 for side in sides if side.acts) == 88
    assert all(a.last <= b.first for side in sides for a, b in zip(side.acts, side.acts[1:], strict=False))
