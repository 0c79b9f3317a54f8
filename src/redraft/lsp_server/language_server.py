"""What an editor sees: hunks as diagnostics, with actions and buttons that decide them, and its text kept in step."""

from __future__ import annotations

import asyncio
import contextlib
import os
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from redraft import __version__
from redraft.errors import RedraftError
from redraft.lsp_server.folder_client import FolderClient
from redraft.lsp_server.hunk_places import PlacedHunk, describe
from redraft.lsp_server.open_document import OpenDocument

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redraft.text.edits import Edit, Span

SOURCE = "redraft"
ACTS = ("accept", "reject")


class EditorSession:
    """The documents that an editor has open in one folder."""

    def __init__(self, editor: LanguageServer, folder: str) -> None:
        self.editor = editor
        self.folder = os.path.realpath(folder)
        self.client = FolderClient(self.folder)
        self._documents: dict[str, OpenDocument] = {}
        self._decided: list[int] = []
        self._listening = False
        self._tasks: set[asyncio.Task[None]] = set()

    # Documents

    async def open(self, uri: str, text: str) -> None:
        path = self._path(uri)
        if path is None or uri in self._documents:
            return
        self._listen()
        document = OpenDocument(self.client, uri, path, self._ask, self._show)
        self._documents[uri] = document
        try:
            await document.join(text)
        except RedraftError as error:
            # A file that is no document, or that may hold a secret: the editor has it for itself.
            self._documents.pop(uri, None)
            self.editor.window_log_message(types.LogMessageParams(types.MessageType.Info, f"{path}: {error.message}"))
            return
        document.report(self._text(uri))

    def change(self, uri: str) -> None:
        if (document := self._documents.get(uri)) is not None:
            document.report(self._text(uri))

    async def close(self, uri: str) -> None:
        if (document := self._documents.pop(uri, None)) is not None:
            await document.close()

    async def end(self) -> None:
        for uri in list(self._documents):
            with contextlib.suppress(RedraftError):
                await self.close(uri)
        await asyncio.to_thread(self.client.close)

    def _path(self, uri: str) -> str | None:
        """The document's path in the folder; None if it is elsewhere."""
        place = to_fs_path(uri)
        if place is None or not uri.startswith("file:"):
            return None
        real = os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place))
        path = os.path.relpath(real, self.folder)
        return None if path.startswith("..") else path

    def _text(self, uri: str) -> str:
        return self.editor.workspace.get_text_document(uri).source

    def _listen(self) -> None:
        if self._listening:
            return
        self._listening = True
        loop = asyncio.get_running_loop()

        def heard(event: dict[str, Any]) -> None:
            if event["kind"] in ("review", "document", "all", "tree"):
                loop.call_soon_threadsafe(self._refresh, event.get("path"))

        self.client.listen(heard)

    def _refresh(self, path: str | None) -> None:
        for document in self._documents.values():
            if path in (None, document.path):
                task = asyncio.get_running_loop().create_task(self._reread(document))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _reread(self, document: OpenDocument) -> None:
        with contextlib.suppress(RedraftError):
            await document.read_review()

    # What the editor is asked and told

    async def _ask(self, document: OpenDocument, edits: list[Edit]) -> bool:
        """Have the editor make these edits, unless it has changed its text since."""
        now = self.editor.workspace.get_text_document(document.uri)
        lines = document.mirror.seen.split("\n")
        changes = [types.TextEdit(self._range(lines, edit.at, edit.at + len(edit.old)), edit.new) for edit in edits]
        identifier = types.OptionalVersionedTextDocumentIdentifier(document.uri, now.version)
        edit = types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(identifier, changes)])
        answer = await self.editor.workspace_apply_edit_async(types.ApplyWorkspaceEditParams(edit, "Redraft"))
        return answer.applied

    def _range(self, lines: Sequence[str], start: int, end: int) -> types.Range:
        """A range of the text, as the editor counts columns."""
        found = types.Range(_position(lines, start), _position(lines, end))
        return self.editor.workspace.position_codec.range_to_client_units(lines, found)

    def range_of(self, document: OpenDocument, span: Span) -> types.Range:
        return self._range(document.mirror.seen.split("\n"), span.start, span.end)

    def _show(self, document: OpenDocument) -> None:
        """Tell the editor what waits, where it is in the text that it shows."""
        lines = document.mirror.seen.split("\n")
        diagnostics = [
            types.Diagnostic(
                range=self._range(lines, placed.span.start, placed.span.end),
                message=_message(placed),
                severity=types.DiagnosticSeverity.Warning
                if placed.hunk["conflict"]
                else types.DiagnosticSeverity.Information,
                source=SOURCE,
                code=placed.hunk["hunk_id"],
            )
            for placed in document.placed
        ]
        self.editor.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, diagnostics))

    # What the editor asks

    def actions(self, uri: str, wanted: types.Range) -> list[types.CodeAction]:
        document = self._documents.get(uri)
        if document is None:
            return []
        found: list[types.CodeAction] = []
        placed = document.placed
        for each in placed:
            if not _meet(self.range_of(document, each.span), wanted):
                continue
            for act in _acts(each):
                title = f"{act.capitalize()}: {describe(each.hunk)}"
                found.append(_action(title, f"redraft.{act}", uri, each.hunk["hunk_id"]))
        if placed:
            found += [_action("Go to the next change", "redraft.next", uri, wanted.start.line, wanted.start.character)]
            found += [
                _action(f"{act.capitalize()} all changes of the document", f"redraft.{act}All", uri) for act in ACTS
            ]
        if self._decided:
            found.append(_action("Undo the last decision", "redraft.undo", uri))
        return [*found, _action("Save, without what waits for review", "redraft.save", uri)]

    def lenses(self, uri: str) -> list[types.CodeLens]:
        document = self._documents.get(uri)
        if document is None:
            return []
        return [
            types.CodeLens(
                self.range_of(document, each.span),
                types.Command(
                    f"{act.capitalize()}: {describe(each.hunk)}",
                    f"redraft.{act}",
                    arguments=[uri, each.hunk["hunk_id"]],
                ),
            )
            for each in document.placed
            for act in _acts(each)
        ]

    # Commands

    async def decide(self, act: str, uri: str, hunk_id: str | None) -> None:
        document = self._documents[uri]
        chosen = [each.hunk for each in document.placed if hunk_id in (None, each.hunk["hunk_id"])]
        if hunk_id is None:
            chosen = [hunk for hunk in chosen if not hunk["conflict"]]
        if not chosen:
            raise RedraftError("This change is no longer what you saw. Look again.", code="hunk_not_found")
        await document.decide(act, [hunk["hunk_id"] for hunk in chosen])
        last = await self.client.get("/api/turns", limit=1)
        self._decided.append(last["turns"][0]["turn"])

    async def undo(self) -> None:
        """Take back the last decision that was made here."""
        if self._decided:
            await self.client.post("/api/turns/undo", {"turn": self._decided.pop()})

    async def save(self, uri: str) -> None:
        await self._documents[uri].save()

    async def go(self, uri: str, line: int, character: int) -> None:
        """Show the next change after a place: in this document, else in the next one."""
        document = self._documents.get(uri)
        ranges = [] if document is None else [self.range_of(document, each.span) for each in document.placed]
        after = [each for each in ranges if (each.start.line, each.start.character) > (line, character)]
        target, selection = uri, next(iter(after), None)
        if selection is None:
            drafts = (await self.client.get("/api/review"))["documents"]
            paths = [draft["path"] for draft in drafts if draft["pending"]]
            here = None if document is None else document.path
            following = [*paths[paths.index(here) + 1 :], *paths[: paths.index(here) + 1]] if here in paths else paths
            if not following:
                return
            target = "file://" + os.path.join(self.folder, following[0])
            first = ranges[0].start if following[0] == here and ranges else types.Position(0, 0)
            selection = types.Range(first, first)
        at = types.Range(selection.start, selection.start)
        await self.editor.window_show_document_async(types.ShowDocumentParams(target, take_focus=True, selection=at))


def _position(lines: Sequence[str], offset: int) -> types.Position:
    for number, line in enumerate(lines):
        if offset <= len(line):
            return types.Position(number, offset)
        offset -= len(line) + 1
    return types.Position(len(lines) - 1, len(lines[-1]))


def _meet(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges share a line: an editor asks with the cursor's place."""
    return one.start.line <= other.end.line and other.start.line <= one.end.line


def _acts(placed: PlacedHunk) -> tuple[str, ...]:
    # A conflict cannot be accepted before somebody has chosen a side.
    return ("reject",) if placed.hunk["conflict"] else ACTS


def _message(placed: PlacedHunk) -> str:
    hunk = placed.hunk
    what = "both changed this" if hunk["conflict"] else "to review"
    turn = "" if hunk["turn"] is None else f" (turn {hunk['turn']})"
    return f"{what}: {describe(hunk)}{turn}"


def _action(title: str, command: str, *arguments: Any) -> types.CodeAction:
    return types.CodeAction(
        title, types.CodeActionKind.QuickFix, command=types.Command(title, command, arguments=list(arguments))
    )


class RedraftLanguageServer(LanguageServer):
    """The server that an editor starts. `folder` is where it works, by default the editor's own folder."""

    def __init__(self, folder: str | None) -> None:
        # Whole texts: some editors describe their changes wrongly, at the end of the text for one.
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - the library leaves the rest of its arguments open
            "redraft", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full
        )
        self._folder = folder
        self._review: EditorSession | None = None
        self._register_features()
        for act in ACTS:
            self._register(f"redraft.{act}", partial(self._decide, act))
            self._register(f"redraft.{act}All", partial(self._decide, act))
        self._register("redraft.undo", self._undo)
        self._register("redraft.save", self._save)
        self._register("redraft.next", self._go)

    @property
    def review(self) -> EditorSession:
        """What is open in the folder; there once the editor has said where it is."""
        if self._review is None:
            self._review = EditorSession(self, self._folder or self.workspace.root_path or os.getcwd())
        return self._review

    def _register_features(self) -> None:
        async def opened(params: types.DidOpenTextDocumentParams) -> None:
            await self._attempt(self.review.open(params.text_document.uri, params.text_document.text))

        def changed(params: types.DidChangeTextDocumentParams) -> None:
            self.review.change(params.text_document.uri)

        async def closed(params: types.DidCloseTextDocumentParams) -> None:
            await self.review.close(params.text_document.uri)

        def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
            return self.review.actions(params.text_document.uri, params.range)

        def lenses(params: types.CodeLensParams) -> list[types.CodeLens]:
            return self.review.lenses(params.text_document.uri)

        async def ended(_params: None) -> None:
            if self._review is not None:
                await self._review.end()

        self.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
        self.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
        self.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
        self.feature(types.TEXT_DOCUMENT_CODE_ACTION)(actions)
        self.feature(types.TEXT_DOCUMENT_CODE_LENS)(lenses)
        self.feature(types.SHUTDOWN)(ended)

    def _register(self, name: str, act: Callable[..., Awaitable[None]]) -> None:
        async def run(*arguments: Any) -> None:
            await self._attempt(act(*arguments))

        self.command(name)(run)

    async def _decide(self, act: str, uri: str, hunk_id: str | None = None) -> None:
        await self.review.decide(act, uri, hunk_id)

    async def _undo(self, *_: object) -> None:
        await self.review.undo()

    async def _save(self, uri: str) -> None:
        await self.review.save(uri)

    async def _go(self, uri: str, line: int, character: int) -> None:
        await self.review.go(uri, line, character)

    async def _attempt(self, act: Awaitable[None]) -> None:
        """Do it, and show the person why it failed."""
        try:
            await act
        except RedraftError as error:
            self.window_show_message(types.ShowMessageParams(types.MessageType.Error, f"Redraft: {error.message}"))


def serve(folder: str | None, source: BinaryIO, sink: BinaryIO) -> None:
    """Serve one editor, until it goes."""
    RedraftLanguageServer(folder).start_io(source, sink)
