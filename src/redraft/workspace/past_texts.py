"""What documents said before: the text of a version, the list of revisions, and which turn wrote each line.

The text of a version: a token is the beginning of the hash under which a text is stored, so finding it is one lookup in
an index; unsaved typing is played back. Texts that were only read and were never part of a turn are not stored, and a
document with a byte order mark has tokens of another kind: for those there is no answer, which callers have to handle
anyway.

Blame: `blame_lines` is pure and follows the lines through a list of texts. `revisions` reads that list from the
history, as far back as it goes and along the document's moves. A line that is older than the history, or unsaved, has
no author; one that another program wrote belongs to the turn that recorded it. What an agent proposed and a person
accepted is the agent's; what was undone belongs to the turn that undid it.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from redraft.errors import Damaged, RedraftError
from redraft.files.secret_detection import check_name_not_secret, is_secret_name, secret_error
from redraft.files.textfile import decode
from redraft.history.reviews import ReviewImage
from redraft.history.turns import State
from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change
from redraft.text.text import Text
from redraft.workspace.document import VERSION_DIGITS, Document, version_of
from redraft.workspace.secret_gate import Lineage, check_not_secret
from redraft.workspace.undo.rollback import turn_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from redraft.history.turns import FileStep, TurnRecord
    from redraft.workspace.engine import Engine

HASH_DIGITS = 64
# A document with a longer history is followed through its latest turns; what is older is nobody's.
MAX_TURNS = 500
PAGE = 50

# The text of a version


def text_of_version(engine: Engine, path: str, version: str) -> Text | None:
    """The text that `path` had at that version, or None. A text that contains keys is refused."""
    text = _read_stored_text(engine, path, version) or _read_typed_text(engine, path, version)
    if text is not None:
        check_past(engine, path, version, text)
    return text


def check_past(engine: Engine, path: str, version: str, text: Text) -> None:
    """Refuse what a document said at that version if it contains keys or the document got a secret's name since."""
    check_name_not_secret(path)
    check_not_secret(Document(path, text))
    if Lineage(engine, 0, [path]).secret_name(path) is not None and _is_secret_since(engine, path, version):
        raise secret_error(path)


def _read_typed_text(engine: Engine, path: str, version: str) -> Text | None:
    """The same, for the versions that the document had while somebody typed what is still unsaved."""
    row = engine.reviews.get(path)
    if row is None:
        return None
    try:
        image = ReviewImage.from_json(row)
        text = Text(engine.store.get(bytes.fromhex(image.working)).decode())
        for _, change in engine.reviews.read_typing(path):
            if version_of(text, bom=image.bom) == version:
                return text
            text = Change.from_json(json.loads(change)).apply_to(text)
    except RedraftError:  # damaged, or written over by another process meanwhile
        return None
    return None


def _read_stored_text(engine: Engine, path: str, version: str) -> Text | None:
    row = _snapshot_of(engine, version)
    if row is None or not _is_in_history(engine, path, row[0]):
        return None
    try:
        text = Text(decode(engine.store.get(row[0])).text)
    except Damaged:
        return None
    return text if version_of(text) == version else None


def _snapshot_of(engine: Engine, version: str) -> tuple[bytes] | None:
    if len(version) != VERSION_DIGITS or set(version) - set("0123456789abcdef"):
        return None
    low, high = (bytes.fromhex(version.ljust(HASH_DIGITS, digit)) for digit in "0f")
    return engine.database.row("SELECT id FROM snapshots WHERE id BETWEEN ? AND ? LIMIT 1", (low, high))


def _is_secret_since(engine: Engine, path: str, version: str) -> bool:
    """Whether the document got a secret's name after it said this; at any time, if no turn wrote it."""
    found = _snapshot_of(engine, version)
    if found is None:
        return True
    snapshot = found[0]
    name = snapshot.hex()
    query = (
        "SELECT max(turn) FROM (SELECT turn FROM file_steps WHERE path = ? AND (before = ? OR after = ?) UNION ALL"
        " SELECT turn FROM review_steps WHERE path = ? AND (instr(before, ?) OR instr(after, ?)))"
    )
    row = engine.database.row(query, (path, snapshot, snapshot, path, name, name))
    turn = 0 if row is None or row[0] is None else row[0]
    return Lineage(engine, turn, [path]).secret_name(path) is not None


def _is_in_history(engine: Engine, path: str, snapshot: bytes) -> bool:
    """Whether the history has this text under this path: a token must not give access to other documents."""
    name = snapshot.hex()
    queries: tuple[tuple[str, tuple[object, ...]], ...] = (
        ("SELECT 1 FROM file_steps WHERE path = ? AND (before = ? OR after = ?)", (path, snapshot, snapshot)),
        ("SELECT 1 FROM reviews WHERE path = ? AND instr(image, ?)", (path, name)),
        ("SELECT 1 FROM review_steps WHERE path = ? AND (instr(before, ?) OR instr(after, ?))", (path, name, name)),
    )
    return any(engine.database.row(f"{query} LIMIT 1", values) is not None for query, values in queries)


# Revisions and blame


class Revision(NamedTuple):
    """What a document said, and the turn that wrote it; None if no turn did."""

    turn: int | None
    text: str


class BlamedLines(NamedTuple):
    """Consecutive lines that come from one turn. `start` counts from 0."""

    turn: int | None
    start: int
    lines: int


def blame_lines(revisions: Iterable[Revision]) -> list[int | None]:
    """For each line of the last text, the turn that last changed it."""
    before, owners = "", list[int | None]()
    for turn, text in revisions:
        kept, at = list[int | None](), 0
        for region in diff_lines(before, text):
            kept += owners[at : region.old_start]
            kept += [turn] * (region.new_end - region.new_start)
            at = region.old_end
        before, owners = text, kept + owners[at:]
    return owners


def group_blamed_lines(owners: list[int | None]) -> list[BlamedLines]:
    found = list[BlamedLines]()
    for at, turn in enumerate(owners):
        if found and found[-1].turn == turn:
            found[-1] = found[-1]._replace(lines=found[-1].lines + 1)
        else:
            found.append(BlamedLines(turn, at, 1))
    return found


def revisions(engine: Engine, path: str, text: str) -> list[Revision]:
    """The texts of a document in order, ending with `text`, its current one."""
    found = [Revision(None, text)]
    for turn, step in islice(_find_writing_turns(engine, path), MAX_TURNS):
        old, new = next((old, new) for name, old, new in turn_texts(engine, turn) if name == step.path)
        found += [Revision(_origin(turn), new), Revision(None, old)]
    return found[::-1]


def _find_writing_turns(engine: Engine, path: str) -> Iterator[tuple[TurnRecord, FileStep]]:
    """The turns that wrote a document, newest first, back to the one that created it."""
    where, before = path, None
    while page := engine.turns.recent(limit=PAGE, path=where, before=before):
        for turn in page:
            before = turn.id
            step = next((step for step in turn.files if step.path == where), None)
            if step is None or turn.state not in (State.APPLIED, State.UNDONE):
                continue  # it was only proposed, or nothing came of it
            if turn.pruned or step.after is None:
                return  # what had the name before was deleted, or is too long ago
            yield turn, step
            if step.before is None and step.moved_from is None:
                return
            if step.moved_from is not None and is_secret_name(step.moved_from):
                return  # what it said under a secret's name stays there
            if step.moved_from is not None:
                where = step.moved_from
                break


def _origin(turn: TurnRecord) -> int:
    return turn.source if turn.kind == "accept" and turn.source is not None else turn.id


def blame(engine: Engine, path: str, text: str) -> list[BlamedLines]:
    """Who wrote each line of a document that now says `text`."""
    return group_blamed_lines(blame_lines(revisions(engine, path, text)))
