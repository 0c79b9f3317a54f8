"""Few modules to pass through, and no small one that only a neighbour needs. What is listed here only shrinks."""

from __future__ import annotations

from functools import cache

import pytest

from tests.house.figures import ROOT, Package

# A helper lives beside its only user, unless it has to be loaded late or keeps something heavy apart.
LONELY_MODULES = {"redraft.mcp_server.subagents", "redraft.providers.embedding_models"}
# How many modules one call of an agent passes through at most.
PASSED = {"edit_text": 39, "edit_text, proposed": 43}


@cache
def package() -> Package:
    return Package(ROOT / "src" / "redraft")


def test_a_small_module_has_more_than_one_user_beside_it():
    assert package().lonely_modules() == LONELY_MODULES


@pytest.mark.parametrize(("act", "most"), PASSED.items())
def test_an_edit_passes_through_few_modules(act: str, most: int):
    passed = package().passed_by(act)
    assert len(passed) <= most, sorted(passed)
