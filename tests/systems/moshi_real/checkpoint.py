"""Write a checkpoint of random weights that Kyutai's own server loads and runs on a CPU: ``python checkpoint.py DIR``.

It needs the packages ``moshi``, ``torch``, ``safetensors`` and ``sentencepiece``. Nothing of a published model is in
it: what the server then says is noise, at the times and in the messages in which it says everything.
"""

from __future__ import annotations

import copy
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

PIECES = 48
CODES = 64
#: The codec's output layer is made so much louder that the noise is heard.
LOUDER = 4.0
SENTENCES = (
    "what time does the museum open on sunday",
    "she left her umbrella on the train again",
    "a quiet garden behind the old stone house",
    "we could take the bus or walk along the river",
)


def mimi_config(loaders: Any) -> dict[str, Any]:
    """Return a codec with the published shape (24 kHz, 12.5 frames a second) and few weights."""
    config: dict[str, Any] = copy.deepcopy(loaders._mimi_config)
    config["seanet"].update(dimension=32, n_filters=4)
    config["quantizer"].update(dimension=16, n_q=8, bins=CODES, input_dimension=32, output_dimension=32)
    config["transformer"].update(
        d_model=32, num_heads=2, num_layers=1, dim_feedforward=64, input_dimension=32, output_dimensions=[32]
    )
    return config


def moshi_config(loaders: Any, pieces: int) -> dict[str, Any]:
    """Return a language model with the published streams and delays and few weights."""
    config: dict[str, Any] = copy.deepcopy(loaders._lm_kwargs)
    config.update(dim=128, text_card=pieces, card=CODES, num_heads=4, num_layers=2, context=250)
    config.update(depformer_dim=64, depformer_dim_feedforward=128, depformer_num_heads=2, depformer_num_layers=1)
    return config


def write(folder: Path) -> None:
    """Write the checkpoint, seeded."""
    torch: Any = import_module("torch")
    loaders: Any = import_module("moshi.models.loaders")
    save: Any = import_module("safetensors.torch").save_file
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    codec, model = mimi_config(loaders), moshi_config(loaders, _pieces(folder))
    with torch.no_grad():
        mimi = loaders.get_mimi(None, codec, num_codebooks=8)
        weights = dict(mimi.state_dict())
        last = [name for name in weights if name.startswith("decoder.") and weights[name].ndim == 3][-1]
        weights[last] = weights[last] * LOUDER
        for name, value in weights.items():
            # The code books start empty, and empty ones are all alike.
            if name.endswith("embedding_sum"):
                weights[name] = torch.randn_like(value)
        save({name: value.contiguous().clone() for name, value in weights.items()}, str(folder / "mimi.safetensors"))
        language = loaders.get_moshi_lm(None, dict(model), device="cpu", dtype=torch.float32)
        for value in language.parameters():
            if value.ndim > 1:
                value.normal_(0.0, 0.05)
        kept = {name: value.contiguous().clone() for name, value in language.state_dict().items()}
        save(kept, str(folder / "model.safetensors"))
    (folder / "mimi.json").write_text(json.dumps(codec))
    named = {"mimi_config_name": f"file://{(folder / 'mimi.json').resolve()}", "model_type": "moshi"}
    (folder / "config.json").write_text(json.dumps(model | named))


def _pieces(folder: Path) -> int:
    """Write the pieces that text is made of; return how many there are."""
    trainer: Any = import_module("sentencepiece").SentencePieceTrainer
    text = folder / "sentences.txt"
    text.write_text("\n".join(SENTENCES * 20))
    trainer.train(
        input=str(text), model_prefix=str(folder / "pieces"), vocab_size=PIECES, hard_vocab_limit=False, minloglevel=2
    )
    return len((folder / "pieces.vocab").read_text().splitlines())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
