"""Run ``moshi.server`` itself on a CPU: ``python serve.py DIR PORT``, DIR as ``checkpoint.py`` wrote it.

Its warm-up waits for a GPU whatever the device is; without one there is nothing to wait for. Nothing else is changed.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib import import_module
from pathlib import Path
from typing import Any


def main(folder: Path, port: str) -> None:
    """Serve until ended."""
    os.environ |= {"NO_TORCH_COMPILE": "1", "NO_CUDA_GRAPH": "1", "HF_HUB_OFFLINE": "1"}
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    torch.cuda.synchronize = lambda *_: None
    given = {
        "--host": "127.0.0.1",
        "--port": port,
        "--device": "cpu",
        "--static": "none",
        "--config-path": str(folder / "config.json"),
        "--moshi-weight": str(folder / "model.safetensors"),
        "--mimi-weight": str(folder / "mimi.safetensors"),
        "--tokenizer": str(folder / "pieces.model"),
    }
    sys.argv = ["moshi.server", "--half", *(part for pair in given.items() for part in pair)]
    # The module runs on import; this is how `python -m moshi.server` runs it.
    runpy.run_module("moshi.server", run_name="__main__")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
