"""Model servers on this machine: where they are, and which models they offer."""

from __future__ import annotations

import http.client
import ipaddress
import json
from functools import lru_cache
from urllib.parse import urlsplit

PATIENCE = 0.3
LARGEST = 1024 * 1024


def address(written: str, default: str, *, path: str = "/v1") -> str:
    """A base URL from what people write: `0.0.0.0`, `host:1234`, or a whole URL.

    Args:
        written: the setting.
        default: the base URL that gives what is missing.
        path: put behind a host without a path.
    """
    usual = urlsplit(default)
    url = written if "://" in written else f"{usual.scheme}://{written}"
    parts = urlsplit(url)
    host = parts.hostname or usual.hostname or "127.0.0.1"
    if host in ("0.0.0.0", "::"):  # noqa: S104 - where a server listens, not we
        host = "127.0.0.1"
    host = f"[{host}]" if ":" in host else host
    named = "://" in written and parts.scheme == "https"
    port = parts.port or (443 if named else usual.port)
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/') or path}"


@lru_cache(maxsize=256)
def is_loopback(base_url: str) -> bool:
    """Whether a base URL stays on this machine."""
    host = urlsplit(base_url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def models_at(base_url: str) -> tuple[str, ...]:
    """The models that a server on loopback offers; none where none answers."""
    parts = urlsplit(base_url)
    if not is_loopback(base_url) or parts.hostname is None:
        return ()
    try:
        return _asked(parts.hostname, parts.port, parts.path.rstrip("/") + "/models")
    except (OSError, http.client.HTTPException, ValueError, KeyError, TypeError):
        return ()


def _asked(host: str, port: int | None, path: str) -> tuple[str, ...]:
    link = http.client.HTTPConnection(host, port, timeout=PATIENCE)
    try:
        link.request("GET", path, headers={"Accept": "application/json"})
        response = link.getresponse()
        if response.status != http.client.OK:
            return ()
        found = json.loads(response.read(LARGEST))["data"]
    finally:
        link.close()
    names = [str(entry["id"]) for entry in found]
    return tuple(name for name in names if "embed" not in name.lower())
