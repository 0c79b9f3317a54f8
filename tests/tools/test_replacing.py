"""The replacement of find_and_replace is text: nothing in it is expanded, and what looks as if it were is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.tools.calling import Caller


@pytest.mark.parametrize("replacement", ["$1", "\\1!", "<${name}>", "\\g<name>", "$0"])
@pytest.mark.parametrize("pattern", ["(e)leven", "(?P<name>e)leven", "(?<name>e)leven", "[(](x)|(e)leven"])
def test_a_reference_to_a_group_is_refused_with_what_to_do(agent: Caller, pattern: str, replacement: str):
    call = {"path": "story.md", "version": agent.version("story.md"), "find": pattern, "replace": replacement}
    told = agent.refused("find_and_replace", **call, is_regex=True)
    assert (told["error"], told["details"]["field"]) == ("invalid_argument", "replace")
    assert "(?:...)" in told["message"]


@pytest.mark.parametrize(
    "pattern", ["(?:e)leven", "eleven", "[(]|eleven", "\\(|eleven", "\\Q(\\E|eleven", "[[:digit:](]|eleven"]
)
def test_where_there_is_no_group_a_dollar_is_a_dollar(agent: Caller, pattern: str):
    call = {"path": "story.md", "version": agent.version("story.md"), "find": pattern, "replace": "$100 \\1"}
    assert agent.call("find_and_replace", **call, is_regex=True)["replacements_made"] == 1
    assert "dark for $100 \\1 years" in agent.text("story.md")
