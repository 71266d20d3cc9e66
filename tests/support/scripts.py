"""Scripts for the models of a test's agents, and gates that files open.

```python
speak(daemon, "news", coordinator=[gate("go"), call("finish", summary="done")])
drop(daemon, "news", "Bring the news.")
open_gate(daemon, "news", "go")
```
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.daemon import Daemon

Answer = dict[str, Any]


def call(name: str, **arguments: Any) -> Answer:
    """An answer with one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def calls(*each: Answer, text: str = "") -> Answer:
    """Several answers in one: their calls in a row."""
    return {"text": text, "calls": [one for answer in each for one in answer["calls"]]}


def say(text: str, **more: Any) -> Answer:
    """An answer without a call."""
    return {"text": text, **more}


def when(words: str, answer: Answer) -> Answer:
    """An answer for whenever this was just said."""
    return {"when": words, **answer}


def gate(name: str) -> Answer:
    """A command that goes on until a person puts a file of that name into inputs/."""
    return call("bash", command=waiting(name))


def waiting(name: str) -> str:
    """The shell words of a gate."""
    return f"{until_there(name)}; echo opened"


def until_there(name: str) -> str:
    """Shell words that wait for a file in inputs/; after minutes they end anyhow."""
    look = f'[ -e "$AGIRAPH_INPUTS/{name}" ] && break'
    return f"for _ in $(seq 9999); do {look}; sleep 0.03; done"


def done(summary: str = "all is done") -> Answer:
    """The coordinator ends the run."""
    return call("finish", summary=summary)


def publish(text: str, *, file: str = "a.md", summary: str = "") -> Answer:
    """A worker writes one file and hands it in."""
    write = call("write_file", path=f"scratch/{file}", content=f"{text}\n")
    return calls(write, call("publish", summary=summary or text))


def speak(
    daemon: Daemon, agent: str, coordinator: Iterable[Answer], **parts: Any
) -> None:
    """Write the script of an agent; parts are named by node, `_` standing for `-`."""
    folder = daemon.home / "scripts"
    folder.mkdir(exist_ok=True)
    script: dict[str, Any] = {"coordinator": list(coordinator)}
    for name, part in parts.items():
        answers = [part] if isinstance(part, dict) else list(part)
        script[name.replace("_", "-")] = answers
    (folder / f"{agent}.yaml").write_text(yaml.safe_dump(script), "utf-8")


def goal(agent: str, text: str, **settings: Any) -> str:
    """A GOAL.md whose model is the agent's script."""
    head = {"model": f"scripted/scripts/{agent}.yaml", "reflection": False, **settings}
    return f"---\n{yaml.safe_dump(head)}---\n{text}\n"


def drop(daemon: Daemon, agent: str, text: str = "Do it.", **settings: Any) -> None:
    """Drop an agent's GOAL.md."""
    (daemon.root / agent / "inputs").mkdir(parents=True, exist_ok=True)
    daemon.write(f"{agent}/GOAL.md", goal(agent, text, **settings))


def open_gate(daemon: Daemon, agent: str, name: str) -> None:
    """Let whoever waits at a gate go on."""
    (daemon.root / agent / "inputs" / name).touch()


def at_gate(daemon: Daemon, agent: str, name: str) -> None:
    """Wait until a gate's command runs: its call is on record, and its intent."""
    home = daemon.root / agent

    def held() -> bool:
        said = [path.read_text("utf-8") for path in home.rglob("conversation.jsonl")]
        steps = (home / "_state/journal.jsonl").read_text("utf-8")
        asked = [call for text in said for call in _commands(text)]
        meant = steps.count('"tool": "bash"')
        return any(f'/{name}"' in call for call in asked) and meant >= len(asked)

    daemon.until(held, f"{agent} waits at the gate {name}")


def _commands(conversation: str) -> list[str]:
    """What a model has asked the shell to do."""
    lines = [json.loads(line) for line in conversation.splitlines()]
    calls = [call for line in lines for call in line.get("tool_calls", ())]
    return [call["arguments"]["command"] for call in calls if call["name"] == "bash"]


def told(daemon: Daemon, pattern: str, *roles: str) -> str:
    """What stands in a conversation, all texts of these roles (default: user)."""
    wanted = roles or ("user",)
    found = daemon.lines(f"{pattern}/conversation.jsonl")
    return "\n".join(
        str(line["content"]) for line in found if line.get("role") in wanted
    )
