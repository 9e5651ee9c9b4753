"""English writing as phonemes: hibari's reading of it, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fullduplex.errors import InputError, printable
from fullduplex.providers.voices.durations import Token


def english_sentences(text: str, split: Callable[[str], list[str]], g2p: Any) -> Iterator[list[Token]]:
    """Yield each sentence as written words with the phonemes of each; marks belong to the word before.

    ``split`` cuts a text into sentences and ``g2p`` reads one, both of the package hibari-tts.
    """
    from hibari.g2p.normalize import normalize

    for sentence in split(text):
        tokens = list[Token]()
        opened = True
        try:
            read = g2p.phonemize_tokens(g2p.tokenize(normalize(sentence)))
        except (IndexError, ValueError, OverflowError) as error:
            # Its reader of numbers knows no word for those of dozens of digits.
            raise InputError("text", found=repr(printable(sentence, 60)), expected="words that can be read") from error
        for token in read:
            phonemes = token.phonemes or ""
            if opened or not tokens:
                tokens.append((token.text, phonemes))
            else:
                # No space before it: a mark, or the rest of a written word.
                tokens[-1] = (tokens[-1][0] + token.text, tokens[-1][1] + phonemes)
            opened = bool(token.whitespace)
        tokens = [token for token in tokens if token[1].strip()]
        if tokens:
            yield tokens
