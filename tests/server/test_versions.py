"""An edit lands on the text that it was made for, or is refused: in a job's calls, and beside a person who types."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.cli.running import Program
from tests.server.live.people import Person, expect_same, story
from tests.server.live.test_editors import Writer, replaced, text_of
from tests.server.serving import Server, ended
from tests.server.test_jobs import run, serving, until
from tests.tools.at_once import Ledger, LineEdit, Paper, line_edits, sessions

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

pytestmark = pytest.mark.slow
NUMBERS = count()
LAW = settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much, HealthCheck.too_slow],
)
HERE = "typing here:"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Generator[Server]:
    """A real server, with a model that plays whatever `script.jsonl` says."""
    folder = tmp_path_factory.mktemp("versions") / "notes"
    folder.mkdir()
    server = serving(folder, {"text": "Nothing to do."})
    yield server
    assert ended(server) == ""


def home(server: Server) -> Path:
    assert server.folder is not None
    return server.folder


def written(server: Server, text: str) -> str:
    path = f"paper-{next(NUMBERS)}.md"
    (home(server) / path).write_bytes(text.encode())
    return path


def read(server: Server, path: str) -> tuple[str, str]:
    found = server.get("/api/documents", path=path)
    return found["content"], found["version"]


def play(server: Server, *steps: dict[str, Any]) -> str:
    """Let a job run by this script to its end; its number."""
    lines = "".join(json.dumps(step) + "\n" for step in steps)
    (home(server).parent / "script.jsonl").write_text(lines, encoding="utf-8")
    job = run(server)
    until(server, job, "completed", "review_ready", "awaiting_review", "applied")
    return job


@pytest.mark.covers("P3", "RD-decided-carried")
@given(session=sessions(), later=st.integers(0, 6))
@LAW
def test_a_jobs_calls_for_one_version_give_what_applying_them_at_once_would_give(
    standing: Server, session: tuple[Paper, list[LineEdit]], later: int
):
    paper, edits = session
    path = written(standing, paper.text)
    _, version = read(standing, path)
    calls = [edit.call(path, version) for edit in edits]
    look = {"tool": "read_document", "arguments": {"path": path}}
    steps = [calls[:later], [look, *calls[later:]]]
    play(
        standing,
        {"text": "", "calls": [look]},
        *({"text": "", "calls": each} for each in steps if each),
        {"text": "Done."},
    )
    ledger = Ledger(paper)
    for edit in edits:
        ledger.takes(edit)
    assert read(standing, path)[0] == ledger.text


@dataclass
class Typing:
    """Somebody who types on and on at the end of their own line, until told to stop."""

    person: Person
    typed: str = ""
    stopped: bool = False
    struck: asyncio.Event = field(default_factory=asyncio.Event)

    async def more(self) -> None:
        """Wait for another keystroke."""
        self.struck.clear()
        await self.struck.wait()

    async def go_on(self) -> None:
        number = 0
        while not self.stopped:
            letter = "abc \U0001f600"[number % 5]
            self.person.type(str(self.person).index(HERE) + len(HERE) + len(self.typed), letter)
            self.typed += letter
            self.struck.set()
            number += 1
            await asyncio.sleep(0.003)


@st.composite
def typed_papers(draw: st.DrawFn) -> tuple[Paper, list[LineEdit], int]:
    """A document in which somebody types on one line, and edits of the lines that are not beside it."""
    paper, _ = draw(sessions())
    lines = list(paper.lines)
    line = draw(st.integers(0, len(lines)))
    lines.insert(line, HERE)
    paper = replace(paper, lines=tuple(lines))
    edits = draw(st.lists(line_edits(paper), min_size=2, max_size=5))
    # An edit's own lines and the lines beside them are to be left alone: all of them are before or after.
    apart = [edit for edit in edits if edit.end + 1 <= line or edit.start - 1 > line]
    return paper, apart, line


@pytest.mark.covers("P3", "RD-decided-carried")
@given(session=typed_papers())
@LAW
def test_edits_land_where_they_were_meant_however_a_person_types_meanwhile(
    standing: Server, session: tuple[Paper, list[LineEdit], int]
):
    paper, edits, line = session
    assume(edits)
    path = written(standing, paper.text)

    async def told() -> None:
        typing = Typing(await Person(standing, path).join())
        version = (await asyncio.to_thread(standing.tool, "read_document", path=path))["version"]
        going = asyncio.create_task(typing.go_on())
        ledger = Ledger(paper)
        for edit in edits:
            await typing.more()
            call = edit.call(path, version)
            where = f"/api/tools/{call['tool']}"
            answer = await asyncio.to_thread(
                standing.request, "POST", where, call["arguments"], query={"mode": "propose"}
            )
            if ledger.takes(edit):
                assert answer.status == 200, answer.json
            else:
                assert (answer.status, answer.json["your_version"]) == (409, version)
        typing.stopped = True
        await going
        lines = [*paper.lines[:line], HERE + typing.typed, *paper.lines[line + 1 :]]
        ledger.paper = replace(paper, lines=tuple(lines))
        await expect_same(typing.person, on=ledger.text)
        await typing.person.leave()

    story(told())


def test_where_the_person_types_an_edit_is_refused_with_both_versions_and_what_changed(standing: Server):
    path = written(standing, f"first\n\n{HERE}\n\nlast\n")

    async def told() -> None:
        person = await Person(standing, path).join()
        read_at = await asyncio.to_thread(standing.tool, "read_document", path=path)
        person.type(str(person).index(HERE) + len(HERE), " mine")
        await person.sent()
        arguments = {"path": path, "version": read_at["version"], "start_line": 1, "end_line": 1, "content": "x"}
        refused = await asyncio.to_thread(standing.refused, "POST", "/api/tools/replace_lines", arguments)
        assert (refused["error"], refused["your_version"]) == ("version_mismatch", read_at["version"])
        assert refused["current_version"] == read(standing, path)[1]
        assert [each["new"] for each in refused["details"]["changed_lines"]] == [f"{HERE} mine\n"]
        await expect_same(person, on=f"first\n\n{HERE} mine\n\nlast\n")
        await person.leave()

    story(told())


@pytest.mark.parametrize("named", [True, False])
def test_replace_text_lands_ten_times_of_ten_while_a_person_types_in_another_paragraph(standing: Server, named: bool):
    numbers = [f"Number {number} stays." for number in range(10)]
    path = written(standing, f"# Same\n\n{HERE}\n\n" + "\n\n".join(numbers) + "\n")

    async def told() -> None:
        typing = Typing(await Writer(standing, path).show())
        known = await text_of(standing, path)
        going = asyncio.create_task(typing.go_on())
        for number in range(10):
            await typing.more()
            at = known["text"].index(f"Number {number} stays")
            more = {"version": known["version"]} if named else {}
            answer = await replaced(standing, path, at, at + 8, f"No. {number}", expected=f"Number {number}", **more)
            assert answer["success"], answer
            landed = answer["landed"][0]
            assert landed["to"] - landed["from"] == 8
            if not named:
                known = {"text": answer["updatedText"]}
        typing.stopped = True
        await going
        text = f"# Same\n\n{HERE}{typing.typed}\n\n" + "\n\n".join(f"No. {n} stays." for n in range(10)) + "\n"
        found = await expect_same(typing.person)
        assert found.replace("\\", "") == text
        await typing.person.leave()

    story(told())


def test_the_command_line_edits_beside_a_person_who_types(standing: Server):
    path = written(standing, f"first\n\n{HERE}\n\nlast\n\nend\n")
    program = Program(home(standing))

    def tool(name: str, **arguments: Any) -> dict[str, Any]:
        given = json.dumps({"path": path, **arguments})
        return program.run("tool", name, "--json", given, "--mode", "propose").json

    async def told() -> None:
        person = await Person(standing, path).join()
        for word, line in (("one ", 0), ("two ", 4), ("three ", 6)):
            person.type(str(person).index(HERE), word)
            await person.sent()
            version = (await asyncio.to_thread(tool, "read_document"))["version"]
            for _ in range(3):
                person.type(str(person).index(HERE), "on ")
                await person.sent()
            edit = {"version": version, "start_line": line, "end_line": line, "content": f"line {line}"}
            answer = await asyncio.to_thread(tool, "replace_lines", **edit)
            assert answer.get("landed", {}).get("start_line") == line, answer
        answer = await asyncio.to_thread(tool, "delete_lines", version=version, start_line=2, end_line=2)
        assert (answer["error"], answer["your_version"]) == ("version_mismatch", version)
        typed = "".join(f"{word} on on on " for word in ("one", "two", "three"))
        await expect_same(person, on=f"line 0\n\n{typed}{HERE}\n\nline 4\n\nline 6\n")
        await person.leave()

    story(told())


def test_typing_over_http_for_an_earlier_version_moves_along_too(standing: Server):
    path = written(standing, "one\n\ntwo\n\nthree\n")
    tab = standing.post("/api/tabs", {"path": path})["tab_id"]
    _, version = read(standing, path)
    standing.tool("edit_text", path=path, old_text="one", new_text="ONE, and more")
    edits = [{"at": 10, "old": "three", "new": "3"}]
    standing.post(f"/api/tabs/{tab}/type", {"version": version, "edits": edits})
    assert read(standing, path)[0] == "ONE, and more\n\ntwo\n\n3\n"
    again = {"version": version, "edits": [{"at": 0, "old": "one", "new": "1"}]}
    assert standing.refused("POST", f"/api/tabs/{tab}/type", again)["your_version"] == version
    whole = {"version": version, "content": "all new"}
    assert standing.refused("POST", f"/api/tabs/{tab}/type", whole)["your_version"] == version
