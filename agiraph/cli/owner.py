"""Who runs an agent, as people ask about it: by the same rule as the daemon's."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from agiraph.cli.codes import BadTree
from agiraph.model.layout import Home

if TYPE_CHECKING:
    from agiraph.cli.read import Files
    from agiraph.core.ownership import Judgement
    from agiraph.model.owner import Owner
    from agiraph.tree.whereabouts import DiskWhereabouts


def elsewhere(files: Files, agent: str) -> str:
    """Why nothing is done for an agent here; empty where it is worked on."""
    from agiraph.core.codec import names_plainly
    from agiraph.core.ownership import words

    text, spot = files.text(Home(agent).owner), whereabouts(files).spot(agent)
    if not text or names_plainly(text, spot):
        return ""
    try:
        before = read_owner_of(files, agent)
    except BadTree:
        return ""  # its error page says it
    return words(judged(files, agent, before), spot)


def read_owner_of(files: Files, agent: str) -> Owner | None:
    """What the agent's `_owner.yaml` says; None where there is none.

    Raises:
        BadTree: it cannot be read.
    """
    from agiraph.core.codec import Rejected, log_words, read_owner

    path = Home(agent).owner
    if not files.there(path):
        return None
    found = read_owner(files.text(path))
    if isinstance(found, Rejected):
        words = log_words(path, found.problems)
        raise BadTree(f"{words}. Mend the file, or take it away.")
    return found.value


def judged(files: Files, agent: str, owner: Owner | None) -> Judgement:
    """What a daemon that starts now would say."""
    from agiraph.core.ownership import judge
    from agiraph.model.owner import Old

    here = whereabouts(files)
    away = owner is not None and owner.spot != here.spot(agent)
    old = here.old(owner, agent) if owner is not None and away else Old.GONE
    return judge(owner, here=owner_here(here, agent), held=None, old=old)


def whereabouts(files: Files) -> DiskWhereabouts:
    """This machine and this tree."""
    return _whereabouts(files.root)


@cache
def _whereabouts(root: str) -> DiskWhereabouts:
    from agiraph.tree.whereabouts import DiskWhereabouts

    return DiskWhereabouts.of(root, os.environ)


def owner_here(here: DiskWhereabouts, agent: str) -> Owner:
    """The record of an agent that begins its life here and now."""
    from agiraph.model.owner import Owner

    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Owner(here.spot(agent), since=now, machine=here.machine)
