"""What the documents say is true of the program."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
GLOSSARY = ROOT / "docs" / "explanation" / "glossary.md"
HAS_COMMANDS = (ROOT / "src" / "fullduplex" / "cli").exists()
needs_commands = pytest.mark.skipif(not HAS_COMMANDS, reason="there is no command line yet")

_LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
_BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_link_leads_to_a_file(page: Path) -> None:
    targets = [link.partition("#")[0] for link in _LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    broken = [target for target in targets if target and not (page.parent / target).exists()]
    assert broken == []


def test_every_page_is_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    linked = {(ROOT / "docs" / link).resolve() for link in _LINK.findall(index)}
    assert {page for page in (ROOT / "docs").rglob("*.md") if page.name != "index.md"} <= linked


def test_every_term_of_the_glossary_stands_once() -> None:
    terms = re.findall(r"^### (.+)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)
    assert [term for term, times in Counter(term.casefold() for term in terms).items() if times > 1] == []


@pytest.mark.parametrize(
    "term", ["Takeover", "Backchannel", "Floor", "TOR", "Latency", "JSD", "IPU", "Censored", "Talk-through", "Word"]
)
def test_the_field_terms_are_in_the_glossary(term: str) -> None:
    assert f"\n### {term}\n" in GLOSSARY.read_text(encoding="utf-8")


def test_the_glossary_counts_words_as_the_program_does() -> None:
    from fullduplex.measures.words import LETTERS_TO_A_WORD, count_words

    assert [count_words(text) for text in ("don't", "mm-hmm", "!", "是的")] == [1, 1, 0, 1]
    assert LETTERS_TO_A_WORD == {
        "CJK": 2,
        "HIRAGANA": 2,
        "KATAKANA": 3,
        "THAI": 4,
        "LAO": 4,
        "KHMER": 4,
        "MYANMAR": 4,
    }


def test_the_variants_of_the_documents_are_the_variants_there_are() -> None:
    from fullduplex.benchmarks.fdb1 import DEFAULT, variants

    page = (ROOT / "docs" / "explanation" / "departures.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `([\w-]+)` \| what|^\| `([\w-]+)` \| (?:the|ours)", page, re.MULTILINE)
    assert {first or second for first, second in named} == set(variants())
    assert f"| `{DEFAULT}` | what the scripts of May 2026 compute; also called `released`, and the default |" in page


def test_the_engines_of_the_documents_are_the_engines_there_are() -> None:
    from fullduplex.plugins import members

    page = (ROOT / "docs" / "how-to" / "engines.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)", page, re.MULTILINE)) == {plugin.name for plugin in members("engines")}


def test_the_check_of_the_readme_is_the_one_that_is_run() -> None:
    assert "\n./dev test " in (ROOT / "README.md").read_text(encoding="utf-8")
    assert (ROOT / ".ci" / "run").read_text(encoding="utf-8").rstrip().endswith("./dev test")


@pytest.mark.parametrize("command", ["demo", "test", "lock", "run"])
def test_the_script_knows_its_commands(command: str) -> None:
    told = subprocess.run(
        [sys.executable, ROOT / "dev", "--help"], capture_output=True, text=True, check=True, timeout=60
    )
    assert f"./dev {command}" in told.stdout


def test_the_script_refuses_what_it_does_not_know_in_a_sentence() -> None:
    told = subprocess.run([sys.executable, ROOT / "dev", "frobnicate"], capture_output=True, text=True, timeout=60)
    assert (told.returncode, told.stderr.count("\n")) == (2, 1)
    assert "frobnicate" in told.stderr


@pytest.mark.parametrize("lock", sorted((ROOT / "requirements").glob("*.lock")), ids=lambda path: path.name)
def test_a_lock_holds_hashes_and_names_no_place(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert not re.search(r"://|^-|^#|@ ", text, re.MULTILINE)
    pinned = re.split(r"\n(?=\S)", text.strip())
    assert [entry for entry in pinned if "==" not in entry or "--hash=sha256:" not in entry] == []


@needs_commands
@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    import click

    for line in commands_of(page):
        command: click.Command = _main()
        words = shlex.split(line)[1:]
        while words and isinstance(command, click.Group):
            found = command.commands.get(words[0])
            assert found is not None, f"{line}: no command {words[0]!r}"
            command, words = found, words[1:]
        options = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        unknown = [word.partition("=")[0] for word in words if word.startswith("--")]
        assert set(unknown) <= {*options, "--help"}, line


@needs_commands
def test_the_table_of_commands_is_the_list_of_commands() -> None:
    page = (ROOT / "docs" / "reference" / "commands.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(_main().commands)


@needs_commands
def test_the_help_is_there() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "from fullduplex.cli import main; main()", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "score" in told.stdout


def commands_of(page: Path) -> list[str]:
    """Return the lines of a page's shell blocks that call the program."""
    blocks = _BLOCK.findall(page.read_text(encoding="utf-8"))
    return [line.strip() for block in blocks for line in block.splitlines() if line.strip().startswith("fullduplex ")]


def _main() -> Any:
    return import_module("fullduplex.cli").main


def test_the_options_of_scripted_systems_are_those_there_are() -> None:
    from inspect import signature

    from fullduplex.systems.script_options import scripted

    page = (ROOT / "docs" / "how-to" / "scripted-systems.md").read_text(encoding="utf-8")
    table = page.partition("## Options")[2].partition("## Examples")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(signature(scripted).parameters)


def test_the_systems_and_the_script_of_their_page_can_be_made(tmp_path: Path) -> None:
    import json

    import numpy as np

    from fullduplex.data import audio
    from fullduplex.model.spec import Spec
    from fullduplex.systems.script_options import scripted

    page = (ROOT / "docs" / "how-to" / "scripted-systems.md").read_text(encoding="utf-8")
    specs = re.findall(r"^\| [^|]+ \| `'(scripted:[^`]+)'` \|", page, re.MULTILINE)
    made = [scripted(**Spec.parse(spec).options) for spec in specs]
    assert len(made) == 3
    # The answer that talks through an interruption has to be there when it comes, 3 s into it.
    (line,) = made[2].script.lines
    assert len(line.sound.samples) / 24_000 > 3.5
    script = re.search(r"```json\n(.*?)```", page, re.DOTALL)
    assert script is not None and json.loads(script[1])
    (tmp_path / "script.json").write_text(script[1])
    audio.write(tmp_path / "clip.wav", np.zeros(2_400, np.float32), 24_000)
    assert len(scripted(file=str(tmp_path / "script.json")).script.lines) == 3
