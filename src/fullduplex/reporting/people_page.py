"""Statistics of corpora as one page that needs nothing else: tables and drawings, no script."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.people_charts import shares
from fullduplex.reporting.people_text import ITEMS, SHOWN, cell, number, titled, told_by

_DRAWN = {
    "transfer": "Offsets of floor transfers",
    "pause": "Pauses",
    "gap": "Gaps",
    "overlap": "Overlaps",
    "unit": "Units",
}


def statistics_html(told: Mapping[str, Any]) -> str:
    """Return the page of what ``statistics.json`` holds: nothing is fetched, every text is escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    environment.filters["safe_text"] = lambda text: printable(str(text), 400)
    environment.globals.update(cell=cell, number=number, told_by=told_by, titled=titled)
    style = files("fullduplex.reporting.page").joinpath("page.css").read_text("utf-8")
    template = environment.from_string(files("fullduplex.reporting").joinpath("people_page.html").read_text("utf-8"))
    drawings = [
        (title, Markup(shares([(one["name"], one["distributions"][kind]) for one in told["corpora"]], kind)))
        for kind, title in _DRAWN.items()
    ]
    placed = any(row["percentile"] is not None for row in told["standings"])
    cut_out = ["run" in one["source"] for one in told["corpora"]]
    mixed = ITEMS if any(cut_out) and not all(cut_out) else ""
    return template.render(style=Markup(style), told=told, drawings=drawings, shown=SHOWN, placed=placed, mixed=mixed)
