"""Where keys come from: the environment, else a ``.env`` file in the working directory. Nowhere else are they read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from fullduplex.model.spec import Spec

#: Where the keys of hosted voices are, by the voice's name.
VOICES = {"elevenlabs": "ELEVENLABS_API_KEY", "openai": "OPENAI_API_KEY"}
#: The file in the working directory.
ENV_FILE = Path(".env")


def values(names: Iterable[str], env_file: Path | None = None) -> dict[str, str]:
    """Return those of ``names`` that are set, the environment's before those of ``env_file`` (default: ``.env`` here).

    The file is read only where the environment lacks one of them. Raises :class:`InputError` for a file that is no
    such file, or that was named and is not there.
    """
    wanted = list(dict.fromkeys(names))
    found = {name: os.environ[name] for name in wanted if os.environ.get(name)}
    lacking = [name for name in wanted if name not in found]
    if lacking and (env_file is not None or ENV_FILE.is_file()):
        from fullduplex.data.env_file import read_env

        told = read_env(env_file or ENV_FILE)
        found |= {name: told[name] for name in lacking if told.get(name)}
    return found


def named_keys(names: Mapping[str, str], env_file: Path | None = None) -> dict[str, str]:
    """Return the keys that are set, by whose they are: ``names`` are those of their variables."""
    found = values(names.values(), env_file)
    return {whose: found[name] for whose, name in names.items() if name in found}


def voice_keys() -> dict[str, str]:
    """Return the keys of hosted voices, by the voice's name."""
    return named_keys(VOICES)


def system_keys(spec: Spec) -> dict[str, str]:
    """Return the keys of the system that ``spec`` names, by the names of their variables."""
    from fullduplex.systems.build import key_names

    return values(key_names(spec).values())


def origin(name: str) -> str:
    """Return where the value of ``name`` comes from, in words."""
    return "from the environment" if os.environ.get(name) else f"from {ENV_FILE} here"


__all__ = ["ENV_FILE", "VOICES", "named_keys", "origin", "system_keys", "values", "voice_keys"]
