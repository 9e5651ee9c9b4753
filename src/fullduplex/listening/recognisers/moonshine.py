"""Moonshine's words: light, English only."""

from __future__ import annotations

import importlib.util
import threading
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fullduplex.errors import PluginError
from fullduplex.listening.recognisers import Heard, Samples
from fullduplex.listening.recognisers.alignment import Aligner, how_placed, place
from fullduplex.listening.recognisers.chunks import (
    RATE,
    Placed,
    around_speech,
    at_16_khz,
    check_language,
    in_order,
    tokens_of,
)
from fullduplex.model.spec import Spec
from fullduplex.providers import models, weights

#: A piece ends at a silence of so many seconds or more. At 1 s, as for the others, 5.6 instead of 6.0 % of words were
#: wrong on speech of voices and of a reader, but a word that is not aligned lay 0.23 s off, instead of 0.13 s.
_SILENCE = 0.5
#: The library takes whole windows of so many samples and leaves the rest away.
_WINDOW = 512
#: Its own voice activity is off, so every piece is one line. It has one detector for a whole process, whose state no
#: call resets: where a line began and ended, and with that a doubtful word, depended on all that was heard before, by
#: whichever transcriber.
_OPTIONS = {"vad_threshold": "0", "identify_speakers": "false", "return_audio_data": "false"}


class Moonshine:
    """Moonshine tiny through moonshine-voice, then forced alignment of its words by PocketSphinx.

    About half the work of Whisper base, with more wrong words; it writes numbers as
    numerals, which cannot be aligned. Each piece around speech is decoded by itself, so the words are those of
    the sound alone. A word that is not aligned has its share, by letters,
    of the time of its piece. Gives no confidence. Raises :class:`PluginError` where moonshine-voice 0.0.73 is not
    installed (later ones carry no weights) or the weights are not at hand.
    """

    def __init__(self, align: bool = True, *, cache: Path | None = None) -> None:
        if importlib.util.find_spec("moonshine_voice") is None:
            raise PluginError("the recogniser moonshine needs moonshine-voice; install fullduplex[moonshine]")
        self.align = align
        self._model = models.model("moonshine-tiny")
        self._weights = _weights(cache or weights.default_cache({}))
        self._aligner = Aligner("en") if align else None
        self._one_at_a_time = threading.Lock()
        self._loaded: Any = None

    @property
    def spec(self) -> Spec:
        """Return the options that decide the words and times, and every library and weight behind them."""
        library, weights_ = version("moonshine-voice"), self._model.files[0].sha256[:12]
        revision = f"moonshine-voice {library} by pieces, {self._model.name} {weights_}"
        if self._aligner:
            revision += f", {self._aligner.revision}"
        return Spec("moonshine", {"align": self.align}, revision)

    @property
    def languages(self) -> tuple[str, ...]:
        """Return the one language that the weights know."""
        return ("en",)

    def recognise(self, samples: Samples, rate: int, language: str = "en") -> Heard:
        """Return the words of one voice at ``rate`` Hz."""
        check_language("moonshine", language, self.languages)
        sound = at_16_khz(samples, rate)
        words: list[Placed] = []
        for start, end in around_speech(sound, silence=_SILENCE):
            words += place(self._aligner, sound, start, end, self._sentences(sound[start:end], start / RATE))
        words = in_order(words, len(samples) / rate)
        placed, remarks = how_placed(words) if self._aligner else ("recogniser", ())
        return Heard(tokens_of(words), None, placed, remarks)

    def _sentences(self, piece: Samples, offset: float) -> list[list[Placed]]:
        whole = np.pad(piece, (0, -len(piece) % _WINDOW))
        with self._one_at_a_time:
            lines = self._ready().transcribe_without_streaming(whole.tolist(), RATE).lines
        return [_words(line, offset, len(piece) / RATE) for line in lines if line.text.strip()]

    def _ready(self) -> Any:
        if self._loaded is None:
            from moonshine_voice.moonshine_api import ModelArch
            from moonshine_voice.transcriber import Transcriber

            self._loaded = Transcriber(str(self._weights), ModelArch.TINY, options=_OPTIONS)
        return self._loaded


def _words(line: Any, offset: float, longest: float) -> list[Placed]:
    """Return a line's words with its time shared out by letters: the model places lines, not words."""
    words = line.text.split()
    letters = sum(map(len, words))
    start, duration = line.start_time, min(line.duration, longest - line.start_time)
    found, before = [], 0
    for word in words:
        after = before + len(word)
        times = (offset + start + duration * edge / letters for edge in (before, after))
        found.append(Placed(word, *times))
        before = after
    return found


def _weights(cache: Path) -> Path:
    """Return the weights in the cache, or the very same ones in the installed package."""
    try:
        return weights.path("moonshine-tiny", cache)
    except PluginError:
        found = importlib.util.find_spec("moonshine_voice")
        assert found is not None and found.origin is not None
        own = Path(found.origin).parent / "assets" / "tiny-en"
        for file in models.model("moonshine-tiny").files:
            if not (own / file.name).is_file() or weights.sha256(own / file.name) != file.sha256:
                raise
        return own
