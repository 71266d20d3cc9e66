"""The tree's settings: what a home that came after them waits for."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agiraph.runtime.root.rooterrors import RootErrors
from agiraph.runtime.root.settings import RootSettings
from tests.support.inside import inside

if TYPE_CHECKING:
    from pathlib import Path


async def test_settings_that_came_since_the_last_look_are_noticed_without_reading_them(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        settings = RootSettings(a.world, RootErrors(a.world))
        await settings.look()
        assert not settings.moved()
        path = a.root / "agiraph.yaml"
        path.write_text("max_agents: 3\n")
        assert settings.moved()
        await settings.look()
        assert not settings.moved()
        path.unlink()
        assert settings.moved()


async def test_settings_that_changed_are_pending_until_they_are_in_force(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path) as a:
        settings = RootSettings(a.world, RootErrors(a.world))
        await settings.look()
        assert not settings.pending
        (a.root / "agiraph.yaml").write_text("max_agents: 3\n")
        looking = asyncio.create_task(settings.look())
        await asyncio.sleep(0)
        assert settings.pending  # while the file is read
        found = await looking
        while settings.again is not None:
            assert settings.pending  # while it changes
            await asyncio.sleep(settings.again)
            found = await settings.look()
        assert found is not None
        assert found.max_agents == 3
        assert not settings.pending
