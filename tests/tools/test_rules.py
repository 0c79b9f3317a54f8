"""A mode's rules hold for every tool: what may not be read is not told by a search, a list or the history either."""

from __future__ import annotations

from typing import Any

import pytest

from redraft.workspace.turns.modes import Mode, Rule, Verdict, WriteTime
from tests.tools.calling import Caller
from tests.workspace.folder import Folder, no, person_writes, yes

SAID = "hushhush"


@pytest.fixture(params=[Verdict.DENY, Verdict.ASK])
def agent(folder: Folder, request: pytest.FixtureRequest) -> Caller:
    """An agent that may not, or not unasked, read what is private, and asks before it creates anything."""
    caller = Caller.at(folder)
    folder.put("private/diary.md", f"{SAID}\n")
    folder.put("open.md", f"{SAID} is a word\n")
    rules = (Rule("read", "private/*", request.param), Rule("create", "*", Verdict.ASK))
    caller.context.mode = Mode("careful", WriteTime.AT_ONCE, rules)
    caller.context.confirm = no
    return caller


@pytest.mark.covers("P7")
def test_what_may_not_be_read_is_not_read(agent: Caller):
    assert agent.refused("read_document", path="private/diary.md")["error"] in ("mode_refuses", "confirmation_required")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_documents", {"query": SAID}),
        ("search_project", {"query": SAID}),
        ("search_project", {"query": f"{SAID} elsewhere"}),
    ],
)
def test_a_search_tells_nothing_of_what_may_not_be_read(agent: Caller, tool: str, arguments: dict[str, Any]):
    told = str(agent.call(tool, **arguments)["results"])
    assert "open.md" in told
    assert "diary" not in told


def test_the_history_withholds_what_may_not_be_read(agent: Caller):
    person_writes(agent.workspace, {"private/diary.md": "HUSH\n", "open.md": "HUSH\n"})
    documents = agent.call("show_turn", turn=1)["documents"]
    assert {each["path"]: bool(each["patch"]) for each in documents} == {"private/diary.md": False, "open.md": True}


def test_a_tab_of_what_may_not_be_read_shows_its_name_alone(agent: Caller):
    path = "private/diary.md"
    agent.folder.put(path, f"{SAID}\n")
    agent.workspace.open_tab("open.md")
    agent.workspace.open_tab(path)
    seen, hidden = agent.call("list_tabs")["tabs"]
    assert all((seen["version"], seen["size_chars"], seen["line_count"]))
    assert (hidden["path"], hidden["version"], hidden["size_chars"], hidden["line_count"]) == (path, None, 0, 0)


def test_a_folder_is_made_only_after_asking_where_the_rules_say_so(agent: Caller):
    assert agent.refused("create_folder", path="new")["error"] == "confirmation_required"
    agent.context.confirm = yes
    assert agent.call("create_folder", path="new")["made"] == ["new"]
    agent.context.confirm = no
    assert agent.call("create_folder", path="new")["created"] is False
