"""CHAT (.cha), the format of TalkBank: CALLHOME, CALLFRIEND and others. Times are bullets, in milliseconds.

A main line's times end it; several in one line divide it. ``%wor`` has the times of words. A line without a bullet is
one without times. What is said is what the main line says was said: ``(be)cause`` is ``cause``, ``&-uh`` is ``uh``,
``&+th`` was broken off, ``dog [//] cat`` are two words; ``xxx`` was not understood, ``&=laughs`` is a sound.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from fullduplex.data.corpora.gathered import Gathered, moment, stretch
from fullduplex.data.corpora.languages import two_letters
from fullduplex.data.corpora.spoken import Said, composed, is_unknown, of_tokens
from fullduplex.data.files import read_text_file
from fullduplex.errors import InputError
from fullduplex.model.spans import Span

# The bullet's own sign is U+0015; copies through other programs often lose it.
_BULLET = re.compile(r'\x15?(?:%snd:"[^"]*"_|(?<![^\s\x15]))(\d+)_(\d+)(?:\x15|(?!\S))')
_SPEAKER = re.compile(r"\*([^:\s]+):\s*(.*)", re.DOTALL)
_CODES = re.compile(r"\[[^\]]*\]|[<>“”\"]|[⌈⌉⌊⌋]\d?|[‡„↑↓⇗↗→↘⇘∞≈≋≡∙∆∇⁎⁇°◉▁▔☺♋∬∾↻⤇⤆↫]")
_PAUSE = re.compile(r"\((?:\.+|\d+[.:\d]*)\)|#[\d_.:]*")
_INSIDE = re.compile(r"(?<=\w):+|[ˈˌ^]|\$\w+$")
_UNSAID = re.compile(r"\([^)]*\)")
_END = {".": ".", "?": "?", "!": "!"}


def read_chat(path: Path) -> Gathered:
    """Return the transcript in a CHAT file; raises :class:`InputError` where it is none."""
    transcript = Gathered(path, words_from="%wor")
    last: tuple[str, Said, list[Span | None]] | None = None
    seen = False
    for n, line in _lines(path):
        if line.startswith("@"):
            _header(transcript, line)
            seen = seen or line.startswith(("@Begin", "@UTF8", "@Participants"))
        elif found := _SPEAKER.match(line):
            last = found[1], *_main(transcript, found[1], found[2], n)
        elif line.startswith("%wor:") and last is not None:
            _words(transcript, last[0], last[1], line[5:], n)
        elif not line.startswith("%"):
            raise InputError(path, f"line {n}", found=line[:40], expected="a line of CHAT: @, * or %")
    if not seen:
        raise InputError(path, found="no header of CHAT", expected="@UTF8, @Begin, @Participants")
    return transcript


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, those that go on below in one."""
    begun, text = 0, ""
    for n, line in enumerate(read_text_file(path).splitlines(), 1):
        if line[:1] in ("\t", " ") and text:
            text += " " + line.strip()
        elif line.strip():
            if text:
                yield begun, text
            begun, text = n, line
    if text:
        yield begun, text


def _header(transcript: Gathered, line: str) -> None:
    name, _, value = line.partition(":")
    if name == "@Languages":
        transcript.language = two_letters(value.partition(",")[0])
    elif name == "@Media":
        transcript.media.append(value.partition(",")[0].strip().strip('"'))


def _main(transcript: Gathered, speaker: str, text: str, n: int) -> tuple[Said, list[Span | None]]:
    """Note a main line, by its bullets, and return all that it says."""
    spans, at, said_whole = list[Span | None](), 0, said_in_chat(_BULLET.sub(" ", text))
    for bullet in _BULLET.finditer(text):
        times = [moment(bullet[k], transcript.path, f"line {n}", unit=1e-3) for k in (1, 2)]
        span = stretch(times[0], times[1], transcript.path, f"line {n}")
        transcript.line(speaker, said_in_chat(text[at : bullet.start()]), span)
        spans.append(span)
        at = bullet.end()
    if (rest := said_in_chat(text[at:])).words or not spans:
        transcript.line(speaker, rest, None)
        spans.append(None)
    return said_whole, spans


def _words(transcript: Gathered, speaker: str, line: Said, tier: str, n: int) -> None:
    """Note the words of a ``%wor`` tier; as the main line spells them, where both have as many."""
    found, at = list[tuple[str, Span | None]](), 0
    for bullet in _BULLET.finditer(tier):
        before = tier[at : bullet.start()].split()
        found += [(word, None) for word in before[:-1]]
        if before:
            times = [moment(bullet[k], transcript.path, f"line {n}", unit=1e-3) for k in (1, 2)]
            found.append((before[-1], stretch(times[0], times[1], transcript.path, f"line {n}")))
        at = bullet.end()
    found += [(word, None) for word in tier[at:].split()]
    found = [(word, span) for word, span in found if _plain(word) or said_in_chat(word).words]
    alike = len(found) == len(line.words)
    for m, (word, span) in enumerate(found):
        if span is not None:
            as_said = Said((line.words[m],), frozenset([0] if m in line.cut_off else [])) if alike else None
            transcript.word(speaker, as_said or said_in_chat(word), span)
    if any(span is None for _, span in found) or line.unclear:
        # What of the line has no times is somewhere between its words.
        who = transcript.of(speaker)
        if who.utterances:
            who.utterances[-1] = replace(who.utterances[-1], unclear=True)


def _plain(word: str) -> bool:
    """Tell whether a token is a word and nothing but letters, without a look at CHAT's many marks."""
    return word.isalpha() and not is_unknown(word)


def said_in_chat(text: str) -> Said:
    """Return what a main line of CHAT says was said."""
    tokens, unclear = list[str](), False
    for token in _PAUSE.sub(" ", _CODES.sub(" ", composed(text))).split():
        if token.startswith("+"):
            # A linker begins a line, a terminator ends it: unfinished, whatever interrupted it.
            if tokens and len(token) > 2:
                tokens.append("?" if "?" in token and "/" not in token else "…")
        elif token.startswith(("&=", "&{", "&}")):
            unclear = True
        elif token.startswith("&*") or re.match(r"0(?:[^\W\d]|$)", token):
            continue
        else:
            fragment = token.startswith("&") and not token.startswith(("&-", "&~"))
            word = _word(re.sub(r"^&[-+~]?", "", token))
            tokens += [f"{part}-" if fragment else part for part in word.split()]
    return of_tokens(tokens, unclear=unclear)


def _word(token: str) -> str:
    """Return a token as it sounded, "" where nothing of it did."""
    if token in _END:
        return token
    bare = _UNSAID.sub("", token.partition("@")[0] or token)
    return _INSIDE.sub("", bare).replace("_", " ").replace("+", "")
