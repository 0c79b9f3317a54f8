"""Which hunks a person means: by id or the beginning of one, by document, by turn, or all of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from redraft.errors import Refused

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from redraft.review.operations import Unit
    from redraft.workspace.document import Draft
    from redraft.workspace.workspace import Workspace

    Choice = dict[str, Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class HunkSelection:
    """What was asked for. Several selectors narrow each other. Until `separate_paths`, `hunks` may name
    documents."""

    hunks: tuple[str, ...]
    paths: tuple[str, ...]
    turn: int | None
    everything: bool
    unit: Unit = "words"

    @staticmethod
    def of(arguments: Namespace) -> HunkSelection:
        return HunkSelection(
            tuple(arguments.names), tuple(arguments.path), arguments.turn, arguments.all, arguments.unit
        )

    @property
    def is_empty(self) -> bool:
        return not (self.hunks or self.paths or self.turn is not None or self.everything)


def select_hunks(workspace: Workspace, wish: HunkSelection) -> Choice:
    """The hunks of each document; None stands for all that can be decided in it."""
    if wish.is_empty:
        raise Refused("Nothing is selected: name hunk ids or documents, or use --turn or --all.")
    wish = separate_paths(workspace, wish)
    choice = _by_turn(workspace, wish) if wish.turn is not None else _by_document(workspace, wish)
    return {**workspace.expand_choice(_by_id(workspace, wish.hunks, choice), wish.unit)} if wish.hunks else choice


def separate_paths(workspace: Workspace, wish: HunkSelection) -> HunkSelection:
    """The wish with the documents among its names told from the hunks. A name that could be either is refused."""
    drafts = workspace.drafts()
    ids = [hunk for draft in drafts for hunk in draft.hunk_ids()]
    known = {path for draft in drafts for path in (draft.path, draft.base_path)}
    hunks: list[str] = []
    paths = list(wish.paths)
    for name in wish.hunks:
        is_hunk = bool(match_ids(name, ids))
        if is_hunk and name in known:
            raise Refused(f"{name} is both a hunk and a document. Use --path for the document, or type more of the id.")
        is_path = name in known or (not is_hunk and ("." in name or "/" in name))
        (paths if is_path else hunks).append(name)
    return replace(wish, hunks=tuple(hunks), paths=tuple(paths))


def _by_document(workspace: Workspace, wish: HunkSelection) -> Choice:
    if wish.paths:
        return {_find_draft(workspace, path).key: None for path in wish.paths}
    return {draft.key: None for draft in workspace.drafts() if draft.pending or wish.hunks}


def _find_draft(workspace: Workspace, path: str) -> Draft:
    draft = workspace.draft(path)
    if draft is None:
        # A moved document is also found under the name that it still has on disk.
        draft = next((each for each in workspace.drafts() if each.base_path == path), None)
    if draft is None:
        raise Refused(f"Nothing is pending in {path}.", code="hunk_not_found", path=path)
    return draft


def _by_turn(workspace: Workspace, wish: HunkSelection) -> Choice:
    number = wish.turn or 0
    wanted = {_find_draft(workspace, path).key for path in wish.paths}
    choice: Choice = {
        path: ids for path, ids in workspace.hunks_of_turn(number).items() if not wanted or path in wanted
    }
    if not choice:
        raise Refused(f"Turn {number} has nothing left to decide.", code="hunk_not_found", turn=number)
    return choice


def _by_id(workspace: Workspace, names: Sequence[str], within: Choice) -> Choice:
    """Each name must be that of one hunk, in one document."""
    drafts = {draft.key: draft for draft in workspace.drafts() if draft.key in within}
    known = {
        path: list(allowed) if (allowed := within[path]) is not None else drafts[path].hunk_ids() for path in drafts
    }
    chosen: dict[str, list[str]] = {}
    for name in names:
        found = [(path, hunk) for path, ids in known.items() for hunk in match_ids(name, ids)]
        path, hunk = _require_one(name, found)
        chosen.setdefault(path, []).append(hunk)
    return {**chosen}


def match_ids(name: str, ids: Sequence[str]) -> list[str]:
    """The ids that a name stands for: the one that is equal, else those that begin so, `h_` or not."""
    if name in ids:
        return [name]
    return [each for each in ids if name and each.startswith((name, f"h_{name}"))]


def _require_one(name: str, found: list[tuple[str, str]]) -> tuple[str, str]:
    if not found:
        raise Refused(f"No hunk {name} is pending.", code="hunk_not_found", hunk_id=name)
    if len(found) == 1:
        return found[0]
    if len({hunk for _, hunk in found}) == 1:
        documents = ", ".join(path for path, _ in found)
        raise Refused(f"{name} is in several documents: {documents}. Choose one with --path.", hunk_id=name)
    places = ", ".join(f"{hunk} in {path}" for path, hunk in found)
    raise Refused(f"{name} matches several hunks: {places}. Type more of the id.", hunk_id=name)
