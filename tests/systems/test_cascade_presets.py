"""Cascades by name: what each is made of, what overrules it, what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fullduplex import plugins
from fullduplex.errors import FullDuplexError, InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.systems.build import build
from fullduplex.systems.cascade import Cascade
from fullduplex.systems.cascade.parts import part_spec
from fullduplex.systems.cascade.presets import PRESETS, cascade


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the parts unmade: their files are nobody's here."""
    monkeypatch.setattr(Cascade, "_check_languages", lambda _: None)


@pytest.mark.usefixtures("parts")
@pytest.mark.parametrize(("name", "language"), [("french-fdb-fr", "fr"), ("french-fdb-en", "en")])
def test_the_published_cascades_are_vosk_qwen_and_piper(name: str, language: str) -> None:
    made = cascade(name, vosk="models/vosk", piper="voices/one.onnx")
    assert made.language == language
    assert part_spec(made.recogniser, "recogniser") == Spec("vosk", {"model": "models/vosk", "language": language})
    assert part_spec(made.voice, "voice") == Spec("piper", {"voice": "voices/one.onnx"})
    model = part_spec(made.model, "model")
    assert (model.name, model.options["model"], model.options["extra"]) == (
        "openai-compatible", "qwen3:8b", {"think": False},
    )  # fmt: skip
    assert model.options["url"] == "http://localhost:11434/v1"


@pytest.mark.usefixtures("parts")
def test_both_languages_have_one_structure() -> None:
    one, other = (cascade(name, vosk="v", piper="p.onnx") for name in ("french-fdb-fr", "french-fdb-en"))
    assert [part_spec(c.recogniser, "r").name for c in (one, other)] == ["vosk", "vosk"]
    assert (one.model, one.turns, one.silence) == (other.model, other.turns, other.silence)


@pytest.mark.usefixtures("parts")
def test_an_option_overrules_the_preset() -> None:
    made = cascade("french-fdb-fr", vosk="v", piper="p.onnx", silence=0.7, language="en", llm="qwen3:4b")
    assert (made.silence, made.language) == (0.7, "en")
    assert part_spec(made.model, "model").options["model"] == "qwen3:4b"


@pytest.mark.usefixtures("parts")
def test_a_part_of_ones_own_needs_no_file_of_the_preset() -> None:
    made = cascade("french-fdb-fr", piper="p.onnx", recogniser="parakeet:version=v3")
    assert made.recogniser == "parakeet:version=v3"


@pytest.mark.parametrize("name", [name for name, preset in PRESETS.items() if preset.published])
@pytest.mark.parametrize(("given", "lacks"), [({"piper": "p.onnx"}, "vosk"), ({"vosk": "folder"}, "piper")])
def test_a_file_that_lacks_is_named_in_one_sentence(name: str, given: dict[str, str], lacks: str) -> None:
    with pytest.raises(InputError, match=f"cascade, {lacks}"):
        cascade(name, **given)


@pytest.mark.parametrize(
    "options",
    [
        {"preset": "french-fdb"},
        {"vosk": "folder"},
        {"preset": "offline-fr", "piper": "p.onnx"},
        {"preset": "french-fdb-fr", "vosk": "a;language=en", "piper": "p.onnx"},
        {"preset": "french-fdb-fr", "vosk": "a", "piper": "p=q.onnx"},
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="cascade"):
        cascade(**options)


def test_a_command_line_names_a_preset(tmp_path: Path) -> None:
    with pytest.raises(FullDuplexError, match=r"no folder|vosk"):
        build(Spec.parse(f"cascade:preset=french-fdb-fr,vosk={tmp_path / 'none'},piper=p.onnx"), tmp_path)


def test_an_option_that_there_is_not_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="no option 'langage'; it has: preset, vosk"):
        plugins.make("systems", "cascade", {"langage": "fr"}, tmp_path)


@pytest.mark.weights
@pytest.mark.parametrize(("name", "language"), [("offline-fr", "fr"), ("offline-en", "en")])
def test_an_offline_preset_hears_and_speaks_its_language(name: str, language: str) -> None:
    try:
        made = cascade(name)
        found = made.parts
    except PluginError as error:
        pytest.skip(str(error))
    assert language in found.recogniser.languages
    assert found.turns is not None
