"""Every tool over every surface: the same call in the same folder gets the same answer."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from redraft.config import Settings
from redraft.errors import RedraftError
from redraft.history.turns import Author
from redraft.text.text import Text
from redraft.tools.context import ToolContext
from redraft.tools.reference_page import render
from redraft.tools.registry import load_registry
from redraft.workspace.document import version_of
from tests.cli.running import Program
from tests.server.serving import serving as http_serving
from tests.speaking.lines import Lines, answer_of, envelope
from tests.speaking.posts import serving
from tests.tools.calling import STORY
from tests.tools.looping import offered_to_a_job, told_in_a_job
from tests.workspace.folder import yes

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextlib import AbstractContextManager

    Call = Callable[["Scene", dict[str, Any]], dict[str, Any]]
    Surface = Callable[[Program], AbstractContextManager[Call]]

AGENT = Author("agent", "agent")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "tools.md"
VERSION = "<the version of story.md>"
COMMENT = "<a comment on story.md>"


@dataclass(frozen=True, slots=True)
class Scene:
    """One call, and the calls that come before it. `VERSION` stands for the version of `story.md`, and `COMMENT` for a
    comment on it."""

    tool: str
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    before: tuple[tuple[str, dict[str, Any]], ...] = ()
    fails: bool = False


EDIT = ("edit_text", {"path": "story.md", "old_text": "eleven", "new_text": "twelve"})
LINES = {"file_path": "story.md", "operation": "delete", "start_line": 1, "end_line": 2, "version": VERSION}
AT = {"path": "story.md", "version": VERSION}
SCENES = (
    Scene("list_tabs", before=(("create_document", {"title": "a.md"}),)),
    Scene("read_document", {"path": "story.md", "start_line": 2, "end_line": 4}),
    Scene("read_document", {"path": "none.md"}, fails=True),
    Scene("read_file", {"file_path": "story.md", "end_line": 3}),
    Scene("get_outline", {"path": "story.md"}),
    Scene("search_document", {"path": "story.md", "query": "keys", "match_type": "exact"}),
    Scene("search_document", {"path": "story.md", "query": "(", "match_type": "regex"}, fails=True),
    Scene("create_document", {"title": "new.md", "content": "x ü \U0001f600\n"}),
    Scene("create_document", {"name": "story"}, fails=True),
    Scene("create_folder", {"path": "a/b"}),
    Scene("insert_lines", {**AT, "after_line": 2, "content": "new"}),
    Scene("insert_lines", {**AT, "version": "0" * 16, "after_line": 2, "content": "new"}, fails=True),
    Scene("replace_lines", {**AT, "start_line": "2", "end_line": 2, "content": "new"}),
    Scene("delete_lines", {**AT, "start_line": 2, "end_line": 2}),
    Scene("delete_lines", {**AT, "start_line": 2, "end_line": 99}, fails=True),
    Scene("write_document", {**AT, "content": STORY + "More.\n"}),
    Scene("write_document", {**AT, "content": ""}, fails=True),
    Scene("edit_document", {"path": "story.md", "operation": "append", "content": "The end."}),
    Scene("find_and_replace", {**AT, "find": "the", "replace": "a", "preview": True}),
    Scene(*EDIT),
    Scene("edit_text", {"path": "story.md", "old_text": "The l", "new_text": "x"}, fails=True),
    Scene("edit_section", {"path": "story.md", "heading": ["The keys"], "content": "She had them."}),
    Scene("move_document", {"from_path": "story.md", "to_path": "b/story.md"}),
    Scene("delete_document", {"path": "story.md"}),
    Scene("list_documents", {"recursive": True}),
    Scene("list_files", {"glob": "*.md"}),
    Scene("search_documents", {"query": "LETTER"}),
    Scene("search_project", {"query": "letter twice"}),
    Scene("propose_edits", {"edits": [LINES]}),
    Scene("clarify_user", {"question": "Which?"}, fails=True),
    Scene("list_turns", before=(EDIT,)),
    Scene("show_turn", {"turn": 1}, before=(EDIT,)),
    Scene("undo_turn", before=(EDIT,)),
    Scene("get_changes_since", AT, before=(EDIT,)),
    Scene("batch", {"calls": [{"tool": "delete_lines", "arguments": {**AT, "start_line": 0, "end_line": 0}}]}),
    Scene("analyze_document", {"path": "story.md", "task": "style"}),
    Scene("analyze_document", {"path": "story.md", "task": "summary"}, fails=True),
    Scene(
        "transform_document",
        {**AT, "transformation": "character_rename", "params": {"old_name": "letter", "new_name": "note"}},
    ),
    Scene("transform_document", {"path": "story.md", "transformation": "custom", "custom_prompt": "?"}, fails=True),
    Scene("getEditorText", {"path": "story.md"}),
    Scene("replaceText", {"path": "story.md", "from": 0, "to": 3, "newText": "A \U0001f600"}),
    Scene("replaceText", {"path": "story.md", "from": 3, "to": 1, "newText": "x"}),
    Scene("list_comments", {"path": "story.md"}),
    Scene("list_comments", {"path": "none.md"}, fails=True),
    Scene("add_comment", {"path": "story.md", "quote": "the letter", "says": "Which one, @anna?"}),
    Scene("add_comment", {"path": "story.md", "quote": "the", "says": "Which?"}, fails=True),
    Scene("reply_comment", {"comment": COMMENT, "says": "It is right."}),
    Scene("resolve_comment", {"comment": COMMENT}),
    Scene("resolve_comment", {"comment": "f" * 12}, fails=True),
    Scene("no_such_tool", fails=True),
)
# What the editor's tool finds wrong is told in its answer, and is no failure of the call, wherever it is called.
TOLD = (
    Scene("replaceText", {"path": "story.md", "from": 0, "to": 10**6, "newText": "x"}),
    Scene("replaceText", {"path": "story.md", "from": 0, "to": 3, "newText": "x", "expected": "Not"}),
    Scene("replaceText", {"path": "story.md", "from": 0, "to": 3, "newText": "x", "version": "0" * 16}),
    Scene("replaceText", {"tab_id": "none", "from": 0, "to": 3, "newText": "x"}),
)


def filled(value: Any, version: str, path: str = "story.md") -> Any:
    """The arguments with the version put in, and the comment on the document."""
    told = json.dumps(value).replace(json.dumps(VERSION), json.dumps(version))
    return json.loads(told.replace(json.dumps(COMMENT), json.dumps(comment_on(path))))


def comment_on(path: str) -> str:
    return sha256(path.encode()).hexdigest()[:12]


def write_story(program: Program, path: str) -> None:
    """The story, with the thread that a folder has brought along."""
    program.write(path, STORY)
    at = "2026-11-18T09:30:00.000Z"
    lines = (
        {"thread": comment_on(path), "document": path, "quote": "eleven years", "before": "", "after": "", "at": at},
        {"id": "0123456789ab", "by": "anna", "at": at, "says": "Is that so?"},
    )
    program.write(f".redraft/comments/{comment_on(path)}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines))


def prepared(place: Path, scene: Scene) -> tuple[Program, dict[str, Any]]:
    """A folder as the scene begins, and the call's arguments."""
    program = Program(place / "notes")
    write_story(program, "story.md")
    with program.open(Settings(mode="apply")) as workspace:
        version = workspace.read("story.md").version
        for name, arguments in scene.before:
            load_registry().call(name, arguments, ToolContext(workspace, AGENT))
    return program, filled(scene.arguments, version)


# Each surface opens a folder and gives the way to call a tool there.


@contextmanager
def by_python(program: Program) -> Generator[Call]:
    def call(scene: Scene, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return load_registry().call(scene.tool, arguments, ToolContext(workspace, AGENT, confirm=yes))
        except RedraftError as error:
            return error.as_dict()

    with program.open(Settings(mode="apply")) as workspace:
        yield call


@contextmanager
def by_command(program: Program) -> Generator[Call]:
    def call(scene: Scene, arguments: dict[str, Any]) -> dict[str, Any]:
        result = program.run("tool", scene.tool, "--json", json.dumps(arguments), "--mode", "apply", "--yes")
        assert (result.status, result.err) == (int(scene.fails), "")
        return result.json

    yield call


def agreed(asked: dict[str, Any]) -> dict[str, Any]:
    """The person agrees to whatever they are asked to, and answers no questions."""
    agree = "agree" in asked["requestedSchema"]["properties"]
    return {"action": "accept", "content": {"agree": True}} if agree else {"action": "decline"}


@contextmanager
def by_mcp_on_the_streams(program: Program) -> Generator[Call]:
    client = Lines.to(program.folder, "--profile", "all")
    client.answer = agreed
    client.start(AGENT.name, elicitation={})
    try:
        yield lambda scene, arguments: answer_of(client.call(scene.tool, **arguments))
    finally:
        said = client.close()
    assert said == ""


@contextmanager
def by_mcp_over_http(program: Program) -> Generator[Call]:
    meta = envelope(AGENT.name, elicitation={})

    def call(scene: Scene, arguments: dict[str, Any]) -> dict[str, Any]:
        named: dict[str, Any] = {"name": scene.tool, "arguments": arguments}
        result = server.enveloped("tools/call", meta, **named).json["result"]
        while result["resultType"] == "input_required":
            said = {key: agreed(asked["params"]) for key, asked in result["inputRequests"].items()}
            result = server.enveloped("tools/call", meta, **named, inputResponses=said).json["result"]
        return answer_of(result)

    with serving(program.folder, "--profile", "all") as server:
        yield call


@contextmanager
def by_http(program: Program) -> Generator[Call]:
    where = {"mode": "apply", "agree": "true", "author": AGENT.name}

    def call(scene: Scene, arguments: dict[str, Any]) -> dict[str, Any]:
        answer = server.request("POST", f"/api/tools/{scene.tool}", arguments, query=where)
        assert (answer.status >= 400) is scene.fails
        return answer.json

    with http_serving(program.folder) as server:
        yield call


@contextmanager
def by_the_agents_loop(program: Program) -> Generator[Call]:
    with program.open(Settings(mode="apply")) as workspace:
        yield lambda scene, arguments: told_in_a_job(workspace, scene.tool, arguments)


def called(surface: Surface, place: Path, scene: Scene) -> tuple[Any, dict[str, bytes]]:
    """The answer to a scene over one surface, and what is in the folder then."""
    place.mkdir(exist_ok=True)
    program, arguments = prepared(place, scene)
    with surface(program) as call:
        answer = timeless(call(scene, arguments))
    return answer, contents(program)


def while_the_turn_is_open(scene: Scene, answer: dict[str, Any]) -> dict[str, Any]:
    """An answer as a job's model gets it: its turn is carried out when it is done, so what the call has changed is only
    staged, no turn is recorded, and nothing is there yet to be opened in a tab."""
    if scene.fails or answer.get("state") != "applied" or load_registry().get(scene.tool).alone:
        return answer
    made = "result_tab_id" if "result_tab_id" in answer else "tab_id" if "tab_id" in answer else "state"
    return {**answer, made: None, "state": "staged", "turn": None}


SURFACES: tuple[Surface, ...] = (by_python, by_command, by_mcp_on_the_streams, by_mcp_over_http, by_http)


def timeless(answer: Any) -> Any:
    """The answer without the times in it, and without what is drawn for a new comment."""
    told = re.sub(r'"created": [0-9.]+', '"created": 0', json.dumps(answer))
    return json.loads(re.sub(r'"(id|at)": "([0-9a-f]{12}|[0-9T:.-]+Z)"', r'"\1": ""', told))


def contents(program: Program) -> dict[str, bytes]:
    files = (path for path in sorted(program.folder.rglob("*")) if path.is_file() and ".redraft" not in path.parts)
    return {path.relative_to(program.folder).as_posix(): path.read_bytes() for path in files}


def ids(scene: Scene) -> str:
    return f"{scene.tool}{'-fails' * scene.fails}"


def leaves_all_as_it_was(scene: Scene) -> bool:
    return not scene.before and (scene.fails or load_registry().get(scene.tool).risk == "read")


CHANGING = [each for each in SCENES if not leaves_all_as_it_was(each)]
READING = [each for each in SCENES if leaves_all_as_it_was(each)]


@contextmanager
def open_surfaces(place: Path, *documents: str) -> Generator[list[tuple[Program, Call]]]:
    """Every surface over a folder of its own, in which these documents tell the same story."""
    with ExitStack() as stack:
        found: list[tuple[Program, Call]] = []
        for number, surface in enumerate(SURFACES):
            program = Program(place / str(number) / "notes")
            for path in documents:
                write_story(program, path)
            found.append((program, stack.enter_context(surface(program))))
        yield found


@pytest.fixture(scope="module")
def changing(tmp_path_factory: pytest.TempPathFactory) -> Generator[list[tuple[Program, Call]]]:
    """Every surface, for scenes that each change a document of their own."""
    with open_surfaces(tmp_path_factory.mktemp("changing"), *map(own_document, CHANGING)) as found:
        yield found


@pytest.fixture(scope="module")
def reading(tmp_path_factory: pytest.TempPathFactory) -> Generator[list[tuple[Program, Call]]]:
    """Every surface, for calls that change nothing."""
    with open_surfaces(tmp_path_factory.mktemp("reading"), "story.md") as found:
        yield found


def own_document(scene: Scene) -> str:
    return f"story-{CHANGING.index(scene)}.md"


def with_own_document(scene: Scene) -> Scene:
    """The scene with a document of its own in the place of `story.md`."""
    path = own_document(scene)
    told = json.dumps(filled((scene.arguments, scene.before), version_of(Text(STORY)), path))
    arguments, before = json.loads(told.replace("story.md", path))
    return Scene(scene.tool, arguments, tuple((tool, more) for tool, more in before), scene.fails)


@pytest.mark.slow
@pytest.mark.covers("P8")
@pytest.mark.parametrize("scene", CHANGING, ids=ids)
def test_every_surface_gives_the_same_answer(changing: list[tuple[Program, Call]], scene: Scene):
    own = with_own_document(scene)
    found: list[tuple[Any, dict[str, bytes]]] = []
    for program, call in changing:
        for tool, arguments in own.before:
            assert "error" not in call(Scene(tool), arguments)
        found.append((timeless(call(own, own.arguments)), contents(program)))
    assert found == [found[0]] * len(SURFACES)
    answer, _ = found[0]
    assert ("error" in answer and "success" not in answer) is scene.fails


@pytest.mark.slow
@pytest.mark.covers("P8")
@pytest.mark.parametrize("scene", READING, ids=ids)
def test_every_surface_reads_and_refuses_alike(reading: list[tuple[Program, Call]], scene: Scene):
    arguments = filled(scene.arguments, version_of(Text(STORY)))
    answers = [timeless(call(scene, arguments)) for _, call in reading]
    assert all(answer == answers[0] for answer in answers)
    assert ("error" in answers[0] and "success" not in answers[0]) is scene.fails
    assert [contents(program) for program, _ in reading] == [{"story.md": STORY.encode()}] * len(SURFACES)


@pytest.mark.parametrize("scene", TOLD)
def test_what_the_editors_tool_finds_wrong_is_told_in_its_answer(tmp_path: Path, scene: Scene):
    answer, found = called(by_python, tmp_path, scene)
    assert (answer["success"], bool(answer["error"])) == (False, True)
    assert found == {"story.md": STORY.encode()}


# In a job a batch is staged in the job's turn; and its person can always be asked, as the next test says.
@pytest.mark.covers("P8")
@pytest.mark.parametrize(
    "scene",
    [each for each in (*SCENES, *TOLD) if each.tool not in ("batch", "clarify_user")],
    ids=ids,
)
def test_the_agents_loop_gives_the_same_answer(tmp_path: Path, scene: Scene):
    plain, files = called(by_python, tmp_path / "python", scene)
    answer, left = called(by_the_agents_loop, tmp_path / "loop", scene)
    assert answer == while_the_turn_is_open(scene, plain)
    assert left == files


def test_a_job_offers_every_tool():
    assert {entry.name for entry in load_registry().tools} == offered_to_a_job()


def test_a_question_is_answered_alike_wherever_the_person_can_be_asked(tmp_path: Path):
    question = {"question": "Which of the two?"}
    program = Program(tmp_path / "notes")
    program.write("story.md", STORY)
    with program.open() as workspace:
        context = ToolContext(workspace, AGENT, ask=lambda _: "The second.")
        plain = load_registry().call("clarify_user", question, context)
        by_the_loop = told_in_a_job(workspace, "clarify_user", question, "The second.")
    client = Lines.to(program.folder, "--profile", "all")
    client.answer = lambda _: {"action": "accept", "content": {"answer": "The second."}}
    client.start(AGENT.name, elicitation={})
    by_mcp = answer_of(client.call("clarify_user", **question))
    assert client.close() == ""
    assert plain == by_the_loop == by_mcp == {**question, "answer": "The second."}


def test_every_tool_has_a_scene():
    assert {scene.tool for scene in SCENES} - {"no_such_tool"} == {entry.name for entry in load_registry().tools}


@pytest.mark.parametrize("scene", [each for each in SCENES if not each.fails], ids=lambda scene: scene.tool)
def test_every_answer_is_what_its_schema_promises(tmp_path: Path, scene: Scene):
    answer, _ = called(by_python, tmp_path, scene)
    assert faults(answer, load_registry().get(scene.tool).output_schema, "answer") == []
    assert json.loads(json.dumps(answer)) == answer


TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def faults(value: Any, schema: dict[str, Any], where: str) -> list[str]:
    """A small validator for the part of JSON Schema that our schemas use."""
    if "anyOf" in schema:
        return [] if any(not faults(value, option, where) for option in schema["anyOf"]) else [f"{where}: no option"]
    kinds: list[str] = [schema["type"]] if isinstance(schema.get("type"), str) else schema.get("type", [])
    if kinds and not any(isinstance(value, TYPES[kind]) for kind in kinds):
        return [f"{where}: {value!r} is not {kinds}"]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{where}: {value!r} is not one of {schema['enum']}"]
    found: list[str] = []
    if isinstance(value, list) and "items" in schema:
        items = cast("list[Any]", value)
        found += [fault for at, each in enumerate(items) for fault in faults(each, schema["items"], f"{where}[{at}]")]
    if isinstance(value, dict) and "properties" in schema:
        entries = cast("dict[str, Any]", value)
        found += [f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in entries]
        found += [f"{where}.{name} is not promised" for name in entries if name not in schema["properties"]]
        for name, inner in schema["properties"].items():
            found += faults(entries[name], inner, f"{where}.{name}") if name in entries else []
    return found


# The command line


def test_the_tools_are_listed_with_their_schemas(tmp_path: Path):
    program = Program(tmp_path / "notes")
    program.write("a.md", "")
    listed = program.json("tool", "--list", "--profile", "project")
    assert {entry["name"] for entry in listed["tools"]} == {
        "clarify_user",
        "list_files",
        "propose_edits",
        "read_file",
        "search_project",
    }
    assert all(entry["input_schema"]["type"] == "object" for entry in listed["tools"])
    assert "read_document" in program.ok("tool", "--list")


@pytest.mark.parametrize("arguments", ["{", "[]", '"x"', "[" * 100_000])
def test_arguments_that_are_no_json_object_are_refused(tmp_path: Path, arguments: str):
    program = Program(tmp_path / "notes")
    program.write("a.md", "")
    result = program.run("tool", "list_tabs", "-", "--json", stdin=arguments)
    assert (result.status, result.json["error"]) == (1, "invalid_argument")


def test_the_reference_page_is_current():
    assert PAGE.read_text(encoding="utf-8") == render(), "python -m redraft.tools.reference_page > docs/tools.md"
