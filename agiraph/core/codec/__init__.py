"""Every file format of the tree, to values and back, with places in errors.

Each format is loaded when it is first asked for: a command that reads one status page
does not wait for all of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agiraph.core.codec.approvals import read_approvals, with_approvals
    from agiraph.core.codec.errorpage import error_page, log_words
    from agiraph.core.codec.goal import read_goal
    from agiraph.core.codec.identity import read_identity, write_identity
    from agiraph.core.codec.lines import dumps, line_from_json, line_to_json
    from agiraph.core.codec.mail import (
        message_name,
        read_dropped,
        read_message,
        write_message,
    )
    from agiraph.core.codec.mcp import read_mcp
    from agiraph.core.codec.owner import names_plainly, read_owner, write_owner
    from agiraph.core.codec.question import read_question, with_answer, write_question
    from agiraph.core.codec.records import event_to_json, usage_from_line, usage_line
    from agiraph.core.codec.report import Good, Problem, Rejected, Remark
    from agiraph.core.codec.run import read_run, write_run
    from agiraph.core.codec.settings import read_tree_settings
    from agiraph.core.codec.skill import read_skill
    from agiraph.core.codec.spec import read_spec, spec_hash, write_spec
    from agiraph.core.codec.status import (
        read_node_status,
        read_status,
        write_agent_status,
        write_node_status,
        write_worker_status,
    )
    from agiraph.core.codec.triggers import read_triggers

__all__ = [
    "Good",
    "Problem",
    "Rejected",
    "Remark",
    "dumps",
    "error_page",
    "event_to_json",
    "line_from_json",
    "line_to_json",
    "log_words",
    "message_name",
    "names_plainly",
    "read_approvals",
    "read_dropped",
    "read_goal",
    "read_identity",
    "read_mcp",
    "read_message",
    "read_node_status",
    "read_owner",
    "read_question",
    "read_run",
    "read_skill",
    "read_spec",
    "read_status",
    "read_tree_settings",
    "read_triggers",
    "spec_hash",
    "usage_from_line",
    "usage_line",
    "with_answer",
    "with_approvals",
    "write_agent_status",
    "write_identity",
    "write_message",
    "write_node_status",
    "write_owner",
    "write_question",
    "write_run",
    "write_spec",
    "write_worker_status",
]

_HOMES = {
    "approvals": "read_approvals with_approvals",
    "errorpage": "error_page log_words",
    "goal": "read_goal",
    "identity": "read_identity write_identity",
    "lines": "dumps line_from_json line_to_json",
    "mail": "message_name read_dropped read_message write_message",
    "mcp": "read_mcp",
    "owner": "names_plainly read_owner write_owner",
    "question": "read_question with_answer write_question",
    "records": "event_to_json usage_from_line usage_line",
    "report": "Good Problem Rejected Remark",
    "run": "read_run write_run",
    "settings": "read_tree_settings",
    "skill": "read_skill",
    "spec": "read_spec spec_hash write_spec",
    "status": "read_node_status read_status "
    "write_agent_status write_node_status write_worker_status",
    "triggers": "read_triggers",
}

if not TYPE_CHECKING:  # a checker that saw this would believe in every name

    def __getattr__(name: str) -> object:
        """A name of this package, from the module that it lives in."""
        for home, names in _HOMES.items():
            if name in names.split():
                found = getattr(import_module(f"{__name__}.{home}"), name)
                globals()[name] = found  # so that it is looked for once
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
