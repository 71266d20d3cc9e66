"""`agiraph import-worker`: a subagent file becomes a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Run

FILE = (
    "---\nname: x\ndescription: Reviews.\ntools: Read, Bash\ncolor: red\n---\nRead.\n"
)


def test_a_subagent_file_becomes_a_worker_of_the_newest_run(
    run: Run, root: Path, tmp_path: Path
) -> None:
    file = tmp_path / "reviewer.md"
    file.write_text(FILE)

    page = run("import-worker", "news", str(file))
    assert page.exit_code == 0, page.stderr
    assert "`color` has no meaning here" in page.stderr
    (place,) = (root / "news" / "runs").glob("*/workers/reviewer/identity.md")
    assert "role: Reviews." in place.read_text()
    assert "bash" in place.read_text()

    again = run("import-worker", "news", str(file))
    assert again.exit_code != 0
    assert "--as" in again.stderr
    assert run("import-worker", "news", str(file), "--as", "Rita").exit_code == 0


def test_a_file_that_cannot_be_kept_to_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "bad.md"
    file.write_text("---\ndisallowedTools: Bash\n---\nx\n")
    page = run("import-worker", "news", str(file))
    assert page.exit_code != 0
    assert "disallowedTools" in page.stderr
