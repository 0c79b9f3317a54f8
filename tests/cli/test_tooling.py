"""`redraft tool`: on a file that may not be written, and on whole documents, where the model that the person has set up
is asked, within what a job may spend."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import STORY
from tests.cli.running import COMMAND

if TYPE_CHECKING:
    from tests.cli.running import Program

WISH = json.dumps({"path": "story.md", "task": "summary"})


def with_model(redraft: Program, *summaries: str, settings: str = "") -> None:
    steps = [{"text": json.dumps({"summary": each}), "usage": {"input_tokens": 900}} for each in summaries]
    script = redraft.home / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, steps)), encoding="utf-8")
    played = f'[models.played]\nkind = "scripted"\nfile = {json.dumps(str(script))}\n'
    redraft.settings(f'[routing]\nagent_mode = "local"\nlocal = "played"\n{played}[limits]\nsubagents = 1\n{settings}')


@pytest.mark.covers("ML-err-permission")
@pytest.mark.skipif(os.geteuid() == 0 and not shutil.which("setpriv"), reason="root may write every file")
def test_a_file_that_is_marked_read_only_is_left_alone_with_what_to_do_instead(redraft: Program):
    (redraft.folder / "story.md").chmod(0o444)
    as_others = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    edit = json.dumps({"path": "story.md", "old_text": "eleven", "new_text": "twelve"})
    done = subprocess.run(
        [*as_others, *COMMAND, "tool", "edit_text", edit, "--mode", "apply"],
        capture_output=True,
        cwd=redraft.folder,
        env=redraft.environment,
        check=False,
    )
    assert done.returncode != 0
    assert json.loads(done.stdout) == {
        "error": "permission_denied",
        "message": "Cannot write story.md: permission denied.",
        "suggestion": "Use another document, or ask the person to change this one's permissions.",
        "recoverable": True,
        "details": {"path": "story.md", "errno": "EACCES"},
    }
    assert redraft.read("story.md") == STORY
    assert redraft.json("turns")["turns"] == []


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
