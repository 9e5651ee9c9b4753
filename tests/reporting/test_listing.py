from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest

from fullduplex import plugins
from fullduplex.errors import InputError
from fullduplex.plugins import FAMILIES, Plugin
from fullduplex.reporting import listing
from fullduplex.reporting.listing import list_text, missing_extra, summary
from fullduplex.runs.export import kinds


def test_every_family_is_listed_with_its_members() -> None:
    text = list_text()
    assert [line for line in text.splitlines() if line and not line.startswith(" ")] == list(FAMILIES)
    for family in FAMILIES:
        assert all(f"  {member.name} " in text for member in plugins.members(family))


def test_a_benchmark_is_listed_with_its_variants() -> None:
    assert "@anchored" in list_text("benchmarks") and "Full-Duplex-Bench v1.0" in list_text("benchmarks")


def test_the_built_in_exporters_that_are_listed_are_those_there_are() -> None:
    assert tuple(name for name, _ in listing._BUILT_IN["exporters"]) == kinds()[:5]


def test_a_member_whose_library_is_not_installed_says_which_extra_to_add(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(listing, "version", version)
    assert "add fullduplex[dask]" in list_text("engines")


def test_a_member_that_needs_no_extra_is_installed() -> None:
    assert missing_extra(Plugin("engines", "here", "fullduplex.engines:here", "fullduplex")) == ""


def test_weights_are_told_by_whoever_knows_of_them() -> None:
    text = list_text("detectors", weights=lambda plugin: "present" if plugin.name == "silero" else "")
    assert [line.split()[0] for line in text.splitlines() if "weights present" in line] == ["silero"]


def test_a_summary_is_read_without_importing() -> None:
    code = (
        "import sys; from fullduplex.reporting.listing import list_text; list_text();"
        "heavy = {'onnxruntime', 'ray', 'distributed', 'faster_whisper', 'scipy', 'pyarrow', 'soundfile'};"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("target", ["no.such.module:x", "fullduplex.engines:nothing", "math:sin", "fullduplex"])
def test_a_member_that_says_nothing_of_itself_has_a_summary_all_the_same(target: str) -> None:
    assert isinstance(summary(Plugin("engines", "x", target, "other")), str)


def test_an_unknown_family_names_the_known_ones() -> None:
    with pytest.raises(InputError, match="one of detectors, recognisers"):
        list_text("detector")


def test_every_system_has_a_sentence_of_its_own() -> None:
    told = {each.name: summary(each) for each in plugins.members("systems") if each.package == "fullduplex"}
    assert len(set(told.values())) == len(told) and all(told.values())
    assert told["personaplex"].startswith("PersonaPlex: ") and told["vita"].startswith("VITA-1.5: ")
    assert told["livekit"].startswith("LiveKit Agents: ")


@pytest.mark.parametrize(
    "line", ["from .deep.er import Its", "from pack.deep.er import Its", "from pack.deep.er import X as Its"]
)
def test_a_driver_is_described_where_it_is_defined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    (tmp_path / "pack" / "deep").mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text(f'"""Many systems."""\n{line}\n')
    (tmp_path / "pack" / "deep" / "er.py").write_text('"""Its: this one."""\nclass Its:\n    """A talk."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    spec = ModuleSpec("pack", None, origin=str(tmp_path / "pack" / "__init__.py"))
    monkeypatch.setattr(listing, "find_spec", lambda name: spec)
    assert summary(Plugin("systems", "its", "pack:Its", "other")) == "Its: this one."
