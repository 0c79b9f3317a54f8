"""Documents as wholes: making, moving, deleting and listing them."""

from __future__ import annotations

import re

import pytest

from redraft.tools.edits.create_document import CreateDocument
from redraft.tools.parameters import input_schema
from tests.tools.calling import STORY, Caller
from tests.workspace.folder import Folder, no


@pytest.mark.covers("ML-create-result")
def test_a_new_document_is_on_disk_and_open_in_a_tab(agent: Caller):
    answer = agent.call("create_document", title="new_story.md", content="Once upon a time\n")
    empty = agent.call("create_document", title="empty.md")
    assert agent.text("new_story.md") == "Once upon a time\n"
    assert agent.text("empty.md") == ""
    assert answer == {
        "tab_id": "tab_1",
        "title": "new_story.md",
        "path": "new_story.md",
        "version": agent.version("new_story.md"),
        "status": "created",
        "created": True,
        "state": "applied",
        "turn": 1,
    }
    assert [tab.path for tab in agent.workspace.tabs()] == ["new_story.md", "empty.md"]
    assert empty["tab_id"] == "tab_2"


@pytest.mark.covers("ML-create-params", "ML-create-extension")
@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"name": "plan"}, "plan.md"),
        ({"name": "plan.md"}, "plan.md"),
        ({"title": "data", "file_type": "json"}, "data.json"),
        ({"title": "data", "file_type": "yaml"}, "data.yaml"),
        ({"title": "notes.txt", "file_type": "md"}, "notes.txt"),
        ({"name": "Version 2.0"}, "Version 2.0.md"),
        ({"path": "deep/er/plan"}, "deep/er/plan.md"),
        ({"name": "plan", "folder": "/"}, "plan.md"),
        ({"name": "plan", "folder": "/drafts/"}, "drafts/plan.md"),
    ],
)
def test_a_name_without_an_extension_gets_one(agent: Caller, given: dict[str, str], path: str):
    assert agent.call("create_document", **given)["path"] == path
    assert agent.text(path) == ""


@pytest.mark.engine
@pytest.mark.covers("ML-create-folder-default")
def test_a_new_document_goes_into_the_current_folder_and_else_to_the_root(agent: Caller):
    assert agent.call("create_document", name="a")["path"] == "a.md"
    agent.folder.put("work/open.md", "x")
    agent.workspace.bring_to_front(agent.workspace.open_tab("work/open.md").tab_id)
    assert agent.call("create_document", name="a")["path"] == "work/a.md"
    assert agent.call("create_document", name="b", folder="/")["path"] == "b.md"


def test_a_title_that_an_open_tab_has_is_refused(agent: Caller):
    agent.workspace.open_tab("story.md")
    told = agent.refused("create_document", title="story.md", folder="elsewhere")
    assert (told["error"], told["details"]["path"]) == ("title_exists", "story.md")


@pytest.mark.covers("ML-create-exists")
def test_a_name_that_is_taken_is_refused_and_the_document_there_untouched(reader: Caller):
    told = reader.refused("create_document", name="story", content="x")
    assert (told["error"], told["suggestion"]) == (
        "already_exists",
        "Choose another name, or edit the existing document.",
    )
    assert reader.text("story.md") == STORY


@pytest.mark.parametrize("given", [{}, {"title": ""}, {"title": "a.md", "name": "b.md"}])
def test_a_new_document_needs_one_name(agent: Caller, given: dict[str, str]):
    assert agent.refused("create_document", **given)["error"] == "invalid_argument"


@pytest.mark.parametrize("name", ["../out.md", "/etc/x.md", "a/../../x.md", "sub\\..\\x.md", "nul\0.md"])
def test_a_name_that_leads_elsewhere_is_refused_also_after_a_good_folder(agent: Caller, name: str):
    assert agent.refused("create_document", name=name, folder="work")["error"] == "invalid_path"


# Templates


TEMPLATES = {
    "blank": "",
    "meeting-notes": "# Monday\n\n**Date:** DATE\n**Attendees:**\n\n## Agenda\n\n- \n\n## Notes\n\n\n"
    "## Decisions\n\n- \n\n## Action items\n\n- [ ] \n\n",
    "todo-list": "# Monday\n\n- [ ] \n- [ ] \n- [ ] \n\n",
    "journal": "# Monday\n\n*DATE*\n\n## Today\n\n\n## Grateful for\n\n- \n\n## Tomorrow\n\n- \n\n",
}


@pytest.mark.covers("ML-create-templates", "ML-create-content", "ML-create-params")
def test_a_template_begins_the_document(agent: Caller):
    for template, begins in TEMPLATES.items():
        given = {"name": "Monday", "folder": f"of/{template}", "template": template, "content": "mine\n"}
        assert agent.call("create_document", **given)["path"] == f"of/{template}/Monday.md"
        text = re.sub(r"\b20\d\d-\d\d-\d\d\b", "DATE", agent.text(f"of/{template}/Monday.md"))
        assert text == begins + "mine\n"


@pytest.mark.covers("ML-create-template-default")
def test_without_a_template_the_document_is_blank(agent: Caller):
    agent.call("create_document", name="a")
    assert agent.text("a.md") == ""


@pytest.mark.covers("ML-create-own-templates", "ML-future-own-templates")
def test_a_template_of_the_persons_own_is_a_document_in_templates(agent: Caller):
    agent.folder.put("templates/letter.md", "Dear {{title}},\n")
    agent.call("create_document", name="Ines", template="letter")
    assert agent.text("Ines.md") == "Dear Ines,\n"


@pytest.mark.parametrize("template", ["poem", "../story", "a/../../b", ".."])
def test_an_unknown_template_is_refused(agent: Caller, template: str):
    assert agent.refused("create_document", name="a", template=template)["details"]["field"] == "template"


# Moving and deleting


@pytest.mark.covers("ML-move-params", "ML-move-rename", "ML-move-result")
@pytest.mark.parametrize("to", ["tale.md", "drafts/tale.md"])
def test_a_document_is_moved_or_renamed(agent: Caller, to: str):
    answer = agent.call("move_document", from_path="story.md", to_path=to)
    assert (answer["from"], answer["to"], answer["moved"]) == ("story.md", to, True)
    assert agent.folder.tree() == {to: STORY.encode()}


@pytest.mark.parametrize("to", ["drafts/", "drafts"])
def test_a_document_moved_to_a_folder_keeps_its_name(agent: Caller, to: str):
    agent.folder.put("drafts/other.md", "x")
    assert agent.call("move_document", from_path="story.md", to_path=to)["to"] == "drafts/story.md"


def test_a_move_never_overwrites(agent: Caller):
    agent.folder.put("b.md", "b")
    assert agent.refused("move_document", from_path="story.md", to_path="b.md")["error"] == "already_exists"


@pytest.mark.engine
@pytest.mark.covers("ML-delete-params", "ML-delete-result", "ML-risk-destroy")
def test_a_document_is_deleted_once_the_person_agreed(agent: Caller):
    agent.context.confirm = no
    assert agent.refused("delete_document", path="story.md")["error"] == "confirmation_required"
    agent.context.confirm = lambda what, paths: (what, paths) == ("destroy story.md", ["story.md"])
    answer = agent.call("delete_document", path="story.md")
    assert (answer["path"], answer["deleted"], answer["recoverable"]) == ("story.md", True, True)
    assert agent.folder.tree() == {}
    assert [entry.path for entry in agent.workspace.list_trash()] == ["story.md"]


@pytest.mark.covers("ML-err-permission")
@pytest.mark.parametrize("path", [".git/config", ".github/workflows/ci.yml", ".vscode/tasks.json", ".redraft/id"])
def test_a_place_that_may_not_be_written_gives_an_error_with_a_suggestion(reader: Caller, path: str):
    told = reader.refused("create_document", path=path, content="x")
    assert (told["error"], told["suggestion"]) == (
        "forbidden_path",
        "Agents may not write here; choose another path.",
    )


# Listing


@pytest.mark.covers("ML-list-params", "ML-list-defaults", "ML-list-result", "ML-list-recursive", "ML-list-hidden")
def test_documents_are_listed_by_folder(folder: Folder):
    for path in ("a/b/deep.md", "a/one.txt", ".hidden.md", ".dir/x.md"):
        folder.put(path, "x")
    agent = Caller.at(folder)
    assert agent.call("list_documents") == {
        "documents": [
            {"name": "a", "path": "a", "type": "folder"},
            {"name": "story.md", "path": "story.md", "type": "file"},
        ],
        "count": 2,
        "truncated": False,
    }
    listed = agent.call("list_documents", folder="/", recursive=True)["documents"]
    assert [each["path"] for each in listed] == ["a", "a/b", "a/b/deep.md", "a/one.txt", "story.md"]
    assert [each["path"] for each in agent.call("list_documents", folder="a")["documents"]] == ["a/b", "a/one.txt"]
    assert agent.refused("list_documents", folder="none")["error"] == "not_found"


@pytest.mark.covers("SB-tool-list-input", "SB-tool-list-output")
def test_files_are_listed_by_prefix_and_glob(folder: Folder):
    for path in ("a/b/deep.md", "a/one.txt", "a/two.md"):
        folder.put(path, "x")
    agent = Caller.at(folder)
    assert agent.call("list_files")["files"] == ["a/b/deep.md", "a/one.txt", "a/two.md", "story.md"]
    assert agent.call("list_files", prefix="a", glob="**/*.md")["files"] == ["a/b/deep.md", "a/two.md"]
    assert agent.call("list_files", limit=2) == {"files": ["a/b/deep.md", "a/one.txt"], "truncated": True}


def test_what_is_proposed_is_listed_as_it_would_be(proposer: Caller):
    proposer.call("create_document", path="new/a.md")
    proposer.call("move_document", from_path="story.md", to_path="moved.md")
    assert proposer.call("list_files")["files"] == ["moved.md", "new/a.md"]
    assert [each["path"] for each in proposer.call("list_documents")["documents"]] == ["moved.md", "new"]
    assert proposer.folder.tree() == {"story.md": STORY.encode()}


# Folders


@pytest.mark.covers("ML-folder-params", "ML-folder-parents", "ML-folder-result")
def test_a_folder_is_made_with_those_above_it(agent: Caller):
    answer = agent.call("create_folder", path="/a/b/")
    assert (answer["path"], answer["created"], answer["made"]) == ("a/b", True, ["a", "a/b"])
    assert (agent.folder.path / "a" / "b").is_dir()
    assert agent.call("create_folder", path="a/b")["created"] is False
    assert agent.refused("create_folder", path="story.md")["error"] == "already_exists"


def test_while_the_person_decides_no_folder_is_made(proposer: Caller):
    assert proposer.call("create_folder", path="a")["created"] is False
    assert not (proposer.folder.path / "a").exists()


def test_a_reader_makes_no_folder(folder: Folder):
    assert Caller.at(folder, "read").refused("create_folder", path="a")["error"] == "mode_refuses"


def test_the_four_file_types_are_in_the_schema():
    assert input_schema(CreateDocument)["properties"]["file_type"]["enum"] == ["md", "txt", "json", "yaml"]


def test_a_folder_is_taken_away_with_its_turn_and_where_others_put_something_in_that_is_said(agent: Caller):
    turn = agent.call("create_folder", path="a/b")["turn"]
    agent.call("undo_turn", turn=turn)
    assert not (agent.folder.path / "a").exists()
    assert agent.workspace.redo().conflicts == []
    assert (agent.folder.path / "a" / "b").is_dir()
    agent.folder.put("a/b/other.md", "x")
    [clash] = agent.workspace.undo().conflicts
    assert (clash.path, clash.reason) == ("a", "others have added something to it")
    (agent.folder.path / "a" / "b" / "other.md").rename(agent.folder.path / "a" / "kept.md")
    assert agent.workspace.undo().conflicts == []
    assert agent.call("list_documents", recursive=True)["documents"][:2] == [
        {"name": "a", "path": "a", "type": "folder"},
        {"name": "kept.md", "path": "a/kept.md", "type": "file"},
    ]


# Absolute paths


def test_an_absolute_path_into_this_folder_names_what_lies_there(agent: Caller):
    root = str(agent.folder.path)
    assert agent.call("read_document", path=f"{root}/story.md")["path"] == "story.md"
    assert agent.call("create_document", name="a", folder=f"{root}/work")["path"] == "work/a.md"
    assert agent.call("move_document", from_path=f"{root}/work/a.md", to_path=f"{root}/b.md")["to"] == "b.md"
    assert [each["name"] for each in agent.call("list_documents", folder=root)["documents"]] == [
        "b.md",
        "story.md",
        "work",
    ]


@pytest.mark.parametrize("beyond", ["-evil/story.md", "/../story.md", "x", "/.git/config"])
def test_a_path_that_only_begins_like_this_folder_is_refused(agent: Caller, beyond: str):
    told = agent.refused("read_document", path=str(agent.folder.path) + beyond)
    assert told["error"] in ("invalid_path", "forbidden_path")


@pytest.mark.parametrize("path", ["/etc/cron.d", "/var/somebody/notes", "/tmp/x/y"])
def test_a_path_of_the_machine_becomes_no_tower_of_folders(agent: Caller, path: str):
    for tool, more in {"create_folder": {"path": path}, "create_document": {"name": "a", "folder": path}}.items():
        assert agent.refused(tool, **more)["error"] == "invalid_path"
    assert [entry.name for entry in agent.folder.path.iterdir() if entry.name != ".redraft"] == ["story.md"]


def test_a_folder_may_be_called_like_one_of_the_machines(agent: Caller):
    agent.folder.put("opt/a.md", "x")
    assert agent.call("create_document", name="b", folder="/opt/new")["path"] == "opt/new/b.md"
    assert agent.call("create_folder", path="etc/x")["made"] == ["etc", "etc/x"]
