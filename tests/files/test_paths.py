"""Which names are paths, and which places are closed to agents or to everybody."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from redraft.errors import Forbidden, Refused
from redraft.files.paths import (
    agent_may_write,
    check_agent_write,
    is_internal,
    join_path,
    parse_path,
    split_path,
)

NAMES = st.text(min_size=1, max_size=20)


def naive_fault(raw: str) -> bool:
    """The slow twin of `parse_path`: whether any rule, each read off its sentence, refuses `raw`."""
    devices = {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    devices |= {f"{kind}{digit}" for kind in ("com", "lpt") for digit in "0123456789¹²³"}
    bad = {chr(code) for code in [*range(0x20), *range(0x7F, 0xA0), *range(0xD800, 0xE000)]}
    bad |= set("\\\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
    if any(char in bad for char in raw) or raw.startswith(("/", "~")) or len(raw.encode()) > 4096:
        return True
    if len(raw) > 1 and raw[1] == ":" and raw[0].lower() in "abcdefghijklmnopqrstuvwxyz":
        return True
    return any(
        name in {"", ".", ".."}
        or name.endswith((".", " "))
        or len(name.encode()) > 255
        or name.split(".")[0].rstrip(" ").casefold() in devices
        for name in raw.split("/")
    )


@given(
    st.one_of(
        st.text(max_size=30),
        st.text(alphabet="a./\\~:C\0\n é.", max_size=12),
        st.lists(st.sampled_from(["..", ".", "", "a", "con", "NUL.txt", "é", "a.", "C:", "~", "x y"])).map("/".join),
    )
)
@example("a" * 256)
@example("é" * 128)
@example("/".join(["a" * 200] * 21))
@example("\ud800")
def test_parsing_agrees_with_the_rules_read_one_by_one(raw: str) -> None:
    if not naive_fault(raw):
        assert parse_path(raw) == raw
        return
    with pytest.raises(Refused) as caught:
        parse_path(raw)
    assert caught.value.code == "invalid_path"
    assert caught.value.message.isprintable()


REFUSED_WORDS = """
/etc/passwd ../x a/../b a/./b . .. a//b a/ a\\b C:x c:/x a. a./b CON nul.txt com1 LPT9.md dir/AUX.md ~/x ~root
"""
REFUSED_OTHERS = ["", "a\0b", "a\nb", "a\x9bb", "a\u202eb", "a\u2028b", "a /b", "\udcff", "x" * 256, "é" * 128]


@pytest.mark.covers("RD-files-components")
@pytest.mark.parametrize("raw", [*REFUSED_WORDS.split(), *REFUSED_OTHERS])
def test_a_path_that_could_mean_another_place_is_refused(raw: str) -> None:
    with pytest.raises(Refused) as caught:
        parse_path(raw)
    assert caught.value.code == "invalid_path"


ORDINARY_WORDS = """
a.md a/b/c.md Übung/straße.md 日本語.md ..a a..b .hidden x~ 10:30.md console.md com10 conference.md
"""
ORDINARY_OTHERS = ["a b.md", "e\u0301.md", "👨\u200d👩\u200d👧.md", "x" * 255, "a\u00a0b.md"]


@pytest.mark.parametrize("raw", [*ORDINARY_WORDS.split(), *ORDINARY_OTHERS])
def test_an_ordinary_name_is_kept_as_it_was_written(raw: str) -> None:
    assert parse_path(raw) == raw


@given(NAMES, NAMES)
def test_splitting_undoes_joining(folder: str, name: str) -> None:
    assume("/" not in name)
    assert split_path(join_path(folder, name)) == (folder, name)
    assert split_path(join_path("", name)) == ("", name)


CLOSED = """
.git/hooks/pre-commit sub/.git/config .GIT/x .git./x .git::$INDEX_ALLOCATION/x git~1/hooks/x .g\u200cit/config
.ｇit/config .redraft/settings.toml .agent-doc/hooks.sh .vscode/tasks.json .idea/workspace.xml GITHUB~1/x
.github/workflows/ci.yml .gitlab-ci.yml .circleci/config.yml .husky/pre-push .claude/settings.json .cursor/rules
.codex/config .devcontainer/x .envrc a/.gitattributes .gitmodules .pre-commit-config.yaml a/.redraft-tmp-0123
Jenkinsfile .bashrc .mcp.json .vs/x .ssh/config
"""
OPEN = """
notes.md git/notes.md github/notes.md .gitignore my.git/x a.github Makefile agit~1/x x.env.md docs/vscode.md legit.md
.gitkeep redraft/x CLAUDE.md
"""


@pytest.mark.parametrize("path", CLOSED.split())
def test_no_agent_writes_where_text_is_executed_by_convention(path: str) -> None:
    assert not agent_may_write(path)
    with pytest.raises(Forbidden) as caught:
        check_agent_write(path)
    assert caught.value.code == "forbidden_path"


@pytest.mark.parametrize("path", OPEN.split())
def test_agents_write_everywhere_else(path: str) -> None:
    assert agent_may_write(path)
    check_agent_write(path)


@pytest.mark.parametrize("path", [".git", "a/.git/x", ".GIT/x", ".redraft/id", "a/.redraft-tmp-f", ".git:x/y", "GIT~1"])
def test_internal_places_are_known_by_their_components(path: str) -> None:
    assert is_internal(path)


@pytest.mark.parametrize("path", [".github/x", ".gitignore", "git", "a.git/b", ".redraftx", "notes~1", "a.redraft", ""])
def test_a_name_that_only_resembles_an_internal_one_is_not_internal(path: str) -> None:
    assert not is_internal(path)


@given(st.lists(NAMES, min_size=1, max_size=4).map("/".join))
def test_what_is_internal_is_closed_to_agents_too(path: str) -> None:
    if is_internal(path):
        assert not agent_may_write(path)
