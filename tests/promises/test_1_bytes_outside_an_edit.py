"""Promise 1: bytes outside an edit never change. The ledger splices the file's bytes itself."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, Json, call, chance, rounds, run_tool, served

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from tests.promises.doors import Lines

pytestmark = pytest.mark.slow
BOM = b"\xef\xbb\xbf"
ENDS = ("\n", "\r\n", "\r")
KINDS = (
    "edit_text",
    "find_and_replace",
    "replace_lines",
    "propose_edits",
    "insert_lines",
    "delete_lines",
    "replaceText",
)
LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
WORDS = ("lamp", "Öl", "e\u0301", "漢字", "\U0001f600", "\U0001f469\u200d\U0001f33e", "tab\there", "\u00a0", "x  y")


def make_file(dice: random.Random) -> bytes:
    """A file as people and programs leave them: newlines of one kind or mixed, blanks at the ends, perhaps no last
    newline, perhaps a byte order mark. Every line has a word of its own (`q3q`), so that a passage can be quoted."""
    ends = dice.choice([("\n",), ("\r\n",), ("\r",), ENDS])
    lines: list[str] = []
    for number in range(dice.randint(1, 9)):
        lines.append(f"{dice.choice(WORDS)} q{number}q {dice.choice(WORDS)}{dice.choice(['', ' ', '  ', chr(9)])}")
        lines += [dice.choice(["", "  "])] * dice.choice([0, 0, 1])
    text = "".join(line + dice.choice(ends) for line in lines)
    if dice.random() < 0.4:
        text = text.rstrip("\r\n")
    return (BOM if dice.random() < 0.3 else b"") + text.encode()


class Expected:
    """What may be found after an edit: all that stood before and behind it, and one of these between."""

    def __init__(self, before: bytes, allowed: set[bytes], behind: bytes) -> None:
        self.before, self.allowed, self.behind = before, allowed, behind

    def judge(self, found: bytes) -> None:
        assert len(found) >= len(self.before) + len(self.behind), found
        assert found.startswith(self.before), (found, self.before)
        assert found.endswith(self.behind), (found, self.behind)
        between = found[len(self.before) : len(found) - len(self.behind)]
        assert between in self.allowed, (between, self.allowed)


def plan(dice: random.Random, name: str, file: bytes, version: str, shown: str) -> tuple[str, Json, Expected]:
    """A random edit, and what the file must be afterwards; `shown` is the plain text of a rich document."""
    mark = BOM if file.startswith(BOM) else b""
    body = file[len(mark) :]
    lines = LINE.findall(body)
    kind = dice.choice(KINDS if shown else KINDS[:-1])
    number = dice.randrange(len(lines))
    at = len(mark) + sum(map(len, lines[:number]))
    new = dice.choice(["NEW", "N\U0001f600W", "a b  c", "NEW  "])
    if kind in ("edit_text", "find_and_replace"):
        word = dice.choice(re.findall(rb"q\d+q", body))
        place = file.index(word)
        expected = Expected(file[:place], {new.encode()}, file[place + len(word) :])
        if kind == "edit_text":
            return kind, {"path": name, "version": version, "old_text": word.decode(), "new_text": new}, expected
        return kind, {"path": name, "version": version, "find": word.decode(), "replace": new}, expected
    if kind == "replaceText":
        word = dice.choice(re.findall(rb"q\d+q", body))
        place, start = file.index(word), shown.index(word.decode())
        arguments = {"from": start, "to": start + len(word), "newText": "NEW", "expected": word.decode()}
        expected = Expected(file[:place], {b"NEW"}, file[place + len(word) :])
        return kind, {"path": name, "version": version, **arguments}, expected
    line = lines[number]
    bare = line.rstrip(b"\r\n")
    end = line[len(bare) :]
    behind = file[at + len(line) :]
    if kind == "replace_lines":
        arguments = {"start_line": number, "end_line": number, "content": new}
        expected = Expected(file[:at], {new.encode()}, end + behind)
    elif kind == "propose_edits":
        edit = {"file_path": name, "operation": "replace", "start_line": number + 1, "end_line": number + 1}
        return kind, {"edits": [{**edit, "new_text": new}]}, Expected(file[:at], {new.encode()}, end + behind)
    elif kind == "delete_lines":
        arguments = {"start_line": number, "end_line": number}
        # Of the last line without a newline, the one before it may go, or stay.
        previous = lines[number - 1] if number and not end else b""
        gone = previous[len(previous.rstrip(b"\r\n")) :]
        expected = Expected(file[: at - len(gone)], {b"", gone}, behind)
    else:
        arguments = {"after_line": number, "content": new}
        breaks = [each.encode() for each in ENDS]
        allowed = {new.encode() + each for each in breaks} if end else {each + new.encode() for each in breaks}
        expected = Expected(file[: at + len(line)], allowed, behind)
    return kind, {"path": name, "version": version, **arguments}, expected


def perform(folder: Folder, agent: Lines, door: str, name: str, kind: str, arguments: Json) -> tuple[bool, Json]:
    """The edit, through one door, until it is on the disk."""
    if door == "mcp":
        return call(agent, kind, **arguments)
    if door == "program":
        return run_tool(folder.path, kind, arguments)
    if door == "review":
        done, answer = folder.tool(kind, "propose", **arguments)
        if done and answer["state"] == "proposed":
            assert folder.decide("accept", name, None)[0]
        return done, answer
    return folder.tool(kind, **arguments)


@pytest.mark.covers("P1")
def test_bytes_outside_an_edit_never_change_whichever_door_it_comes_through(tmp_path: Path):
    made = 0
    with served(tmp_path) as folder:
        agent = folder.agent("editor")
        for seed in rounds(40, 10_000):
            dice = chance("bytes", seed)
            name = f"{seed}.{dice.choice(['md', 'txt'])}"
            file = make_file(dice)
            folder.put(name, file)
            for _ in range(3):
                door = "program" if dice.random() < 0.02 else dice.choice(["http", "mcp", "review", "typing"])
                if not re.search(rb"q\d+q", file):
                    break
                told = f"seed {seed} by {door}: {file!r}"
                if door == "typing":
                    text, version = folder.text(name)
                    assert text.encode() == file.removeprefix(BOM), told
                    at = dice.choice([at for at in range(len(text) + 1) if text[at - 1 : at + 1] != "\r\n"])
                    assert folder.type(name, at, "", "42", version), told
                    assert folder.bytes_of(name) == file, told
                    folder.save(name)
                    place = len(file) - len(text[at:].encode())
                    Expected(file[:place], {b"42"}, file[place:]).judge(folder.bytes_of(name))
                else:
                    shown = folder.tool("getEditorText", path=name)[1]["text"] if name.endswith(".md") else ""
                    kind, arguments, expected = plan(dice, name, file, folder.text(name)[1], shown)
                    done, answer = perform(folder, agent, door, name, kind, arguments)
                    told += f" {kind} {json.dumps(arguments)} -> {answer}"
                    assert answer.get("success", True), told
                    if not done:
                        assert answer["error"] == "version_mismatch", told
                        expected = Expected(file, {b""}, b"")
                    try:
                        expected.judge(folder.bytes_of(name))
                    except AssertionError as error:
                        raise AssertionError(told) from error
                made += folder.bytes_of(name) != file
                file = folder.bytes_of(name)
        assert agent.close() == ""
    assert made > 50
