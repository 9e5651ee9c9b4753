"""Every text that a report can show has its French one, and a catalogue keeps what it is a catalogue of."""

import ast
import re
from collections.abc import Iterator, Mapping
from gettext import GNUTranslations
from pathlib import Path
from typing import Any

import pytest

from fullduplex import plugins
from fullduplex.baselines.statistics import STATISTICS
from fullduplex.benchmarks.boards import board_of
from fullduplex.benchmarks.declare import Benchmark
from fullduplex.benchmarks.duplexact.conditions import actions
from fullduplex.benchmarks.published import published
from fullduplex.measures.grounded import STATES
from fullduplex.reporting.condition import MARKS
from fullduplex.reporting.language import Language, language_named, languages
from fullduplex.reporting.page import said_by_scripts
from fullduplex.reporting.review.card import CALLS_FOR, HEADINGS, PLAIN
from fullduplex.reporting.review.forms import load, names
from fullduplex.reporting.review.marks import MARKED, OVER
from fullduplex.reporting.review.page import said_by_review
from fullduplex.reporting.sensitivity import _COUNTED, _COUNTED_OF
from fullduplex.runs.talks import STAGES

SOURCE = Path(__file__).parents[2] / "src" / "fullduplex"
OTHERS = [code for code in languages() if code != "en"]
BENCHMARKS = ("fdb-1.0", "fdb-french", "fdb-1.5", "interactionbench", "duplexact")
_PLACES = re.compile(r"\{\w*\}|%\(\w+\)s|%%|</?\w+>")
#: Where a place of a reason holds words, no sample can be drawn: each with what it looks like.
WORDS_IN_PLACES = {
    "7 intervals: 7 anywhere in the file": "stop intervals: 2 anywhere in the file",
    "7: 7 words over 7 s 7": "takeover: 5 words over 2.400 s after the interruption",
    "the system was not speaking at 7 s7": 'the system was not speaking at 6.20 s; it had last said "Yes." at 4-5 s',
    "fell silent 7, 7 after 7 began": "fell silent for 1.60 s, 449 ms after the user's remark began",
    "7 with a word in it": "no reply with a word in it",
    "the recording ends 7 after the event": "the recording ends 400 ms after the event",
    "took the pause: 7 into it": "took the pause: 1.20 s into it",
    "7: 7 of 7 utterances7": "judged: 1 of 3 utterances",
    "on time: 7 7 the end": "on time: 1.20 s after the end",
    "7 7 the end": "40 ms before the end",
    "waited, and spoke 7 7 the end": "waited, and spoke 1.20 s after the end",
    "jumped in: 7 7 the pause": "jumped in: 1.28 s into the pause",
    "Wilson 95 % on 7 7, no disagreement": "Wilson 95 % on 12 items, no disagreement",
    "all 7 7 alike: no interval": "all 12 groups alike: no interval",
    "first word 7 s after the user's last7": "first word 0.420 s after the user's last",
    "7 to '7'": "no reply to 'two'",
    "no speech in the reply, or too little of it7": "no speech in the reply, or too little of it",
    "answered: 7 after the end7": "answered: 0.50 s after the end (what began 200 ms after it is a backchannel)",
}


@pytest.fixture(scope="module", params=OTHERS)
def tell(request: pytest.FixtureRequest) -> Language:
    return language_named(request.param)


def texts_of(code: str) -> Mapping[Any, str]:
    there = SOURCE / "reporting" / "catalogues" / code / "LC_MESSAGES" / "fullduplex.mo"
    with there.open("rb") as file:
        found: Mapping[Any, str] = vars(GNUTranslations(file))["_catalog"]
    return {key: told for key, told in found.items() if key}


def declared(benchmark: str) -> Iterator[str]:
    variants: Mapping[str, Benchmark] = plugins.find("benchmarks", benchmark)()
    for its in variants.values():
        yield its.summary
        for departure in its.departures:
            yield from (departure.where, departure.theirs, departure.ours, departure.why)
        for scenario in its.scenarios:
            yield scenario.title
            for metric in scenario.metrics:
                yield from (metric.title or metric.name, metric.listed, metric.rests_on)
    for one in published(benchmark):
        row = one.to_row()
        yield from (str(row.get(key) or "") for key in ("source", "variant", "departure", "title", "scenario_title"))
    board = board_of(benchmark)
    if board is None:
        return
    for card in board.cards.values():
        yield from (card.title, card.happens, card.success, card.listen)
    for dimension in board.dimensions:
        yield from (dimension.title, dimension.text, *(column.title for column in dimension.columns))
    for told in (board.probes, board.failures, board.related):
        if told is not None:
            yield from (told.title, told.text)
    yield from board.probes.types.values() if board.probes is not None else ()
    yield from (text for both in board.actions.values() for text in both)


def reasons(folder: str) -> Iterator[str]:
    """Yield the reasons that the measures of ``folder`` give, a 7 in each place."""
    for file in sorted((SOURCE / folder).glob("**/*.py")):
        # What these count stands in no report of a run.
        if {"agreement", "listeners", "conversation"} & set(file.parts):
            continue
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Absent", "Fact", "given", "Estimate"):
                for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                    yield from samples(argument)


def samples(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.IfExp):
        return samples(node.body) + samples(node.orelse)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [first + second for first in samples(node.left) for second in samples(node.right)]
    if not isinstance(node, ast.JoinedStr):
        return []
    made = [""]
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            seen = samples(part.value) if isinstance(part.value, ast.IfExp) else []
            found = seen or ["'7'" if part.conversion == ord("r") else "7"]
        else:
            found = samples(part)
        made = [before + one for before in made for one in found]
    return made


def said_by_modules() -> Iterator[str]:
    """Yield the texts of the reports' own modules: what is passed to ``tell``."""
    for file in (
        *sorted((SOURCE / "reporting").glob("*.py")),
        SOURCE / "publish.py",
        *sorted((SOURCE / "cli").glob("*.py")),
    ):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "tell" and node.args:
                yield from samples(node.args[0]) if not isinstance(node.args[0], ast.JoinedStr) else ()


def is_text(text: str) -> bool:
    return any(map(str.isalpha, text))


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_whatever_a_benchmark_declares_is_told(tell: Language, benchmark: str) -> None:
    assert [text for text in dict.fromkeys(declared(benchmark)) if is_text(text) and not tell.knows(text)] == []


def test_conditions_marks_stages_and_states_are_told(tell: Language) -> None:
    texts = [*MARKS, *MARKS.values(), *STATES, *STAGES.values(), *(name.replace("_", " ") for name in STAGES)]
    for action in actions():
        texts += [action.title, action.success, action.immediate, action.follow_through, action.timing]
        texts += [t for c in action.conditions for t in (c.title, c.definition, c.calls_for, c.source)]
    assert [text for text in texts if is_text(text) and not tell.knows(text)] == []


@pytest.mark.parametrize("folder", ["measures", "benchmarks"])
def test_whatever_reason_a_measure_gives_is_told(tell: Language, folder: str) -> None:
    given = [WORDS_IN_PLACES.get(text, text) for text in reasons(folder)]
    assert len(given) > 50
    assert [text for text in dict.fromkeys(given) if is_text(text) and not tell.knows(text)] == []


def test_what_a_reports_own_modules_say_is_in_the_catalogue(tell: Language) -> None:
    said = list(said_by_modules())
    known = {key[0] if isinstance(key, tuple) else key for key in texts_of(tell.code)}
    assert len(said) > 80
    assert [text for text in said if text not in known] == []


def test_whatever_is_counted_has_its_plural_in_the_catalogue(tell: Language) -> None:
    known = {key[0] for key in texts_of(tell.code) if isinstance(key, tuple)}
    counted = [text for pair in (*_COUNTED.values(), _COUNTED_OF) for text in pair[:1]]
    for file in (*(SOURCE / "reporting").glob("**/*.py"), *(SOURCE / "cli").glob("*.py"), SOURCE / "publish.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "plural":
                whose = getattr(getattr(node.func, "value", None), "id", "")
                counted += samples(node.args[0]) if whose == "tell" else []
    assert len(counted) > 10
    assert [text for text in counted if text not in known] == []


def test_what_the_page_says_is_in_the_catalogue(tell: Language) -> None:
    known = {key[0] if isinstance(key, tuple) else key for key in texts_of(tell.code)}
    templates = [file.read_text(encoding="utf-8") for file in (SOURCE / "reporting").glob("**/people_page.html")]
    for folder in ("page", "review/assets"):
        templates += [file.read_text(encoding="utf-8") for file in (SOURCE / "reporting" / folder).glob("*.html")]
    said = [text for template in templates for text in re.findall(r'\b_\("([^"]*)"', template)]
    said += [text for template in templates for text in re.findall(r'\b(?:count|ngettext)\("([^"]*)"', template)]
    assert len(said) > 100
    by_scripts = [one for one, _ in [*said_by_scripts(), *said_by_review()]]
    assert [text for text in [*said, *by_scripts] if text not in known] == []


def test_every_call_of_a_script_is_found() -> None:
    scripts = [file.read_text(encoding="utf-8") for file in (SOURCE / "reporting").glob("**/*.js")]
    calls = [text for script in scripts for text in re.findall(r'\bsay\("([^"]*)"', script)]
    assert set(calls) <= {one for one, _ in [*said_by_scripts(), *said_by_review()]}
    assert not [name for script in scripts for name in re.findall(r"\bsay\(`", script)]


def test_whatever_a_rater_is_asked_and_told_is_told(tell: Language) -> None:
    texts = [*PLAIN.values(), *CALLS_FOR.values(), *HEADINGS.values(), *MARKED.values(), OVER]
    for form in map(load, names()):
        texts += [form.title, form.intro]
        for question in form.questions:
            texts += [question.ask, *question.help.split("\n")]
            texts += [text for option in question.options for text in (option.label, option.help)]
    assert len(texts) > 100
    # A letter or a digit is an answer's own name.
    assert [text for text in texts if len(text) > 1 and is_text(text) and not tell.knows(text)] == []


def test_whatever_conversations_are_counted_by_is_told(tell: Language) -> None:
    texts = [text for one in STATISTICS for text in (one.title, one.of)]
    texts += ["12 of 40 floor transfers lie within 10 ms of 0 (3 exactly): the turns were cut, not measured"]
    texts += [
        f"{texts[-1]} (so in 2 of 3 conversations)",
        "the system has none",
        "fewer than 5 conversations of people",
    ]
    assert [text for text in texts if is_text(text) and not tell.knows(text)] == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_text_and_its_translation_have_the_same_places(code: str) -> None:
    wrong = {}
    for key, told in texts_of(code).items():
        text = str(key[0] if isinstance(key, tuple) else key).rpartition("\x04")[2]
        # In French percents of a template are doubled alike; one thing need not be counted.
        ours, theirs = (sorted(place for place in _PLACES.findall(one) if place != "%%") for one in (text, told))
        if set(ours) != set(theirs) and not isinstance(key, tuple):
            wrong[text] = told
        if isinstance(key, tuple) and not set(theirs) <= {*ours, "{n}"}:
            wrong[text] = told
    assert wrong == {}


@pytest.mark.parametrize("code", OTHERS)
def test_a_sign_of_percent_of_a_template_is_doubled(code: str) -> None:
    single = re.compile(r"(?<!%)%(?![%(])")
    templates = " ".join(file.read_text(encoding="utf-8") for file in (SOURCE / "reporting" / "page").glob("*.html"))
    of_page = set(re.findall(r'\b_\("([^"]*)"', templates))
    assert {text: told for text, told in texts_of(code).items() if text in of_page and single.search(told)} == {}


@pytest.mark.parametrize("code", OTHERS)
def test_no_translation_ends_an_attribute_or_opens_an_element(code: str) -> None:
    there = {"<strong>", "</strong>", "<kbd>", "</kbd>"}
    for text, told in texts_of(code).items():
        original = text[0] if isinstance(text, tuple) else text
        assert '"' not in told or '"' in original, told
        assert set(re.findall(r"<[^>]*>", told)) <= there, told


@pytest.mark.parametrize("code", OTHERS)
def test_the_compiled_catalogue_is_that_of_the_text(code: str) -> None:
    pofile = pytest.importorskip(
        "babel.messages.pofile", reason="Babel, which reads a catalogue's text, is not installed"
    )
    there = SOURCE / "reporting" / "catalogues" / code / "LC_MESSAGES" / "fullduplex.po"
    with there.open("rb") as file:
        catalogue = pofile.read_po(file, locale=code)
    written: dict[Any, str] = {}
    for message in catalogue:
        if not message.id:
            continue
        several = isinstance(message.id, tuple)
        key = message.id[0] if several else message.id
        key = f"{message.context}\x04{key}" if message.context else key
        for form, told in enumerate(message.string if several else (message.string,)):
            written[(key, form) if several else key] = told
            assert told, f"{key} has no translation"
    assert not [message.id for message in catalogue if message.fuzzy and message.id]
    assert written == dict(texts_of(code))


def test_french_sets_its_signs_apart_by_a_space_that_does_not_break() -> None:
    for told in texts_of("fr").values():
        assert not re.search(r"\w [;!?»]|\w %(?!\()|« |\w :", told), told
        assert not re.search(r"\w'\w", re.sub(r"`[^`]*`", "", told)), told
