"""The page one can hear: one HTML file that opens from disk and needs no network.

A page on disk cannot fetch, so everything is in it but the sound, which it plays
from one stereo file an item. What others wrote (names, words, reasons) reaches it
in two ways only: escaped by the template, or as JSON in an inert element, shown as
text. Each item's details are an element of their own, read when the item is opened.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from fullduplex.data import audio
from fullduplex.data.files import replacing
from fullduplex.errors import InputError
from fullduplex.reporting.language import ENGLISH, Language
from fullduplex.reporting.translated import item_told, page_told

_SCRIPTS = ("base.js", "index.js", "list.js", "timeline.js", "sound.js", "spread.js", "cards.js", "wide.js", "main.js")
_CUT = "<!--items-->"
#: What the scripts say: the first text of each call, and the second of those that count.
_SAID = re.compile(r'\b(?:say|count)\((?:[^"()]*, )?"((?:[^"\\]|\\.)*)"(?:, "((?:[^"\\]|\\.)*)")?')
#: What of an item is read when it is opened.
_DETAILS = ("tracks", "events", "facts", "audio", "turns", "probes", "condition", "firsts")
#: How an embedded sound is coded: Opus knows this rate, and speech needs no higher.
_OPUS_RATE = 24_000


#: What is not seen and hides or turns what stands around it: signs of no width, embeddings, overrides, isolates. What
#: joins letters or parts them (U+200C, U+200D), and marks of direction, belong to how scripts are written.
_UNSEEN = re.compile("[\u00ad\u061c\u200b\u202a-\u202e\u2060-\u2069\ufeff]")


def with_unseen_signs_told(page: str) -> str:
    """Return a page with such signs as ``\\uXXXX``: no name turns a sentence around, and two names look like two.

    In embedded JSON the escape is the sign itself.
    """
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", page)


@dataclass(frozen=True, slots=True)
class PageItem:
    """One item as one system answered it, for the page. Times are decimal seconds.

    ``audio``: the stereo file's address relative to the page, percent-encoded, or None.
    ``tracks``: for ``user`` and ``system`` an object with ``words`` ([text, start, end], a
    time may be None), ``speech`` ([start, end]), ``words_from``, ``speech_from`` and ``peaks``
    (as :func:`fullduplex.reporting.sound.peaks`). ``events``: ``kind``, ``start``, ``end``, ``text``,
    ``source``. ``facts``: ``variant``, ``metric``, ``value`` (or None), ``absent``, ``why``, ``at`` (or
    None), ``unit``. ``turns`` and ``probes``: as in :mod:`fullduplex.reporting.conversation`; ``condition``: as in
    :mod:`fullduplex.reporting.condition`. ``firsts``: when the reply's first ``word`` and first ``sound`` begin, and
    whether they lie ``apart``; empty where one is not known. ``twin``: it is another item's clean twin, not counted.
    """

    system: str
    scenario: str
    task: str
    item: str
    audio: str | None
    duration: float
    tracks: Mapping[str, Mapping[str, Any]]
    events: Sequence[Mapping[str, Any]]
    facts: Sequence[Mapping[str, Any]]
    turns: Sequence[Mapping[str, Any]] = ()
    probes: Sequence[Mapping[str, Any]] = ()
    condition: Mapping[str, Any] = field(default_factory=dict)
    firsts: Mapping[str, Any] = field(default_factory=dict)
    twin: bool = False

    @property
    def key(self) -> str:
        """Return ``system/scenario/item``, by which ``embed`` names an item."""
        return f"{self.system}/{self.scenario}/{self.item}"


@dataclass(frozen=True, slots=True)
class PageData:
    """What the page shows above its items.

    ``variants`` and ``systems``: names, the leading one first. ``estimates``: rows as in
    :mod:`fullduplex.reporting.rows`. ``published``: ``system``, ``source``, ``variant``, ``scenario``,
    ``metric``, ``value``; from papers, in a table of their own. ``departures``: ``variant``, ``where``,
    ``theirs``, ``ours``, ``why``. ``moved``: ``system``, ``scenario``, ``metric``, ``values`` (by variant),
    ``rule``. ``flips``: ``scenario``, ``metric``, ``item``, ``values`` (by system). ``comparisons``:
    ``scenario``, ``metric``, ``a``, ``b``, ``n``, ``effect``, ``low``, ``high``, ``p``, ``p_holm``.
    ``clocks``: ``system``, ``scenario``, ``metric``, ``values`` (by clock: the value or None, and n). ``stages``:
    ``system``, ``stage``, ``means``, ``n``, ``median``, ``p90`` (seconds). ``speech``: by variant, rows as in
    :mod:`fullduplex.reporting.speech`. ``cards`` and ``dimensions``: as in :mod:`fullduplex.reporting.cards` and
    :mod:`fullduplex.reporting.dimensions`, each with the ``variant`` it is of. ``people``: rows as in
    :mod:`fullduplex.reporting.among_people`. ``listed``: as in :mod:`fullduplex.reporting.listed`. ``made_of``: rows
    as in :mod:`fullduplex.reporting.systems`. ``about``: where it comes from; ``remarks``, if it has any, are shown
    below the numbers.
    """

    title: str
    benchmark: str
    variants: Sequence[str]
    systems: Sequence[str]
    estimates: Sequence[Mapping[str, Any]] = ()
    published: Sequence[Mapping[str, Any]] = ()
    departures: Sequence[Mapping[str, str]] = ()
    moved: Sequence[Mapping[str, Any]] = ()
    flips: Sequence[Mapping[str, Any]] = ()
    comparisons: Sequence[Mapping[str, Any]] = ()
    clocks: Sequence[Mapping[str, Any]] = ()
    stages: Sequence[Mapping[str, Any]] = ()
    speech: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    cards: Sequence[Mapping[str, Any]] = ()
    dimensions: Sequence[Mapping[str, Any]] = ()
    people: Sequence[Mapping[str, Any]] = ()
    listed: Sequence[Mapping[str, Any]] = ()
    made_of: Sequence[Mapping[str, str]] = ()
    about: Mapping[str, Any] | None = None


def write_page(
    out: Path,
    data: PageData,
    items: Iterable[PageItem],
    *,
    embed: Mapping[str, Path] | None = None,
    tell: Language = ENGLISH,
) -> None:
    """Write the page as ``out``, whole or not at all; ``items`` is read once, and none is kept.

    ``embed`` names, by :attr:`PageItem.key`, stereo files whose sound goes into the page
    itself, as Ogg/Opus: such an item plays wherever the page is sent. ``tell`` is the page's language.
    Raises :class:`InputError` where an item's audio address is not relative or a file of
    ``embed`` cannot be read, and ValueError on NaN or infinity.
    """
    embed = embed or {}
    index = _Index(tell)
    with tempfile.TemporaryFile("w+", encoding="utf-8", dir=out.parent) as details:
        for number, item in enumerate(items):
            if item.audio is not None and not _is_relative(item.audio):
                raise InputError(
                    out, f"audio of {item.key}", found=item.audio, expected="an address relative to the page"
                )
            shown = item_told(item, tell)
            index.add(shown, embedded=item.key in embed)
            record = {key: value for key, value in asdict(shown).items() if key in _DETAILS}
            _inert(details, f"item-{number}", record)
            if item.key in embed:
                _inert(details, f"sound-{number}", _as_opus(embed[item.key]))
        head, _, tail = _rendered(page_told(data, tell), index, tell).partition(_CUT)
        details.seek(0)
        with replacing(out) as part, part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(head)
            shutil.copyfileobj(details, file, 1 << 20)
            file.write(tail)


class _Index:
    """What the list, the filters and the distributions need of every item: small enough to keep."""

    def __init__(self, tell: Language) -> None:
        self.tell = tell
        self.columns: dict[tuple[str, str], int] = {}
        self.units: dict[str, str] = {}
        self.rows: list[list[Any]] = []
        self.items = 0

    def add(self, item: PageItem, *, embedded: bool) -> None:
        facts: list[Any] = []
        self.items += not item.twin
        for fact in item.facts:
            column = self.columns.setdefault((fact["variant"], fact["metric"]), len(self.columns))
            self.units.setdefault(fact["metric"], fact.get("unit") or "")
            value = fact.get("value")
            # A number is a value, a text the reason for none.
            facts += column, (fact.get("absent") or self.tell("not measured")) if value is None else round(value, 6)
        sound = 2 if embedded else 0 if item.audio is None else 1
        self.rows.append([item.system, item.scenario, item.task, item.item, round(item.duration, 3), sound, facts])


def _rendered(data: PageData, index: _Index, tell: Language) -> str:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    from fullduplex.reporting.among_people import past_people, signed
    from fullduplex.reporting.cells import parts_of
    from fullduplex.reporting.page import tables
    from fullduplex.reporting.rows import figure, interval
    from fullduplex.reporting.systems import HEADS, NOTE

    style = _asset("page.css")
    # One strict function scope: the parts see each other, the page does not see them.
    script = '"use strict";(() => {\n' + "\n".join(map(_asset, _SCRIPTS)) + "\n})();"
    environment = Environment(
        loader=FunctionLoader(_asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )  # fmt: skip
    # The extension adds these; a text of the template is markup, what is put in its places is not.
    environment.install_gettext_callables(tell.gettext, tell.ngettext, newstyle=True)  # type: ignore[attr-defined]
    environment.globals["count"] = tell.plural
    environment.filters.update(
        figure=lambda value, unit="": figure(value, unit, tell),
        interval=lambda row: interval(row, tell),
        signed=lambda value, unit="": signed(value, unit, tell),
        past_people=lambda rows: past_people(rows, tell),
        seconds=lambda value: tell.digits(f"{value:.3f}"),
        kept=tell.kept,
        of=tell.of,
        by_dimension=tables.by_dimension,
        address=tables.address,
        parts=parts_of,
        groups=tables.groups,
        heat=tables.heat,
        length_of=tables.length_of,
        place=lambda one, of: of.index(one),
    )
    about = data.about or {}
    shown = {
        "benchmark": data.benchmark,
        "variants": list(data.variants),
        "systems": list(data.systems),
        "metrics": tables.metrics(data, index.units),
        "scenarios": tables.scenario_titles(data),
        "flips": [[flip["scenario"], flip["item"], flip["metric"]] for flip in data.flips],
        "columns": [list(column) for column in index.columns],
        "items": index.rows,
    }
    if not tell.original:
        shown["messages"] = dict(messages(said_by_scripts(), tell))
    return with_unseen_signs_told(environment.get_template("page.html").render(
        data=data,
        heads=HEADS,
        note_on_systems=tell(NOTE),
        about={key: value for key, value in about.items() if key != "remarks"},
        remarks=list(about.get("remarks") or ()),
        items=index.items,
        language=tell.code,
        panels=tables.panels(data, tell),
        beside=tables.beside(data, tell),
        clocks=tables.clocks(data, tell),
        speech=tables.speech(data),
        published=tables.published(data, tell),
        flips=tables.flips(data),
        comparisons=tables.comparisons(data),
        index=Markup(_json(shown)),
        style=Markup(style),
        script=Markup(script),
        policy=_policy(style, script),
        cut=Markup(_CUT),
    ))  # fmt: skip


def _policy(style: str, script: str) -> str:
    """Return a content security policy: our own script and style, sound beside the page, nothing else."""
    hashes = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script))
    return (
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; media-src 'self' file: data: blob:; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    ).format(*hashes)


def said_by_scripts() -> list[tuple[str, str]]:
    """Return every text that the page's scripts show, in order; with its form for many, "" where it has none."""
    return said_in(map(_asset, _SCRIPTS))


def said_in(scripts: Iterable[str]) -> list[tuple[str, str]]:
    """Return every text that ``scripts`` show, in order; with its form for many, "" where it has none."""
    found = (match for script in scripts for match in _SAID.finditer(script))
    return list(dict.fromkeys((match[1], match[2] or "") for match in found))


def messages(said: Iterable[tuple[str, str]], tell: Language) -> Iterator[tuple[str, str]]:
    """Yield each text of scripts with what it is told as, of plurals both forms."""
    for one, many in said:
        yield one, tell.ngettext(one, many, 1) if many else tell.gettext(one)
        if many:
            yield many, tell.ngettext(one, many, 2)


def _asset(name: str) -> str:
    return files("fullduplex.reporting.page").joinpath(name).read_text(encoding="utf-8")


def _json(value: Any) -> str:
    # All ASCII, and no character that could end or open an element: inert wherever it stands.
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _inert(file: IO[str], name: str, value: Any) -> None:
    file.write(f'<script type="application/json" id="{name}">{_json(value)}</script>\n')


def _is_relative(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return bool(address) and address.isprintable() and not (parts.scheme or parts.netloc or address[0] in "/\\")


def _as_opus(path: Path) -> str:
    """Return a sound file as a ``data:`` address, coded as Ogg/Opus."""
    import soundfile

    samples, rate = audio.read_all(path)
    coded = io.BytesIO()
    soundfile.write(coded, audio.resample(samples, rate, _OPUS_RATE), _OPUS_RATE, format="OGG", subtype="OPUS")
    return "data:audio/ogg;codecs=opus;base64," + base64.b64encode(coded.getvalue()).decode("ascii")
