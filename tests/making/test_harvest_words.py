"""Listeners' tokens by language, what is put out of texts, and rules from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.errors import InputError
from fullduplex.making.harvest.chosen_rules import NAMES, chosen_rules
from fullduplex.making.harvest.fdb.rules import FDB_RULES, FdbRules
from fullduplex.making.harvest.rules import RULES, Rules
from fullduplex.making.harvest.tokens import AFFIRMATIVE, UNCERTAINTY, languages, tokens_from, tokens_of
from fullduplex.making.harvest.withheld import ADDRESS, NAME, NUMBER, Withheld
from fullduplex.model.spans import ms, seconds

# --- tokens ---


@pytest.mark.parametrize(
    ("language", "said", "kind"),
    [
        ("en", "Uh-huh.", AFFIRMATIVE), ("en", "oh really?", UNCERTAINTY), ("en", "a lamp", ""),
        ("fr", "d’accord", AFFIRMATIVE), ("fr", "ah ouais", AFFIRMATIVE), ("fr", "ah bon", UNCERTAINTY),
        ("fr", "euh", ""), ("de", "Ach so, ja.", AFFIRMATIVE), ("de", "echt", UNCERTAINTY),
        ("nl", "ja precies", AFFIRMATIVE), ("nl", "meen je dat", UNCERTAINTY), ("es", "sí, claro", AFFIRMATIVE),
        ("es", "¿en serio?", UNCERTAINTY), ("ja", "うんうん", AFFIRMATIVE), ("ja", "へえ", UNCERTAINTY),
        ("ja", "そうですね。", AFFIRMATIVE), ("zh", "对对对", AFFIRMATIVE), ("zh", "真的吗？", UNCERTAINTY),
        ("zh", "桌子", ""),
    ],
)  # fmt: skip
def test_a_token_is_told_by_its_language_s_list(language: str, said: str, kind: str) -> None:
    assert tokens_of(language).kind(said) == kind


def test_seven_languages_have_a_list_and_say_where_it_is_from() -> None:
    assert set(languages()) == {"en", "fr", "de", "nl", "es", "ja", "zh"}
    assert all(len(tokens_of(language).source) > 40 for language in languages())


def test_no_token_is_in_two_lists_of_a_language() -> None:
    for language in languages():
        lists = tokens_of(language)
        for one, other in ((lists.affirmative, lists.uncertain), (lists.affirmative, lists.neutral),
                           (lists.uncertain, lists.neutral)):  # fmt: skip
            assert not one & other, language


def test_an_unknown_language_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError, match=r"found tlh, expected one of en, fr.*give your own list with --tokens"):
        tokens_of("tlh")


def test_a_list_of_one_s_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('affirmative = ["HIja\'", "luq"]\nuncertain = ["qatlh"]\nsource = "mine"\n')
    assert tokens_from(path, "tlh").kind("luq luq") == AFFIRMATIVE


@pytest.mark.parametrize(
    ("text", "told"),
    [("affirmative = 3", "lists of texts"), ("yes = ['a']", "yes: found"), ("uncertain = ['a']", "affirmative: found"),
     ("= 3", "expected a TOML file")],
)  # fmt: skip
def test_a_list_that_cannot_be_meant_is_refused(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        tokens_from(path, "xx")


# --- what is put out of texts ---


@pytest.mark.parametrize(
    ("language", "said", "left"),
    [
        ("en", "my name is John Smith and i call", f"my name is {NAME} {NAME} and i call"),
        ("en", "call five five five one two now", f"call {NUMBER} {NUMBER} {NUMBER} {NUMBER} {NUMBER} now"),
        ("en", "two or three boats", "two or three boats"),
        ("en", "it is 617-253 again", f"it is {NUMBER} again"),
        ("en", "in 201 rooms", "in 201 rooms"),
        ("en", "write to jo@example.org please", f"write to {ADDRESS} please"),
        ("fr", "je m’appelle Sonia", f"je m’appelle {NAME}"),
        ("fr", "le zéro six deux quatre", f"le {NUMBER} {NUMBER} {NUMBER} {NUMBER}"),
        ("en", "Ask Branca about it", f"Ask {NAME} about it"),
    ],
)
def test_what_identifies_somebody_is_put_out(language: str, said: str, left: str) -> None:
    assert Withheld.of(language, ["Sonia Branca"]).text(said) == left


def test_as_many_words_are_left_as_there_were() -> None:
    said = ["my", "name", "is", "Ann-Marie", "and", "12", "34"]
    assert Withheld.of("en").words(said) == ["my", "name", "is", NAME, NAME, NUMBER, NUMBER]


# --- rules ---


def test_every_name_gives_its_rules() -> None:
    for name in NAMES:
        assert chosen_rules(name) == (name, {**RULES, **FDB_RULES}[name])


def test_a_file_of_rules_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'based_on = "fdb-1.0"\npause = { more_than = 0.5 }\ncap = 20\ngap_after = 8\ntasks = ["backchannel"]\n'
    )
    name, rules = chosen_rules(str(path))
    assert isinstance(rules, FdbRules) and name == "own, based on fdb-1.0"
    assert (rules.pause.least, rules.pause.open, rules.cap) == (ms(500) + 1, True, 20)
    assert (rules.gap_after, rules.tasks, rules.lead) == (seconds(8), ("backchannel",), FDB_RULES["fdb-1.0"].lead)


def test_a_file_of_rules_for_duplexact_changes_its_thresholds(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('based_on = "duplexact"\npause_at_most = 1.5\nbrief_words = 2\n')
    _, rules = chosen_rules(str(path))
    assert isinstance(rules, Rules) and (rules.pause_at_most, rules.brief_words) == (seconds(1.5), 2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("cap = 3", "based_on: found null, expected one of duplexact, fdb-1.0"),
        ('based_on = "fdb-1.0"\npauze = 1', "pauze: found a key that these rules do not have, expected release, tasks"),
        ('based_on = "fdb-1.0"\npause = 1', "a table of edges"),
        ('based_on = "fdb-1.0"\npause = { atleast = 1 }', "no atleast: an edge is one of at_least"),
        ('based_on = "fdb-1.0"\npause = { at_least = 2, at_most = 1 }', "a range with something in it"),
        ('based_on = "fdb-1.0"\npause = { at_least = -1 }', "none negative"),
        ('based_on = "fdb-1.0"\nlead = -1', "a number that is not negative"),
        ('based_on = "french-callfc"\npause = { more_than = 700 }', "below 100: 700 ms are 0.7"),
        ('based_on = "fdb-1.0"\nlead = 600', "seconds, below 600: 700 ms are 0.7"),
        ('based_on = "duplexact"\npause_at_most = 1000', "seconds, below 600: 700 ms are 0.7"),
        ('based_on = "fdb-1.0"\ncap = 1.5', "a whole number"),
        ('based_on = "fdb-1.0"\ntasks = ["user_backchannel"]', "tasks of 1.0"),
        ('based_on = "fdb-1.0"\nparted = "no"', "true or false"),
        ('based_on = "fdb-1.0"\npause_partner = "loud"', "silent or brief"),
        ('based_on = "duplexact"\nbrief_words = 1.5', "a whole number"),
        ('based_on = "duplexact"\nlongest = inf', "not negative"),
        ("based_on = ", "expected a TOML file"),
    ],
)  # fmt: skip
def test_rules_that_cannot_be_meant_are_refused_in_a_sentence(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=told):
        chosen_rules(str(path))


def test_every_key_of_the_rules_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "harvest.md").read_text()
    missing = [name for name in FDB_RULES["fdb-1.0"].to_json() if f"`{name}`" not in page]
    assert not missing
