"""What tests of listening share: weights that may not be there, and data that may not be there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fullduplex.errors import PluginError
from fullduplex.providers import weights

SHARED = Path(__file__).parents[3] / "shared"


@pytest.fixture(scope="session")
def cache() -> Path:
    """Return the cache that the command line would use."""
    return weights.default_cache(os.environ)


@pytest.fixture(scope="session")
def cache_with(cache: Path) -> Callable[[str], Path]:
    """Return what gives the cache if it holds a model, else skips the test and says what to run."""

    def asked(name: str) -> Path:
        try:
            weights.path(name, cache)
        except PluginError as error:
            pytest.skip(str(error))
        return cache

    return asked


@pytest.fixture(scope="session")
def shared() -> Callable[[str], Path]:
    """Return what gives a folder of the shared data, and skips the test where it is absent."""

    def asked(name: str) -> Path:
        if not (SHARED / name).is_dir():
            pytest.skip(f"no {name} in the shared data beside the checkout")
        return SHARED / name

    return asked
