"""The formats of transcripts: what files are theirs, which conversations a file holds, and who reads one of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fullduplex.data.corpora import candor, fisher, records, tables, transcriber
from fullduplex.data.corpora.chat import read_chat
from fullduplex.data.corpora.conllu import read_conllu
from fullduplex.data.corpora.elan import read_elan
from fullduplex.data.corpora.gathered import Gathered
from fullduplex.data.corpora.json_words import read_json_words
from fullduplex.data.corpora.records import Range
from fullduplex.data.corpora.textgrid import read_textgrid
from fullduplex.errors import InputError

_PEEK = 1 << 16
_TIMES = (b'"start"', b'"timestamp"', b'"start_time"', b"channel_labels")


@dataclass(frozen=True, slots=True)
class Part:
    """A transcript's place: a file, or a conversation in it by the name that the file gives it, and its records."""

    path: Path
    inner: str = ""
    ranges: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Format:
    """How transcripts of one format are found and read.

    ``accepts`` tells whether a file with a fitting suffix is one, of its name and beginning; ``strict`` that this is
    asked even where the format was chosen by name. ``conversations`` lists what a file holds, None where one file is
    one conversation; ``by_side``: two files may be the two sides of one.
    """

    name: str
    holds: str
    suffixes: tuple[str, ...]
    read: Callable[[Part], Gathered]
    conversations: Callable[[Path], dict[str, list[Range]]] | None = None
    accepts: Callable[[Path], bool] = lambda _: True
    strict: bool = False
    by_side: bool = False


def _records(form: str) -> tuple[Callable[[Part], Gathered], Callable[[Path], dict[str, list[Range]]]]:
    def read(part: Part) -> Gathered:
        return records.read_records(part.path, form, list(part.ranges))

    return read, lambda path: records.index(path, form)


def _table(path: Path) -> dict[str, list[Range]]:
    columns = tables.columns_of(path)
    if columns is None:
        raise InputError(path, "row 1", found="other columns", expected="columns of start, end and text or word")
    return tables.index_table(path, columns)


def _read_table(part: Part) -> Gathered:
    columns = tables.columns_of(part.path)
    if columns is None:
        raise InputError(part.path, "row 1", found="other columns", expected="columns of start, end and text or word")
    return tables.read_table(part.path, columns, list(part.ranges))


def _begins_with(path: Path, *marks: bytes) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_PEEK)
    return any(mark in head for mark in marks)


def _dialogues(path: Path) -> dict[str, list[Range]]:
    return {name: [] for name in transcriber.dialogues_of(path)}


_RTTM, _RTTM_INDEX = _records(records.RTTM)
_CTM, _CTM_INDEX = _records(records.CTM)
_STM, _STM_INDEX = _records(records.STM)

#: Asked in this order: what tells more, and what can be told more surely, comes first.
FORMATS = (
    Format("candor", "CANDOR's folders (transcription/, processed/)", (".csv", ".json"),
           lambda part: candor.read_candor(part.path.parent.parent), accepts=candor.is_candor, strict=True),
    Format("fisher", "Fisher's transcripts (fe_03_NNNNN.txt)", (".txt",), lambda part: fisher.read_fisher(part.path),
           accepts=lambda path: fisher.NAMES.fullmatch(path.stem) is not None),
    Format("chat", "CHAT files (.cha)", (".cha",), lambda part: read_chat(part.path)),
    Format("elan", "ELAN files (.eaf)", (".eaf",), lambda part: read_elan(part.path), by_side=True),
    Format("textgrid", "TextGrids (.TextGrid)", (".textgrid",), lambda part: read_textgrid(part.path), by_side=True),
    Format("transcriber", "Transcriber files (.trs)", (".trs",), lambda part: transcriber.read_transcriber(part.path)),
    Format("media", "MEDIA's dialogues (.xml)", (".xml",),
           lambda part: transcriber.read_media(part.path, part.inner), _dialogues,
           lambda path: _begins_with(path, b"<dialogue ")),
    Format("conllu", "CoNLL-U files with AlignBegin (.conllu)", (".conllu",), lambda part: read_conllu(part.path),
           accepts=lambda path: _begins_with(path, b"AlignBegin=")),
    Format("ctm", "CTM files (.ctm)", (".ctm",), _CTM, _CTM_INDEX),
    Format("stm", "STM files (.stm)", (".stm",), _STM, _STM_INDEX),
    Format("rttm", "RTTM files (.rttm)", (".rttm",), _RTTM, _RTTM_INDEX),
    Format("table", "tables with start, end and text (.csv, .tsv)", (".csv", ".tsv"), _read_table, _table,
           lambda path: tables.columns_of(path) is not None, by_side=True),
    Format("json", "JSON with words and times (.json, .jsonl)", (".json", ".jsonl"),
           lambda part: read_json_words(part.path), accepts=lambda path: _begins_with(path, *_TIMES), by_side=True),
)  # fmt: skip
BY_NAME = {form.name: form for form in FORMATS}
