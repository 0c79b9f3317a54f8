"""One document that an editor has open: its mirror, its room, and what waits for review in it."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from redraft.lsp_server.hunk_places import PlacedHunk, place_hunks
from redraft.lsp_server.mirror import EditorMirror
from redraft.lsp_server.room import RemoteRoom

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from redraft.lsp_server.folder_client import FolderClient
    from redraft.text.edits import Edit
    from redraft.workspace.shape_types import DraftShape

    Ask = Callable[["OpenDocument", list[Edit]], Awaitable[bool]]
    Tell = Callable[["OpenDocument"], None]

AGAIN_SECONDS = 0.05
# How long an editor that took an offer may keep its text to itself.
REPORT_SECONDS = 5.0


class OpenDocument:
    """`ask` has the editor make edits, and says whether it did; `tell` is called when text or review changed."""

    def __init__(self, client: FolderClient, uri: str, path: str, ask: Ask, tell: Tell) -> None:
        self.client = client
        self.uri = uri
        self.path = path
        self.room = RemoteRoom(client, path, self._came, self._ended)
        self.mirror = EditorMirror(self.room.doc)
        self.draft: DraftShape | None = None
        self._ask = ask
        self._tell = tell
        self._begun = False
        self._news = asyncio.Event()
        self._reported = asyncio.Event()
        self._bringing: asyncio.Task[None] | None = None

    async def join(self, now: str) -> None:
        """Join the document's room; `now` is the text that the editor shows."""
        await self.room.join()
        self.mirror.begin(now)
        self._begun = True
        await self.read_review()
        self._bringing = asyncio.create_task(self._bring())
        self._news.set()

    def report(self, now: str) -> None:
        """The editor's text has changed."""
        if not self._begun:
            return
        self.mirror.report(now)
        self._reported.set()
        self._news.set()
        self._tell(self)

    async def read_review(self) -> None:
        """Ask what waits for review."""
        found = await self.client.get("/api/review", path=self.path)
        self.draft = next(iter(found["documents"]), None)
        self._tell(self)

    @property
    def placed(self) -> list[PlacedHunk]:
        """What waits, and where it is in the text that the editor shows."""
        return [] if self.draft is None else list(place_hunks(self.draft["hunks"], self.mirror.seen))

    async def decide(self, act: str, hunk_ids: Sequence[str]) -> None:
        """Accept or reject; everything typed is at the server before."""
        await self.room.wait_for_delivery()
        await self.client.post(f"/api/review/{act}", {"hunks": {self.path: list(hunk_ids)}})
        await self.read_review()

    async def save(self) -> None:
        """Write what is accepted and what the person typed to the file."""
        await self.room.wait_for_delivery()
        tab = await self.client.post("/api/tabs", {"path": self.path})
        await self.client.post(f"/api/tabs/{tab['tab_id']}/save", {})

    async def close(self) -> None:
        if self._bringing is not None:
            self._bringing.cancel()
        if self._begun:
            await self.room.wait_for_delivery()
        await self.room.close()

    def _came(self) -> None:
        self._news.set()

    def _ended(self) -> None:
        if self._bringing is not None:
            self._bringing.cancel()

    async def _bring(self) -> None:
        """Have the editor show what came from the server, whenever something did."""
        while True:
            await self._news.wait()
            self._news.clear()
            while not self.mirror.is_current:
                edits = self.mirror.make_offer()
                if edits is None:
                    break
                self._reported.clear()
                if not await self._ask(self, edits):
                    self.mirror.withdraw_offer()
                    await asyncio.sleep(AGAIN_SECONDS)
                elif self.mirror.is_waiting:
                    # It says that it did; what it shows now, with what is typed meanwhile, it reports apart from that.
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(self._reported.wait(), REPORT_SECONDS)
            self._tell(self)
