"""`_owner.yaml`: which machine and place runs an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agiraph.core.codec import emit, kinds
from agiraph.core.codec.page import plain_lines, read_section
from agiraph.core.codec.report import Findings, Good, Rejected
from agiraph.model.owner import Owner, Spot

if TYPE_CHECKING:
    from agiraph.model.json import Json


def write_owner(owner: Owner) -> str:
    """The text of an `_owner.yaml`; reading it gives the same owner."""
    keys: dict[str, Json] = {
        "epoch": owner.epoch,
        "since": owner.since,
        "machine": owner.machine,
    }
    said = {key: value for key, value in keys.items() if value}
    return _spot_text(owner.spot) + emit.settings(said)


def names_plainly(text: str, spot: Spot) -> bool:
    """Whether a text names a spot as the daemon would have written it.

    For whoever looks at a thousand of them: nothing has to be parsed.
    """
    return text.startswith(_spot_text(spot))


def read_owner(text: str) -> Good[Owner] | Rejected:
    """What an `_owner.yaml` records."""
    findings = Findings.none_yet()
    top = read_section(plain_lines(text), findings)
    spot = Spot(
        host=top.need("host", kinds.line, "the id of a machine") or "",
        place=top.need("place", kinds.line, "the path of a tree's root") or "",
        agent=top.need("agent", kinds.line, "the name of an agent") or "",
    )
    owner = Owner(
        spot,
        epoch=top.get("epoch", kinds.whole(1), 1),
        since=top.get("since", kinds.line, ""),
        machine=top.get("machine", kinds.line, ""),
    )
    top.close()
    if findings.problems:
        return findings.rejected()
    return Good(owner, tuple(findings.remarks))


def _spot_text(spot: Spot) -> str:
    keys: dict[str, Json] = {
        "host": spot.host,
        "place": spot.place,
        "agent": spot.agent,
    }
    return emit.settings(keys)
