"""Whether who wrote what is half-written has ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fullduplex.data.writers import alone_in, is_abandoned, made_folder, writers_mark
from fullduplex.errors import InputError, RunError


def mark_of(process: int) -> str:
    machine, _, drawn = writers_mark().split("-")
    return f"{machine}-{process}-{drawn}"


@pytest.mark.skipif(not Path("/proc/self/stat").is_file(), reason="only Linux tells of ended processes")
def test_a_killed_process_that_its_parent_has_not_asked_for_is_dead(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        assert not is_abandoned(tmp_path, mark_of(process.pid))
        os.kill(process.pid, signal.SIGKILL)
        stat, until = Path(f"/proc/{process.pid}/stat"), time.monotonic() + 10
        while b") Z" not in stat.read_bytes() and time.monotonic() < until:
            time.sleep(0.01)
        # Nobody has waited for it yet: a signal would still reach it.
        os.kill(process.pid, 0)
        assert is_abandoned(tmp_path, mark_of(process.pid))
    assert is_abandoned(tmp_path, mark_of(process.pid))


def test_this_process_is_alive(tmp_path: Path) -> None:
    assert not is_abandoned(tmp_path, writers_mark())


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    with alone_in(tmp_path):
        with pytest.raises(RunError, match="another fullduplex is writing into this folder; wait for it"):
            alone_in(tmp_path).__enter__()
        with alone_in(made_folder(tmp_path / "other")):
            pass
    with alone_in(tmp_path):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"file: found .* expected a folder to write to"):
        made_folder(tmp_path / "file")
