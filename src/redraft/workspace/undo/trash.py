"""The trash: deleted documents, kept in the history under the path they had, until it is cleaned up.

One that is brought back says what it said: what was typed into it and not saved is unsaved again, and what agents
proposed in it waits again. Only a proposal to delete or move it is decided.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from redraft.errors import Refused
from redraft.files.paths import DocPath
from redraft.files.secret_detection import is_secret_name, secret_error
from redraft.history.journal import Content, FilePlan
from redraft.history.turns import PERSON
from redraft.workspace.turns.decisions import update_proposals
from redraft.workspace.turns.plan import Plan
from redraft.workspace.undo.inverse import bytes_of

if TYPE_CHECKING:
    from collections.abc import Container

    from redraft.history.turns import Author, TurnRecord
    from redraft.workspace.document import Draft
    from redraft.workspace.engine import Engine

DELETED = """
    SELECT turns.id, file_steps.path, turns.created, turns.author_name, snapshots.size,
           file_steps.before, file_steps.mode
    FROM file_steps JOIN turns ON turns.id = file_steps.turn JOIN snapshots ON snapshots.id = file_steps.before
    WHERE file_steps.after IS NULL AND turns.state = 'applied' AND turns.kind != 'undo'
      AND NOT EXISTS (SELECT 1 FROM file_steps AS other
                      WHERE other.turn = file_steps.turn AND other.moved_from = file_steps.path)
      AND NOT EXISTS (SELECT 1 FROM turns AS back JOIN file_steps AS put ON put.turn = back.id
                      WHERE back.kind = 'untrash' AND back.state = 'applied' AND back.source = turns.id
                        AND put.moved_from = file_steps.path)
    ORDER BY turns.id DESC, file_steps.seq"""


@dataclass(frozen=True, slots=True)
class TrashedDocument:
    """A deleted document."""

    turn: int
    path: str
    deleted: float
    author: str
    size: int

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def list_trash(engine: Engine) -> list[TrashedDocument]:
    """What can be brought back, the latest first."""
    return [TrashedDocument(*row[:5]) for row in engine.database.rows(DELETED)]


def untrash(
    engine: Engine,
    path: str,
    *,
    turn: int | None = None,
    to: str | None = None,
    author: Author = PERSON,
    confirmed: Container[str] = (),
) -> TurnRecord:
    """Bring a deleted document back (the latest of that name, unless a turn is named), never over another one."""
    with engine.journal.lock():
        found = [row for row in engine.database.rows(DELETED) if row[1] == path and turn in (None, row[0])]
        if not found:
            raise Refused(f"{path} is not in the trash.", code="not_found", trash=path)
        source, _, _, _, _, snapshot, mode = found[0]
        target = engine.documents.path(to or path)
        if is_secret_name(path) and not is_secret_name(target) and path not in confirmed:
            raise secret_error(path)  # under that name everybody could read it
        if engine.documents.read_unmasked(target) is not None or engine.documents.is_occupied(target):
            raise Refused(f"{target} already exists.", code="already_exists", path=target)
        data = bytes_of(engine, snapshot) or b""
        plan = Plan([FilePlan(target, None, Content.of(data), mode, DocPath(path))])
        if (draft := _draft_in_trash(engine, source, path)) is not None:
            plan.put_draft(replace(draft, path=target, base_path=target, turn="").with_disk(data))
        title = f"Restore {path} from the trash"
        record = engine.commit(plan, author=author, kind="untrash", title=title, source=source)
        update_proposals(engine)
        return record


def _draft_in_trash(engine: Engine, turn: int, path: str) -> Draft | None:
    """What was typed and not saved, or proposed, when a turn deleted the document that lay here."""
    images = [step.before for step in engine.turns.get(turn).reviews if step.before is not None and step.after is None]
    drafts = map(engine.documents.from_image, images)
    return next((draft for draft in drafts if draft.base_path == path), None)
