"""What the state machine watches: a folder, two programs on it, and everything the person typed, to be found again."""

from __future__ import annotations

import shutil
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from redraft.errors import Refused
from redraft.history.turns import Author
from redraft.workspace.document import FILE_HUNK
from redraft.workspace.workspace import Workspace

if TYPE_CHECKING:
    from redraft.workspace.document import Draft

AGENT = Author("agent", "agent")
PLACES = ("one.md", "two.md", "three.md", "sub/four.md", "sub/deep/five.md")
START = "# Title\n\nfirst\nsecond\n\n- a\n- b\n"
FIRST_KEY = 0xE000


def expect(refusal: Refused, *codes: str) -> None:
    """Let a refusal pass that the rules of the house foresee; any other is a fault."""
    if refusal.code not in codes:
        raise refusal


class Watched:
    """The folder, the programs, and the keys: each a character that the person typed once and nobody else knows."""

    def __init__(self) -> None:
        self.top = Path(tempfile.mkdtemp(prefix="redraft-desk-"))
        self.folder = self.top / "folder"
        self.folder.mkdir()
        for name in PLACES[:2]:
            (self.folder / name).write_text(START, encoding="utf-8")
        self.must_stay = set[str]()
        self.marked = set[str]()
        self.ever_typed = set[str]()
        self.programs = [self.opened(), self.opened()]

    def opened(self) -> Workspace:
        return Workspace.open(self.folder, state_home=str(self.top / "state"))

    def close(self) -> None:
        for program in self.programs:
            program.close()
        shutil.rmtree(self.top)

    @property
    def any(self) -> Workspace:
        """Whichever program: they must agree."""
        return self.programs[len(self.ever_typed) % 2]

    def disk(self) -> dict[str, str]:
        files = (self.folder / name for name in PLACES)
        return {str(file.relative_to(self.folder)): file.read_bytes().decode() for file in files if file.exists()}

    def documents(self) -> list[str]:
        """What a reader finds."""
        return [name for name in PLACES if self._is_there(name)]

    def _is_there(self, name: str) -> bool:
        try:
            self.any.read(name)
        except Refused as refusal:
            expect(refusal, "not_found")
            return False
        return True

    def own_texts(self) -> dict[str, str]:
        """What the person would have if every agent's pending hunk were refused now, by the place on disk."""
        texts = self.disk()
        for draft in self.any.drafts():
            texts[draft.base_path or draft.key] = draft.review.to_save
        return texts

    def typed(self) -> str:
        """A key to type."""
        return chr(FIRST_KEY + len(self.ever_typed))

    def was_typed(self, key: str) -> None:
        self.must_stay.add(key)
        self.ever_typed.add(key)

    def agreed(self) -> None:
        """The person did something that may take their own words away; what is gone now is gone by their will."""
        own = "".join(self.own_texts().values())
        self.must_stay = {key for key in self.must_stay if key in own}
        self.marked |= {key for key in self.must_stay if own.count(key) > 1}

    def marked_in(self, name: str) -> None:
        """Both sides' words and what was there before stand in the text, marked: a key may be there twice."""
        self.marked |= {key for key in self.must_stay if key in self.own_texts()[name]}

    # What must hold

    def check_keys(self) -> None:
        """Every key is there once. Where words could not be parted it may stand twice, in a place that is marked."""
        own = "".join(self.own_texts().values())
        lost = sorted(key for key in self.must_stay if key not in own)
        assert not lost, f"{lost} are gone from {self.own_texts()}"
        drafts = self.any.drafts()
        shown = "".join(hunk.working for draft in drafts for hunk in draft.review.hunks if hunk.conflict)
        self.marked |= {key for key in self.must_stay if key in shown}
        twice = sorted(key for key in self.must_stay - self.marked if own.count(key) > 1)
        assert not twice, f"{twice} are doubled in {self.own_texts()}"

    def check_pending_hunks_have_an_open_turn(self) -> None:
        proposed = self.any.proposals().values()
        open_hunks = {
            (path, name) for turn in proposed for path, names in self.any.hunks_of_turn(turn).items() for name in names
        }
        pending = {(draft.key, name) for draft in self.any.drafts() for name in _agents(draft)}
        assert pending <= open_hunks, f"{pending - open_hunks} belong to no open turn"

    def check_history_has_everything_typed(self) -> None:
        database = self.any.database
        kept = [zlib.decompress(row[0]).decode() for row in database.rows("SELECT data FROM blocks")]
        kept += [row[0].encode().decode("unicode_escape") for row in database.rows("SELECT change FROM typing")]
        lost = [key for key in self.ever_typed if not any(key in text for text in kept)]
        assert not lost, f"{lost} are nowhere in the history"


def _agents(draft: Draft) -> list[str]:
    ids = draft.hunk_ids(of_agents=True)
    file = draft.file_hunk()
    return [name for name in ids if name != FILE_HUNK or (file is not None and file["author"] == "agent")]


def naive_own_text(draft: Draft) -> str | None:
    """What refusing everything must leave, part by part; None where the person typed into an agent's hunk."""
    texts: list[str] = []
    for part in draft.review.parts:
        if part.author == "mixed":
            return None
        texts.append(part.working if part.author == "user" else part.base)
    return "".join(texts)


def has_conflict(draft: Draft, chosen: list[str]) -> bool:
    """Whether a choice holds a conflict that has to be settled first."""
    whole = draft.kind in ("created", "deleted")
    return any(hunk.unsettled and (whole or hunk.id in chosen) for hunk in draft.review.hunks)
