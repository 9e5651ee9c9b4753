"""Which two speakers are the sides, whose the channels are, and which recording is a transcript's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fullduplex.data import audio
from fullduplex.data.corpora.opened import open_corpus, open_recordings
from fullduplex.data.corpora.speakers import by_role
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, seconds

RATE = 8_000
#: Who speaks when: ten turns of a second, in turn.
TURNS = [(n % 2, 2.0 * n, 2.0 * n + 1.0) for n in range(10)]


def stm(path: Path, names: tuple[str, ...] = ("Zoé", "Anne"), channels: str = "11") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [f"{path.stem} {channels[who]} {names[who]} {start} {end} some words" for who, start, end in TURNS]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


def talk(path: Path, *, swapped: bool = False, bleed: float = 0.01, seconds_long: float = 20.0) -> Path:
    """Write two channels, in each the turns of one speaker and a little of the other's."""
    rng = np.random.default_rng(3)
    sound = rng.normal(0, 1e-4, (int(seconds_long * RATE), 2))
    for who, start, end in TURNS:
        part = slice(int(start * RATE), int(end * RATE))
        voice = rng.normal(0, 0.1, len(range(*part.indices(len(sound)))))
        own = who ^ swapped
        sound[part, own] += voice
        sound[part, 1 - own] += bleed * voice
    audio.write(path, sound.astype(np.float32), RATE)
    return path


def sides(folder: Path, **options: object) -> list[tuple[str, int]]:
    (name,) = open_corpus(folder, **options).names  # type: ignore[arg-type]
    conversation = open_corpus(folder, **options).read(name)  # type: ignore[arg-type]
    return [(side.speaker, side.recording.channel if side.recording else -1) for side in conversation.sides]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_sound_tells_whose_the_channels_are(tmp_path: Path, swapped: bool) -> None:
    stm(tmp_path / "talk.stm")
    talk(tmp_path / "talk.wav", swapped=swapped)
    assert dict(sides(tmp_path)) == {"Zoé": int(swapped), "Anne": int(not swapped)}


def test_channels_that_sound_alike_are_refused_with_the_way_out(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm")
    talk(tmp_path / "talk.wav", bleed=0.9)
    with pytest.raises(InputError, match=r"nothing that tells whose the channels of talk.wav are.*--speakers Zoé,Anne"):
        sides(tmp_path)
    assert sides(tmp_path, speakers=("Anne", "Zoé")) == [("Anne", 0), ("Zoé", 1)]


def test_names_of_roles_tell_the_channels_where_the_sound_does_not(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm", ("caller", "agent"))
    talk(tmp_path / "talk.wav", bleed=0.9)
    assert sides(tmp_path) == [("agent", 0), ("caller", 1)]


def test_the_sound_wins_over_names(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm", ("B", "A"))
    talk(tmp_path / "talk.wav")
    assert sides(tmp_path) == [("A", 1), ("B", 0)]


@pytest.mark.parametrize(("channels", "speakers"), [("BA", ()), ("11", ("Anne", "Zoé"))])
def test_what_is_said_against_the_sound_is_refused(tmp_path: Path, channels: str, speakers: tuple[str, ...]) -> None:
    stm(tmp_path / "talk.stm", channels=channels)
    talk(tmp_path / "talk.wav")
    with pytest.raises(InputError, match=r"is on the first channel, and the sound of talk.wav that it is Zoé"):
        sides(tmp_path, speakers=speakers)


def test_two_files_named_by_their_speakers_are_theirs(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm")
    for name in ("Anne", "Zoé"):
        audio.write(tmp_path / f"talk_{name}.wav", np.full(20 * RATE, 0.01, np.float32), RATE)
    (name,) = open_corpus(tmp_path).names
    found = [(s.speaker, s.recording and s.recording.file.name) for s in open_corpus(tmp_path).read(name).sides]
    assert dict(found) == {"Anne": "talk_Anne.wav", "Zoé": "talk_Zoé.wav"}


def test_both_voices_in_one_channel_are_no_recording_of_sides(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm")
    audio.write(tmp_path / "talk.wav", np.full(20 * RATE, 0.01, np.float32), RATE)
    conversation = open_corpus(tmp_path).read("talk")
    assert [side.recording for side in conversation.sides] == [None, None]
    assert "talk.wav is not used: it has both voices in one channel" in " ".join(conversation.remarks)


def test_a_transcript_that_goes_on_after_its_recording_is_refused(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm")
    talk(tmp_path / "talk.wav", seconds_long=12.0)
    with pytest.raises(InputError, match=r"speech up to 19 s, and 12 s of sound \(talk.wav\)"):
        sides(tmp_path)


def test_recordings_elsewhere_are_found_by_the_name_that_the_transcript_tells(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    text = (
        "@UTF8\n@Begin\n@Participants:\tA A, B B\n@Media:\tsw7, audio\n*A:\tyes . 0_1000\n*B:\tno . 2000_3000\n@End\n"
    )
    (tmp_path / "text" / "x.cha").write_text(text)
    (tmp_path / "sound").mkdir()
    talk(tmp_path / "sound" / "SW7.wav")
    side = open_corpus(tmp_path / "text", recordings=tmp_path / "sound").read("x").sides[0]
    assert side.recording is not None and side.recording.file.name == "SW7.wav"
    again = open_recordings(tmp_path / "text", "chat", recordings=tmp_path / "sound").recordings("x")
    assert again[0] == side.recording


def test_of_three_speakers_two_are_chosen_and_the_third_is_marked(tmp_path: Path) -> None:
    rows = ["t 1 A 0 1 hello", "t 1 B 1 2 hi", "t 1 C 3 4 me too"]
    (tmp_path / "t.stm").write_text("\n".join(rows))
    with pytest.raises(InputError, match="speakers: found A, B, C, expected two people; choose two with --speakers"):
        open_corpus(tmp_path).read("t")
    with pytest.raises(InputError, match="found A, B, C, expected D among them"):
        open_corpus(tmp_path, speakers=("A", "D")).read("t")
    conversation = open_corpus(tmp_path, speakers=("C", "A")).read("t")
    assert [side.speaker for side in conversation.sides] == ["C", "A"]
    assert all(list(side.sounds) == [Span(seconds(1), seconds(2))] for side in conversation.sides)
    assert any("third person" in remark for remark in conversation.remarks)


@pytest.mark.parametrize("speakers", [("A",), ("A", "B", "C"), ("A", "A")])
def test_speakers_are_two_names(tmp_path: Path, speakers: tuple[str, ...]) -> None:
    (tmp_path / "t.stm").write_text("t 1 A 0 1 hello")
    with pytest.raises(InputError, match=r"--speakers: .*expected two different names"):
        open_corpus(tmp_path, speakers=speakers)


def test_one_speaker_is_no_conversation(tmp_path: Path) -> None:
    (tmp_path / "t.stm").write_text("t 1 A 0 1 hello")
    with pytest.raises(InputError, match=r"found A, expected two people$"):
        open_corpus(tmp_path).read("t")


def test_two_files_of_one_speaker_each_are_one_conversation(tmp_path: Path) -> None:
    for n, name in enumerate(("agent", "caller")):
        (tmp_path / f"call_{name}.json").write_text(f'[{{"word": "w{n}", "start": {n}, "end": {n}.5}}]')
    conversation = open_corpus(tmp_path).read("call")
    assert [[word.text for word in side.words or ()] for side in conversation.sides] == [["w0"], ["w1"]]


def test_numbered_files_with_two_speakers_each_stay_two_conversations(tmp_path: Path) -> None:
    for n in (1, 2):
        (tmp_path / f"call{n}.csv").write_text("speaker,start,end,text\nA,0,1,so yes\nB,1,2,oh no\n")
    assert open_corpus(tmp_path).names == ("call1", "call2")


def test_other_transcripts_beside_those_read_are_told(tmp_path: Path) -> None:
    stm(tmp_path / "talk.stm")
    (tmp_path / "talk.rttm").write_text("SPEAKER talk 1 0 1 <NA> <NA> A <NA>\n")
    assert any("--format rttm" in remark for remark in open_corpus(tmp_path).remarks)
    assert open_corpus(tmp_path, "rttm").format == "rttm"


@pytest.mark.parametrize(
    ("first", "second", "order"),
    [("A", "B", -1), ("b", "a", 1), ("spreker1 [v] (TIE0)", "spreker2 [v] (TIE2)", -1), ("caller", "agent", 1),
     ("SPEAKER_01", "SPEAKER_00", 1), ("Zoé", "Anne", 0), ("Ann", "Ana", 0), ("L1", "L2", -1), ("2347-b", "2347-a", 1)],
)  # fmt: skip
def test_names_of_roles_are_in_order(first: str, second: str, order: int) -> None:
    assert by_role(first, second) == order
