"""Whole documents by the person's own model, through the folder's server: at the size and with the figures that the
specification's own examples have, and with the settings as they are by default."""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.listening import CALLS, configure
from tests.agent.long.wire import Question, Subagents, out_of_order
from tests.server.serving import Server, begun, ended

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
LINES = 892
RENAME = {"old_name": "John", "new_name": "James", "update_pronouns": True, "gender": "male"}
TO_TOKYO = {"old_setting": "London", "new_setting": "Tokyo", "adapt_details": True}


def novel(mark: str) -> str:
    """892 lines and more than 45,000 characters, in which Alice is named 234 times from line 5 on (counted from 0), Bob
    156 times from line 89 on, and John 145 times. `mark` keeps its passages apart from those of other novels."""
    lines = [f"# The {mark} road", ""]
    for at in range(2, LINES):
        said = (
            f"It went on past milestone {at} of the {mark} road, where nobody had spoken a word for many a long year."
        )
        told = "Alice looked up. " if at % 2 and 5 <= at < 5 + 2 * 234 else ""
        told += "Bob sat down. " if at % 2 and 89 <= at < 89 + 2 * 156 else ""
        told += "John came in, and he was tired. " if at % 2 and at > LINES - 2 * 145 else ""
        lines.append(f"{told}{said}" if at % 2 else "")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def model() -> Generator[Subagents]:
    with Subagents() as found:
        yield found


@pytest.fixture(scope="module")
def server(shelf: Path, model: Subagents) -> Generator[Server]:
    """The folder's server, with a model and nothing else set."""
    configure(shelf, model)
    found = begun(shelf, **CALLS)
    yield found
    assert ended(found) == ""


@pytest.fixture
def text(request: pytest.FixtureRequest) -> str:
    return novel(request.node.name)


@pytest.fixture
def path(shelf: Path, text: str, request: pytest.FixtureRequest) -> str:
    """A novel of the test's own; its path."""
    found = f"{request.node.name}.md"
    (shelf / found).write_text(text, encoding="utf-8")
    return found


def read(server: Server, path: str) -> str:
    """What agents see of a document: what is on the disk, with what they proposed."""
    pages, start, more = list[str](), 0, True
    while more:
        page = server.tool("read_document", path=path, start_line=start)
        start, more = page["lines"]["end"] + 1, page["has_more"]
        pages.append(page["content"])
    return "".join(pages)


def refused(server: Server, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The failure of a call that must fail."""
    answer = server.request("POST", f"/api/tools/{tool}", arguments)
    assert answer.status >= 400, answer.body
    return answer.json


def version(server: Server, path: str) -> str:
    return server.tool("read_document", path=path)["version"]


def tab_of(server: Server, path: str) -> str:
    return server.post("/api/tabs", {"path": path})["tab_id"]


def titles(server: Server) -> dict[str, str]:
    return {tab["tab_id"]: tab["title"] for tab in server.tool("list_tabs")["tabs"]}


def people(question: Question) -> dict[str, Any] | None:
    """Everybody who is named in the passage, and one who is not."""
    if question.what != "characters":
        return None
    names = [name for name in ("Alice", "Bob", "John", "Ghost") if name in question.passage or name == "Ghost"]
    return {"characters": [{"name": name, "aliases": [], "role": "a traveller"} for name in names]}


def test_the_novel_has_the_figures_of_the_specification():
    text = novel("plain")
    lines = text.splitlines()
    assert (len(lines), len(text) > 45_000) == (892, True)
    assert [text.count(name) for name in ("Alice", "Bob", "John")] == [234, 156, 145]
    assert [next(at for at, line in enumerate(lines) if name in line) for name in ("Alice", "Bob")] == [5, 89]


@pytest.mark.covers("TK-analyze-characters", "TK-analyze-fields", "TK-analyze-params", "TK-sub-cache")
def test_characters_are_found_as_the_specification_shows_it(server: Server, model: Subagents, path: str):
    model.begin(people)
    answer = server.tool("analyze_document", tab_id=tab_of(server, path), task="characters")
    assert (answer["status"], titles(server)[answer["result_tab_id"]]) == ("complete", f"{path} - characters.md")
    found = [
        {key: one[key] for key in ("name", "mentions", "first_appearance")} for one in answer["details"]["characters"]
    ]
    assert found[:2] == [
        {"name": "Alice", "mentions": 234, "first_appearance": 5},
        {"name": "Bob", "mentions": 156, "first_appearance": 89},
    ]
    assert [one["name"] for one in found] == ["Alice", "Bob", "John"]
    assert answer["summary"].startswith("Found 3 characters")
    asked = len(model.questions)
    again = server.tool("analyze_document", path=path, task="characters")
    assert (again["details"], len(model.questions)) == (answer["details"], asked), "each chunk's answer is kept"


@pytest.mark.covers("TK-analyze-chunks", "TK-sub-analyzer")
def test_chunks_are_read_at_the_same_time_and_put_together(server: Server, model: Subagents, path: str, text: str):
    model.begin(lambda question: {"summary": "They walk."} if question.what == "together" else None)
    model.seconds = 0.3
    answer = server.tool("analyze_document", path=path, task="summary")
    passages = sorted(model.passages("summary"), key=text.index)
    assert "".join(passages) == text
    assert answer["effort"]["chunks"] == len(passages) >= 3
    assert model.most_at_once >= 2
    assert model.roles() == ["summary", "together"]
    assert answer["summary"] == "They walk."
    assert "They walk." in read(server, answer["path"])


@pytest.mark.covers("TK-analyze-tasks", "TK-analyze-custom", "ML-future-summary")
def test_every_task_has_its_own_question_and_the_persons_is_put_as_it_is(server: Server, model: Subagents, path: str):
    model.begin()
    for task in ("characters", "plot", "style", "summary", "custom"):
        prompt = {"custom_prompt": "Who is silent?"} if task == "custom" else {}
        answer = server.tool("analyze_document", path=path, task=task, **prompt)
        assert (answer["status"], answer["path"]) == ("complete", f"{path} - {task}.md")
        told = [question for question in model.questions if question.what == task]
        assert all(("Who is silent?" in question.instructions) is (task == "custom") for question in told)
        assert told
    assert refused(server, "analyze_document", {"path": path, "task": "mood"})["error"] == "invalid_argument"
    assert refused(server, "analyze_document", {"path": path, "task": "custom"})["error"] == "content_required"


@pytest.mark.covers("TK-analyze-overwrite", "TK-analyze-bad-tab")
def test_a_result_replaces_the_text_of_its_tab_through_the_review(
    server: Server, model: Subagents, path: str, shelf: Path
):
    model.begin()
    (shelf / "result.md").write_text("Old words.\n", encoding="utf-8")
    tab = tab_of(server, "result.md")
    answer = server.tool("analyze_document", path=path, task="summary", output_tab=tab)
    assert (answer["result_tab_id"], answer["path"], answer["state"]) == (tab, "result.md", "proposed")
    assert (shelf / "result.md").read_text(encoding="utf-8") == "Old words.\n"
    server.post("/api/review/accept", {"hunks": {"result.md": None}})
    written = (shelf / "result.md").read_text(encoding="utf-8")
    assert ("It goes on and on." in written, "Old words." in written) == (True, False)
    model.begin()
    wrong = {"path": path, "task": "plot", "output_tab": "tab_77"}
    assert refused(server, "analyze_document", wrong)["error"] == "invalid_tab_id"
    assert model.questions == []


@pytest.mark.covers("TK-transform-rename", "TK-transform-fields", "TK-transform-new-tab", "TK-transform-params")
@pytest.mark.covers("TK-flow-rename-long")
def test_a_rename_is_carried_out_as_the_specification_shows_it(
    server: Server, model: Subagents, path: str, text: str, shelf: Path
):
    model.begin()
    wish: dict[str, Any] = {"transformation": "character_rename", "params": RENAME}
    answer = server.tool("transform_document", tab_id=tab_of(server, path), **wish)
    assert (answer["status"], answer["changes_made"]) == ("complete", 145)
    assert answer["summary"] == "Renamed 'John' to 'James' in 145 locations across 892 lines."
    assert titles(server)[answer["result_tab_id"]] == answer["path"] != path
    assert read(server, answer["path"]) == text.replace("John", "James")
    assert (shelf / path).read_text(encoding="utf-8") == text
    assert model.roles()[0] == "targets", "pronouns need the whole document to agree"


@pytest.mark.covers("TK-transform-kinds")
def test_pronouns_follow_the_new_name_in_every_chapter(server: Server, model: Subagents, path: str, text: str):
    def says(question: Question) -> dict[str, Any] | None:
        if question.what != "change":
            return None
        places = re.findall(r"he was tired\. It went on past milestone \d+", question.passage)
        return {"edits": [{"old": old, "new": f"s{old}"} for old in places], "doubts": []}

    model.begin(says)
    params = {"old_name": "John", "new_name": "Jane", "update_pronouns": True, "gender": "female"}
    answer = server.tool("transform_document", path=path, transformation="character_rename", params=params)
    assert read(server, answer["path"]) == text.replace("John", "Jane").replace("he was", "she was")
    model.begin()
    others: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("setting_change", {"params": TO_TOKYO}, "from London to Tokyo"),
        ("style_rewrite", {"params": {"style": "grave"}}, "rewritten in another style. grave"),
        ("custom", {"custom_prompt": "Make it rain."}, "The person wishes: Make it rain."),
    )
    for kind, more, words in others:
        answer = server.tool("transform_document", path=path, transformation=kind, **more)
        assert (answer["status"], answer["changes_made"], read(server, answer["path"])) == ("complete", 0, text)
        assert {words in each.instructions for each in model.questions} == {True}
        model.begin()
    unknown = {"path": path, "transformation": "shrink"}
    assert refused(server, "transform_document", unknown)["error"] == "invalid_argument"


@pytest.mark.covers("TK-transform-setting", "TK-transform-passes", "TK-sub-flow", "TK-sub-transformer")
@pytest.mark.covers("TK-sub-consistency", "TK-flow-change-setting", "TK-sub-multi-pass")
def test_a_setting_is_changed_by_plan_and_what_is_left_of_the_old_is_flagged(
    server: Server, model: Subagents, path: str, text: str, shelf: Path
):
    def says(question: Question) -> dict[str, Any] | None:
        if question.what == "targets":
            named = [{"text": "milestone", "what": "a stone"}, {"text": "pagoda", "what": "not there"}]
            return {"terms": named, "doubts": []}
        if question.what == "plan":
            new = [{"old": "milestone", "new": "stone lantern"}, {"old": "pagoda", "new": "tower"}]
            return {"replacements": new, "guidance": "Keep it quiet."}
        if question.what == "change" and "Fog lay on London." in question.passage:
            return {"edits": [{"old": "Fog lay on London.", "new": "Rain fell on Tokyo."}], "doubts": []}
        if question.what == "check":
            wrong = [("Rain fell on Tokyo.", "It was dry before."), ("nothing of the kind", "invented")]
            return {"issues": [{"quote": quote, "problem": problem} for quote, problem in wrong]}
        return None

    old = text.replace("Bob sat down.", "Fog lay on London.", 1) + "\nSo the Londoners say.\n"
    (shelf / path).write_text(old, encoding="utf-8")
    model.begin(says)
    answer = server.tool("transform_document", path=path, transformation="setting_change", params=TO_TOKYO)
    new = read(server, answer["path"])
    assert new == old.replace("Fog lay on London.", "Rain fell on Tokyo.")
    assert model.roles() == ["targets", "plan", "change", "check"]
    [plan] = [question for question in model.questions if question.what == "plan"]
    assert f"- milestone ({old.count('milestone')} times)" in plan.known
    changes = [question for question in model.questions if question.what == "change"]
    assert "".join(sorted((each.passage for each in changes), key=old.index)) == old
    assert all("- milestone -> stone lantern" in each.known and "Keep it quiet." in each.known for each in changes)
    assert not any("pagoda" in each.known or "tower" in each.known for each in (plan, *changes))
    lines = new.splitlines()
    flagged: list[tuple[str, str]] = [(flag["kind"], lines[flag["line"]]) for flag in answer["flags"]]
    assert ("leftover", "So the Londoners say.") in flagged
    assert [line for kind, line in flagged if kind == "contradiction"] == [lines[89]]


@pytest.mark.covers("TK-transform-in-place", "TK-transform-version")
def test_in_place_is_a_proposal_and_wants_the_version_that_was_read(
    server: Server, model: Subagents, path: str, text: str, shelf: Path
):
    model.begin()
    wish: dict[str, Any] = {
        "path": path,
        "transformation": "character_rename",
        "params": RENAME,
        "output_mode": "in_place",
    }
    missing = refused(server, "transform_document", wish)
    assert (missing["error"], missing["details"]["field"]) == ("invalid_argument", "version")
    seen = version(server, path)
    (shelf / path).write_text(text.replace("John came in", "John broke in"), encoding="utf-8")
    stale = refused(server, "transform_document", {**wish, "version": seen})
    assert (stale["error"], stale["your_version"]) == ("version_mismatch", seen)
    now = (shelf / path).read_text(encoding="utf-8")
    answer = server.tool("transform_document", **wish, version=version(server, path))
    assert (answer["state"], answer["path"], answer["changes_made"]) == ("proposed", path, 145)
    assert (shelf / path).read_text(encoding="utf-8") == now
    [review] = server.get("/api/review", path=path)["documents"]
    assert {hunk["author"] for hunk in review["hunks"]} == {"agent"}
    server.post("/api/review/accept", {"hunks": {path: None}})
    assert (shelf / path).read_text(encoding="utf-8") == now.replace("John", "James")


@pytest.mark.covers("TK-transform-atomic", "TK-error-subagent", "TK-turn-chunk-failure")
def test_a_chunk_that_fails_discards_the_others_and_what_they_said_is_kept_for_the_next_try(
    server: Server, model: Subagents, path: str, text: str, shelf: Path
):
    """Two chunks and more are changed, and then the last one fails."""
    last = text.splitlines()[-1]
    changed = list[str]()
    others_are_changed, mended = threading.Event(), threading.Event()

    def changes(question: Question) -> Any:
        if question.what != "change":
            return None
        if last in question.passage and not mended.is_set():
            others_are_changed.wait(60)
            return out_of_order("The last chunk is on fire.")
        changed.append(question.passage)
        if len(changed) >= 2:
            others_are_changed.set()
        old = re.findall(r"past milestone \d+ of", question.passage)[0]
        return {"edits": [{"old": old, "new": old.replace("milestone", "lantern")}], "doubts": []}

    model.begin(changes)
    wish: dict[str, Any] = {"path": path, "transformation": "setting_change", "params": TO_TOKYO}
    body = {**wish, "output_mode": "in_place", "version": version(server, path)}
    failure = refused(server, "transform_document", body)
    assert failure["error"] == "subagent_failed"
    assert "on fire" in failure["message"]
    assert len(changed) >= 2
    assert (shelf / path).read_text(encoding="utf-8") == read(server, path) == text
    assert server.get("/api/review", path=path)["documents"] == []
    answered = set(changed)
    mended.set()
    model.begin(changes)
    answer = server.tool("transform_document", **body)
    assert set(model.passages("change")).isdisjoint(answered), "what was answered is not asked for again"
    assert answer["changes_made"] == read(server, path).count("lantern") == answer["effort"]["chunks"] >= 3


@pytest.mark.covers("TK-error-subagent")
def test_an_analysis_whose_subagent_fails_writes_nothing(server: Server, model: Subagents, path: str, shelf: Path):
    model.begin(lambda question: out_of_order("It is on fire.") if question.what == "plot" else None)
    tabs = titles(server)
    failure = refused(server, "analyze_document", {"path": path, "task": "plot"})
    assert failure["error"] == "subagent_failed"
    assert "It is on fire." in failure["message"]
    assert (titles(server), list(shelf.glob(f"{path} - *"))) == (tabs, [])


@pytest.mark.covers("TK-sub-multi-pass")
def test_what_needs_the_whole_document_to_agree_is_for_subagents_though_it_is_short(
    server: Server, model: Subagents, shelf: Path
):
    page = "# The visit\n\nJohn came in. He sat down. Bob saw him.\n"
    (shelf / "page.md").write_text(page, encoding="utf-8")

    pronouns = {"edits": [{"old": "He sat down. Bob saw him", "new": "She sat down. Bob saw her"}], "doubts": []}
    model.begin(lambda _: pronouns)
    params = {"old_name": "John", "new_name": "Jane", "update_pronouns": True, "gender": "female"}
    answer = server.tool("transform_document", path="page.md", transformation="character_rename", params=params)
    assert read(server, answer["path"]) == "# The visit\n\nJane came in. She sat down. Bob saw her.\n"
    assert [question.what for question in model.questions] == ["change"]
    assert "Jane is female. Change pronouns" in model.questions[0].instructions


@pytest.mark.covers("TK-transform-setting")
@pytest.mark.parametrize(
    ("adapt", "words"),
    [
        (True, "Adapt what belongs to the place: names of streets"),
        (False, "Change only where the place itself is named"),
    ],
)
def test_whether_details_are_adapted_is_told_to_the_model(
    server: Server, model: Subagents, shelf: Path, adapt: bool, words: str
):
    (shelf / "letter.md").write_text("Fog lay on London and on the Thames.\n", encoding="utf-8")
    model.begin(lambda _: {"edits": [{"old": "on London", "new": "on Tokyo"}], "doubts": []})
    params = {**TO_TOKYO, "adapt_details": adapt}
    answer = server.tool("transform_document", path="letter.md", transformation="setting_change", params=params)
    assert read(server, answer["path"]) == "Fog lay on Tokyo and on the Thames.\n"
    [question] = model.questions
    assert f"The setting moves from London to Tokyo. {words}" in question.instructions


@pytest.mark.covers("TK-sub-threshold")
@pytest.mark.parametrize(("length", "parts"), [(20_000, 1), (20_001, 2)])
def test_above_20_000_characters_a_document_is_for_subagents(
    server: Server, model: Subagents, shelf: Path, length: int, parts: int
):
    (shelf / "edge.md").write_text(
        ("".join(f"word {at}\n" for at in range(4000)))[: length - 1] + "\n", encoding="utf-8"
    )
    model.begin()
    server.tool("analyze_document", path="edge.md", task="plot")
    assert len(model.passages("plot")) == parts


@pytest.mark.covers("TK-sub-simple-direct")
def test_what_is_simple_is_done_by_the_tool_alone(server: Server, model: Subagents, path: str, text: str):
    model.begin()
    plain = {"old_name": "John", "new_name": "James"}
    answer = server.tool("transform_document", path=path, transformation="character_rename", params=plain)
    assert (answer["changes_made"], read(server, answer["path"])) == (145, text.replace("John", "James"))
    replace = {"find": "John", "replace": "James", "version": version(server, path)}
    assert server.tool("find_and_replace", path=path, **replace)["replacements_made"] == 145
    assert model.questions == []


@pytest.mark.covers("ML-future-translate")
def test_a_novel_is_translated_chunk_by_chunk_beside_the_original(
    server: Server, model: Subagents, path: str, text: str
):
    """A model that knows German for one sentence."""

    def says(question: Question) -> dict[str, Any] | None:
        if question.what != "change":
            return None
        assert "Translate into German." in question.instructions
        places = re.findall(r"It went on past milestone \d+ of", question.passage)
        return {"edits": [{"old": old, "new": _german(old)} for old in places], "doubts": []}

    def _german(line: str) -> str:
        return line.replace("It went on past milestone", "Es ging weiter, vorbei an Meilenstein")

    model.begin(says)
    answer = server.tool(
        "transform_document", path=path, transformation="custom", custom_prompt="Translate into German."
    )
    assert read(server, answer["path"]) == _german(text)
    assert len(model.passages("change")) >= 3
    assert read(server, path) == text


@pytest.mark.covers("TK-read-budget")
def test_chunks_answers_and_first_reads_have_their_sizes_and_can_be_set(
    server: Server, model: Subagents, shelf: Path, tmp_path: Path
):
    """About 4000, 2000 and 6000 tokens of four bytes; and what the settings file says."""
    sizes = dict[str, list[Any]]()
    elsewhere = tmp_path / "notes"
    elsewhere.mkdir()
    limits = "[limits]\nchunk_tokens = 1000\nresponse_tokens = 900\nread_tokens = 100\n"
    text = "".join(f"Line {at} of many lines of forty bytes.....\n" for at in range(10_000, 11_500))
    for name, place in (("default", shelf), ("set", elsewhere)):
        (place / "sized.md").write_text(text, encoding="utf-8")
        model.begin()
        if name == "set":
            configure(place, model, limits)
            server = begun(place, **CALLS)
        server.tool("analyze_document", path="sized.md", task="summary")
        first = server.tool("read_document", path="sized.md")["tokens"]["returned"]
        longest = max(len(passage.encode()) for passage in model.passages("summary"))
        sizes[name] = [longest, {question.room for question in model.questions}, first]
    assert ended(server) == ""
    assert 4 * 3000 < sizes["default"][0] <= 4 * 4000
    assert 4 * 500 < sizes["set"][0] <= 4 * 1000
    assert [sizes["default"][1], sizes["set"][1]] == [{2000}, {900}]
    assert 5950 <= sizes["default"][2] <= 6000
    assert 90 <= sizes["set"][2] <= 100
