"""What every judge behind an interface is set up with, checked once, and the sentences in which it is named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from fullduplex.errors import InputError, PluginError, printable
from fullduplex.judging.providers.prices import Price, price_of
from fullduplex.judging.question import Refused, Request

#: Seconds that a judge may be given for one reply: at least, at most.
PATIENCE = (0.05, 3600.0)


#: No vendor's key has fewer characters.
_KEY_AT_LEAST = 16


@dataclass(frozen=True, slots=True)
class Settings:
    """Where a judge is, as whom it is asked, how long it may take and what its tokens cost.

    ``judge`` is the plug-in's name. ``key`` is in no spec and no message. ``room`` is how many tokens a reply may
    take beyond what a request asks for: models that think before they answer spend them on that.
    """

    judge: str
    url: str
    model: str
    key: str = field(default="", repr=False)
    timeout: float = 60.0
    room: int = 0
    proxy: str = ""
    price: Price | None = None

    @property
    def where(self) -> str:
        """Return the judge as a sentence begins with it."""
        return f"the judge {self.judge} at {printable(self.url, 120)}"

    def kept(self, text: str) -> str:
        """Return a reply as it is kept: as it came, but for a key that a gateway has repeated in it.

        Only what is as long as a key is taken out: servers that check none are given ``x`` or ``none``, words both.
        """
        return text.replace(self.key, "…") if len(self.key) >= _KEY_AT_LEAST else text

    def told(self, text: object, limit: int = 200) -> str:
        """Return what a server said, on one line, without the key that it may have repeated."""
        said = str(text)
        return printable((said.replace(self.key, "…") if self.key else said).strip() or "nothing", limit)


def settings(
    judge: str,
    *,
    home: str = "",
    url: str,
    model: str,
    key: str,
    key_file: str,
    timeout: float,
    room: int,
    proxy: str,
    price_in: float | None,
    price_out: float | None,
) -> Settings:
    """Return checked settings.

    ``home`` is the vendor's own address: there, and only there, a key has to be, and the table of prices holds.
    Raises :class:`InputError` in one sentence on settings that cannot be meant.
    """
    address = _address(judge, "url", url or home)
    if not str(model) or not str(model).isprintable():
        raise InputError(judge, "model", found=str(model), expected="the name that the server has for the model")
    secret = _in_one_line(judge, str(key)) if key else _key_in(key_file)
    if address == home and not secret:
        raise InputError(judge, "key", expected="a key for this service", do="name a file that holds it with key_file")
    _within(judge, "timeout", timeout, *PATIENCE)
    _within(judge, "room", room, 0, 1_000_000)
    if (price_in is None) != (price_out is None):
        raise InputError(judge, "price_in, price_out", found="one of them", expected="both or neither")
    for name, price in (("price_in", price_in), ("price_out", price_out)):
        if price is not None:
            _within(judge, name, price, 0, 1e6)
    return Settings(
        judge,
        address,
        str(model),
        secret,
        float(timeout),
        int(room),
        _address(judge, "proxy", proxy) if proxy else "",
        price_of(judge if address == home else "", str(model), price_in, price_out),
    )


def library(judge: str, name: str) -> Any:
    """Return a library by its dotted name; raises :class:`PluginError` that names the extra where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        missing = error.name or name
        raise PluginError(
            f"judge {judge!r} needs {printable(missing)}, which is not installed; install fullduplex[judges]"
        ) from error


def one_of(judge: str, option: str, value: str, known: Sequence[str]) -> str:
    """Return ``value``; raises :class:`InputError` where it is none of the known."""
    if value not in known:
        raise InputError(judge, option, found=str(value), expected=" or ".join(known))
    return value


def check_hears(judge: str, request: Request, hears: bool, do: str = "") -> None:
    """Raise :class:`Refused` where a request has clips that this judge would not hear: silence is no answer."""
    if request.clips and not hears:
        raise Refused(f"the judge {judge} was given a clip and hears none{f'; {do}' if do else ''}", for_all=True)


def _address(judge: str, option: str, url: str) -> str:
    text = str(url)
    plain = text.isprintable() and not any(c in text for c in "?# \\")
    if not plain or not text.startswith(("http://", "https://")) or not text.split("//", 1)[1].strip("/"):
        raise InputError(judge, option, found=text, expected="http://HOST:PORT/… or https://…")
    if "@" in text:
        # What identifies a user must not stand in the record of a run, nor in this sentence.
        raise InputError(judge, option, found="more than an address", expected="no name or key in it; use key_file")
    return text.rstrip("/")


def _key_in(file: str) -> str:
    if not file:
        return ""
    try:
        text = Path(file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError, RuntimeError) as error:
        reason = (error.strerror if isinstance(error, OSError) else "") or "no text"
        raise InputError(file, "key_file", found=reason, expected="a file that holds the key") from error
    return _in_one_line(file, text)


def _in_one_line(where: str, key: str) -> str:
    if not key.strip() or not key.isprintable() or not key.isascii() or " " in key.strip():
        raise InputError(where, "key", found="what is no key", expected="a key, in one line")
    return key.strip()


def _within(judge: str, option: str, value: float, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InputError(judge, option, found=str(value), expected="a number")
    if not low <= value <= high:
        raise InputError(judge, option, found=f"{value:g}", expected=f"from {low:g} to {high:g}")
