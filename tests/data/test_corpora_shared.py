"""Files that others wrote, read as they stand: counts and first words that were looked up in them by other means."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from fullduplex.data.corpora.opened import open_corpus
from fullduplex.data.corpora.textgrid import tiers_of
from fullduplex.errors import InputError
from fullduplex.model.spans import Span, ms


@pytest.fixture
def data(shared: Path) -> Path:
    return shared / "data"


def test_rhapsodie_s_dialogues_are_read_but_those_of_three(data: Path) -> None:
    corpus = open_corpus(data / "french" / "rhapsodie", language="fr")
    assert (corpus.format, len(corpus.names)) == ("conllu", 6)
    for name in ("Rhap_D0001", "Rhap_D0002"):
        with pytest.raises(InputError, match="L3, expected two people"):
            corpus.read(name)
    first, second = corpus.read("Rhap_D2010").sides
    assert (first.speaker, second.speaker) == ("L1", "L2")
    words = [word.text for word in first.words or ()]
    assert words[:5] == ["alors,", "je", "sais", "bien,", "Marguerite"]
    assert all(word.span.duration <= 10_000_000 for side in (first, second) for word in side.words or ())
    # What was aligned nowhere is not made up: lines with such a word are marked. One is "XXX." alone, and a sound.
    assert (len(first.utterances), len(second.utterances)) == (75, 71)
    assert not any("XXX" in word.text for side in (first, second) for word in side.words or ())


def test_callfriend_and_callhome_are_read_but_where_more_than_two_speak(data: Path) -> None:
    corpus = open_corpus(data / "human_human_timing" / "callfriend_callhome_rttm")
    read, refused = {}, 0
    for name in corpus.names:
        try:
            read[name] = corpus.read(name)
        except InputError:
            refused += 1
    assert (len(read), refused) == (15, 7)
    french = read["CallFriendFrench-5136"].sides
    assert [(side.speaker, len(side.utterances)) for side in french] == [("MAN", 413), ("SIM", 430)]
    assert french[0].utterances[0].span == Span(ms(272), ms(1144)) and french[0].words is None


def test_ifadv_s_table_is_twenty_conversations_in_milliseconds(data: Path, tmp_path: Path) -> None:
    packed = data / "human_human_timing" / "ifadv_dutch" / "ifadv_all20.csv.gz"
    (tmp_path / "ifadv.csv").write_bytes(gzip.decompress(packed.read_bytes()))
    corpus = open_corpus(tmp_path, language="nl")
    assert len(corpus.names) == 20
    first, second = corpus.read("dutch2-DVA10O").sides
    assert first.speaker.startswith("spreker1") and second.speaker.startswith("spreker2")
    assert (first.utterances[0].text, first.utterances[0].span) == (
        "oké nou ik ga je even vertellen",
        Span(ms(1681), ms(3705)),
    )
    assert Span(0, ms(1681)) in list(first.sounds)


def test_justhink_s_children_are_chosen_among_four(data: Path) -> None:
    corpus = open_corpus(data / "human_human_timing" / "justhink", speakers=("A", "B"))
    first, _ = corpus.read("justhink19_transcript_07").sides
    assert first.utterances[0].text == "okay." and first.utterances[0].span == Span(ms(42_525), ms(43_004))


def test_the_sample_of_pyannote_is_read_as_stm_and_as_rttm(data: Path) -> None:
    folder = data / "pyannote_sample"
    as_stm, as_rttm = (open_corpus(folder, form).read("sample") for form in ("stm", "rttm"))
    assert [side.speaker for side in as_stm.sides] == ["Diane", "Sheila"]
    assert as_stm.sides[0].utterances[0].text == "Hello?"
    assert [side.speaker for side in as_rttm.sides] == ["speaker90", "speaker91"]
    # Its sound has both voices in one channel.
    assert as_stm.sides[0].recording is None and "both voices in one channel" in as_stm.remarks[0]


def test_textgrids_are_read_as_praat_reads_them(shared: Path) -> None:
    parselmouth = pytest.importorskip("parselmouth")
    ask = parselmouth.praat.call
    files = sorted(shared.rglob("*.TextGrid"))
    assert len(files) >= 8
    for path in files:
        grid = parselmouth.read(str(path))
        theirs = []
        for n in range(1, ask(grid, "Get number of tiers") + 1):
            if ask(grid, "Is interval tier", n):
                labels = [
                    (
                        round(ask(grid, "Get start time of interval", n, m) * 1e6),
                        round(ask(grid, "Get end time of interval", n, m) * 1e6),
                        ask(grid, "Get label of interval", n, m),
                    )
                    for m in range(1, ask(grid, "Get number of intervals", n) + 1)
                ]
                theirs.append((ask(grid, "Get tier name", n), labels))
        assert tiers_of(path) == theirs, path.name
