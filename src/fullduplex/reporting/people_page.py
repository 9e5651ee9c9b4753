"""Statistics of corpora as one page that needs nothing else: tables and drawings, no script."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib.resources import files
from typing import Any

from fullduplex.errors import printable
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.people_charts import shares
from fullduplex.reporting.people_text import ITEMS, SHOWN, cell, lie_among, lie_from, number, titled, told_by

_DRAWN = {
    "transfer": "Offsets of floor transfers",
    "pause": "Pauses",
    "gap": "Gaps",
    "overlap": "Overlaps",
    "unit": "Units",
}


def statistics_html(told: Mapping[str, Any], tell: Language = ENGLISH) -> str:
    """Return the page of what ``statistics.json`` holds: nothing is fetched, every text is escaped."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, extensions=["jinja2.ext.i18n"]
    )
    environment.install_gettext_callables(tell.gettext, tell.ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.filters["safe_text"] = lambda text: printable(str(text), 400)
    environment.filters.update(told=tell.of, kept=tell.kept, digits=tell.digits)
    environment.globals.update(
        cell=partial(cell, tell=tell),
        number=partial(number, tell=tell),
        told_by=partial(told_by, tell=tell),
        titled=partial(titled, tell=tell),
        bounds=lambda low, high: tell("[{low}, {high}]", low=low, high=high),
    )
    style = files("fullduplex.reporting.page").joinpath("page.css").read_text("utf-8")
    template = environment.from_string(files("fullduplex.reporting").joinpath("people_page.html").read_text("utf-8"))
    drawings = [
        (
            tell.of(title),
            Markup(shares([(one["name"], one["distributions"][kind]) for one in told["corpora"]], kind, tell)),
        )
        for kind, title in _DRAWN.items()
    ]
    placed = any(row["percentile"] is not None for row in told["standings"])
    cut_out = ["run" in one["source"] for one in told["corpora"]]
    mixed = tell(ITEMS) if any(cut_out) and not all(cut_out) else ""
    return template.render(
        style=Markup(style),
        told=told,
        drawings=drawings,
        shown=SHOWN,
        placed=placed,
        mixed=mixed,
        language=tell.code,
        among=lie_among(told, tell),
        away=lie_from(told, tell),
    )
