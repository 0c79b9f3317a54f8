"""What a program does under `redraft run` is one turn of its own; what cannot be part of it waits in its view."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.programs.conftest import STORY
from tests.programs.files import contents

if TYPE_CHECKING:
    from tests.cli.running import Program

EDITS = """
sed -i s/dark/bright/ story.md
sed -i s/two/TWO/ windows.txt
sed -i s/beta/BETA/ marked.txt
mv drafts/old.md idea.md
rm drafts/dull.md
printf 'A new one.\\n' > drafts/new.md
printf '#!/bin/sh\\n' > go.sh; chmod 755 go.sh
"""


def run(program: Program, *arguments: str) -> Any:
    """What a run tells in JSON."""
    result = program.run("run", "--json", *arguments)
    assert result.out, result
    return json.loads(result.out)


def script(text: str) -> list[str]:
    return ["--", "sh", "-c", text]


@pytest.mark.covers("RD-run-turn", "RD-run-view")
def test_all_that_a_program_did_is_one_turn_and_the_folder_waits_for_the_decision(redraft: Program):
    before = contents(redraft.folder)
    told = run(redraft, "--name", "scribe", *script(EDITS))
    assert told["turn"]["author"] == {"kind": "agent", "name": "scribe"}
    assert {(each["path"], each["action"], each["moved_from"]) for each in told["documents"]} == {
        ("story.md", "modified", None),
        ("windows.txt", "modified", None),
        ("marked.txt", "modified", None),
        ("idea.md", "moved", "drafts/old.md"),
        ("drafts/dull.md", "deleted", None),
        ("drafts/new.md", "created", None),
        ("go.sh", "created", None),
    }
    assert (told["left_out"], told["view"], told["unfinished"]) == ([], None, None)
    assert contents(redraft.folder) == before
    assert len(redraft.json("turns")["turns"]) == 1


@pytest.mark.covers("RD-run-bytes")
def test_accepted_every_file_is_as_the_program_left_it_line_ends_marks_and_permissions_kept(redraft: Program):
    before = contents(redraft.folder)
    number = run(redraft, *script(EDITS))["turn"]["turn"]
    redraft.ok("accept", "--turn", str(number))
    expected = dict(before)
    expected["story.md"] = (STORY.replace("dark", "bright").encode(), before["story.md"][1])
    expected["windows.txt"] = (b"one\r\nTWO\r\nthree\r\n", 0o640)
    expected["marked.txt"] = (b"\xef\xbb\xbfalpha\nBETA\n", before["marked.txt"][1])
    expected["idea.md"] = expected.pop("drafts/old.md")
    del expected["drafts/dull.md"]
    expected["drafts/new.md"] = (b"A new one.\n", before["story.md"][1])
    expected["go.sh"] = (b"#!/bin/sh\n", 0o755)
    assert contents(redraft.folder) == expected
    redraft.ok("undo")
    assert contents(redraft.folder) == before


def test_rejected_the_folder_is_as_it_was(overlaid: Program):
    before = contents(overlaid.folder)
    number = run(overlaid, *script(EDITS))["turn"]["turn"]
    overlaid.ok("reject", "--turn", str(number))
    assert contents(overlaid.folder) == before
    assert overlaid.json("status")["documents"] == []


@pytest.mark.covers("RD-run-rename")
def test_a_document_that_was_moved_and_changed_is_one_that_was_moved(overlaid: Program):
    told = run(overlaid, *script("sed s/haste/peace/ drafts/old.md > kept.md; rm drafts/old.md"))
    assert [(each["path"], each["moved_from"]) for each in told["documents"]] == [("kept.md", "drafts/old.md")]
    overlaid.ok("accept", "--all")
    assert overlaid.read("kept.md") == "An old idea about lamps and the sea, written down in peace.\n"


def test_a_folder_that_was_moved_or_replaced_is_told_document_by_document(redraft: Program):
    told = run(redraft, *script("mv drafts papers; mkdir drafts; printf 'Other.\\n' > drafts/dull.md"))
    found = {(each["path"], each["action"]) for each in told["documents"]}
    assert found == {("papers/old.md", "moved"), ("drafts/dull.md", "modified"), ("papers/dull.md", "created")}


@pytest.mark.covers("RD-run-left-out")
def test_what_cannot_be_part_of_a_turn_is_told_with_its_reason_and_waits_in_the_view(redraft: Program):
    told = run(
        redraft,
        *script(
            "printf 'x\\0y' > picture.png; printf '\\377\\376' > other.bin; mkdir -p .github; echo on: > .github/a.yml;"
            " echo X=1 > prod.env; ln -s /etc/passwd link.md; chmod 755 story.md; echo more >> drafts/dull.md"
        ),
    )
    assert [each["path"] for each in told["documents"]] == ["drafts/dull.md"]
    reasons = {each["path"]: each["reason"] for each in told["left_out"]}
    assert set(reasons) == {"picture.png", "other.bin", ".github/a.yml", "prod.env", "link.md", "story.md"}
    assert "not text" in reasons["picture.png"]
    assert "not UTF-8 text" in reasons["other.bin"]
    assert "agents may not write" in reasons[".github/a.yml"]
    assert "secret" in reasons["prod.env"]
    assert "symbolic link" in reasons["link.md"]
    assert "permissions" in reasons["story.md"]
    [view] = redraft.json("views", "list")["views"]
    assert (view["id"], view["turn"]) == (told["view"]["id"], told["turn"]["turn"])
    assert (Path(view["folder"]) / "picture.png").read_bytes() == b"x\0y"
    redraft.ok("views", "remove", view["id"])
    assert redraft.json("views", "list")["views"] == []


@pytest.mark.covers("RD-run-git")
def test_changes_in_git_are_told_and_never_taken_over(redraft: Program):
    subprocess.run(["git", "init", "-q", redraft.folder], check=True)
    before = contents(redraft.folder)
    told = run(redraft, *script("cat .git/HEAD; echo evil > .git/hooks/pre-commit; rm .git/description"))
    assert told["not_taken_over"] == [".git/description", ".git/hooks/pre-commit"]
    assert (told["turn"], told["view"] is not None) == (None, True)
    assert contents(redraft.folder) == before


@pytest.mark.covers("RD-run-secrets")
def test_secrets_are_not_in_the_view_by_name_by_content_or_by_another_name(redraft: Program):
    os.link(redraft.folder / ".env", redraft.folder / "plain.md")
    result = redraft.run("run", *script("ls -A; cat .env note.txt plain.md; grep -r . . || true"))
    assert result.status == 0
    assert "hidden-in-env" not in result.out
    assert "PRIVATE KEY" not in result.out
    assert not {".env", "note.txt", "plain.md"} & set(result.out.split())


def test_the_program_reads_what_is_typed_and_not_saved_and_what_is_proposed(redraft: Program):
    with redraft.open() as workspace:
        from redraft.text.edits import Change

        text = str(workspace.read("story.md").text)
        workspace.type("story.md", Change.between(text, text.replace("twice", "three times")))
    run(redraft, "--name", "first", *script("printf 'Proposed.\\n' > fresh.md; rm drafts/dull.md"))
    told = redraft.run("run", *script("cat story.md fresh.md; ls drafts"))
    assert "three times" in told.out
    assert "Proposed." in told.out
    assert "dull.md" not in told.out
    assert redraft.read("story.md") == STORY


@pytest.mark.covers("RD-run-modes")
def test_in_a_mode_that_writes_a_deletion_needs_consent_and_the_view_keeps_it_until_then(overlaid: Program):
    told = run(overlaid, "--mode", "apply", *script("sed -i s/dark/grey/ story.md"))
    assert told["applied"] == ["story.md"]
    assert "grey" in overlaid.read("story.md")
    refused = overlaid.run("run", "--mode", "apply", *script("rm drafts/dull.md; echo more >> story.md"))
    assert refused.status == 125
    assert "views take" in refused.err
    assert (overlaid.folder / "drafts/dull.md").exists()
    [view] = overlaid.json("views", "list")["views"]
    taken = overlaid.json("views", "take", view["id"], "--mode", "apply", "--yes")
    assert sorted(taken["applied"]) == ["drafts/dull.md", "story.md"]
    assert not (overlaid.folder / "drafts/dull.md").exists()
    assert overlaid.json("views", "list")["views"] == []


def test_where_agents_may_only_read_all_that_a_program_did_is_left_out(overlaid: Program):
    overlaid.settings('mode = "read"\n', of_folder=True)
    told = run(overlaid, "--mode", "apply", *script("echo more >> story.md"))
    assert told["turn"] is None
    assert [each["path"] for each in told["left_out"]] == ["story.md"], told
    assert told["left_out"][0]["reason"] == "The mode 'read' does not let agents modify story.md."


def test_more_documents_than_a_turn_may_touch_wait_in_the_view(overlaid: Program):
    overlaid.variables["REDRAFT_LIMITS_FILES"] = "3"
    told = run(overlaid, *script("for i in 1 2 3 4 5; do echo $i > n$i.md; done"))
    assert [each["path"] for each in told["documents"]] == ["n1.md", "n2.md", "n3.md"]
    assert [each["path"] for each in told["left_out"]] == ["n4.md", "n5.md"]


# Streams, status, time


@pytest.mark.covers("RD-run-streams")
@pytest.mark.parametrize(
    ("command", "status"),
    [
        (["sh", "-c", "exit 7"], 7),
        (["sh", "-c", "kill -9 $$"], 137),
        (["no-such-program"], 127),
        (["./story.md"], 126),
    ],
)
def test_the_exit_status_is_the_programs(overlaid: Program, command: list[str], status: int):
    assert overlaid.run("run", "--", *command).status == status


def test_a_program_has_the_streams_and_the_summary_is_beside_them(redraft: Program):
    result = redraft.run("run", "--", "sh", "-c", "cat; echo problem >&2; cat >> story.md < /dev/null", stdin="heard\n")
    assert result.out == "heard\n"
    assert result.err == "problem\nsh changed nothing.\n"
    shown = redraft.run("run", "--", "sh", "-c", "pwd; echo more >> story.md")
    assert "waits for your decision" in shown.err
    assert "redraft accept --turn 1" in shown.err


def test_an_interactive_program_has_the_terminal(overlaid: Program):
    result = overlaid.on_terminal(
        "run", "--", "sh", "-c", "test -t 0 && test -t 1 && read a && echo got $a", answer="it\n"
    )
    assert result.status == 0, result
    assert "got it" in result.out


@pytest.mark.covers("RD-run-unfinished")
def test_a_program_that_outlives_its_time_yields_what_it_did_and_nothing_of_it_lives_on(redraft: Program):
    # What lingers would hold the pipe of the output open, and this call would not come back.
    linger = "(setsid sh -c 'trap \"\" TERM HUP; while :; do sleep 1; done' &)"
    told = run(
        redraft, "--seconds", "4", *script(f"{linger}; trap '' TERM; echo more >> story.md; while :; do sleep 1; done")
    )
    assert (told["status"], told["unfinished"]) == (124, "still running after 4 seconds")
    assert told["turn"]["title"].startswith("Unfinished (still running after 4 seconds): ")
    assert [each["path"] for each in told["documents"]] == ["story.md"]


def test_what_a_program_started_ends_with_it(redraft: Program):
    result = redraft.run("run", *script("(setsid sleep 3000 &) ; setsid sleep 3000 & echo done"))
    assert (result.status, result.out) == (0, "done\n")


@pytest.mark.covers("RD-run-killed")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_when_redraft_itself_is_ended_nothing_is_lost_and_nothing_lives_on(redraft: Program, number: signal.Signals):
    busy = ["run", *script("echo more >> story.md; echo ready; while :; do sleep 1; done")]
    process = subprocess.Popen(
        [sys.executable, "-m", "redraft", *busy],
        cwd=redraft.folder,
        env=redraft.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    [view] = redraft.json("views", "list")["views"]
    assert view["running"]
    process.send_signal(number)
    assert process.stdout.read() == b""  # the last who could write there is gone
    process.stdout.close()
    process.wait()
    if number is signal.SIGKILL:
        [view] = redraft.json("views", "list")["views"]
        assert (view["running"], view["unfinished"]) == (False, "interrupted")
        assert redraft.read("story.md") == STORY
        redraft.json("views", "take", view["id"])
    assert redraft.json("views", "list")["views"] == []
    [turn] = redraft.json("turns")["turns"]
    assert turn["title"].startswith("Unfinished (")
    redraft.ok("accept", "--all")
    assert redraft.read("story.md") == STORY + "more\n"


@pytest.mark.covers("RD-run-kept")
def test_a_view_is_kept_when_asked_and_goes_by_its_age(overlaid: Program):
    kept = run(overlaid, "--keep", *script("echo more >> story.md"))["view"]
    assert [view["id"] for view in overlaid.json("views", "list")["views"]] == [kept["id"]]
    record = Path(kept["folder"]).parent / "view.json"
    told = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps({**told, "started": told["started"] - 15 * 86_400}), encoding="utf-8")
    assert overlaid.json("views", "list")["views"] == []
    assert not record.exists()


def test_a_view_that_is_not_there_is_refused(overlaid: Program):
    assert overlaid.run("views", "take", "1234").status == 4
    assert overlaid.run("run").status == 125
