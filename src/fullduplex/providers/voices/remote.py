"""What voices behind a server share: one request, asked again where that can help, and its refusal in one sentence."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from fullduplex.errors import InputError, PluginError, printable

#: No answer is longer, in bytes: an hour of speech at 16 bits and 24 kHz, twice.
LONGEST = 350 << 20
#: How many seconds a server may be silent: at least, at most.
PATIENCE = (0.1, 3600.0)
_TRIES = 3
#: Nor may it take so many times its patience for one text: a byte now and then is no silence, and never ends.
_SLOWEST = 10


def checked_url(voice: str, url: str) -> str:
    """Return a server's address without its last slash; raises :class:`InputError` on what is more than an address."""
    url = str(url)
    if not url.startswith(("http://", "https://")) or any(c in url for c in "@?# ") or not url.isprintable():
        raise InputError(
            voice, "base_url", found=url, expected="http://HOST:PORT/… or https://…, with no name or key in it"
        )
    return url.rstrip("/")


def asked(
    who: str,
    url: str,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    *,
    key: str,
    timeout: float,
    wait: float = 1.0,
) -> bytes:
    """Return what the server at ``url`` answers to a POST of ``body`` as JSON.

    A server that is busy (429), fails (5xx) or cannot be reached is asked again, after ``wait`` and then twice
    ``wait`` seconds; one whose answer takes ten times ``timeout`` is not. Raises :class:`PluginError` in one
    sentence without ``key``, which it may have repeated.
    """
    try:
        import httpx
    except ImportError as error:
        raise PluginError(f"voice {who!r} needs httpx, which is not installed; install httpx") from error
    why = ""
    # Proxies and keys come from options alone: what was asked of whom must stand in the record.
    with httpx.Client(timeout=timeout, trust_env=False, follow_redirects=False) as client:
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(wait * attempt)
            try:
                with client.stream("POST", url, json=dict(body), headers=dict(headers)) as answer:
                    content = _read(answer, who, time.monotonic() + _SLOWEST * timeout)
                    status = answer.status_code
            except httpx.TimeoutException:
                why = f"was silent for {timeout:g} s"
                continue
            except httpx.InvalidURL as error:
                why = f"is no address: {_told(str(error), key)}"
                break
            except httpx.HTTPError as error:
                why = f"could not be reached: {_told(str(error), key)}"
                continue
            if status == 200:
                return content
            why = f"answered {status}: {_told(content[:2000].decode('utf-8', 'replace'), key)}"
            if status != 429 and status < 500:
                break
    raise PluginError(f"the voice {who} at {printable(url.partition('?')[0], 120)} {why}")


def _read(answer: Any, who: str, until: float) -> bytes:
    parts, size = list[bytes](), 0
    for part in answer.iter_bytes():
        parts.append(part)
        size += len(part)
        if size > LONGEST:
            raise PluginError(f"the voice {who} sent more than {LONGEST >> 20} MB for one text")
        if time.monotonic() > until:
            raise PluginError(f"the voice {who} sent {size:,} bytes and did not end in time")
    return b"".join(parts)


def _told(text: str, key: str) -> str:
    return printable((text.replace(key, "…") if key else text).strip() or "nothing", 200)
