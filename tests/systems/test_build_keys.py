"""Which keys a system takes, whether it lacks one, and how it can be had: as its class declares."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fullduplex import plugins
from fullduplex.errors import InputError
from fullduplex.model.spec import Spec
from fullduplex.systems.build import access_of, build, hosted, key_names, needs_keys


class Hosted:
    @staticmethod
    def key_name(options: Mapping[str, Any]) -> str:
        return "OTHER_KEY" if options.get("preset") == "other" else "OWN_KEY"


class TwoKeys:
    access = "open"
    optional_keys = ("token",)

    @staticmethod
    def key_names(options: Mapping[str, Any]) -> dict[str, str]:
        return {"key": "SECRET", "key_id": "ID", "token": "TOKEN"}


class Local:
    pass


def found(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    monkeypatch.setattr(plugins, "find", lambda family, name: kind)


def test_a_system_names_its_key_by_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, Hosted)
    assert key_names(Spec("x")) == {"key": "OWN_KEY"}
    assert key_names(Spec("x", {"preset": "other"})) == {"key": "OTHER_KEY"}


def test_a_key_that_lacks_is_named_and_one_that_may_lack_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, TwoKeys)
    with pytest.raises(InputError, match="expected ID in the environment"):
        needs_keys(Spec("x"), {"SECRET": "s"})
    needs_keys(Spec("x"), {"SECRET": "s", "ID": "i"})


@pytest.mark.parametrize("options", [{"url": "ws://localhost"}, {"base_url": "ws://localhost"}])
def test_at_an_address_of_its_own_no_key_is_needed(monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    found(monkeypatch, Hosted)
    assert not hosted(Spec("x", options)) and access_of(Spec("x", options)) == ""
    needs_keys(Spec("x", options), {})
    needs_keys(Spec("x", {"key_file": "file"}), {})


def test_a_vendor_s_system_is_closed_unless_it_says_else(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, access in ((Hosted, "closed"), (TwoKeys, "open"), (Local, "")):
        found(monkeypatch, kind)
        assert access_of(Spec("x")) == access


@pytest.mark.parametrize("url", ["ws://joe:secret@host:1/x", "WSS://token@host", "https://:secret@host/?a=@"])
def test_a_password_in_a_url_is_refused_and_not_told(url: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="url: found a password within a URL") as refused:
        build(Spec("websocket", {"url": url}), tmp_path)
    assert "secret" not in str(refused.value)


def test_an_at_sign_behind_the_host_is_no_password(tmp_path: Path) -> None:
    build(Spec("websocket", {"url": "ws://host/a@b?c=@d"}), tmp_path)
