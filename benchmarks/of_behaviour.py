"""What each server does where it is easy to do harm: every cell of the table is found by doing it.

Ours must be right in all (`tests/mcp/test_peers_behaviour.py` holds that without the peers); theirs is told as found.
"""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.measure import Note
from benchmarks.peers import Change, Redraft, reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.client import Answer
    from benchmarks.measure import Line
    from benchmarks.peers import Server

RACE_SECONDS = 4.0
SECRET = "a-token-that-nobody-may-see"
TWO = Change(1, "two", "TWO")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a server did; `right` is None where it has no call that could do the thing at all."""

    right: bool | None
    told: str


def crlf(server: Server) -> Finding:
    """A line in a file with Windows' line ends is changed."""
    path = _put(server, "crlf.md", b"one\r\ntwo\r\nthree\r\n")
    server.read(path.name)
    server.edit(path.name, TWO)
    left = path.read_bytes()
    if left == b"one\r\nTWO\r\nthree\r\n":
        return Finding(True, "the other bytes are kept")
    return Finding(False, "every line end of the file changed" if b"\r" not in left else f"left {left!r}")


def ambiguous(server: Server) -> Finding:
    """The passage to replace stands twice."""
    before = b"same\nmiddle\nsame\n"
    path = _put(server, "ambiguous.md", before)
    server.read(path.name)
    answer = server.edit(path.name, Change(2, "same", "changed"))
    left = path.read_bytes()
    if left == before:
        return Finding(answer.failed, "refused" if answer.failed else "said done, and did nothing")
    if left == b"same\nmiddle\nchanged\n":
        return Finding(None, "it names lines by number and hash, never by their text")
    return Finding(False, "changed the first, without a word")


def stale_edit(server: Server) -> Finding:
    """Something else changed another line between the read and the edit."""
    path = _put(server, "stale.md", b"one\ntwo\nthree\n")
    server.read(path.name)
    path.write_bytes(b"one\ntwo\nthree, by a person\n")
    answer = server.edit(path.name, TWO)
    return _after_staleness(answer, path.read_bytes())


def stale_write(server: Server) -> Finding:
    """The same, and then the whole document is written."""
    path = _put(server, "stale-write.md", b"one\ntwo\nthree\n")
    server.read(path.name)
    path.write_bytes(b"one\ntwo\nthree, by a person\n")
    answer = server.write(path.name, "one\nTWO\nthree\n")
    return _after_staleness(answer, path.read_bytes())


def _after_staleness(answer: Answer, left: bytes) -> Finding:
    if b"by a person" not in left:
        return Finding(False, "the other change is lost")
    if b"TWO" in left:
        return Finding(False, "written without notice; the other change stays")
    return Finding(answer.failed, "refused" if answer.failed else "said done, and did nothing")


def half_bad_batch(server: Server) -> Finding:
    """Two edits of one file in one call, and the second has no target."""
    path = _put(server, "batch.md", b"one\ntwo\nthree\n")
    server.read(path.name)
    answer = server.edit_both((path.name, TWO), (path.name, Change(2, "not there", "never")))
    return _after_batch(answer, [path])


def half_bad_batch_of_two(server: Server) -> Finding:
    """The same, over two files."""
    paths = [_put(server, name, b"one\ntwo\nthree\n") for name in ("first.md", "second.md")]
    for path in paths:
        server.read(path.name)
    answer = server.edit_both(("first.md", TWO), ("second.md", Change(2, "not there", "never")))
    return _after_batch(answer, paths)


def _after_batch(answer: Answer | None, paths: list[Path]) -> Finding:
    if answer is None:
        return Finding(None, "one file a call")
    if any(b"TWO" in path.read_bytes() for path in paths):
        return Finding(False, "half of it is written")
    return Finding(answer.failed, "refused whole" if answer.failed else "said done, and did nothing")


def latin_1(server: Server) -> Finding:
    """A file that is not UTF-8: a line without the foreign byte is changed."""
    path = _put(server, "latin.md", b"caf\xe9\ntwo\n")
    server.read(path.name)
    answer = server.edit(path.name, TWO)
    left = path.read_bytes()
    if left == b"caf\xe9\nTWO\n":
        return Finding(True, "the byte is kept")
    if left == b"caf\xe9\ntwo\n":
        return Finding(answer.failed, "refused" if answer.failed else "said done, and did nothing")
    return Finding(False, "the byte is destroyed")


def secret(server: Server) -> Finding:
    """`.env` is read."""
    path = _put(server, ".env", f"TOKEN={SECRET}\n".encode())
    seen = SECRET in server.read(path.name).text or SECRET in server.window(path.name, 0, 1).text
    return Finding(not seen, "handed to the model" if seen else "refused")


def swapped_link(server: Server) -> Finding:
    """While a document is read over and over, its name changes to a link that leads out of the folder, and back."""
    return _race(server, "swapped.md", _swap_file)


def swapped_folder(server: Server) -> Finding:
    """The same with the folder that the document lies in."""
    return _race(server, "swapped/note.md", _swap_folder)


def _race(server: Server, name: str, swap: Callable[[Path, Path], None]) -> Finding:
    outside = server.folder.parent / f"{server.folder.name}-outside"
    outside.mkdir(exist_ok=True)
    (outside / "note.md").write_text(f"{SECRET}\n", encoding="utf-8")
    path = server.folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("harmless\n", encoding="utf-8")
    stop = threading.Event()

    def swapping() -> None:
        while not stop.is_set():
            swap(path, outside)

    thread = threading.Thread(target=swapping)
    thread.start()
    reads = served = leaks = 0
    try:
        end = time.monotonic() + RACE_SECONDS
        while time.monotonic() < end:
            text = server.read(name).text
            reads += 1
            served += "harmless" in text
            leaks += SECRET in text
    finally:
        stop.set()
        thread.join()
    return Finding(served > 0 and not leaks, f"of {reads} reads {leaks} got out, {served} gave the document")


def _swap_file(path: Path, outside: Path) -> None:
    """Each step is atomic: there is no moment without the name."""
    aside = path.with_name("aside")
    aside.symlink_to(outside / "note.md")
    os.replace(aside, path)
    aside.write_text("harmless\n", encoding="utf-8")
    os.replace(aside, path)


def _swap_folder(path: Path, outside: Path) -> None:
    folder, aside = path.parent, path.parent.with_name("aside")
    folder.rename(aside)
    folder.symlink_to(outside)
    folder.unlink()
    aside.rename(folder)


ROWS: dict[str, Callable[[Server], Finding]] = {
    "an edit in a CRLF file": crlf,
    "a passage that stands twice": ambiguous,
    "an edit of a stale file": stale_edit,
    "a whole write over a stale file": stale_write,
    "a half-bad batch, one file": half_bad_batch,
    "a half-bad batch, two files": half_bad_batch_of_two,
    "an edit beside a Latin-1 byte": latin_1,
    "`.env` is read": secret,
    "a link swapped during reads": swapped_link,
    "a folder swapped during reads": swapped_folder,
}


def results(folder: Path) -> Iterator[Line]:
    kinds, missing = reachable()
    for name, reason in missing.items():
        yield Note(f"     {name} is left out: {reason}")
    servers: list[Server] = []
    try:
        for kind in kinds:
            home = folder / kind.name
            home.mkdir()
            servers.append(kind(home))
        for what, act in ROWS.items():
            yield from _row(what, act, servers)
    finally:
        for server in servers:
            server.close()


def _row(what: str, act: Callable[[Server], Finding], servers: list[Server]) -> Iterator[Note]:
    yield Note(f"\n     {what}")
    for server in servers:
        found = act(server)
        good = bool(found.right) or not isinstance(server, Redraft)
        yield Note(f"{'   ' if good else 'BAD'}    {server.name:<20} {found.told}", good)


def _put(server: Server, name: str, data: bytes) -> Path:
    path = server.folder / name
    path.write_bytes(data)
    return path
