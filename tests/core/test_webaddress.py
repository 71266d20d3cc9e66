"""Which addresses of the web may be fetched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agiraph.core.webaddress import next_address, read_address, why_closed
from agiraph.errors import ToolRefused

# Each leads, or would lead in some reader of addresses, to where nothing is public.
TRICKS = """
http://127.0.0.1/
http://127.0.0.1:80/
http://127.1/
http://127.0.1/
http://127.000.000.001/
http://0177.0.0.1/
http://0177.0.0.01/
http://0x7f.0.0.1/
http://0x7f.1/
http://0x7f000001/
http://2130706433/
http://017700000001/
http://4294967297/
http://0/
http://0.0.0.0/
http://00000000/
http://1.0x/
http://127.0.0.1./
http://127.0.0.1%2f@example.org/
http://[::1]/
http://[::]/
http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/
http://[0:0:0:0:0:ffff:10.0.0.1]/
http://[::127.0.0.1]/
http://[64:ff9b::127.0.0.1]/
http://[64:ff9b::a9fe:a9fe]/
http://[64:ff9b:1::7f00:1]/
http://[2002:7f00:1::]/
http://[2002:c0a8:101::1]/
http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/
http://[fe80::1]/
http://[fe80::1%25eth0]/
http://[fe80::1%eth0]/
http://[fc00::1]/
http://[fd00:ec2::254]/
http://[fec0::1]/
http://[ff02::1]/
http://[100::1]/
http://[2001:db8::1]/
http://[2001:10::1]/
http://[3fff::1]/
http://[5f00::1]/
http://10.0.0.1/
http://172.16.0.1/
http://172.31.255.255/
http://192.168.1.1/
http://169.254.169.254/latest/meta-data/
http://100.64.0.1/
http://100.100.100.200/
http://192.0.0.1/
http://192.88.99.1/
http://198.18.0.1/
http://203.0.113.1/
http://224.0.0.1/
http://239.255.255.250/
http://240.0.0.1/
http://255.255.255.255/
http://168.63.129.16/
http://localhost/
http://LOCALHOST/
http://localhost./
http://sub.localhost/
http://router.local/
http://metadata.google.internal/
http://nas.lan/
http://printer.home.arpa/
http://intranet/
http://x.onion/
http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/
http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/
http://127\u30020\u30020\u30021/
http://127%2e0%2e0%2e1/
http://user@example.org/
http://user:secret@example.org/
http://example.org@127.0.0.1/
http://example.org:80@127.0.0.1/
http://@127.0.0.1/
http://example.org%40127.0.0.1/
http://127.0.0.1\\@example.org/
http:\\\\127.0.0.1\\
http://example.org\\.evil.org/
http://exa mple.org/
http://example.org\t/
http://127.0.0.1#@example.org/
http://127.0.0.1?@example.org/
http://example..org/
http://-example.org/
http://example.org:22/
http://example.org:6379/
http://example.org:0/
http://example.org:99999/
http://example.org:port/
http:///etc/passwd
http://
http:example.org
//example.org/
example.org
/etc/passwd
file:///etc/passwd
ftp://example.org/
gopher://127.0.0.1:6379/_INFO
dict://127.0.0.1:11211/stats
javascript:alert(1)
data:text/html,hello
jar:http://example.org!/x
ws://example.org/
blob:https://example.org/1
http://[::1/
http://::1/
http://[127.0.0.1]/
http://[v1.x]/
http://127.0.0.1../
http://0x7f.0x0.0x0.0x1/
http://127.0.0.0x1/
http://1.2.3.4.5/
http://\u0661\u0662\u0667.\u0660.\u0660.\u0661/
http://\u2460\u2461\u2466.0.0.1/
http://\uff10\uff58\uff17\uff46.1/
http://%31%32%37.0.0.1/
http://%6c%6f%63%61%6c%68%6f%73%74/
http://localhost%2e/
http://127.0.0.1%00.example.org/
http://127.0.0.1%0d%0a.example.org/
http://loc\u00adalhost/
http://loc\u200balhost/
http://[::ffff:0:127.0.0.1]/
http://[::1%25lo]/
http://[::1].example.org/
http://[::1]:80@example.org/
http://[2606:4700::1111]x/
http://[2606:4700::1111].example.org:80/
http://example.org:\uff18\uff10/
http://example.org:+80/
http://example.org:80:80/
http://example.org;127.0.0.1/
http://127.0.0.1:80,example.org/
http://localhost.localdomain/
http://kubernetes.default.svc/
http://wiki.corp/
http://1.0.0.127.in-addr.arpa/
http:////127.0.0.1/
http+unix://%2Frun%2Fdocker.sock/
http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.example.org/
http://xn--/
""".strip("\n").split("\n")

GOOD = {
    "https://example.org": "https://example.org/",
    " https://Example.ORG./a?b=c#d ": "https://example.org/a?b=c",
    "http://example.org:80/": "http://example.org/",
    "https://example.org:8443/x": "https://example.org:8443/x",
    "https://docs.python.org/3/library/re.html": (
        "https://docs.python.org/3/library/re.html"
    ),
    "https://en.wikipedia.org/wiki/Zürich_(city)": (
        "https://en.wikipedia.org/wiki/Z%C3%BCrich_(city)"
    ),
    "https://bücher.example/": "https://xn--bcher-kva.example/",
    "https://faß.de/": "https://xn--fa-hia.de/",
    "http://93.184.216.34/": "http://93.184.216.34/",
    "http://[2606:2800:220:1::1]/": "http://[2606:2800:220:1::1]/",
    "https://a_b.example.org/": "https://a_b.example.org/",
    "https://xn--bcher-kva.example/?q=%20": "https://xn--bcher-kva.example/?q=%20",
    "https://1.2.3.example.org/": "https://1.2.3.example.org/",
    "http://[64:ff9b::5db8:d822]/": "http://[64:ff9b::5db8:d822]/",
}


@pytest.mark.parametrize("trick", TRICKS)
def test_an_address_that_leads_into_the_house_is_refused(trick: str) -> None:
    with pytest.raises(ToolRefused, match="is not fetched: "):
        read_address(trick)


def test_there_are_more_than_sixty_tricks() -> None:
    assert len(set(TRICKS)) == len(TRICKS) > 60


@pytest.mark.parametrize(("text", "url"), GOOD.items())
def test_a_public_address_has_one_form(text: str, url: str) -> None:
    assert read_address(text).url == url
    assert read_address(url).url == url


@pytest.mark.parametrize("trick", [t for t in TRICKS if "://" in t])
def test_a_redirect_is_judged_like_an_address(trick: str) -> None:
    here = read_address("https://example.org/a/b")
    with pytest.raises(ToolRefused):
        next_address(here, trick)


def test_a_redirect_may_be_relative() -> None:
    here = read_address("https://example.org/a/b?c")
    assert next_address(here, "../x").url == "https://example.org/x"
    assert next_address(here, "//other.org/x").url == "https://other.org/x"
    with pytest.raises(ToolRefused):
        next_address(here, "//127.0.0.1/x")


@pytest.mark.parametrize(
    "number",
    ["", "example.org", "::ffff:0:0", "2002:7f00:1::", "fe80::1%eth0", "0", "1.1"],
)
def test_what_a_resolver_gives_is_closed_unless_it_is_plainly_public(
    number: str,
) -> None:
    assert why_closed(number)


@pytest.mark.parametrize("number", ["1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_public_numbers_are_open(number: str) -> None:
    assert why_closed(number) == ""


def test_this_machine_can_be_named_by_tests_alone() -> None:
    for host in ("127.0.0.1", "localhost", "[::1]"):
        assert read_address(f"http://{host}:4711/x", loopback=True).port == 4711
        with pytest.raises(ToolRefused):
            read_address(f"http://{host}:4711/x")
    with pytest.raises(ToolRefused):
        read_address("http://127.0.0.2:4711/", loopback=True)
    with pytest.raises(ToolRefused):
        read_address("http://10.0.0.1:4711/", loopback=True)


@given(st.text(max_size=60))
def test_any_text_is_an_address_or_is_refused_in_words(text: str) -> None:
    for one in (text, f"http://{text}", f"https://{text}/x", f"http://[{text}]/"):
        try:
            found = read_address(one)
        except ToolRefused:
            continue
        assert read_address(found.url) == found
        assert found.url.isascii()
