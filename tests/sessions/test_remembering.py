"""A document's own past on the one history, and a document kept in order: log, show, diff, undo, rename, compact."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.formats.components import components
from redraft.sessions.compaction import compact_rounds

if TYPE_CHECKING:
    from tests.sessions.conftest import AgentDoc

DOC = "---\nagent_doc_session: d-1\n---\n\n<!-- agent:status -->\nBegun.\n<!-- /agent:status -->\n"


@pytest.fixture
def plan(agent_doc: AgentDoc) -> AgentDoc:
    """A document with three changes by an agent."""
    agent_doc.write("plan.md", DOC)
    for word in ("One", "Two", "Three"):
        agent_doc.ok("patch", "plan.md", "status", f"{word} ä.")
    return agent_doc


def turns(agent_doc: AgentDoc) -> list[int]:
    return [int(number) for number in re.findall(r"^ *(\d+)  ", agent_doc.ok("log", "plan.md"), re.MULTILINE)]


def test_log_lists_what_happened_to_this_document_alone(plan: AgentDoc):
    plan.write("other.md", DOC.replace("d-1", "d-2"))
    plan.ok("patch", "other.md", "status", "Elsewhere.")
    listed = plan.ok("log", "plan.md")
    assert listed.count("Patch status in") == 3
    assert plan.ok("log", "other.md").count("Patch status in") == 1
    assert listed.count("agent") >= 3
    assert len(plan.ok("log", "plan.md", "--limit", "1").splitlines()) == 1


def test_show_gives_the_document_as_it_was_so_many_changes_ago(plan: AgentDoc):
    for back, word in enumerate(("Three ä.", "Two ä.", "One ä.", "Begun.")):
        assert plan.ok("show", "plan.md", "--back", str(back)) == DOC.replace("Begun.", word)
    assert plan.ok("show", "plan.md") == DOC.replace("Begun.", "Two ä."), "one change ago, if nothing is said"
    assert plan.run("show", "plan.md", "--back", "4").status == 4


def test_diff_compares_two_states_of_the_history(plan: AgentDoc):
    newest, middle, oldest = turns(plan)
    found = plan.ok("diff", "plan.md", "--from", str(oldest), "--to", str(middle))
    assert "-One ä.\n+Two ä.\n" in found
    assert found.startswith(f"--- turn {oldest}\n+++ turn {middle}\n")
    assert "-One ä.\n+Three ä.\n" in plan.ok("diff", "plan.md", "--from", str(oldest))
    assert plan.ok("diff", "plan.md", "--from", str(newest)) == ""
    assert plan.run("diff", "plan.md", "--from", "999").status == 4


def test_undo_takes_back_the_last_change_of_this_document_and_then_the_one_before(plan: AgentDoc):
    plan.write("other.md", DOC.replace("d-1", "d-2"))
    plan.ok("patch", "other.md", "status", "Elsewhere.")
    other = int(plan.ok("log", "other.md").split()[0])
    plan.ok("undo", "plan.md")
    assert plan.read("plan.md") == DOC.replace("Begun.", "Two ä.")
    plan.ok("undo", "plan.md")
    assert plan.read("plan.md") == DOC.replace("Begun.", "One ä.")
    assert "Elsewhere." in plan.read("other.md")
    assert plan.run("undo", "plan.md", str(other)).status == 4, "that turn is another document's"
    plan.ok("undo", "plan.md")
    assert plan.read("plan.md") == DOC
    assert plan.run("undo", "plan.md").status != 0, "there is nothing left"


def test_undo_of_words_that_were_changed_again_changes_nothing(plan: AgentDoc):
    first = turns(plan)[-1]
    done = plan.run("undo", "plan.md", str(first))
    assert done.status == 1
    assert "Three ä." in plan.read("plan.md")


def test_read_prints_one_component(plan: AgentDoc):
    assert plan.ok("read", "plan.md", "--component", "status") == "Three ä.\n"
    assert plan.ok("read", "plan.md") == DOC.replace("Begun.", "Three ä.")
    assert plan.run("read", "plan.md", "--component", "log").status == 1


def test_rename_takes_snapshot_registry_and_history_along(plan: AgentDoc):
    entry = {"pane": "%1", "file": "plan.md", "cwd": str(plan.folder)}
    plan.write(".agent-doc/sessions.json", json.dumps({"d-1": entry, "d-2": {**entry, "file": "other.md"}}))
    known = plan.snapshot("plan.md")
    assert known is not None
    (plan.folder / "later").mkdir()
    plan.ok("rename", "plan.md", "later/new name.md")
    assert not (plan.folder / "plan.md").exists()
    assert plan.snapshot("plan.md") is None
    assert plan.snapshot("later/new name.md") == known
    assert plan.ok("diff", "later/new name.md") == "", "nothing is news to the agent"
    stored = json.loads(plan.read(".agent-doc/sessions.json"))
    assert {name: each["file"] for name, each in stored.items()} == {"d-1": "later/new name.md", "d-2": "other.md"}
    assert plan.ok("show", "later/new name.md", "--back", "2") == DOC.replace("Begun.", "Two ä.")
    assert plan.ok("log", "later/new name.md").count("Patch status in plan.md") == 3, "the log goes back beyond it"
    plan.write("taken.md", "Mine.\n")
    assert plan.run("rename", "later/new name.md", "taken.md").status == 1
    assert plan.read("taken.md") == "Mine.\n"


def test_undo_of_a_rename_takes_all_that_is_known_back_to_the_old_name(plan: AgentDoc):
    plan.write("plan.archive.md", "Older.\n")
    known = plan.snapshot("plan.md")
    plan.ok("rename", "plan.md", "new.md")
    assert plan.read("new.archive.md") == "Older.\n"
    assert not (plan.folder / "plan.archive.md").exists()
    plan.ok("undo", "new.md")
    assert (plan.snapshot("plan.md"), plan.snapshot("new.md")) == (known, None)
    assert plan.ok("diff", "plan.md") == ""
    assert plan.read("plan.archive.md") == "Older.\n"


def test_blame_says_which_turn_every_line_is_from(plan: AgentDoc):
    newest = turns(plan)[0]
    plan.write("plan.md", "Typed.\n" + plan.read("plan.md"))
    shown = plan.ok("blame", "plan.md").splitlines()
    text = plan.read("plan.md").splitlines()
    assert [line.split(None, 3)[3:] for line in shown] == [[line] if line else [] for line in text]
    owners = [line.split(None, 3)[:3] for line in shown]
    assert owners[0] == [str(newest + 1), "outside", "1"], "what another program wrote is a turn by outside"
    assert owners[text.index("Three ä.")] == [str(newest), "agent", str(text.index("Three ä.") + 1)]
    assert {number for number, *_ in owners} == {"-", str(newest), str(newest + 1)}


ROUNDS = "".join(f"### Re: question {number}\n\nAnswer {number}.\n\n" for number in range(5))


def write_rounds(agent_doc: AgentDoc) -> str:
    """A conversation of six rounds, the last of which the agent has just written; gives its text."""
    text = f"# T\n\n<!-- agent:exchange mode=append -->\nIntro.\n\n{ROUNDS}<!-- /agent:exchange -->\nEnd.\n"
    agent_doc.write("plan.md", text)
    agent_doc.ok("write", "plan.md", stdin="<!-- patch:exchange -->\n### Re: last\n\nYes.\n<!-- /patch:exchange -->\n")
    return agent_doc.read("plan.md")


def test_compact_moves_older_rounds_to_a_document_beside_it_and_can_be_undone(agent_doc: AgentDoc):
    before = write_rounds(agent_doc)
    assert "Moved 4 rounds to plan.archive.md" in agent_doc.ok("compact", "plan.md", "--keep", "2")
    cut = ROUNDS[: ROUNDS.index("### Re: question 4")]
    assert agent_doc.read("plan.archive.md") == cut
    assert agent_doc.read("plan.md") == before.replace(cut, "")
    assert agent_doc.ok("diff", "plan.md") == "", "what was archived is no news"
    assert "no older rounds" in agent_doc.ok("compact", "plan.md", "--keep", "2")
    agent_doc.ok("compact", "plan.md", "--keep", "1")
    assert agent_doc.read("plan.archive.md") == ROUNDS, "the archive grows in order"
    for _ in range(2):
        agent_doc.ok("undo", "plan.md")
    assert agent_doc.read("plan.md") == before
    assert agent_doc.ok("diff", "plan.md") == "", "and so is what came back"
    assert not (agent_doc.folder / "plan.archive.md").exists()


def test_search_looks_through_the_archive_too(agent_doc: AgentDoc):
    write_rounds(agent_doc)
    agent_doc.ok("compact", "plan.md", "--keep", "1")
    assert agent_doc.ok("search", "plan.md", "ANSWER 0") == "plan.archive.md:3: Answer 0.\n"
    assert agent_doc.ok("search", "plan.md", "re: (last|question 4)", "--regex").count("\n") == 2
    assert agent_doc.run("search", "plan.md", "Answer 9").status == 1


def test_an_archive_that_is_a_link_to_somewhere_else_is_not_searched(agent_doc: AgentDoc):
    write_rounds(agent_doc)
    agent_doc.ok("compact", "plan.md", "--keep", "1")
    (agent_doc.folder / "link.archive.md").symlink_to("plan.archive.md")
    agent_doc.write("link.md", "Mine.\n")
    assert agent_doc.run("search", "link.md", "Answer 0").out == ""


def test_compact_takes_the_same_rounds_out_of_the_snapshot(agent_doc: AgentDoc):
    agent_doc.write("plan.md", "## User\n\n")
    for number in range(4):
        agent_doc.write("plan.md", agent_doc.read("plan.md") + f"Q{number}\n")
        agent_doc.ok("write", "plan.md", stdin=f"Answer {number}.\n")
    agent_doc.ok("undo", "plan.md")
    news = [line for line in agent_doc.ok("diff", "plan.md").splitlines() if line[0] in "+-"]
    agent_doc.ok("compact", "plan.md", "--keep", "1")
    assert [line for line in agent_doc.ok("diff", "plan.md").splitlines() if line[0] in "+-"] == news


def test_compact_keeps_the_block_that_nobody_has_answered_yet():
    talk = "".join(f"## User\n\nQ{n}\n\n## Assistant\n\nA{n}\n\n" for n in range(3))
    made = compact_rounds(f"---\nagent: x\n---\n# T\n\n{talk}## User\n\nIn progress", 1)
    assert made is not None
    assert made.rounds == 2
    assert made.text.endswith("# T\n\n## User\n\nQ2\n\n## Assistant\n\nA2\n\n## User\n\nIn progress")


pieces = st.sampled_from(
    ["### A\n", "#### sub\n", "text\n", "\n", "```\n### no\n```\n", "ä 😀\r\n", "## User\n", "## Assistant\n"]
)


@given(st.lists(pieces, max_size=14), st.booleans(), st.integers(1, 3))
def test_compact_rewrites_nothing(inner: list[str], in_component: bool, keep: int):
    body = "".join(inner)
    text = (
        f"Top\n\n<!-- agent:exchange -->\n{body}<!-- /agent:exchange -->\nEnd\n" if in_component else f"Top\n\n{body}"
    )
    made = compact_rounds(text, keep)
    if made is None:
        return
    at = next(at for at in range(len(text)) if text[:at] + made.cut + made.text[at:] == text)
    assert made.text[:at] == text[:at]
    assert made.rounds > 0
    assert compact_rounds(made.text, keep) is None
    assert [place.name for place in components(made.text)] == [place.name for place in components(text)]


def test_doctor_names_what_is_wrong_and_changes_nothing(plan: AgentDoc):
    assert "No problems found." in plan.ok("doctor", "plan.md")
    entry = {"pane": "%1", "file": "gone.md"}
    plan.write("odd.md", "<!-- agent:status -->\n")
    plan.write(".agent-doc/sessions.json", json.dumps({"a": entry, "b": {**entry, "file": "plan.md"}}))
    plan.write(".agent-doc/answers/plan.md-x.md", "Paid for.")
    plan.write(".agent-doc/components.toml", "[log]\nmode = 'wrong'\n")
    before = {path: path.read_bytes() for path in plan.folder.rglob("*") if path.is_file()}
    done = plan.run("doctor", "odd.md")
    assert done.status == 1
    for said in (
        "gone.md: It is registered but does not exist.",
        "plan.md: It is registered as b but has another id.",
        "answers/plan.md-x.md: This answer never reached its document.",
        "components.toml",
        "odd.md: <!-- agent:status --> in line 1 is never closed.",
    ):
        assert said in done.out
    assert {path: path.read_bytes() for path in plan.folder.rglob("*") if path.is_file()} == before
    plan.write(".agent-doc/sessions.json", "{")
    assert "cannot be read" in plan.run("doctor").out
