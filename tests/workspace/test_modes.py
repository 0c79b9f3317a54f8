"""Modes: when the disk is written, what asks first, what is denied, and how much one turn may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.config import Limits, Settings
from redraft.errors import ConfirmationRequired, Forbidden, Refused
from redraft.history.turns import State
from redraft.text.edits import Edit
from redraft.workspace.turns.modes import MODES, STRICTNESS, WIDTH, Mode, Rule, Verdict, WriteTime, mode_by_name
from tests.workspace.folder import AGENT, PERSON, agent_writes, draft_of, no, numbered_names, turn_of, yes

if TYPE_CHECKING:
    from redraft.workspace.turns.modes import Action
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder


@pytest.mark.covers("SB-scope-never-auto", "ML-mode-supervised", "TK-timing-staged", "RD-decided-modes")
def test_by_default_an_agents_turn_waits_and_the_disk_stays(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Propose") as turn:
        turn.write("a.md", "two\n", turn.read("a.md").version)
        turn.create("b.md", "new\n")
    assert turn.outcome is not None
    assert (turn.outcome.applied, turn.outcome.proposed) == ([], ["a.md", "b.md"])
    assert turn_of(turn.outcome).state is State.PROPOSED
    assert folder.tree() == {"a.md": b"one\n"}


@pytest.mark.covers("ML-mode-autonomous", "ML-optimistic-at-once", "ML-optimistic-diff", "RD-decided-modes")
def test_apply_writes_at_once_and_the_difference_can_be_seen_afterwards(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    outcome = agent_writes(workspace, {"a.md": "two\n"}, mode="apply")
    assert folder.tree() == {"a.md": b"two\n"}
    assert outcome.applied == ["a.md"]
    (hunk,) = workspace.turn_content(turn_of(outcome).id).hunks()
    assert (hunk.hunk.old_text, hunk.hunk.new_text) == ("one", "two")
    assert workspace.drafts() == []


@pytest.mark.covers("ML-mode-restricted", "RD-decided-modes")
def test_read_refuses_every_change_and_allows_reading(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Look", mode="read", confirm=yes)
    version = turn.read("a.md").version
    for call in (
        lambda: turn.write("a.md", "x", version),
        lambda: turn.edit("a.md", [Edit(0, "", "x")], version),
        lambda: turn.create("b.md", "x"),
        lambda: turn.move("a.md", "b.md", version),
        lambda: turn.delete("a.md", version),
    ):
        with pytest.raises(Forbidden) as refused:
            call()
        assert refused.value.code == "mode_refuses"
    turn.commit()
    assert (folder.tree(), workspace.drafts(), workspace.turns()) == ({"a.md": b"one\n"}, [], [])


@pytest.mark.covers("RD-decided-modes")
def test_merge_brings_the_turn_into_what_was_written_meanwhile(folder: Folder) -> None:
    folder.put("a.md", "first line\n\nmiddle\n\nlast line\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Merge", mode="merge")
    turn.write("a.md", "FIRST line\n\nmiddle\n\nlast line\n", turn.read("a.md").version)
    folder.put("a.md", "first line\n\nmiddle\n\nlast LINE\n")
    outcome = turn.commit()
    assert folder.text("a.md") == "FIRST line\n\nmiddle\n\nlast LINE\n"
    assert outcome.conflicts == []


def test_merge_marks_a_conflict_and_keeps_both_sides(folder: Folder) -> None:
    folder.put("a.md", "the word is red\n")
    workspace = folder.open()
    turn = workspace.turn(AGENT, "Merge", mode="merge")
    turn.write("a.md", "the word is blue\n", turn.read("a.md").version)
    folder.put("a.md", "the word is green\n")
    outcome = turn.commit()
    assert outcome.conflicts == ["a.md"]
    text = folder.text("a.md")
    assert "<<<<<<<" in text
    assert "blue" in text
    assert "green" in text
    assert workspace.undo().conflicts == []
    assert folder.text("a.md") == "the word is green\n"


@pytest.mark.covers("ML-risk-ask-destructive", "ML-goal-safety")
@pytest.mark.parametrize("mode", ["apply", "merge"])
@pytest.mark.parametrize("answer", [None, no, yes])
def test_deleting_asks_first_where_the_disk_is_written_at_once(folder: Folder, mode: str, answer: object) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    asked: list[tuple[str, list[str]]] = []

    def confirm(what: str, paths: list[str]) -> bool:
        asked.append((what, paths))
        return answer is yes

    turn = workspace.turn(AGENT, "Delete", mode=mode, confirm=None if answer is None else confirm)
    version = turn.read("a.md").version
    if answer is yes:
        turn.delete("a.md", version)
        turn.commit()
        assert folder.tree() == {}
    else:
        with pytest.raises(ConfirmationRequired):
            turn.delete("a.md", version)
        turn.commit()
        assert folder.tree() == {"a.md": b"one\n"}
    assert asked == ([] if answer is None else [("destroy a.md", ["a.md"])])


def test_deleting_in_propose_is_a_hunk_and_asks_nothing(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    with workspace.turn(AGENT, "Delete", mode="propose", confirm=no) as turn:
        turn.delete("a.md", turn.read("a.md").version)
    file_hunk = draft_of(workspace, "a.md").file_hunk()
    assert file_hunk is not None
    assert (file_hunk["hunk_id"], file_hunk["kind"], file_hunk["author"]) == ("file", "deleted", "agent")
    assert folder.tree() == {"a.md": b"one\n"}


def test_a_person_is_never_asked(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    with workspace.turn(PERSON, "Delete", mode="read", confirm=no) as turn:
        turn.delete("a.md", turn.read("a.md").version)
        for name in numbered_names(30):
            turn.create(name, "x")
    assert len(folder.tree()) == 30


@pytest.mark.covers("ML-risk-bulk", "ML-risk-bulk-configurable")
@pytest.mark.parametrize(("limit", "files", "asks"), [(10, 10, False), (10, 11, True), (2, 3, True), (12, 11, False)])
def test_a_turn_over_many_files_asks_first(folder: Folder, limit: int, files: int, asks: bool) -> None:
    names = numbered_names(files)
    for name in names:
        folder.put(name, "one\n")
    workspace = folder.open(Settings(confirm_files=limit))
    before = folder.tree()
    if asks:
        with pytest.raises(ConfirmationRequired) as refused:
            agent_writes(workspace, dict.fromkeys(names, "two\n"), mode="apply")
        assert refused.value.details["paths"] == names
        assert folder.tree() == before
        agent_writes(workspace, dict.fromkeys(names, "two\n"), mode="apply", confirm=yes)
    else:
        agent_writes(workspace, dict.fromkeys(names, "two\n"), mode="apply")
    assert set(folder.tree().values()) == {b"two\n"}


def test_a_proposal_over_many_files_asks_nothing(folder: Folder) -> None:
    names = numbered_names(15)
    for name in names:
        folder.put(name, "one\n")
    agent_writes(folder.open(), dict.fromkeys(names, "two\n"), confirm=no)
    assert set(folder.tree().values()) == {b"one\n"}


CAREFUL = Mode(
    "careful",
    WriteTime.AT_ONCE,
    (
        Rule("modify", "drafts/*", Verdict.ALLOW),
        Rule("modify", "*.lock", Verdict.DENY),
        Rule("*", "public/*", Verdict.DENY),
        Rule("create", "*", Verdict.ASK),
        Rule("modify", "*", Verdict.ASK),
    ),
)


def attempt(workspace: Workspace, mode: Mode, path: str, *, agree: bool) -> str:
    asked: list[str] = []

    def confirm(what: str, _paths: list[str]) -> bool:
        asked.append(what)
        return agree

    try:
        with workspace.turn(AGENT, "Try", mode=mode, confirm=confirm) as turn:
            turn.write(path, "changed\n", turn.read(path).version)
    except Refused as error:
        return error.code
    return "asked" if asked else "done"


def test_custom_rules_allow_ask_and_deny_by_action_and_path(folder: Folder) -> None:
    for path in ("drafts/deep/a.md", "b.lock", "public/c.md", "d.md"):
        folder.put(path, "one\n")
    workspace = folder.open()
    assert attempt(workspace, CAREFUL, "drafts/deep/a.md", agree=False) == "done"
    assert attempt(workspace, CAREFUL, "b.lock", agree=True) == "mode_refuses"
    assert attempt(workspace, CAREFUL, "public/c.md", agree=True) == "mode_refuses"
    assert attempt(workspace, CAREFUL, "d.md", agree=False) == "confirmation_required"
    assert attempt(workspace, CAREFUL, "d.md", agree=True) == "asked"
    assert {path for path, data in folder.tree().items() if data == b"changed\n"} == {"drafts/deep/a.md", "d.md"}


def test_a_rule_holds_for_both_ends_of_a_move(folder: Folder) -> None:
    folder.put("a.md", "one\n")
    workspace = folder.open()
    mode = Mode("fenced", WriteTime.AT_ONCE, (Rule("create", "public/*", Verdict.DENY),))
    turn = workspace.turn(AGENT, "Publish", mode=mode)
    with pytest.raises(Forbidden):
        turn.move("a.md", "public/a.md", turn.read("a.md").version)
    turn.commit()
    assert folder.tree() == {"a.md": b"one\n"}


def test_a_mode_that_denies_reading_hides_the_document(folder: Folder) -> None:
    folder.put("private/a.md", "one\n")
    mode = Mode("blind", WriteTime.ON_ACCEPT, (Rule("read", "private/*", Verdict.DENY),))
    with pytest.raises(Forbidden):
        folder.open().turn(AGENT, "Peek", mode=mode).read("private/a.md")


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(Refused, match="no mode"):
        mode_by_name("yolo")


ACTIONS: tuple[Action, ...] = ("read", "create", "modify", "move", "destroy")
PATHS = ("a.md", "drafts/a.md", "public/deep/b.txt")
RULES = st.builds(
    Rule,
    st.sampled_from([*ACTIONS, "*"]),
    st.sampled_from(["*", "*.md", "drafts/*", "public/*", "a.md"]),
    st.sampled_from(list(Verdict)),
)
ANY_MODE = st.one_of(
    st.sampled_from(list(MODES.values())),
    st.builds(Mode, st.just("custom"), st.sampled_from(list(WriteTime)), st.lists(RULES, max_size=4).map(tuple)),
)


@given(ANY_MODE, st.lists(ANY_MODE, max_size=3))
@pytest.mark.covers("RD-decided-settings")
def test_narrowing_never_widens_a_mode(mode: Mode, others: list[Mode]) -> None:
    narrow = mode
    for other in others:
        narrow = narrow.narrow(other)
    for each in (mode, *others):
        assert WIDTH[narrow.writes] <= WIDTH[each.writes]
        for action in ACTIONS:
            for path in PATHS:
                assert STRICTNESS[narrow.rules_say(action, path)] >= STRICTNESS[each.rules_say(action, path)]
                if narrow.writes_at_once or not each.writes_at_once:  # else the person accepts it first
                    assert STRICTNESS[narrow.verdict(action, path)] >= STRICTNESS[each.verdict(action, path)]


NUMBERS = st.integers(1, 10**9)
LIMITS = st.builds(Limits, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
SETTINGS = st.builds(
    Settings,
    mode=st.sampled_from(["read", "propose", "apply", "merge"]),
    review=st.sampled_from(["hunk", "turn"]),
    confirm_files=NUMBERS,
    limits=LIMITS,
)


@given(SETTINGS, SETTINGS)
@pytest.mark.covers("RD-decided-settings")
def test_a_folders_settings_narrow_and_never_widen(mine: Settings, folders: Settings) -> None:
    both = mine.narrow(folders)
    width = {name: WIDTH[MODES[name].writes] for name in MODES}
    assert width[both.mode] <= min(width[mine.mode], width[folders.mode])
    assert both.confirm_files <= mine.confirm_files
    assert both.review == ("turn" if "turn" in (mine.review, folders.review) else "hunk")
    for name in ("actions", "files", "bytes", "document_bytes"):
        assert getattr(both.limits, name) <= getattr(mine.limits, name)
    assert both.narrow(folders) == both
    assert (both.retention_days, both.retention_turns) == (mine.retention_days, mine.retention_turns)
