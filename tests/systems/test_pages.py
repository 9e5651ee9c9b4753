"""Where a reader is led to: every system's page is there, and the sentence on a missing server names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fullduplex import plugins
from fullduplex.model.spec import Spec
from fullduplex.systems.pages import is_served, page_of, way_to_a_server

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", [each.name for each in plugins.members("systems") if each.package == "fullduplex"])
def test_every_system_has_a_page(name: str) -> None:
    assert (ROOT / page_of(name)).is_file() and name in (ROOT / page_of(name)).read_text(encoding="utf-8")


def test_a_system_of_another_package_has_none_and_its_sentence_names_none() -> None:
    assert page_of("somebody-s") == ""
    assert way_to_a_server(Spec("somebody-s")) == "start its server, or say where it runs with url=: somebody-s:url=…"


def test_a_server_that_shares_a_page_is_led_to_it() -> None:
    assert "docs/systems/moshi.md" in way_to_a_server(Spec("raon"))


def test_where_an_address_was_given_it_may_be_the_wrong_one() -> None:
    assert "or give the url where it runs" in way_to_a_server(Spec("moshi", {"url": "ws://h:1"}))


def test_who_has_an_address_is_served() -> None:
    assert is_served(Spec("moshi")) and is_served(Spec("loopback"))
    assert not is_served(Spec("cascade")) and not is_served(Spec("no-such-system"))
