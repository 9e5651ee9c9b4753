"""Tables by dimension as text: in a terminal and in Markdown."""

from __future__ import annotations

import io
from typing import Any

from fullduplex.reporting.dimensions import dimensions
from fullduplex.reporting.dimensions_text import BESIDE, dimensions_markdown, dimensions_terminal

TASKS = ("logic", "countdown", "grammar", "keyword_wait", "stay_quiet")
ESCAPE = "\x1b[31m<b>|x"


def shown(tables: list[dict[str, Any]], width: int = 120) -> str:
    from rich.console import Console

    out = io.StringIO()
    Console(file=out, width=width, highlight=False).print(dimensions_terminal(tables, heading="bench@page"))
    return out.getvalue()


def tasks(part: int, of: int = 4) -> dict[str, Any]:
    return {card: {"passed": [1.0] * part + [0.0] * (of - part)} for card in TASKS}


def line(text: str, name: str) -> str:
    return next(one for one in text.splitlines() if name in one)


def test_a_terminal_shows_a_measure_a_line_with_its_interval_and_of_how_many(ground: Any) -> None:
    text = shown(dimensions(ground({"alpha": tasks(3)})))
    assert text.startswith("bench@page")
    assert "Spoken tasks" in text and "alpha" in text
    assert "0.750" in line(text, "Logic") and "3/4" in line(text, "Logic") and "[0.301, 0.954]" in line(text, "Logic")
    assert "15/20" in line(text, "Answered")


def test_the_best_of_several_has_a_star_and_one_alone_has_none(ground: Any) -> None:
    text = shown(dimensions(ground({"alpha": tasks(6, 8), "beta": tasks(2, 8)})))
    assert line(text, "Logic").count("★") == 1
    assert line(text, "Logic").index("0.750★") < line(text, "Logic").index("0.250")
    assert "★" not in shown(dimensions(ground({"alpha": tasks(6, 8)})))


def test_a_value_on_four_items_is_never_the_best(ground: Any) -> None:
    text = shown(dimensions(ground({"alpha": tasks(3), "beta": tasks(1)})))
    assert "★" not in line(text, "Logic")


def test_more_systems_than_stand_side_by_side_have_a_line_each(ground: Any) -> None:
    names = [f"system-{n}" for n in range(BESIDE + 1)]
    text = shown(dimensions(ground({name: tasks(n) for n, name in enumerate(names)})))
    # Rich folds a heading, never a name.
    assert all(line(text, name).count("0.") + line(text, name).count("1.") >= len(TASKS) for name in names)
    assert "[0." not in text


def test_what_cells_have_in_common_is_told_once(ground: Any) -> None:
    systems = {"alpha": {card: {"passed": ["not exercised", 1.0]} for card in TASKS}}
    made = dimensions(ground(systems))
    table = next(one for one in made if one["key"] == "tasks")
    assert table["footnotes"][0] == "absent: 1 × not exercised"
    assert [cell["refs"] for cell in table["rows"][0]["cells"][:5]] == [[1]] * 5
    assert dimensions_markdown([table]).count("1 × not exercised") == 1
    assert shown([table]).count("1 × not exercised") == 1


def test_a_score_without_its_scenarios_has_its_reason_below_the_table(ground: Any) -> None:
    systems = {"alpha": tasks(3), "beta": {"logic": {"passed": [1.0]}}}
    table = next(one for one in dimensions(ground(systems)) if one["key"] == "tasks")
    text = dimensions_markdown([table])
    row = next(one for one in text.splitlines() if one.startswith("| beta"))
    assert "was not measured" not in row
    assert "1. Countdown was not measured; Grammar repair was not measured" in text


def test_waiting_for_a_judge_is_told_once_and_counts_conversations(ground: Any) -> None:
    answers = {"groundedness": {"probes_passed": [None, None], "probes_counted": [5.0, 6.0], "grounded": [None, None]}}
    table = next(one for one in dimensions(ground({"alpha": answers})) if one["key"] == "groundedness")
    assert table["footnotes"] == ["2 of 2 conversations wait for a judge"]


def test_a_mark_is_explained_once_below_all_tables(ground: Any) -> None:
    answers = {"alpha": tasks(3) | {"whisper": {"passed": [1.0]}, "volume": {"passed": [1.0]}}}
    text = shown(dimensions(ground(answers, network=["alpha"])))
    assert text.count("“includes network”") == 1


def test_a_share_of_turns_says_how_many_of_how_many(ground: Any) -> None:
    systems = {"alpha": {"groundedness": {"released_while_speaking": [0.5, 0.0]}}}
    made = ground(systems)
    column = next(iter(made.seats[0].measured.columns.values()))
    column.whys[:] = ["2 of 4 turns", "0 of 6 turns"]
    assert "2 of 10 turns, n 2" in shown(dimensions(made))
    column.whys[:] = ["3 of 4 turns", "0 of 6 turns"]
    assert "turns, n 2" not in shown(dimensions(made)), "a reason that is not of the value counts nothing"


def test_a_name_reaches_the_terminal_as_text(ground: Any) -> None:
    text = shown(dimensions(ground({ESCAPE: tasks(3), "[bold]": tasks(1)})))
    assert "\x1b" not in text and "[bold]" in text
