"""A turn while it is open: everything one author does in one go, staged, over any number of documents.

Staged changes are seen by the turn's own reads and by nobody else; nothing reaches the disk or a review until `commit`,
and then all of it does or nothing. A write names the version of the document that it was made for, as the turn sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from redraft.errors import Busy, ConfirmationRequired, Forbidden, Refused, Stale
from redraft.files.paths import check_agent_write
from redraft.text.edits import Change, Edit
from redraft.text.text import Text
from redraft.workspace.document import Document, check_text, content_hash, exceeds
from redraft.workspace.documents import check_name_not_secret
from redraft.workspace.modes import Verdict, Writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import TracebackType

    from redraft.config import Limits
    from redraft.files.paths import DocPath
    from redraft.history.journal import AuditLine
    from redraft.history.turns import Author, TurnRecord
    from redraft.text.edits import Span
    from redraft.workspace.documents import Documents
    from redraft.workspace.modes import Action, Mode

    Confirm = Callable[[str, list[str]], bool]


@dataclass(frozen=True, slots=True)
class Staged:
    """One document in the turn: as it was first seen (None: not there) and as the turn leaves it (None: gone)."""

    seen: Document | None
    now: Document | None


@dataclass(slots=True)
class Outcome:
    """What became of a turn."""

    turn: TurnRecord | None
    applied: list[str] = field(default_factory=list[str])
    proposed: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])


class Turn:
    """Made by `Workspace.turn`. As a context manager it commits at the end and is discarded by an exception."""

    def __init__(
        self,
        documents: Documents,
        author: Author,
        mode: Mode,
        title: str,
        limits: Limits,
        commit: Callable[[Turn], Outcome],
        confirm: Confirm | None = None,
        *,
        token: str,
    ) -> None:
        self.token = token
        self.called: AuditLine | None = None  # by which call of a tool it came about, for the audit log
        self.author = author
        self.mode = mode
        self.title = title
        self.outcome: Outcome | None = None
        self.staged: dict[DocPath, Staged] = {}
        self.moved: dict[DocPath, DocPath] = {}
        self.confirm = confirm
        self.actions = 0
        self.open = True
        self._looked: dict[DocPath, Document] = {}
        self._documents = documents
        self._limits = limits
        self._commit = commit

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and self.open:
            try:
                self.commit()
            except BaseException:
                self.discard()
                raise
        elif error is not None:
            self.discard()

    def commit(self) -> Outcome:
        """Close the turn: what it did is proposed or applied, as the mode says."""
        self._check_open()
        self.open = False
        try:
            self.outcome = self._commit(self)
        except (ConfirmationRequired, Busy):
            self.open = True  # nothing was done, and the same call may succeed once somebody agreed or let go
            raise
        return self.outcome

    def discard(self) -> None:
        """Close the turn without a trace."""
        self.open = False
        self.staged.clear()

    # Reading

    def read(self, raw: str) -> Document:
        """The document as this turn sees it, its own changes included."""
        self._check_open()
        path = self._documents.path(raw)
        self._allow("read", path)
        document = self._look(path)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        return document

    def _look(self, path: DocPath) -> Document | None:
        if path in self.staged:
            return self.staged[path].now
        look = self._documents.for_agent if self.author.is_agent else self._documents.document
        document = look(path)
        if document is not None:
            self._looked[path] = document
        return document

    # Writing

    def edit(self, raw: str, edits: Change | Iterable[Edit], version: str) -> Document:
        """Carry edits out; `version` is that of the text they were made for."""
        change = edits if isinstance(edits, Change) else Change(tuple(edits))
        check_text(*(edit.new for edit in change.edits))
        before = self._begin("modify", raw, version)
        return self._stage(before, change.apply_to(before.text))

    def replace_lines(self, raw: str, lines: Span, new: str, expected_hash: str) -> Document:
        """Replace whole lines, named by their numbers and by the hash of what they said when they were read.

        This is agent-sidebar's guarded edit: it holds as long as those lines do, whatever changed elsewhere. An empty
        span inserts before a line, and its hash is that of the empty text.
        """
        document = self.read(raw)
        if lines.end > document.text.line_count:
            raise Refused(
                f"{document.path} has {document.text.line_count} lines.",
                code="invalid_line_range",
                document_lines=document.text.line_count,
            )
        start, end = document.text.line_start(lines.start), document.text.line_start(lines.end)
        old = document.text.slice(start, end)
        if content_hash(old.encode()) != expected_hash:
            raise Stale(
                f"Lines {lines.start + 1} to {lines.end} of {document.path} are no longer what they were.",
                code="conflict",
                path=document.path,
                current_hash=content_hash(old.encode()),
            )
        return self.edit(raw, [Edit(start, old, new)], document.version)

    def write(self, raw: str, content: str, version: str) -> Document:
        """Replace the whole content. The smallest edit that does it is what is staged."""
        check_text(content)
        before = self._begin("modify", raw, version)
        old = str(before.text)
        return self._stage(before, Change.between(old, content).apply_to(before.text))

    def create(self, raw: str, content: str = "", *, bom: bool = False) -> Document:
        """A new document; refused where anything is already."""
        check_text(content)
        path = self._documents.path(raw)
        self._act("create", path)
        self._check_free(path)
        document = Document(path, self._sized(Text(content)), bom)
        seen = self.staged[path].seen if path in self.staged else None
        self.staged[path] = Staged(seen, document)
        self._check_size()
        return document

    def delete(self, raw: str, version: str) -> None:
        """Take the document away; it stays in the trash."""
        before = self._begin("destroy", raw, version)
        self._remove(before)

    def move(self, raw: str, to: str, version: str) -> Document:
        """Give the document another place, never over another one."""
        target = self._documents.path(to)
        before = self._begin("move", raw, version)
        self._permit("create", target)
        if target == before.path:
            return before
        self._check_free(target)
        source = self._documents.path(before.path)
        made_here = source in self.staged and self.staged[source].seen is None and source not in self.moved
        origin = self.moved.get(source, source)
        self._remove(before)
        if not made_here and origin != target:
            self.moved[target] = origin
        document = Document(target, before.text, before.bom, before.mode)
        seen = self.staged[target].seen if target in self.staged else None
        self.staged[target] = Staged(seen, document)
        self._check_size()
        return document

    # The rules

    def _begin(self, action: Action, raw: str, version: str) -> Document:
        path = self._documents.path(raw)
        self._act(action, path)
        # What the turn itself read need not be read again: whatever changed meanwhile is found when it is carried out.
        document = None if path in self.staged else self._looked.get(path)
        if document is None or document.version != version:
            document = self._look(path)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        document.check_version(version)
        return document

    def _act(self, action: Action, path: DocPath) -> None:
        self._check_open()
        self.actions += 1
        if self.author.is_agent and self.actions > self._limits.actions:
            raise Refused(
                f"A turn may take {self._limits.actions} actions.", code="limit_exceeded", limit=self._limits.actions
            )
        self._permit(action, path)

    def _permit(self, action: Action, path: DocPath) -> None:
        if self.author.is_agent:
            check_agent_write(path)
            check_name_not_secret(path)
        self._allow(action, path)

    def _allow(self, action: Action, path: DocPath) -> None:
        if not self.author.is_agent:
            return
        verdict = self.mode.verdict(action, path)
        if verdict is Verdict.DENY:
            raise Forbidden(
                f"The mode {self.mode.name!r} does not allow to {action} {path}.", code="mode_refuses", path=path
            )
        if verdict is Verdict.ASK:
            self.ask(f"{action} {path}", [path])

    def ask(self, what: str, paths: list[str]) -> None:
        """Go on only with the person's consent."""
        if self.confirm is None or not self.confirm(what, paths):
            raise ConfirmationRequired(f"A person has to agree first: {what}.", action=what, paths=paths)

    def _check_open(self) -> None:
        if not self.open:
            raise Refused("This turn is closed.", code="turn_closed")

    def _check_free(self, path: DocPath) -> None:
        taken = self.staged[path].now is not None if path in self.staged else self._documents.occupied(path)
        if taken or self._look(path) is not None:
            raise Refused(f"{path} is already there.", code="already_exists", path=path)

    def _sized(self, text: Text) -> Text:
        if exceeds([text], self._limits.document_bytes):
            raise Refused(f"A document may hold {self._limits.document_bytes} bytes.", code="too_large")
        return text

    def _stage(self, before: Document, text: Text) -> Document:
        path = self._documents.path(before.path)
        after = Document(path, self._sized(text), before.bom, before.mode)
        seen = self.staged[path].seen if path in self.staged else before
        self.staged[path] = Staged(seen, after)
        self._check_size()
        return after

    def _remove(self, before: Document) -> None:
        path = self._documents.path(before.path)
        seen = self.staged[path].seen if path in self.staged else before
        self.moved.pop(path, None)
        if seen is None:
            del self.staged[path]
        else:
            self.staged[path] = Staged(seen, None)

    def _check_size(self) -> None:
        if not self.author.is_agent:
            return
        if len(self.staged) > self._limits.files:
            raise Refused(f"A turn may touch {self._limits.files} documents.", code="limit_exceeded")
        if exceeds([staged.now.text for staged in self.staged.values() if staged.now], self._limits.bytes):
            raise Refused(f"A turn may write {self._limits.bytes} bytes.", code="limit_exceeded")

    @property
    def writes_at_once(self) -> bool:
        return self.mode.writes in (Writes.AT_ONCE, Writes.MERGED)
