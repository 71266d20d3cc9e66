"""Which hosts of the web an agent may go to."""

from __future__ import annotations

import pytest

from agiraph.core.codec import Good, Rejected, read_goal
from agiraph.core.hosts import most_exact, permission_for
from agiraph.model.agent import Permission, Permissions, Settings


def allowed(web: str) -> Permissions:
    found = read_goal(f"---\npermissions:\n  web: {web}\n---\nGo.\n", Settings())
    assert isinstance(found, Good), found
    return found.value.settings.permissions


@pytest.mark.parametrize(
    ("web", "host", "may"),
    [
        ("allow", "example.org", "allow"),
        ("deny", "example.org", "deny"),
        ("ask", "example.org", "ask"),
        ("{allow: [example.org]}", "example.org", "allow"),
        ("{allow: [example.org]}", "www.example.org", "deny"),
        ("{allow: ['*.example.org']}", "www.example.org", "allow"),
        ("{allow: ['*.example.org']}", "example.org", "deny"),
        ("{allow: ['*.example.org']}", "evilexample.org", "deny"),
        ("{deny: [example.org]}", "example.org", "deny"),
        ("{deny: [example.org]}", "other.org", "allow"),
        ("{deny: ['*'], allow: [example.org]}", "example.org", "allow"),
        ("{deny: ['*.org'], allow: ['*.example.org']}", "a.example.org", "allow"),
        ("{ask: ['*'], allow: ['*.wikipedia.org']}", "en.wikipedia.org", "allow"),
        ("{ask: ['*'], allow: ['*.wikipedia.org']}", "other.org", "ask"),
        ("{ask: [a.org], deny: [a.org], allow: [a.org]}", "a.org", "deny"),
        ("{ask: [a.org], allow: [a.org]}", "a.org", "ask"),
        ("{allow: [EXAMPLE.org.]}", "example.org", "allow"),
    ],
)
def test_the_most_exact_pattern_counts(web: str, host: str, may: str) -> None:
    assert permission_for(host, allowed(web)) is Permission(may)


def test_a_word_in_one_file_replaces_the_patterns_of_the_other() -> None:
    given = Settings(permissions=allowed("{allow: [example.org]}"))
    found = read_goal("---\npermissions: {web: allow}\n---\nGo.\n", given)
    assert isinstance(found, Good)
    assert permission_for("other.org", found.value.settings.permissions) is (
        Permission.ALLOW
    )


@pytest.mark.parametrize(
    "web",
    [
        "perhaps",
        "{allow: example.org}",
        "{allow: ['https://example.org/']}",
        "{allow: ['exa*mple.org']}",
        "{allow: ['example.org/x']}",
        "{allow: [localhost]}",
        "{allow: [127.0.0.1]}",
        "{ask: ['192.168.1.1']}",
        "{allow: [router.local]}",
        "[example.org]",
    ],
)
def test_what_is_no_public_pattern_is_refused(web: str) -> None:
    text = f"---\npermissions:\n  web: {web}\n---\nGo.\n"
    found = read_goal(text, Settings())
    assert isinstance(found, Rejected)
    assert found.problems[0].key.startswith("permissions.web")


def test_a_setting_for_tests_is_no_setting_of_a_tree() -> None:
    text = "---\npermissions: {web: {loopback: true}}\n---\nGo.\n"
    found = read_goal(text, Settings())
    assert isinstance(found, Rejected)
    assert permission_for("127.0.0.1", Permissions()) is Permission.ALLOW
    assert Permissions().hosts.allow == ()


@pytest.mark.parametrize(
    ("mcp", "tool", "may"),
    [
        ("ask", "files/read", "ask"),
        ("{deny: [files]}", "files/read", "deny"),
        ("{deny: [files]}", "other/read", "allow"),
        ("{deny: [files], allow: [files/read]}", "files/read", "allow"),
        ("{ask: ['*'], allow: ['files/read_*']}", "files/read_all", "allow"),
        ("{ask: ['*'], allow: ['files/read_*']}", "files/write", "ask"),
        ("{allow: [files]}", "other/read", "deny"),
    ],
)
def test_tools_of_servers_go_by_the_same_rule(mcp: str, tool: str, may: str) -> None:
    text = f"---\npermissions:\n  mcp: {mcp}\n---\nGo.\n"
    found = read_goal(text, Settings())
    assert isinstance(found, Good), found
    permissions = found.value.settings.permissions
    given = most_exact(tool, permissions.tools, permissions.mcp)
    assert given is Permission(may)
