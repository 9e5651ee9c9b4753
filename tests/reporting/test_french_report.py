"""Reports in French of a stored run: nothing left in English, nothing moved in English, nothing that overflows."""

import html
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fullduplex.benchmarks.published import published as printed
from fullduplex.cli import main
from fullduplex.publish import publish
from fullduplex.reporting import language as languages
from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.dimensions_text import dimensions_markdown, dimensions_terminal
from fullduplex.reporting.language import ENGLISH, Language, language_named
from fullduplex.reporting.page import PageData, write_page
from fullduplex.stages import measure_again

GOLDEN = Path(__file__).parents[1] / "golden"
#: When the recordings of the stored run were made: a report says how old its files are.
MADE = 1_767_225_600
#: What stays as it is in every language: names of what was run and of its machinery, and units.
NAMES = re.compile(
    r"planted|scripted(, 1)?|silero[ \w.,-]*|whisper[ \w.,-]*|recorded|virtual|playout"
    r"|released-\w+|anchored|paper|fdb-1\.0(@[\w-]+)?|[\w-]*(turn_taking|pause_handling|user_interruption)[\w/-]*"
    r"|tones|[0-9a-f]{12,}|\d[\d.,]*|s|n|p|ms|Hz|dB|1/s|0-5"
)
#: Words that are the same in French.
ALIKE = {
    "Source", "source", "Variante", "Dimensions", "Items", "Item", "Verdict", "Verdicts", "Pause", "pause", "Zoom",
    "zoom ·", "TOR", "JSD", "Backchannel", "Backchannel, ICC", "backchannel", "interruption", "Question", "Condition",
    "fullduplex", "digest", "options", "revision", "items", "detector", "name", "path", "channels", "assume_rate",
    "pad_ms", "model", "base", "mix", "system", "clock", "rate", "en",
}  # fmt: skip


class Unknowing(Language):
    """French that keeps what it has no words for."""

    def __init__(self) -> None:
        found = language_named("fr")
        super().__init__("fr", found._catalogue)
        self.heard: list[str] = []

    def unknown(self, text: str) -> str:
        self.heard.append(text)
        return text


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Give a copy of the stored run whose files are as old as ever."""
    run = tmp_path / "run"
    shutil.copytree(GOLDEN / "run-schema-1", run)
    for file in run.rglob("*"):
        os.utime(file, (MADE, MADE))
    return run


def published(run: Path, **options: Any) -> None:
    publish(measure_again(run), run, engine="here", **options)


def without_program(page: str) -> str:
    """Return a page without its script and style, and without their digests."""
    bare = re.sub(r"<script>.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL)
    return re.sub(r"sha256-[\w+/=]+", "", bare)


def shown_in(page: str) -> list[str]:
    """Return every text that a page shows or tells a reader of screens, without what its scripts draw."""
    bare = re.sub(r"<script.*?</script>|<style>.*?</style>", "", page, flags=re.DOTALL)
    texts = re.split(r"<[^>]*>", bare) + re.findall(r'(?:title|aria-label|placeholder)="([^"]*)"', bare)
    return list(dict.fromkeys(text for one in texts if (text := html.unescape(one).strip())))


@pytest.mark.parametrize("name", ["report.md", "estimates.tex", "report.html"])
def test_an_english_report_is_the_stored_one_to_the_byte(stored: Path, name: str) -> None:
    published(stored)
    made = (stored / name).read_text(encoding="utf-8")
    made = without_program(made) if name == "report.html" else made
    kept = GOLDEN / "report-en" / name
    assert made == kept.read_text(encoding="utf-8"), f"{name} is no longer {kept}"


def test_an_english_table_of_dimensions_is_the_stored_one_to_the_byte(ground: Any) -> None:
    assert dimensions_markdown(dimensions(_some(ground))) == (GOLDEN / "report-en" / "dimensions.md").read_text("utf-8")


def test_a_french_report_has_no_text_without_words_for_it(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tell = Unknowing()
    monkeypatch.setattr("fullduplex.reporting.kept_language.language_named", lambda code: tell)
    published(stored, language="fr")
    assert tell.heard == []
    assert "prise de parole" in (stored / "report.md").read_text("utf-8")


def test_a_french_page_shows_no_text_of_the_english_one(stored: Path) -> None:
    published(stored)
    english = shown_in((stored / "report.html").read_text("utf-8"))
    published(stored, language="fr")
    french = shown_in((stored / "report.html").read_text("utf-8"))
    left = [text for text in french if text in english and re.search(r"[A-Za-z]{2}", text)]
    systems = {one.to_row()["system"] for one in printed("fdb-1.0")}
    assert [text for text in left if text not in ALIKE | systems and not NAMES.fullmatch(text)] == []
    assert len(left) < len(french) / 3


def test_what_programs_read_is_the_same_in_every_language(stored: Path) -> None:
    names = ("estimates.json", "estimates.csv", "estimates.parquet", "measures.parquet")
    published(stored)
    before = {name: (stored / name).read_bytes() for name in names}
    published(stored, language="fr")
    assert {name: (stored / name).read_bytes() for name in names} == before


def test_a_french_table_for_a_paper_needs_no_encoding(stored: Path) -> None:
    published(stored, language="fr")
    table = (stored / "estimates.tex").read_text("utf-8")
    assert table.isascii()
    assert "U+" not in table
    assert r"Syst\`{e}me" in table
    assert "0,500" in table


def test_dimensions_are_told_and_systems_keep_their_names(ground: Any) -> None:
    tell = Unknowing()
    tables = dimensions(_some(ground))
    text = dimensions_markdown(tables, tell=tell)
    dimensions_terminal(tables, heading="h", tell=tell)
    assert tell.heard == []
    assert "Instants de la conversation" in text
    assert "| alpha (réseau compris) |" in text
    assert "no reply" not in text and "pas de réponse" in text


def test_a_report_in_a_language_without_a_catalogue_is_a_usage_error(stored: Path) -> None:
    found = CliRunner().invoke(main, ["report", str(stored), "--report-language", "tlh"])
    assert found.exit_code == 2
    assert "Traceback" not in found.output


def test_the_command_tells_its_tables_in_french(stored: Path) -> None:
    found = CliRunner().invoke(main, ["report", str(stored), "--report-language", "fr", "--no-page"])
    assert found.exit_code == 3  # one item is damaged
    assert "repose sur\u00a0: activité vocale" in found.output
    assert "1 × pas de prise de parole" in found.output
    assert (stored / "report.md").read_text("utf-8").count("Écarts") == 1


def test_an_older_report_of_another_language_is_written_over(stored: Path) -> None:
    published(stored, language="fr")
    published(stored, language="en")
    kept = (GOLDEN / "report-en" / "report.md").read_text("utf-8")
    assert (stored / "report.md").read_text("utf-8") == kept


@pytest.mark.browser
@pytest.mark.parametrize("width", [400, 1400])
def test_a_french_page_lives_and_nothing_overflows(opened: Any, stored: Path, width: int) -> None:
    published(stored, language="fr")
    seen = opened(stored / "report.html", viewport={"width": width, "height": 900}, locale="en-GB")
    assert seen.said == []
    page = seen.page
    assert page.evaluate("document.documentElement.lang") == "fr"
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert page.locator("#found").inner_text() == "6 items"
    assert "Les verdicts selon chaque variante" in page.locator("#item").inner_text()
    assert re.search(r"0:0\d,\d\d", page.locator("#item .clock").inner_text())


def test_hostile_names_are_harmless_in_french(tmp_path: Path, draw: Any) -> None:
    hostile = "{text} <script>alert(1)</script> %(n)s {0}"
    data: PageData = draw.data(
        systems=[hostile], estimates=[draw.estimate(system=hostile, absent={hostile: 1})], title=hostile,
        about={"remarks": [hostile, f"{hostile}: 2 talks failed and were kept as far as they went"]},
    )  # fmt: skip
    write_page(tmp_path / "p.html", data, [draw.item(system=hostile)], tell=language_named("fr"))
    page = (tmp_path / "p.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "2 conversations ont échoué" in page


def test_english_is_the_language_of_whoever_asks_for_none() -> None:
    assert languages.language_named("en") is ENGLISH


def _some(ground: Any) -> Any:
    return ground(
        {
            "alpha": {"pause": {"passed": [1, 0, "failed"]}, "logic": {"passed": [1, None], "answered": [1, 0]}},
            "beta": {"pause": {"passed": [1, 1, 1]}, "logic": {"passed": [0, 0], "answered": [1, 0]}},
        },
        network=("alpha",),
        whole_turns=("beta",),
    )
