"""No test reaches a model by accident, and nothing heavy is loaded before it is needed."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest

from redraft.providers.adapters.command import CommandProvider, CommandSpec
from redraft.providers.adapters.remote import Address, RemoteProvider
from redraft.providers.contract import ProviderError, StepRequest, UserMessage
from redraft.providers.network_guard import SWITCH, check_address, check_command

HEAVY = ("pydantic_ai", "pydantic", "anthropic", "openai", "google.genai", "httpx2", "xllamacpp", "yaml")


@pytest.mark.parametrize(
    "provider",
    [RemoteProvider(Address("anthropic", "m", "k")), CommandProvider(CommandSpec(("true",), "text"), os.environ)],
)
def test_a_test_that_does_not_ask_cannot_reach_a_model(provider: Any):
    with pytest.raises(ProviderError, match=SWITCH):
        asyncio.run(provider.run_step(StepRequest((UserMessage("Hello."),))))


@pytest.mark.parametrize(
    ("switch", "url", "allowed"),
    [
        ("refuse", "http://127.0.0.1:80", False),
        ("loopback", "http://127.0.0.1:80", True),
        ("loopback", "http://localhost:11434/v1", True),
        ("loopback", "http://[::1]:80", True),
        ("loopback", "https://api.anthropic.com", False),
        ("loopback", "http://127.0.0.1.example.org", False),
        ("loopback", "http://example.org/127.0.0.1", False),
        ("programs", "http://127.0.0.1:80", True),
        ("programs", "https://api.anthropic.com", False),
        ("", "https://api.anthropic.com", True),
    ],
)
def test_the_switch_decides_by_the_address(monkeypatch: pytest.MonkeyPatch, switch: str, url: str, allowed: bool):
    monkeypatch.setenv(SWITCH, switch)
    if allowed:
        assert check_address(url, "p") is None  # type: ignore[func-returns-value]
    else:
        with pytest.raises(ProviderError):
            check_address(url, "p")


@pytest.mark.parametrize(
    ("switch", "allowed"), [("refuse", False), ("loopback", False), ("programs", True), ("", True)]
)
def test_a_program_is_started_only_where_it_may_call_whom_it_likes(
    monkeypatch: pytest.MonkeyPatch, switch: str, allowed: bool
):
    monkeypatch.setenv(SWITCH, switch)
    if allowed:
        assert check_command("p") is None  # type: ignore[func-returns-value]
    else:
        with pytest.raises(ProviderError):
            check_command("p")


def test_making_every_kind_of_model_loads_nothing_heavy():
    program = f"""
import sys
from redraft.config import ModelEntry
from redraft.providers.models import KeySources, make_provider
import redraft.providers.router
models = {{
    "a": ModelEntry(kind="anthropic", model="m"), "o": ModelEntry(kind="openai", model="m"),
    "g": ModelEntry(kind="google", model="m"), "l": ModelEntry(kind="local", file="x.gguf"),
    "c": ModelEntry(kind="claude"), "t": ModelEntry(kind="compatible", model="m", base_url="http://localhost/v1"),
}}
keys = KeySources({{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GOOGLE_API_KEY": "k"}})
for name in models:
    make_provider(name, models, keys)
print([name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"


def test_the_version_is_told_without_loading_any_provider():
    program = "import sys\nfrom redraft.cli import main\ntry:\n    main(['--version'])\nexcept SystemExit:\n    pass\n"
    program += "print([name for name in sys.modules if name.startswith('redraft.providers') or name == 'asyncio'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.splitlines()[-1] == "[]"
