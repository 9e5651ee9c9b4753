"""A file of keys: what a line may be, and that a bad one is refused without being told."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex.data.env_file import read_env
from fullduplex.errors import InputError


def test_lines_are_names_with_values(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(
        "# keys\n\nA=1\nexport B = two words \nC='it # is'  # said\nD=\"a=b\"\nE=x # y\nF=x#y\nG=\nA=3\nH=$A\n"
    )
    assert read_env(path) == {
        "A": "3", "B": "two words", "C": "it # is", "D": "a=b", "E": "x", "F": "x#y", "G": "", "H": "$A",
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "sk-SECRET",
        "sk-SECRET=",
        "1A=SECRET",
        "A='SECRET",
        'A="SECRET" more',
        "A=SEC'RET",
        "A=SEC\x1b[2JRET",
        ": SECRET",
    ],
)
def test_a_line_that_is_none_is_refused_by_its_number_alone(tmp_path: Path, line: str) -> None:
    path = tmp_path / ".env"
    path.write_text(f"OK=1\n{line}\n")
    with pytest.raises(InputError, match="line 2") as error:
        read_env(path)
    assert "SEC" not in str(error.value)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"A=\xff\xfe\n")
    with pytest.raises(InputError):
        read_env(path)


def test_a_vast_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="expected a file of keys, of 1000000 at most"):
        read_env(path)
