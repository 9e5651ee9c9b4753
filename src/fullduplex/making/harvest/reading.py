"""Reading a conversation of a corpus with its lines placed in the sound, where nobody timed the words."""

from __future__ import annotations

from fullduplex.data.corpora.conversation import Conversation, Corpus, Side
from fullduplex.listening.recognisers.alignment import LANGUAGES, Aligner
from fullduplex.listening.transcribed import aligned
from fullduplex.once import once_per_process


def read_placed(corpus: Corpus, name: str) -> Conversation:
    """Return a conversation of the corpus; lines without times of words are aligned with their channel's sound.

    They are in the languages that have an aligner (:data:`~fullduplex.listening.recognisers.alignment.LANGUAGES`);
    the conversation's remarks say what could not be placed. Raises :class:`InputError` where it cannot be read.
    """
    conversation = corpus.read(name)
    if conversation.language in LANGUAGES and any(map(_waits, conversation.sides)):
        return aligned(conversation, _aligner(conversation.language))
    return conversation


def _waits(side: Side) -> bool:
    return side.words is None and side.recording is not None and bool(side.utterances or side.loose)


@once_per_process
def _aligner(language: str) -> Aligner:
    return Aligner(language)
