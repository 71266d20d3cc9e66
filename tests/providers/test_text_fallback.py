"""Models without tool calling: only the wire differs."""

from __future__ import annotations

from itertools import pairwise

from agiraph.clock import SystemClock
from agiraph.model.agent import ProviderSettings, TreeSettings
from agiraph.model.conversation import Stop
from agiraph.providers.models import ModelCatalog
from tests.support.model_server import Asked, ModelServer, Scripted, say
from tests.support.talk import Talk

WRITE = '{"name": "write_file", "arguments": {"path": "a.md", "content": "A"}}'
SMALL = "lab/small"


def catalog(server: ModelServer, **how: object) -> ModelCatalog:
    lab = ProviderSettings("lab", "openai", base_url=server.openai_url, text=True)
    settings = TreeSettings(providers=(lab,), **how)  # type: ignore[arg-type]
    return ModelCatalog(settings=settings, environment={}, clock=SystemClock())


def small(asked: Asked) -> Scripted:
    """As Qwen2.5-Coder-1.5B answered: a fence of Python without tags, then nothing."""
    if asked.turn == 1:
        return say(f"I write.\n```python\n{WRITE}\n```")
    return "" if asked.turn == 2 else "Done."


async def test_tools_stand_in_the_prompt_and_calls_come_from_the_text():
    with ModelServer(small, key=None) as server:
        models = catalog(server)
        talk = Talk(models.provider(SMALL), SMALL)
        first = await talk.ask("Write a file.")
        talk.results("written")
        second = await talk.ask()
        third = await talk.ask("Your answer was empty.")
        await models.close()
    assert server.refusals == []
    assert all("tools" not in asked.body for asked in server.requests)
    system = server.requests[0].system
    assert system.startswith("You are the coordinator.")
    assert '"required": ["path", "content"]' in system
    assert "<tool_call>" in system
    assert (first.text, first.stop) == ("I write.", Stop.TOOLS)
    assert first.calls[0].arguments == {"path": "a.md", "content": "A"}
    assert server.requests[1].last_user == (
        '<tool_response name="write_file">\nwritten\n</tool_response>'
    )
    assert (second.text, second.calls, second.stop) == ("", (), Stop.END)
    assert third.text == "Done."


async def test_the_model_sees_its_own_words_again_and_nothing_sent_is_changed():
    with ModelServer(small, key=None) as server:
        models = catalog(server)
        talk = Talk(models.provider(SMALL), SMALL)
        await talk.ask("Write a file.")
        talk.results("written")
        await talk.ask()
        talk.reread()
        await talk.ask("Go on.")
        await models.close()
    assert server.refusals == []
    assert f"```python\n{WRITE}\n```" in server.requests[1].turns[1].text
    lists = [asked.messages for asked in server.requests]
    for earlier, later in pairwise(lists):
        assert later[: len(earlier)] == earlier


async def test_a_malformed_call_is_answered_with_the_format():
    def script(asked: Asked) -> Scripted:
        return "<tool_call>write a file</tool_call>" if asked.turn == 1 else "sorry"

    with ModelServer(script, key=None) as server:
        models = catalog(server)
        talk = Talk(models.provider(SMALL), SMALL)
        first = await talk.ask("go")
        talk.results("there is no tool 'tool_call'", error=True)
        await talk.ask()
        await models.close()
    assert server.refusals == []
    assert first.calls[0].arguments is None
    told = server.requests[1].last_user
    assert "there is no tool 'tool_call'" in told
    assert '<tool_call>\n{"name": "name_of_the_tool", "arguments"' in told


async def test_a_call_that_the_maximum_cut_off_is_broken():
    cut = '<tool_call>{"name": "write_file", "arguments": {"path": "a.md"'
    with ModelServer(lambda _: say(cut, stop="max_tokens"), key=None) as server:
        models = catalog(server)
        answer = await Talk(models.provider(SMALL), SMALL).ask("go")
        await models.close()
    assert [one.arguments for one in answer.calls] == [None]


async def test_the_conversation_moves_to_a_model_with_tools_and_back():
    def script(asked: Asked) -> Scripted:
        return say(WRITE) if asked.number == 1 else "fine"

    with ModelServer(script, key=None, new_sessions=True) as server:
        models = catalog(server, by_text=(("lab/large", False),))
        talk = Talk(models.provider(SMALL), SMALL)
        await talk.ask("go")
        talk.results("written")
        talk.moved(models.provider("lab/large"), "lab/large")
        await talk.ask()
        talk.moved(models.provider("lab/other"), "lab/other")
        await talk.ask("and?")
        await models.close()
    assert server.refusals == []
    large, other = server.requests[1:]
    assert large.calls[0].arguments == {"path": "a.md", "content": "A"}
    assert large.results[0].text == "written"
    assert "tools" in large.body
    assert f"<tool_call>\n{WRITE}\n</tool_call>" in other.turns[1].text


async def test_one_model_may_call_by_text_where_its_provider_does_not():
    with ModelServer(lambda _: say(WRITE), key=None) as server:
        lab = ProviderSettings("lab", "openai", base_url=server.openai_url)
        settings = TreeSettings(providers=(lab,), by_text=((SMALL, True),))
        models = ModelCatalog(settings=settings, environment={}, clock=SystemClock())
        by_text = await Talk(models.provider(SMALL), SMALL).ask("go")
        plain = await Talk(models.provider("lab/big"), "lab/big").ask("go")
        await models.close()
    assert by_text.calls
    assert plain.text == WRITE
    assert "tools" in server.requests[1].body
