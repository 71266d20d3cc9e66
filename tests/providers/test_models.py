from __future__ import annotations

import subprocess
import sys

import pytest

from agiraph.errors import Fault, ProviderFault
from agiraph.model.agent import ProviderSettings, Settings, TreeSettings
from agiraph.model.usage import FREE, Price, Usage
from agiraph.providers import known, local
from agiraph.providers.accounts import way_to
from agiraph.providers.models import ModelCatalog
from tests.support.clock import HandClock
from tests.support.gguf import model_file
from tests.support.model_server import KEY, ModelServer, say
from tests.support.talk import Talk

NOWHERE = {
    "OLLAMA_HOST": "127.0.0.1:9",
    "LMSTUDIO_HOST": "127.0.0.1:9",
    "LLAMACPP_HOST": "127.0.0.1:9",
}


def catalog(settings: TreeSettings | None = None, **environment: str) -> ModelCatalog:
    return ModelCatalog(
        settings=settings or TreeSettings(),
        environment=NOWHERE | environment,
        clock=HandClock(),
        patience=0.0,
    )


def declared(**how: object) -> TreeSettings:
    entry = {"name": "mine", "kind": "openai"} | how
    return TreeSettings(providers=(ProviderSettings(**entry),))  # type: ignore[arg-type]


def test_finding_models_loads_no_sdk():
    code = (
        "import sys, agiraph.providers.models; "
        "print([m for m in ('anthropic', 'openai', 'httpx2', 'httpx', 'genai_prices', "
        "'pydantic', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "offline/digest"),
        ({"OPENROUTER_API_KEY": "x"}, "openrouter/anthropic/claude-sonnet-5.5"),
        ({"GEMINI_API_KEY": "x", "OPENROUTER_API_KEY": "x"}, "gemini/gemini-3.8-flash"),
        ({"OPENAI_API_KEY": "x", "GEMINI_API_KEY": "x"}, "openai/gpt-6.1-sol"),
        (
            {"ANTHROPIC_API_KEY": "x", "OPENAI_API_KEY": "x"},
            "anthropic/claude-sonnet-5-5",
        ),
        ({"ANTHROPIC_API_KEY": ""}, "offline/digest"),
    ],
)
def test_the_default_is_the_first_whose_key_is_set(environment, name):
    assert catalog(**environment).default() == name


async def test_without_keys_a_local_server_that_answers_is_the_default():
    names = ("embedder-embed", "small")
    with ModelServer(lambda _: "hi", key=None, models=names) as server:
        models = catalog(OLLAMA_HOST=server.base_url)
        assert models.default() == "ollama/small"
        answer = await Talk(models.provider("ollama/small"), "ollama/small").ask("hi")
        await models.close()
    assert answer.text == "hi"
    assert server.requests[0].wire == "chat"
    assert "max_tokens" in server.requests[0].body
    assert "`ollama/small`: free" in models.table()


async def test_openrouter_is_asked_for_tools_and_says_what_it_cost():
    used = {"input": 7, "output": 11, "cache_read": 0, "cost": 0.00125}
    model = "openrouter/anthropic/claude-sonnet-5.5"
    with ModelServer(lambda _: say("hi", usage=used)) as server:
        models = catalog(
            OPENROUTER_API_KEY=KEY, OPENROUTER_BASE_URL=f"{server.base_url}/v1"
        )
        answer = await Talk(models.provider(model), model).ask("hi")
        await models.close()
    assert server.refusals == []
    assert answer.cost_usd == 0.00125
    body = server.requests[0].body
    assert body["model"] == "anthropic/claude-sonnet-5.5"
    assert body["provider"] == {"require_parameters": True}
    assert body["usage"] == {"include": True}
    assert body["cache_control"] == {"type": "ephemeral"}


@pytest.mark.parametrize("name", ["ollama", "lmstudio", "llamacpp"])
async def test_a_local_server_is_found_by_its_usual_name(name):
    with ModelServer(lambda _: "hi", key=None, models=("small",)) as server:
        models = catalog(**{f"{name.upper()}_HOST": server.base_url})
        assert f"`{name}/small`: free" in models.table()
        assert models.default() == f"{name}/small"
        answer = await Talk(models.provider(f"{name}/small"), f"{name}/small").ask("?")
        await models.close()
    assert answer.text == "hi"


async def test_the_models_of_a_declared_server_on_this_machine_are_found():
    with ModelServer(lambda _: "hi", key=None, models=("big", "small")) as server:
        models = catalog(declared(base_url=server.openai_url))
        assert "`mine/big`: price unknown" in models.table()
        rows = {row.model: row for row in models.rows()}
    assert rows["mine/small"].usable


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("box", "http://box:11434/v1"),
        ("box:99", "http://box:99/v1"),
        ("https://box", "https://box:443/v1"),
        ("http://box:1/api/v1/", "http://box:1/api/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
    ],
)
def test_hosts_are_read_as_people_write_them(written, url):
    assert local.address(written, "http://127.0.0.1:11434/v1") == url


@pytest.mark.parametrize(
    ("name", "settings", "environment", "wire", "url"),
    [
        ("anthropic", None, {}, "messages", "https://api.anthropic.com"),
        (
            "anthropic",
            None,
            {"ANTHROPIC_BASE_URL": "http://localhost:1/v1/"},
            "messages",
            "http://localhost:1",
        ),
        ("openai", None, {}, "responses", "https://api.openai.com/v1"),
        ("openai", None, {"OPENAI_BASE_URL": "http://h/v1"}, "chat", "http://h/v1"),
        (
            "openai",
            declared(name="openai", wire_api="responses"),
            {"OPENAI_BASE_URL": "http://h/v1"},
            "responses",
            "http://h/v1",
        ),
        ("mine", declared(base_url="http://h:8/v1"), {}, "chat", "http://h:8/v1"),
        (
            "mine",
            declared(kind="anthropic", base_url="http://h:8/v1"),
            {},
            "messages",
            "http://h:8",
        ),
        ("mine", declared(), {}, "responses", "https://api.openai.com/v1"),
        ("openrouter", None, {}, "chat", "https://openrouter.ai/api/v1"),
    ],
)
def test_a_provider_is_reached_by_its_wire_and_address(
    name, settings, environment, wire, url
):
    providers = (settings or TreeSettings()).providers
    way = way_to(name, {p.name: p for p in providers}, environment)
    assert (way.wire, way.account.base_url) == (wire, url)


@pytest.mark.parametrize(
    ("model", "settings", "kind", "words"),
    [
        ("anthropic/claude-x", None, Fault.KEY, "ANTHROPIC_API_KEY is not set"),
        ("claude-x", None, Fault.MODEL, "Write it as `provider/model`"),
        ("nobody/x", None, Fault.MODEL, "No provider is called 'nobody'"),
        ("mine/x", declared(kind="odd"), Fault.REQUEST, "`kind: odd`"),
        ("mine/x", declared(wire_api="odd"), Fault.REQUEST, "`wire_api: odd`"),
        ("mine/x", declared(api_key_env="MY_KEY"), Fault.KEY, "MY_KEY is not set"),
    ],
)
def test_what_is_missing_is_said(model, settings, kind, words):
    with pytest.raises(ProviderFault) as caught:
        catalog(settings).provider(model)
    assert caught.value.kind is kind
    assert words in caught.value.words


def test_all_loops_share_the_one_gate_of_an_account():
    models = catalog(ANTHROPIC_API_KEY="x")
    gate = models.provider("anthropic/a")
    assert models.provider("anthropic/b") is gate
    changed = models.with_settings(TreeSettings(max_agents=3))
    assert changed.provider("anthropic/a") is gate


def test_facts_know_the_price_and_the_window_of_each_default():
    models = catalog()
    for one in known.MODELS:
        facts = models.facts(one.name)
        assert facts.price is not None, one.name
        assert facts.window >= 100_000
        assert facts.strength


def test_a_price_that_rises_with_the_prompt_bounds_the_window():
    facts = catalog().facts("anthropic/claude-haiku-5-5")
    assert facts.window == 100_000
    assert facts.price is not None
    small = facts.price.cost(Usage(input=100_000))
    large = facts.price.cost(Usage(input=50_000, cache_read=50_001))
    assert small == pytest.approx(0.01)
    assert large == pytest.approx(0.025 + 50_001 * 0.05 / 1e6)


def test_an_unknown_model_has_no_price_and_a_local_one_costs_nothing():
    models = catalog()
    assert models.facts("openai/nonsense").price is None
    assert models.facts("mine/whatever").price is None
    for name in (
        "ollama/a",
        "lmstudio/a",
        "llamacpp/a",
        "scripted/a",
        "offline/digest",
    ):
        assert models.facts(name).price == FREE


def test_prices_of_the_settings_go_before_all_others():
    price = Price(1, 2, 3, 4)
    names = ("anthropic/claude-sonnet-5-5", "ollama/a", "mine/b")
    settings = TreeSettings(prices=tuple((name, price) for name in names))
    models = catalog(settings)
    assert [models.facts(name).price for name in names] == [price] * 3


def test_the_table_names_only_what_can_be_used():
    settings = TreeSettings(
        defaults=Settings(model=("mine/big",)),
        providers=(
            ProviderSettings("mine", "openai", base_url="http://127.0.0.1:9/v1"),
        ),
    )
    table = catalog(settings, OPENAI_API_KEY="x").table()
    assert "`openai/gpt-6.1-sol`: strong; $2 in, $10 out a million" in table
    assert "`mine/big`: price unknown" in table
    assert "anthropic" not in table
    assert "offline" not in table
    assert "offline/digest" in catalog().table()


def test_a_model_that_is_named_in_several_places_has_one_row(tmp_path):
    model_file(tmp_path)
    named = Settings(model=("gguf/small",), worker_model=("gguf/small",))
    settings = TreeSettings(defaults=named)
    found = catalog(settings, XDG_DATA_HOME=str(tmp_path)).rows()
    assert [row.model for row in found].count("gguf/small") == 1


def test_rows_say_why_a_model_cannot_be_used():
    rows = {row.model: row for row in catalog(OPENAI_API_KEY="x").rows()}
    assert rows["openai/gpt-6.1-sol"].default
    assert rows["openai/gpt-6.1-sol"].usable
    assert "ANTHROPIC_API_KEY" in rows["anthropic/claude-opus-5-5"].why_not
    assert "no server answers at http://127.0.0.1:9/v1" in rows["ollama/"].why_not
