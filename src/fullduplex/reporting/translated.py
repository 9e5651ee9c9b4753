"""What a report shows of its data, in its language: copies whose texts are told, and whose keys stay as they are.

Data (rows of estimates, tables of dimensions, cards, the page's items) is English in every file that a program reads.
It is told here, once, before it is rendered; in the original language it is what it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fullduplex.reporting.language import Language
from fullduplex.reporting.sounds import TWIN

if TYPE_CHECKING:
    from fullduplex.reporting.cells import Cell
    from fullduplex.reporting.page import PageData, PageItem
    from fullduplex.reporting.rows import Row

#: Texts of an estimate that stand in tables; its names, units and numbers are no texts.
_OF_ROW = ("title", "scenario_title", "rests_on", "method", "worth", "judged_by", "departure")
#: What heads rows or columns that are systems.
_SYSTEMS, _PROBES, _EVERY = "System", "probes", "all systems"
_OF_CONDITION = ("title", "definition", "calls_for", "whose", "criteria", "immediate", "follow_through", "timing")


def row_told(row: Row, tell: Language) -> Row:
    """Return a row of estimates with its texts told."""
    if tell.original:
        return row
    told = {key: tell.of(str(row[key])) for key in _OF_ROW if row.get(key)}
    return {**row, **told, "absent": {tell.of(str(why)): n for why, n in (row.get("absent") or {}).items()}}


def table_told(table: Mapping[str, Any], tell: Language) -> Mapping[str, Any]:
    """Return a table of a dimension (see :mod:`.framing`) with its texts told; systems keep their names."""
    if tell.original:
        return table
    by_system, across = table["head"] == _SYSTEMS, table["key"] == _PROBES
    columns = [
        {
            **column,
            "title": column["title"] if across and column["title"] != _EVERY else tell.of(column["title"]),
            **{key: tell.of(str(column.get(key, ""))) for key in ("group", "whose")},
        }
        for column in table["columns"]
    ]
    rows = [
        {
            **row,
            "name": row["name"] if by_system else tell.of(row["name"]),
            "group": tell.of(row["group"]),
            "marks": [tell.of(mark) for mark in row["marks"]],
            "cells": [cell_told(one, tell) for one in row["cells"]],
        }
        for row in table["rows"]
    ]
    texts = {key: tell.of(str(table[key])) for key in ("title", "text", "head")}
    notes = {key: [tell.of(note) for note in table[key]] for key in ("footnotes", "notes")}
    return {**table, **texts, **notes, "columns": columns, "rows": rows}


def cell_told(its: Cell | None, tell: Language) -> Cell | None:
    """Return a cell (see :mod:`.cells`) with its texts and its printed numbers told."""
    if its is None or tell.original:
        return its
    parts = [part for one in its["parts"] if (part := cell_told(one, tell)) is not None]
    tail = f" ({tell.of(its['tail'][2:-1])})" if its["tail"] else ""
    return {
        **its,
        "text": " / ".join(part["text"] for part in parts) + tail if parts else tell.of(its["text"]),
        "parts": parts,
        "tail": tail,
        "absent": [(tell.of(reason), number) for reason, number in its["absent"]],
        **{key: tell.of(its[key]) for key in ("note", "method", "judged", "things", "absent_of")},
    }


def card_told(card: Mapping[str, Any], tell: Language) -> Mapping[str, Any]:
    """Return a card (see :mod:`.cards`) with its texts told; what it counts stays the key that the page knows."""
    if tell.original:
        return card
    ranks = [
        {**rank, "marks": [tell.of(mark) for mark in rank["marks"]], "cell": cell_told(rank["cell"], tell)}
        for rank in card["ranks"]
    ]
    texts = {key: tell.of(card[key]) for key in ("title", "dimension", "happens", "success", "listen")}
    return {**card, **texts, "ranks": ranks}


def page_told(data: PageData, tell: Language) -> PageData:
    """Return what stands above a page's items with its texts told."""
    if tell.original:
        return data
    about = dict(data.about or {})
    if "remarks" in about:
        about["remarks"] = [tell.of(remark) for remark in about["remarks"]]
    return replace(
        data,
        estimates=[row_told(row, tell) for row in data.estimates],
        published=[
            {**row_told(row, tell), **{key: tell.kept(str(row.get(key) or "")) for key in ("source", "variant")}}
            for row in data.published
        ],
        departures=[
            {**one, **{key: tell.of(one[key]) for key in ("where", "theirs", "ours", "why")}} for one in data.departures
        ],
        moved=[{**one, "rule": tell.of(one["rule"])} for one in data.moved],
        stages=[{**one, **{key: tell.of(one[key]) for key in ("stage", "means")}} for one in data.stages],
        speech={
            variant: [{**row, **{key: tell.of(row[key]) for key in _OF_SPEECH}} for row in rows]
            for variant, rows in data.speech.items()
        },
        cards=[card_told(card, tell) for card in data.cards],
        dimensions=[table_told(table, tell) for table in data.dimensions],
        people=[
            {**row, **{key: tell.of(row[key]) for key in ("scenario_title", "title", "why")}} for row in data.people
        ],
        listed=[listing_told(one, tell) for one in data.listed],
        about=told_about(about, tell),
    )


#: Texts of a row of speech before and after.
_OF_SPEECH = ("scenario_title", "title", "comparison")


def listing_told(one: Mapping[str, Any], tell: Language) -> Mapping[str, Any]:
    """Return a list of items (see :mod:`.listed`) with its heading and reasons told."""
    if tell.original:
        return one
    rows = [{**row, "why": tell.of(row["why"])} for row in one["rows"]]
    return {**one, "heading": tell.of(one["heading"]), "rows": rows}


def told_about(about: Mapping[str, Any], tell: Language) -> dict[str, Any]:
    """Return where a page comes from with what is said in words told; what run.json holds keeps its own."""
    runs = about.get("runs")
    if tell.original or not isinstance(runs, Sequence):
        return dict(about)
    made = [
        {**run, "made with": {tell.of(key): tell.kept(str(value)) for key, value in run["made with"].items()}}
        if isinstance(run.get("made with"), Mapping)
        else run
        for run in runs
    ]
    return {**about, "runs": made}


def item_told(item: PageItem, tell: Language) -> PageItem:
    """Return a page's item with its texts told; what was said by voices, people and judges stays as it was said.

    Kinds and states are keys of the page: beside each stands ``shown``, how it is told.
    """
    if tell.original:
        return item
    return replace(
        item,
        item=item.item.removesuffix(TWIN) + f" ({tell('clean twin')})" if item.twin else item.item,
        facts=[
            {
                **fact,
                "absent": tell.of(fact.get("absent") or ""),
                # Why an item failed is what a program said of a file.
                "why": (tell.kept if fact.get("absent") == "failed" else tell.of)(fact.get("why") or ""),
            }
            for fact in item.facts
        ],
        tracks={role: _track_told(track, tell) for role, track in item.tracks.items()},
        events=[{**event, "shown": tell.of(str(event["kind"]))} for event in item.events],
        probes=[{**read, "rows": [_probe_told(row, tell) for row in read["rows"]]} for read in item.probes],
        condition=_condition_told(item.condition, tell),
    )


def _track_told(track: Mapping[str, Any], tell: Language) -> dict[str, Any]:
    """Return a voice whose words' source is told where it is no name."""
    source = str(track.get("words_from") or "")
    return {**track, "words_from": tell("with the recording") if source == "recorded" else tell.kept(source)}


def _probe_told(row: Mapping[str, Any], tell: Language) -> dict[str, Any]:
    told = {key: tell.of(str(row[key])) for key in ("type", "kind", "votes") if row.get(key)}
    # Who judged gave the reason in words of its own.
    reason = row.get("reason") or ""
    return {**row, **told, "shown": tell.of(str(row["state"])), "reason": reason if row.get("by") else tell.of(reason)}


def _condition_told(condition: Mapping[str, Any], tell: Language) -> Mapping[str, Any]:
    if not condition:
        return condition
    texts = {key: tell.of(str(condition[key])) for key in (*_OF_CONDITION, "setting", "origin") if condition.get(key)}
    marks = [
        {**mark, "means": tell.of(str(mark["means"])), "shown": tell.of(str(mark["kind"]))}
        for mark in condition["marks"]
    ]
    return {**condition, **texts, "marks": marks}
