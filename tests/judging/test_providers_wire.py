"""The wire under TLS: the same deadlines, and no certificate is taken on trust."""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from fullduplex.judging.providers.compatible import Compatible
from fullduplex.judging.question import Request, Unreachable

ASKED = Request("You judge.", "What of this?" * 100_000)
ANSWER = b'{"model": "m", "choices": [{"message": {"content": "safe"}, "finish_reason": "stop"}]}'


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Make a certificate for 127.0.0.1 that signs itself, and its key, in one file."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return file


@pytest.fixture
def address(certificate: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(ANSWER)

        def log_message(self, *_: Any) -> None:
            return

    class Server(HTTPServer):
        def handle_error(self, *_: Any) -> None:
            return

    server = Server(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"https://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_certificate_that_nobody_vouches_for_is_not_taken(address: str) -> None:
    judge = Compatible("judge", url=address, timeout=5.0)
    with pytest.raises(Unreachable, match="certificate"):
        judge.ask(ASKED)
    judge.close()


def test_a_request_goes_through_tls(address: str, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    trusting = ssl.create_default_context(cafile=certificate)
    monkeypatch.setattr(httpx2, "create_ssl_context", lambda **_: trusting)
    judge = Compatible("judge", url=address, timeout=5.0)
    assert judge.ask(ASKED).text == "safe"
    judge.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_server_that_takes_the_connection_and_reads_nothing_is_left_in_time(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        judge = Compatible("judge", url=f"{scheme}://127.0.0.1:{listener.getsockname()[1]}/v1", timeout=0.3)
        began = time.monotonic()
        with pytest.raises(Unreachable, match=r"did not answer within 0\.3 s"):
            judge.ask(Request("", "x" * 20_000_000))
        assert time.monotonic() - began < 2.0
        judge.close()
