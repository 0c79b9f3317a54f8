"""A turn while it is open: everything one author does in one go, staged, over any number of documents.

Staged changes are seen by the turn's own reads and by nobody else; nothing reaches the disk or a review until `commit`,
and then all of it does or nothing. A write names the version of the document that it was made for, as the turn sees it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Self

from redraft.errors import Busy, ConfirmationRequired, Forbidden, Refused
from redraft.files.paths import DocPath, check_agent_write, check_no_system_file, is_agent_instructions
from redraft.files.secret_detection import check_name_not_secret
from redraft.history.turns import PERSON
from redraft.text.edits import Change, ChangeStep, Edit
from redraft.text.text import Text
from redraft.workspace.document import Document, check_text, exceeds
from redraft.workspace.turns.modes import Verdict, describe_action

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable
    from types import TracebackType

    from redraft.config import Limits
    from redraft.history.journal import AuditLine
    from redraft.history.turns import Author, TurnRecord
    from redraft.workspace.documents import Documents
    from redraft.workspace.turns.modes import Action, Mode
    from redraft.workspace.turns.plan import PlannedDocument

    Confirm = Callable[[str, list[str]], bool]

# From here on it is cheaper to cut the whole text anew than to edit it place by place.
MANY = 200


@dataclass(frozen=True, slots=True)
class StagedDocument:
    """One document in the turn: as it was first seen (None: not there) and as the turn leaves it (None: gone). Its text
    is `first`, changed by the `steps`."""

    seen: Document | None
    now: Document | None
    first: Document | None = None
    steps: tuple[ChangeStep, ...] = ()

    @property
    def calls(self) -> list[Change]:
        """The changes, one for each call."""
        return [step.change for step in self.steps]

    def text_of(self, version: str) -> Text | None:
        """The text that the document had in this turn at a version."""
        if self.first is None:
            return None
        text, found = self.first.text, self.first.version
        for step in self.steps:
            if found == version:
                break
            text, found = step.change.apply_to(text), step.after
        return text if found == version else None


@dataclass(slots=True)
class Outcome:
    """What became of a turn."""

    turn: TurnRecord | None
    applied: list[str] = field(default_factory=list[str])
    proposed: list[str] = field(default_factory=list[str])
    conflicts: list[str] = field(default_factory=list[str])


class TurnState(NamedTuple):
    """What a turn contains at one moment, to return to with `restore`."""

    staged: dict[DocPath, StagedDocument]
    moved: dict[DocPath, DocPath]
    folders: list[DocPath]
    actions: int
    edited_together: set[DocPath] | None


class Turn:
    """Made by `Workspace.turn`. As a context manager it commits at the end; an exception discards it."""

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
        confirmed: Container[str] = (),
    ) -> None:
        self.token = token
        self._confirmed = confirmed  # the secrets that the folder's owner agreed to be shown
        self.called: AuditLine | None = None  # by which call of a tool it came about, for the audit log
        self.author = author
        self.mode = mode
        self.title = title
        self.outcome: Outcome | None = None
        self.staged: dict[DocPath, StagedDocument] = {}
        self.moved: dict[DocPath, DocPath] = {}
        self.ahead: dict[DocPath, PlannedDocument] = {}
        self.folders: list[DocPath] = []
        self.confirm = confirm
        self.actions = 0
        self.edited_together: set[DocPath] | None = None  # in a batch: all edits of a document are one action
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

    def state(self) -> TurnState:
        """What the turn contains now, for `restore`."""
        together = None if self.edited_together is None else set(self.edited_together)
        return TurnState(dict(self.staged), dict(self.moved), list(self.folders), self.actions, together)

    def restore(self, state: TurnState) -> None:
        """Return to an earlier state."""
        self.staged, self.moved, self.actions = dict(state.staged), dict(state.moved), state.actions
        self.folders[:] = state.folders
        self.edited_together = None if state.edited_together is None else set(state.edited_together)

    def commit(self) -> Outcome:
        """Close the turn and propose or apply it, as the mode says."""
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
        self.folders.clear()

    # Reading

    def read(self, raw: str) -> Document:
        """The document as this turn sees it, with its own changes."""
        self._check_open()
        path = self._documents.path(raw)
        if self.author.is_agent:
            check_no_system_file(path)
        self._allow("read", path)
        document = self._look(path)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        return document

    def _look(self, path: DocPath) -> Document | None:
        if path in self.staged:
            return self.staged[path].now
        document = self._documents.document(path, confirmed=self._confirmed, for_agent=self.author.is_agent)
        if document is not None:
            self._looked[path] = document
        return document

    def recall(self, document: Document) -> None:
        """Treat a document as read because the turn's author saw it some time ago. A write that names its version is
        made for that text; whatever happened since is merged when the turn is committed."""
        self._looked[self._documents.path(document.path)] = document

    def find_staged(self, path: str) -> StagedDocument | None:
        """What the turn has done to a document, if anything."""
        return self.staged.get(DocPath(path))

    # Writing

    def edit(
        self,
        raw: str,
        edits: Change | Iterable[Edit],
        version: str,
        *,
        asked: Change | None = None,
        made_for: str | None = None,
    ) -> Document:
        """Stage edits. `version` is the version of the text that they apply to. If they were carried forward to it,
        `asked` is what the caller asked for, in the version `made_for`."""
        change = edits if isinstance(edits, Change) else Change(tuple(edits))
        check_text(*(edit.new for edit in change.edits))
        before = self._begin("modify", raw, version)
        return self._stage(before, change, change if asked is None else asked, made_for or version)

    def write(self, raw: str, content: str, version: str) -> Document:
        """Replace the whole content. What is staged is the smallest edit of whole words that achieves it."""
        check_text(content)
        before = self._begin("modify", raw, version)
        change = Change.between(str(before.text), content, words=True)
        return self._stage(before, change, change, version)

    def create(self, raw: str, content: str = "", *, bom: bool = False, mode: int | None = None) -> Document:
        """Create a document; refused if anything is there. `mode` are its permissions, if they differ from the
        default."""
        check_text(content)
        path = self._documents.path(raw)
        self._act("create", path)
        self._check_free(path)
        document = Document(path, self._limit_size(Text(content)), bom, mode)
        seen = self.staged[path].seen if path in self.staged else None
        self.staged[path] = StagedDocument(seen, document, document)
        self._check_size()
        return document

    def delete(self, raw: str, version: str) -> None:
        """Delete the document; it stays in the trash."""
        before = self._begin("destroy", raw, version)
        self._remove(before)

    def version_of(self, raw: str) -> str:
        """The version of a document, without showing the document: the folder's owner may delete a secret unread."""
        path = self._documents.path(raw)
        document = self.staged[path].now if path in self.staged else self._document_for("destroy", path)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        return document.version

    def _document_for(self, action: Action, path: DocPath) -> Document | None:
        if action == "destroy" and self.author == PERSON and path not in self.staged:
            return self._documents.read_unmasked(path)
        return self._look(path)

    def move(self, raw: str, to: str, version: str) -> Document:
        """Move the document, never over another one."""
        target = self._documents.path(to)
        before = self._begin("move", raw, version)
        self._permit("create", target)
        if target == before.path:
            return before
        self._check_free(target)
        source = self._documents.path(before.path)
        made_here = source in self.staged and self.staged[source].seen is None and source not in self.moved
        origin = self.moved.get(source, source)
        known = self.staged.get(source) or StagedDocument(before, before, before)
        self._remove(before)
        if not made_here and origin != target:
            self.moved[target] = origin
        document = Document(target, before.text, before.bom, before.mode)
        seen = self.staged[target].seen if target in self.staged else None
        self.staged[target] = StagedDocument(seen, document, known.first, known.steps)
        self._check_size()
        return document

    def make_folder(self, raw: str) -> list[DocPath]:
        """Create an empty folder and its missing parents; returns those it created, outermost first. If the person
        decides first, none is created: a folder comes with its first document."""
        self._check_open()
        path = self._documents.path(raw)
        if self.author.is_agent:
            check_agent_write(path)
            check_name_not_secret(path)
            if self.mode.verdict("create", path) is Verdict.DENY:
                self._allow("create", path)
        if path in self.staged and self.staged[path].now is not None:
            raise Refused(f"{path} is a document.", code="already_exists", path=path)
        missing = [folder for folder in self._documents.find_missing_folders(path) if folder not in self.folders]
        if not missing or not self.writes_at_once:
            return []
        self._act("create", path)
        self.folders += missing
        return missing

    # The rules

    def _begin(self, action: Action, raw: str, version: str) -> Document:
        path = self._documents.path(raw)
        self._act(action, path)
        # What the turn itself read need not be read again: whatever changed meanwhile is found when it is carried out.
        document = None if path in self.staged else self._looked.get(path)
        if document is None or document.version != version:
            document = self._document_for(action, path)
        if document is None:
            raise Refused(f"There is no document {path}.", code="not_found", path=path)
        document.check_version(version)
        return document

    def _act(self, action: Action, path: DocPath) -> None:
        self._check_open()
        together = self.edited_together if action == "modify" else None
        if together is None or path not in together:
            self.actions += 1
        if together is not None:
            together.add(path)
        if self.author.is_agent and self.actions > self._limits.actions:
            raise Refused(
                f"A turn may take at most {self._limits.actions} actions.",
                code="limit_exceeded",
                limit=self._limits.actions,
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
            act = describe_action(f"{action} {path}")
            raise Forbidden(f"The mode {self.mode.name!r} does not let agents {act}.", code="mode_refuses", path=path)
        if verdict is Verdict.ASK:
            self.ask(f"{action} {path}", [path])
        elif action != "read" and self.writes_at_once and is_agent_instructions(path):
            self.ask(f"{action} {path}, from which agents take instructions", [path])

    def ask(self, what: str, paths: list[str]) -> None:
        """Go on only if the person agrees."""
        if self.confirm is None or not self.confirm(what, paths):
            message = f"A person must agree first: {describe_action(what)}."
            raise ConfirmationRequired(message, action=what, paths=paths)

    def _check_open(self) -> None:
        if not self.open:
            raise Refused("This turn is closed.", code="turn_closed")

    def _check_free(self, path: DocPath) -> None:
        taken = self.staged[path].now is not None if path in self.staged else self._documents.is_occupied(path)
        agent = self.author.is_agent
        if taken or (path not in self.staged and self._documents.read_unmasked(path, for_agent=agent) is not None):
            raise Refused(f"{path} already exists.", code="already_exists", path=path)

    def _limit_size(self, text: Text) -> Text:
        if exceeds([text], self._limits.document_bytes):
            raise Refused(f"A document may have at most {self._limits.document_bytes} bytes.", code="too_large")
        return text

    def _stage(self, before: Document, change: Change, asked: Change, made_for: str) -> Document:
        path = self._documents.path(before.path)
        after = Document(path, self._limit_size(_apply_change(before.text, change)), before.bom, before.mode)
        known = self.staged.get(path) or StagedDocument(before, before, before)
        step = ChangeStep(before.version, after.version, change, made_for, asked, self.token)
        self.staged[path] = StagedDocument(known.seen, after, known.first, (*known.steps, step))
        self._check_size()
        return after

    def _remove(self, before: Document) -> None:
        path = self._documents.path(before.path)
        seen = self.staged[path].seen if path in self.staged else before
        self.moved.pop(path, None)
        if seen is None:
            del self.staged[path]
        else:
            self.staged[path] = StagedDocument(seen, None)

    def _check_size(self) -> None:
        if not self.author.is_agent:
            return
        if len(self.touched) > self._limits.files:
            raise Refused(
                f"A turn may touch at most {self._limits.files} documents.",
                code="limit_exceeded",
                limit=self._limits.files,
            )
        if exceeds([staged.now.text for staged in self.staged.values() if staged.now], self._limits.bytes):
            raise Refused(
                f"A turn may write at most {self._limits.bytes} bytes.", code="limit_exceeded", limit=self._limits.bytes
            )

    @property
    def touched(self) -> set[DocPath]:
        """The documents that the turn is about; a moved one counts once, at its new path."""
        return self.staged.keys() - set(self.moved.values())

    @property
    def writes_at_once(self) -> bool:
        return self.mode.writes_at_once


def _apply_change(text: Text, change: Change) -> Text:
    """Apply a change to the text in the cheapest way."""
    if len(change.edits) < MANY:
        return change.apply_to(text)
    old = str(text)
    return Change.between(old, change.apply(old)).apply_to(text)
