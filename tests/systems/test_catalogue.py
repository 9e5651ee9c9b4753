"""The systems of the sources: every one has a name, a way or a reason, and the checkpoint that its source pins."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from fullduplex import plugins
from fullduplex.cli import main
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build, named
from fullduplex.systems.catalogue import CATALOGUE, SOURCES, listed
from fullduplex.systems.catalogue_table import driven_table, properties_table, sources_list

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "systems" / "all.md"
SHARED = ROOT.parent / "shared" / "sources"
SIGNS = {"✓": "yes", "✗": "no", "-": "—"}


def source(name: str) -> str:
    path = SHARED / name
    if not path.is_file():
        pytest.skip(f"the source {name} is not here")
    return path.read_text(encoding="utf-8")


def test_the_page_holds_the_tables_that_the_catalogue_makes() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert driven_table() in page and properties_table() in page and sources_list() in page


def test_every_row_of_table_i_is_in_the_catalogue_as_the_paper_has_it() -> None:
    text = source("full-duplex-bench-v1.txt")
    lines = text[text.index("Model\tDate\tE2E") : text.index("Some recent studies")].splitlines()
    rows = [line.split("\t") for line in lines[1:] if line.count("\t") == 6]
    told = [
        (one.name, one.row.date, one.row.end_to_end, one.row.channels, one.row.interrupted, one.row.backchannels,
         one.row.released)
        for one in CATALOGUE if one.row
    ]  # fmt: skip
    assert len(rows) == 17
    assert told == [
        (re.sub(r"\s\[\d+\]", "", name), date, SIGNS[end_to_end], "—" if channels == "-" else channels,
         SIGNS[interrupted], SIGNS[backchannels], SIGNS[released])
        for name, date, end_to_end, channels, interrupted, backchannels, released in rows
    ]  # fmt: skip


def test_every_checkpoint_of_duplexact_is_pinned_as_its_table_14_has_it() -> None:
    rows = re.findall(r"^(.+)\tOpen-source\t(.+)$", source("duplexact.txt"), re.MULTILINE)
    told = {(one.name, pin) for one in CATALOGUE if (pin := one.by.get("duplexact"))}
    assert told == set(rows) and len(rows) == 6


def test_what_is_not_stated_is_not_no() -> None:
    row = next(line for line in properties_table().splitlines() if "GPT-4o Voice Mode" in line)
    assert row == "| GPT-4o Voice Mode | 2024/5 | — | — | ✓ | — | ✗ | closed |"


def test_every_system_is_driven_by_one_that_there_is_or_says_why_not() -> None:
    there = {plugin.name for plugin in plugins.members("systems")}
    for one in CATALOGUE:
        assert one.system in there if one.drive else one.why, one.name
        assert set(one.by) <= set(SOURCES)


def test_every_system_that_is_driven_has_the_page_that_its_row_leads_to() -> None:
    for one in CATALOGUE:
        assert not one.drive or (PAGE.parent / f"{one.page}.md").is_file(), one.name


def test_the_sources_are_benchmarks_by_their_names_here() -> None:
    assert set(SOURCES) <= {plugin.name for plugin in plugins.members("benchmarks")}


@pytest.mark.parametrize(
    ("written", "drives"),
    [
        ("GPT-Realtime", "openai-realtime"),
        ("Voila-Autonomous", "voila"),
        ("VITA-1.5", "vita"),
        ("MiniCPM-o 4.5", "minicpm-o"),
        ("Raon-SpeechChat", "raon"),
        ("dGSLM", "dgslm"),
        ("PersonaPlex-7B-v1", "personaplex"),
        ("kyutai/moshika-pytorch-bf16", "moshi"),
        ("French cascade", "cascade:preset=french-fdb-fr"),
    ],
)
def test_the_name_that_a_paper_uses_leads_to_the_name_here(written: str, drives: str) -> None:
    with pytest.raises(InputError, match=f"expected --system {drives};.* is driven as {drives}"):
        named(written)


@pytest.mark.parametrize("written", ["salmonn-omni", "GPT-4o Voice Mode", "doubao", "Sync LLM", "MinMo", "VITA"])
def test_one_that_cannot_be_driven_says_why_and_what_can_be_done(written: str) -> None:
    with pytest.raises(InputError, match=r"cannot be driven: .{20,}; score recordings of it with `fullduplex score"):
        named(f"{written}:url=ws://localhost:1")


def test_a_command_says_it_in_one_line() -> None:
    found = CliRunner().invoke(main, ["preflight", "salmonn-omni"])
    assert found.exit_code == 1 and found.output.count("\n") == 1
    assert "SALMONN-omni cannot be driven" in found.output


def test_the_names_here_stay_as_they_are() -> None:
    for plugin in plugins.members("systems"):
        assert named(plugin.name) == Spec(plugin.name)


@pytest.mark.parametrize("name", ["", "-", "nobody", "../../x", "<script>", "\x1b[2J"])
def test_a_name_that_nobody_knows_is_nobodys(name: str) -> None:
    assert listed(name) is None


def test_an_unknown_name_is_left_to_whoever_knows_the_plugins(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no system is called 'nobody'; known:"):
        build(named("nobody"), tmp_path)


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("moshi:preset=duplexact", "kyutai/moshiko-pytorch-bf16"),
        ("moshi:preset=interactionbench", "kyutai/moshika-pytorch-bf16"),
        ("moshi:preset=duplexact,model=moshiko", "kyutai/moshiko-pytorch-bf16"),
        ("personaplex:preset=interactionbench", "nvidia/personaplex-7b-v1"),
        ("personaplex:preset=fdb-french", "nvidia/personaplex-7b-v1"),
        ("freeze-omni:preset=duplexact", "VITA-MLLM/Freeze-Omni"),
        ("mini-omni2:preset=duplexact", "gpt-omni/mini-omni2"),
        ("vita:preset=duplexact", "VITA-MLLM/VITA-1.5"),
        ("flm-audio:preset=duplexact", "CofeAI/FLM-Audio"),
        ("gemini-live:preset=fdb-1.0", "gemini-2.0-flash-live-001"),
    ],
)
def test_a_preset_is_the_checkpoint_of_its_source(text: str, model: str, tmp_path: Path) -> None:
    spec = named(text)
    assert spec.options["model"] == model
    assert build(spec, tmp_path).spec.options["model"] == model


def test_a_preset_keeps_the_other_options(tmp_path: Path) -> None:
    spec = named("moshi:server=rust,preset=duplexact,max_steps=100")
    assert build(spec, tmp_path).spec.options["max_steps"] == 100
    assert spec.options["preset"] == "duplexact"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("moshi:preset=fdb-1.0", r"expected duplexact, interactionbench; .* names none"),
        ("moshi:preset=nobody", r"found nobody, expected duplexact, interactionbench"),
        ("raon:preset=duplexact", r"no source names a checkpoint of it"),
        ("moshi:preset=duplexact,model=moshika", r"found moshika, expected kyutai/moshiko-pytorch-bf16"),
        ("moshi:preset=[1]", r"found \[1\], expected duplexact"),
    ],
)
def test_a_preset_that_pins_nothing_or_something_else_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        named(text)


def test_a_system_with_presets_of_its_own_keeps_them() -> None:
    assert named("openai-realtime:preset=azure").options == {"preset": "azure"}
    assert named("cascade:preset=french-fdb-fr").options == {"preset": "french-fdb-fr"}


def test_list_tells_of_every_system_of_the_sources() -> None:
    text = CliRunner().invoke(main, ["list", "systems"]).output
    assert all(f"  {one.name} " in text for one in CATALOGUE)
    assert re.search(r"^  SALMONN-omni +not driven: ", text, re.MULTILINE)
    assert re.search(r"^  GPT-Realtime +openai-realtime$", text, re.MULTILINE)
