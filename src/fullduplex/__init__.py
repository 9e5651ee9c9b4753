"""Measure voices that listen while they speak."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["FullDuplexError", "Scores", "run", "score", "sketch"]

if TYPE_CHECKING:
    from fullduplex.door import Scores, run, score
    from fullduplex.errors import FullDuplexError
    from fullduplex.model.sketch import sketch

_WHERE = {
    "FullDuplexError": "fullduplex.errors",
    "Scores": "fullduplex.door",
    "run": "fullduplex.door",
    "score": "fullduplex.door",
    "sketch": "fullduplex.model.sketch",
}


def __getattr__(name: str) -> Any:
    # Lazy: `import fullduplex` must not load what reads audio or draws tables.
    if name not in _WHERE:
        raise AttributeError(f"module 'fullduplex' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
