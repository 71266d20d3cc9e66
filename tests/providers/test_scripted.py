from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.conversation import Stop
from agiraph.model.usage import Usage
from agiraph.providers.scripted import ScriptedProvider
from tests.support.clock import HandClock
from tests.support.talk import Talk

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
coordinator:
  - call: {create_work_node: {id: paris, task: Look.}}
  - text: Now I wait.
    calls: [{name: wait, arguments: {timeout: 5}}]
    usage: {input: 9, output: 1}
  - text: Done.
  - when: "no such (file|folder)"
    text: I make it anew.
paris:
  - fault: overloaded
"*":
  - text: Anyone.
otherwise:
  text: Nothing more.
"""


def talk(tmp_path: Path, text: str = SCRIPT, *, node: str | None = None) -> Talk:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    made = Talk(ScriptedProvider(str(file), HandClock()), f"scripted/{file}")
    made.prefix = type(made.prefix)(
        "", 1, made.prefix.model, made.prefix.content, (), node
    )
    return made


async def test_answers_come_in_order_and_rules_in_between(tmp_path):
    led = talk(tmp_path)
    first = await led.ask("go")
    led.results("paris is made")
    second = await led.ask()
    led.results("error: No such folder")
    third = await led.ask()
    fourth = await led.ask("well?")
    fifth = await led.ask("and?")
    assert first.calls[0].arguments == {"id": "paris", "task": "Look."}
    assert (second.text, second.usage) == ("Now I wait.", Usage(9, 1))
    assert second.stop is Stop.TOOLS
    assert [third.text, fourth.text, fifth.text] == [
        "I make it anew.",
        "Done.",
        "Nothing more.",
    ]


async def test_a_restart_repeats_nothing(tmp_path):
    led = talk(tmp_path)
    await led.ask("go")
    led.results("made")
    led.provider = ScriptedProvider(str(tmp_path / "script.yaml"), HandClock())
    assert (await led.ask()).text == "Now I wait."


async def test_each_speaker_has_its_own_part(tmp_path):
    with pytest.raises(ProviderFault) as caught:
        await talk(tmp_path, node="paris").ask("go")
    assert caught.value.kind is Fault.OVERLOADED
    assert (await talk(tmp_path, node="rome").ask("go")).text == "Anyone."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("coordinator:\n  - txt: hi\n", "line 2: `txt` is not known"),
        ("coordinator:\n  - text: a\n  - fault: odd\n", "line 3: 'odd' is not a valid"),
        ("coordinator: [\n", "line 2: is no YAML"),
        ("coordinator:\n  - when: '('\n", "line 2:"),
        ("coordinator:\n  - calls: 3\n", "line 2: `calls` is a list"),
        ("- a\n", "line 1: must be a mapping"),
        ("alice:\n  - text: hi\n", "has no answer 1 for '*'"),
    ],
)
async def test_a_bad_script_is_told_with_path_and_line(tmp_path, text, words):
    with pytest.raises(ProviderFault) as caught:
        await talk(tmp_path, text).ask("go")
    assert words in caught.value.words
    assert "script.yaml" in caught.value.words


async def test_a_missing_script_is_told(tmp_path):
    provider = ScriptedProvider(str(tmp_path / "none.yaml"), HandClock())
    with pytest.raises(ProviderFault, match=r"none\.yaml: there is no such file"):
        await Talk(provider, "scripted/none.yaml").ask("go")
