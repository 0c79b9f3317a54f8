"""What another program writes, with a server running: a turn by `outside`, in the history, in blame, undoable; and a
person whose unsaved words it meets is told and sees both."""

from __future__ import annotations

import signal
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Program
from tests.server.live.people import Person, story
from tests.server.serving import Server, begun, ended
from tests.speaking.lines import PATIENCE
from tests.speaking.programs import WAYS, another_program
from tests.tools.calling import STORY

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

OTHER = STORY.replace("She", "Ann") + "One more line.\n"


def until(found: Callable[[], Any]) -> Any:
    """The first answer that is not empty."""
    end = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return answer


def by_outside(server: Server) -> list[dict[str, Any]]:
    return [turn for turn in server.get("/api/turns")["turns"] if turn["author"]["kind"] == "outside"]


def content(server: Server, path: str = "story.md") -> str:
    return server.get("/api/documents", path=path)["content"]


@pytest.mark.covers("RD-outside-turn", "RD-outside-blame")
@pytest.mark.parametrize("how", WAYS)
def test_a_write_by_another_program_is_a_turn_with_both_sides_that_can_be_undone(
    server: Server, folder: Path, how: str
) -> None:
    assert content(server) == STORY
    another_program(how, folder / "story.md", OTHER)
    [turn] = until(lambda: by_outside(server))
    assert (turn["author"]["name"], turn["kind"], turn["state"], turn["paths"]) == (
        "outside",
        "outside",
        "applied",
        ["story.md"],
    )
    shown = server.get(f"/api/turns/{turn['turn']}")
    assert "+One more line.\n" in shown["documents"][0]["patch"]
    assert "-She read the letter twice.\n+Ann read the letter twice.\n" in shown["documents"][0]["patch"]
    three = server.get(f"/api/agent/checkpoints/{turn['turn']}/diff3", file_path="story.md")
    assert (three["checkpoint_base"], three["agent_proposed"]) == (STORY, OTHER)
    blame = server.get("/api/blame", path="story.md")
    owners = {
        blame["text"].splitlines()[each["start_line"] - 1 + offset]: each["turn"]
        for each in blame["blame"]
        for offset in range(each["lines"])
    }
    assert owners["One more line."] == turn["turn"]
    assert owners["# The Lamp"] is None
    answer = server.post("/api/turns/undo", {"turn": turn["turn"]})
    assert answer["conflicts"] == []
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    server.post("/api/turns/redo")
    assert (folder / "story.md").read_text(encoding="utf-8") == OTHER


@pytest.mark.covers("RD-outside-one-turn")
def test_one_change_that_several_processes_notice_is_one_turn(server: Server, folder: Path) -> None:
    program = Program(folder)
    assert content(server) == STORY
    program.ok("tool", "read_document", "--json", '{"path": "story.md"}')
    another_program("rename", folder / "story.md", OTHER)
    program.ok("turns")
    program.ok("status")
    assert content(server) == OTHER
    assert len(until(lambda: by_outside(server))) == 1
    assert program.json("turns")["turns"][0]["author"]["kind"] == "outside"


@pytest.mark.covers("RD-outside-restart")
def test_a_change_made_while_nothing_ran_is_a_turn_for_tabs_drafts_and_documents_with_turns(folder: Path) -> None:
    for name in ("tab.md", "draft.md", "turned.md", "never.md"):
        (folder / name).write_text("First line.\n\nSecond line.\n", encoding="utf-8")
    first = begun(folder)
    first.post("/api/tabs", {"path": "tab.md"})
    first.tool("edit_text", path="draft.md", old_text="Second", new_text="Other")
    first.tool("edit_text", mode="apply", path="turned.md", old_text="Second", new_text="Other")
    assert ended(first) == ""
    for name in ("tab.md", "draft.md", "turned.md", "never.md"):
        path = folder / name
        another_program("in place", path, path.read_text(encoding="utf-8").replace("First", "Changed"))
    second = begun(folder)
    for name in ("turned.md", "never.md"):
        assert content(second, name).startswith("Changed")
    told = {path for turn in by_outside(second) for path in turn["paths"]}
    assert told == {"tab.md", "draft.md", "turned.md"}
    assert content(second, "draft.md") == "Changed line.\n\nOther line.\n"
    assert ended(second) == ""


@pytest.mark.covers("RD-outside-coalesced")
def test_a_program_that_never_stops_writing_makes_one_turn(server: Server, folder: Path) -> None:
    server.post("/api/tabs", {"path": "story.md"})
    another_program("keep writing", folder / "story.md", STORY)
    until(lambda: content(server).endswith("The last.\n"))
    until(lambda: [turn for turn in by_outside(server) if _ends(server, turn["turn"], "The last.\n")])
    [turn] = by_outside(server)
    server.post("/api/turns/undo", {"turn": turn["turn"]})
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY


def _ends(server: Server, turn: int, text: str) -> bool:
    return server.get(f"/api/agent/checkpoints/{turn}/diff3", file_path="story.md")["agent_proposed"].endswith(text)


@pytest.mark.covers("RD-outside-conflict")
def test_a_person_whose_unsaved_words_another_program_changes_is_told_and_sees_both(
    server: Server, folder: Path
) -> None:
    async def typing() -> str:
        person = await Person(server).join()
        person.type(str(person).index("eleven"), "fourteen", len("eleven"))
        await person.sent()
        typed = str(person)
        await person.leave()
        return typed

    typed = story(typing())
    assert "dark for fourteen years" in typed
    another_program("rename", folder / "story.md", STORY.replace("eleven", "ninety"))
    [notice] = until(lambda: server.get("/api/workspace")["notices"])
    assert notice.startswith("Another program changed words in story.md")
    [draft] = server.get("/api/review")["documents"]
    [hunk] = [hunk for hunk in draft["hunks"] if hunk["conflict"]]
    assert (hunk["author"], hunk["base"], hunk["working"]) == ("user", "ninety", "fourteen")
    assert content(server) == typed
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    for route, body in (
        (f"/api/tabs/{tab}/save", None),
        ("/api/review/accept", {"all": True}),
        ("/api/review/accept", {"hunks": {"story.md": [hunk["hunk_id"]]}}),
    ):
        assert server.refused("POST", route, body)["error"] == "conflict"
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY.replace("eleven", "ninety")
    [turn] = by_outside(server)
    server.post("/api/turns/undo", {"turn": turn["turn"]})
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert content(server) == typed
    assert server.get("/api/workspace")["notices"] == []


@pytest.mark.covers("RD-outside-conflict")
@pytest.mark.parametrize("side", ["mine", "theirs", "both"])
def test_where_both_put_something_in_at_one_place_it_is_not_saved_before_the_person_chose(
    server: Server, folder: Path, side: str
) -> None:
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    version = server.get(f"/api/tabs/{tab}")["version"]
    typed, theirs = (STORY.replace("eleven", f"eleven {word}") for word in ("long", "cold"))
    server.post(f"/api/tabs/{tab}/type", {"content": typed, "version": version})
    another_program("rename", folder / "story.md", theirs)
    until(lambda: server.get("/api/workspace")["notices"])
    both = STORY.replace("eleven", "eleven long cold")
    assert content(server) == both
    assert server.refused("POST", f"/api/tabs/{tab}/save")["error"] == "conflict"
    assert (folder / "story.md").read_text(encoding="utf-8") == theirs
    [hunk] = server.get("/api/review")["documents"][0]["hunks"]
    Program(folder).ok("settle", hunk["hunk_id"], f"--{side}")
    server.post(f"/api/tabs/{tab}/save")
    wanted = theirs if side == "theirs" else both
    assert (folder / "story.md").read_text(encoding="utf-8") == content(server) == wanted


@pytest.mark.covers("RD-outside-conflict")
def test_a_full_stop_that_both_put_in_stands_once(server: Server, folder: Path) -> None:
    (folder / "end.md").write_text("The end\n", encoding="utf-8")
    tab = server.post("/api/tabs", {"path": "end.md"})["tab_id"]
    server.post(f"/api/tabs/{tab}/type", {"content": "The end. Mine.\n"})
    another_program("rename", folder / "end.md", "The end. Theirs.\n")
    until(lambda: by_outside(server))
    assert content(server, "end.md") in ("The end. Mine. Theirs.\n", "The end. Theirs. Mine.\n")


@pytest.mark.covers("RD-outside-moves")
def test_a_deletion_and_a_move_by_another_program_are_turns(server: Server, folder: Path) -> None:
    (folder / "old.md").write_text("A text of its own.\n", encoding="utf-8")
    tabs = {name: server.post("/api/tabs", {"path": name})["tab_id"] for name in ("story.md", "old.md")}
    server.tool("edit_text", path="old.md", old_text="own", new_text="kind")
    server.post(f"/api/tabs/{tabs['old.md']}/type", {"content": "A text of its kind.\nTyped.\n"})
    another_program("move", folder / "old.md", folder / "new.md")
    [moved] = until(lambda: by_outside(server))
    assert (moved["title"], set(moved["paths"])) == ("Another program moved old.md to new.md", {"old.md", "new.md"})
    assert {tab["path"] for tab in server.get("/api/tabs")["tabs"]} == {"story.md", "new.md"}
    assert content(server, "new.md") == "A text of its kind.\nTyped.\n"
    [draft] = server.get("/api/review")["documents"]
    assert (draft["path"], [hunk["author"] for hunk in draft["hunks"]]) == ("new.md", ["agent", "user"])
    another_program("delete", folder / "story.md")
    deleted, _ = until(lambda: len(found := by_outside(server)) == 2 and found)
    assert deleted["title"] == "Another program deleted story.md"
    assert server.get("/api/trash")["documents"][0]["path"] == "story.md"
    for turn in (deleted, moved):
        assert server.post("/api/turns/undo", {"turn": turn["turn"]})["conflicts"] == []
    assert {path.name for path in folder.glob("*.md")} == {"old.md", "story.md"}
    assert content(server, "old.md") == "A text of its kind.\nTyped.\n"


@pytest.mark.covers("RD-outside-turn")
def test_an_agents_turn_on_what_another_program_wrote_comes_after_that_programs(server: Server, folder: Path) -> None:
    server.tool("edit_text", mode="apply", path="story.md", old_text="eleven", new_text="twelve")
    another_program("time kept", folder / "story.md", STORY.replace("eleven", "ninety"))
    server.tool("edit_text", mode="apply", path="story.md", old_text="ninety", new_text="ten")
    kinds = [turn["author"]["kind"] for turn in reversed(server.get("/api/turns")["turns"])]
    assert kinds == ["agent", "outside", "agent"]


@pytest.mark.covers("RD-outside-secrets")
def test_of_a_secret_nothing_is_recorded(server: Server, folder: Path) -> None:
    (folder / ".env").write_text("KEY=first\n", encoding="utf-8")
    server.request("GET", "/api/documents", query={"path": ".env"})
    server.get("/api/documents", path="story.md")
    another_program("in place", folder / ".env", "KEY=second\n")
    server.request("GET", "/api/documents", query={"path": ".env"})
    another_program("in place", folder / "story.md", OTHER)
    assert [turn["paths"] for turn in until(lambda: by_outside(server))] == [["story.md"]]


@pytest.mark.covers("RD-outside-turn")
def test_typing_that_is_refused_because_of_another_program_leaves_that_programs_turn(folder: Path) -> None:
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})
    another_program("rename", folder / "story.md", OTHER)
    edits = [{"at": 0, "old": "what is not there", "new": "Typed. "}]
    body = {"edits": edits, "version": tab["version"]}
    assert server.request("POST", f"/api/tabs/{tab['tab_id']}/type", body).status == 409
    [turn] = until(lambda: by_outside(server))
    assert server.get(f"/api/turns/{turn['turn']}")["turn"]["paths"] == ["story.md"]
    assert ended(server) == ""
    log = (server.state / "server.log").read_text(encoding="utf-8")
    assert "listener failed" not in log
    again = begun(folder)
    assert again.get("/api/workspace")["notices"] == []
    assert ended(again) == ""


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
def test_typing_goes_along_where_another_program_changes_a_document_and_renames_it(folder: Path, running: bool) -> None:
    server = begun(folder)
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    typed = STORY.replace("eleven", "fourteen")
    server.post(f"/api/tabs/{tab}/type", {"content": typed})
    if not running:
        assert ended(server) == ""
    another_program("change and move", folder / "story.md", f"{folder / 'tale.md'}\0{OTHER}")
    if not running:
        server = begun(folder)
    [turn] = until(lambda: by_outside(server))
    assert turn["title"] == "Another program moved story.md to tale.md"
    assert [shown["path"] for shown in server.get("/api/tabs")["tabs"]] == ["tale.md"]
    assert content(server, "tale.md") == OTHER.replace("eleven", "fourteen")
    [draft] = server.get("/api/review")["documents"]
    [hunk] = draft["hunks"]
    assert (draft["path"], draft["base_path"], hunk["author"], hunk["conflict"]) == (
        "tale.md",
        "tale.md",
        "user",
        False,
    )
    assert server.post("/api/turns/undo", {"turn": turn["turn"]})["conflicts"] == []
    assert [path.name for path in folder.glob("*.md")] == ["story.md"]
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert content(server) == typed
    assert ended(server) == ""


@pytest.mark.covers("P5")
def test_typing_stays_where_another_document_got_the_place_of_a_deleted_one(server: Server, folder: Path) -> None:
    tab = server.post("/api/tabs", {"path": "story.md"})["tab_id"]
    typed = STORY.replace("eleven", "fourteen")
    server.post(f"/api/tabs/{tab}/type", {"content": typed})
    another_program("change and move", folder / "story.md", f"{folder / 'other.md'}\0Nothing of it is here.\n")
    [turn] = until(lambda: by_outside(server))
    assert turn["title"] == "Another program deleted story.md"
    assert content(server) == typed
    assert content(server, "other.md") == "Nothing of it is here.\n"
    assert [draft["path"] for draft in server.get("/api/review")["documents"]] == ["story.md"]


def titles(server: Server) -> list[str]:
    """What other programs did, the first first."""
    return [turn["title"].removeprefix("Another program ") for turn in reversed(by_outside(server))]


def shown_tabs(server: Server) -> list[str]:
    return [tab["path"] for tab in server.get("/api/tabs")["tabs"]]


def type_unsaved(server: Server, path: str = "story.md") -> str:
    """Type into the document's first line, and give what it says then."""
    tab = server.post("/api/tabs", {"path": path})["tab_id"]
    typed = content(server, path).replace("\n", " <typed>\n", 1)
    server.post(f"/api/tabs/{tab}/type", {"content": typed})
    return typed


LOG = "# The log\n\nRain at noon, and a sail in the west.\n"


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize("running", [True, False], ids=["running", "stopped"])
@pytest.mark.parametrize("log", ["typed", "open", "closed", "new"])
def test_typing_stays_with_its_document_where_another_program_swaps_two(folder: Path, log: str, running: bool) -> None:
    """Of the other document there is unsaved typing too, or it is open, or only known, or nobody ever read it."""
    server = begun(folder)
    (folder / "log.md").write_text(LOG, encoding="utf-8")
    typed = {"log.md": type_unsaved(server), "story.md": LOG}  # what each says afterwards
    if log == "typed":
        typed["story.md"] = type_unsaved(server, "log.md")
    elif log == "open":
        server.post("/api/tabs", {"path": "log.md"})
    elif log == "closed":
        assert content(server, "log.md") == LOG
    if not running:
        assert ended(server) == ""
    for old, new in (("story.md", "x.tmp"), ("log.md", "story.md"), ("x.tmp", "log.md")):
        (folder / old).rename(folder / new)
    if not running:
        server = begun(folder)
    until(lambda: by_outside(server))
    assert {path: content(server, path) for path in typed} == typed
    if log == "typed":  # both were known, and such a turn is undone whole
        server.post("/api/turns/undo", {"turn": by_outside(server)[0]["turn"]})
        assert [content(server, "story.md"), content(server, "log.md")] == [*typed.values()]
        assert [(folder / name).read_text(encoding="utf-8") for name in ("story.md", "log.md")] == [STORY, LOG]
        server.post("/api/turns/redo")
        assert {path: content(server, path) for path in typed} == typed
    opened = ["log.md", "story.md"] if log in ("typed", "open") else ["log.md"]
    assert shown_tabs(server) == opened, "each tab goes along"
    assert not any(hunk["conflict"] for each in server.get("/api/review")["documents"] for hunk in each["hunks"])
    for tab in server.get("/api/tabs")["tabs"]:
        server.post(f"/api/tabs/{tab['tab_id']}/save")
    assert {path: (folder / path).read_text(encoding="utf-8") for path in typed} == typed
    assert ended(server) == ""


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize("reader", ["old name", "new name", "nobody"])
def test_typing_comes_back_with_a_document_that_another_program_renames_and_renames_back(
    server: Server, folder: Path, reader: str
) -> None:
    typed = type_unsaved(server)
    there, back = "moved story.md to story.mdx", "moved story.mdx to story.md"
    for number in (1, 2):
        another_program("move", folder / "story.md", folder / "story.mdx")
        until(lambda: titles(server)[-1:] == [there])
        assert (content(server, "story.mdx"), shown_tabs(server)) == (typed, ["story.mdx"])
        another_program("move", folder / "story.mdx", folder / "story.md")
        if reader != "nobody":
            path = "story.md" if reader == "new name" else "story.mdx"
            server.request("GET", "/api/documents", query={"path": path})
        until(lambda expected=[there, back] * number: titles(server) == expected)
        assert (content(server), shown_tabs(server)) == (typed, ["story.md"])
        assert server.request("GET", "/api/documents", query={"path": "story.mdx"}).status == 404
        typed = type_unsaved(server)
        assert content(server) == typed
    [tab] = server.get("/api/tabs")["tabs"]
    server.post(f"/api/tabs/{tab['tab_id']}/save")
    assert {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.md*")} == {"story.md": typed}


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_comes_back_with_a_folder_that_another_program_renames_and_renames_back(
    server: Server, folder: Path
) -> None:
    (folder / "one").mkdir()
    for name in ("a.md", "b.md"):
        (folder / "one" / name).write_text("The same in both.\n", encoding="utf-8")
        type_unsaved(server, f"one/{name}")
    for old, new in (("one", "two"), ("two", "one")):
        another_program("move", folder / old, folder / new)
        places = [f"{new}/a.md", f"{new}/b.md"]
        until(lambda places=places: shown_tabs(server) == places)
        assert [content(server, path) for path in places] == ["The same in both. <typed>\n"] * 2
        assert [draft["path"] for draft in server.get("/api/review")["documents"]] == places


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize("other", [OTHER, STORY, "Nothing of it is here.\n"], ids=["alike", "equal", "unlike"])
def test_typing_ends_in_the_document_that_an_editor_saves_by_way_of_a_backup(
    server: Server, folder: Path, other: str
) -> None:
    typed = type_unsaved(server)
    story, backup = folder / "story.md", folder / "story.md~"
    for number in (1, 2):
        another_program("move", story, backup)
        until(lambda: shown_tabs(server) == ["story.md~"])
        another_program("in place", story, other)
        until(lambda: titles(server)[-1] == "created story.md")
        another_program("delete", backup)
        until(lambda: titles(server)[-1] == "deleted story.md~")
        [draft] = server.get("/api/review")["documents"]
        assert (draft["path"], draft["base_path"], shown_tabs(server)) == ("story.md", "story.md", ["story.md"])
        assert content(server).count("<typed>") == number
        if other != "Nothing of it is here.\n":
            assert content(server) == other.replace("\n", " <typed>" * number + "\n", 1)
            assert [hunk["conflict"] for hunk in draft["hunks"]] == [False]
            typed = type_unsaved(server)
        else:
            assert [hunk["conflict"] for hunk in draft["hunks"]] == [True]
            assert "Another program changed words in story.md" in server.get("/api/workspace")["notices"][0]
            return
    assert content(server) == typed


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_stands_once_on_a_document_that_is_deleted_and_comes_back(server: Server, folder: Path) -> None:
    typed = type_unsaved(server)
    another_program("delete", folder / "story.md")
    until(lambda: titles(server) == ["deleted story.md"])
    assert content(server) == typed
    another_program("in place", folder / "story.md", STORY)
    until(lambda: titles(server) == ["deleted story.md", "created story.md"])
    assert content(server) == typed
    [draft] = server.get("/api/review")["documents"]
    assert [(hunk["working"], hunk["conflict"]) for hunk in draft["hunks"]] == [(" <typed>", False)]
    another_program("delete", folder / "story.md")
    until(lambda: len(titles(server)) == 3)
    typed = type_unsaved(server)
    another_program("in place", folder / "story.md", OTHER)
    until(lambda: len(titles(server)) == 4)
    assert content(server) == OTHER.replace("\n", " <typed> <typed>\n", 1)
    [tab] = server.get("/api/tabs")["tabs"]
    server.post(f"/api/tabs/{tab['tab_id']}/save")
    assert (folder / "story.md").read_text(encoding="utf-8") == content(server)


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize("reader", [True, False], ids=["read first", "watched"])
def test_typing_goes_along_where_another_program_replaces_a_document_and_renames_it(
    server: Server, folder: Path, reader: bool
) -> None:
    type_unsaved(server)
    another_program("replace and move", folder / "story.md", f"{folder / 'tale.md'}\0{OTHER}")
    if reader:
        server.request("GET", "/api/documents", query={"path": "story.md"})
    until(lambda: titles(server) == ["moved story.md to tale.md"])
    assert (content(server, "tale.md"), shown_tabs(server)) == (OTHER.replace("\n", " <typed>\n", 1), ["tale.md"])
    assert server.get("/api/workspace")["notices"] == []


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_goes_along_with_each_of_several_documents_that_are_alike(server: Server, folder: Path) -> None:
    """They say nearly the same, and file systems give the number of a replaced file to the next: the kernel tells which
    was renamed to which."""
    days = ("monday", "tuesday", "friday")
    typed: dict[str, str] = {}
    for day in days:
        (folder / f"{day}.md").write_text(f"{STORY}It is {day}.\n", encoding="utf-8")
        typed[day] = type_unsaved(server, f"{day}.md")
    for day in days:
        new, old = folder / "draft~", folder / f"{day}.md"
        new.write_text(f"{OTHER}It is {day}.\n", encoding="utf-8")
        if day != "friday":
            new.replace(old)
        old.rename(folder / f"{day}-old.md")
        if day == "friday":
            new.replace(folder / f"{day}-old.md")
    until(lambda: shown_tabs(server) == [f"{day}-old.md" for day in days])
    for day in days:
        assert content(server, f"{day}-old.md") == OTHER.replace("\n", " <typed>\n", 1) + f"It is {day}.\n"
    assert server.get("/api/workspace")["notices"] == []


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_stays_with_each_of_two_swapped_documents_when_one_is_written_again(
    server: Server, folder: Path
) -> None:
    days = ("monday", "tuesday")
    for day in days:
        (folder / f"{day}.md").write_text(f"{STORY}It is {day}.\n", encoding="utf-8")
        tab = server.post("/api/tabs", {"path": f"{day}.md"})["tab_id"]
        server.post(f"/api/tabs/{tab}/type", {"content": f"Typed on {day}. {STORY}It is {day}.\n"})
    first, second = (folder / f"{day}.md" for day in days)
    first.rename(folder / "aside~")
    second.rename(first)
    (folder / "aside~").rename(second)
    until(lambda: content(server, "monday.md").startswith("Typed on tuesday."))
    first.write_text(f"{STORY}It is tuesday.\nOne more line.\n", encoding="utf-8")
    until(lambda: content(server, "monday.md").endswith("One more line.\n"))
    assert content(server, "monday.md") == f"Typed on tuesday. {STORY}It is tuesday.\nOne more line.\n"
    assert content(server, "tuesday.md") == f"Typed on monday. {STORY}It is monday.\n"


def save_again(file: Path, *, backup: bool) -> None:
    """Add a line as editors do: put a new file over the old one, or write a new one once the old one is a backup."""
    words, aside = file.read_text(encoding="utf-8") + "More.\n", file.with_name("aside~")
    if backup:
        file.rename(aside)
        file.write_text(words, encoding="utf-8")
        aside.unlink()
    else:
        aside.write_text(words, encoding="utf-8")
        aside.replace(file)


@pytest.mark.covers("RD-outside-moves", "P5")
@pytest.mark.parametrize(
    "then", ["replaced and renamed", "another deleted", "backup and deleted", "backup and renamed", "unknown"]
)
def test_typing_follows_each_of_two_swapped_documents_that_are_alike(server: Server, folder: Path, then: str) -> None:
    """All of it is done before the server can look. Numbers and words do not tell which is which, but the kernel does:
    even of a document that nobody ever read, and of one that is written anew afterwards."""
    days = ("monday",) if then == "unknown" else ("monday", "tuesday", "friday")
    first, second, third, late = (folder / f"{name}.md" for name in ("monday", "tuesday", "friday", "late"))
    for file in (first, second, third):
        file.write_text(f"{STORY}It is {file.stem}.\n", encoding="utf-8")
    for day in days:
        tab = server.post("/api/tabs", {"path": f"{day}.md"})["tab_id"]
        server.post(f"/api/tabs/{tab}/type", {"content": f"Typed on {day}. {STORY}It is {day}.\n"})
    places = {"monday": second, "tuesday": first, "friday": third}
    with stopped(server):
        first.rename(folder / "aside~")
        second.rename(first)
        (folder / "aside~").rename(second)
        if then in ("replaced and renamed", "another deleted"):
            save_again(second, backup=False)
            places["monday"] = second.rename(late)
            if then == "another deleted":
                third.unlink()
        elif then == "backup and deleted":
            save_again(first, backup=True)
            second.unlink()
        elif then == "backup and renamed":
            save_again(first, backup=True)
            places["tuesday"] = first.rename(late)
    until(lambda: by_outside(server))
    for day, place in places.items():
        shown = content(server, place.name)
        assert f"It is {day}.\n" in shown
        assert [each for each in places if f"Typed on {each}. " in shown] == [day] * (day in days)
    lost = [place.name for place in places.values() if not place.exists()]
    notices = server.get("/api/workspace")["notices"]
    assert [name for name in lost if f"deleted or renamed {name}" in "".join(notices)] == lost
    assert len(notices) == len(lost)


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_goes_along_where_somebody_reads_the_renamed_document_before_its_old_name(
    server: Server, folder: Path
) -> None:
    typed = type_unsaved(server)
    (folder / "copy.md").write_text(STORY + "Copied.\n", encoding="utf-8")  # alike too, and known to nobody
    with stopped(server):
        (folder / "story~").write_text(OTHER, encoding="utf-8")
        (folder / "story~").replace(folder / "story.md")
        (folder / "story.md").rename(folder / "tale.md")
    assert content(server, "tale.md")
    until(lambda: titles(server) == ["moved story.md to tale.md"])
    assert content(server, "tale.md") == OTHER.replace("\n", " <typed>\n", 1) != typed


@pytest.mark.covers("RD-outside-moves", "P5")
def test_typing_goes_along_into_a_new_folder_beside_a_new_document_that_is_alike(server: Server, folder: Path) -> None:
    """The kernel does not tell where it went: nobody watched that folder yet."""
    type_unsaved(server)
    with stopped(server):
        (folder / "copy.md").write_text(OTHER, encoding="utf-8")
        (folder / "new").mkdir()
        (folder / "story.md").rename(folder / "new" / "story.md")
    assert content(server, "new/story.md")
    until(lambda: titles(server) == ["moved story.md to new/story.md"])
    assert content(server, "new/story.md") == STORY.replace("\n", " <typed>\n", 1)


@contextmanager
def stopped(server: Server) -> Generator[None]:
    """While the server does not run; then it hears of everything at once."""
    assert server.process is not None
    server.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        server.process.send_signal(signal.SIGCONT)


@pytest.mark.covers("P5")
def test_typing_stays_when_a_secret_gets_the_number_of_a_deleted_document(folder: Path) -> None:
    server = begun(folder)
    typed = type_unsaved(server)
    assert ended(server) == ""
    number = (folder / "story.md").stat().st_ino
    (folder / "story.md").unlink()
    for attempt in range(64):
        (folder / f"new-{attempt}").write_text("KEY=1\n", encoding="utf-8")
        if (folder / f"new-{attempt}").stat().st_ino == number:
            (folder / f"new-{attempt}").rename(folder / ".env")
            break
    else:
        pytest.skip("this file system does not give the number of a deleted file to the next")
    server = begun(folder)
    [notice] = until(lambda: server.get("/api/workspace")["notices"])
    assert notice.startswith("Another program deleted or renamed story.md. Your unsaved typing is kept")
    assert (content(server), shown_tabs(server), titles(server)) == (typed, ["story.md"], ["deleted story.md"])
    assert ended(server) == ""


@pytest.mark.covers("RD-outside-moves", "P5")
def test_a_person_is_told_where_their_typing_is_when_two_documents_may_be_the_one_that_is_gone(
    folder: Path,
) -> None:
    server = begun(folder)
    typed = type_unsaved(server)
    assert ended(server) == ""  # while nothing runs, the kernel tells nobody which was renamed
    another_program("replace and move", folder / "story.md", f"{folder / 'tale.md'}\0{OTHER}\0{folder / 'copy.md'}")
    server = begun(folder)
    [notice] = until(lambda: server.get("/api/workspace")["notices"])
    assert notice.startswith("Another program deleted or renamed story.md. Your unsaved typing is kept")
    assert (content(server), shown_tabs(server), titles(server)) == (typed, ["story.md"], ["deleted story.md"])
    newest = server.get("/api/turns")["turns"][0]["turn"]
    said = Program(folder).run("reject", "--all")
    assert said.err == f"note: {notice}\n"
    assert said.out == "Nothing was rejected: your own text in story.md stays.\n"
    assert server.get("/api/turns")["turns"][0]["turn"] == newest
    assert content(server) == typed
    [tab] = server.get("/api/tabs")["tabs"]
    server.post(f"/api/tabs/{tab['tab_id']}/save")
    assert (folder / "story.md").read_text(encoding="utf-8") == typed
    assert server.get("/api/workspace")["notices"] == []
    assert ended(server) == ""


def write_slowly(server: Server, file: Path, *chunks: str) -> None:
    """Empty the file and write it piece by piece, as a slow program does; the server has seen it after each piece."""
    with file.open("w", encoding="utf-8") as written:
        for chunk in chunks:
            written.write(chunk)
            written.flush()
            until(lambda: is_recorded(server, file.name, file.read_text(encoding="utf-8")))


def is_recorded(server: Server, path: str, text: str) -> bool:
    """Whether this is what another program wrote last, as far as the history knows."""
    turn = next((turn["turn"] for turn in by_outside(server) if path in turn["paths"]), None)
    if turn is None:
        return False
    return server.get(f"/api/agent/checkpoints/{turn}/diff3", file_path=path)["agent_proposed"] == text


def shown_hunks(server: Server, path: str = "story.md") -> list[tuple[str, str, str, str, bool]]:
    """What is to review in a document: whose it is, the words that stand, are proposed and shown; is it a conflict."""
    fields = ("author", "base", "proposed", "working", "conflict")
    drafts = [draft for draft in server.get("/api/review")["documents"] if draft["path"] == path]
    return [tuple(hunk[field] for field in fields) for draft in drafts for hunk in draft["hunks"]]


HALVES = {"emptied": 0, "within the hunk": STORY.index("even years"), "before the end": STORY.index("the keys.")}


@pytest.mark.covers("RD-outside-slow", "P5")
@pytest.mark.parametrize("typing", [False, True], ids=["proposed", "and typed"])
@pytest.mark.parametrize("new", [STORY, OTHER], ids=["restored", "changed"])
@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES)
def test_a_proposal_stands_where_it_stood_once_a_slow_program_has_written_the_whole_document(
    server: Server, folder: Path, half: int, new: str, typing: bool
) -> None:
    server.tool("edit_text", path="story.md", old_text="eleven", new_text="fourteen")
    server.tool("edit_text", path="story.md", old_text="went to look", new_text="looked")
    wanted = new.replace("eleven", "fourteen").replace("went to look", "looked")
    if typing:
        type_unsaved(server)
        wanted = wanted.replace("\n", " <typed>\n", 1)
    before = shown_hunks(server)
    write_slowly(server, folder / "story.md", new[:half], new[half:])
    assert (content(server), shown_hunks(server)) == (wanted, before)
    assert server.get("/api/workspace")["notices"] == []
    [turn] = by_outside(server)
    assert server.post("/api/turns/undo", {"turn": turn["turn"]})["conflicts"] == []
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY
    assert shown_hunks(server) == before
    server.post("/api/turns/redo")
    assert (content(server), shown_hunks(server)) == (wanted, before)
    Program(folder).ok("accept", "--all")
    assert (folder / "story.md").read_text(encoding="utf-8") == wanted


@pytest.mark.covers("RD-outside-slow", "RD-outside-conflict")
def test_a_slow_program_that_changes_the_proposed_words_leaves_a_conflict_about_them_alone(
    server: Server, folder: Path
) -> None:
    server.tool("edit_text", path="story.md", old_text="eleven", new_text="fourteen")
    server.tool("edit_text", path="story.md", old_text="twice", new_text="again")
    new = STORY.replace("eleven", "ninety")
    write_slowly(server, folder / "story.md", new[:9], new[9:60], new[60:])
    assert shown_hunks(server) == [
        ("mixed", "ninety", "fourteen", "ninety", True),
        ("agent", "twice", "again", "again", False),
    ]


@pytest.mark.covers("RD-outside-slow", "P5")
def test_what_is_typed_while_a_slow_program_writes_stays_and_so_does_the_proposal(server: Server, folder: Path) -> None:
    server.tool("edit_text", path="story.md", old_text="twice", new_text="again")
    half = STORY.index("## The keys")
    with (folder / "story.md").open("w", encoding="utf-8") as written:
        for so_far, rest in ((half, OTHER[:half]), (len(OTHER), OTHER[half:])):
            written.write(rest)
            written.flush()
            until(lambda so_far=so_far: is_recorded(server, "story.md", OTHER[:so_far]))
            type_unsaved(server)
    assert content(server) == OTHER.replace("twice", "again").replace("\n", " <typed> <typed>\n", 1)
    assert [(author, conflict) for author, *_, conflict in shown_hunks(server)] == [("user", False), ("agent", False)]


@pytest.mark.covers("RD-outside-slow")
def test_a_proposal_that_a_half_written_document_carried_out_by_chance_comes_back(server: Server, folder: Path) -> None:
    half = STORY.index("## The keys")
    server.tool("edit_text", path="story.md", old_text=STORY[half:], new_text="")
    before = shown_hunks(server)
    with (folder / "story.md").open("w", encoding="utf-8") as written:
        written.write(STORY[:half])
        written.flush()
        until(lambda: is_recorded(server, "story.md", STORY[:half]))
        assert shown_hunks(server) == []
        written.write(STORY[half:])
    until(lambda: is_recorded(server, "story.md", STORY))
    assert shown_hunks(server) == before
    Program(folder).ok("accept", "--all")
    assert (folder / "story.md").read_text(encoding="utf-8") == STORY[:half]


@pytest.mark.covers("RD-outside-slow")
def test_proposals_to_make_or_delete_a_document_meet_a_slow_program_as_they_meet_a_quick_one(
    server: Server, folder: Path
) -> None:
    (folder / "old.md").write_text(STORY, encoding="utf-8")
    for name in ("slow", "quick"):
        server.tool("create_document", path=f"{name}.md", content="Proposed.\n")
    another_program("rename", folder / "quick.md", OTHER)
    until(lambda: is_recorded(server, "quick.md", OTHER))
    write_slowly(server, folder / "slow.md", "", OTHER[:40], OTHER[40:])
    assert shown_hunks(server, "slow.md") == shown_hunks(server, "quick.md") != []
    for name in ("story", "old"):
        server.tool("delete_document", path=f"{name}.md")
    another_program("rename", folder / "story.md", OTHER)
    until(lambda: is_recorded(server, "story.md", OTHER))
    write_slowly(server, folder / "old.md", OTHER[:40], OTHER[40:])
    drafts = {draft["base_path"]: draft for draft in server.get("/api/review")["documents"]}
    (slow,), (quick,) = drafts["old.md"]["hunks"], drafts["story.md"]["hunks"]
    assert (slow["kind"], slow["base"]) == ("deleted", OTHER)
    assert slow | {"turn": 0} == quick | {"turn": 0}
