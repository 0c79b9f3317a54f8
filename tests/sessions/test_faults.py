"""What was broken in the original, each fault under its own name: here it must not be."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, NoReturn

import pytest

from redraft.formats.components import component, components
from tests.sessions.conftest import until

if TYPE_CHECKING:
    from tests.sessions.conftest import AgentDoc

DOC = """\
---
agent: claude  # mine
custom: [1, 2]
---

# Plan

<!-- agent:status -->
Old status.
<!-- /agent:status -->

<!-- agent:exchange mode=append -->
A question?
<!-- /agent:exchange -->
"""


def block(name: str, content: str) -> str:
    return f"<!-- patch:{name} -->\n{content}\n<!-- /patch:{name} -->\n"


def inner(text: str, name: str) -> str:
    found = component(text, name)
    assert found is not None
    return found.inner(text)


# 1: the baseline


@pytest.mark.covers("AD-write-baseline", "AD-write-stdin", "AD-write-args", "AD-write-kept")
@pytest.mark.covers("AD-write-merge")
def test_write_with_a_baseline_and_a_concurrent_edit_doubles_and_drops_nothing(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.write("before.md", DOC)
    typed = DOC.replace("# Plan", "# The plan").replace("A question?", "A question?\nAnd one more, typed meanwhile.")
    agent_doc.write("plan.md", typed)
    agent_doc.ok("write", "plan.md", "--baseline-file", "before.md", stdin=block("exchange", "The answer."))
    assert agent_doc.read("plan.md") == typed.replace("And one more", "The answer.\n\nAnd one more")
    assert agent_doc.answers() == []


@pytest.mark.covers("AD-write-atomic")
def test_document_and_snapshot_are_replaced_whole_and_never_written_into(agent_doc: AgentDoc):
    """Whoever has the old file open sees the old text to its end, however the write goes on."""
    agent_doc.write("plan.md", DOC)
    agent_doc.ok("write", "plan.md", stdin=block("status", "First."))
    [snapshot] = (agent_doc.folder / ".agent-doc" / "snapshots").iterdir()
    before = agent_doc.read("plan.md")
    with (agent_doc.folder / "plan.md").open("rb") as document, snapshot.open("rb") as known:
        agent_doc.ok("write", "plan.md", stdin=block("status", "Second."))
        assert (document.read().decode(), known.read().decode()) == (before, before)
    after = before.replace("First.", "Second.")
    assert (agent_doc.read("plan.md"), agent_doc.snapshot("plan.md")) == (after, after)
    left = {path.name for path in agent_doc.folder.rglob("*") if path.is_file()}
    assert left == {"plan.md", "id", snapshot.name}, "nothing half written is left beside them"


def test_two_agents_on_one_baseline_lose_no_side(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.write("before.md", DOC)
    for name in ("Ann", "Ben"):
        agent_doc.ok("write", "plan.md", "--baseline-file", "before.md", stdin=block("exchange", f"{name} answers."))
    assert inner(agent_doc.read("plan.md"), "exchange") == "\nA question?\nBen answers.\n\nAnn answers.\n"


@pytest.mark.covers("AD-write-kept")
def test_a_merge_that_fails_keeps_the_answer_and_says_where(agent_doc: AgentDoc):
    agent_doc.write("before.md", DOC)
    agent_doc.write("plan.md", "The person threw all of it away.\n")
    answer = block("status", "A paid answer.")
    failed = agent_doc.run("write", "plan.md", "--baseline-file", "before.md", stdin=answer)
    assert failed.status == 1
    assert ".agent-doc/answers/plan.md-" in failed.err
    assert agent_doc.answers() == [answer]
    assert agent_doc.read("plan.md") == "The person threw all of it away.\n"


@pytest.mark.parametrize("stored", ["nothing", "an old snapshot", "another tool's merge state"])
def test_what_was_stored_before_has_no_say(agent_doc: AgentDoc, stored: str):
    agent_doc.write("before.md", DOC)
    agent_doc.write("plan.md", DOC)
    if stored != "nothing":
        agent_doc.ok("patch", "plan.md", "status", "Something else.")
        assert agent_doc.snapshot("plan.md") is not None
    if stored == "another tool's merge state":
        name = next((agent_doc.folder / ".agent-doc" / "snapshots").glob("*.md")).stem
        agent_doc.write(f".agent-doc/crdt/{name}.yrs", "\x01\x02 not ours")
    typed = DOC.replace("A question?", "A question? Typed.")
    agent_doc.write("plan.md", typed)
    agent_doc.ok("write", "plan.md", "--baseline-file", "before.md", stdin=block("exchange", "Answer."))
    assert agent_doc.read("plan.md") == typed.replace("Typed.\n", "Typed.\nAnswer.\n")


# 2: markers


@pytest.mark.covers("AD-write-two-blocks", "AD-write-parses")
def test_two_patch_blocks_for_one_component_keep_its_markers(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.ok(
        "write", "plan.md", stdin=block("status", "One.") + block("status", "Two.") + block("exchange", "Three.")
    )
    text = agent_doc.read("plan.md")
    assert inner(text, "status") == "\nOne.\nTwo.\n"
    assert [each.name for each in components(text)] == ["status", "exchange"]


@pytest.mark.covers("AD-comp-harmless", "AD-write-parses")
def test_marker_text_in_an_answer_leaves_a_document_that_parses(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.ok("patch", "plan.md", "status", "Write <!-- /agent:status --> or\n```\n<!-- agent:exchange -->\n")
    agent_doc.ok("write", "plan.md", stdin="Or <!-- agent:torn --> here.\n")
    agent_doc.ok("patch", "plan.md", "exchange", "Still works.")
    assert [each.name for each in components(agent_doc.read("plan.md"))] == ["status", "exchange"]


@pytest.mark.covers("AD-write-parses")
def test_a_document_whose_markers_do_not_pair_is_not_written(agent_doc: AgentDoc):
    torn = DOC.replace("<!-- /agent:status -->", "")
    agent_doc.write("plan.md", torn)
    failed = agent_doc.run("patch", "plan.md", "exchange", "x")
    assert (failed.status, agent_doc.read("plan.md")) == (1, torn)
    assert "line 8 is never closed" in failed.err


# 3: frontmatter


@pytest.mark.covers("AD-fm-bytes")
def test_a_run_leaves_unknown_keys_comments_and_blank_lines_of_the_frontmatter(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC.replace("custom: [1, 2]", "custom: [1, 2]\n\n# a remark\nresume: old"))
    agent_doc.ok("reset", "plan.md")
    assert agent_doc.read("plan.md") == DOC.replace("custom: [1, 2]", "custom: [1, 2]\n\n# a remark")


# 4: patches


@pytest.mark.covers("AD-patch-config-broken")
@pytest.mark.parametrize(
    ("toml", "reason"),
    [
        ("[log\nmode = 'append'", "line 1"),
        ("[log]\nmode = 'apend'", "log.mode"),
        ("[log]\nmod = 'append'", "'mod'"),
        ("[log]\nmax_entries = -1", "log.max_entries"),
        ("log = 3", "log"),
    ],
)
def test_a_broken_components_toml_is_refused_with_the_reason_and_replaces_no_log(
    agent_doc: AgentDoc, toml: str, reason: str
):
    text = "<!-- agent:log -->\none\ntwo\n<!-- /agent:log -->\n"
    agent_doc.write("plan.md", text)
    agent_doc.write(".agent-doc/components.toml", toml)
    for arguments in (("patch", "plan.md", "log", "three"), ("write", "plan.md")):
        failed = agent_doc.run(*arguments, stdin=block("log", "three"))
        assert failed.status == 2
        assert ".agent-doc/components.toml" in failed.err
        assert reason in failed.err
    assert agent_doc.read("plan.md") == text


@pytest.mark.covers("AD-patch-max-entries", "AD-patch-max-zero")
@pytest.mark.parametrize(
    ("mode", "most", "old", "kept"),
    [
        ("append", 3, "one\n\ntwo", "two\nthree\nfour"),
        ("prepend", 3, "two\n\none", "four\nthree\ntwo"),
        ("append", 0, "one\n\ntwo", "one\n\ntwo\nthree\nfour"),
        ("prepend", 0, "two\n\none", "four\nthree\ntwo\n\none"),
        ("replace", 1, "one\n\ntwo", "four"),
    ],
)
def test_as_many_entries_are_kept_as_may_be_and_the_new_one_always(
    agent_doc: AgentDoc, mode: str, most: int, old: str, kept: str
):
    agent_doc.write("plan.md", f"<!-- agent:log -->\n{old}\n<!-- /agent:log -->\n")
    agent_doc.write(".agent-doc/components.toml", f"[log]\nmode = '{mode}'\nmax_entries = {most}\n")
    agent_doc.ok("patch", "plan.md", "log", "three")
    agent_doc.ok("patch", "plan.md", "log", "four")
    assert inner(agent_doc.read("plan.md"), "log") == f"\n{kept}\n"
    long = "a\nb\nc\nd\n"
    agent_doc.ok("patch", "plan.md", "log", long)
    assert long in inner(agent_doc.read("plan.md"), "log"), "an entry is not cut, and `replace` is not bounded"


# 6: outline and diff


@pytest.mark.covers("AD-cmd-diff-pure", "AD-cmd-diff", "AD-diff-unified", "AD-diff-none")
def test_diff_changes_nothing_at_all(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.ok("patch", "plan.md", "status", "New.")
    assert agent_doc.ok("diff", "plan.md") == ""
    agent_doc.write("plan.md", agent_doc.read("plan.md").replace("A question?", "More?") + "Zwölf 日本😀\n")
    before = {path: path.read_bytes() for path in agent_doc.folder.rglob("*") if path.is_file()}
    expected = (
        "--- snapshot\n+++ document\n@@ -10,5 +10,6 @@\n <!-- /agent:status -->\n \n"
        " <!-- agent:exchange mode=append -->\n-A question?\n+More?\n <!-- /agent:exchange -->\n+Zwölf 日本😀\n"
    )
    assert agent_doc.ok("diff", "plan.md") == expected
    assert agent_doc.ok("diff", "plan.md") == expected
    assert {path: path.read_bytes() for path in agent_doc.folder.rglob("*") if path.is_file()} == before


@pytest.mark.covers("AD-snap-missing", "AD-diff-comments-cli")
def test_without_a_snapshot_everything_is_new_comments_included_and_nothing_is_left_behind(agent_doc: AgentDoc):
    agent_doc.write("a.md", "<!-- note -->\n[//]: # (hush)\nx\n")
    assert agent_doc.ok("diff", "a.md").endswith("@@ -0,0 +1,3 @@\n+<!-- note -->\n+[//]: # (hush)\n+x\n")
    assert [path.name for path in agent_doc.folder.iterdir()] == ["a.md"]


# 10: hooks


def test_hooks_from_a_cloned_folder_run_only_after_that_exact_content_was_trusted(agent_doc: AgentDoc):
    hooks = "[status]\npre_patch = 'touch pwned; tr a-z A-Z'\n"
    agent_doc.write("plan.md", DOC)
    agent_doc.write(".agent-doc/components.toml", hooks)
    refused = agent_doc.run("patch", "plan.md", "status", "quiet")
    assert refused.status == 3
    assert "agent-doc trust" in refused.err
    assert agent_doc.run("trust").status == 3, "nobody is there to agree"
    assert (agent_doc.read("plan.md"), os.path.exists("pwned")) == (DOC, False)
    agent_doc.ok("trust", "--yes")
    agent_doc.ok("patch", "plan.md", "status", "quiet")
    assert inner(agent_doc.read("plan.md"), "status") == "\nQUIET\n"
    agent_doc.write(".agent-doc/components.toml", hooks + "# one byte more\n")
    assert agent_doc.run("patch", "plan.md", "status", "again").status == 3
    agent_doc.write(".agent-doc/components.toml", hooks)
    agent_doc.ok("trust", "--revoke")
    assert agent_doc.run("patch", "plan.md", "status", "again").status == 3


def test_an_untrusted_post_patch_is_left_out_and_told(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.write(".agent-doc/components.toml", "[status]\npost_patch = 'touch pwned'\n")
    done = agent_doc.run("patch", "plan.md", "status", "New.")
    assert (done.status, inner(agent_doc.read("plan.md"), "status")) == (0, "\nNew.\n")
    assert "skipped" in done.err
    time.sleep(0.1)
    assert not os.path.exists("pwned")


@pytest.mark.covers("AD-patch-pre", "AD-patch-pre-env", "AD-patch-post", "AD-patch-config")
def test_hooks_take_a_megabyte_know_their_component_and_are_not_waited_for(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    agent_doc.write(
        ".agent-doc/components.toml",
        "[status]\nmode = 'replace'\ntimestamp = false\nmax_entries = 0\npre_patch = 'cat; echo $COMPONENT $FILE'\n"
        "post_patch = 'cp plan.md after; echo $COMPONENT $FILE > seen; sleep 30'\n",
    )
    agent_doc.ok("trust", "--yes")
    content = "0123456789abcde\n" * 65536
    started = time.monotonic()
    agent_doc.ok("patch", "plan.md", "status", stdin=content)
    assert time.monotonic() - started < 25
    told = f"status {agent_doc.folder / 'plan.md'}\n"
    assert inner(agent_doc.read("plan.md"), "status") == "\n" + content + told
    until(lambda: os.path.exists("seen") and agent_doc.read("seen") == told, "post_patch knows them too")
    assert agent_doc.read("after") == agent_doc.read("plan.md"), "it begins after the write"


def test_a_pre_patch_that_fails_or_writes_no_text_writes_nothing(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    for command, reason in (("echo no >&2; exit 3", "status 3. no"), ("printf '\\\\377'", "UTF-8")):
        agent_doc.write(".agent-doc/components.toml", f'[status]\npre_patch = "{command}"\n')
        agent_doc.ok("trust", "--yes")
        failed = agent_doc.run("patch", "plan.md", "status", "x")
        assert failed.status == 2
        assert reason in failed.err
    assert agent_doc.read("plan.md") == DOC


def die(*_: object) -> NoReturn:
    os._exit(9)


@pytest.mark.covers("AD-write-kept")
def test_an_answer_outlives_a_process_that_dies_in_the_merge(agent_doc: AgentDoc):
    agent_doc.write("plan.md", DOC)
    answer = block("exchange", "Paid for.")
    child = os.fork()
    if child == 0:
        agent_doc.patching.setattr("redraft.sessions.answers.writer.merge_answer", die)
        try:
            agent_doc.run("write", "plan.md", stdin=answer)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert (agent_doc.read("plan.md"), agent_doc.answers()) == (DOC, [answer])
    agent_doc.ok("write", "plan.md", stdin=answer)
    assert inner(agent_doc.read("plan.md"), "exchange") == "\nA question?\nPaid for.\n"
    assert agent_doc.answers() == [], "what is in the document need not be kept"


def test_a_byte_order_mark_and_mixed_line_ends_stay_where_they_are(agent_doc: AgentDoc):
    text = "\ufeff# T\r\none\n<!-- agent:status -->\r\nold\r\n<!-- /agent:status -->\rlast"
    agent_doc.write("plan.md", text)
    agent_doc.ok("patch", "plan.md", "status", "new")
    assert agent_doc.read("plan.md") == text.replace("old", "new")
    agent_doc.ok("write", "plan.md", stdin=block("status", "newer"))
    assert agent_doc.read("plan.md") == text.replace("old", "newer")
    assert agent_doc.ok("diff", "plan.md") == ""
