"""Transcriber's files (.trs), and the XML of the MEDIA corpus, whose turns have the same marks of time.

In a ``.trs`` a turn is its speaker's, or, with ``Who`` marks, several speakers' at once; it is divided by ``Sync``.
Segments follow each other without a gap, silence included, so where one ends is no measurement.

Of MEDIA (ELRA-S0272 and E0024) it is known from others' programs that its files hold ``dialogue`` elements with an
``id``, of ``turn`` elements with ``speaker`` (``spk`` is the user), ``startTime`` and ``endTime``, whose words stand in
``transcription``, divided by ``Sync``, once for each annotation of meaning. *Untested on real files.*
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from fullduplex.data.corpora.elan import file_name
from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.languages import two_letters
from fullduplex.data.corpora.marked_up import read_xml
from fullduplex.data.corpora.spoken import Said, said
from fullduplex.errors import InputError

#: Marks before a word: of a name, or of a word whose form is unusual.
_BEFORE = re.compile(r"(?<!\S)[\^*]+(?=\w)")
#: Events that say something of the words, and are no sound.
_OF_WORDS = ("pronounce", "language", "lexical", "entities", "entity")
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def read_transcriber(path: Path) -> Gathered:
    """Return the transcript in a ``.trs`` file; raises :class:`InputError` where it is none."""
    root = read_xml(path)
    if root.tag != "Trans":
        raise InputError(path, found=f"<{root.tag}>"[:60], expected="<Trans>, a Transcriber file")
    transcript = Gathered(path, language=two_letters(root.get(_LANG, "")))
    if media := root.get("audio_filename", "").strip():
        transcript.media.append(file_name(media))
    names = {one.get("id", ""): one.get("name", "").strip() or one.get("id", "") for one in root.iter("Speaker")}
    if len(set(names.values())) < len(names):
        # Two speakers of one name stay two.
        names = {one: one for one in names}
    for n, turn in enumerate(root.iter("Turn"), 1):
        who = [names.get(one, one) for one in turn.get("speaker", "").split()]
        if who:
            _turn(transcript, turn, turn, who, f"turn {n}")
    return transcript


def dialogues_of(path: Path) -> tuple[str, ...]:
    """Return the names of MEDIA's dialogues in a file."""
    return tuple(one.get("id", "") for one in read_xml(path).iter("dialogue"))


def read_media(path: Path, name: str) -> Gathered:
    """Return one dialogue of a file of MEDIA; raises :class:`InputError` where it is not there."""
    found = next((one for one in read_xml(path).iter("dialogue") if one.get("id", "") == name), None)
    if found is None:
        raise InputError(path, name, found="no such dialogue", expected="a dialogue with this id")
    transcript = Gathered(path, language="fr", media=[name])
    for n, turn in enumerate(found.iter("turn"), 1):
        who = turn.get("speaker", "").strip()
        annotated = [one for one in turn.iter("semAnnotation") if one.find(".//transcription") is not None]
        # The same words stand in it once for each annotation.
        inner = min(annotated, key=lambda one: one.get("withContext") != "false", default=turn)
        if who:
            _turn(transcript, turn, inner, [who], f"{name}, turn {n}")
    return transcript


def _turn(transcript: Gathered, turn: Element, inner: Element, who: list[str], where: str) -> None:
    """Note a turn's segments: by Sync, and within one by Who."""
    at, end = (moment(turn.get(name, ""), transcript.path, where) for name in ("startTime", "endTime"))
    texts, sounds, speaker = dict[int, list[str]](), set[int](), 0

    def close(until: int) -> None:
        for n, parts in texts.items():
            line = said(_BEFORE.sub("", " ".join(parts)))
            if n < len(who):
                noted = Said(line.words, line.cut_off, line.unclear or n in sounds)
                if until > at or noted.words:
                    transcript.line(who[n], noted, stretch(at, until, transcript.path, where))
        texts.clear()
        sounds.clear()

    for mark, text in _pieces(inner):
        if mark is not None and mark.tag == "Sync":
            time = moment(mark.get("time", ""), transcript.path, where)
            close(max(at, time))
            at, speaker = max(at, time), 0
        elif mark is not None and mark.tag == "Who":
            nb = mark.get("nb", "")
            speaker = int(nb) - 1 if nb.isdecimal() and 0 < int(nb) <= len(who) else len(who)
        elif mark is not None and mark.tag == "Event" and mark.get("type", "noise") not in _OF_WORDS:
            sounds.add(speaker)
            texts.setdefault(speaker, [])
        if text.strip():
            texts.setdefault(speaker, []).append(text)
    close(max(at, end))


def _pieces(element: Element) -> Iterator[tuple[Element | None, str]]:
    """Yield the marks in an element in order, each with the text after it; text that no mark precedes has None."""
    held = element.iter("transcription") if element.tag in ("turn", "semAnnotation") else [element]
    parts: Iterable[Element] = held
    for one in parts:
        if one.text:
            yield None, one.text
        for child in one:
            yield child, (child.tail or "")
