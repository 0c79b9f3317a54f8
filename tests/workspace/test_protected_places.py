"""Where an agent may not go: version control, our own state, places where text is executed, and secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from redraft.errors import Forbidden, Refused
from redraft.text.edits import Change, Edit
from tests.workspace.folder import AGENT, PERSON, type_over, yes

if TYPE_CHECKING:
    from redraft.history.turns import Author
    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----\n"
INTERNAL = (".git/config", ".git/hooks/pre-commit", ".GIT/config", "sub/.git/HEAD", ".redraft/id", ".redraft/x.md")
EXECUTED = (".github/workflows/ci.yml", ".vscode/tasks.json", ".agent-doc/hooks.toml", ".GitHub/x.yml", "a/.vscode/b")
SECRETS = (".env", ".ENV", ".env.local", "prod.env", "id_rsa", "deep/id_ed25519", "server.pem", ".netrc", ".npmrc")
PLAIN = ("secretary-notes.md", "credentials-policy.md", "environment.md")


def calls(workspace: Workspace, path: str, author: Author) -> dict[str, object]:
    """What each way to a document gives: a code where it is refused, `None` where it goes through."""
    with_version = "0000000000000000"
    turn = workspace.turn(author, "Try", mode="apply", confirm=yes)
    acts = {
        "read": lambda: turn.read(path),
        "look": lambda: workspace.read(path, author=author),
        "write": lambda: turn.write(path, "x", with_version),
        "edit": lambda: turn.edit(path, [Edit(0, "", "x")], with_version),
        "create": lambda: turn.create(path, "x"),
        "delete": lambda: turn.delete(path, with_version),
        "move from": lambda: turn.move(path, "elsewhere.md", with_version),
        "move to": lambda: turn.move("plain.md", path, turn.read("plain.md").version),
    }
    found: dict[str, object] = {}
    for name, act in acts.items():
        try:
            act()
            found[name] = None
        except Refused as error:
            found[name] = error.code
    turn.discard()
    return found


@pytest.mark.covers("ML-exec-internal-refused", "ML-sens-internal", "RD-history-git-untouched")
@pytest.mark.parametrize("author", [AGENT, PERSON])
@pytest.mark.parametrize("path", INTERNAL)
def test_nobody_reaches_version_control_or_our_own_state(folder: Folder, path: str, author: Author) -> None:
    folder.put("plain.md", "plain\n")
    folder.put(path, "internal\n")
    workspace = folder.open()
    before = folder.tree()
    assert set(calls(workspace, path, author).values()) == {"forbidden_path"}
    for act in (
        lambda: workspace.open_tab(path),
        lambda: workspace.type(path, Change((Edit(0, "", "x"),))),
        lambda: workspace.save(path),
    ):
        with pytest.raises(Forbidden):
            act()
    assert folder.tree() == before


@pytest.mark.covers("RD-files-protected")
@pytest.mark.parametrize("path", EXECUTED)
def test_an_agent_cannot_write_where_text_is_executed(folder: Folder, path: str) -> None:
    folder.put("plain.md", "plain\n")
    folder.put(path, "steps\n")
    workspace = folder.open()
    before = folder.tree()
    found = calls(workspace, path, AGENT)
    assert (found.pop("read"), found.pop("look")) == (None, None)
    assert set(found.values()) == {"forbidden_path"}
    assert folder.tree() == before


@pytest.mark.parametrize("path", EXECUTED)
def test_a_person_may_edit_where_text_is_executed(folder: Folder, path: str) -> None:
    folder.put(path, "steps\n")
    with folder.open().turn(PERSON, "My own") as turn:
        turn.write(path, "other steps\n", turn.read(path).version)
    assert folder.text(path) == "other steps\n"


@pytest.mark.covers("RD-files-secrets", "ML-sens-env", "P7")
@pytest.mark.parametrize("path", SECRETS)
def test_an_agent_gets_no_byte_of_a_secret_and_cannot_touch_it(folder: Folder, path: str) -> None:
    folder.put("plain.md", "plain\n")
    folder.put(path, "TOKEN=hunter2\n")
    workspace = folder.open()
    before = folder.tree()
    found = calls(workspace, path, AGENT)
    assert (found["read"], found["look"]) == ("secret", "secret")
    assert set(found.values()) <= {"secret", "forbidden_path"}
    with pytest.raises(Forbidden) as refused:
        workspace.read(path, author=AGENT)
    assert "hunter2" not in repr(refused.value.as_dict())
    assert folder.tree() == before


@pytest.mark.covers("RD-files-secrets", "P7")
@pytest.mark.parametrize("start", ["", "\ufeff", "\n\n  "])
def test_a_private_key_is_known_by_how_it_begins_whatever_it_is_called(folder: Folder, start: str) -> None:
    folder.put("plain.md", "plain\n")
    folder.put("notes.md", start + KEY)
    workspace = folder.open()
    before = folder.tree()
    found = calls(workspace, "notes.md", AGENT)
    del found["create"], found["move to"]  # the place is taken, which is reason enough
    assert set(found.values()) == {"secret"}
    assert folder.tree() == before


@pytest.mark.covers("P7")
def test_a_private_key_that_was_only_typed_is_kept_from_agents_too(folder: Folder) -> None:
    folder.put("notes.md", "nothing here\n")
    workspace = folder.open()
    type_over(workspace, "notes.md", "nothing here\n", KEY)
    with pytest.raises(Forbidden) as refused:
        workspace.read("notes.md", author=AGENT)
    assert refused.value.code == "secret"
    assert str(workspace.read("notes.md", confirmed=("notes.md",)).text) == KEY


@pytest.mark.parametrize("path", SECRETS)
def test_a_person_may_read_and_write_their_own_secrets_once_they_confirmed(folder: Folder, path: str) -> None:
    folder.put(path, "TOKEN=hunter2\n")
    workspace = folder.open()
    with pytest.raises(Forbidden) as refused:
        workspace.turn(PERSON, "Mine").read(path)
    assert refused.value.code == "secret"
    with workspace.turn(PERSON, "Mine", confirmed=(path,)) as turn:
        turn.write(path, "TOKEN=hunter3\n", turn.read(path).version)
        turn.move(path, f"kept/{path}", turn.read(path).version)
    assert folder.tree() == {f"kept/{path}": b"TOKEN=hunter3\n"}


@pytest.mark.covers("RD-files-no-false-secret")
@pytest.mark.parametrize("path", PLAIN)
def test_prose_about_secrets_is_prose(folder: Folder, path: str) -> None:
    folder.put(path, "Ask the secretary.\n")
    assert str(folder.open().read(path, author=AGENT).text) == "Ask the secretary.\n"


@pytest.mark.covers("P7", "ML-exec-path-inside", "ML-sec-traversal", "ML-sec-outside", "SB-scope-project-folder")
@pytest.mark.parametrize("path", ["../outside.md", "a/../../outside.md", "/etc/hostname", "link.md", "links/x.md"])
@pytest.mark.parametrize("author", [AGENT, PERSON])
def test_no_path_leaves_the_folder(folder: Folder, path: str, author: Author) -> None:
    outside = folder.path.parent / "outside.md"
    outside.write_text("not yours\n", encoding="utf-8")
    (folder.path.parent / "elsewhere").mkdir()
    (folder.path / "link.md").symlink_to(outside)
    (folder.path / "links").symlink_to(folder.path.parent / "elsewhere")
    folder.put("plain.md", "plain\n")
    workspace = folder.open()
    found = calls(workspace, path, author)
    assert None not in found.values()
    assert outside.read_text(encoding="utf-8") == "not yours\n"
    assert list((folder.path.parent / "elsewhere").iterdir()) == []
    assert (folder.path / "plain.md").exists()


@pytest.mark.parametrize("path", [".DS_Store", "deep/Thumbs.db"])
def test_the_systems_own_files_are_no_documents(folder: Folder, path: str) -> None:
    folder.put("plain.md", "plain\n")
    folder.put(path, b"\x00\x00\x00\x01Bud1\x00")
    workspace = folder.open()
    before = folder.tree()
    assert None not in calls(workspace, path, AGENT).values()
    assert folder.tree() == before
