"""The loop never asks which provider it talks to: what differs between them is the adapters' business."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import redraft.agent

THE_LOOP = (
    "run/loop",
    "run/tool_calls",
    "run/model_step",
    "run/approvals",
    "run/job_runner",
    "run/prompts",
    "store/steps",
)


def asked_of(source: str) -> list[str]:
    """Conditions that look at a provider's name, its model or its class."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        conditions = (node.test,) if isinstance(node, ast.If | ast.IfExp | ast.While) else ()
        conditions += (node,) if isinstance(node, ast.Compare) else ()
        found += [ast.unparse(each) for each in conditions if _names_a_provider(each)]
    return found


def _names_a_provider(condition: ast.expr) -> bool:
    for node in ast.walk(condition):
        if isinstance(node, ast.Attribute) and node.attr in ("provider_name", "model"):
            return True
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance":
            return any(ast.unparse(kind).endswith("Provider") for kind in node.args[1:])
    return False


@pytest.mark.covers("SB-adapter-no-branch")
@pytest.mark.parametrize("name", THE_LOOP)
def test_no_condition_of_the_loop_is_about_the_provider(name: str):
    folder = Path(next(iter(redraft.agent.__path__)))
    assert asked_of((folder / f"{name}.py").read_text(encoding="utf-8")) == []


def test_a_condition_about_the_provider_would_be_found():
    assert asked_of("if self.provider.provider_name == 'a': pass")
    assert asked_of("x = 1 if isinstance(provider, OfflineProvider) else 2")
    assert not asked_of("if self.budget.spent: pass")
