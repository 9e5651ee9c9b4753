"""Vosk as a recogniser: what it is given, what is read from it, and what a folder without a model comes to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fullduplex.errors import InputError, PluginError
from fullduplex.listening.recognisers.vosk import Vosk
from fullduplex.model.speech import Token

vosk = pytest.importorskip("vosk")


def test_a_folder_without_a_model_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="holds no model"):
        Vosk(str(tmp_path)).recognise(np.zeros(16_000, np.float32), 16_000)


@pytest.mark.parametrize(("model", "kind"), [("", InputError), ("/nowhere", PluginError)])
def test_no_folder_is_refused(model: str, kind: type[Exception]) -> None:
    with pytest.raises(kind, match="folder"):
        Vosk(model)


def test_words_of_all_utterances_keep_their_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[bytes] = []

    class Decoder:
        def __init__(self, model: Any, rate: int) -> None:
            assert rate == 16_000

        def SetWords(self, on: bool) -> None:  # noqa: N802
            assert on

        def AcceptWaveform(self, pcm: bytes) -> bool:  # noqa: N802
            fed.append(pcm)
            return len(fed) == 5

        def Result(self) -> str:  # noqa: N802
            return json.dumps({"result": [{"word": "good", "start": 0.1, "end": 0.4, "conf": 0.98765}], "text": "good"})

        def FinalResult(self) -> str:  # noqa: N802
            return json.dumps({"result": [{"word": "morning", "start": 0.6, "end": 1.5, "conf": 1}], "text": "morning"})

    monkeypatch.setattr(vosk, "Model", lambda path: path)
    monkeypatch.setattr(vosk, "KaldiRecognizer", Decoder)
    sound = np.full(24_000, 2.0, np.float32)
    heard = Vosk(str(tmp_path)).recognise(sound, 24_000)
    assert heard.tokens == (Token("good", 0.1, 0.4), Token("morning", 0.6, 1.0))
    assert heard.confidences == (0.9877, 1.0) and heard.placed == "recogniser"
    # One second at 16 kHz, clipped and not wrapped round.
    pcm = np.frombuffer(b"".join(fed), "<i2")
    assert len(pcm) == 16_000 and pcm[8_000] == 32_767


def test_another_language_than_the_models_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="language"):
        Vosk(str(tmp_path), "fr").recognise(np.zeros(160, np.float32), 16_000, "en")


def test_the_spec_tells_one_model_from_another(tmp_path: Path) -> None:
    before = Vosk(str(tmp_path)).spec
    (tmp_path / "am").mkdir()
    (tmp_path / "am" / "final.mdl").write_bytes(b"1")
    one = Vosk(str(tmp_path)).spec
    (tmp_path / "am" / "final.mdl").write_bytes(b"2")
    assert len({before.digest, one.digest, Vosk(str(tmp_path)).spec.digest}) == 3
