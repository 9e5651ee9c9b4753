"""The validity of items as people found it: for a terminal, as Markdown, as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.agreement import AMONG, number
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.review.validated import LABELS, NON_NEGATIVE
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
    "Mean opinion score ± standard deviation of all ratings; non-negative: ratings of at least {least} of 5 "
    "(inferred: the publication does not say what it counts)."
)
_COLUMNS = (
    "of", "action", "condition", "question", "items", "ratings", "yes", "no", "unclear",
    "by_rating", "by_rating_low", "by_rating_high", "by_rating_wilson_low", "by_rating_wilson_high",
    "majority_yes", "majority_no", "majority_unclear", "tied", "by_majority", "by_majority_low", "by_majority_high",
    "mean", "mean_low", "mean_high", "sd", "non_negative", "non_negative_low", "non_negative_high",
)  # fmt: skip


def validity_markdown(told: Mapping[str, Any], remarks: Sequence[str] = (), tell: Language = ENGLISH) -> str:
    """Return the tables of :func:`fullduplex.reporting.review.validated.validated` as Markdown."""
    form = told["form"]
    total = told["rows"][0]["items"]
    per_item = ", ".join(f"{n} × {count}" for count, n in told["ratings_an_item"].items())
    items = tell.plural("{n} item", "{n} items", total)
    several = len(told["raters"])
    raters = tell("{n} rater", n=several) if several == 1 else tell("{n} raters", n=several)
    head = tell("{items}, {raters}; items × ratings of each: {each}.", items=items, raters=raters, each=per_item)
    named = f"{markdown_text(form['name'])} {markdown_text(form['version'])}"
    parts = [f"# {tell('Validity of items')}{tell(': ')}{named}", head]
    parts += [markdown_text(tell.kept(remark)) for remark in remarks]
    labels = [one["key"] for one in told["questions"] if one["kind"] == LABELS]
    scales = [one["key"] for one in told["questions"] if one["kind"] != LABELS]
    for heading, of in (("By action", ("all", "action")), ("By condition", ("condition",))):
        rows = [row for row in told["rows"] if row["of"] in of]
        if labels and rows:
            parts += [f"## {tell.of(heading)}", _labels(rows, labels, tell)]
            parts += [tell.gettext(_HOW)] if of[0] == "all" else []
    if scales:
        parts += [
            f"## {tell('Naturalness')}",
            _scales(told["rows"], scales, tell),
            tell.gettext(_SCALE).format(least=NON_NEGATIVE),
        ]
    parts += [f"## {tell('Agreement of raters')}", _agreements(told, tell)]
    for heading, name in (("Not valid", "invalid"), ("Doubtful", "doubtful")):
        if told[name]:
            lines = [
                f"- {markdown_text(_key(one))}{tell(': ')}{markdown_text(_votes(one, tell))}" for one in told[name]
            ]
            parts += [f"## {tell.of(heading)}", "\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def validity_text(told: Mapping[str, Any], tell: Language = ENGLISH) -> str:
    """Return the totals, each action's, and what is not valid, as lines for a terminal."""
    lines, colon = [], tell(": ")
    for row in told["rows"]:
        if row["of"] == "condition":
            continue
        items = tell.plural("{n} item", "{n} items", row["items"])
        lines.append(f"{tell.kept(row['action'] or 'Overall')}{colon}{items}")
        for one in told["questions"]:
            found = row["found"][one["key"]]
            if not found["items"]:
                continue
            if one["kind"] == LABELS:
                shares = {"rating": _rating(found, tell), "majority": _majority(found, tell)}
                text = tell("by rating {rating}; by majority {majority}", **shares) + _others(found, tell)
            else:
                least = tell("at least {least}", least=NON_NEGATIVE)
                text = f"{_mos(found, tell)}{tell('; ')}{least}{colon}{_percent(found['non_negative'], tell)}"
            lines.append(f"  {_title(one['key'], tell)}{colon}{text}")
    for name, found in told["agreement"].items():
        told_as = tell("; ").join(f"{tell.of(AMONG[how])} {number(one, tell)}" for how, one in found.items())
        on = tell("raters on {question}", question=_title(name, tell))
        lines.append(f"{on}{colon}{told_as or tell('fewer than two people rated')}")
    for heading, name in (("not valid", "invalid"), ("doubtful", "doubtful")):
        lines += [
            f"{tell.of(heading)}{colon}{printable(_key(one))}{colon}{printable(_votes(one, tell), 300)}"
            for one in told[name]
        ]
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


def _labels(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], tell: Language) -> str:
    by_condition = rows[0]["of"] == "condition"
    head = [tell("Action"), *([tell("Condition")] if by_condition else []), "n"]
    for key in keys:
        by_rating = tell("{question}, by rating", question=_title(key, tell))
        head += [by_rating, tell("by majority"), tell("else")]
    lines = [head]
    for row in rows:
        line = [tell.kept(row["action"] or ("Overall" if row["of"] == "all" else "—"))]
        line += [tell.kept(row["condition"])] if by_condition else []
        line.append(str(row["items"]))
        for key in keys:
            found = row["found"][key]
            line += [_rating(found, tell), _majority(found, tell), _others(found, tell).removeprefix(tell("; "))]
        lines.append([markdown_text(text) for text in line])
    return _table(lines)


def _scales(rows: Sequence[Mapping[str, Any]], keys: Sequence[str], tell: Language) -> str:
    head = ["Items", "Aspect", "n", "ratings", "MOS ± SD", "non-negative"]
    lines = [[name if name == "n" else tell.of(name) for name in head]]
    for row in rows:
        for key in keys:
            found = row["found"][key]
            if found["items"]:
                whose = tell(": ").join(map(tell.kept, filter(None, (row["action"], row["condition"])))) or tell(
                    "Overall"
                )
                counts = [str(found["items"]), str(sum(found["ratings"].values()))]
                cells = [whose, _title(key, tell), *counts, _mos(found, tell), _percent(found["non_negative"], tell)]
                lines.append([markdown_text(text) for text in cells])
    return _table(lines) if len(lines) > 1 else tell("Nobody rated any.")


def _agreements(told: Mapping[str, Any], tell: Language) -> str:
    lines = [[tell("Question"), *map(tell.of, AMONG.values())]]
    for name, found in told["agreement"].items():
        cells = [number(found[how], tell) if found else tell("fewer than two people rated") for how in AMONG]
        lines.append([markdown_text(text) for text in (_title(name, tell), *cells)])
    return _table(lines)


def _table(lines: Sequence[Sequence[str]]) -> str:
    rows = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([rows[0], "|" + " --- |" * len(lines[0]), *rows[1:]])


def _rating(found: Mapping[str, Any], tell: Language) -> str:
    total = sum(found["ratings"].values())
    low, high = found["by_rating_wilson"] or (None, None)
    return _percent({**found["by_rating"], "low": low, "high": high}, tell, f"{found['ratings']['yes']}/{total}")


def _majority(found: Mapping[str, Any], tell: Language) -> str:
    return _percent(found["by_majority"], tell, f"{found['majorities']['yes']}/{found['items']}")


def _others(found: Mapping[str, Any], tell: Language) -> str:
    told = ", ".join(
        f"{found['majorities'][name]} {tell.of(name)}"
        for name in ("no", "unclear", "tied")
        if found["majorities"][name]
    )
    return f"{tell('; ')}{told}" if told else ""


def _percent(found: Mapping[str, Any], tell: Language, counts: str = "") -> str:
    if found["value"] is None:
        return "—"
    share = tell("{n} %", n=tell.digits(f"{100 * found['value']:.1f}"))
    return share + (f" ({counts})" if counts else "") + _between(found, 100, 1, tell)


def _between(found: Mapping[str, Any], scale: int, decimals: int, tell: Language) -> str:
    if found["low"] is None:
        return ""
    low, high = (tell.digits(f"{scale * found[end]:.{decimals}f}") for end in ("low", "high"))
    return f" {tell('[{low}, {high}]', low=low, high=high)}"


def _mos(found: Mapping[str, Any], tell: Language) -> str:
    mean = found["mean"]
    spread = "" if found["spread"] is None else f" ± {found['spread']:.2f}"
    return tell.digits(f"{mean['value']:.2f}{spread}") + _between(mean, 1, 2, tell)


def _votes(entry: Mapping[str, Any], tell: Language) -> str:
    """Return in words what raters said of an item that is not valid: ``label: no (1 yes, 4 no)``."""
    parts = []
    for name, verdict in entry["said"].items():
        votes = ", ".join(f"{n} {tell.of(value)}" for value, n in entry["votes"][name].items())
        parts.append(f"{tell.kept(name)}{tell(': ')}{tell.of(verdict)} ({votes})")
    return tell("; ").join(parts)


def _title(key: str, tell: Language) -> str:
    return tell.of(_TITLES[key]) if key in _TITLES else key


def _key(entry: Mapping[str, Any]) -> str:
    return f"{entry['set']}/{entry['item']}"
