"""The program as a whole: finding commands, failing well, and what reaches a terminal."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft import __version__
from redraft.cli import main
from redraft.cli.program import ABOUT_GROUPS, MODULES, SECTIONS, load_command, split_command
from redraft.history.turns import Author
from tests.cli.running import COMMAND, Program

ESC, OVERRIDE = "\x1b]0;owned\x07", "\u202e"


def test_the_version_is_told(redraft: Program):
    assert redraft.ok("--version") == f"redraft {__version__}\n"
    assert redraft.json("--version") == {"version": __version__}


def test_without_a_command_the_commands_are_listed(redraft: Program):
    shown = redraft.ok()
    assert redraft.ok("--help") == shown
    pages = shown + "".join(redraft.ok(group, "--help") for group in ABOUT_GROUPS)
    assert [words for words in MODULES if f"  {words} " not in pages] == []
    assert [group for group in ABOUT_GROUPS if f"  {group} " not in shown] == []


def test_help_lists_commands_by_what_they_are_for_in_columns(redraft: Program):
    shown = redraft.ok("--help").splitlines()
    assert [title for title in SECTIONS if title not in shown] == []
    columns = {len(line) - len(line[2:].split("  ", 1)[1].lstrip()) for line in shown if line.startswith("  ")}
    assert len(columns) == 1


def test_a_group_of_commands_has_a_page_of_its_own(redraft: Program):
    shown = redraft.ok("trash", "--help")
    assert "trash restore  " in shown
    assert "accept" not in shown
    assert redraft.ok("help", "trash") == shown
    assert redraft.ok("help", "accept") == redraft.ok("accept", "--help")


def test_every_command_has_help_with_examples():
    wanting = [
        words
        for words in MODULES
        if not (help_text := load_command(words).parser().format_help()).startswith(f"usage: redraft {words} ")
        or f"\nexamples:\n  redraft {words}" not in help_text
    ]
    assert wanting == []


def test_help_is_shown_wherever_it_is_asked_for(redraft: Program):
    shown = redraft.ok("trash", "restore", "--help")
    assert shown == redraft.ok("--help", "trash", "restore")
    assert "redraft trash restore notes/old.md" in shown


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["acept"], "Did you mean `redraft accept`?"),
        (["log"], "Did you mean `redraft turns`?"),
        (["history"], "Did you mean `redraft turns`?"),
        (["search", "lamp"], "Did you mean `redraft tool search_documents`?"),
        (["trash"], "`trash list`, `trash restore`"),
        (["trash", "burn"], "`trash list`, `trash restore`"),
        (["--colour"], "Unrecognized argument: --colour"),
        (["status", "--colour"], "--colour"),
        (["show"], "TURN"),
        (["show", "one"], "`redraft turns` lists them"),
        (["status", "--folder"], "--folder"),
    ],
)
def test_a_wrong_call_gets_status_2_and_a_hint(redraft: Program, arguments: list[str], hint: str):
    result = redraft.run(*arguments)
    assert (result.status, result.out) == (2, "")
    assert hint in result.err
    told = redraft.run(*arguments, "--json") if arguments[-1] != "--folder" else redraft.run("--json", *arguments)
    assert (told.status, told.err, told.json["error"]) == (2, "", "invalid_argument")


@pytest.mark.covers("RD-cli-json")
def test_the_folder_may_stand_before_or_after_the_command(proposed: Program):
    (proposed.folder / "inner").mkdir()
    inside = Program(proposed.folder / "inner", {"XDG_STATE_HOME": proposed.state_home})
    wanted = proposed.json("turns")
    assert inside.json("--folder", "..", "turns") == wanted
    assert inside.json("turns", "--folder=..") == wanted
    assert inside.json("trash", "--folder", "..", "list")["trash"] == []


words = st.sampled_from(sorted(MODULES))
options = st.lists(st.sampled_from(["--json", "--folder x", "--folder=x"]), max_size=3)


@given(words, options, options, st.lists(st.sampled_from(["h_1", "--all", "-", "7"]), max_size=3))
def test_the_command_is_found_wherever_the_options_stand(
    name: str, before: list[str], between: list[str], after: list[str]
):
    first, *second = name.split()
    early = [part for option in before for part in option.split()]
    late = [part for option in between for part in option.split()]
    found, rest = split_command([*early, first, *late, *second, *after])
    assert (found, rest) == (name, [*early, *late, *after])


def hostile(program: Program) -> None:
    """A turn whose title, author and content would take over a terminal."""
    with program.open() as workspace, workspace.turn(Author("agent", f"a{ESC}"), f"t{ESC}{OVERRIDE}\nx") as turn:
        turn.write("todo.md", f"{ESC}{OVERRIDE}\x9b2J safe\r\n", turn.read("todo.md").version)


@pytest.mark.parametrize("arguments", [["status"], ["turns"], ["show", "1"], ["diff"], ["diff", "--patch"]])
def test_no_control_character_reaches_a_terminal_or_a_persons_eyes(redraft: Program, arguments: list[str]):
    hostile(redraft)
    shown = redraft.on_terminal(*arguments)
    assert shown.status == 0
    bare = shown.out.replace("\x1b[0m", "")
    for style in ("1", "2", "31", "32", "33", "36", "1;4;31", "1;4;32"):
        bare = bare.replace(f"\x1b[{style}m", "")
    assert [char for char in bare if not char.isprintable() and char not in "\n\t"] == []
    assert "\\x1b]0;owned\\x07" in bare


@pytest.mark.covers("RD-cli-escape")
@pytest.mark.slow
def test_no_control_character_reaches_a_pipe_from_human_output(redraft: Program):
    hostile(redraft)
    for arguments in (["status"], ["turns"], ["show", "1"], ["diff"], ["turns", "--json"]):
        shown = redraft.ok(*arguments)
        assert [char for char in shown if not char.isprintable() and char != "\n"] == []


def test_an_argument_is_not_echoed_raw(redraft: Program):
    for arguments in (["show", ESC], [ESC], ["status", "--folder", ESC], ["merge", ESC, ESC, ESC], ["diff", ESC]):
        result = redraft.run(*arguments)
        assert result.status != 0
        assert "\x1b" not in result.err + result.out


def test_an_argument_that_is_no_unicode_is_refused_and_not_a_crash(redraft: Program):
    done = subprocess.run(
        [*map(os.fsencode, COMMAND), b"diff", b"caf\xe9.md"],
        capture_output=True,
        cwd=redraft.folder,
        env=redraft.environment,
        check=False,
    )
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr


@pytest.mark.covers("RD-cli-escape")
@pytest.mark.slow
def test_colour_appears_on_a_terminal_only_and_never_against_the_persons_wish(proposed: Program):
    assert "\x1b[" in proposed.on_terminal("status").out
    assert "\x1b[" not in proposed.ok("status")
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[" not in Program(proposed.folder, variables).on_terminal("status").out
    assert "\x1b[" not in proposed.on_terminal("status", "--json").out


def test_a_terminal_that_lacks_a_character_shows_an_escape(redraft: Program):
    redraft.write("caf\u00e9.md", "x\n")
    with redraft.open() as workspace, workspace.turn(Author("agent", "a"), "Un caf\u00e9\u2026") as turn:
        turn.create("th\u00e9.md", "\U0001f375\n")
    plain = Program(redraft.folder, {"PYTHONIOENCODING": "ascii"})
    assert "th\\xe9.md" in plain.ok("status")


def test_a_closed_pipe_is_silent(proposed: Program):
    process = subprocess.Popen(
        [*COMMAND, "diff"],
        cwd=proposed.folder,
        env=proposed.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), error) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_output_that_cannot_be_written_is_a_failure(redraft: Program):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*COMMAND, "status"],
            cwd=redraft.folder,
            env=redraft.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 5
    assert b"The output could not be written" in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_ends_with_130_and_no_traceback(redraft: Program):
    # A shell that runs the tests in the background has interrupts ignored, and children inherit that.
    heed = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    process = subprocess.Popen(
        [sys.executable, "-c", f"{heed}; from redraft.cli import main; sys.exit(main(['propose', '-']))"],
        cwd=redraft.folder,
        env=redraft.environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    wait_until_it_reads(process.pid)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error) == (130, b"", b"Stopped.\n")


def wait_until_it_reads(pid: int) -> None:
    """Until the process sleeps in a read of its standard input, that is, until it waits for the patch."""
    for _ in range(3000):
        try:
            call = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()
        except OSError:
            call = []
        if call[:2] == ["0", "0x0"]:
            return
        time.sleep(0.01)
    pytest.fail("the program never came to read its input")


@pytest.mark.covers("RD-cli-exit")
def test_an_unwritable_state_folder_is_explained(redraft: Program):
    Path(redraft.state_home).write_text("in the way", encoding="utf-8")
    result = redraft.run("status", "--json")
    assert (result.status, result.err, result.json["error"]) == (5, "", "io_error")


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.covers("RD-cli-start")
@pytest.mark.slow
def test_the_version_is_told_within_two_and_a_half_times_the_start_of_python():
    """In processor time, the least of many turn about: what other programs do meanwhile is not ours to measure."""
    script = Path(sys.executable).with_name("redraft")
    program = [sys.executable, str(script)] if script.exists() else [sys.executable, "-m", "redraft"]
    runs = [(cpu_seconds([sys.executable, "-c", "pass"]), cpu_seconds([*program, "--version"])) for _ in range(20)]
    assert min(ours for _, ours in runs) < 2.5 * min(bare for bare, _ in runs)


def test_telling_the_version_loads_nothing_that_is_not_needed():
    code = "import sys; from redraft.cli import main; main(['--version']); print(sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert not any(f"'{name}'" in done.stdout for name in ("argparse", "re", "sqlite3", "dataclasses", "json"))


def test_every_command_takes_a_folder_and_answers_in_json(capsys: pytest.CaptureFixture[str]):
    for name in MODULES:
        assert main([*name.split(), "--help"]) == 0
        told = capsys.readouterr().out
        assert ("--folder F" in told, "--json" in told) == (True, True), name


@pytest.mark.covers("RD-cli-json")
@pytest.mark.slow
def test_json_answers_of_every_command_are_one_object(proposed: Program):
    for arguments in (["status"], ["turns"], ["show", "1"], ["diff"], ["trash", "list"], ["audit", "list"], ["gc"]):
        answer = json.loads(proposed.ok(*arguments, "--json"))
        assert isinstance(answer["notices"], list)


def test_after_two_dashes_everything_is_a_word(proposed: Program):
    proposed.write("-name.md", "a\n")
    proposed.write("--json", "a\n")
    assert proposed.ok("diff", "--", "-name.md", "--json") == "Nothing is pending.\n"
    assert proposed.run("diff", "--patch", "--json", "--", "-name.md").json["patch"] == ""
    assert proposed.run("diff", "-name.md").status == 2
