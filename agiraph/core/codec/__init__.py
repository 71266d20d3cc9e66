"""Every file format of the tree, to values and back, with places in errors."""

from agiraph.core.codec.goal import read_goal
from agiraph.core.codec.identity import read_identity, write_identity
from agiraph.core.codec.lines import dumps, line_from_json, line_to_json
from agiraph.core.codec.report import Good, Problem, Rejected, Remark
from agiraph.core.codec.run import read_run, write_run
from agiraph.core.codec.settings import read_tree_settings
from agiraph.core.codec.spec import read_spec, spec_hash, write_spec
from agiraph.core.codec.status import (
    read_node_status,
    read_status,
    write_agent_status,
    write_node_status,
    write_worker_status,
)

__all__ = [
    "Good",
    "Problem",
    "Rejected",
    "Remark",
    "dumps",
    "line_from_json",
    "line_to_json",
    "read_goal",
    "read_identity",
    "read_node_status",
    "read_run",
    "read_spec",
    "read_status",
    "read_tree_settings",
    "spec_hash",
    "write_agent_status",
    "write_identity",
    "write_node_status",
    "write_run",
    "write_spec",
    "write_worker_status",
]
