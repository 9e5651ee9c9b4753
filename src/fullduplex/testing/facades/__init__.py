"""Facades: the scripted, watermarked talker of :mod:`fullduplex.testing.model` behind a vendor's protocol.

A driver is tried on the cases of conformance against a server that can be told what to do. The loopback server can,
in a protocol of ours; a facade can in the protocol of the system itself, on a real loopback socket. Whoever adds a
system adds its facade:

1. Write a :class:`Dialect`: the handshake (``open``), what the talker says as messages of the protocol (``says``), and
   the client's messages as sound and words for the talker (``hears``). It holds the state of one talk.
2. Put it in a :class:`Facade`, with the :class:`~fullduplex.testing.stage.Terms` on which the cases are played (frame,
   delay, nonsense of this protocol) and, for each case that the protocol has no word for, why (``beside``).
   ``fits`` makes of a behaviour one that the protocol can show.
3. Declare it: an entry point in the group ``fullduplex.facades``, of the system's own name, that is a function of
   the system's options (``Spec.options``) and returns the facade.

``fullduplex conform NAME`` then finds it: a system whose ``url`` is empty is played every case against its facade, in
a process of its own on the wall clock, in memory on the virtual one (where the driver has ``door`` and ``over``,
see :mod:`fullduplex.systems.wire`); one with a ``url`` is judged from outside. The driver is a dataclass with the
fields ``url`` and ``ready_within`` (seconds).

A protocol that is on no WebSocket has a facade all the same: its dialect is ``carried`` by something else (requests
over HTTP, :mod:`fullduplex.testing.facades.over_http`; a WebRTC call), or its talks are held ``within`` the driver's
process, where there is no wire. Such cases are played on the wall clock alone.

``python -m fullduplex.testing.facades NAME --port 8998`` serves it alone, for a vendor's own client: that this client
works against it is what makes a facade worth trusting.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

from fullduplex import plugins
from fullduplex.driving.link import System
from fullduplex.driving.playout import Samples
from fullduplex.systems.wire import Wire
from fullduplex.testing.behaviour import Behaviour
from fullduplex.testing.stage import Terms


class Peer(Wire, Protocol):
    """The client of a talk: a wire, the path and query that it asked for, its headers."""

    path: str
    headers: Mapping[str, str]

    async def close(self, reason: str) -> None:
        """End the connection with the protocol's own farewell."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Spoken:
    """A piece of the talker's sound: ``data`` in the behaviour's coding, of the utterance ``id`` (0: of none).

    ``source`` is its time on the talker's clock (microseconds, None where it has none); ``last`` ends its utterance.
    """

    data: bytes
    id: int
    epoch: int
    source: int | None
    last: bool


class Dialect(Protocol):
    """One talk in a protocol. ``rate_in`` is the rate of the sound that :meth:`hears` returns."""

    rate_in: int

    async def open(self, peer: Peer, getting_ready: Callable[[], Awaitable[None]]) -> None:
        """Hold the handshake; ``await getting_ready()`` lasts as long as the server takes, for ever where it is busy.

        What the client sends meanwhile waits in ``peer`` unless it is read here.
        """
        ...

    def says(self, event: Spoken | Mapping[str, Any]) -> Iterable[str | bytes]:
        """Return the messages of a piece of sound, or of an event of the talker.

        Events are those of :mod:`fullduplex.systems.loopback`: ``flush``, ``said``, ``note``, ``ping``, ``close``.
        After ``close`` the connection is closed with its ``reason``.
        """
        ...

    def hears(self, message: str | bytes) -> Iterable[Samples | Mapping[str, Any] | Answer]:
        """Return what the client said: sound of the user at ``rate_in``, an event for the talker, or its answer.

        Events: ``{"type": "pong", "n"}``, ``{"type": "finish"}``, and ``{"type": "heard", "id", "played"}`` with the
        utterance's number and microseconds. Raises :class:`Unheard` for what such a server closes the talk for.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A message that the client gets at once, for one of its own."""

    message: str | bytes


class Unheard(Exception):
    """The client said what this server closes a talk for: the reason that it gives."""


#: Answers a POST: from its path, its body, and whether a talk is live, the status and the text.
Posts = Callable[[str, bytes, bool], tuple[int, str]]
#: Takes the account of a talk that is over.
Reported = Callable[[Mapping[str, Any]], None]


class Carrier(Protocol):
    """What carries the talks of a facade: anything but a WebSocket, which the kit has itself."""

    def __call__(
        self, facade: Facade, behaviour: Behaviour, port: int, reported: Reported
    ) -> AbstractAsyncContextManager[int]:
        """Serve as long as the context is open, on ``port`` of this machine (0: any); give the port.

        Each client's talk is held with :func:`fullduplex.testing.facades.talking.hold`, and its account goes to
        ``reported``. ``behaviour`` already fits.
        """
        ...


class Within(Protocol):
    """How a system is driven with a server that is no more than a part of the driver's own process."""

    def __call__(
        self, facade: Facade, system: Any, behaviour: Behaviour, reported: Reported | None, ready_within: int | None
    ) -> System:
        """Return ``system``, driven against ``facade`` that behaves so; ``ready_within`` is in microseconds."""
        ...


def as_it_is(what: Any) -> Any:
    """Return ``what``."""
    return what


def without_url(system: Any) -> bool:
    """Return whether ``system`` has a ``url``, and it is empty."""
    return getattr(system, "url", None) == ""


@dataclass(frozen=True, slots=True)
class Facade:
    """A protocol's server side: ``dialect`` makes one talk of a behaviour that ``fits`` has made fitting.

    ``beside`` says for the number of a case why it does not apply. ``subprotocols`` are what it takes of those that
    a client offers. ``refuses`` gives for a path and headers the HTTP status and body of a refusal, None for who is
    let in. ``aside`` holds a connection that is no talk, and returns whether it was one. ``posts`` answers a POST on
    the same port (:mod:`fullduplex.testing.facades.posted`). The three are for WebSockets only.

    ``exclusive``: one talk is held at a time; who comes meanwhile is let in and is ready when that is over, as the
    servers of Moshi do it. A carrier of its own sees to that itself.

    ``carried`` carries its talks where no WebSocket does, at URLs of ``scheme``; ``within`` holds them in the driver's
    own process. ``serves`` is whether it is the server of a system as that is set up, and ``played`` makes of the
    system the one that the cases are played with, where some of its options would keep it from what they plan.
    """

    name: str
    dialect: Callable[[Behaviour], Dialect]
    terms: Terms = field(default_factory=Terms)
    fits: Callable[[Behaviour], Behaviour] = as_it_is
    beside: Mapping[int, str] = field(default_factory=dict)
    subprotocols: tuple[str, ...] = ()
    refuses: Callable[[str, Mapping[str, str]], tuple[int, str] | None] | None = None
    aside: Callable[[Peer], Awaitable[bool]] | None = None
    posts: Posts | None = None
    exclusive: bool = False
    carried: Carrier | None = None
    scheme: str = "ws"
    within: Within | None = None
    serves: Callable[[Any], bool] = without_url
    played: Callable[[Any], Any] = as_it_is

    @property
    def in_memory(self) -> bool:
        """Return whether its talks can be held without a socket, and so on the virtual clock."""
        return self.carried is None and self.within is None


def facade_of(name: str, options: Mapping[str, Any] | None = None) -> Facade:
    """Return the facade of the system called ``name``, or of a function ``module:function``, for these options.

    Raises :class:`PluginError` where there is none.
    """
    if ":" in name:
        module, _, attribute = name.partition(":")
        make: Any = getattr(importlib.import_module(module), attribute)
    else:
        make = plugins.find("facades", name)
    facade: Facade = make(dict(options or {}))
    return facade


def has_facade(name: str) -> bool:
    """Return whether a facade of the system called ``name`` is announced; whether it can be had, its making tells."""
    return any(member.name == name for member in plugins.members("facades"))
