"""The table of systems is what the systems declare."""

from __future__ import annotations

from pathlib import Path

from fullduplex.systems.table import servers, systems_table

ROOT = Path(__file__).parents[2]


def test_the_readme_holds_the_table_that_the_systems_make() -> None:
    assert systems_table() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_system_has_the_page_that_its_row_leads_to() -> None:
    rows = systems_table("docs/systems").splitlines()[2:]
    assert len(rows) == len(servers())
    for row in rows:
        page = row.split("](")[1].split(")")[0]
        assert (ROOT / page).is_file(), row


def test_a_session_that_ends_by_itself_is_told_in_seconds() -> None:
    row = next(row for row in systems_table().splitlines() if "`gemini-live`" in row)
    assert "| 600 s | closed | `GEMINI_API_KEY` |" in row
    assert "ahead of real time" in row
