"""The tools on open tabs as their specification shows them: an agent program that is offered these twelve and no more,
on documents of the size and with the figures of the specification's own examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.speaking.lines import Lines, answer_of

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    from tests.server.serving import Server

# Each tool's parameters by type, as the tables have them. "!" is required, "=..." the default.
TAB = {"tab_id": "string"}
EDIT = {**TAB, "version": "string!"}
DRY = {"dry_run": "boolean=False"}
RANGE = {"start_line": "integer!", "end_line": "integer!"}
TABLES: dict[str, dict[str, str]] = {
    "list_tabs": {},
    "read_document": {**TAB, "start_line": "integer=0", "end_line": "integer"},
    "search_document": {**TAB, "query": "string!", "match_type": "string=semantic", "max_results": "integer=5"}
    | {"include_context": "boolean=True"},
    "get_outline": {**TAB, "max_depth": "integer=3", "detect_chapters": "boolean=True"},
    "create_document": {"title": "string", "content": "string=", "file_type": "string"},
    "insert_lines": {**EDIT, "after_line": "integer!", "content": "string!", **DRY, "match_text": "string"},
    "replace_lines": {**EDIT, **RANGE, "content": "string!", **DRY, "match_text": "string"},
    "delete_lines": {**EDIT, **RANGE, **DRY},
    "write_document": {**EDIT, "content": "string"},
    "find_and_replace": {**EDIT, "find": "string!", "replace": "string!", "is_regex": "boolean=False"}
    | {"case_sensitive": "boolean=True", "whole_word": "boolean=False", "max_replacements": "integer"}
    | {"preview": "boolean=False", "scope": "object"},
    "analyze_document": {**TAB, "task": "string!", "custom_prompt": "string", "output_tab": "string"},
    "transform_document": {**TAB, "transformation": "string!", "params": "object", "custom_prompt": "string"}
    | {"output_mode": "string=new_tab", "version": "string"},
}
CHOICES = {
    ("search_document", "match_type"): ["semantic", "exact", "regex"],
    ("create_document", "file_type"): ["md", "txt", "json", "yaml"],
    ("analyze_document", "task"): ["characters", "plot", "style", "summary", "custom"],
    ("transform_document", "transformation"): ["character_rename", "setting_change", "style_rewrite", "custom"],
    ("transform_document", "output_mode"): ["new_tab", "in_place"],
}
LINES = [f"Line {at} of the story, on which nobody spoke.\n" for at in range(892)]
STORY = "".join(LINES)
BATTLE = "All day the fierce battle raged on as Alice drew her sword and struck at the soldiers."
MEMORY = "Years later, remembering the battle, Alice shuddered and went to bed."


@pytest.fixture(scope="module")
def agent(server: Server, shelf: Path) -> Generator[Lines]:
    """An agent program that is offered the tools on tabs, whose changes are written at once. It works beside the app:
    what the person has in front there is its active tab."""
    server.post("/api/settings", {"mode": "apply"}, method="PUT")
    client = Lines.to(shelf, "--profile", "tabs", "--answers", "structured")
    client.start()
    yield client
    assert client.close() == ""


def call(agent: Lines, tool: str, /, **arguments: Any) -> dict[str, Any]:
    result = agent.call(tool, **arguments)
    assert not result["isError"], result
    return answer_of(result)


def refused(agent: Lines, shelf: Path, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The failure of a call that must fail, and must leave every document as it was."""
    before = {path: path.read_bytes() for path in shelf.iterdir() if path.is_file()}
    result = agent.call(tool, **arguments)
    assert result["isError"], result
    assert {path: path.read_bytes() for path in shelf.iterdir() if path.is_file()} == before
    return answer_of(result)


@pytest.fixture
def opened(server: Server, shelf: Path, request: pytest.FixtureRequest) -> Any:
    """Opens a document of the test's own, as the person does, who then has it in front; gives its tab."""

    def open_in_front(content: str = STORY) -> dict[str, Any]:
        name = f"{request.node.name}.md"
        (shelf / name).write_text(content, encoding="utf-8")
        tab = server.post("/api/tabs", {"path": name})
        server.post("/api/tabs/front", {"tab_id": tab["tab_id"]}, method="PUT")
        return tab

    return open_in_front


def schema_of(given: dict[str, Any], required: list[str]) -> dict[str, str]:
    """What a table of parameters says, out of a tool's schema."""
    return {
        name: each["type"] + ("!" if name in required else f"={each['default']}" if "default" in each else "")
        for name, each in given.items()
    }


@pytest.mark.covers("TK-tabs-no-params", "TK-read-params", "TK-search-params", "TK-search-query-required")
@pytest.mark.covers("TK-outline-params", "TK-create-params", "TK-insert-params", "TK-replace-params")
@pytest.mark.covers("TK-replace-required", "TK-delete-params", "TK-write-params", "TK-far-params")
@pytest.mark.covers("TK-analyze-params", "TK-transform-params", "TK-summary-version-needed")
@pytest.mark.covers("TK-principle-line-addressing", "TK-search-embedding-status")
def test_the_twelve_tools_take_what_the_specification_lists(agent: Lines, opened: Any, shelf: Path):
    listed = agent.ask("tools/list")["result"]["tools"]
    tools = {tool["name"]: tool["inputSchema"] for tool in listed}
    assert tools.keys() == TABLES.keys()
    for name, wanted in TABLES.items():
        found = schema_of(tools[name]["properties"], tools[name].get("required", []))
        assert {key: found.get(key) for key in wanted} == wanted, name
        assert {key for key in found if found[key].endswith("!")} == {key for key in wanted if wanted[key][-1] == "!"}
        assert not [key for key in found if "offset" in key or "byte" in key]
    for (name, parameter), values in CHOICES.items():
        assert tools[name]["properties"][parameter]["enum"] == values
    assert tools["find_and_replace"]["properties"]["scope"]["properties"].keys() == {"start_line", "end_line"}
    [found] = [tool["outputSchema"]["properties"] for tool in listed if tool["name"] == "search_document"]
    assert found["embedding_status"]["enum"] == ["ready", "indexing", "unavailable"]
    needing = [name for name in TABLES if "version" in tools[name].get("required", [])]
    assert needing == ["insert_lines", "replace_lines", "delete_lines", "write_document", "find_and_replace"]
    assert refused(agent, shelf, "create_document", content="x")["details"]["field"] == "title"
    made = opened()
    assert refused(agent, shelf, "write_document", version=made["version"])["details"]["field"] == "content"


@pytest.mark.covers("TK-create-fields", "TK-create-new-tab", "TK-tabs-fields", "TK-tabs-sizes", "TK-tabs-active-id")
def test_a_new_document_is_open_in_a_tab(agent: Lines, server: Server, shelf: Path):
    made = call(agent, "create_document", title="new_story.md", content=STORY)
    assert {key: made[key] for key in ("title", "status")} == {"title": "new_story.md", "status": "created"}
    assert (shelf / "new_story.md").read_text(encoding="utf-8") == STORY
    server.post("/api/tabs/front", {"tab_id": made["tab_id"]}, method="PUT")
    listed = call(agent, "list_tabs")
    assert listed.keys() == {"tabs", "active_tab_id"}
    assert listed["active_tab_id"] == made["tab_id"]
    assert [tab for tab in listed["tabs"] if tab["is_active"]] == [
        {
            "tab_id": made["tab_id"],
            "title": "new_story.md",
            "path": "new_story.md",
            "file_type": "markdown",
            "version": made["version"],
            "is_active": True,
            "is_dirty": False,
            "size_chars": len(STORY),
            "line_count": 892,
        }
    ]


@pytest.mark.covers("TK-principle-active-tab")
def test_the_document_in_front_is_meant_where_none_is_named(agent: Lines, server: Server):
    made = call(agent, "create_document", title="front.md", content=STORY)
    server.post("/api/tabs/front", {"tab_id": made["tab_id"]}, method="PUT")
    assert call(agent, "read_document", end_line=0)["content"] == LINES[0]
    call(agent, "create_document", title="behind.md")
    assert call(agent, "list_tabs")["active_tab_id"] == made["tab_id"], "the person looks at what they looked at"
    assert call(agent, "read_document", end_line=0)["content"] == LINES[0]


@pytest.mark.covers("TK-create-empty")
def test_a_new_document_without_content_is_empty(agent: Lines, shelf: Path):
    empty = call(agent, "create_document", title="empty.md")
    assert (shelf / "empty.md").read_bytes() == b""
    assert call(agent, "read_document", tab_id=empty["tab_id"])["content"] == ""


@pytest.mark.covers("TK-create-title-exists", "TK-error-title-exists")
def test_no_second_document_of_a_title_is_created(agent: Lines, shelf: Path):
    made = call(agent, "create_document", title="taken.md", content=STORY)
    told = refused(agent, shelf, "create_document", title="taken.md", content="Other.\n")
    assert (told["error"], told["details"]["tab_id"]) == ("title_exists", made["tab_id"])


@pytest.mark.covers("TK-create-file-types")
@pytest.mark.parametrize(
    ("kind", "named"), [("md", "markdown"), ("txt", "txt"), ("json", "json"), ("yaml", "yaml"), ("exe", None)]
)
def test_a_file_type_is_a_hint_for_a_title_without_an_ending(agent: Lines, shelf: Path, kind: str, named: str | None):
    if named is None:
        assert refused(agent, shelf, "create_document", title="x", file_type=kind)["details"]["field"] == "file_type"
        return
    made = call(agent, "create_document", title="hinted", file_type=kind)
    assert (made["title"], call(agent, "read_document", tab_id=made["tab_id"])["file_type"]) == (
        f"hinted.{kind}",
        named,
    )
    kept = call(agent, "create_document", title=f"kept-{kind}.log", file_type=kind)
    assert kept["title"] == f"kept-{kind}.log"


# Reading


@pytest.mark.covers("TK-read-fields", "TK-read-lines", "TK-read-tokens", "TK-read-default-start", "TK-read-budget")
@pytest.mark.covers("TK-read-auto-window", "TK-read-has-more", "TK-read-hint", "TK-principle-long-read")
def test_a_window_is_what_the_specification_shows(agent: Lines, opened: Any):
    """151 lines are 5800 tokens of four bytes, the next line is too long for 6000, and all are 35,000 tokens."""
    first = [f"{at:03} {'x' * 148}\n" for at in range(151)]
    first[-1] = first[-1].rstrip("\n") + "x" * (4 * 5800 - sum(map(len, first))) + "\n"
    rest = ["y" * 999 + "\n", *(f"{at:03} {'z' * 150}\n" for at in range(152, 891))]
    rest.append("z" * (4 * 35_000 - sum(map(len, first + rest)) - 1) + "\n")
    text = "".join(first + rest)
    made = opened(text)
    answer = call(agent, "read_document")
    assert answer == {
        "tab_id": made["tab_id"],
        "path": made["path"],
        "file_type": "markdown",
        "version": made["version"],
        "content": "".join(first),
        "lines": {"start": 0, "end": 150, "total": 892},
        "tokens": {"returned": 5800, "total_estimate": 35_000},
        "has_more": True,
        "continuation_hint": "Call read_document with start_line=151 to continue",
    }
    read = answer["content"]
    while answer["has_more"]:
        start = int(answer["continuation_hint"].partition("start_line=")[2].partition(" ")[0])
        assert start == answer["lines"]["end"] + 1 < 892
        answer = call(agent, "read_document", start_line=start)
        assert answer["tokens"]["returned"] <= 6000
        read += answer["content"]
    assert (read, answer["lines"]["end"], "continuation_hint" in answer) == (text, 891, False)


@pytest.mark.covers("TK-read-inclusive", "TK-read-version-editable", "TK-read-query-elsewhere")
def test_a_range_is_read_with_both_its_ends_and_edited_at_once(agent: Lines, opened: Any, shelf: Path):
    path = shelf / opened()["path"]
    answer = call(agent, "read_document", start_line=450, end_line=550)
    assert (answer["content"], answer["lines"]) == ("".join(LINES[450:551]), {"start": 450, "end": 550, "total": 892})
    assert refused(agent, shelf, "read_document", query="the keys")["details"]["field"] == "query"
    call(agent, "delete_lines", version=answer["version"], start_line=450, end_line=550)
    assert path.read_text(encoding="utf-8") == "".join(LINES[:450] + LINES[551:])


@pytest.mark.covers("TK-read-empty", "TK-read-empty-version", "TK-read-empty-insert", "TK-read-empty-replace")
def test_an_empty_document_has_no_lines_and_can_be_filled(agent: Lines, opened: Any, shelf: Path):
    made = opened("")
    answer = call(agent, "read_document")
    assert (answer["content"], answer["lines"]["total"], answer["has_more"]) == ("", 0, False)
    assert "continuation_hint" not in answer
    lines = {"start_line": 0, "end_line": 0, "content": "x"}
    told = refused(agent, shelf, "replace_lines", version=answer["version"], **lines)
    assert told["error"] == "invalid_line_range"
    assert told["details"] == {"requested_start": 0, "requested_end": 0, "document_lines": 0}
    call(agent, "insert_lines", version=answer["version"], after_line=-1, content="one\n")
    assert (shelf / made["path"]).read_text(encoding="utf-8") == "one\n"


# Finding


def battles() -> str:
    lines = list(LINES)
    lines[240:243] = ["Chapter 12: The Battle\n", "\n", "The morning sun rose...\n"]
    lines[245], lines[567] = f"{BATTLE}\n", f"{MEMORY}\n"
    return "".join(lines)


@pytest.mark.covers("TK-search-fields", "TK-search-match-fields", "TK-search-context-fields", "TK-search-exact")
@pytest.mark.covers("TK-search-context-default", "TK-search-line-usable", "TK-search-version-editable")
def test_matches_come_with_the_lines_around_them_as_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    text = battles()
    lines = text.splitlines(keepends=True)
    made = opened(text)
    found: dict[str, Any] = {
        "tab_id": made["tab_id"],
        "path": made["path"],
        "version": made["version"],
        "embedding_status": "ready",
        "matches": [
            {
                "line": line,
                "score": 1.0,
                "preview": preview,
                "context": {
                    "start_line": line - 5,
                    "end_line": line + 10,
                    "line_count": 16,
                    "content": "".join(lines[line - 5 : line + 11]),
                },
            }
            for line, preview in ((245, BATTLE), (567, MEMORY))
        ],
        "total_matches": 2,
    }
    assert call(agent, "search_document", query="battle", match_type="exact") == found
    bare = call(agent, "search_document", query="battle", match_type="exact", include_context=False)
    assert [match.keys() for match in bare["matches"]] == [{"line", "score", "preview"}] * 2
    assert call(agent, "search_document", query="b.ttle", match_type="exact")["total_matches"] == 0
    line = found["matches"][1]["line"]
    change = {"start_line": line, "end_line": line, "content": "Gone."}
    call(agent, "replace_lines", version=found["version"], **change)
    assert (shelf / made["path"]).read_text(encoding="utf-8") == text.replace(MEMORY, "Gone.")


@pytest.mark.covers("TK-search-semantic-default", "TK-search-meaning", "TK-search-just-in-time")
@pytest.mark.covers("TK-search-embedding-status")
def test_a_description_finds_the_scene_in_a_document_that_was_never_searched(agent: Lines, opened: Any):
    peace = ("The baker swept the floor of his shop and put the bread into the window.\n", "\n")
    lines = [peace[at % 2] for at in range(892)]
    lines[240], lines[246] = "## Chapter 12\n", "Alice drew her sword and struck until the monster lay still.\n"
    made = opened("".join(lines))
    found = call(agent, "search_document", query="killing a fire-breathing creature")
    assert (found["embedding_status"], found["version"]) == ("ready", made["version"])
    best = found["matches"][0]
    assert 240 <= best["line"] <= 246
    assert lines[246] in best["context"]["content"]
    assert found["total_matches"] == len(found["matches"]) <= 5
    assert 0 < best["score"] <= 1


@pytest.mark.covers("TK-search-regex", "TK-search-max-results", "TK-error-regex")
def test_a_pattern_is_found_and_five_matches_come_back(agent: Lines, opened: Any, shelf: Path):
    made = opened()
    found = call(agent, "search_document", query=r"^Line \d00 of", match_type="regex")
    assert [match["line"] for match in found["matches"]] == [100, 200, 300, 400, 500]
    assert found["total_matches"] == 8
    wide = call(agent, "search_document", query=r"^Line \d00 of", match_type="regex", max_results=7)
    assert [match["line"] for match in wide["matches"]] == [100, 200, 300, 400, 500, 600, 700]
    told = refused(agent, shelf, "search_document", query="(", match_type="regex")
    assert (told["error"], told["details"]["pattern"]) == ("invalid_regex", "(")
    call_for = {"version": made["version"], "find": "[", "replace": "", "is_regex": True}
    assert refused(agent, shelf, "find_and_replace", **call_for)["error"] == "invalid_regex"


@pytest.mark.covers("TK-outline-fields", "TK-outline-entry-fields", "TK-outline-markdown", "TK-outline-version")
@pytest.mark.covers("TK-outline-last-end")
def test_an_outline_is_what_the_specification_shows_and_says_for_which_text(agent: Lines, opened: Any):
    lines = list(LINES)
    lines[10] = "# Chapter 1: The Beginning\n"
    lines[25], lines[90] = "## The Journey Starts\n", "## The Inn\n"
    lines[245] = "# Chapter 2\n"
    made = opened("".join(lines))
    answer = call(agent, "get_outline")
    assert answer == {
        "tab_id": made["tab_id"],
        "path": made["path"],
        "version": made["version"],
        "file_type": "markdown",
        "detection_method": "headings",
        "outline": [
            {
                "title": "Chapter 1: The Beginning",
                "level": 1,
                "line_start": 10,
                "line_end": 244,
                "children": [
                    {"title": "The Journey Starts", "level": 2, "line_start": 25, "line_end": 89},
                    {"title": "The Inn", "level": 2, "line_start": 90, "line_end": 244},
                ],
            },
            {"title": "Chapter 2", "level": 1, "line_start": 245, "line_end": None},
        ],
    }
    after = call(agent, "insert_lines", version=answer["version"], after_line=-1, content="Foreword\n")
    again = call(agent, "get_outline", max_depth=1)
    assert again["version"] == after["version"] != answer["version"]
    assert [entry["line_start"] for entry in again["outline"]] == [11, 246]
    assert not any("children" in entry for entry in again["outline"])


# Writing


@pytest.mark.covers("TK-insert-after", "TK-insert-additive", "TK-insert-fields", "TK-insert-place")
@pytest.mark.covers("TK-insert-dry-run", "TK-insert-dry-run-version", "TK-insert-start", "TK-insert-end")
@pytest.mark.covers("TK-insert-content-required", "TK-error-content-required")
def test_an_insertion_is_what_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    made = opened()
    new = [f"new {at}\n" for at in range(15)]
    wish = {"version": made["version"], "after_line": 50, "content": "".join(new).rstrip("\n")}
    place = {"after_line": 50, "lines_added": 15, "new_lines": {"start": 51, "end": 65}}
    dry = call(agent, "insert_lines", **wish, dry_run=True)
    told = {"tab_id": made["tab_id"], "version": made["version"], "status": "success", "inserted_at": place}
    assert (told.items() <= dry.items(), dry["state"], dry["turn"]) == (True, "dry_run", None)
    assert (shelf / made["path"]).read_text(encoding="utf-8") == STORY
    answer = call(agent, "insert_lines", **wish)
    inserted = [*LINES[:51], *new, *LINES[51:]]
    assert (shelf / made["path"]).read_text(encoding="utf-8") == "".join(inserted)
    assert {**told, "version": answer["version"]}.items() <= answer.items()
    total = call(agent, "read_document", end_line=0)["lines"]["total"]
    last = call(agent, "insert_lines", version=answer["version"], after_line=total - 1, content="last")
    first = call(agent, "insert_lines", version=last["version"], after_line=-1, content="first")
    assert (shelf / made["path"]).read_text(encoding="utf-8") == "first\n" + "".join(inserted) + "last\n"
    assert first["inserted_at"] == {"after_line": -1, "lines_added": 1, "new_lines": {"start": 0, "end": 0}}
    empty = refused(agent, shelf, "insert_lines", version=first["version"], after_line=0, content="")
    assert empty["error"] == "content_required"


@pytest.mark.covers("TK-replace-inclusive", "TK-replace-fields", "TK-replace-affected", "TK-replace-dry-run")
@pytest.mark.covers("TK-replace-order")
def test_a_replacement_is_what_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    made = opened()
    new = "".join(f"new {at}\n" for at in range(15))
    wish = {"version": made["version"], "start_line": 100, "end_line": 109, "content": new}
    affected = {"removed": 10, "added": 15, "net_change": 5}
    told = {"tab_id": made["tab_id"], "version": made["version"], "status": "success", "lines_affected": affected}
    assert told.items() <= call(agent, "replace_lines", **wish, dry_run=True).items()
    assert (shelf / made["path"]).read_text(encoding="utf-8") == STORY
    answer = call(agent, "replace_lines", **wish)
    assert (shelf / made["path"]).read_text(encoding="utf-8") == "".join([*LINES[:100], new, *LINES[110:]])
    assert {**told, "version": answer["version"]}.items() <= answer.items()
    backwards = {**wish, "version": answer["version"], "start_line": 109, "end_line": 100}
    assert refused(agent, shelf, "replace_lines", **backwards)["error"] == "invalid_line_range"


@pytest.mark.covers("TK-delete-inclusive", "TK-delete-fields", "TK-delete-same-as-replace", "TK-delete-dry-run")
@pytest.mark.covers("TK-replace-empty-deletes")
def test_a_deletion_is_what_the_specification_shows_and_a_replacement_by_nothing(
    agent: Lines, opened: Any, shelf: Path
):
    other = call(agent, "create_document", title="by-nothing.md", content=STORY)
    made = opened()
    wish = {"version": made["version"], "start_line": 100, "end_line": 109}
    told = {"tab_id": made["tab_id"], "version": made["version"], "status": "success", "lines_deleted": 10}
    assert told.items() <= call(agent, "delete_lines", **wish, dry_run=True).items()
    assert (shelf / made["path"]).read_text(encoding="utf-8") == STORY
    answer = call(agent, "delete_lines", **wish)
    assert {**told, "version": answer["version"]}.items() <= answer.items()
    same = call(agent, "replace_lines", **wish, tab_id=other["tab_id"], content="")
    assert (same["version"], same["lines_affected"]["removed"]) == (answer["version"], 10)
    for path in (made["path"], other["path"]):
        assert (shelf / path).read_text(encoding="utf-8") == "".join(LINES[:100] + LINES[110:])


@pytest.mark.covers("TK-insert-match", "TK-replace-match", "TK-insert-match-unique", "TK-replace-match-unique")
def test_an_anchor_leads_to_where_its_text_now_stands(agent: Lines, opened: Any, shelf: Path):
    made = opened(battles())
    path = shelf / made["path"]
    shifted = "".join(f"Put before it {at}.\n" for at in range(30)) + battles()
    path.write_text(shifted, encoding="utf-8")  # by another program
    common = {"version": made["version"], "content": "She slept."}
    call(agent, "replace_lines", **common, start_line=567, end_line=567, match_text=MEMORY)
    replaced = shifted.replace(MEMORY, "She slept.")
    assert path.read_text(encoding="utf-8") == replaced
    call(agent, "insert_lines", **common, after_line=0, match_text="Alice drew her sword")
    assert path.read_text(encoding="utf-8") == replaced.replace(f"{BATTLE}\n", f"{BATTLE}\nShe slept.\n")
    now = {**common, "version": call(agent, "read_document", end_line=0)["version"]}
    for quoted, code in (("no such text", "anchor_not_found"), ("nobody spoke", "anchor_ambiguous")):
        assert refused(agent, shelf, "insert_lines", **now, after_line=0, match_text=quoted)["error"] == code
        lines = {"start_line": 0, "end_line": 0, "match_text": quoted}
        assert refused(agent, shelf, "replace_lines", **now, **lines)["error"] == code


@pytest.mark.covers("TK-write-whole", "TK-write-fields", "TK-write-affected")
def test_a_rewrite_is_what_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    made = opened()
    new = "".join(f"Rewritten line {at} of a story in which everybody speaks.\n" for at in range(950))
    answer = call(agent, "write_document", version=made["version"], content=new)
    told = {"tab_id": made["tab_id"], "status": "success", "lines_affected": {"previous": 892, "current": 950}}
    assert told.items() <= answer.items()
    assert (shelf / made["path"]).read_text(encoding="utf-8") == new
    assert call(agent, "read_document", end_line=0)["version"] == answer["version"] != made["version"]


@pytest.mark.covers("TK-far-fields", "TK-far-preview-entries", "TK-far-preview", "TK-far-preview-version")
@pytest.mark.covers("TK-far-truncate", "TK-far-true-total")
def test_a_bulk_replacement_is_what_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    johns = {15 + 30 * number: f"The character John said {number}.\n" for number in range(23)}
    text = "".join(johns.get(at, line) for at, line in enumerate(LINES))
    made = opened(text)
    wish = {"version": made["version"], "find": "John", "replace": "James"}
    shown = call(agent, "find_and_replace", **wish, preview=True)
    told = {"tab_id": made["tab_id"], "version": made["version"], "status": "success", "matches_found": 23}
    assert {**told, "replacements_made": 0, "preview_truncated": True}.items() <= shown.items()
    assert shown["preview"] == [
        {"line": at, "before": line.rstrip("\n"), "after": line.rstrip("\n").replace("John", "James")}
        for at, line in list(johns.items())[:20]
    ]
    assert (shelf / made["path"]).read_text(encoding="utf-8") == text
    answer = call(agent, "find_and_replace", **wish)
    assert {**told, "version": answer["version"], "replacements_made": 23}.items() <= answer.items()
    assert answer["preview"] == shown["preview"]
    assert (shelf / made["path"]).read_text(encoding="utf-8") == text.replace("John", "James")
    few = {**wish, "version": answer["version"], "find": "James said 1", "replace": "x", "preview": True}
    shown = call(agent, "find_and_replace", **few)
    assert (len(shown["preview"]), "preview_truncated" in shown) == (11, False)


@pytest.mark.covers("TK-far-regex", "TK-far-case", "TK-far-whole-word", "TK-far-max", "TK-far-scope")
@pytest.mark.parametrize(
    ("more", "lines"),
    [
        ({"find": "cat"}, ["dog Cat condog", "dog", "c.t"]),
        ({"find": "cat", "case_sensitive": False}, ["dog dog condog", "dog", "c.t"]),
        ({"find": "cat", "whole_word": True}, ["dog Cat concat", "dog", "c.t"]),
        ({"find": "c.t"}, ["cat Cat concat", "cat", "dog"]),
        ({"find": "[cC].t\\b", "is_regex": True}, ["dog dog condog", "dog", "dog"]),
        ({"find": "cat", "max_replacements": 2}, ["dog Cat condog", "cat", "c.t"]),
        ({"find": "cat", "scope": {"start_line": 101, "end_line": 200}}, ["cat Cat concat", "dog", "c.t"]),
        ({"find": "cat", "scope": {"start_line": 100, "end_line": 100}}, ["dog Cat condog", "cat", "c.t"]),
    ],
)
def test_what_is_replaced_follows_the_options(
    agent: Lines, opened: Any, shelf: Path, more: dict[str, Any], lines: list[str]
):
    old = ["cat Cat concat\n", *["-\n"] * 99, "cat\n", "c.t\n"]
    made = opened("".join(["-\n"] * 100 + old))
    answer = call(agent, "find_and_replace", version=made["version"], replace="dog", **more)
    first, second, third = (f"{line}\n" for line in lines)
    wanted = "".join(["-\n"] * 100 + [first, *["-\n"] * 99, second, third])
    assert (shelf / made["path"]).read_text(encoding="utf-8") == wanted
    assert answer["replacements_made"] == wanted.count("dog")


# Failures


@pytest.mark.covers("TK-error-shape", "TK-error-line-range", "TK-error-line-range-details")
def test_a_range_outside_the_document_is_refused_as_the_specification_shows(agent: Lines, opened: Any, shelf: Path):
    made = opened("".join(LINES[:450]))
    for tool, more in (
        ("read_document", {}),
        ("replace_lines", {"version": made["version"], "content": "x"}),
        ("delete_lines", {"version": made["version"]}),
    ):
        told = refused(agent, shelf, tool, start_line=500, end_line=600, **more)
        assert told == {
            "error": "invalid_line_range",
            "message": "Line range 500-600 exceeds document length of 450 lines",
            "details": {"requested_start": 500, "requested_end": 600, "document_lines": 450},
            "suggestion": "Use line numbers within the document.",
            "recoverable": True,
        }
        backwards = refused(agent, shelf, tool, start_line=40, end_line=20, **more)
        assert (backwards["error"], backwards["details"]["requested_end"]) == ("invalid_line_range", 20)


@pytest.mark.covers("TK-version-mismatch-shape", "TK-version-fresh-accepted", "TK-version-any-edit")
def test_a_version_is_followed_by_the_next_and_then_stale_as_the_specification_shows(
    agent: Lines, opened: Any, shelf: Path
):
    opened()
    seen = call(agent, "read_document", end_line=0)["version"]
    wish = {"start_line": 5, "end_line": 5, "content": LINES[5].replace("5", "6")}
    following = call(agent, "replace_lines", version=seen, **wish)["version"]
    assert call(agent, "read_document", end_line=0)["version"] == following != seen
    told = refused(agent, shelf, "replace_lines", version=seen, **wish)
    assert (told["error"], told["your_version"], told["current_version"]) == ("version_mismatch", seen, following)
    assert told["suggestion"] == "Read the document again and repeat the edit with its new version."
    assert "changed since it was read" in told["message"]
