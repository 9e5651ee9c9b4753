"""What a talk costs: by the minute, by the talk, by tokens; the user's figures, else those of a dated table.

Nothing is guessed: where a kind of token was used that has no price, the cost is not known.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from fullduplex.driving.usage import KINDS, Usage
from fullduplex.errors import InputError, printable
from fullduplex.model.spec import Spec
from fullduplex.once import once_per_process

_SNAPSHOT = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|latest)")
_FORM = "US dollars a minute, or KIND=DOLLARS,… with minute, talk, or a million tokens of input_audio, output_audio, …"


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars: for a ``minute`` of talk, for each ``talk``, and for a million ``tokens`` of a kind.

    A kind without a price has that of its direction (``input`` for ``input_audio``), and what was cached that of input.
    ``source`` says whose figures these are.
    """

    minute: float = 0.0
    talk: float = 0.0
    tokens: Mapping[str, float] = field(default_factory=dict)
    source: str = "as given"

    @classmethod
    def parse(cls, text: str) -> Prices:
        """Read ``0.06`` (a minute) or ``input_audio=32,output_audio=64,…``; raises :class:`InputError`."""
        found: dict[str, float] = {}
        pairs = [("minute", text)] if "=" not in text else [part.partition("=")[::2] for part in text.split(",")]
        for name, value in pairs:
            name = name.strip()
            if name not in ("minute", "talk", *KINDS) or name in found:
                raise InputError("--price", printable(name, 60), found=text, expected=_FORM)
            try:
                found[name] = float(value)
            except ValueError:
                raise InputError("--price", name, found=value, expected=_FORM) from None
            if not math.isfinite(found[name]):
                raise InputError("--price", name, found=f"{value}, which is not a finite number", expected=_FORM)
            if not 0 <= found[name] < 1e9:
                raise InputError("--price", name, found=value, expected="US dollars, 0 or more")
        return cls(found.pop("minute", 0.0), found.pop("talk", 0.0), found)

    @property
    def by_tokens(self) -> bool:
        """Return whether a talk's cost is known only from its tokens, and so only when it is over."""
        return bool(self.tokens)

    def cost(self, usage: Usage) -> float | None:
        """Return the US dollars of a talk; None where tokens have a price and were not, or not all, counted.

        cost = minute · seconds / 60 + talk + Σ price(kind) · tokens(kind) / 1 000 000; ``seconds`` are those that the
        system says it charges, else those of the talk.
        """
        seconds = usage.seconds if usage.charged is None else usage.charged
        total = self.minute * seconds / 60 + self.talk
        if not self.tokens:
            return total
        if not usage.counted:
            return None
        for kind, count in usage.tokens.items():
            price = self._of(kind)
            if price is None:
                return None
            total += price * count / 1e6
        return total

    def without_price(self, usage: Usage) -> tuple[str, ...]:
        """Return the kinds of tokens that were used and have no price."""
        return tuple(kind for kind in usage.tokens if self.tokens and self._of(kind) is None)

    def at_most(self, seconds: float) -> float | None:
        """Return what a talk of so many seconds costs at most; None where that hangs on its tokens."""
        return None if self.tokens else self.minute * seconds / 60 + self.talk

    def _of(self, kind: str) -> float | None:
        direction, _, modality = kind.partition("_")
        names = [kind, direction]
        if direction == "cached":
            names += [f"input_{modality}", "input"]
        return next((self.tokens[name] for name in names if name in self.tokens), None)

    def to_json(self) -> dict[str, Any]:
        """Return the prices as a JSON object."""
        told: dict[str, Any] = {"currency": "USD", "source": self.source}
        told |= {name: value for name, value in (("minute", self.minute), ("talk", self.talk)) if value}
        return told | ({"million_tokens": dict(sorted(self.tokens.items()))} if self.tokens else {})


def prices_of(spec: Spec, *, hosted: bool = True) -> Prices | None:
    """Return what the table says of the system that ``spec`` names, by its model; None where it says nothing.

    ``hosted``: whether it is asked at its vendor's own address, since elsewhere the vendor's prices say nothing.
    """
    if not hosted or spec.options.get("preset", "openai") != "openai":
        return None
    model = _model(spec.options)
    for name, prices in _table().get(spec.name, {}).items():
        if model == name or (model.startswith(name) and _SNAPSHOT.fullmatch(model[len(name) :])):
            return prices
    return None


def _model(options: Mapping[str, Any]) -> str:
    told = options.get("model")
    session = options.get("session")
    if not isinstance(told, str) and isinstance(session, Mapping):
        told = session.get("model")
    return told if isinstance(told, str) else ""


@once_per_process
def _table() -> dict[str, dict[str, Prices]]:
    told = json.loads(files(__package__).joinpath("prices.json").read_text(encoding="utf-8"))
    source = f"{told['note']} ({told['as_of']})"
    return {
        system: {
            name: Prices(tokens={k: float(v) for k, v in row.items()}, source=source) for name, row in rows.items()
        }
        for system, rows in told["models"].items()
    }


def dollars(amount: float) -> str:
    """Return an amount as people read it: cents, and below a cent four digits."""
    if not math.isfinite(amount):
        raise ValueError(amount)
    return f"US$ {amount:.2f}" if amount >= 0.1 or amount == 0 else f"US$ {amount:.4f}"


def rounded_up(amount: float) -> float:
    """Return ``amount`` rounded up to what :func:`dollars` shows of it, so that what is shown is no less."""
    digits = 100 if amount >= 0.1 else 10_000
    # Sums of figures that are whole to a digit are not whole to the last bit.
    return math.ceil(amount * digits - 1e-6) / digits


__all__ = ["Prices", "dollars", "prices_of", "rounded_up"]
