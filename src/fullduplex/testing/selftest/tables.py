"""The self-test's tables as rows of text: one place for what the page and the Markdown say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fullduplex.model.spans import ms
from fullduplex.testing.selftest.score import Errors

if TYPE_CHECKING:
    from fullduplex.testing.selftest.result import SelfTest

STATES = {
    "kept": "kept",
    "broken": "BROKEN",
    "limit": "not reached, and measured why",
    "too few": "not asked of a quick run",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table: title, note, heads of columns, rows of text. ``numbers``: the columns of numbers."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: range


def summary(result: SelfTest) -> str:
    """Return in one sentence what was planted."""
    p = result.planted
    real = f", {p['real']} of them real recordings" if p["real"] else ", no real recording among them"
    return (
        f"{p['sounds']} sounds ({p['edges']} edges) of {p['utterances']} utterances in {p['voices']} voices{real}, "
        f"none used more than {p['most_uses']} times, over {p['level_range']:.0f} dB of level, in {p['talks']} talks "
        f"({p['minutes']} min)" + ("; a quick run: smaller on purpose" if result.quick else "")
    )


def tables(result: SelfTest) -> tuple[Table, ...]:
    """Return every table, the promises first."""
    return tuple(
        table
        for table in (
            _gates(result),
            *_edges(result),
            _words(result),
            _moved(result),
            _parts(result),
            _moved_all(result),
        )
        if table.rows
    )


def _gates(result: SelfTest) -> Table:
    rows = tuple(
        (gate.name, _value(gate.value, gate.unit), _value(gate.limit, gate.unit), STATES[gate.state], gate.why)
        for gate in result.gates
    )
    return Table("Promises", "", ("promise", "measured", "limit", "", "reason"), rows, range(1, 3))


def _value(value: float | None, unit: str) -> str:
    if value is None:
        return "—"
    return f"{1000 * value:.1f} ms" if unit == "s" else f"{value:g}{' ' + unit if unit else ''}"


def _edges(result: SelfTest) -> tuple[Table, Table]:
    heads = ("condition", "detector", "edges", "n", "median", "p95", "max", "bias", "within 20 ms", "missing")
    note = "Size of the error; bias is the median of the signed error, late is positive."
    made = []
    for title in ("Onsets", "Ends"):
        rows = []
        for t in sorted(result.edges, key=lambda t: (_order(result, t.condition), t.detector != result.lead)):
            if t.part == "all":
                errors, invented = (t.onsets, t.invented) if title == "Onsets" else (t.offsets, 0)
                rows.append((t.condition, t.detector, t.edges, *_figures(errors), _missing(errors, invented)))
        extra = " Invented are segments that touch nothing planted." if title == "Onsets" else ""
        made.append(Table(title, note + extra, heads, tuple(rows), range(3, 9)))
    return made[0], made[1]


def _order(result: SelfTest, condition: str) -> int:
    return list(dict.fromkeys(t.condition for t in result.edges)).index(condition)


def _figures(errors: Errors) -> tuple[str, ...]:
    sizes = [_ms(errors.size_at(share)) for share in (0.5, 0.95, 1.0)]
    within = errors.within(ms(20))
    return str(errors.n), *sizes, _ms(errors.bias, signed=True), "—" if within is None else f"{within:.0%}"


def _ms(time: float | None, *, signed: bool = False) -> str:
    return "—" if time is None else f"{time / ms(1):{'+' if signed else ''}.1f} ms"


def _missing(errors: Errors, invented: int = 0) -> str:
    said = [f"{n} {reason}" for reason, n in sorted(errors.absent.items())]
    return ", ".join(said + ([f"{invented} invented"] if invented else []))


def _parts(result: SelfTest) -> Table:
    rows = tuple(
        (
            t.part,
            t.condition,
            t.edges,
            *_figures(t.onsets)[:4],
            _ms(t.offsets.size_at(0.5)),
            _ms(t.offsets.size_at(0.95)),
        )
        for t in sorted(result.edges, key=lambda t: _order(result, t.condition))
        if t.part != "all" and t.detector == result.lead and t.edges == "refined"
    )
    heads = ("of", "condition", "edges", "n", "onset median", "p95", "max", "end median", "p95")
    return Table(f"By voice and level, {result.lead}", "", heads, rows, range(3, 9))


def _words(result: SelfTest) -> Table:
    heads = (
        "condition",
        "recogniser",
        "words",
        "wrong",
        "start median",
        "p95",
        "bias",
        "first word median",
        "p95",
        "missing",
    )
    rows = tuple(
        (
            t.condition,
            t.recogniser,
            str(t.words),
            f"{t.wrong / t.words:.1%}" if t.words else "—",
            _ms(t.starts.size_at(0.5)),
            _ms(t.starts.size_at(0.95)),
            _ms(t.starts.bias, signed=True),
            _ms(t.firsts.size_at(0.5)),
            _ms(t.firsts.size_at(0.95)),
            _missing(t.firsts),
        )
        for t in result.words
    )
    note = (
        "Word starts against the synthesiser's own times, which are multiples of 25 ms; the first word of an utterance "
        "against its first sample. An aligner trained on speech may agree with neither by some 15 ms."
    )
    return Table("Words", note, heads, rows, range(2, 9))


def _moved(result: SelfTest) -> Table:
    """Return the leading detector's verdicts: on planted edges, on its own, and on refined ones."""
    heads = (
        "task",
        "metric",
        "rules",
        "condition",
        "n",
        "on truth",
        "raw",
        "refined",
        "changed, raw",
        "changed, refined",
    )
    groups: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in _in_order(result.verdicts):
        if row.get("detector") == result.lead:
            groups.setdefault((*_what(row), row["condition"]), {})[row["edges"]] = row
    rows = tuple(
        (
            *what,
            str(by["raw"]["n"]),
            _figure(by["raw"]["truth"]),
            *(_figure(by[edges]["heard"]) for edges in ("raw", "refined")),
            *(_changed(by[edges]) for edges in ("raw", "refined")),
        )
        for what, by in groups.items()
    )
    note = (
        f"Full-Duplex-Bench v1.0 on the planted edges, and on those of {result.lead}. A rate's verdict has changed "
        "where 0 became 1 or the reverse, a time's or a frequency's where it moved by over half a per cent. "
        "The released rules get these segments too, not those of the scripts' own settings."
    )
    return Table("How a verdict would move", note, heads, rows, range(4, 10))


def _moved_all(result: SelfTest) -> Table:
    heads = ("task", "metric", "rules", "condition", "heard by", "n", "on truth", "as heard", "changed", "farthest")
    rows = tuple(_moved_row(row) for row in _in_order(result.verdicts))
    note = "Every detector, and every recogniser by the rules that go by words."
    return Table("Every verdict", note, heads, rows, range(5, 10))


def _in_order(verdicts: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(verdicts, key=lambda row: (row["task"], row["metric"], row["benchmark"]))


def _what(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["task"].replace("_", " "), row["metric"], row["benchmark"].partition("@")[2]


def _changed(row: Mapping[str, Any]) -> str:
    lost = f" (+{row['only_one']} with a value on one side)" if row["only_one"] else ""
    return f"{row['changed']} of {row['n']}{lost}"


def _moved_row(row: Mapping[str, Any]) -> tuple[str, ...]:
    who = row["recogniser"] if "recogniser" in row else f"{row['detector']}, {row['edges']}"
    figures = _figure(row["truth"]), _figure(row["heard"]), _changed(row), _figure(row["farthest"])
    return (*_what(row), row["condition"], who, str(row["n"]), *figures)


def _figure(value: float | None) -> str:
    return "—" if value is None else f"{value:.3f}"


def markdown(result: SelfTest) -> str:
    """Return the self-test as Markdown."""
    lines = ["# Self-test", "", summary(result) + ".", ""]
    for table in tables(result):
        lines += [f"## {table.title}", ""]
        if table.note:
            lines += [table.note, ""]
        lines += _rows(table.heads, table.rows, table.numbers)
        lines.append("")
    if result.remarks:
        lines += ["## Remarks", "", *(f"* {remark}" for remark in result.remarks), ""]
    return "\n".join(lines)


def _rows(heads: Sequence[str], rows: Sequence[Sequence[str]], numbers: range) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    rule = "|" + "|".join("--:" if i in numbers else "---" for i in range(len(heads))) + "|"
    return [line(heads), rule, *map(line, rows)]
