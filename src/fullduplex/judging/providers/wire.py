"""The wire to a server: every request ends within its time, and no answer is larger than it may be.

The SDKs of the three vendors all take an ``httpx2`` client. Theirs wait for each byte; this one waits for the whole
answer. Whatever they find in the environment (proxies, further headers, other keys) stays off the wire, since what
was asked of whom has to stand in a run's record.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fullduplex.judging.providers.settings import Settings, library

#: What the answer to one request may hold, in bytes.
LARGEST = 4 << 20
#: What goes onto the wire of an SDK's own headers; the credentials among them are not, those are set by us.
_HEADERS = frozenset(
    [
        "host",
        "accept",
        "content-type",
        "content-length",
        "transfer-encoding",
        "user-agent",
        "anthropic-version",
        "anthropic-beta",
    ]
)
_PIECE = 1 << 16


def client(known: Settings, credentials: Mapping[str, str]) -> tuple[Any, Wire]:
    """Return an ``httpx2`` client for one judge, and the wire that it uses; both for several threads."""
    wire = Wire(known, credentials)
    made = library(known.judge, "httpx2").Client(transport=wire, trust_env=False, follow_redirects=False, timeout=None)
    return made, wire


class Wire:
    """A transport for ``httpx2`` that reads each answer whole, within ``timeout`` seconds in all."""

    def __init__(self, known: Settings, credentials: Mapping[str, str]) -> None:
        self._http, core = library(known.judge, "httpx2"), library(known.judge, "httpcore2")
        self._credentials, self._seconds = dict(credentials), known.timeout
        self._host = self._http.URL(known.url).host
        self._limits = threading.local()
        shared: dict[str, Any] = {
            "ssl_context": self._http.create_ssl_context(trust_env=False) if known.url.startswith("https") else None,
            "network_backend": _Network(core, self.left),
            "keepalive_expiry": 5.0,
        }
        self._pool = (
            core.HTTPProxy(known.proxy, max_connections=None, **shared)
            if known.proxy
            else core.ConnectionPool(max_connections=None, **shared)
        )
        self._core = core

    @contextmanager
    def patient(self, factor: float, largest: int) -> Iterator[None]:
        """Let this thread's requests take ``factor`` times as long and their answers hold ``largest`` bytes."""
        self._limits.seconds, self._limits.largest = self._seconds * factor, largest
        try:
            yield
        finally:
            del self._limits.seconds, self._limits.largest

    def left(self) -> float:
        """Return the seconds that the request of this thread still has."""
        return float(getattr(self._limits, "until", time.monotonic() + self._seconds)) - time.monotonic()

    def handle_request(self, request: Any) -> Any:
        """Return the answer, read to its end. Raises what ``httpx2`` raises."""
        seconds = getattr(self._limits, "seconds", self._seconds)
        self._limits.until = time.monotonic() + seconds
        # The request itself stays as it is: SDKs look at it again when the answer is there.
        kept = [(name, value) for name, value in request.headers.raw if name.lower().decode("latin-1") in _HEADERS]
        ours = {**self._credentials, "accept-encoding": "identity"}
        headers = kept + [(name.encode(), value.encode()) for name, value in ours.items()]
        url, core = request.url, self._core
        if url.host != self._host:
            raise self._http.NetworkError(f"it named another address, {url.host}")
        try:
            answer = self._pool.handle_request(
                core.Request(
                    method=request.method,
                    url=core.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=headers,
                    content=request.stream,
                )
            )
            try:
                content = self._read(self._http.Response(answer.status, headers=answer.headers, content=answer.stream))
            finally:
                answer.close()
        except core.TimeoutException as error:
            raise self._http.ReadTimeout(f"did not answer within {seconds:g} s") from error
        except core.UnsupportedProtocol as error:
            raise self._http.UnsupportedProtocol(str(error)) from error
        except (core.NetworkError, core.ProtocolError, core.ProxyError, OSError) as error:
            raise self._http.NetworkError(str(error) or type(error).__name__) from error
        finally:
            del self._limits.until
        told = [
            (name, value)
            for name, value in answer.headers
            if name.lower() not in (b"content-encoding", b"content-length", b"transfer-encoding")
        ]
        return self._http.Response(answer.status, headers=told, content=content)

    def _read(self, answer: Any) -> bytes:
        largest = getattr(self._limits, "largest", LARGEST)
        parts, size = list[bytes](), 0
        for part in answer.iter_bytes():
            parts.append(part)
            size += len(part)
            if size > largest:
                raise self._http.NetworkError(f"it sent more than {largest >> 20} MB")
        return b"".join(parts)

    def close(self) -> None:
        """Close the connections."""
        self._pool.close()

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Network:
    """Connections, as ``httpcore2`` wants them, that share one deadline for everything done on them."""

    def __init__(self, core: Any, left: Any) -> None:
        self._core, self._left = core, left
        self._plain = core.SyncBackend()

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, local_address: Any = None, socket_options: Any = None
    ) -> _Stream:
        # One name may have several addresses: each of them would be given all of the time.
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise self._core.ConnectError(f"no address is known for it: {error}") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        for position, address in enumerate(addresses):
            last = position == len(addresses) - 1
            limit = _more_than_nothing(self._left(), self._core) / (1 if last else 2)
            try:
                made = self._plain.connect_tcp(address, port, limit, local_address, socket_options)
                return _Stream(made, self._core, self._left)
            except (self._core.ConnectError, self._core.ConnectTimeout):
                if last:
                    raise
        raise self._core.ConnectError("no address is known for it")

    def connect_unix_socket(self, path: str, timeout: float | None = None, socket_options: Any = None) -> _Stream:
        raise self._core.UnsupportedProtocol("a local socket")

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class _Stream:
    """One connection whose reads and writes take what is left of the time, whatever they are told."""

    def __init__(self, plain: Any, core: Any, left: Any) -> None:
        self._plain, self._core, self._left = plain, core, left

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        got: bytes = self._plain.read(max_bytes, _more_than_nothing(self._left(), self._core))
        return got

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        # Small pieces, for a server that takes a byte now and then.
        view = memoryview(buffer)
        connection: socket.socket = self._plain.get_extra_info("socket")
        while view:
            limit = _more_than_nothing(self._left(), self._core)
            try:
                connection.settimeout(limit)
                view = view[connection.send(view[:_PIECE]) :]
            except TimeoutError as error:
                raise self._core.WriteTimeout(str(error)) from error
            except OSError as error:
                raise self._core.WriteError(str(error)) from error

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> _Stream:
        limit = _more_than_nothing(self._left(), self._core)
        return _Stream(self._plain.start_tls(ssl_context, server_hostname, limit), self._core, self._left)

    def get_extra_info(self, info: str) -> Any:
        return self._plain.get_extra_info(info)

    def close(self) -> None:
        self._plain.close()


def _more_than_nothing(left: float, core: Any) -> float:
    if left <= 0:
        raise core.ReadTimeout("the time is over")
    return left
