"""French beside the report: language match, an item, comparisons, sensitivity, agreement; names stay as they are."""

import html
import io
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from fullduplex.cli import main
from fullduplex.reporting.agreement import agreement_text
from fullduplex.reporting.language import ENGLISH, Language, language_named
from fullduplex.reporting.mismatch import mismatch_markdown
from fullduplex.reporting.sensitivity import sensitivity_markdown, sensitivity_terminal
from fullduplex.reporting.validity import validity_markdown, validity_text

GOLDEN = Path(__file__).parents[1] / "golden"
FRENCH = language_named("fr")
HOSTILE = "[red]<script>{n}%s"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    shutil.copytree(GOLDEN / "run-schema-1", tmp_path / "run")
    return tmp_path / "run"


def command(*arguments: object) -> str:
    found = CliRunner().invoke(main, [str(one) for one in arguments])
    assert found.exception is None or isinstance(found.exception, SystemExit), found.output
    return found.output


def row(**given: Any) -> dict[str, Any]:
    made = {
        "system": "alpha", "benchmark": "fdb-french", "corpus": "media", "task": "pause_handling", "scenario": "media",
        "scenario_title": "Pause handling, MEDIA", "metric": "tor", "title": "TOR", "better": "lower", "unit": "",
        "value": 0.25, "low": 0.1, "high": 0.5, "n": 12, "absent": {}, "rests_on": "voice activity",
        "items_language": "fr", "system_language": "en", "architecture": "end-to-end", "match": "mismatched",
    }  # fmt: skip
    made |= given
    return {"run": f"{made['system']}.run", "label": made["system"]} | made


def told(**given: Any) -> dict[str, Any]:
    names = ("within 1 s (not 2 s)", "within 3 s (not 2 s)")
    band = {
        "system": "alpha", "scenario": "turn", "metric": "tor", "title": "TOR", "unit": "share", "better": "higher",
        "value": 0.5, "n": 4, "low": 0.25, "high": 1.0, "lowest": "rules paper", "highest": f"threshold {names[0]}",
        "kinds": {"rules": [0.25, 0.5], "threshold": [0.5, 1.0]}, "missing": [],
    }  # fmt: skip
    conditions = [{"kind": "as measured", "name": "as measured"}, {"kind": "rules", "name": "paper"}]
    conditions += [{"kind": "threshold", "name": name} for name in names]
    return {"conditions": conditions, "bands": [band], "standings": [], "remarks": []} | given


def printed(what: Any) -> str:
    out = io.StringIO()
    Console(file=out, width=160, highlight=False).print(what)
    return out.getvalue()


def test_groups_of_language_match_are_told_and_systems_keep_their_names() -> None:
    text = mismatch_markdown([row(), row(system="people", architecture="human", match="")], FRENCH)
    assert "## Gestion des pauses" in text
    assert (
        "| autre langue, de bout en bout | alpha | en | fdb-french, media (fr) | 0,250 [0,100\u202f; 0,500] 12 |"
        in text
    )
    assert "| humain | people |" in text


def test_what_rests_on_content_is_named_by_its_title() -> None:
    rated = row(metric="rating", title="Rating", rests_on="content", better="higher")
    assert "Rests on content: Rating; all else" in mismatch_markdown([row(), rated])
    assert "Repose sur le contenu\u00a0: Note\u202f;" in mismatch_markdown([row(), rated], FRENCH)


def test_one_item_is_told_with_decimal_commas_and_words_as_they_were_said(stored: Path) -> None:
    text = command("show", stored, "candor_pause_handling/1", "--report-language", "fr")
    assert "événements" in text and "well 0,200-0,600" in text
    assert "utilisateur\u00a0: 3 mots\u202f; mots selon whisper" in text
    assert "under " not in text and "listen" not in text


def test_one_item_is_told_in_the_language_that_the_run_keeps(stored: Path) -> None:
    about = json.loads((stored / "run.json").read_text("utf-8"))
    (stored / "run.json").write_text(json.dumps(about | {"report_language": "fr"}), encoding="utf-8")
    assert "événements" in command("show", stored, "candor_pause_handling/1")
    assert "\nevents" in command("show", stored, "candor_pause_handling/1", "--report-language", "en")


def test_sensitivity_is_told_and_names_of_variants_stay() -> None:
    text = sensitivity_markdown(told(), FRENCH)
    assert "3 conditions à côté du run tel que mesuré\u00a0: 1 jeu de règles, 2 seuils." in text
    assert "0,250\u202f; règles paper" in text
    assert "seuil within 1 s (et non 2 s)" in text
    assert "What moves" not in text


@pytest.mark.parametrize("tell", [ENGLISH, FRENCH])
def test_a_terminal_has_what_the_file_has_as_tables(tell: Language) -> None:
    text = printed(sensitivity_terminal(told(), tell))
    assert "|" not in text and "#" not in text and "---" not in text
    for cell in ("TOR ↑", tell("What moves"), tell.digits("0.500"), tell("Sensitivity")):
        assert cell in text


def test_hostile_names_are_shown_in_a_terminal_and_do_nothing() -> None:
    hostile = told(remarks=[HOSTILE])
    hostile["bands"][0]["scenario"] = HOSTILE
    hostile["bands"].append(hostile["bands"][0] | {"system": HOSTILE})
    for tell in (ENGLISH, FRENCH):
        assert printed(sensitivity_terminal(hostile, tell)).count(HOSTILE) >= 3
        assert "<script" not in sensitivity_markdown(hostile, tell)
        assert HOSTILE.replace("[", "\\[").replace("]", "\\]") in html.unescape(sensitivity_markdown(hostile, tell))


def test_sensitivity_in_a_pipe_is_markdown_as_in_the_file(stored: Path) -> None:
    shown = command("sensitivity", stored)
    assert html.unescape((stored / "sensitivity.md").read_text("utf-8")) in shown


def test_agreement_is_told_and_one_is_one() -> None:
    of_one = {
        "verdict": "rating", "level": "ordinal", "items_rated": 1, "raters": 1, "judges": {}, "between": [],
        "among_people": {"alpha": {"value": 0.5, "low": 0.25, "high": 0.75, "n": 1}},
    }  # fmt: skip
    english = agreement_text("alpha", {"verdicts": [of_one]})
    assert "people: 1 item rated by 1 rater" in english
    assert "Krippendorff's alpha: 0.50 [0.25, 0.75], n 1" in english
    french = agreement_text("alpha", {"verdicts": [of_one]}, FRENCH)
    assert "humains\u00a0: 1 item\u202f; 1 personne a noté" in french
    assert "alpha de Krippendorff\u00a0: 0,50 [0,25\u202f; 0,75]" in french


def test_how_valid_items_are_is_told_and_the_numbers_are_the_same() -> None:
    share = {"value": 0.75, "low": 0.5, "high": 0.9}
    found = {
        "items": 1, "ratings": {"yes": 3, "no": 1, "unclear": 0}, "by_rating": share, "by_rating_wilson": (0.5, 0.9),
        "by_majority": share, "majorities": {"yes": 1, "no": 0, "unclear": 0, "tied": 0},
    }  # fmt: skip
    of_all = {"of": "all", "action": "", "condition": "", "items": 1, "found": {"label": found}}
    bad = {"set": "s", "item": "1", "said": {"label": "no"}, "votes": {"label": {"yes": 1, "no": 3}}}
    told_of = {
        "form": {"name": "duplexact", "version": "2"}, "rows": [of_all], "raters": ["a"], "ratings_an_item": {"1": 4},
        "questions": [{"key": "label", "kind": "yes-no-unclear"}], "agreement": {"label": {}}, "invalid": [bad],
        "doubtful": [],
    }  # fmt: skip
    english, french = (validity_markdown(told_of, tell=tell) for tell in (ENGLISH, FRENCH))
    assert "| Overall | 1 | 75.0 % (3/4) \\[50.0, 90.0\\] |" in english
    assert "1 item, 1 rater; items × ratings" in english and "- s/1: label: no (1 yes, 3 no)" in english
    assert "| Ensemble | 1 | 75,0\u00a0% (3/4) \\[50,0\u202f; 90,0\\] |" in french
    assert "1 item, 1 évaluateur\u202f; items" in french
    assert "- s/1\u00a0: label\u00a0: non (1 oui, 3 non)" in french
    assert "non valide\u00a0: s/1" in validity_text(told_of, FRENCH)


def test_runs_are_compared_in_the_language_that_is_asked_for(stored: Path, tmp_path: Path) -> None:
    shutil.copytree(stored, tmp_path / "other")
    text = command("compare", stored, tmp_path / "other", "--report-language", "fr", "--out", tmp_path / "c")
    assert "différences avec" in text
    assert "différences avec" in (tmp_path / "c" / "compare.md").read_text("utf-8")
