"""The text that a version token was issued for, where the history still has it.

A token is the beginning of the hash under which a text is stored, so finding it is one look into an index. Texts that
were only read and never part of a turn are not kept, and a document with a byte order mark has tokens of another kind:
for those there is no answer, which callers must be ready for anyway.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.errors import Damaged
from redraft.files.textfile import decode
from redraft.text.text import Text
from redraft.workspace.document import VERSION_DIGITS, Document, version_of
from redraft.workspace.documents import check_not_secret

if TYPE_CHECKING:
    from redraft.workspace.engine import Engine

HASH_DIGITS = 64


def text_of_version(engine: Engine, path: str, version: str) -> Text | None:
    """The text that `path` had at that version, or None. A text that holds keys is refused."""
    if len(version) != VERSION_DIGITS or set(version) - set("0123456789abcdef"):
        return None
    low, high = (bytes.fromhex(version.ljust(HASH_DIGITS, digit)) for digit in "0f")
    row = engine.database.row("SELECT id FROM snapshots WHERE id BETWEEN ? AND ? LIMIT 1", (low, high))
    if row is None or not _was_here(engine, path, row[0]):
        return None
    try:
        text = Text(decode(engine.store.get(row[0])).text)
    except Damaged:
        return None
    check_not_secret(Document(path, text))
    return text if version_of(text) == version else None


def _was_here(engine: Engine, path: str, snapshot: bytes) -> bool:
    """Whether the history has this text under this path: a token gives no key to other documents."""
    name = snapshot.hex()
    queries: tuple[tuple[str, tuple[object, ...]], ...] = (
        ("SELECT 1 FROM file_steps WHERE path = ? AND (before = ? OR after = ?)", (path, snapshot, snapshot)),
        ("SELECT 1 FROM reviews WHERE path = ? AND instr(image, ?)", (path, name)),
        ("SELECT 1 FROM review_steps WHERE path = ? AND (instr(before, ?) OR instr(after, ?))", (path, name, name)),
    )
    return any(engine.database.row(f"{query} LIMIT 1", values) is not None for query, values in queries)
