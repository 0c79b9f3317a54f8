"""A tool call as events carry it: JSON that can be unfolded, short, and without credentials."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.agent.run.truncate import MAX_SHOWN, MAX_TEXT, preview_json
from redraft.files.secret_detection import MASKED
from tests.agent.desk import call, edit, says
from tests.workspace.folder import POEM

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.agent.desk import Desk

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7\n-----END RSA PRIVATE KEY-----\n"
# Made up, and put together here so that no scanner takes this file for a leak.
CREDENTIALS = (
    "sk-" + "ant-api03-" + "a1B2" * 8,
    "ghp" + "_" + "a1B2" * 9,
    "AKIA" + "ABCDEFGH12345678",
    "AIza" + "a1B2c" * 7,
    "eyJhbGciOiJI." + "eyJzdWIiOiIx." + "c2lnbmF0dXJl",
    "Bearer " + "a1B2" * 8,
    KEY,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=8), inner, max_size=5),
    max_leaves=20,
)


@given(values)
def test_what_is_shown_is_json_and_what_is_short_and_harmless_is_shown_whole(value: Any):
    told = json.loads(preview_json(value))
    assert told == value or MASKED in preview_json(value)


@given(st.dictionaries(st.text(max_size=8), st.text(max_size=20) | st.lists(st.text(max_size=9)), max_size=5), values)
def test_what_is_shown_is_short_however_long_the_value(short: dict[str, Any], other: Any):
    told = preview_json({**short, "long": "x" * 100_000, "many": [other] * 1000})
    assert len(told) < MAX_SHOWN + 2000
    assert json.loads(told)["long"].endswith("more characters]")


@pytest.mark.parametrize("credential", CREDENTIALS)
def test_a_credential_is_masked_wherever_it_stands(credential: str):
    told = preview_json({"content": f"Use {credential}", "calls": [{"arguments": {"old": credential}}]})
    assert credential.strip()[-12:] not in told
    assert json.loads(told)["content"].startswith(f"Use {MASKED}")


@pytest.mark.parametrize("name", ["password", "api_key", "apiKey", "x-api-key", "accessToken", "client_secret"])
def test_a_field_that_is_named_for_a_secret_is_masked(name: str):
    assert json.loads(preview_json({name: "hunter2", "path": "a.md"})) == {name: MASKED, "path": "a.md"}


def test_a_text_about_secrets_and_a_number_of_tokens_are_shown():
    harmless = {"tokens": 12, "token": 3, "content": "The bearer of the secret token asked for a password.", "sk-": ""}
    assert json.loads(preview_json(harmless)) == harmless


@pytest.mark.covers("SB-event-tool-requested", "SB-event-tool-completed")
def test_a_calls_events_hold_its_arguments_and_its_answer(desk: Callable[..., Desk]):
    read, gone = call("read_document", path="poem.md"), call("read_document", path="gone.md")
    wrong = call("replaceText", path="poem.md", **{"from": 2, "to": 1}, newText="x")
    here = desk(says("", read, gone, edit("poem.md", "Amber", "Agate"), wrong), says("Done."))
    job = here.ask(tool_config={"profile": "all"})
    events = [event.data for event in here.store.events.after(job.id) if event.type.startswith("tool.call.")]
    asked, answered = events[::2], events[1::2]
    assert [json.loads(each["arguments"]) for each in asked][:2] == [read["arguments"], gone["arguments"]]
    assert [each["ok"] for each in answered] == [True, False, True, False]
    results = [json.loads(each["result"]) for each in answered]
    assert POEM.splitlines()[0] in json.dumps(results[0], ensure_ascii=False)
    assert (results[1]["error"], results[2]["state"], results[3]["success"]) == ("not_found", "staged", False)


@pytest.mark.parametrize("credential", CREDENTIALS[:-1])
@pytest.mark.parametrize("left", [8, 12, 19])
def test_a_credential_that_the_cut_goes_through_is_masked_too(credential: str, left: int):
    told = preview_json({"text": " " * (MAX_TEXT - left) + credential + " and more" * 20})
    assert credential[:left] not in told


def test_many_fields_are_short_as_well():
    assert len(json.loads(preview_json({f"field {number}": "x" * 50 for number in range(5000)}))) <= 2 * MAX_SHOWN
