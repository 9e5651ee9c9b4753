"""The options that every judge behind an interface has, and what follows from them alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from fullduplex.judging.providers import prices
from fullduplex.judging.providers.settings import one_of, settings


@dataclass(eq=False, repr=False)
class Hosted:
    """A model behind an interface, as it is set up.

    ``model`` is the server's name for it. ``key`` or ``key_file`` is the key; it is no part of the spec. ``timeout`` is
    how many seconds one request may take in all. ``plain`` leaves out what some models refuse: seed and temperature.
    ``room`` is how many tokens a reply may take beyond a request's limit, for models that think before they answer.
    ``structure`` is how replies are held to a schema: one of ``structures``. ``price_in`` and ``price_out`` are US
    dollars for a million tokens. ``url`` and ``proxy`` are addresses.

    ``name`` is the plug-in's, ``home`` the vendor's own address, "" where there is none.
    Raises :class:`InputError` on options that cannot be meant.
    """

    name: ClassVar[str]
    home: ClassVar[str] = ""
    structures: ClassVar[Sequence[str]]
    weakness: ClassVar[str] = ""

    model: str = ""
    key: str = ""
    key_file: str = ""
    timeout: float = 60.0
    plain: bool = False
    room: int = 0
    structure: str = "json_schema"
    price_in: float | None = None
    price_out: float | None = None
    url: str = ""
    proxy: str = ""

    def __post_init__(self) -> None:
        self._known = settings(
            self.name,
            home=self.home,
            url=self.url,
            model=self.model,
            key=self.key,
            key_file=self.key_file,
            timeout=self.timeout,
            room=self.room,
            proxy=self.proxy,
            price_in=self.price_in,
            price_out=self.price_out,
        )
        # It stays where no message and no record looks.
        self.key = ""
        self.plain = bool(self.plain)
        self.structure = one_of(self.name, "structure", self.structure, self.structures)

    def cost(self, usage: Mapping[str, int]) -> float | None:
        """Return the US dollars that so many tokens cost, ``input`` and ``output``; None where no price is known."""
        return prices.cost(usage, self._known.price)
