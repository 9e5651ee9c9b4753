"""A cost is the tokens times a price that somebody stands for, or it is not told."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest

from fullduplex.judging.providers.prices import cost, price_of
from fullduplex.judging.providers.schemas import closed

USAGE = {"input": 1_000_000, "output": 100_000, "cached": 400_000}


def test_the_table_counts_cached_tokens_at_their_own_price() -> None:
    assert cost(USAGE, price_of("openai", "gpt-4o")) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10)


def test_a_batch_costs_half() -> None:
    price = price_of("openai", "gpt-4o")
    whole, half = cost(USAGE, price), cost(USAGE, price, in_batch=True)
    assert whole is not None and half == pytest.approx(whole / 2)


def test_a_given_price_wins_and_holds_for_all_tokens() -> None:
    price = price_of("openai", "gpt-4o", 1.0, 2.0)
    assert cost(USAGE, price) == cost(USAGE, price, in_batch=True, heard=True) == pytest.approx(1.0 + 0.2)


@pytest.mark.parametrize("model", ["gpt-4o-2024-08-06", "gpt-4o", "gpt-4o-latest"])
def test_a_snapshot_has_the_price_of_its_model(model: str) -> None:
    assert price_of("openai", model) == price_of("openai", "gpt-4o") is not None


@pytest.mark.parametrize("model", ["gpt-4o-audio-preview", "gpt-4o-mini-audio", "gpt-5.1", "gpt-5-pro", "gpt", ""])
def test_a_name_that_only_begins_alike_has_no_price(model: str) -> None:
    assert price_of("openai", model) is None and cost(USAGE, price_of("openai", model)) is None


def test_a_vendors_price_does_not_hold_on_anothers_server() -> None:
    assert price_of("", "gpt-4o") is None and price_of("gemini", "gpt-4o") is None


def test_what_sound_costs_is_not_known_from_the_table() -> None:
    assert cost(USAGE, price_of("gemini", "gemini-2.5-flash"), heard=True) is None


def test_a_price_ends_where_the_vendor_raises_it() -> None:
    price = price_of("gemini", "gemini-2.5-pro")
    assert cost({"input": 200_000, "output": 1}, price) is not None
    assert cost({"input": 200_001, "output": 1}, price) is None


def test_untold_tokens_have_no_cost() -> None:
    assert cost({}, price_of("openai", "gpt-4o")) is None
    assert cost({"input": 5}, price_of("openai", "gpt-4o")) is None


def test_more_cached_than_read_costs_no_less_than_nothing() -> None:
    found = cost({"input": 10, "output": 0, "cached": 50}, price_of("openai", "gpt-4o"))
    assert found == pytest.approx(10 * 1.25 / 1e6)


def test_the_table_says_of_when_it_is_and_that_it_has_to_be_checked() -> None:
    table = json.loads(files("fullduplex.judging.providers").joinpath("prices.json").read_text(encoding="utf-8"))
    assert table["as_of"] and "check" in table["note"]
    for rows in table["models"].values():
        for row in rows.values():
            assert len(row) in (3, 4) and row[0] < row[1] and row[2] <= row[0]


def test_a_schema_is_closed_all_the_way_down() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "string"}}}
    schema = {"type": "object", "properties": {"list": {"type": "array", "items": inner}, "one": {"anyOf": [inner]}}}
    found = closed(schema)
    assert found["required"] == ["list", "one"] and found["additionalProperties"] is False
    for part in (found["properties"]["list"]["items"], found["properties"]["one"]["anyOf"][0]):
        assert part["required"] == ["a"] and part["additionalProperties"] is False
    assert "required" not in inner


@pytest.mark.parametrize(("high", "listed"), [(100, True), (101, False)])
def test_bounds_become_a_list_where_that_is_short(high: int, listed: bool) -> None:
    found = closed({"type": "integer", "minimum": 0, "maximum": high}, bounds=False)
    assert ("enum" in found) is listed and "minimum" not in found and "maximum" not in found
