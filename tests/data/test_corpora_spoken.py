"""What of a transcript's text was said, in any script, and whose a tier is."""

from __future__ import annotations

import unicodedata

import pytest

from fullduplex.data.corpora.chat import said_in_chat
from fullduplex.data.corpora.languages import two_letters
from fullduplex.data.corpora.spoken import label, said
from fullduplex.data.corpora.tiers import LINES, OTHER, SPEECH, UNTOLD, WORDS, meant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("okay .", ["okay."]),
        ("ah bon ?", ["ah", "bon?"]),
        ("so [laughter] well", ["so", "well"]),
        ("<noise> hello {breath}", ["hello"]),
        ("(maybe) yes", ["maybe", "yes"]),
        ("he works for (( )) and", ["he", "works", "for", "and"]),
        ("a - b / c", ["a", "b", "c"]),
        ("we were going to--", ["we", "were", "going", "to"]),
        ("l'année où", ["l'année", "où"]),
        ("שלום , מה שלומך ?", ["שלום,", "מה", "שלומך?"]),
        ("\u200fنعم\u200f ؟", ["نعم؟"]),
        ("はい 。", ["はい。"]),
        ("...", []),
    ],
)
def test_a_line_s_words_are_what_was_said(text: str, words: list[str]) -> None:
    assert list(said(text).words) == words


def test_accents_are_one_letter_however_they_were_typed() -> None:
    decomposed = unicodedata.normalize("NFD", "déjà vécu")
    assert said(decomposed).words == ("déjà", "vécu") and decomposed != "déjà vécu"


@pytest.mark.parametrize(
    ("text", "unclear"),
    [("yes", False), ("[laughter]", True), ("xxx", True), ("(( ))", True), ("[silence] yes", False), ("@ oui", True)],
)
def test_a_line_with_a_sound_in_it_is_unclear(text: str, unclear: bool) -> None:
    assert said(text).unclear is unclear


@pytest.mark.parametrize(("text", "cut"), [("th- the", [0]), ("v~ vous", [0]), ("uh-huh", []), ("to--", [])])
def test_a_word_that_was_broken_off_is_marked(text: str, cut: list[int]) -> None:
    assert sorted(said(text).cut_off) == cut


@pytest.mark.parametrize(
    "mark", ["XXX", "XXX,", "xxx.", "xxxx", "yyy", "www", "***", "++", "(inaudible)", "((inaudible))", "(( ))",
             "[inaudible]",
             "(inintelligible)", "(???)", "<unk>"],
)  # fmt: skip
def test_what_a_transcriber_did_not_understand_is_no_word_and_a_sound(mark: str) -> None:
    assert said(f"eh {mark} ben").words == ("eh", "ben") and said(f"eh {mark} ben").unclear
    alone = label(mark)
    assert alone is not None and not alone.words and alone.unclear


@pytest.mark.parametrize("text", ["taxi", "X", "(taxi) là", "c'est fou !!"])
def test_what_only_looks_like_such_a_mark_is_said(text: str) -> None:
    assert said(text).words and not said(text).unclear


def test_a_word_s_label_is_a_word_a_sound_or_silence() -> None:
    assert [label(text) for text in ("", "sp", "<eps>", "SIL")] == [None] * 4
    for sound in ("spn", "[laughter]", "*"):
        found = label(sound)
        assert found is not None and found.words == () and found.unclear
    word = label("oui")
    assert word is not None and word.words == ("oui",)


@pytest.mark.parametrize(
    ("text", "words", "unclear"),
    [
        ("Um <I like I like> [/] I like beans .", "Um I like I like I like beans.", False),
        ("the dog [//] the cat ran .", "the dog the cat ran.", False),
        ("(be)cause I wanna@f go .", "cause I wanna go.", False),
        ("&-uh &+th the &=laughs end .", "uh th- the end.", True),
        ("xxx yes .", "yes.", True),
        ("0she want (.) it (1.5) now .", "want it now.", False),
        ("+< so I was +//.", "so I was…", False),
        ("is it +...", "is it…", False),
        ("you did +..?", "you did?", False),
        ("so ‡ she no:: ⌈ really ⌉2 .", "so she no really.", False),
        ("&*INV:mhm yes [=! laughing] .", "yes.", False),
        ("New_York hao3@s:zho .", "New York hao3.", False),
        ("male [: female] [* s:r] .", "male.", False),
        ("[- fra] oui [+ neg] .", "oui.", False),
    ],
)
def test_a_main_line_of_chat_is_what_it_says_was_said(text: str, words: str, unclear: bool) -> None:
    found = said_in_chat(text)
    assert (found.text, found.unclear) == (words, unclear)


@pytest.mark.parametrize(
    ("name", "speaker", "kind"),
    [
        ("A", "A", UNTOLD),
        ("words", "", WORDS),
        ("Anna - words", "Anna", WORDS),
        ("Anna - phones", "Anna", OTHER),
        ("user words", "user", WORDS),
        ("user words 2", "user", WORDS),
        ("system speech", "system", SPEECH),
        ("events", "", OTHER),
        ("utterance@SP1", "SP1", LINES),
        ("B_mots", "B", WORDS),
        ("ORT-MAU", "", WORDS),
        ("Énoncés Zoé", "Zoé", LINES),
        ("spreker1 [v] (TIE0)", "spreker1 [v] (TIE0)", UNTOLD),
        ("speaker_1", "speaker_1", UNTOLD),
    ],
)
def test_a_tier_s_name_tells_whose_it_is_and_what_it_holds(name: str, speaker: str, kind: str) -> None:
    assert meant(name) == (speaker, kind)


@pytest.mark.parametrize(("code", "letters"), [("fra", "fr"), ("fr-CA", "fr"), ("en", "en"), ("eng", "en"), ("q1", "")])
def test_a_language_has_two_letters(code: str, letters: str) -> None:
    assert two_letters(code) == letters
