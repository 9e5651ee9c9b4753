"""What tokens cost: the user's own figures, else those of a dated table, else nothing is said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from fullduplex.once import once_per_process

#: What may follow a model's name without making it another model: a snapshot's date, or "latest".
_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8}|latest|00\d)")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens.

    ``cached`` is for the part of the input that the vendor had already read. ``batch`` is the factor for requests
    in a batch. ``text_only``: nothing is known of the price of sound. ``longest`` is the input in tokens up to which
    the price holds, None for any. ``source`` says whose figures these are and of when.
    """

    input: float
    output: float
    cached: float
    batch: float = 1.0
    text_only: bool = False
    longest: int | None = None
    source: str = ""


def price_of(vendor: str, model: str, price_in: float | None = None, price_out: float | None = None) -> Price | None:
    """Return the price of a model's tokens: what is given wins, then the table's, else None.

    A given price is taken for all tokens as it is, cached or in a batch or not. In the table a name stands for
    itself and its dated snapshots, never for other models whose names begin alike.
    """
    if price_in is not None and price_out is not None:
        return Price(float(price_in), float(price_out), float(price_in), source="as given")
    for name, price in _table().get(vendor, {}).items():
        if model == name or (model.startswith(name) and _SNAPSHOT.fullmatch(model[len(name) :])):
            return price
    return None


def count_of(told: Mapping[str, Any], name: str) -> int | None:
    """Return the number of tokens that a server told under ``name``, None where it told none or no count."""
    value = told.get(name)
    return value if type(value) is int and value >= 0 else None


def cost(usage: Mapping[str, int], price: Price | None, *, heard: bool = False, in_batch: bool = False) -> float | None:
    """Return the US dollars that a reply cost, None where the price or the number of tokens is not known.

    cost = ((input − cached) · input price + cached · cached price + output · output price) / 1 000 000, times the
    batch factor in a batch. ``heard``: the request held sound.
    """
    if price is None or "input" not in usage or "output" not in usage or (heard and price.text_only):
        return None
    if price.longest is not None and usage["input"] > price.longest:
        return None
    cached = min(usage.get("cached", 0), usage["input"])
    dollars = (usage["input"] - cached) * price.input + cached * price.cached + usage["output"] * price.output
    return dollars / 1e6 * (price.batch if in_batch else 1.0)


@once_per_process
def _table() -> dict[str, dict[str, Price]]:
    told = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
    source = f"{told['note']} ({told['as_of']})"
    return {
        vendor: {
            name: Price(row[0], row[1], row[2], told["batch"], True, row[3] if row[3:] else None, source)
            for name, row in rows.items()
        }
        for vendor, rows in told["models"].items()
    }
