"""The networks of perceived quality, each loaded once in a process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fullduplex.once import once_per_process
from fullduplex.providers import models, weights


def network(model: str, file: str, cache: Path) -> Any:
    """Return the ONNX session of one file of a model in ``cache``.

    One thread and one after the other: the order of sums, and so every bit of a result, stays
    the same however many cores there are. Raises :class:`PluginError` where the weights are not at hand.
    """
    return _session(str(weights.path(model, cache) / file))


def revision(model: str) -> str:
    """Return which bytes a model is: its name, and the first twelve digits of each file's SHA-256."""
    return f"{model} " + " ".join(file.sha256[:12] for file in models.model(model).files)


@once_per_process
def _session(path: str) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # old exports make it warn about names that nothing uses
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
