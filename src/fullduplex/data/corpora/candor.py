"""CANDOR: a folder a conversation, with transcripts in ``transcription/`` and sound in ``processed/`` or ``raw/``.

Words with times come from ``transcribe_output.json`` where it is there, else lines from ``transcript_audiophile.csv``
(or ``…_cliffhanger.csv``, ``…_backbiter.csv``). ``channel_map.json`` tells whose the left channel is. The layout is
known from others' descriptions. *Untested on real files.*
"""

from __future__ import annotations

from pathlib import Path

from fullduplex.data.audio import probe
from fullduplex.data.corpora.conversation import Recording
from fullduplex.data.corpora.gathered import Gathered
from fullduplex.data.corpora.json_words import read_json_words
from fullduplex.data.corpora.spoken import composed
from fullduplex.data.corpora.tables import columns_of, index_table, read_table
from fullduplex.data.files import brief, read_json
from fullduplex.errors import InputError

#: In the order in which they are taken: the first has the recogniser's own lines, the others join or leave out some.
TABLES = ("transcript_audiophile.csv", "transcript_cliffhanger.csv", "transcript_backbiter.csv")
WORDS = "transcribe_output.json"
_MAP = "channel_map.json"


def is_candor(path: Path) -> bool:
    """Tell whether a file is a transcript in a folder of CANDOR's."""
    return path.name in (*TABLES, WORDS) and path.parent.name == "transcription"


def read_candor(folder: Path) -> Gathered:
    """Return the transcript of a conversation's folder; raises :class:`InputError` where it cannot be read."""
    inside = folder / "transcription"
    words, sides = inside / WORDS, channels_of(folder)
    if words.is_file():
        transcript = read_json_words(words)
        for n, name in enumerate(sides):
            # The recogniser calls the channels ch_0 and ch_1.
            if (speaker := transcript.speakers.pop(f"ch_{n}", None)) is not None:
                speaker.name = name
                transcript.speakers[name] = speaker
    else:
        table = next(inside / name for name in TABLES if (inside / name).is_file())
        columns = columns_of(table)
        if columns is None:
            raise InputError(table, found="other columns", expected="turn_id, speaker, start, stop, utterance")
        ranges = [part for parts in index_table(table, columns).values() for part in parts]
        transcript = read_table(table, columns, ranges)
        for n, name in enumerate(sides):
            if name in transcript.speakers:
                transcript.speakers[name].channels = {n}
    transcript.language = "en"
    return transcript


def channels_of(folder: Path) -> tuple[str, ...]:
    """Return who is on the left channel and who on the right; empty where nothing tells it."""
    path = next((found for found in (folder / "processed" / _MAP, folder / _MAP) if found.is_file()), None)
    if path is None:
        return ()
    told = read_json(path)
    if not isinstance(told, dict) or not all(isinstance(told.get(side), str) for side in "LR"):
        raise InputError(path, found=brief(told), expected="who is L and who is R")
    return composed(told["L"]), composed(told["R"])


def recordings_in(folder: Path, names: tuple[str, str]) -> tuple[Recording, Recording] | None:
    """Return where the two are heard: in the conversation's two channels, or in a file of each one's own."""
    for place in ("processed", "raw", "."):
        for suffix in (".wav", ".flac", ".mp3", ".m4a", ".mp4"):
            both = folder / place / f"{folder.name}{suffix}"
            if suffix != ".mp4" and both.is_file() and probe(both).channels == 2:
                return Recording(both, 0), Recording(both, 1)
            own = [folder / place / f"{Path(name).name}{suffix}" for name in names]
            if all(one.is_file() for one in own):
                return Recording(own[0]), Recording(own[1])
    return None
