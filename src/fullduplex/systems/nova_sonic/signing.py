"""Signature Version 4 of a request with an event stream: the request's own, and one for each message behind it."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from urllib.parse import quote

from fullduplex.systems.nova_sonic.eventstream import Message, encode, encoded_headers

SERVICE = "bedrock"
#: What stands for the hash of a payload that is signed message by message.
STREAMED = "STREAMING-AWS4-HMAC-SHA256-EVENTS"


@dataclass(frozen=True, slots=True)
class Credentials:
    """Whose requests these are, and in which region."""

    key_id: str = field(repr=False)
    secret: str = field(repr=False)
    token: str = field(default="", repr=False)
    region: str = "us-east-1"

    def scope(self, at: datetime) -> str:
        """Return what a signature made ``at`` this moment holds for."""
        return f"{at:%Y%m%d}/{self.region}/{SERVICE}/aws4_request"

    def sign(self, at: datetime, text: str) -> bytes:
        """Return the signature of a text."""
        key = b"AWS4" + self.secret.encode()
        for part in (*self.scope(at).split("/"), text):
            key = hmac.new(key, part.encode(), sha256).digest()
        return key


def moment(at: datetime) -> str:
    """Return a moment as headers have it."""
    return at.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def signed_request(who: Credentials, host: str, path: str, headers: Mapping[str, str], at: datetime) -> dict[str, str]:
    """Return all headers of a POST to ``path`` (encoded once, as it travels), with its signature."""
    told = {"host": host, **{name.lower(): value for name, value in headers.items()}}
    told |= {"x-amz-date": moment(at), "x-amz-content-sha256": STREAMED}
    told |= {"x-amz-security-token": who.token} if who.token else {}
    names = ";".join(sorted(told))
    lines = "".join(f"{name}:{' '.join(told[name].split())}\n" for name in sorted(told))
    # The path is encoded a second time, as this service wants it.
    canonical = f"POST\n{quote(path, safe='/-_.~')}\n\n{lines}\n{names}\n{STREAMED}"
    text = f"AWS4-HMAC-SHA256\n{moment(at)}\n{who.scope(at)}\n{sha256(canonical.encode()).hexdigest()}"
    signature = who.sign(at, text).hex()
    told["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={who.key_id}/{who.scope(at)}, SignedHeaders={names}, Signature={signature}"
    )
    return told


class Chain:
    """Messages signed one after another, each over the signature before it; ``first`` is the request's, in hex."""

    def __init__(self, who: Credentials, first: str) -> None:
        self._who, self._before = who, first

    def sign(self, message: Message | None, at: datetime) -> bytes:
        """Return a message wrapped in a signed one, as it travels; None is the empty one that ends the stream."""
        payload = b"" if message is None else encode(message)
        date = {":date": at.replace(microsecond=at.microsecond // 1_000 * 1_000)}
        text = (
            f"AWS4-HMAC-SHA256-PAYLOAD\n{moment(at)}\n{self._who.scope(at)}\n{self._before}\n"
            f"{sha256(encoded_headers(date)).hexdigest()}\n{sha256(payload).hexdigest()}"
        )
        signature = self._who.sign(at, text)
        self._before = signature.hex()
        return encode(Message({**date, ":chunk-signature": signature}, payload))


def signature_of(authorization: str) -> str:
    """Return the signature in an ``Authorization`` header, empty where it has none."""
    return authorization.rpartition("Signature=")[2] if "Signature=" in authorization else ""


__all__ = ["SERVICE", "STREAMED", "Chain", "Credentials", "moment", "signature_of", "signed_request"]
