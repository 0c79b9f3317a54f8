"""The limits of the tools are settings: the person's, an environment's, narrowed by a folder's."""

from __future__ import annotations

import time
import tracemalloc
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.config import Limits, Settings, environment_table, parse_settings
from redraft.errors import RedraftError
from redraft.tools.context import ToolContext
from tests.tools.calling import Caller
from tests.workspace.folder import AGENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.workspace.folder import Folder

NAMES = [entry.name for entry in fields(Limits)]


def limited(folder: Folder, **limits: int) -> Caller:
    workspace = folder.open(Settings(mode="apply", limits=replace(Limits(), **limits)))
    return Caller(folder, workspace, ToolContext(workspace, AGENT))


def test_a_first_read_takes_6000_tokens_or_what_the_settings_say(folder: Folder):
    folder.put("a.txt", ("x" * 39 + "\n") * 2000)
    assert limited(folder).call("read_document", path="a.txt")["tokens"]["returned"] == 6000
    agent = limited(folder, read_tokens=100)
    assert agent.call("read_document", path="a.txt")["lines"] == {"start": 0, "end": 9, "total": 2000}
    assert agent.call("read_document", path="a.txt", max_tokens=200)["lines"]["end"] == 19


def test_read_file_gives_as_many_lines_and_bytes_as_the_settings_say(folder: Folder):
    folder.put("a.txt", "x\n" * 2000)
    assert limited(folder, read_lines=5).call("read_file", file_path="a.txt")["end_line"] == 5
    assert limited(folder, read_bytes=20).call("read_file", file_path="a.txt")["end_line"] == 10
    assert limited(folder, read_bytes=20).call("read_file", file_path="a.txt", max_bytes=40)["end_line"] == 20


LIMITS = st.builds(Limits, **{name: st.integers(1, 10**9) for name in NAMES})


@given(LIMITS)
def test_every_limit_can_be_said_in_the_environment(limits: Limits):
    environment = {f"REDRAFT_LIMITS_{name.upper()}": str(getattr(limits, name)) for name in NAMES}
    chosen = parse_settings(environment_table({**environment, "REDRAFT_MODE": "read"}), "the environment")
    assert (chosen.limits, chosen.mode) == (limits, "read")


def test_an_environment_that_names_no_setting_changes_none():
    mine = Settings(mode="apply", limits=Limits(read_lines=3))
    assert parse_settings(environment_table({"REDRAFT_TORTURE": "1", "REDRAFT_MODE": ""}), "", mine) == mine


@pytest.mark.parametrize("value", ["many", "-1", "0", "1.5", "9" * 5000, "\u0663"])
def test_a_number_in_the_environment_that_is_none_is_refused_by_name(value: str):
    with pytest.raises(RedraftError) as caught:
        parse_settings(environment_table({"REDRAFT_LIMITS_READ_LINES": value}), "the environment")
    assert (caught.value.code, caught.value.details["setting"]) == ("invalid_settings", "read_lines")


@given(LIMITS, LIMITS)
def test_of_two_sets_of_limits_the_smaller_of_each_holds(mine: Limits, others: Limits):
    both = mine.narrow(others)
    assert all(getattr(both, name) == min(getattr(mine, name), getattr(others, name)) for name in NAMES)


# What a call could ask for to keep everybody waiting


def cpu_seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def test_a_long_quotation_that_nearly_stands_everywhere_is_refused_soon(folder: Folder):
    folder.put("a.md", "a " * 50_000 + "\n")
    agent = limited(folder)
    call = {"path": "a.md", "old_text": "a " * 2000 + "b", "new_text": "z"}
    assert cpu_seconds(lambda: agent.refused("edit_text", **call)) < 2


def test_a_replacement_that_would_fill_the_memory_is_refused_before_it_is_made(folder: Folder):
    folder.put("a.md", "a" * 1000 + "\n")
    agent = limited(folder, document_bytes=100_000)
    call = {"path": "a.md", "version": agent.version("a.md"), "find": "a"}
    tracemalloc.start()
    told = agent.refused("find_and_replace", **call, replace="b" * 100_000)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (told["error"], most < 20_000_000) == ("too_large", True)
    assert agent.call("find_and_replace", **call, replace="b" * 99)["replacements_made"] == 1000


@pytest.mark.parametrize(("tool", "more"), [("list_files", {}), ("search_project", {"query": "x"})])
def test_a_glob_that_nobody_would_write_is_refused(folder: Folder, tool: str, more: dict[str, str]):
    agent = limited(folder)
    assert agent.refused(tool, glob="[" * 1001, **more)["details"] == {"field": "glob"}
    assert cpu_seconds(lambda: agent.call(tool, glob="*" * 1000, **more)) < 2
