"""`redraft models`: a model is set up, tried and removed in the terminal; its key is no argument of a command."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.providers.model_server import GOOD, ModelServer

if TYPE_CHECKING:
    from tests.cli.running import Program

pytestmark = pytest.mark.slow


@pytest.mark.covers("RD-models-terminal")
def test_a_model_is_added_tested_and_removed_with_a_key_from_a_pipe_or_a_prompt(redraft: Program):
    with ModelServer() as model:
        redraft = replace(redraft, variables={"REDRAFT_MODEL_CALLS": "loopback"})
        add = ("models", "add", "anthropic", "--url", model.url, "--model", "claude-haiku-4-5", "--name", "far")
        assert "far is set up" in redraft.ok(*add, stdin=f"{GOOD}\n")
        listed = redraft.ok("models")
        assert "far" in listed
        assert "default" in listed
        assert model.said in redraft.ok("models", "test")
        typed = redraft.on_terminal(*add, answer=f"{GOOD}\n", prompt="(not shown): ")
        assert typed.status == 0
        assert "not shown" in typed.out
        assert GOOD not in typed.out
        near = ("models", "add", "compatible", "--url", f"{model.url}/v1", "--model", "m", "--name", "near")
        redraft.ok(*near)
        assert set(model.keys) == {GOOD}
        assert redraft.run("models", "add", "anthropic", "--key", GOOD).status == 2
        redraft.ok("models", "use", "far")
        redraft.ok("models", "remove", "near")
        redraft.ok("models", "remove", "far")
        assert "No model is set up" in redraft.ok("models")
    home = [path for path in redraft.home.rglob("*") if path.is_file()]
    assert not any(GOOD.encode() in path.read_bytes() for path in home)


def test_a_key_that_is_missing_is_asked_for_in_words(redraft: Program):
    refused = redraft.run("models", "add", "openai")
    assert refused.status == 2
    assert "needs an API key" in refused.err
    assert "no model" in redraft.run("models", "test", "nobody").err
