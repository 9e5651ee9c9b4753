"""The page's tables, shaped for its template: no markup here, and no arithmetic there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from fullduplex.reporting.best import best_of
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.rows import Row, absences, figure
from fullduplex.reporting.tables import judges_of
from fullduplex.reporting.talks import comparable

if TYPE_CHECKING:
    from fullduplex.reporting.page import PageData

__all__ = [
    "address",
    "beside",
    "by_dimension",
    "clocks",
    "comparisons",
    "flips",
    "groups",
    "heat",
    "length_of",
    "metrics",
    "panels",
    "published",
    "scenario_titles",
    "speech",
]


def address(key: Sequence[str]) -> str:
    """Return where on the page an item is opened: ``#SYSTEM/SCENARIO/ITEM``, its three names encoded."""
    # Half a surrogate pair, which no address can hold, becomes U+FFFD, as in the page's own addresses.
    named = (part.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for part in key)
    return "#" + "/".join(quote(part, safe="") for part in named)


def groups(columns: Sequence[Mapping[str, str]]) -> list[tuple[str, int]]:
    """Return the groups of a table's columns with how many each has, in order; none where they are not grouped."""
    found = [(name, len(list(same))) for name, same in groupby(columns, key=lambda one: str(one.get("group", "")))]
    return found if any(name for name, _ in found) else []


def heat(cell: Mapping[str, Any]) -> str:
    """Return the class that colours a share in percent, ``h0`` to ``h10``; ``grey`` where there is none."""
    return "grey" if cell["value"] is None else f"h{round(min(max(float(cell['value']), 0.0), 100.0) / 10)}"


def length_of(value: float, unit: str) -> str:
    """Return how long a share is drawn on a bar of 100."""
    return f"{value if unit == '%' else 100 * value:.2f}"


def panels(data: PageData, tell: Language = ENGLISH) -> list[dict[str, Any]]:
    """Return the main table of each variant: groups by what a metric rests on, a row a metric, a cell a system."""
    return [
        {
            "variant": variant,
            "groups": _groups(data, variant, tell),
            "without": _without(data, variant, tell),
            "judges": _judges(data, variant, tell),
        }
        for variant in data.variants
    ]


def _judges(data: PageData, variant: str, tell: Language) -> list[str]:
    """Return a sentence for each judge on whose word a number of ``variant`` rests."""
    return judges_of([row for row in data.estimates if row.get("variant") == variant], tell)


def _groups(data: PageData, variant: str, tell: Language) -> list[dict[str, Any]]:
    return [
        {"rests_on": rests_on, "rows": _spanned(_line(cells, data.systems) for cells in rows.values())}
        for rests_on, rows in _by_rest(data, variant, tell).items()
        if any(row["value"] is not None for cells in rows.values() for row in cells.values())
    ]


#: By what a metric rests on: by scenario and metric, the row of each system.
_ByRest = dict[str, dict[tuple[str, str], dict[str, Row]]]


def _by_rest(data: PageData, variant: str, tell: Language) -> _ByRest:
    chosen = [row for row in data.estimates if row.get("variant") == variant and not row.get("family")]
    by_rest: _ByRest = {}
    for row in chosen:
        rows = by_rest.setdefault(str(row.get("rests_on") or tell("not said")), {})
        rows.setdefault((row["scenario"], row["metric"]), {})[str(row.get("system", ""))] = row
    return by_rest


def _without(data: PageData, variant: str, tell: Language) -> list[str]:
    """Return a sentence for each group of metrics of which none has a value: a table of it would have no number."""
    told = []
    for rests_on, rows in _by_rest(data, variant, tell).items():
        every = [row for cells in rows.values() for row in cells.values()]
        if any(row["value"] is not None for row in every):
            continue
        # The rows are told already, reasons and all.
        lacks = tell("; ").join(f"{_whose(row)}{tell(': ')}{absences(row, ENGLISH)}" for row in every)
        told.append(tell("No value rests on {rests_on}: {lacks}.", rests_on=rests_on, lacks=lacks))
    return told


def _whose(row: Row) -> str:
    names = (row.get("system"), row.get("scenario_title") or row["scenario"], row.get("title") or row["metric"])
    return ", ".join(str(name) for name in names if name)


def _line(cells: Mapping[str, Row], systems: Sequence[str]) -> dict[str, Any]:
    row = next(iter(cells.values()))
    best = {str(one.get("system", "")) for one in best_of(cells.values(), str(row.get("better")))}
    return {
        "scenario": row.get("scenario_title") or row["scenario"],
        "title": row.get("title") or row["metric"],
        "unit": row.get("unit", ""),
        "better": row.get("better", "neither"),
        "cells": [_cell(cells.get(system), system in best) for system in systems],
    }


def _cell(row: Row | None, best: bool) -> dict[str, Any] | None:
    if row is None:
        return None
    absent = sorted((row.get("absent") or {}).items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "value": row["value"],
        "low": row.get("low"),
        "high": row.get("high"),
        "n": row["n"],
        "absent": absent,
        "missing": sum(number for _, number in absent),
        "method": row.get("method", ""),
        "judged": str(row.get("worth") or "") if row["value"] is not None else "",
        "unit": row.get("unit", ""),
        "best": best,
    }


def _spanned(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines with ``span``: how many a scenario's heading covers, 0 on all but its first."""
    made: list[dict[str, Any]] = []
    for _, same in groupby(lines, key=lambda line: line["scenario"]):
        block = list(same)
        made += [line | {"span": len(block) if i == 0 else 0} for i, line in enumerate(block)]
    return made


def beside(data: PageData, tell: Language = ENGLISH) -> list[dict[str, Any]]:
    """Return the variants side by side: a line for each system's metric, with the rule that moved it."""
    if len(data.variants) < 2:
        return []
    rules = {(move["system"], move["scenario"], move["metric"]): str(move.get("rule", "")) for move in data.moved}
    lines: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in data.estimates:
        if row.get("family"):
            continue
        key = (str(row.get("system", "")), row["scenario"], row["metric"])
        lines.setdefault(key, {})[str(row.get("variant", ""))] = row
    made = []
    places = {scenario: n for n, scenario in enumerate(dict.fromkeys(key[1] for key in lines))}
    for key, cells in sorted(lines.items(), key=lambda pair: places[pair[0][1]]):
        row = next(iter(cells.values()))
        first = _shown(cells.get(data.variants[0]), tell)
        made.append(
            {
                "system": key[0],
                "scenario": row.get("scenario_title") or row["scenario"],
                "title": row.get("title") or row["metric"],
                "unit": row.get("unit", ""),
                "cells": [
                    {
                        "text": _shown(cells.get(variant), tell),
                        "n": cells[variant]["n"] if variant in cells else None,
                        # What only one of two variants measures was not moved by a rule.
                        "moved": bool(first) and variant in cells and _shown(cells[variant], tell) != first,
                    }
                    for variant in data.variants
                ],
                "rule": rules.get(key, ""),
            }
        )
    return made


def clocks(data: PageData, tell: Language = ENGLISH) -> dict[str, Any]:
    """Return what is not the same under every clock: the clocks' names, a line for each metric, what is left out."""
    if not data.clocks:
        return {}
    names = list(dict.fromkeys(clock for row in data.clocks for clock in row["values"]))
    scenarios, titles = scenario_titles(data), metrics(data, {})
    lines = []
    there, left_out = comparable(data.clocks, tell)
    for row in there:
        unit = titles.get(row["metric"], {}).get("unit", "")
        own = row["values"].get(names[0])
        cells = []
        for name in names:
            value = row["values"].get(name)
            text = "" if value is None else figure(value[0], str(unit), tell)
            cells.append({"text": text, "n": None if value is None else value[1], "moved": value not in (None, own)})
        lines.append(
            {
                "system": row["system"],
                "scenario": scenarios.get(row["scenario"], row["scenario"]),
                "title": titles.get(row["metric"], {}).get("title", row["metric"]),
                "cells": cells,
            }
        )
    return {"names": names, "lines": lines, "left_out": left_out}


def speech(data: PageData) -> list[dict[str, Any]]:
    """Return how speech changes over the events, a table for each variant that has any."""
    return [
        {"variant": variant, "rows": [row for row in rows if row["n"]]}
        for variant, rows in data.speech.items()
        if any(row["n"] for row in rows)
    ]


def by_dimension(cards: Sequence[Mapping[str, Any]], variant: str) -> list[dict[str, Any]]:
    """Return the cards of ``variant`` by their dimension, ``name`` and ``cards``, in order of appearance."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for card in cards:
        if card["variant"] == variant:
            found.setdefault(str(card["dimension"]), []).append(card)
    return [{"name": name, "cards": those} for name, those in found.items()]


def _shown(row: Row | None, tell: Language) -> str:
    return "" if row is None else figure(row["value"], str(row.get("unit", "")), tell)


def published(data: PageData, tell: Language = ENGLISH) -> dict[str, Any]:
    """Return papers' figures: a column a metric in its scenario, and for each source a line a system."""
    scenarios, titles = scenario_titles(data), metrics(data, {})
    columns: dict[tuple[str, str], dict[str, Any]] = {}
    sources: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    for row in data.published:
        place = (row["scenario"], row["metric"])
        title = row.get("title") or titles.get(row["metric"], {}).get("title", row["metric"])
        scenario = row.get("scenario_title") or scenarios.get(row["scenario"], row["scenario"])
        columns.setdefault(place, {"scenario": scenario, "title": title, "unit": row.get("unit", "")})
        lines = sources.setdefault(str(row.get("source", "")), {})
        line = lines.setdefault(
            (str(row["system"]), str(row.get("variant", ""))),
            {"system": row["system"], "variant": row.get("variant", ""), "cells": {}, "notes": []},
        )
        line["cells"][place] = figure(row["value"], str(row.get("unit", "")), tell)
        note = row.get("departure")
        if note and note not in line["notes"]:
            line["notes"].append(note)
    return {
        "columns": list(columns.values()),
        "sources": [
            {
                "source": source,
                "lines": [
                    line | {"cells": [line["cells"].get(place, "") for place in columns]} for line in lines.values()
                ],
            }
            for source, lines in sources.items()
        ],
    }


def flips(data: PageData) -> list[dict[str, Any]]:
    """Return how many items change their verdict between systems, by scenario and metric."""
    counts: dict[tuple[str, str], int] = {}
    for flip in data.flips:
        key = (flip["scenario"], flip["metric"])
        counts[key] = counts.get(key, 0) + 1
    scenarios, titles = scenario_titles(data), metrics(data, {})
    return [
        {
            "scenario": scenarios.get(scenario, scenario),
            "title": titles.get(metric, {}).get("title", metric),
            "n": number,
        }
        for (scenario, metric), number in counts.items()
    ]


def comparisons(data: PageData) -> list[dict[str, Any]]:
    """Return the paired comparisons with their scenario, metric and unit as the other tables write them."""
    scenarios, known = scenario_titles(data), metrics(data, {})
    made = []
    for one in data.comparisons:
        metric = known.get(one["metric"], {})
        named = {
            "scenario": scenarios.get(one["scenario"], one["scenario"]),
            "title": metric.get("title", one["metric"]),
            "unit": metric.get("unit", ""),
        }
        made.append({**one, **named})
    return made


def metrics(data: PageData, units: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return title, unit, better direction and kind of each metric; ``units`` are those seen in the items."""
    made = {metric: {"title": metric, "unit": unit, "better": "", "kind": ""} for metric, unit in units.items()}
    for row in data.estimates:
        made[row["metric"]] = {
            "title": str(row.get("title") or row["metric"]),
            "unit": str(row.get("unit") or ""),
            "better": str(row.get("better") or ""),
            "kind": str(row.get("kind") or ""),
        }
    return made


def scenario_titles(data: PageData) -> dict[str, str]:
    """Return each scenario's title by its name."""
    return {row["scenario"]: str(row.get("scenario_title") or row["scenario"]) for row in data.estimates}
