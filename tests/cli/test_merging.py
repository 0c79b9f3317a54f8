"""`redraft merge`: byte for byte, with real merges of prose."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redraft.text.merge.three_way import merge

if TYPE_CHECKING:
    from tests.cli.running import Program


def real_merges(material: Path) -> list[dict[str, Any]]:
    with gzip.open(material / "real-merges" / "dev.jsonl.gz", "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def merged(program: Program, base: str, ours: str, theirs: str, *options: str):
    for name, text in (("base.md", base), ("ours.md", ours), ("theirs.md", theirs)):
        program.write(name, text)
    return program.bytes("merge", "base.md", "ours.md", "theirs.md", *options)


def test_every_merge_that_is_clean_gives_what_people_committed(material: Path):
    wrong: list[str] = []
    for case in real_merges(material):
        result = merge(case["base"], case["ours"], case["theirs"])
        if case["kind"] == "clean" and not (result.clean and result.text == case["human"]):
            wrong.append(case["path"])
    assert wrong == []


@pytest.mark.covers("RD-cli-merge")
def test_the_program_prints_what_people_committed(redraft: Program, material: Path):
    clean = [case for case in real_merges(material) if case["kind"] == "clean"]
    for case in sorted(clean, key=lambda case: len(case["base"]))[:3]:
        done = merged(redraft, case["base"], case["ours"], case["theirs"])
        assert (done.returncode, done.stdout.decode(), done.stderr) == (0, case["human"], b"")


def test_a_clean_merge_keeps_newlines_mark_and_missing_last_newline(redraft: Program):
    done = merged(redraft, "\ufeffone\r\ntwo\r\nthree", "\ufeffOne\r\ntwo\r\nthree", "\ufeffone\r\ntwo\r\nThree")
    assert (done.returncode, done.stdout) == (0, "\ufeffOne\r\ntwo\r\nThree".encode())


def test_newlines_and_mark_are_those_of_ours(redraft: Program):
    done = merged(redraft, "one\ntwo\nthree\n", "\ufeffOne\r\ntwo\r\nthree\r\n", "one\ntwo\nThree\n")
    assert (done.returncode, done.stdout) == (0, "\ufeffOne\r\ntwo\r\nThree\r\n".encode())


@pytest.mark.covers("RD-cli-merge")
def test_where_both_changed_the_same_words_the_text_is_marked_with_the_file_names(redraft: Program):
    done = merged(redraft, "a\nthe cat\nz\n", "a\nthe dog\nz\n", "a\nthe cow\nz\n")
    assert done.returncode == 1
    assert done.stdout.decode() == (
        "a\n<<<<<<< ours.md\nthe dog\n||||||| base.md\nthe cat\n=======\nthe cow\n>>>>>>> theirs.md\nz\n"
    )


def test_a_merge_as_json_says_whether_it_is_clean(redraft: Program):
    done = merged(redraft, "the cat\n", "the dog\n", "the cow\n", "--json")
    answer = json.loads(done.stdout)
    assert sorted(answer) == ["clean", "conflicts", "text"]
    assert (done.returncode, answer["clean"]) == (1, False)
    assert [sorted(conflict) for conflict in answer["conflicts"]] == [["base", "ours", "theirs"]]


@pytest.mark.parametrize("theirs", ["gone.md", ".", "latin.md", "picture.md"])
def test_what_cannot_be_read_as_text_gives_status_2_and_no_output(redraft: Program, theirs: str):
    (redraft.folder / "latin.md").write_bytes("caf\xe9\n".encode("latin-1"))
    (redraft.folder / "picture.md").write_bytes(b"\x89PNG\0\0")
    done = redraft.bytes("merge", "todo.md", "todo.md", theirs)
    assert (done.returncode, done.stdout) == (2, b"")
    assert theirs in done.stderr.decode()


def test_merge_needs_no_workspace_and_makes_none(redraft: Program):
    redraft.ok("merge", "todo.md", "todo.md", "todo.md")
    assert not (redraft.folder / ".redraft").exists()
    assert not Path(redraft.state_home).exists()


@pytest.mark.covers("RD-secrets-links")
def test_one_more_name_of_a_secret_is_read_by_no_command_that_needs_no_folder(redraft: Program):
    redraft.write(".env", "the password is hunter2\n")
    (redraft.folder / "sub").mkdir()
    os.link(redraft.folder / ".env", redraft.folder / "sub" / "hard.md")
    os.link(redraft.folder / "todo.md", redraft.folder / "twice.md")
    passage = ("--from", "0", "--to", "0", "--text", "x")
    for name in ("sub/hard.md", ".env"):
        for words in (
            ("merge", name, name, name),
            ("merge", "todo.md", "todo.md", name),
            ("rich", "positions", name),
            ("rich", "replace", name, *passage),
            ("rich", "replace", name, *passage, "--json"),
        ):
            done = redraft.run(*words)
            assert (done.status, "hunter2" in done.out + done.err) == (3, False), (words, done)
    assert "find the keys" in redraft.ok("merge", "twice.md", "todo.md", "twice.md")
