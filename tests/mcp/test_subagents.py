"""Whole documents by the person's own model, over MCP: what the client hears of it, and how it ends it."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from tests.speaking.lines import Lines, answer_of, envelope, environment

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

    Message = dict[str, Any]

LETTER = "# The letter\n\nFog lay on London. Mr Pike, a Londoner, came to tea.\n"
LONG = "".join(f"# Chapter {at}\n\n" + "Nobody spoke a word on that road.\n\n" * 400 for at in range(3))
MOVED = {"edits": [{"old": "on London", "new": "on Tokyo"}], "doubts": []}
DOUBT = {"quote": "a Londoner", "new": "a stranger", "why": "He may be a visitor."}
TO_TOKYO = {"old_setting": "London", "new_setting": "Tokyo"}


def says(answer: Message, **more: Any) -> Message:
    """A step of a script: the answer of a subagent."""
    return {"text": json.dumps(answer), **more}


@contextmanager
def served(folder: Path, document: str, *steps: Message, limits: str = "") -> Generator[Lines]:
    """A client of a folder with one document, whose person has set up a model that plays a script."""
    (folder / "story.md").write_text(document, encoding="utf-8")
    script = folder.parent / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    settings = folder.parent / "config" / "redraft" / "settings.toml"
    settings.parent.mkdir(parents=True)
    played = f'[models.played]\nkind = "scripted"\nfile = {json.dumps(str(script))}\n'
    settings.write_text(
        f'[routing]\nagent_mode = "local"\nlocal = "played"\n{played}[limits]\nsubagents = 1\n{limits}',
        encoding="utf-8",
    )
    assert environment(folder)["XDG_CONFIG_HOME"] == str(settings.parents[1])
    client = Lines.to(folder, "--profile", "tabs")
    try:
        yield client
    finally:
        told = client.close()
    assert told == ""


def documents(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.md"))


def test_a_client_hears_how_many_subagents_have_answered(folder: Path) -> None:
    parts = [says({"summary": f"Part {number}."}) for number in range(1, 4)]
    with served(folder, LONG, *parts, says({"summary": "Nobody speaks."})) as client:
        client.start()
        call = {"name": "analyze_document", "arguments": {"path": "story.md", "task": "summary"}}
        answer = client.ask("tools/call", **call, _meta={"progressToken": "t"})["result"]
        told = [each["params"] for each in client.heard if each.get("method") == "notifications/progress"]
    assert answer_of(answer)["summary"] == "Nobody speaks."
    assert told[-1]["message"] == "answers of subagents"
    assert [each["progress"] for each in told] == sorted({each["progress"] for each in told})
    assert told[-1]["progress"] == told[-1]["total"]


@pytest.mark.covers("TK-sub-ambiguous")
def test_a_doubtful_place_is_put_to_the_person(folder: Path) -> None:
    with served(folder, LETTER, says({**MOVED, "doubts": [DOUBT]}), says({"issues": []})) as client:
        asked: list[str] = []

        def agree(question: Message) -> Message:
            asked.append(question["message"])
            return {"action": "accept", "content": {"answer": "yes"}}

        client.answer = agree
        client.start(elicitation={})
        arguments = {"path": "story.md", "transformation": "setting_change", "params": TO_TOKYO}
        answer = answer_of(client.call("transform_document", **arguments))
        assert "He may be a visitor." in asked[0]
        text = (folder / answer["path"]).read_text(encoding="utf-8")
    assert text == LETTER.replace("on London", "on Tokyo").replace("a Londoner", "a stranger")


def test_a_call_that_comes_back_with_the_answer_asks_the_model_nothing_twice(folder: Path) -> None:
    arguments = {"path": "story.md", "transformation": "setting_change", "params": TO_TOKYO}
    call = {"name": "transform_document", "arguments": arguments}
    with served(folder, LETTER, says({**MOVED, "doubts": [DOUBT]}), says({"issues": []})) as client:
        client.meta = envelope(elicitation={})
        asked = client.ask("tools/call", **call)["result"]
        assert (asked["resultType"], documents(folder)) == ("input_required", ["story.md"])
        said = {key: {"action": "accept", "content": {"answer": "no"}} for key in asked["inputRequests"]}
        answer = answer_of(client.ask("tools/call", **call, inputResponses=said)["result"])
    assert answer["effort"] == {"chunks": 1, "asked": 0, "known_already": 1}
    assert [flag["kind"] for flag in answer["flags"]][:1] == ["ambiguous"]


def test_a_call_that_is_called_off_waits_for_no_model(folder: Path) -> None:
    with served(folder, LONG, says({"summary": "A part."}), says({"summary": "Too late."}, delay_ms=60_000)) as client:
        client.start()
        call = {"name": "analyze_document", "arguments": {"path": "story.md", "task": "summary"}}
        number = client.request("tools/call", **call, _meta={"progressToken": "t"})
        assert client.told("notifications/progress") is not None, "the second answer is being waited for"
        start = time.monotonic()
        client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
        assert answer_of(client.call("read_document", path="story.md", end_line=0))["content"] == "# Chapter 0\n"
        assert time.monotonic() - start < 30
    assert documents(folder) == ["story.md"]


def test_a_model_that_fails_leaves_the_document_and_says_why(folder: Path) -> None:
    with served(folder, LETTER, {"error": "overloaded", "message": "Too many people."}) as client:
        client.start()
        arguments = {"path": "story.md", "transformation": "setting_change", "params": TO_TOKYO}
        result = client.call("transform_document", **arguments)
    told = json.loads(result["content"][0]["text"])
    assert (result["isError"], told["error"]) == (True, "subagent_failed")
    assert "Too many people." in told["message"]
    assert documents(folder) == ["story.md"]


def test_one_call_spends_no_more_than_one_job_may(folder: Path) -> None:
    costly = says({"summary": "A part."}, usage={"input_tokens": 900, "output_tokens": 200})
    with served(folder, LONG, *[costly] * 4, limits="[agent]\ntokens = 1000\n") as client:
        client.start()
        result = client.call("analyze_document", path="story.md", task="summary")
    told = json.loads(result["content"][0]["text"])
    assert (told["error"], told["details"]["budget"]) == ("limit_exceeded", "tokens")
    assert documents(folder) == ["story.md"]
