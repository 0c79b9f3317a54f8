"""`redraft tool` on whole documents: the model that the person has set up is asked, within what a job may spend."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cli.running import Program

WISH = json.dumps({"path": "story.md", "task": "summary"})


def with_model(redraft: Program, *summaries: str, settings: str = "") -> None:
    steps = [{"text": json.dumps({"summary": each}), "usage": {"input_tokens": 900}} for each in summaries]
    script = redraft.home / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    played = f'[models.played]\nkind = "scripted"\nfile = {json.dumps(str(script))}\n'
    redraft.settings(f'[routing]\nagent_mode = "local"\nlocal = "played"\n{played}[limits]\nsubagents = 1\n{settings}')


def test_the_persons_model_is_asked_and_what_it_took_is_written_down(redraft: Program):
    with_model(redraft, "A lamp is lit.")
    answer = json.loads(redraft.ok("tool", "analyze_document", WISH))
    assert (answer["summary"], answer["effort"]["asked"]) == ("A lamp is lit.", 1)
    assert redraft.json("usage", "--by", "document")["usage"][0]["name"] == "story.md"
    again = json.loads(redraft.ok("tool", "analyze_document", WISH))
    assert (again["summary"], again["effort"]["asked"]) == ("A lamp is lit.", 0), "what was answered is kept"


def test_a_call_spends_no_more_than_a_job(redraft: Program):
    with_model(redraft, *["A part."] * 9, settings="[agent]\ntokens = 1000\n")
    chapters = (f"# Chapter {at}\n\n" + "Nobody spoke on that road.\n\n" * 400 for at in range(9))
    redraft.write("story.md", "".join(chapters))
    result = redraft.run("tool", "analyze_document", WISH)
    assert (result.status, result.json["error"]) == (1, "limit_exceeded")


def test_without_a_model_it_is_refused_in_words(redraft: Program):
    result = redraft.run("tool", "analyze_document", WISH)
    assert (result.status, result.json["error"]) == (1, "model_unavailable")
