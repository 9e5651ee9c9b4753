"""How a text is told in another language: as a whole, by a pattern, in parts; names and programs' files untouched."""

import time

import pytest

from fullduplex.cli import REPORT_LANGUAGES
from fullduplex.errors import InputError
from fullduplex.reporting.language import ENGLISH, Language, language_named, languages
from fullduplex.reporting.rows import absences, figure, interval

NARROW = "\u202f"
WIDE = "\u00a0"


@pytest.fixture(scope="module")
def french() -> Language:
    return language_named("fr")


def test_a_language_without_a_catalogue_is_refused_in_a_sentence() -> None:
    with pytest.raises(InputError, match=r"--report-language.*tlh.*en, fr"):
        language_named("tlh")


def test_the_commands_offer_the_languages_that_have_a_catalogue() -> None:
    assert languages() == REPORT_LANGUAGES


def test_in_english_every_text_is_as_written() -> None:
    for text in ("no takeover", "3 × no words; 1 × failed", "answered: 0.994 s", "0.5", "a text of nobody's"):
        assert ENGLISH.of(text) == text
    assert ENGLISH("and {n} more", n=3) == "and 3 more"
    assert ENGLISH.digits("1,234.5") == "1,234.5"
    assert ENGLISH.date("2026-11-03") == "2026-11-03"


def test_a_number_within_a_reason_has_a_comma(french: Language) -> None:
    told = french.of("first word after the event's end: 0.994 s")
    assert told == f"premier mot après la fin de l’événement{WIDE}: 0,994{WIDE}s"


def test_what_is_missing_is_told_reason_by_reason(french: Language) -> None:
    row = {"absent": {"failed": 1, "no takeover": 3}}
    assert absences(row, french) == f"3 × pas de prise de parole{NARROW}; 1 × échec"


def test_a_systems_name_before_a_sentence_stays(french: Language) -> None:
    told = french.of("failed system: 2 talks failed and were kept as far as they went")
    assert told == f"failed system{WIDE}: 2 conversations ont échoué et ont été gardées jusqu’où elles sont allées"


def test_a_name_that_is_also_a_text_stays_within_a_pattern(french: Language) -> None:
    assert french.of("the system's words are from: silent (3 items)").endswith("silent (3 items)")


def test_a_day_is_written_out(french: Language) -> None:
    assert french.of("2026-11-01") == f"1er{WIDE}novembre 2026"
    assert french.of("2026-02-28 to 2026-03-10") == f"du 28{WIDE}février 2026 au 10{WIDE}mars 2026"


def test_words_that_were_said_stay_as_they_were_said(french: Language) -> None:
    told = french.of('took the floor: "no takeover; failed: 0.5" at 1.20-2.40 s')
    assert "«\u00a0no takeover; failed: 0.5\u00a0»" in told
    assert "1,20-2,40" in told


def test_a_text_of_nobodys_stays_as_it_is(french: Language) -> None:
    assert french.of("quite another sentence") == "quite another sentence"
    assert french.kept("silero v6") == "silero v6"
    assert not french.knows("quite another sentence")


def test_braces_in_what_others_wrote_are_no_places(french: Language) -> None:
    for text in ("{n}", "{0.__class__}", "no reply to '{text}'", "judged: {said} {}"):
        assert "{" in french.of(text)


def test_a_long_hostile_text_takes_no_time(french: Language) -> None:
    began = time.perf_counter()
    for text in ("a, " * 5_000, "3 × " * 250, "x: " * 300, "; ".join("ab" * 40), '"' * 900 + " at 1-2 s"):
        french.of(text)
    assert time.perf_counter() - began < 3


@pytest.mark.parametrize(
    ("value", "unit", "told"), [(0.25, "", "0,250"), (None, "s", "—"), (-0.0001, "", "-0,0001"), (12.04, "%", "12,0")]
)
def test_a_figure_has_a_decimal_comma(french: Language, value: float | None, unit: str, told: str) -> None:
    assert figure(value, unit, french) == told


def test_ends_of_an_interval_are_set_apart_by_more_than_a_comma(french: Language) -> None:
    assert interval({"low": 0.1, "high": 0.25}, french) == f"[0,100{NARROW}; 0,250]"


def test_nothing_is_singular_in_french(french: Language) -> None:
    assert [french.plural("{n} item", "{n} items", n) for n in (0, 1, 2, 12_345)] == [
        "0 item", "1 item", "2 items", f"12{NARROW}345 items",
    ]  # fmt: skip
    assert ENGLISH.plural("{n} item", "{n} items", 0) == "0 items"
    assert ENGLISH.plural("{n} item", "{n} items", 12_345) == "12,345 items"
