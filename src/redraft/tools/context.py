"""Where a tool call happens: the folder, who calls, what the person allows, and what the caller has read so far.

A surface makes one context per caller and keeps it: it remembers which texts the caller was shown, so that an edit
that names no version is still refused when the document is no longer the one that was read, and a refusal can say what
changed. A context is not shared between threads.
"""

from __future__ import annotations

from collections import OrderedDict
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redraft.errors import Stale
from redraft.workspace.modes import Mode, Verdict, mode_named

if TYPE_CHECKING:
    from collections.abc import Callable

    from redraft.config import Limits
    from redraft.history.journal import AuditLine
    from redraft.history.turns import Author
    from redraft.providers.embeddings import Embedder
    from redraft.search.index import Index
    from redraft.text.text import Text
    from redraft.tools.live import LiveEditors
    from redraft.tools.long import LongWork
    from redraft.tools.registry import Registry
    from redraft.workspace.document import Document
    from redraft.workspace.turn import Confirm, Turn
    from redraft.workspace.workspace import Workspace

    Ask = Callable[[str], str | None]

# Texts share their unchanged blocks, so what is remembered costs little; a long session still has to end somewhere.
REMEMBERED = 32


@dataclass(slots=True)
class ToolContext:
    """`ask` puts a question to the person (None: nobody answered); `turn` is open while several calls belong together,
    and `together` says that they fail together too.

    `active_tab` is the tab that is meant where a call names none, `folder` the one in which new documents go, `index`
    the folder's index where the surface keeps one, `embedder` its own model instead of the one that the settings name,
    `long` whoever works on whole documents with a model, `editors` the rich editors that are open in browsers.
    While a tool runs, `call` says how it was called, `begun` is the turn that it began last, and `logged` says that
    the audit log has the call already.
    """

    workspace: Workspace
    author: Author
    mode: str | Mode | None = None
    active_tab: str | None = None
    confirm: Confirm | None = None
    ask: Ask | None = None
    folder: str = ""
    turn: Turn | None = None
    together: bool = False
    registry: Registry | None = None
    index: Index | None = None
    embedder: Embedder | None = None
    long: LongWork | None = None
    editors: LiveEditors | None = None
    call: AuditLine | None = None
    begun: Turn | None = None
    logged: bool = False
    _seen: OrderedDict[str, Document] = field(default_factory=OrderedDict[str, "Document"])

    @property
    def rules(self) -> Mode:
        """The mode that holds."""
        wanted = self.workspace.engine.settings.mode if self.mode is None else self.mode
        return wanted if isinstance(wanted, Mode) else mode_named(wanted)

    @property
    def limits(self) -> Limits:
        """How much a call may ask for, and gets where it does not say."""
        return self.workspace.engine.settings.limits

    def apart(self, editors: LiveEditors | None) -> ToolContext:
        """The same caller's, for a call that lets go of the guard while a rich editor is waited for: what another call
        sets meanwhile is not this one's. What either has read is remembered for both."""
        found = copy(self)
        found.editors = editors
        return found

    def may_read(self, path: str) -> bool:
        """Whether this caller may be shown what a document says without the person being asked: for answers about many
        documents, which leave out what `read` would refuse."""
        return not self.author.is_agent or self.rules.verdict("read", path) is Verdict.ALLOW

    def begin(self, title: str) -> Turn:
        """A turn for what the call does; in the audit log it stands under the tool's name."""
        self.begun = self._turn(title)
        self.begun.called = self.call
        return self.begun

    def _turn(self, title: str) -> Turn:
        return self.workspace.turn(self.author, title, mode=self.mode, confirm=self.confirm)

    def look(self, path: str) -> Document:
        """The document as this caller sees it, its open turn included."""
        return (self.turn or self._turn("Read")).read(path)

    def read(self, path: str) -> Document:
        """The same, and remember that it was shown."""
        document = self.look(path)
        self.saw(document)
        return document

    def saw(self, document: Document) -> None:
        """Remember what the caller was shown; not what an open turn shows, which may never come to be."""
        if self.turn is not None:
            return
        self._seen[document.path] = document
        self._seen.move_to_end(document.path)
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)

    def last_seen(self, path: str) -> Document | None:
        return self._seen.get(path)

    def remembered(self, path: str, version: str) -> Text | None:
        """The text that the caller was last shown here, if that was its version."""
        seen = self._seen.get(path)
        return seen.text if seen is not None and seen.version == version else None

    def checked(self, document: Document, version: str | None) -> str:
        """The version to edit `document` by: the one given, else that of what the caller last read; `Stale` if it is
        old. Within an open turn the version from before it stays good: the turn's own changes are no surprise."""
        now = document.version
        seen = self._seen.get(document.path)
        wanted = version or (seen.version if seen is not None else now)
        if not self.holds(document, wanted):
            raise Stale(
                f"{document.path} changed since it was read.",
                path=document.path,
                your_version=wanted,
                current_version=now,
            )
        return now

    def holds(self, document: Document, version: str) -> bool:
        """Whether what was read under a version is still so, but for what the open turn did itself."""
        if version == document.version:
            return True
        staged = (
            None
            if self.turn is None
            else next((each for path, each in self.turn.staged.items() if path == document.path), None)
        )
        return staged is not None and (staged.seen is None or staged.seen.version == version)
