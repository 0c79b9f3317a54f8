"""From settings and keys to providers."""

from __future__ import annotations

import asyncio
import tomllib
from typing import TYPE_CHECKING

import pytest

from redraft.config import ModelEntry, RoutingSettings, Settings, parse_settings
from redraft.errors import RedraftError
from redraft.providers.adapters.prompted_tools import PromptedTools
from redraft.providers.contract import ProviderError, StepRequest, UserMessage
from redraft.providers.models import FROM_KEYS, KeySources, list_known_models, make_provider

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = """
[routing]
agent_mode = "hybrid_auto"
local = "small"
remote = "opus"
hybrid_max_local_attempts = 3

[models.small]
kind = "compatible"
model = "llama3.2"
base_url = "http://localhost:11434/v1"
native_tools = false
context_tokens = 8192

[models.opus]
kind = "anthropic"
model = "claude-opus-5"
key_env = "MY_KEY"

[models.agent]
kind = "command"
command = ["my-agent", "--quiet"]
"""


def settings(text: str = SETTINGS) -> Settings:
    return parse_settings(tomllib.loads(text), "settings.toml")


def test_models_and_routing_are_read_from_settings():
    read = settings()
    assert read.routing == RoutingSettings("hybrid_auto", "small", "opus", hybrid_max_local_attempts=3)
    assert set(read.models) == {"small", "opus", "agent"}
    assert read.models["agent"].command == ("my-agent", "--quiet")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[models.a]\nkind = "telepathy"', "models.a.kind must be one of"),
        ('[models.a]\nkind = "local"', "models.a.file must be given"),
        ('[models.a]\nkind = "compatible"\nmodel = "m"', "models.a.base_url must be given"),
        ('[models.a]\nkind = "command"\ncommand = "ls -l"', "command must be a list of strings"),
        ('[models.a]\nkind = "command"\ncommand = [1]', "command must be a list of strings"),
        ('[models.a]\nkind = "claude"\nmodle = "x"', "modle must be one of"),
        ('[routing]\nagent_mode = "clever"', "agent_mode must be one of local, remote, hybrid_auto"),
        ("[routing]\nhybrid_max_local_attempts = 0", "must be at least 1"),
        ('[routing]\nfallback = "no"', "fallback must be true or false"),
        ("models = 3", "models must be a table"),
        ("[models]\na = 3", "models.a must be a table"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused_by_name(text: str, words: str):
    with pytest.raises(RedraftError, match=words):
        settings(text)


def test_a_folder_can_keep_documents_here_and_never_sends_them_out():
    mine = settings()
    folder = parse_settings(
        tomllib.loads(
            '[routing]\nagent_mode = "local"\nfallback = false\nlocal = "evil"\n[models.evil]\nkind = "claude"'
        ),
        "folder",
        mine,
    )
    held = mine.narrow(folder)
    assert held.routing == RoutingSettings("local", "small", "opus", fallback=False, hybrid_max_local_attempts=3)
    assert held.models == mine.models
    wide = mine.narrow(parse_settings({"routing": {"agent_mode": "remote"}}, "folder", mine))
    assert wide.routing.agent_mode == "hybrid_auto"


def test_a_key_in_the_environment_is_enough():
    assert list_known_models({}, KeySources({})) == {}
    found = list_known_models({}, KeySources({"GEMINI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": ""}))
    assert list(found) == ["anthropic", "google"]
    provider = make_provider("anthropic", {}, KeySources({"ANTHROPIC_API_KEY": "k"}))
    assert (provider.provider_name, provider.model) == ("anthropic", FROM_KEYS["anthropic"].model)


def test_a_persons_own_model_stands_before_the_one_of_a_key():
    mine = {"anthropic": ModelEntry(kind="anthropic", model="claude-opus-5")}
    assert make_provider("anthropic", mine, KeySources({"ANTHROPIC_API_KEY": "k"})).model == "claude-opus-5"


def test_a_model_can_be_named_with_its_provider():
    assert make_provider("openai:gpt-5-mini", {}, KeySources({"OPENAI_API_KEY": "k"})).model == "gpt-5-mini"


def test_a_model_without_tools_of_its_own_gets_the_protocol():
    assert isinstance(make_provider("small", settings().models, KeySources({})), PromptedTools)
    assert isinstance(make_provider("agent", settings().models, KeySources({})), PromptedTools)
    assert not isinstance(make_provider("opus", settings().models, KeySources({"MY_KEY": "k"})), PromptedTools)


def test_a_missing_key_is_told_by_the_name_of_its_variable():
    with pytest.raises(ProviderError, match="MY_KEY is not set") as caught:
        make_provider("opus", settings().models, KeySources({"ANTHROPIC_API_KEY": "k"}))
    assert caught.value.code == "model_auth"


def test_a_key_never_reaches_another_servers_address():
    # Without a key of its own such a server is asked with none, whatever keys lie in the environment.
    for kind in ("compatible", "openai", "anthropic"):
        mine = {"proxy": ModelEntry(kind=kind, model="m", base_url="http://localhost:1/v1")}
        provider = make_provider("proxy", mine, KeySources({"OPENAI_API_KEY": "secret", "ANTHROPIC_API_KEY": "secret"}))
        assert "secret" not in str(vars(provider)["_address"].key)


def test_an_unknown_model_is_told_with_those_that_are_known():
    with pytest.raises(RedraftError, match=r"no model 'gtp'; known are: small, opus, agent") as caught:
        make_provider("gtp", settings().models, KeySources({}))
    assert caught.value.code == "model_unavailable"


def test_a_script_is_a_model_too(tmp_path: Path):
    script = tmp_path / "script.jsonl"
    script.write_text('{"text": "played"}\n', encoding="utf-8")
    mine = {"demo": ModelEntry(kind="scripted", file=str(script))}
    result = asyncio.run(make_provider("demo", mine, KeySources({})).run_step(StepRequest((UserMessage("Go."),))))
    assert result.text == "played"
    with pytest.raises(ProviderError, match="cannot be read"):
        make_provider("demo", {"demo": ModelEntry(kind="scripted", file=str(tmp_path / "none"))}, KeySources())
