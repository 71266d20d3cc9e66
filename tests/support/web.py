"""A web server on loopback with the pages that a test gives it."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType


@dataclass(frozen=True)
class Answer:
    """What a path answers; its ETag, where it has one, is honoured."""

    body: bytes = b""
    kind: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


def moved(to: str, status: int = 302) -> Answer:
    """A redirect."""
    return Answer(status=status, headers={"Location": to})


def results(*found: tuple[str, str, str]) -> Answer:
    """What a SearXNG answers: titles, addresses and snippets."""
    names = ("title", "url", "content")
    hits = [dict(zip(names, each, strict=True)) for each in found]
    return Answer(json.dumps({"results": hits}).encode(), "application/json")


class WebServer:
    """Serves pages by their paths.

    Attributes:
        pages: a text, an answer, or what makes one of a request.
        visits: what was asked for, in order, but for robots.txt.
        asked: the requests, whole.
    """

    def __init__(
        self, pages: Mapping[str, str | Answer | Callable[[Asked], str | Answer]]
    ) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        web = self

        class Answering(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                size = int(self.headers.get("Content-Length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, self.rfile.read(size))
                web.asked.append(asked)
                self._send(web.answer(asked))

            do_POST = do_GET  # noqa: N815 - as the library calls it

            def _send(self, answer: Answer) -> None:
                self.send_response(answer.status)
                named = {"Content-Type": answer.kind} if answer.kind else {}
                size = {"Content-Length": str(len(answer.body))}
                for name, value in (size | named | dict(answer.headers)).items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(answer.body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Keep quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )

    def answer(self, asked: Asked) -> Answer:
        page = self.pages.get(urlsplit(asked.path).path)
        if page is None:
            return Answer(b"no such page", status=404)
        found = page(asked) if callable(page) else page
        found = Answer(found.encode()) if isinstance(found, str) else found
        etag = found.headers.get("ETag")
        if etag is not None and asked.headers.get("if-none-match") == etag:
            return Answer(status=304, headers={"ETag": etag})
        return found

    @property
    def visits(self) -> list[str]:
        return [one.path for one in self.asked if one.path != "/robots.txt"]

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def environment(self) -> dict[str, str]:
        """What a daemon needs to search here, and to fetch from here."""
        return {"AGIRAPH_TEST_LOOPBACK": "1", "SEARXNG_URL": self.url}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
