"""Progress of long calls, calls that are called off, and questions that wait for the person."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from redraft.tools.queries import search_folder
from redraft.tools.registry import Tool
from tests.speaking.lines import Lines, answer_of, envelope

if TYPE_CHECKING:
    from pathlib import Path

    Message = dict[str, Any]

STORY = "# Story\n\nThe hero John walked in.\n"
PROGRESS = "notifications/progress"


def on_disk(folder: Path) -> str:
    return (folder / "story.md").read_text(encoding="utf-8")


# Progress


def batch_of(count: int) -> Message:
    calls = [{"tool": "search_documents", "arguments": {"query": f"word {number}"}} for number in range(count)]
    return {"name": "batch", "arguments": {"calls": calls}}


def test_the_progress_of_a_batch_grows_and_ends_with_its_answer(client: Lines, folder: Path) -> None:
    for number in range(300):
        (folder / f"{number}.md").write_text("word\n" * 200, encoding="utf-8")
    client.start()
    answer = client.ask("tools/call", **batch_of(40), _meta={"progressToken": "t"})
    assert answer["result"]["isError"] is False
    told = [message["params"] for message in client.heard if message.get("method") == PROGRESS]
    assert told
    assert all(entry["progressToken"] == "t" for entry in told)
    steps = [entry["progress"] for entry in told]
    assert steps == sorted(set(steps))
    assert {entry["total"] for entry in told} == {40}
    client.heard.clear()
    assert client.told(PROGRESS, 0.5) is None, "nothing is told of a call that has ended"


@pytest.mark.slow
@pytest.mark.covers("RT-prod-progress")
def test_many_replacements_in_a_long_document_tell_how_far_they_are(folder: Path) -> None:
    (folder / "long.md").write_text("A paragraph of a **long** document.\n\n" * 400, encoding="utf-8")
    words = [f"paragraph {number:02}" for number in range(10)]
    calls = [
        {"tool": "replaceText", "arguments": {"path": "long.md", "from": 2, "to": 2 + len(old), "newText": new}}
        for old, new in itertools.pairwise(["paragraph", *words])
    ]
    client = Lines.to(folder, "--profile", "all", "--mode", "apply")
    client.start()
    answer = client.ask("tools/call", name="batch", arguments={"calls": calls}, _meta={"progressToken": "t"})
    assert answer["result"]["isError"] is False, answer
    told = [message["params"]["progress"] for message in client.heard if message.get("method") == PROGRESS]
    assert told
    assert told == sorted(set(told))
    assert (folder / "long.md").read_text(encoding="utf-8").startswith("A paragraph 09 of a **long** document.\n")
    client.heard.clear()
    one = {"path": "long.md", "from": 2, "to": 14, "newText": "line"}
    assert client.ask("tools/call", name="replaceText", arguments=one, _meta={"progressToken": "u"})
    told = [message["params"] for message in client.heard if message.get("method") == PROGRESS]
    assert {(entry["progressToken"], entry["total"]) for entry in told} == {("u", 3)}
    assert (told[0]["progress"], told[-1]["progress"]) == (1, 3), "also where the call is not one of many"
    assert client.close() == ""


def test_nobody_who_did_not_ask_for_it_is_told_of_progress(client: Lines) -> None:
    client.start()
    client.ask("tools/call", **batch_of(40))
    assert client.told(PROGRESS, 0.2) is None


@pytest.mark.slow
def test_a_search_tells_how_far_the_index_has_come(folder: Path) -> None:
    for number in range(3000):
        (folder / f"{number}.md").write_text("some words of no meaning\n" * 40, encoding="utf-8")
    client = Lines.to(folder)
    client.start()
    about: set[str] = set()
    for _ in range(100):  # the index is built beside the searches, which do not wait for it
        client.ask("tools/call", name="search_documents", arguments={"query": "meaning"}, _meta={"progressToken": 1})
        about |= {message["params"]["message"] for message in client.heard if message.get("method") == PROGRESS}
        if about:
            break
    assert about == {"files indexed"}
    client.close()


def test_every_tool_that_searches_the_folder_is_given_the_index() -> None:
    tools = [entry for entry in vars(search_folder).values() if isinstance(entry, Tool)]
    assert tools
    assert all("index" in tool.needs for tool in tools)


# Calling off


def test_a_call_that_waits_is_called_off_and_never_answered(client: Lines, folder: Path) -> None:
    client.start(elicitation={})
    client.answer = lambda _: None
    asking = client.request("tools/call", name="clarify_user", arguments={"question": "Which?"})
    edit = {"path": "story.md", "old_text": "John", "new_text": "James"}
    waiting = client.request("tools/call", name="edit_text", arguments=edit)
    client.send({"method": "notifications/cancelled", "params": {"requestId": waiting}})
    question = client.told("elicitation/create")
    assert question is not None
    client.send({"id": question["id"], "result": {"action": "accept", "content": {"answer": "This."}}})
    assert answer_of(client.response(asking)["result"])["answer"] == "This."
    assert "result" in client.ask("tools/list")
    assert all(message.get("id") != waiting for message in client.heard)
    assert on_disk(folder) == STORY


def test_a_call_that_asks_the_person_is_called_off_and_leaves_nothing(client: Lines, folder: Path) -> None:
    client.start(elicitation={})
    client.answer = lambda _: None
    calls = [
        {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "John", "new_text": "James"}},
        {"tool": "clarify_user", "arguments": {"question": "Which?"}},
    ]
    number = client.request("tools/call", name="batch", arguments={"calls": calls})
    question = client.told("elicitation/create")
    assert question is not None
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    over = client.told("notifications/cancelled")
    assert over is not None
    assert over["params"]["requestId"] == question["id"]
    assert answer_of(client.call("list_turns"))["turns"] == []
    assert all(message.get("id") != number for message in client.heard)
    assert on_disk(folder) == STORY


def test_a_batch_that_runs_is_stopped_between_its_calls(client: Lines, folder: Path) -> None:
    for number in range(500):
        (folder / f"{number}.md").write_text("word\n" * 400, encoding="utf-8")
    client.start()
    steps = batch_of(49)["arguments"]["calls"]
    edit = {"tool": "edit_text", "arguments": {"path": "story.md", "old_text": "John", "new_text": "James"}}
    number = client.request("tools/call", name="batch", arguments={"calls": [edit, *steps]}, _meta={"progressToken": 1})
    assert client.told(PROGRESS) is not None
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert answer_of(client.call("list_turns"))["turns"] == []
    assert all(message.get("id") != number for message in client.heard)
    assert on_disk(folder) == STORY


@pytest.mark.parametrize("number", [99, "nobody", None, [], {"a": 1}, True])
def test_calling_off_what_is_not_there_does_nothing(client: Lines, number: Any) -> None:
    client.start()
    client.send({"method": "notifications/cancelled", "params": {"requestId": number}})
    assert client.ask("ping")["result"] == {}


def test_a_sign_of_life_is_given_while_a_call_waits_for_the_person(client: Lines) -> None:
    client.start(elicitation={})
    client.answer = lambda _: None
    asking = client.request("tools/call", name="clarify_user", arguments={"question": "Which?"})
    assert client.ask("ping")["result"] == {}
    question = client.told("elicitation/create")
    assert question is not None
    client.send({"id": question["id"], "result": {"action": "decline"}})
    assert answer_of(client.response(asking)["result"])["error"] == "cannot_ask"


# Questions


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
def test_a_client_that_cannot_ask_gets_the_refusal_in_words(client: Lines, capabilities: Message) -> None:
    client.start(**capabilities)
    refused = client.call("clarify_user", question="Which?")
    assert (refused["isError"], answer_of(refused)["error"]) == (True, "cannot_ask")


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "decline"},
        {"action": "cancel"},
        {},
        {"action": "accept"},
        {"action": "accept", "content": {"agree": 1}},
    ],
)
def test_nothing_but_a_clear_yes_is_a_consent(client: Lines, folder: Path, answer: Message) -> None:
    client.start(elicitation={"form": {}})
    client.answer = lambda _: answer
    refused = answer_of(client.call("delete_document", path="story.md"))
    assert refused["error"] == "confirmation_required"
    assert refused["message"] == "The person was asked and did not agree: move story.md to the trash."
    assert on_disk(folder) == STORY


def test_an_error_to_our_question_is_no_consent(client: Lines, folder: Path) -> None:
    client.start(elicitation={})
    client.answer = lambda _: None
    number = client.request("tools/call", name="delete_document", arguments={"path": "story.md"})
    question = client.told("elicitation/create")
    assert question is not None
    client.send({"id": question["id"], "error": {"code": -32603, "message": "no"}})
    assert answer_of(client.response(number)["result"])["error"] == "confirmation_required"
    assert on_disk(folder) == STORY


def test_at_the_end_of_the_input_a_question_is_answered_by_nobody(folder: Path) -> None:
    client = Lines.to(folder)
    client.start(elicitation={})
    client.answer = lambda _: None
    number = client.request("tools/call", name="delete_document", arguments={"path": "story.md"})
    assert client.told("elicitation/create") is not None
    assert client.process.stdin is not None
    client.process.stdin.close()
    assert answer_of(client.response(number)["result"])["error"] == "confirmation_required"
    client.ended()
    assert on_disk(folder) == STORY


def test_in_the_newer_era_the_question_is_the_answer_and_the_call_is_repeated(client: Lines, folder: Path) -> None:
    client.meta = envelope(elicitation={"form": {}})
    first = client.call("delete_document", path="story.md")
    assert first["resultType"] == "input_required"
    ((key, question),) = first["inputRequests"].items()
    assert question["method"] == "elicitation/create"
    assert "story.md" in question["params"]["message"]
    assert on_disk(folder) == STORY
    yes = {key: {"action": "accept", "content": {"agree": True}}}
    done = client.ask("tools/call", name="delete_document", arguments={"path": "story.md"}, inputResponses=yes)
    assert done["result"]["isError"] is False
    assert not (folder / "story.md").exists()


def test_in_the_newer_era_a_consent_holds_only_for_what_was_asked(client: Lines, folder: Path) -> None:
    (folder / "other.md").write_text("x", encoding="utf-8")
    client.meta = envelope(elicitation={})
    key = next(iter(client.call("delete_document", path="other.md")["inputRequests"]))
    yes = {key: {"action": "accept", "content": {"agree": True}}}
    asked = client.ask("tools/call", name="delete_document", arguments={"path": "story.md"}, inputResponses=yes)
    assert asked["result"]["resultType"] == "input_required"
    assert on_disk(folder) == STORY


def consent(client: Lines, **arguments: Any) -> Message:
    """The person's yes to what a deletion asks."""
    key = next(iter(client.call("delete_document", **arguments)["inputRequests"]))
    return {key: {"action": "accept", "content": {"agree": True}}}


def test_in_the_newer_era_a_consent_holds_once(client: Lines, folder: Path) -> None:
    client.meta = envelope(elicitation={})
    delete: Message = {"name": "delete_document", "arguments": {"path": "story.md"}}
    yes = consent(client, path="story.md")
    assert client.ask("tools/call", **delete, inputResponses=yes)["result"]["isError"] is False
    (folder / "story.md").write_text(STORY, encoding="utf-8")
    client.call("read_document", path="story.md")
    asked = client.ask("tools/call", **delete, inputResponses=yes)["result"]
    assert asked["resultType"] == "input_required"
    assert on_disk(folder) == STORY


def test_in_the_newer_era_a_consent_holds_for_the_document_as_it_was(client: Lines, folder: Path) -> None:
    client.meta = envelope(elicitation={})
    yes = consent(client, path="story.md")
    (folder / "story.md").write_text("Another story.\n", encoding="utf-8")
    delete: Message = {"name": "delete_document", "arguments": {"path": "story.md"}}
    assert client.ask("tools/call", **delete, inputResponses=yes)["result"]["resultType"] == "input_required"
    assert on_disk(folder) == "Another story.\n"


def test_in_the_newer_era_a_call_may_ask_twice_and_keeps_the_first_answer(client: Lines, folder: Path) -> None:
    (folder / "other.md").write_text("x", encoding="utf-8")
    client.meta = envelope(elicitation={})
    calls = [{"tool": "delete_document", "arguments": {"path": path}} for path in ("story.md", "other.md")]
    answers: Message = {}
    for _ in calls:
        asked = client.ask("tools/call", name="batch", arguments={"calls": calls}, inputResponses=answers)["result"]
        (key,) = asked["inputRequests"]
        answers[key] = {"action": "accept", "content": {"agree": True}}
    done = client.ask("tools/call", name="batch", arguments={"calls": calls}, inputResponses=answers)["result"]
    assert done["isError"] is False
    assert not list(folder.glob("*.md"))


def test_the_person_is_asked_in_plain_words(client: Lines) -> None:
    client.start(elicitation={})
    client.call("delete_document", path="story.md")
    question = client.told("elicitation/create")
    assert question is not None
    assert question["params"]["message"].startswith("May the agent move story.md to the trash?")


def test_in_the_newer_era_too_a_client_that_cannot_ask_gets_words(client: Lines, folder: Path) -> None:
    client.meta = envelope()
    assert answer_of(client.call("delete_document", path="story.md"))["error"] == "confirmation_required"
    assert on_disk(folder) == STORY


def test_in_the_newer_era_what_a_caller_has_read_is_remembered_between_its_requests(
    client: Lines, folder: Path
) -> None:
    client.meta = envelope()
    client.call("read_document", path="story.md")
    (folder / "story.md").write_text("Somebody wrote this.\n", encoding="utf-8")
    assert "Somebody wrote this." in str(answer_of(client.call("get_changes_since", path="story.md")))
    client.meta = envelope("another")
    assert "Somebody wrote this." not in str(answer_of(client.call("get_changes_since", path="story.md")))
