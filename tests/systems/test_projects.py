"""Systems that are a project's folder: the project's own command line, really run, on stand-ins that hear and speak."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from fullduplex.cli import main
from fullduplex.data import audio
from fullduplex.driving.clock import Clock, run_on
from fullduplex.driving.cues import at
from fullduplex.driving.drive import drive
from fullduplex.driving.link import Note, System
from fullduplex.driving.talk import BrokenTalk, Talk
from fullduplex.driving.user import Turn
from fullduplex.errors import ConversationError, InputError
from fullduplex.model.spans import seconds
from fullduplex.model.spec import Spec
from fullduplex.systems.build import access_of, build
from fullduplex.systems.projects import BayLingDuplex, Dgslm, Voila
from fullduplex.systems.projects.dgslm import DICTIONARIES
from fullduplex.systems.projects.dgslm import WEIGHTS as DGSLM_WEIGHTS

RATE = 16_000
#: A name that a shell, a template or a careless path would stumble over.
ODD = 'the model\'s {input} $(touch x); 100% "home"'

VOILA = """
import argparse, json, os, wave
parser = argparse.ArgumentParser()
for name, default in (("instruction", ""), ("input-text", None), ("input-audio", None), ("result-path", "output"),
                      ("ref-audio", "examples/test1.mp3"), ("model-name", "maitrix-org/Voila-chat"),
                      ("audio-tokenizer-path", ""), ("task-type", "chat_aiao")):
    parser.add_argument("--" + name, type=str, default=default)
args = parser.parse_args()
assert args.model_name == "maitrix-org/Voila-autonomous-preview" and args.task_type == "chat_aiao_auto"
json.dump(vars(args), open("asked.json", "w"))
os.makedirs(args.result_path, exist_ok=True)
with wave.open(args.input_audio) as given:
    frames = given.readframes(given.getnframes())
with wave.open(args.result_path + "/out.wav", "wb") as left:
    left.setnchannels(1); left.setsampwidth(2); left.setframerate(16000)
    left.writeframes(frames[2 * 8000 : 2 * 24000])
"""

# Ends an answer of two blocks as soon as the user was heard for a block and then was still.
BAYLING = """
import argparse, array, json, math, os, wave
parser = argparse.ArgumentParser()
for name in ("model-path", "speech-tokenizer-path", "input-audio"):
    parser.add_argument("--" + name, required=True)
parser.add_argument("--decoder-path"); parser.add_argument("--output-json"); parser.add_argument("--output-audio")
parser.add_argument("--interleave-ratio", default="10:5:10")
parser.add_argument("--max-duration", type=float, default=60.0)
for name in ("temperature", "top-p"):
    parser.add_argument("--" + name, type=float, default=0.6)
parser.add_argument("--max-epad-count", type=int, default=1)
parser.add_argument("--synthesize", choices=["response", "all"], default="response")
args = parser.parse_args()
assert all(os.path.isdir(p) for p in (args.model_path, args.speech_tokenizer_path, args.decoder_path))
with wave.open(args.input_audio) as given:
    heard = array.array("h", given.readframes(given.getnframes()))
heard.extend([0] * max(0, int(args.max_duration * 16000) - len(heard)))
blocks = len(heard[: int(args.max_duration * 16000)]) // 12800
loud = [max(map(abs, heard[n * 12800 : (n + 1) * 12800])) > 1000 for n in range(blocks)]
starts = [n for n in range(1, blocks) if loud[n - 1] and not loud[n]][: args.max_epad_count]
segments = [{"text": "yes", "start_block": n, "end_block": n + 1, "start_time": 0.0} for n in starts]
sound = array.array("h", [int(3000 * math.sin(n * 0.02)) for n in range(int(blocks * 0.8 * 22050))])
if args.synthesize == "response":
    sound = sound[:22050]
with wave.open(args.output_audio, "wb") as left:
    left.setnchannels(1); left.setsampwidth(2); left.setframerate(22050)
    left.writeframes(sound.tobytes())
json.dump({"segments": segments, "audio_token_count": blocks * 10}, open(args.output_json, "w"))
"""

# Its units are the loudness of 20 ms; it says again what it heard a chunk before, and guesses nonsense of the user.
FAIRSEQ = {
    "torch.py": """
class cuda:
    is_available = staticmethod(lambda: False)
def manual_seed(seed):
    print("seeded", seed)  # on stdout, where the answers go
""",
    "fairseq/__init__.py": "",
    "fairseq/models/__init__.py": "",
    "fairseq/models/speech_dlm/__init__.py": """
import os
class SpeechDLM:
    @classmethod
    def from_pretrained(cls, model_name_or_path, checkpoint_file, data_name_or_path):
        assert os.path.isfile(os.path.join(model_name_or_path, checkpoint_file))
        assert os.path.isfile(os.path.join(data_name_or_path, "dict.unitB.txt"))
        return cls()
    def eval(self):
        return self
    def sample(self, given, max_len_a, max_len_b, min_len, sampling, beam):
        made = []
        for one in given:
            user, system = one["unitA"].split(), one["unitB"].split()
            assert len(user) == len(system) < max_len_b == min_len
            count = max_len_b - len(user)
            said = (user[-count:] + ["0"] * count)[:count]
            made.append({"unitA": " ".join(user + ["99"] * count), "unitB": " ".join(system + said)})
        return made
""",
    "examples/textless_nlp/dgslm/dgslm_utils.py": """
import os, wave
import numpy as np
class HubertTokenizer:
    def __init__(self, hubert_path, hubert_layer, km_path, use_cuda=True):
        assert os.path.isfile(hubert_path) and os.path.isfile(km_path) and hubert_layer == 12 and not use_cuda
    def wav2code(self, path, channel_id=1):
        with wave.open(path) as file:
            sound = np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
        blocks = sound[: len(sound) // 320 * 320].reshape(-1, 320)[:-1]
        return " ".join(str(round(float(np.abs(block).max()) * 100)) for block in blocks)
class HifiganVocoder:
    def __init__(self, vocoder_path, vocoder_cfg_path, use_cuda=True):
        assert os.path.isfile(vocoder_path) and os.path.isfile(vocoder_cfg_path)
    def code2wav(self, code, speaker_id=0, pred_dur=False):
        assert speaker_id == 4
        return np.repeat(np.asarray(code, np.float32) / 100, 320)
""",
}


def folder(path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def voila(tmp_path: Path) -> Path:
    return folder(tmp_path / ODD, {"infer.py": VOILA})


@pytest.fixture
def bayling(tmp_path: Path) -> Path:
    home = folder(
        tmp_path / ODD,
        {"bayling_duplex/__init__.py": "", "bayling_duplex/duplex.py": "", "bayling_duplex/cli.py": BAYLING},
    )
    for name in ("bayling_duplex_model", "speech_tokenizer", "speech_decoder"):
        (home / "models" / name).mkdir(parents=True)
    return home


@pytest.fixture
def fairseq(tmp_path: Path) -> Path:
    home = folder(tmp_path / ODD, FAIRSEQ)
    for name in (*DGSLM_WEIGHTS, *DICTIONARIES):
        (home / name).write_text("{}")
    return home


@pytest.fixture
def dgslm(fairseq: Path) -> Iterator[Any]:
    """Make systems whose worker is ended when the test is."""
    made: list[Dgslm] = []

    def make(**options: Any) -> Dgslm:
        made.append(Dgslm(str(fairseq), sys.executable, **options))
        return made[-1]

    yield make
    for system in made:
        system._worker().stop()


def talk(system: System, *, clock: Clock = "step-algorithmic", lasts: float = 4.0, prompt: str = "") -> Talk:
    tone = 0.25 * np.sin(np.arange(RATE) * 0.1).astype(np.float32)
    return run_on(clock, drive(system, [Turn(tone, at(seconds(0.5)))], length=seconds(lasts), prompt=prompt))


def sounding(found: Talk) -> tuple[float, float]:
    loud = np.flatnonzero(np.abs(found.system) > 0.02)
    return round(float(loud[0]) / found.rate, 2), round(float(loud[-1]) / found.rate, 2)


def answer(found: Talk) -> Any:
    return next(note.data for note in found.notes if isinstance(note, Note) and note.kind == "answer")


def settings(found: Talk) -> Any:
    assert found.ready is not None
    return found.ready.settings


def test_voila_is_its_projects_script_and_sounds_after_the_input(voila: Path) -> None:
    found = talk(Voila(str(voila), sys.executable, declared=0.5), lasts=3.0)
    assert sounding(found) == (3.5, 4.5)
    assert answer(found)["imposed"] and settings(found)["fed"] == "whole"


@pytest.mark.parametrize("prompt", ["--input-text", "Sois bref\u00a0; $(rm -r x) `x` \"'\n{output}", ""])
def test_a_prompt_reaches_the_script_as_it_is(voila: Path, prompt: str) -> None:
    talk(Voila(str(voila), sys.executable), prompt=prompt)
    assert json.loads((voila / "asked.json").read_text())["instruction"] == prompt
    assert not (voila / "x").exists()


def test_voila_may_be_aligned_where_its_script_writes_silence(voila: Path) -> None:
    found = talk(Voila(str(voila), sys.executable, placement="aligned"))
    assert sounding(found) == (0.0, 1.0) and not answer(found)["imposed"]


def test_a_changed_script_is_another_system(voila: Path) -> None:
    before = Voila(str(voila), sys.executable).spec
    (voila / "infer.py").write_text(VOILA + "\n# writes silence")
    after = Voila(str(voila), sys.executable).spec
    assert before.options == after.options and before.revision != after.revision
    assert "model" in before.options and "home" not in before.options


def test_a_script_that_fails_ends_the_talk_in_its_own_last_words(voila: Path) -> None:
    (voila / "infer.py").write_text("raise SystemExit('CUDA is not there')")
    with pytest.raises(BrokenTalk, match=r"voila's infer.py ended with code 1: CUDA is not there"):
        talk(Voila(str(voila), sys.executable))
    (voila / "infer.py").write_text("")
    with pytest.raises(BrokenTalk, match=r"voila's infer.py ended well but left no audio at out.wav"):
        talk(Voila(str(voila), sys.executable))


def test_a_python_that_is_not_there_ends_the_talk_in_a_sentence(voila: Path) -> None:
    with pytest.raises(BrokenTalk, match=r"voila's infer.py could not be started: No such file"):
        talk(Voila(str(voila), "./nowhere/python"))


def test_a_run_of_voila_is_one_command(voila: Path, tmp_path: Path) -> None:
    home = tmp_path / "Voila"
    voila.rename(home)
    item = tmp_path / "items" / "candor_turn_taking" / "1"
    item.mkdir(parents=True)
    tone = (0.3 * np.sin(np.arange(RATE) * 0.1)).astype(np.float32)
    audio.write(item / "input.wav", np.concatenate([tone, np.zeros(RATE, np.float32)]), RATE)
    (item / "turn_taking.json").write_text(json.dumps([{"text": "[TURN-TAKING]", "timestamp": [1.0, 1.0]}]))
    system = f"voila:home={home},python={sys.executable},preset=duplexact"
    arguments = [
        "run", "fdb-1.0", "--system", system, "--data", tmp_path / "items", "--out", tmp_path / "run",
        "--recogniser", "none", "--detector", "energy", "--no-page",
    ]  # fmt: skip
    found = CliRunner().invoke(main, list(map(str, arguments)))
    assert found.exit_code == 0, found.output
    told = json.loads((tmp_path / "run" / "run.json").read_text())
    assert told["access"] == "open"
    assert told["driven"]["system"]["options"]["model"] == "maitrix-org/Voila-autonomous-preview"
    kept = json.loads((tmp_path / "run" / "trials" / "candor_turn_taking" / "1" / "talk.json").read_text())
    assert "model_verified" in json.dumps(kept)


def test_bayling_sounds_from_the_end_of_the_block_in_which_it_was_decided(bayling: Path) -> None:
    found = talk(BayLingDuplex(str(bayling), sys.executable))
    # The user is heard until 1.5 s, in block 1; block 2, from 1.6 s, is the first that is still.
    assert sounding(found) == (2.4, 4.0)
    assert not answer(found)["imposed"]
    assert answer(found)["segments"] == [{"text": "yes", "at": 2.4}]


def test_bayling_hears_the_end_of_an_input_that_is_no_whole_block(bayling: Path) -> None:
    tone = 0.25 * np.sin(np.arange(RATE * 3) * 0.1).astype(np.float32)
    system = BayLingDuplex(str(bayling), sys.executable)
    # Three blocks and a little: the fourth is padded, is not loud at its end, and is heard all the same.
    assert system.answer(tone[: 38_400 + 320]).facts["segments"] == []
    still = np.concatenate([tone[:25_600], np.zeros(320, np.float32)])
    assert system.answer(still).facts["segments"] == [{"text": "yes", "at": 2.4}]


def test_a_bayling_that_says_nothing_is_silent(bayling: Path) -> None:
    found = run_on("step-algorithmic", drive(BayLingDuplex(str(bayling), sys.executable), [], length=seconds(2)))
    assert not np.abs(found.system).max() > 0


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ('json.dump({"segments": []}, open(args.output_json, "w"))', "left a result.json without audio_token_count"),
        (
            'json.dump({"segments": [{"text": "", "start_block": -1, "end_block": 2}], "audio_token_count": 50},'
            ' open(args.output_json, "w"))',
            "left a result.json without",
        ),
        (
            'json.dump({"segments": [], "audio_token_count": 500}, open(args.output_json, "w"))',
            r"left 4.00 s of sound and tells of 40.00 s: its segments cannot be placed",
        ),
    ],
)
def test_what_cannot_be_placed_is_not_placed(bayling: Path, more: str, sentence: str) -> None:
    (bayling / "bayling_duplex" / "cli.py").write_text(f"{BAYLING}\n{more}\n")
    with pytest.raises(BrokenTalk, match=sentence):
        talk(BayLingDuplex(str(bayling), sys.executable))


def test_dgslm_hears_a_chunk_and_sounds_while_the_next_is_heard(dgslm: Any) -> None:
    found = talk(dgslm(frame=0.5))
    # What is heard from 0.5 s to 1.5 s is said from 1.0 s to 2.0 s; a chunk's units end 20 ms before it.
    begins, ends = sounding(found)
    assert begins == pytest.approx(1.0, abs=0.03) and ends == pytest.approx(2.0, abs=0.03)
    assert settings(found)["silence"] == 0 and settings(found)["fed"] == "streamed"


def test_chunks_of_dgslm_join_without_a_gap(dgslm: Any) -> None:
    found = talk(dgslm(frame=0.2))
    begins, ends = (round(time * found.rate) for time in sounding(found))
    assert (np.abs(found.system[begins + 320 : ends - 320]) > 0.02).all()
    assert ends - begins == pytest.approx(found.rate, abs=800)


def test_dgslms_models_are_loaded_once_for_all_talks(dgslm: Any) -> None:
    system = dgslm()
    talk(system)
    first = system._worker()._process
    assert first is not None and first.poll() is None
    talk(system)
    assert system._worker()._process is first


def test_a_continuation_goes_on_from_the_users_last_sound(dgslm: Any) -> None:
    found = talk(dgslm(mode="continuation"))
    # At 1.5 s it says again all that it was given: half a second of silence, then a second of sound; then nothing.
    begins, ends = sounding(found)
    assert begins == pytest.approx(2.0, abs=0.03) and ends == pytest.approx(3.0, abs=0.03)
    assert answer(found)["imposed"] and answer(found)["at"] == pytest.approx(1.5, abs=0.01)
    assert settings(found)["silent_while_the_user_speaks"] == "by construction"


def test_a_continuation_needs_something_to_go_on_from_and_for(dgslm: Any) -> None:
    with pytest.raises(BrokenTalk, match="ends with the user's last sound"):
        talk(dgslm(mode="continuation"), lasts=1.2)
    with pytest.raises(BrokenTalk, match="shorter than a unit of sound"):
        run_on("step-algorithmic", drive(dgslm(mode="continuation"), [], length=seconds(1)))


def test_a_dgslm_that_fails_says_what_its_models_said(dgslm: Any, fairseq: Path) -> None:
    path = fairseq / "examples/textless_nlp/dgslm/dgslm_utils.py"
    path.write_text("raise ImportError('no libcudart here')")
    with pytest.raises(ConversationError, match="dgslm's models: ImportError: no libcudart here"):
        talk(dgslm())
    path.write_text("import os, sys; sys.stderr.write('out of memory\\n'); sys.stderr.flush(); os._exit(1)")
    with pytest.raises(ConversationError, match="dgslm's models ended: out of memory"):
        talk(dgslm())


def test_a_step_that_never_comes_back_ends_its_talk_and_not_the_next(dgslm: Any, fairseq: Path) -> None:
    path = fairseq / "fairseq/models/speech_dlm/__init__.py"
    whole = path.read_text()
    path.write_text(whole.replace("        made = []\n", "        made = []\n        import time; time.sleep(60)\n"))
    system = dgslm(timeout=3.0)
    with pytest.raises(BrokenTalk, match=r"dgslm did not come back within 3 s"):
        talk(system)
    path.write_text(whole)
    assert len(talk(system).system)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("voila", {}, "home: found none, expected the folder of the project maitrix-org/Voila"),
        ("voila", {"home": "nowhere"}, "home: found nowhere, which is no folder, expected the folder of the project"),
        ("voila", {"home": "."}, r"found \., which has no infer.py"),
        ("voila", {"home": "V", "model": "maitrix-org/Voila-chat"}, "expected an autonomous checkpoint"),
        ("voila", {"home": "V", "placement": "before"}, "placement: found before"),
        ("voila", {"home": "V", "timeout": 0}, "expected seconds above 0"),
        ("voila", {"home": "V", "python": ""}, "expected the project's Python"),
        ("bayling-duplex", {"home": "."}, "which has no bayling_duplex/cli.py"),
        ("bayling-duplex", {"home": "B"}, "weights: found .*models, which has no bayling_duplex_model"),
        ("bayling-duplex", {"home": "B", "ratio": "10:5"}, "expected three whole numbers"),
        ("bayling-duplex", {"home": "B", "ratio": "10:5:20"}, "the first and the last alike"),
        ("dgslm", {"home": "."}, "which has no fairseq/models/speech_dlm/__init__.py"),
        ("dgslm", {"home": "F"}, "weights: found .*, which has no hubert_fisher.pt"),
        ("dgslm", {"home": "F", "frame": 0.05}, "whole in 20 ms"),
        ("dgslm", {"home": "F", "mode": "both"}, "mode: found both, expected steps or continuation"),
    ],
)
def test_what_is_missing_is_said_in_a_sentence(
    name: str, options: dict[str, Any], sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder(tmp_path / "V", {"infer.py": ""})
    folder(tmp_path / "B", {"bayling_duplex/cli.py": "", "bayling_duplex/duplex.py": ""})
    folder(tmp_path / "F", FAIRSEQ)
    with pytest.raises(InputError, match=sentence):
        build(Spec(name, options), tmp_path)


def test_all_three_can_be_had_by_everybody() -> None:
    assert [access_of(Spec(name)) for name in ("voila", "bayling-duplex", "dgslm")] == ["open"] * 3
