"""The table of models holds together."""

from __future__ import annotations

import re

import pytest

from fullduplex.providers.models import Hub, Model, Packages, model, models


@pytest.mark.parametrize("known", models(), ids=lambda known: known.name)
def test_every_file_can_be_had_from_every_place(known: Model) -> None:
    assert known.places
    for place in known.places:
        if isinstance(place, Packages):
            assert set(place.members) == {file.name for file in known.files}
            assert all(0 <= number < len(place.wheels) for parts in place.members.values() for number, _ in parts)


@pytest.mark.parametrize("known", models(), ids=lambda known: known.name)
def test_every_byte_is_pinned(known: Model) -> None:
    hashes = [file.sha256 for file in known.files]
    for place in known.places:
        if isinstance(place, Hub):
            assert re.fullmatch(r"[0-9a-f]{40}", place.revision)
        else:
            hashes += [wheel.sha256 for wheel in place.wheels]
            assert all(re.fullmatch(r"[\w.-]+(==|@)[\w.]+", wheel.requirement) for wheel in place.wheels)
    assert all(re.fullmatch(r"[0-9a-f]{64}", sha256) for sha256 in hashes)
    assert all(file.size > 0 for file in known.files)


def test_names_stand_once() -> None:
    names = [known.name for known in models()]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("role", ["detector", "words"])
def test_a_role_does_not_hang_on_one_model(role: str) -> None:
    assert sum(known.role == role for known in models()) >= 2


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(KeyError, match="known: silero-v6"):
        model("whisper-huge")
