"""What a person writes reaches its addressee exactly once."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from tests.support.scripts import (
    at_gate,
    call,
    calls,
    done,
    drop,
    gate,
    open_gate,
    publish,
    say,
    speak,
    told,
    when,
)

if TYPE_CHECKING:
    from tests.support.daemon import Daemon


def busy(daemon: Daemon, agent: str) -> str:
    """An agent that talks while its worker Alice waits at the gate; her folder."""
    speak(
        daemon,
        agent,
        [
            call("create_work_node", id="a", task="A.", worker="Alice"),
            when("node a completed", done()),
        ],
        otherwise=say("I have read it."),
        a=[gate("go"), publish("A")],
    )
    drop(daemon, agent)
    at_gate(daemon, agent, "go")
    return f"{agent}/runs/*/workers/Alice"


def shell(daemon: Daemon, words: str) -> None:
    subprocess.run(["sh", "-ec", words], cwd=daemon.root, check=True)


def heard(daemon: Daemon, pattern: str, words: str) -> None:
    daemon.until(lambda: words in told(daemon, pattern), f"{pattern} has heard {words}")


def test_each_way_of_writing_reaches_its_addressee_once(daemon: Daemon) -> None:
    alice = busy(daemon, "talk")
    shell(daemon, "echo 'Words by echo.' >> talk/_inbox.md")
    shell(daemon, "echo 'Words by file.' > talk/_inbox/note.md")
    heard(daemon, "talk", "Words by echo.")
    heard(daemon, "talk", "Words by file.")
    shell(daemon, "printf '%s\\n' '---' '@alice For Alice.' >> talk/_inbox.md")
    shell(daemon, "printf '%s\\n' '---' '@all For everyone.' >> talk/_inbox.md")
    shell(
        daemon, "printf -- '---\\nto: Alice\\n---\\nBy her name.\\n' > talk/_inbox/.x"
    )
    shell(daemon, "mv talk/_inbox/.x talk/_inbox/x.md")
    shell(daemon, f"cd {alice}; echo 'At her door.' >> _inbox.md")
    heard(daemon, "talk", "For everyone.")
    # An editor: the whole file anew, with a line more and a corrected one.
    old = daemon.read("talk/_inbox.md")
    new = old.replace("Words by echo.", "Words by an echo.")
    daemon.write("talk/_inbox.md", new + "---\nWords by editor.\n")
    heard(daemon, "talk", "Words by editor.")
    # The same words once more are one more message.
    shell(daemon, "printf '%s\\n' '---' 'Words by editor.' >> talk/_inbox.md")
    daemon.until(
        lambda: told(daemon, "talk").count("Words by editor.") == 2,
        "the same words again",
    )
    assert "Words by editor." in daemon.head("talk/_status.md")["last_message"]
    open_gate(daemon, "talk", "go")
    daemon.until_state("talk", "completed")
    said, hers = told(daemon, "talk"), told(daemon, alice)
    for words in ("Words by echo.", "Words by file.", "For everyone."):
        assert said.count(words) == 1, words
    for words in ("For Alice.", "For everyone.", "By her name.", "At her door."):
        assert hers.count(words) == 1, words
    assert "For Alice." not in said
    assert "Words by an echo." not in said
    assert daemon.names("talk/_inbox/[!.]*") == []
    assert daemon.names("talk/_inbox/.read/*") == ["note.md", "x.md"]
    assert "I have read it." in daemon.read("talk/_outbox.md")


def test_an_urgent_message_goes_ahead_of_the_calls_left(daemon: Daemon) -> None:
    late = call("write_file", path="scratch/late.md", content="late")
    speak(daemon, "urgent", [calls(gate("go"), late), done("Stopped in time.")])
    drop(daemon, "urgent")
    at_gate(daemon, "urgent", "go")
    shell(daemon, "echo '!Do not write that file.' >> urgent/_inbox.md")
    daemon.until_event("urgent", "human.nudge")
    open_gate(daemon, "urgent", "go")
    daemon.until_state("urgent", "completed")
    assert "put off by the person" in told(daemon, "urgent", "tool")
    assert told(daemon, "urgent").count("Do not write that file.") == 1
    assert not daemon.there("urgent/runs/*/published/late.md")


def test_a_message_after_the_end_is_answered_and_opens_no_run(daemon: Daemon) -> None:
    speak(daemon, "later", [done(), say("It went well.")])
    drop(daemon, "later")
    daemon.until_state("later", "completed")
    shell(daemon, "echo 'How did it go?' >> later/_inbox.md")
    daemon.until(lambda: "It went well." in daemon.read("later/_outbox.md"), "a reply")
    assert len(daemon.names("later/runs/*")) == 1
    assert daemon.state("later") == "completed"
    assert told(daemon, "later").count("How did it go?") == 1


def test_a_message_to_nobody_we_know_reaches_the_coordinator(daemon: Daemon) -> None:
    busy(daemon, "nobody")
    shell(daemon, "echo '@zoe Are you there?' >> nobody/_inbox.md")
    heard(daemon, "nobody", "Are you there?")
    open_gate(daemon, "nobody", "go")
    daemon.until_state("nobody", "completed")


def test_a_message_that_arrives_with_the_home_is_delivered(daemon: Daemon) -> None:
    speak(daemon, "early", [done()])
    (daemon.home / "early").mkdir()
    (daemon.home / "early/_inbox.md").write_text("Bread, please.\n")
    drop(daemon, "other")
    (daemon.root / "other/GOAL.md").replace(daemon.home / "early/GOAL.md")
    text = (daemon.home / "early/GOAL.md").read_text()
    text = text.replace("other.yaml", "early.yaml")
    (daemon.home / "early/GOAL.md").write_text(text)
    shell(daemon, "cp -r ../early .")
    heard(daemon, "early", "Bread, please.")
    daemon.until_state("early", "completed")
    assert told(daemon, "early").count("Bread, please.") == 1


def test_bytes_that_are_no_text_in_an_inbox_are_told_and_cost_nothing(
    daemon: Daemon,
) -> None:
    busy(daemon, "bytes")
    inbox = daemon.root / "bytes/_inbox.md"
    shell(daemon, "echo 'Before.' >> bytes/_inbox.md")
    heard(daemon, "bytes", "Before.")
    inbox.write_bytes(b"Before.\n\xff\xfe\x00broken\n")
    daemon.until_there("bytes/_inbox.md.error.md")
    assert "Line 2, column 1: the file holds a NUL byte" in daemon.read(
        "bytes/_inbox.md.error.md"
    )
    inbox.write_text("Before.\n---\nAfter.\n")
    heard(daemon, "bytes", "After.")
    daemon.until(
        lambda: not daemon.there("bytes/_inbox.md.error.md"), "the error is gone"
    )
    assert told(daemon, "bytes").count("Before.") == 1
    (daemon.root / "bytes/_inbox/bad.md").write_bytes(b"\xff\xfe\x00")
    daemon.until_there("bytes/_inbox/bad.md.error.md")
    assert daemon.there("bytes/_inbox/bad.md")
    open_gate(daemon, "bytes", "go")
    daemon.until_state("bytes", "completed")
