import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fullduplex.benchmarks.published import published
from fullduplex.measures.metric import Metric
from fullduplex.measures.statistics import estimate
from fullduplex.model.trials import Absent
from fullduplex.reporting.latex import latex_text
from fullduplex.reporting.rows import estimate_row, figure
from fullduplex.reporting.tables import (
    csv_text,
    latex,
    markdown,
    markdown_text,
    prose,
    terminal,
    to_json,
    write_parquet,
)

GOLDEN = Path(__file__).parent.parent / "golden"
HOSTILE = "a|b<script>alert(1)</script>`_*x*_ $\\input{x}$ & 50% #1 ~^ \x1b[31m\n## no"


def row(system: str, scenario: str, metric: str, value: float | None, n: int = 50, **more: Any) -> dict[str, Any]:
    low, high = (None, None) if value is None else (value - 0.1, value + 0.1)
    made: dict[str, Any] = {"system": system, "scenario": scenario, "metric": metric, "value": value, "n": n}
    made |= {"low": low, "high": high, "absent": {}, "unit": "share", "better": "lower", "method": "Wilson 95 %"}
    return made | {"variant": "paper", "rests_on": "voice activity", "title": metric.upper()} | more


def example() -> list[dict[str, Any]]:
    drawn = "cluster bootstrap 95 %, 40 groups, 10000 resamples, seed 0"
    pause = {"scenario_title": "Pause handling, synthetic", "title": "TOR"}
    listen = {
        "scenario_title": "Backchannel, ICC",
        "title": "Freq",
        "better": "neither",
        "unit": "1/s",
        "method": drawn,
    }
    talk = {"scenario_title": "User interruption, synthetic"}
    rating = talk | {"title": "Rating", "unit": "0-5", "better": "higher", "rests_on": "content", "method": "no values"}
    latency = talk | {"title": "Latency", "unit": "s", "method": drawn}
    silent = {"no takeover": 20}
    return [
        row("A", "synthetic_pause_handling", "tor", 0.255, 137, low=0.19, high=0.334, **pause),
        row("A", "icc_backchannel", "frequency", 0.0004, 55, low=0.0, high=0.0011, **listen),
        row("A", "synthetic_user_interruption", "rating", None, 0, absent={"no judge asked": 200}, **rating),
        row("A", "synthetic_user_interruption", "latency", 1.183, 180, low=1.09, high=1.281, absent=silent, **latency),
        row("B", "synthetic_pause_handling", "tor", 0.642, 137, low=0.559, high=0.718, **pause),
        row("B", "icc_backchannel", "frequency", 0.015, 55, low=0.011, high=0.02, **listen),
        row("B", "synthetic_user_interruption", "rating", None, 0, absent={"no judge asked": 200}, **rating),
        row("B", "synthetic_user_interruption", "latency", 0.257, 200, low=0.198, high=0.33, **latency),
    ]


def theirs() -> list[dict[str, Any]]:
    return [one.to_row() for one in published("fdb-1.0") if one.system in ("Moshi", "PersonaPlex")]


def lines_with(text: str, words: str) -> list[str]:
    return [line for line in text.splitlines() if words in line]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("table.md", lambda: markdown(example(), heading="fdb-1.0@paper", published=theirs())),
        ("table.csv", lambda: csv_text(example())),
        ("table.tex", lambda: latex(example(), heading="fdb-1.0@paper", published=theirs())),
        (
            "table.json",
            lambda: json.dumps(to_json(example(), benchmark="fdb-1.0", variant="paper", version="1"), indent=2) + "\n",
        ),
    ],
)
def test_the_table_is_the_golden_one(name: str, text: Any) -> None:
    assert text() == (GOLDEN / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.66, "share", "0.660"),
        (0.257, "s", "0.257"),
        (431.6, "ms", "432"),
        (3.0, "count", "3"),
        (2.5, "count", "2.5"),
        (None, "s", "—"),
        (0.0, "share", "0.000"),
        (-0.0, "s", "0.000"),
        (0.0004, "1/s", "0.0004"),
        (-0.0004, "s", "-0.0004"),
        (-0.25, "s", "-0.250"),
    ],
)
def test_a_figure_has_the_digits_of_its_unit(value: float | None, unit: str, text: str) -> None:
    assert figure(value, unit) == text


def test_a_missing_value_is_a_dash_with_its_reason() -> None:
    rows = [row("A", "pause", "tor", None, 0, absent={"no words": 2, "failed": 5})]
    text = markdown(rows, heading="x")
    assert "| A | —<sup>1</sup> |" in text
    assert "no value (5 × failed; 2 × no words)" in text
    assert "0.000" not in text


def test_what_is_missing_beside_a_value_is_listed() -> None:
    text = markdown([row("A", "turn", "latency", 0.4, absent={"no takeover": 7})], heading="x")
    assert "7 × no takeover" in text


def test_best_is_bold_when_n_is_equal() -> None:
    text = markdown([row("A", "p", "tor", 0.2), row("B", "p", "tor", 0.4)], heading="x")
    assert "**0.200**" in text and "**0.400**" not in text


def test_higher_is_best_where_higher_is_better() -> None:
    rows = [row("A", "p", "tor", 0.2, better="higher"), row("B", "p", "tor", 0.4, better="higher")]
    assert "**0.400**" in markdown(rows, heading="x")


def test_figures_that_print_alike_are_both_best() -> None:
    rows = [row("A", "p", "tor", 0.20001), row("B", "p", "tor", 0.20002), row("C", "p", "tor", 0.3)]
    assert markdown(rows, heading="x").count("**0.200**") == 2


@pytest.mark.parametrize(
    "rows",
    [
        [row("A", "p", "tor", 0.2, 50), row("B", "p", "tor", 0.4, 49)],
        [row("A", "p", "tor", 0.2, item_set="x"), row("B", "p", "tor", 0.4, item_set="y")],
        [row("A", "p", "freq", 0.2, better="neither"), row("B", "p", "freq", 0.4, better="neither")],
        [row("A", "p", "tor", 0.2)],
        [row("A", "p", "tor", 0.2), row("B", "p", "tor", None, 0)],
    ],
)
def test_nothing_is_best_where_values_cannot_be_compared(rows: Sequence[dict[str, Any]]) -> None:
    assert "**" not in markdown(rows, heading="x")
    assert "\\textbf" not in latex(rows, heading="x")


def test_neither_has_no_arrow() -> None:
    head = markdown([row("A", "bc", "freq", 0.1, better="neither")], heading="x").splitlines()[2]
    assert "↑" not in head and "↓" not in head


def test_variants_never_share_a_table() -> None:
    rows = [row("A", "p", "tor", 0.2), row("B", "p", "tor", 0.4, variant="anchored")]
    text = markdown(rows, heading="fdb-1.0")
    assert "## paper" in text and "## anchored" in text and "**" not in text
    assert latex(rows, heading="fdb-1.0").count("\\begin{table*}") == 2


def test_metrics_stand_under_what_they_rest_on() -> None:
    text = markdown(example(), heading="x")
    voice, content = text.index("## Rests on voice activity"), text.index("## Rests on content")
    assert voice < text.rindex("| Latency ↓ |") < content < text.rindex("| Rating ↑ |")


def test_published_rows_stand_apart() -> None:
    text = markdown(example(), heading="x", published=theirs())
    ours, printed = text.split("## As published", 1)
    assert "Moshi" not in ours and "Moshi" in printed
    assert "Table III" in printed and "released-4efb765" in printed
    assert "printed with TOR 1.000" in printed


def test_two_values_in_one_place_are_refused() -> None:
    with pytest.raises(ValueError, match="two values of tor in p"):
        markdown([row("A", "p", "tor", 0.2), row("A", "p", "tor", 0.3)], heading="x")


def test_hostile_names_are_harmless_in_markdown() -> None:
    rows = [row(HOSTILE, "p", "tor", 0.2, absent={HOSTILE: 1})]
    text = markdown(rows, heading=HOSTILE)
    assert "<script" not in text and "\x1b" not in text and "\n## no" not in text
    assert len(re.findall(r"(?<!\\)\|", text.splitlines()[2])) == 3
    assert "\\`" in markdown_text("`x`")


def test_hostile_names_are_harmless_in_latex() -> None:
    text = latex([row(HOSTILE, "p", "tor", 0.2)], heading=HOSTILE)
    assert "\\input" not in text and text.isascii()
    assert len(re.findall(r"(?<!\\)\{", text)) == len(re.findall(r"(?<!\\)\}", text))
    assert not re.search(r"(?<!\\)[#%](?! Needs)", text)


def test_latex_has_accents_and_code_points_for_the_rest() -> None:
    assert latex_text("é ç ß ł 日 ↑") == r"\'{e} \c{c} \ss{} \l{} {[}U+65E5{]} $\uparrow$"


def test_latex_claims_no_interval_for_published_rows() -> None:
    text = latex([], heading="x", published=theirs())
    assert "interval" not in text


def test_latex_prints_a_minus_and_not_a_hyphen() -> None:
    text = latex([row("A", "turn", "latency", -0.25, unit="s", low=-0.3, high=-0.2)], heading="x")
    assert "$-$0.250" in text and "{[}$-$0.300, $-$0.200{]}" in text


def test_every_latex_row_has_as_many_cells_as_columns() -> None:
    text = latex(example(), heading="x")
    body = text[text.index("\\midrule") : text.index("\\bottomrule")]
    assert {len(re.findall(r"(?<!\\)&", line)) for line in body.splitlines() if "&" in line} == {4}


@pytest.mark.parametrize("start", ["=", "+", "-", "@"])
def test_a_formula_in_a_name_stays_text_in_a_spreadsheet(start: str) -> None:
    text = csv_text([row(f"{start}cmd|' /C calc'!A0", "p", "tor", -0.2)])
    read = next(csv.DictReader(io.StringIO(text)))
    assert read["system"].startswith(f"'{start}")
    assert read["value"] == "-0.2"


def test_csv_holds_unrounded_numbers_and_blanks_for_what_is_missing() -> None:
    rows = [row("A", "p", "tor", 1 / 3), row("A", "p", "rating", None, 0, absent={"no judge": 3})]
    first, second = csv.DictReader(io.StringIO(csv_text(rows)))
    assert float(first["value"]) == 1 / 3
    assert (second["value"], second["low"], second["n"]) == ("", "", "0")
    assert json.loads(second["absent"]) == {"no judge": 3}


def test_json_has_the_one_shape() -> None:
    items = [{"scenario": "p", "item": "1", "metric": "tor", "value": None, "absent": "failed"}]
    made = to_json([row("", "p", "tor", 0.5)], benchmark="fdb-1.0", variant="paper", version="1", items=items)
    assert list(made) == ["benchmark", "variant", "version", "estimates", "items"]
    shape = [
        "scenario",
        "metric",
        "value",
        "low",
        "high",
        "n",
        "absent",
        "unit",
        "better",
        "title",
        "rests_on",
        "method",
    ]
    assert list(made["estimates"][0]) == shape
    assert made["items"] == items


def test_json_refuses_nan() -> None:
    with pytest.raises(ValueError):
        to_json([row("A", "p", "tor", float("nan"))], benchmark="x", variant="y", version="1")


def test_parquet_reads_back_with_nulls(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "estimates.parquet"
    write_parquet(path, [row("A", "p", "tor", 0.5), row("A", "p", "rating", None, 0, absent={"no judge": 3})])
    table = pq.read_table(path).to_pylist()
    assert table[0]["value"] == 0.5 and table[0]["n"] == 50
    assert table[1]["value"] is None and json.loads(table[1]["absent"]) == {"no judge": 3}
    assert list(tmp_path.iterdir()) == [path]


def test_the_terminal_shows_names_as_they_are() -> None:
    from rich.console import Console

    out = io.StringIO()
    rows = [row("[red]A[/red]", "p", "tor", 0.5), row("B", "p", "rating", None, 0, absent={"no judge": 3})]
    Console(file=out, width=120).print(terminal(rows, heading="fdb-1.0@paper"))
    text = out.getvalue()
    assert "[red]A[/red]" in text and "3 × no judge" in text and "[0.400, 0.600]" in text
    assert lines_with(text, "3 × no judge")[0].count("—") == 2


def test_a_row_carries_what_its_estimate_says() -> None:
    metric = Metric("tor", lambda trial: Absent("x"), "lower", "share", "rate", "voice activity", "TOR")
    made = estimate_row("p", metric, estimate([1, 0, 1], None, {"failed": 1}, "rate"), system="A", variant="paper")
    assert (made["n"], made["absent"], made["method"], made["better"]) == (3, {"failed": 1}, "Wilson 95 %", "lower")
    assert made["low"] < made["value"] < made["high"]


def test_code_in_a_sentence_of_ours_is_code_and_nothing_else_comes_through() -> None:
    assert prose("see `fullduplex judge RUN`, *not* `[x](y)`") == r"see `fullduplex judge RUN`, \*not\* \`\[x\](y)\`"
    assert prose("`<b>`") == r"\`&lt;b&gt;\`"


def test_a_table_is_written_where_a_path_has_a_colon(tmp_path: Path) -> None:
    (tmp_path / "x:1").mkdir()
    write_parquet(tmp_path / "x:1" / "estimates.parquet", [row("A", "pause", "tor", 0.5, 4)])
    assert (tmp_path / "x:1" / "estimates.parquet").read_bytes()[:4] == b"PAR1"
