"""The one page of the review: its form as inert data, our own style and scripts, nothing from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.page import messages, said_in
from fullduplex.reporting.review.forms import Form

#: The report's style, timeline and player serve here too, so that both show a talk alike.
_SHARED = ("base.js", "timeline.js", "sound.js")
_OWN = ("questions.js", "review.js")


def render(
    form: Form, token: str, *, of_items: bool = False, of_people: bool = False, tell: Language = ENGLISH
) -> tuple[bytes, str]:  # fmt: skip
    """Return the page as bytes, and its content security policy for the header.

    ``of_items``: no system is heard, and the page does not speak of one; ``of_people``: another person is. ``form`` is
    in the language of ``tell``, see
    :func:`fullduplex.reporting.review.translated.form_told`.
    """
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    style = _report("page.css") + _own("review.css")
    script = '"use strict";(() => {\n' + "\n".join([*map(_report, _SHARED), *map(_own, _OWN)]) + "\n})();"
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    environment.install_gettext_callables(tell.gettext, tell.ngettext, newstyle=True)  # type: ignore[attr-defined]
    given = {"token": token, "form": _told(form)}
    if not tell.original:
        given["messages"] = dict(messages(said_by_review(), tell))
    page = environment.from_string(_own("review.html")).render(
        form=form,
        of_items=of_items,
        of_people=of_people,
        language=tell.code,
        data=Markup(_inert(given)),
        style=Markup(style),
        script=Markup(script),
    )
    return page.encode("utf-8", "replace"), _policy(style, script)


def said_by_review() -> list[tuple[str, str]]:
    """Return every text that the scripts of the review show, as :func:`fullduplex.reporting.page.said_in` does."""
    return said_in([*map(_report, _SHARED), *map(_own, _OWN)])


def _told(form: Form) -> dict[str, Any]:
    return {
        "name": form.name,
        "pairwise": form.pairwise,
        "staged": form.staged,
        "questions": [
            {
                "key": question.key,
                "ask": question.ask,
                "kind": question.kind,
                "help": question.help,
                "required": question.required,
                "options": [[one.value, one.label, one.key, one.help] for one in question.options],
            }
            for question in form.questions
        ],
    }


def _policy(style: str, script: str) -> str:
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    return (
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; media-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ).format(*hashes)


def _report(name: str) -> str:
    return files("fullduplex.reporting.page").joinpath(name).read_text(encoding="utf-8")


def _own(name: str) -> str:
    return files("fullduplex.reporting.review").joinpath("assets", name).read_text(encoding="utf-8")


def _inert(value: Any) -> str:
    # All ASCII, and no character that could end or open an element: inert wherever it stands.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
