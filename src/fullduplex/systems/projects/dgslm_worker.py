"""dGSLM's three models in fairseq's own Python, asked over a pipe: run by its path, in fairseq's folder.

It imports nothing of this package, and keeps to what an old Python knows. A request and its answer are a line of JSON:
``{"do": "encode", "samples": …}`` gives ``{"units": […]}``; ``{"do": "go_on", "user": […], "system": […],
"count": n}`` gives ``{"user": […], "system": […]}`` of ``n`` units; ``{"do": "decode", "units": […]}`` gives
``{"samples": …}``. Samples are float32, little-endian, 16 kHz, in base64. What goes wrong is ``{"error": sentence}``.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import os
import sys
import tempfile
import wave
from array import array
from pathlib import Path
from typing import Any, TextIO

RATE = 16000


def main() -> None:
    """Load the models, say that they are there, and answer until the pipe ends."""
    parser = argparse.ArgumentParser()
    for name in ("weights", "dictionaries", "user", "speaker", "device"):
        parser.add_argument("--" + name, required=True)
    given = parser.parse_args()
    # What a library prints is no answer.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        models = Models(given)
        _answer(answers, {"ready": True})
    except Exception as error:  # noqa: BLE001 - whoever asked is told
        _answer(answers, {"error": _told(error)})
        return
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            _answer(answers, getattr(models, asked.pop("do"))(**asked))
        except Exception as error:  # noqa: BLE001 - whoever asked is told
            _answer(answers, {"error": _told(error)})


class Models:
    """HuBERT with its units, the dialogue model, and the vocoder."""

    def __init__(self, given: argparse.Namespace) -> None:
        # The folder that it is started in is fairseq's.
        sys.path.insert(0, str(Path.cwd()))
        self.torch: Any = importlib.import_module("torch")
        utils: Any = importlib.import_module("examples.textless_nlp.dgslm.dgslm_utils")
        speech_dlm: Any = importlib.import_module("fairseq.models.speech_dlm")
        cuda = given.device == "cuda" or (given.device == "auto" and self.torch.cuda.is_available())
        names = ("hubert_fisher.pt", "hubert_fisher_km_500.bin", "hifigan_vocoder", "config.json")
        hubert, means, vocoder, config = (str(Path(given.weights, name)) for name in names)
        self.hubert = utils.HubertTokenizer(hubert, 12, means, use_cuda=cuda)
        self.vocoder = utils.HifiganVocoder(vocoder, config, use_cuda=cuda)
        self.model = speech_dlm.SpeechDLM.from_pretrained(given.weights, "speech_dlm_base.pt", given.dictionaries)
        self.model.eval()
        if cuda:
            self.model.cuda()
        self.user, self.system = ("unitA", "unitB") if given.user == "A" else ("unitB", "unitA")
        self.speaker = int(given.speaker)

    def encode(self, samples: str) -> dict[str, Any]:
        """Return the units of one voice."""
        sound = array("f")
        sound.frombytes(base64.b64decode(samples))
        whole = array("h", [max(-32768, min(32767, round(sample * 32768))) for sample in sound])
        with tempfile.TemporaryDirectory(prefix="fullduplex-") as folder:
            path = str(Path(folder, "heard.wav"))
            with wave.open(path, "wb") as file:
                file.setnchannels(1)
                file.setsampwidth(2)
                file.setframerate(RATE)
                file.writeframes(whole.tobytes())
            return {"units": [int(unit) for unit in self.hubert.wav2code(path).split()]}

    def go_on(self, user: list[int], system: list[int], count: int) -> dict[str, Any]:
        """Return the next units of both voices."""
        given = {self.user: " ".join(map(str, user)), self.system: " ".join(map(str, system))}
        length = len(user) + count
        made = self.model.sample([given], max_len_a=0, max_len_b=length, min_len=length, sampling=True, beam=1)[0]
        units = {side: [int(u) for u in made[side].split()][len(user) : length] for side in (self.user, self.system)}
        return {"user": units[self.user], "system": units[self.system]}

    def decode(self, units: list[int]) -> dict[str, Any]:
        """Return the sound of units."""
        sound = array("f", [float(s) for s in self.vocoder.code2wav(units, speaker_id=self.speaker).reshape(-1)])
        return {"samples": base64.b64encode(sound.tobytes()).decode("ascii")}

    def seed(self, seed: int) -> dict[str, Any]:
        """Let sampling begin anew."""
        self.torch.manual_seed(seed)
        return {}


def _answer(file: TextIO, value: dict[str, Any]) -> None:
    file.write(json.dumps(value) + "\n")
    file.flush()


def _told(error: Exception) -> str:
    return type(error).__name__ + (": " + str(error) if str(error) else "")


if __name__ == "__main__":
    main()
