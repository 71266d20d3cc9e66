"""Under TLS the certificate is checked against the name, not the number."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING

import httpx
import pytest

from agiraph.web import client as pinned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl is missing"
)


class Greeting(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Keep quiet."""


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for example.org that vouches for itself, with its key."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=example.org", "-addext", "subjectAltName=DNS:example.org",
            "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem"),
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    return folder


@pytest.fixture
def names(certificate: Path) -> Iterator[tuple[int, list[str | None]]]:
    """A server under that certificate: its port, and the names it was asked by."""
    asked: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate / "cert.pem", certificate / "key.pem")
    context.sni_callback = lambda _, name, __: asked.append(name)
    server = HTTPServer(("127.0.0.1", 0), Greeting)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield server.server_address[1], asked
    server.shutdown()
    server.server_close()
    thread.join(10)


async def here(host: str, port: int) -> Sequence[str]:
    return ["127.0.0.1"]


@pytest.fixture(autouse=True)
def loopback_counts_as_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "why_closed", lambda number: "")


async def test_the_name_is_asked_for_and_checked(
    certificate: Path, names: tuple[int, list[str | None]]
) -> None:
    port, asked = names
    trust = pinned.trust(str(certificate / "cert.pem"))
    async with pinned.client(trust, here, loopback=False, agent="a") as client:
        answer = await client.get(f"https://example.org:{port}/")
        assert answer.text == f"example.org:{port}"
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await client.get(f"https://other.org:{port}/")
    assert asked == ["example.org", "other.org"]


async def test_whom_nobody_vouches_for_is_refused(
    names: tuple[int, list[str | None]],
) -> None:
    port, _ = names
    trust = pinned.trust()
    async with pinned.client(trust, here, loopback=False, agent="a") as client:
        with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
            await client.get(f"https://example.org:{port}/")
