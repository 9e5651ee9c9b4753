"""What a refusal means for other talks: wait, or stop asking."""

from __future__ import annotations

import errno
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from fullduplex.errors import ConversationError
from fullduplex.systems.refusals import Busy, Refusal, refusal_of, seconds_asked


def refused(status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> Exception:
    http = RuntimeError("HTTP")
    http.response = SimpleNamespace(status_code=status, headers=headers or {}, body=body)  # type: ignore[attr-defined]
    inner, outer = ConversationError("no server answers there"), ConversationError("the API took no connection")
    inner.__cause__, outer.__cause__ = http, inner
    return outer


@pytest.mark.parametrize(
    ("error", "means"),
    [
        (refused(429), Refusal(True)),
        (refused(429, headers={"Retry-After": "7"}), Refusal(True, 7.0)),
        (refused(503), Refusal(True)),
        (refused(429, b'{"error": {"code": "insufficient_quota"}}'), Refusal(False)),
        (refused(401), Refusal(False)),
        (refused(404), Refusal(False)),
        (refused(500), None),
        (refused(400), None),
        (Busy("full", 2.0), Refusal(True, 2.0)),
        (ConversationError("the line broke"), None),
    ],
)
def test_a_refusal_is_found_behind_the_sentence(error: Exception, means: Any) -> None:
    assert refusal_of(error) == means


def test_a_wait_is_a_number_or_a_date() -> None:
    assert seconds_asked("12", 0.0) == 12.0
    assert seconds_asked("Mon, 30 Nov 2026 12:00:10 GMT", 1_796_040_000.0) == 10.0
    assert seconds_asked("Mon, 30 Nov 2026 11:00:00 GMT", 1_796_040_000.0) == 0.0
    assert [seconds_asked(text, 0.0) for text in ("", "soon", "nan", "inf")] == [None] * 4


def test_a_chain_that_bites_its_tail_ends() -> None:
    error = ConversationError("round")
    error.__cause__ = error
    assert refusal_of(error) is None


def _caused(*errors: BaseException) -> ConversationError:
    """Return a driver's error behind which the others stand, each the cause of the one before."""
    made = ConversationError("no server answers there")
    last: BaseException = made
    for error in errors:
        last.__cause__, last = error, error
    return made


@pytest.mark.parametrize(
    "errors",
    [
        (ConnectionRefusedError(111, "Connect call failed"),),
        (OSError(errno.EHOSTUNREACH, "No route to host"),),
        (socket.gaierror(-2, "Name or service not known"),),
        (OSError(f"Multiple exceptions: [Errno {errno.ECONNREFUSED}] a, [Errno {errno.ECONNREFUSED}] b"),),
        (OSError("All connection attempts failed"), ExceptionGroup("", [ConnectionRefusedError(111, "no")])),
        (RuntimeError(ConnectionRefusedError(errno.ECONNREFUSED, "handed on in the arguments")),),
    ],
)
def test_nobody_there_is_told_from_a_refusal(errors: tuple[BaseException, ...]) -> None:
    assert refusal_of(_caused(*errors)) == Refusal(False, absent=True)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(104, "reset"),
        TimeoutError("timed out"),
        OSError(f"Multiple exceptions: [Errno {errno.ECONNREFUSED}] a, [Errno {errno.ECONNRESET}] b"),
    ],
)
def test_a_server_that_broke_off_is_there(error: BaseException) -> None:
    assert refusal_of(_caused(error)) is None
