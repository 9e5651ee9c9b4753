"""What a user's words say of who speaks: the assistant's part taken, or another language."""

from __future__ import annotations

import unicodedata
from collections import Counter

from fullduplex.driving.wording import contains, units

#: What an assistant says and its caller does not; English. Ours, and part of a check's record.
ASSISTANT_SAYS = (
    "how can i help you",
    "how may i help you",
    "how can i assist you",
    "how may i assist you",
    "what can i do for you",
    "anything else i can help you with",
    "anything else i can assist you with",
    "i am here to help",
    "im here to help",
    "im happy to help",
    "happy to accommodate your request",
    "pleased to inform you",
    "as an ai",
    "i am an ai",
    "im an ai",
    "language model",
    "thank you for calling",
)
#: The writing of each language that is known here (ISO 639-1), as Unicode names its letters.
SCRIPTS = {
    "en": {"LATIN"},
    "fr": {"LATIN"},
    "de": {"LATIN"},
    "es": {"LATIN"},
    "it": {"LATIN"},
    "pt": {"LATIN"},
    "vi": {"LATIN"},
    "zh": {"CJK"},
    "ja": {"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"},
    "ko": {"HANGUL"},
    "ru": {"CYRILLIC"},
    "ar": {"ARABIC"},
    "hi": {"DEVANAGARI"},
}
#: Frequent words that belong to one of these languages and to no other of them. Ours.
_TELLTALE = {
    "en": "the and is it you my to of would this that have what with are was for yes please thanks",
    "fr": "le les et je vous une pour dans pas oui bonjour merci avec est mon votre suis voudrais sur ce",
    "de": "der das und ich sie nicht ein eine mit ist ja bitte danke für auf wir kann haben möchte zu",
    "es": "el los y yo usted una por no sí hola gracias con es mi su para quiero qué del pero",
    "it": "il gli e io lei un che di sì ciao grazie con è mio suo vorrei sono della per non",
    "pt": "o os eu você um uma não sim olá obrigado com é meu seu para quero são em mas isso",
}
_WORDS = {language: frozenset(words.split()) for language, words in _TELLTALE.items()}
#: A language is told only where its frequent words lead the expected one's by so many.
LEAD = 2


def assistant_phrase(text: str, phrases: tuple[str, ...] = ASSISTANT_SAYS) -> str | None:
    """Return the first of ``phrases`` that ``text`` holds, or None."""
    return next((phrase for phrase in phrases if contains(text, phrase)), None)


def other_language(text: str, expected: str) -> str | None:
    """Return what tells that ``text`` is not in ``expected`` (ISO 639-1), or None where nothing does.

    It is written in another script: fewer than half of its letters belong to the language's. Or its frequent
    words are another language's: at least :data:`LEAD` more of them than of the expected one's, among
    English, French, German, Spanish, Italian and Portuguese. Of a language that is not known here nothing is told.
    """
    letters = [unicodedata.name(c, "").split(" ")[0] for c in text if c.isalpha()]
    own = SCRIPTS.get(expected)
    if own is None or not letters:
        return None
    theirs = [script for script in letters if script not in own]
    if 2 * len(theirs) > len(letters):
        return f"letters of the {Counter(theirs).most_common(1)[0][0].title()} script"
    if expected not in _WORDS:
        return None
    said = Counter(units(text))
    counts = {language: sum(said[word] for word in words) for language, words in _WORDS.items()}
    # A word that two languages share tells for both, so it gives neither a lead.
    most = max(counts, key=lambda language: (counts[language], language == expected))
    return f"words of {most!r}" if counts[most] - counts[expected] >= LEAD else None
