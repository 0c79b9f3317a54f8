"""Bytes outside an edit never change, and what is not UTF-8 text is never altered."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.errors import Refused
from redraft.text.edits import Change, Edit
from tests.conftest import TORTURE
from tests.workspace.folder import (
    AGENT,
    PERSON,
    agent_writes,
    fresh_folder,
    hunks,
    person_writes,
    type_at_end,
    type_over,
    working,
)

if TYPE_CHECKING:
    from pathlib import Path

    from redraft.workspace.workspace import Workspace
    from tests.workspace.folder import Folder

LATIN_1 = "caf\xe9 cr\xe8me\r\n".encode("latin-1")
ON_DISK = settings(max_examples=1000 if TORTURE else 40)

PIECES = st.sampled_from(
    [
        "\n",
        "\r\n",
        "\r",
        "\n\n",
        " ",
        "\t",
        "  \n",
        "word",
        "Ünï",
        "日本",
        "𝄞",
        "e\u0301",
        "\ufeff",
        "\u2028",
        "\x0b",
        "- ",
    ]
)
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> Change:
    """A few edits that do not meet."""
    points = sorted(draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=6, unique=True))) if text else [0, 0]
    return Change(
        tuple(Edit(start, text[start:end], draw(TEXTS)) for start, end in zip(points[::2], points[1::2], strict=False))
    )


def expected_bytes(data: bytes, change: Change) -> bytes:
    """The naive twin: cut the bytes themselves at the edits' places."""
    body = data.removeprefix(b"\xef\xbb\xbf").decode()
    pieces: list[bytes] = [data[: len(data) - len(body.encode())]]
    at = 0
    for edit in change.edits:
        pieces += [body[at : edit.at].encode(), edit.new.encode()]
        at = edit.end
    return b"".join([*pieces, body[at:].encode()])


@given(st.booleans(), TEXTS, st.data())
@ON_DISK
@pytest.mark.slow
@pytest.mark.covers("P1", "RD-files-newlines", "SB-enc-lf-crlf")
def test_bytes_outside_the_edits_never_change(bom: bool, text: str, data: st.DataObject) -> None:
    content = b"\xef\xbb\xbf" * bom + text.encode()
    with fresh_folder() as folder:
        folder.put("a.md", content)
        workspace = folder.open()
        document = workspace.read("a.md")
        change = data.draw(edits_of(str(document.text)))
        wanted = expected_bytes(content, change)
        with workspace.turn(AGENT, "Edit", mode="apply") as turn:
            staged = turn.edit("a.md", change, document.version)
        assert folder.bytes("a.md") == wanted
        assert workspace.read("a.md").version == staged.version
        assert folder.open().read("a.md").version == staged.version
        if turn.outcome is not None and turn.outcome.turn is not None:
            assert workspace.undo().conflicts == []
        assert folder.bytes("a.md") == content
        assert workspace.read("a.md").version == document.version


@given(st.booleans(), TEXTS, st.data())
@ON_DISK
@pytest.mark.slow
@pytest.mark.covers("P1")
def test_accepting_and_rejecting_change_no_byte_outside_their_hunks(bom: bool, text: str, data: st.DataObject) -> None:
    content = b"\xef\xbb\xbf" * bom + text.encode()
    with fresh_folder() as folder:
        folder.put("a.md", content)
        workspace = folder.open()
        change = data.draw(edits_of(str(workspace.read("a.md").text)))
        with workspace.turn(AGENT, "Edit") as turn:
            turn.edit("a.md", change, turn.read("a.md").version)
        assert folder.bytes("a.md") == content
        decision = data.draw(st.sampled_from(["accept", "reject", "one by one"]))
        if decision == "one by one":
            while workspace.draft("a.md") is not None:
                workspace.accept({"a.md": [data.draw(st.sampled_from(hunks(workspace, "a.md"))).id]})
        elif workspace.draft("a.md") is not None:
            (workspace.accept if decision == "accept" else workspace.reject)({"a.md": None})
        assert folder.bytes("a.md") == (content if decision == "reject" else expected_bytes(content, change))


def ways_to_write(workspace: Workspace, old: str, new: str) -> None:
    """Every way by which a change of one word reaches the disk, one after the other, there and back."""

    def turned(text: str, *, back: bool) -> str:
        return text.replace(new, old) if back else text.replace(old, new)

    for number, back in enumerate([False, True] * 3):
        text = turned(working(workspace, "a.md"), back=back)
        if number < 2:
            person_writes(workspace, {"a.md": text})
        elif number < 4:
            agent_writes(workspace, {"a.md": text})
            workspace.accept({"a.md": None})
        else:
            type_over(workspace, "a.md", *((new, old) if back else (old, new)))
            workspace.save("a.md")


@pytest.mark.covers("P1", "RD-files-newlines", "RD-files-encodings")
@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfmarker here\r\nand more\r\n",
        b"marker here\rold mac\r",
        b"mixed\r\nmarker here\nends\rall\r\n\r",
        b"no final newline, marker here",
        b"trailing blanks   \nmarker here\t \n   \n",
        "\u2028marker here\u0085\x0c\n".encode(),
        b"marker here\n\n\n\n",
    ],
)
def test_every_way_to_write_keeps_the_rest_as_it_was(folder: Folder, content: bytes) -> None:
    folder.put("a.md", content)
    workspace = folder.open()
    with workspace.turn(PERSON, "Once") as turn:
        turn.write("a.md", str(turn.read("a.md").text).replace("marker", "tracer"), turn.read("a.md").version)
    assert folder.bytes("a.md") == content.replace(b"marker", b"tracer")
    workspace.undo()
    ways_to_write(workspace, "marker", "tracer")
    assert folder.bytes("a.md") == content


@pytest.mark.covers("P1", "RD-files-encodings")
@pytest.mark.slow
def test_a_real_book_with_bom_and_crlf_keeps_every_other_byte(folder: Folder, material: Path) -> None:
    content = (material / "encodings" / "alice-11-0.bom-crlf.txt").read_bytes()
    folder.put("a.md", content)
    workspace = folder.open()
    document = workspace.read("a.md")
    assert (document.bom, document.newline) == (True, "crlf")
    text = str(document.text)
    spot = text.index("Alice", len(text) // 2)
    with workspace.turn(AGENT, "Rename", mode="apply") as turn:
        turn.edit("a.md", [Edit(spot, "Alice", "Zelda")], document.version)
    at = 3 + len(text[:spot].encode())
    assert folder.bytes("a.md") == content[:at] + b"Zelda" + content[at + 5 :]
    workspace.undo()
    assert folder.bytes("a.md") == content


@pytest.mark.covers("RD-files-encodings", "SB-enc-utf8", "SB-rule-write-utf8")
def test_a_real_book_in_latin_1_is_refused_and_untouched(folder: Folder, material: Path) -> None:
    content = (material / "encodings" / "christmas-carol-46-8.latin1-crlf.txt").read_bytes()
    folder.put("a.md", content)
    check_untouchable(folder, content)


@pytest.mark.covers("TK-binary-write", "SB-enc-binary")
@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n\x00\x00", LATIN_1, "text".encode("utf-16"), b"a\x00b", b"\xed\xa0\x80", b"\xff"]
)
def test_what_is_no_utf8_text_is_refused_and_untouched(folder: Folder, content: bytes) -> None:
    folder.put("a.md", content)
    check_untouchable(folder, content)


def check_untouchable(folder: Folder, content: bytes) -> None:
    workspace = folder.open()
    for author in (AGENT, PERSON):
        turn = workspace.turn(author, "Try", mode="apply", confirm=lambda _what, _paths: True)
        for act in (
            lambda: workspace.read("a.md", author=author),  # noqa: B023
            lambda: turn.read("a.md"),  # noqa: B023
            lambda: turn.write("a.md", "x", "0" * 16),  # noqa: B023
            lambda: turn.edit("a.md", [Edit(0, "", "x")], "0" * 16),  # noqa: B023
            lambda: turn.delete("a.md", "0" * 16),  # noqa: B023
            lambda: turn.move("a.md", "b.md", "0" * 16),  # noqa: B023
            lambda: workspace.type("a.md", Change((Edit(0, "", "x"),))),
            lambda: workspace.open_tab("a.md"),
        ):
            with pytest.raises(Refused) as refused:
                act()
            assert refused.value.code == "unsupported_file_type"
            assert refused.value.advice
        turn.commit()
    assert folder.tree() == {"a.md": content}


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755, 0o444 | 0o200])
def test_mode_bits_stay_through_every_way_to_write(folder: Folder, mode: int) -> None:
    folder.put("a.md", "marker here\n")
    (folder.path / "a.md").chmod(mode)
    workspace = folder.open()
    ways_to_write(workspace, "marker", "tracer")
    with workspace.turn(PERSON, "Away") as turn:
        turn.move("a.md", "b.md", turn.read("a.md").version)
    assert stat.S_IMODE((folder.path / "b.md").stat().st_mode) == mode
    with workspace.turn(PERSON, "Gone") as turn:
        turn.delete("b.md", turn.read("b.md").version)
    workspace.untrash("b.md")
    assert stat.S_IMODE((folder.path / "b.md").stat().st_mode) == mode


@pytest.mark.parametrize("way", ["save", "accept", "undo"])
def test_a_mode_changed_outside_during_the_work_is_not_changed_back(folder: Folder, way: str) -> None:
    folder.put("a.md", "diary\n\nmore\n")
    (folder.path / "a.md").chmod(0o644)
    workspace = folder.open()
    if way == "save":
        type_at_end(workspace, "a.md", "typed\n")
    elif way == "accept":
        agent_writes(workspace, {"a.md": "diary\n\nMORE\n"})
    else:
        person_writes(workspace, {"a.md": "diary\n\nMORE\n"})
    (folder.path / "a.md").chmod(0o600)
    if way == "save":
        workspace.save("a.md")
    elif way == "accept":
        workspace.accept({"a.md": None})
    else:
        workspace.undo()
    assert stat.S_IMODE((folder.path / "a.md").stat().st_mode) == 0o600
