"""A name becomes an object, or one sentence that says what is lacking."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from fullduplex import plugins
from fullduplex.errors import PluginError
from fullduplex.testing.facades import facade_of, has_facade


@pytest.fixture
def member(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give a function that announces a system ``its`` at a place within a module of the text that is given."""

    def announce(source: str, target: str) -> None:
        (tmp_path / "its_module.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        importlib.invalidate_caches()
        point = EntryPoint("its", target, "fullduplex.systems")
        monkeypatch.setattr(plugins, "_members", lambda family: {"its": point})

    yield announce
    sys.modules.pop("its_module", None)


@pytest.mark.parametrize("target", ["its_module:gone", "its_module:there.gone", "its_module_gone:there"])
def test_what_is_announced_and_not_there_is_told_to_be_of_another_version(member: Any, target: str) -> None:
    member("there = 1\n", target)
    with pytest.raises(PluginError, match=f"announced as {target}, which is not there: .* install .* again"):
        plugins.find("systems", "its")


def test_a_library_that_lacks_is_named_as_before(member: Any) -> None:
    member("import no_such_library\n", "its_module:there")
    with pytest.raises(PluginError, match="needs no_such_library, which is not installed"):
        plugins.find("systems", "its")


@pytest.mark.parametrize("source", ["1 / 0\n", "def (:\n", "raise RuntimeError('\\x1b[31m')\n"])
def test_a_member_whose_module_fails_is_a_sentence(member: Any, source: str) -> None:
    member(source, "its_module:there")
    with pytest.raises(PluginError, match="cannot be loaded from its_module") as error:
        plugins.find("systems", "its")
    assert "\x1b" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "needs"),
    [
        ("command", "needs run, such as 'command:run=python infer.py --in {input} --out {output}'"),
        ("python", "needs call, such as 'python:call=./system.py:answer'"),
        ("recorded", "needs path, such as 'recorded:path=./answer.wav'"),
    ],
)
def test_what_a_system_needs_is_shown_by_an_example(name: str, needs: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError) as error:
        plugins.make("systems", name, {}, tmp_path)
    assert str(error.value).endswith(needs)


def test_a_maker_without_an_example_is_shown_by_its_options(member: Any, tmp_path: Path) -> None:
    member("def there(*, first, second, cache, third=1): ...\n", "its_module:there")
    with pytest.raises(PluginError, match="needs first and second, such as 'its:first=…,second=…'"):
        plugins.make("systems", "its", {}, tmp_path)


@pytest.mark.parametrize(("name", "kept"), [("nova-sonic", "region"), ("openai-realtime", "key_file")])
def test_options_that_a_spec_may_not_hold_are_not_listed(name: str, kept: str, tmp_path: Path) -> None:
    with pytest.raises(PluginError) as error:
        plugins.make("systems", name, {"no_such": 1}, tmp_path)
    listed = str(error.value).partition("it has: ")[2].split(", ")
    assert kept in listed and not {"key", "key_id", "session_token", "cache", "names"} & set(listed)


def test_a_facade_that_is_announced_and_not_there_is_no_system_without_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = plugins._members("facades") | {"moshi": EntryPoint("moshi", "math:no_facade", "fullduplex.facades")}
    usual = plugins._members
    monkeypatch.setattr(plugins, "_members", lambda family: found if family == "facades" else usual(family))
    assert has_facade("moshi") and not has_facade("recorded")
    with pytest.raises(PluginError, match="announced as math:no_facade, which is not there"):
        facade_of("moshi")
