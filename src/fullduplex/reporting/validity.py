"""The validity of items as people found it: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.agreement import AMONG, number
from fullduplex.reporting.language import ENGLISH
from fullduplex.reporting.review.validated import LABELS, NON_NEGATIVE, told_of
from fullduplex.reporting.tables import markdown_text

#: What the questions of the form ``duplexact`` are about.
_TITLES = {
    "label": "action label",
    "condition": "condition",
    "content": "content naturalness",
    "voice": "voice naturalness",
}
_HOW = (
    "By rating: yes among all ratings; unclear ones are among them. By majority: items of which more than half of all "
    "raters say yes. Where no answer has more than half an item is tied; tied items are among n and not valid. "
    "Intervals are Wilson's, 95 %. By rating they take ratings as independent, and are too narrow where the raters of "
    "an item agree: validity.csv also has intervals drawn over items. By majority they are drawn over groups where "
    "items have any."
)
_SCALE = (
    f"Mean opinion score ± standard deviation of all ratings; non-negative: ratings of at least {NON_NEGATIVE} of 5 "
    "(inferred: the publication does not say what it counts)."
)
_COLUMNS = (
    "of", "action", "condition", "question", "items", "ratings", "yes", "no", "unclear",
    "by_rating", "by_rating_low", "by_rating_high", "by_rating_wilson_low", "by_rating_wilson_high",
    "majority_yes", "majority_no", "majority_unclear", "tied", "by_majority", "by_majority_low", "by_majority_high",
    "mean", "mean_low", "mean_high", "sd", "non_negative", "non_negative_low", "non_negative_high",
)  # fmt: skip


def validity_markdown(told: Mapping[str, Any], remarks: Sequence[str] = ()) -> str:
    """Return the tables of :func:`fullduplex.reporting.review.validated.validated` as Markdown."""
    form = told["form"]
    total = told["rows"][0]["items"]
    per_item = ", ".join(f"{n} × {count}" for count, n in told["ratings_an_item"].items())
    items = ENGLISH.plural("{n} item", "{n} items", total)
    raters = ENGLISH.plural("{n} rater", "{n} raters", len(told["raters"]))
    head = f"{items}, {raters}; items × ratings of each: {per_item}."
    parts = [f"# Validity of items: {markdown_text(form['name'])} {markdown_text(form['version'])}", head]
    parts += [markdown_text(remark) for remark in remarks]
    labels = [one["key"] for one in told["questions"] if one["kind"] == LABELS]
    scales = [one["key"] for one in told["questions"] if one["kind"] != LABELS]
    for heading, of in (("By action", ("all", "action")), ("By condition", ("condition",))):
        rows = [row for row in told["rows"] if row["of"] in of]
        if labels and rows:
            parts += [f"## {heading}", _labels(rows, labels)]
            parts += [_HOW] if of[0] == "all" else []
    if scales:
        parts += ["## Naturalness", _scales(told["rows"], scales), _SCALE]
    parts += ["## Agreement of raters", _agreements(told)]
    for heading, name in (("Not valid", "invalid"), ("Doubtful", "doubtful")):
        if told[name]:
            lines = [f"- {markdown_text(_key(one))}: {markdown_text(told_of(one))}" for one in told[name]]
            parts += [f"## {heading}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def validity_text(told: Mapping[str, Any]) -> str:
    """Return the totals, each action's, and what is not valid, as lines for a terminal."""
    lines = []
    for row in told["rows"]:
        if row["of"] == "condition":
            continue
        items = ENGLISH.plural("{n} item", "{n} items", row["items"])
        lines.append(f"{row['action'] or 'Overall'}: {items}")
        for one in told["questions"]:
            found = row["found"][one["key"]]
            if not found["items"]:
                continue
            if one["kind"] == LABELS:
                text = f"by rating {_rating(found)}; by majority {_majority(found)}{_others(found)}"
            else:
                text = f"{_mos(found)}; at least {NON_NEGATIVE}: {_percent(found['non_negative'])}"
            lines.append(f"  {_title(one['key'])}: {text}")
    for name, found in told["agreement"].items():
        told_as = "; ".join(f"{AMONG[how]} {number(one)}" for how, one in found.items())
        lines.append(f"raters on {_title(name)}: {told_as or 'fewer than two people rated'}")
    for heading, name in (("not valid", "invalid"), ("doubtful", "doubtful")):
        lines += [f"{heading}: {printable(_key(one))}: {printable(told_of(one), 300)}" for one in told[name]]
    return "\n".join(lines)


def validity_csv(told: Mapping[str, Any]) -> str:
    """Return a line for each row and question, shares from 0 to 1; empty where there is nothing."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in told["rows"]:
        for one in told["questions"]:
            flat = {**{name: row[name] for name in ("of", "action", "condition")}, "question": one["key"]}
            flat |= _flat(one["kind"], row["found"][one["key"]])
            writer.writerow([_cell(flat.get(name)) for name in _COLUMNS])
    return out.getvalue()


def _flat(kind: str, found: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {"items": found["items"], "ratings": sum(found["ratings"].values())}
    if kind != LABELS:
        return made | _bounds("mean", found["mean"]) | _bounds("non_negative", found["non_negative"]) | {
            "sd": found["spread"]
        }  # fmt: skip
    low, high = found["by_rating_wilson"] or (None, None)
    counts = {f"majority_{name}": n for name, n in found["majorities"].items() if name != "tied"}
    made |= {**found["ratings"], **counts, "tied": found["majorities"]["tied"]}
    made |= {"by_rating_wilson_low": low, "by_rating_wilson_high": high}
    return made | _bounds("by_rating", found["by_rating"]) | _bounds("by_majority", found["by_majority"])


def _bounds(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found["value"], f"{name}_low": found["low"], f"{name}_high": found["high"]}


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    # A spreadsheet takes what begins so for a formula.
    return f"'{text}" if text[:1] in ("=", "+", "@", "\t") else text


def _labels(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    by_condition = rows[0]["of"] == "condition"
    head = ["Action", *(["Condition"] if by_condition else []), "n"]
    for key in keys:
        head += [f"{_title(key)}, by rating", "by majority", "else"]
    lines = [head]
    for row in rows:
        line = [row["action"] or ("Overall" if row["of"] == "all" else "—")]
        line += [row["condition"]] if by_condition else []
        line.append(str(row["items"]))
        for key in keys:
            found = row["found"][key]
            line += [_rating(found), _majority(found), _others(found).removeprefix("; ")]
        lines.append([markdown_text(text) for text in line])
    return _table(lines)


def _scales(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> str:
    lines = [["Items", "Aspect", "n", "ratings", "MOS ± SD", "non-negative"]]
    for row in rows:
        for key in keys:
            found = row["found"][key]
            if found["items"]:
                whose = ": ".join(filter(None, (row["action"], row["condition"]))) or "Overall"
                counts = [str(found["items"]), str(sum(found["ratings"].values()))]
                cells = [whose, _title(key), *counts, _mos(found), _percent(found["non_negative"])]
                lines.append([markdown_text(text) for text in cells])
    return _table(lines) if len(lines) > 1 else "Nobody rated any."


def _agreements(told: Mapping[str, Any]) -> str:
    lines = [["Question", *AMONG.values()]]
    for name, found in told["agreement"].items():
        cells = [number(found[how]) if found else "fewer than two people rated" for how in AMONG]
        lines.append([markdown_text(text) for text in (_title(name), *cells)])
    return _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([rows[0], "|" + " --- |" * len(lines[0]), *rows[1:]])


def _rating(found: Mapping[str, Any]) -> str:
    total = sum(found["ratings"].values())
    low, high = found["by_rating_wilson"] or (None, None)
    return _percent({**found["by_rating"], "low": low, "high": high}, f"{found['ratings']['yes']}/{total}")


def _majority(found: Mapping[str, Any]) -> str:
    return _percent(found["by_majority"], f"{found['majorities']['yes']}/{found['items']}")


def _others(found: Mapping[str, Any]) -> str:
    told = ", ".join(
        f"{found['majorities'][name]} {name}" for name in ("no", "unclear", "tied") if found["majorities"][name]
    )
    return f"; {told}" if told else ""


def _percent(found: Mapping[str, Any], counts: str = "") -> str:
    if found["value"] is None:
        return "—"
    bounds = "" if found["low"] is None else f" [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
    return f"{100 * found['value']:.1f} %" + (f" ({counts})" if counts else "") + bounds


def _mos(found: Mapping[str, Any]) -> str:
    mean = found["mean"]
    spread = "" if found["spread"] is None else f" ± {found['spread']:.2f}"
    bounds = "" if mean["low"] is None else f" [{mean['low']:.2f}, {mean['high']:.2f}]"
    return f"{mean['value']:.2f}{spread}{bounds}"


def _title(key: str) -> str:
    return _TITLES.get(key, key)


def _key(entry: Mapping[str, Any]) -> str:
    return f"{entry['set']}/{entry['item']}"
