from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullduplex.data.files import read_json, replacing, write_json
from fullduplex.data.folders import natural
from fullduplex.errors import InputError


def test_json_is_read_back_with_half_a_surrogate_pair_in_it(tmp_path: Path) -> None:
    for value in ({"é": [1, 2.5, None]}, "\ud800"):
        write_json(tmp_path / "a.json", value)
        assert read_json(tmp_path / "a.json") == value


def test_nan_is_never_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", float("nan"))
    assert not list(tmp_path.iterdir())


def test_an_interrupted_write_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a place to write to"):
        write_json(tmp_path / "no/such/a.json", 1)


def test_a_place_that_nothing_can_be_removed_from_is_named_by_the_file_that_was_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", refuses)
    monkeypatch.setattr(Path, "unlink", refuses)
    with pytest.raises(InputError, match=r"a\.json: found Read-only file system"):
        write_json(tmp_path / "a.json", 1)


def test_two_comes_before_ten_and_zeros_do_not_count() -> None:
    assert sorted(["a10", "a2", "10", "2", "b", "02x"], key=natural) == ["2", "02x", "10", "a2", "a10", "b"]


@given(st.permutations(["1", "²", "٣", "0", "-", "", "a1", "a0", "9" * 5000]))
def test_names_of_any_script_and_length_have_one_order(names: list[str]) -> None:
    assert sorted(names, key=natural) == ["", "0", "1", "9" * 5000, "-", "a0", "a1", "²", "٣"]
