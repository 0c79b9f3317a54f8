"""Empty folders, made at once. A document's folders are made with it; this is for a folder that is wanted before.

It is no turn: the history knows documents and not folders. It leaves a line in the audit log, and can be taken back as
long as nothing was put into it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.errors import ConfirmationRequired, Forbidden, Refused
from redraft.files.paths import check_agent_write
from redraft.history.journal import AuditLine
from redraft.workspace.documents import check_name_not_secret
from redraft.workspace.modes import Verdict, Writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.files.paths import DocPath
    from redraft.history.turns import Author
    from redraft.workspace.engine import Engine
    from redraft.workspace.modes import Mode
    from redraft.workspace.turn import Confirm


def make_folder(
    engine: Engine,
    raw: str,
    *,
    author: Author,
    mode: Mode,
    confirm: Confirm | None = None,
    called: AuditLine | None = None,
) -> tuple[DocPath, ...]:
    """Make a folder and those above it; gives what had to be made, outermost first. In a mode that waits for the
    person's decision nothing is made: the folder comes with the first document in it. What was made is in the audit
    log, by the call that it came from."""
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
    if author.is_agent and not engine.root.is_folder(path) and mode.verdict("create", path) is Verdict.ASK:
        what = f"create {path}"
        if confirm is None or not confirm(what, [path]):
            raise ConfirmationRequired(f"A person has to agree first: {what}.", action=what, paths=[path])
    line = called or AuditLine("make_folder", {"path": path})
    with engine.journal.locked():
        made = engine.root.make_folder(path)
        if made:
            with engine.database.transaction(durable=False):
                engine.audit.add(engine.clock(), author, line.tool, line.arguments, "applied")
    return made


def unmake_folders(engine: Engine, made: Sequence[DocPath]) -> None:
    """Take back what `make_folder` made: the innermost first, and only while they are empty."""
    with engine.journal.locked():
        engine.root.remove_empty_folders(made)
