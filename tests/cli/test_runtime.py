"""Settings: the person's own hold, a folder's only narrow, and a broken file neither locks out nor lets loose."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import runtime
from redraft.config import MODE_WIDTH, Limits, Settings
from redraft.errors import RedraftError
from tests.agent.desk import call
from tests.cli.running import Program

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def at_home(redraft: Program, monkeypatch: pytest.MonkeyPatch) -> Program:
    for name, value in redraft.environment.items():
        monkeypatch.setenv(name, value)
    return redraft


def test_the_places_follow_the_environment(at_home: Program, monkeypatch: pytest.MonkeyPatch):
    assert runtime.state_home() == at_home.state_home
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, "relative/is/ignored")
    assert runtime.state_home() == str(at_home.home / ".local" / "state")
    assert runtime.user_settings_path() == str(at_home.home / ".config" / "redraft" / "settings.toml")


def test_without_a_file_the_defaults_hold(at_home: Program):
    assert runtime.user_settings() == Settings()
    assert runtime.folder_settings(str(at_home.folder), Settings()) == (Settings(), [])


def test_the_persons_settings_are_read(at_home: Program):
    at_home.settings('mode = "apply"\nconfirm_files = 3\n[limits]\nactions = 5\n')
    settings = runtime.user_settings()
    assert (settings.mode, settings.confirm_files, settings.limits.actions) == ("apply", 3, 5)


@pytest.mark.parametrize(
    "text", ['mode = "free"', "mode = 3", "colour = true", "mode =", "[limits]\nactions = 0", "limits = 1"]
)
def test_a_mistake_in_the_persons_settings_is_an_error_that_names_the_file(at_home: Program, text: str):
    at_home.settings(text)
    with pytest.raises(RedraftError) as caught:
        runtime.user_settings()
    assert caught.value.code == "invalid_settings"
    assert runtime.user_settings_path() in caught.value.message


def test_the_program_tells_a_mistake_in_the_persons_settings(redraft: Program):
    redraft.settings("mode = 3")
    result = redraft.run("status", "--json")
    assert (result.status, result.json["error"]) == (2, "invalid_settings")


settings = st.builds(
    Settings,
    mode=st.sampled_from(sorted(MODE_WIDTH)),
    review=st.sampled_from(["hunk", "turn"]),
    confirm_files=st.integers(1, 99),
    limits=st.builds(Limits, **{entry.name: st.integers(1, 99) for entry in fields(Limits)}),
)


def as_toml(chosen: Settings) -> str:
    lines = [f'mode = "{chosen.mode}"', f'review = "{chosen.review}"', f"confirm_files = {chosen.confirm_files}"]
    lines += ["retention_days = 1", "[limits]"]
    lines += [f"{entry.name} = {getattr(chosen.limits, entry.name)}" for entry in fields(Limits)]
    return "\n".join(lines)


@pytest.mark.covers("RD-decided-settings")
@given(own=settings, of_folder=settings)
def test_a_folder_can_narrow_and_never_widen(
    tmp_path_factory: pytest.TempPathFactory, own: Settings, of_folder: Settings
):
    folder = tmp_path_factory.mktemp("folder")
    (folder / ".redraft").mkdir()
    (folder / ".redraft" / "settings.toml").write_text(as_toml(of_folder), encoding="utf-8")
    found, notices = runtime.folder_settings(str(folder), own)
    assert notices == []
    for side in (own, of_folder):
        assert MODE_WIDTH[found.mode] <= MODE_WIDTH[side.mode]
        assert found.confirm_files <= side.confirm_files
        assert found.review == "turn" or side.review == "hunk"
        assert all(getattr(found.limits, e.name) <= getattr(side.limits, e.name) for e in fields(Limits))
    assert found.retention_days == own.retention_days


@pytest.mark.parametrize("broken", ["mode = 3", "colour = true", "mode =", "\udcff", "[" * 100_000, "x" * 2_000_000])
def test_a_broken_settings_file_of_a_folder_leaves_agents_reading_and_says_so(at_home: Program, broken: str):
    (at_home.folder / ".redraft").mkdir()
    path = at_home.folder / ".redraft" / "settings.toml"
    path.write_bytes(broken.encode(errors="surrogateescape"))
    found, (notice,) = runtime.folder_settings(str(at_home.folder), Settings(mode="apply"))
    assert found == Settings(mode="read")
    assert ".redraft/settings.toml" in notice
    assert "only read" in notice


def test_settings_through_a_link_are_not_followed(at_home: Program, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere.toml"
    elsewhere.write_text('mode = "apply"', encoding="utf-8")
    (at_home.folder / ".redraft").mkdir()
    (at_home.folder / ".redraft" / "settings.toml").symlink_to(elsewhere)
    found, notices = runtime.folder_settings(str(at_home.folder), Settings())
    assert (found.mode, len(notices)) == ("read", 1)


def test_a_person_can_go_on_in_a_folder_whose_settings_are_broken(proposed: Program):
    proposed.settings("mode = 3", of_folder=True)
    assert "agents can only read" in proposed.run("status").out
    result = proposed.run("accept", "--all")
    assert result.status == 0
    assert result.err.startswith("note: .redraft/settings.toml")
    assert "twelve" in proposed.read("story.md")


def test_a_file_named_on_the_command_line_is_read_or_refused(at_home: Program):
    assert runtime.read_input(str(at_home.folder / "todo.md")).text.startswith("- find")
    for name in ("gone.md", "a\0b", str(at_home.folder)):
        with pytest.raises(RedraftError, match="cannot be read"):
            runtime.read_input(name)


@pytest.mark.parametrize("name", [entry.name for entry in fields(Limits)])
def test_every_limit_can_be_set_by_a_file_and_the_environment_has_the_last_word(
    at_home: Program, monkeypatch: pytest.MonkeyPatch, name: str
):
    at_home.settings(f"[limits]\n{name} = 8\n")
    assert getattr(runtime.user_settings().limits, name) == 8
    monkeypatch.setenv(f"REDRAFT_LIMITS_{name.upper()}", "7")
    assert getattr(runtime.user_settings().limits, name) == 7
    monkeypatch.setenv(f"REDRAFT_LIMITS_{name.upper()}", "many")
    with pytest.raises(RedraftError, match=name) as caught:
        runtime.user_settings()
    assert caught.value.code == "invalid_settings"


@pytest.mark.covers("SB-limit-configurable", "SB-limit-search-default", "SB-limit-search-cap")
def test_tools_keep_to_the_limits_of_the_file_and_of_the_environment(redraft: Program):
    for number in range(12):
        redraft.write(f"{number}.md", "above\n\nneedle\n\nbelow\n" * 3)
    redraft.write("long.md", "123456789\n" * 50)
    calls = [
        call("search_project", query="needle"),
        call("search_project", query="needle", limit=50),
        call("read_file", file_path="long.md"),
        call("read_file", file_path="long.md", end_line=50),
    ]

    def sizes(program: Program) -> list[int]:
        usual, most, lines, size = program.json("tool", "batch", json.dumps({"calls": calls}))["results"]
        [snippet] = {len(each["snippet"].split("\n")) for each in most["results"]}
        return [len(usual["results"]), len(most["results"]), snippet, lines["end_line"], len(size["content"])]

    names = ("search_results", "search_results_cap", "search_snippet_lines", "read_lines", "read_bytes")
    of_file, of_environment = (4, 6, 3, 9, 200), (5, 8, 1, 7, 150)
    redraft.settings("[limits]\n" + "".join(f"{name} = {value}\n" for name, value in zip(names, of_file, strict=True)))
    assert sizes(redraft) == list(of_file)
    variables = {
        f"REDRAFT_LIMITS_{name.upper()}": str(value) for name, value in zip(names, of_environment, strict=True)
    }
    assert sizes(Program(redraft.folder, variables)) == list(of_environment)
    redraft.settings("poll_interval_ms = 700\n[agent]\ntool_calls = 5\n")
    assert _told(redraft, "poll_interval_ms", "agent.tool_calls") == (700, 5)
    louder = Program(redraft.folder, {"REDRAFT_POLL_INTERVAL_MS": "800", "REDRAFT_AGENT_TOOL_CALLS": "6"})
    assert _told(louder, "poll_interval_ms", "agent.tool_calls") == (800, 6)


def _told(program: Program, *names: str) -> tuple[int, ...]:
    settings = program.json("settings")["settings"]
    return tuple(settings[name] for name in names)
