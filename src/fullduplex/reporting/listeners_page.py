"""A panel of listeners as one page that needs nothing else: tables and drawings, no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.listeners_text import heading, lead, notes, sections

#: How many stimuli are drawn.
DRAWN = 40


def listeners_html(told: Mapping[str, Any], drawings: Sequence[tuple[str, str]], tell: Language = ENGLISH) -> str:
    """Return the page of what ``listeners.json`` holds: nothing is fetched, every text is escaped.

    ``drawings``: of the stimuli that are drawn, the name and the SVG text.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True)
    style = files("fullduplex.reporting.page").joinpath("page.css").read_text("utf-8")
    template = environment.from_string(files("fullduplex.reporting").joinpath("listeners_page.html").read_text("utf-8"))
    beyond = len(told["stimuli"]) - len(drawings)
    return template.render(
        style=Markup(style),
        language=tell.code,
        heading=heading(told, tell),
        lead=lead(told, tell),
        sections=sections(told, tell),
        systems=[one["name"] for one in told["systems"]],
        drawings=[(name, Markup(svg)) for name, svg in drawings],
        drawn=tell("Where people respond"),
        legend=tell(
            "Steps: the share of the listeners who respond in each window; the dashed line: from where it is an "
            "opportunity. Below, each listener's responses, a line each, and each system's."
        ),
        beyond=tell("And {n} more, in listeners.json.", n=tell.digits(f"{beyond:,}")) if beyond > 0 else "",
        known=tell("What else is known"),
        notes=notes(told, tell),
        made=tell("fullduplex {version}, seed {seed}.", version=told["fullduplex"], seed=str(told["seed"])),
    )
