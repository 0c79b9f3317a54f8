"""Empty folders, made at once. A document's folders are made with it; this is for a folder that is wanted before.

It is no turn: the history knows documents and not folders. It leaves a line in the audit log, and can be taken back as
long as nothing was put into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.errors import Forbidden, Refused
from redraft.files.paths import check_agent_write
from redraft.workspace.documents import check_name_not_secret
from redraft.workspace.modes import Verdict, Writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.files.paths import DocPath
    from redraft.history.turns import Author
    from redraft.workspace.engine import Engine
    from redraft.workspace.modes import Mode


def make_folder(engine: Engine, raw: str, *, author: Author, mode: Mode) -> tuple[DocPath, ...]:
    """Make a folder and those above it; gives what had to be made, outermost first. In a mode that waits for the
    person's decision nothing is made: the folder comes with the first document in it."""
    path = engine.documents.path(raw)
    if author.is_agent:
        check_agent_write(path)
        check_name_not_secret(path)
        if mode.verdict("create", path) is Verdict.DENY:
            raise Forbidden(f"The mode {mode.name!r} does not allow to create {path}.", code="mode_refuses", path=path)
    if engine.root.exists(path) and not engine.root.is_folder(path):
        raise Refused(f"{path} is a document.", code="already_exists", path=path)
    if author.is_agent and mode.writes is Writes.ON_ACCEPT:
        return ()
    with engine.journal.locked():
        made = engine.root.make_folder(path)
        with engine.database.transaction(durable=False):
            engine.audit.add(engine.clock(), author, "make_folder", {"path": path}, "applied")
    return made


def unmake_folders(engine: Engine, made: Sequence[DocPath]) -> None:
    """Take back what `make_folder` made: the innermost first, and only while they are empty."""
    with engine.journal.locked():
        engine.root.remove_empty_folders(made)
