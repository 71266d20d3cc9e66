"""Which addresses of the web may be fetched: public ones, written in one plain way.

A page or a model may name an address that leads into the machine or the house: in
other numerals, through a tunnel, behind a name. An address is read here once, strictly,
into the one form that is then used; what it resolves to is judged number by number.
(IANA special-purpose address registries; OWASP, "Server-Side Request Forgery
Prevention"; WHATWG URL, "ends in a number".)
"""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from typing import Final, TypeAlias
from urllib.parse import quote, urljoin, urlsplit, urlunsplit

import idna

from agiraph.errors import ToolRefused

LONGEST: Final = 4096
_PORTS: Final = {"http": (80, 8080), "https": (443, 8443)}
_SAFE: Final = "!#$%&'()*+,/:;=?@[]~-._"
_BAD: Final = re.compile(r"[\x00-\x20\x7f\\]")
_LABEL: Final = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?<!-)")
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_PLAIN_V4: Final = re.compile(r"(0|[1-9][0-9]{0,2})(\.(0|[1-9][0-9]{0,2})){3}")
# Names that never lead to the public web (RFC 6761, 6762 and its appendix G, 7686,
# 8375, 9476; ICANN's lists of private and undelegated names; what clusters use).
_HOUSE: Final = (
    "localhost", "local", "internal", "home.arpa", "onion", "alt", "lan", "localdomain",
    "home", "corp", "mail", "intranet", "private", "invalid", "svc", "in-addr.arpa",
    "ip6.arpa",
)  # fmt: skip

_Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network
_IP: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# Written out: which of these `ipaddress` knows differs with the version of Python.
_CLOSED: Final[tuple[_Network, ...]] = tuple(
    ipaddress.ip_network(each)
    for each in (
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
        "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24",
        "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
        "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4",
        "240.0.0.0/4",
        "168.63.129.16/32",  # a cloud's own service, at a number that looks public
        "2001::/23", "2001:db8::/32", "2620:4f:8000::/48", "3fff::/20",
    )
)  # fmt: skip
_OPEN_V6: Final = ipaddress.IPv6Network("2000::/3")
_NAT64: Final = ipaddress.IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class WebAddress:
    """An address in the one form in which it is used.

    Attributes:
        url: the whole, in ASCII, without fragment.
        host: the name in lower case without a last dot, or the number as it is plain.
    """

    url: str
    scheme: str
    host: str
    port: int


def read_address(text: str, *, loopback: bool = False) -> WebAddress:
    """The address that a text names.

    Args:
        text: as a model, a page or a person wrote it.
        loopback: whether this machine's own servers may be named, for tests.

    Raises:
        ToolRefused: it is none that may be fetched; says why.
    """
    text = text.strip()
    if len(text) > LONGEST:
        raise _no(text, f"it has more than {LONGEST:,} characters")
    if _BAD.search(text):
        raise _no(text, "it holds a space, a backslash or a control character")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise _no(text, "it is no address") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise _no(text, "only http:// and https:// are fetched")
    if "@" in parts.netloc:
        raise _no(text, "it holds a user name or password; leave them out")
    host = _host(text, parts.netloc, loopback=loopback)
    if port is None:
        port = _PORTS[scheme][0]
    if not (loopback and is_loopback(host)) and port not in (443, 80, 8080, 8443):
        raise _no(text, f"port {port} is none of 80, 443, 8080 and 8443")
    return _made(scheme, host, port, (parts.path, parts.query))


def _made(scheme: str, host: str, port: int, rest: tuple[str, str]) -> WebAddress:
    shown = f"[{host}]" if ":" in host else host
    place = shown if port == _PORTS[scheme][0] else f"{shown}:{port}"
    path, query = (quote(each, safe=_SAFE) for each in rest)
    url = urlunsplit((scheme, place, path or "/", query, ""))
    return WebAddress(url, scheme, host, port)


def next_address(here: WebAddress, to: str, *, loopback: bool = False) -> WebAddress:
    """Where a redirect leads, judged anew; raises as `read_address` does."""
    try:
        joined = urljoin(here.url, to.strip())
    except ValueError:
        raise _no(to, "it is no address") from None
    return read_address(joined, loopback=loopback)


def _host(text: str, netloc: str, *, loopback: bool) -> str:
    """The host in its one form; names of the house are refused."""
    if netloc.startswith("["):
        host, _, rest = netloc[1:].partition("]")
        if rest and not rest.startswith(":"):
            raise _no(text, "it is no address")
        return _number(text, host, loopback=loopback)
    name = unicodedata.normalize("NFKC", netloc.partition(":")[0]).lower()
    name = name.replace("\u3002", ".").replace("%2e", ".").removesuffix(".")
    labels = name.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _number(text, name, loopback=loopback)
    if loopback and name == "localhost":
        return name
    host = _ascii(text, name)
    if "." not in host or host.endswith(tuple(f".{each}" for each in _HOUSE)):
        raise _no(text, "it names something on this machine or in its own network")
    return host


def _ascii(text: str, name: str) -> str:
    try:
        found = idna.encode(name, uts46=True).decode() if not name.isascii() else name
    except (idna.IDNAError, UnicodeError):
        raise _no(text, "its name cannot be read") from None
    labels = found.lower().split(".")
    if len(found) > 253 or not all(_LABEL.fullmatch(each) for each in labels):
        raise _no(text, "its name cannot be read")
    return found.lower()


def _number(text: str, host: str, *, loopback: bool) -> str:
    """A host given as a number: in plain form, and public."""
    if "%" in host:
        raise _no(text, "it names a zone of this machine's network")
    plain = bool(_PLAIN_V4.fullmatch(host)) or ":" in host
    if not plain:
        raise _no(text, "its number is not written plainly, as in 93.184.216.34")
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        raise _no(text, "its number cannot be read") from None
    if loopback and is_loopback(str(number)):
        return str(number)
    why = why_closed(str(number))
    if why:
        raise _no(text, why)
    return str(number)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself, by its plain name or number."""
    return host in ("localhost", "127.0.0.1", "::1")


def why_closed(number: str) -> str:
    """Why nothing is fetched from an IP address; empty where it is public.

    Args:
        number: as a resolver gives it; what cannot be read is closed.
    """
    try:
        found: _IP = ipaddress.ip_address(number)
    except ValueError:
        return f"{number[:60]!r} is no plain IP address"
    inner = _inner(found)
    if _is_open(inner):
        return ""
    return f"{number} is no public address"


def _inner(found: _IP) -> _IP:
    """The IPv4 address that an IPv6 address leads to, where it is only a way there."""
    if isinstance(found, ipaddress.IPv4Address):
        return found
    if found.ipv4_mapped is not None:
        return found.ipv4_mapped
    if found in _NAT64:
        return ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
    return found


def _is_open(found: _IP) -> bool:
    if any(found in each for each in _CLOSED if each.version == found.version):
        return False
    if isinstance(found, ipaddress.IPv4Address):
        return found.is_global
    # 2002::/16 (6to4) and its like lead where their inner number says: never needed.
    tunnel = found.sixtofour is not None or found.teredo is not None
    return found in _OPEN_V6 and found.scope_id is None and not tunnel


def _no(text: str, why: str) -> ToolRefused:
    shown = "".join(one if one.isprintable() else "\ufffd" for one in text[:200])
    return ToolRefused(f"{shown} is not fetched: {why}.")
