"""Import a document that has suggested changes and comments, and export one with them.

An import writes the text without the suggestions as the person's turn; each author's suggestions become a turn of
theirs that waits for a decision, and comments become threads. An export turns what is pending into suggestions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import RedraftError, Refused
from redraft.formats.criticmarkup import CriticComment, CriticEdit, CriticText
from redraft.history.turns import PERSON, UNSIGNED, suggester
from redraft.text.edits import Change, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from redraft.history.turns import TurnRecord
    from redraft.review.review import Review
    from redraft.text.edits import Edit
    from redraft.workspace.comments import CommentThread
    from redraft.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ImportedDocument:
    """What an import made: the turns, the person's first, and the threads."""

    path: str
    turns: tuple[TurnRecord, ...]
    comments: tuple[CommentThread, ...]


def import_suggestions(
    workspace: Workspace, path: str, given: CriticText, *, bom: bool = False, in_place: bool = False
) -> ImportedDocument:
    """Make a document from a text with suggestions. `in_place` means that the document already exists and contains the
    marks."""
    name = path.rpartition("/")[2]
    with workspace.turn(PERSON, f"Import {name}") as turn:
        if in_place:
            turn.write(path, given.base, turn.read(path).version)
        else:
            turn.create(path, given.base, bom=bom)
    turns = [turn.outcome.turn] if turn.outcome and turn.outcome.turn else []
    try:
        turns += _suggest(workspace, path, given.edits, f"Suggested in {name}")
        if str(workspace.read(path).text) != given.accepted:
            raise Refused(f"The changes in {path} could not be proposed as they are.", code="conflict", path=path)
    except RedraftError:
        for made in reversed(turns):
            workspace.undo(made.id)
        raise
    comments = [
        workspace.comments.add(path, each.span if len(each.span) else None, each.says, author=suggester(each.author))
        for each in given.comments
        if each.says
    ]
    return ImportedDocument(path, tuple(turns), tuple(comments))


def _suggest(workspace: Workspace, path: str, edits: Sequence[CriticEdit], title: str) -> Iterator[TurnRecord]:
    """Make one turn for each author, in the order in which they first appear."""
    done = [False] * len(edits)
    for author in dict.fromkeys(each.author for each in edits):
        growth = 0
        theirs: list[Edit] = []
        for index, each in enumerate(edits):
            if each.author == author:
                theirs.append(each.edit.shift(growth))
                done[index] = True
            elif done[index]:
                growth += each.edit.growth
        with workspace.turn(suggester(author), title, suggest=True) as turn:
            turn.edit(path, theirs, turn.read(path).version)
        if turn.outcome and turn.outcome.turn:
            yield turn.outcome.turn


def pending_suggestions(workspace: Workspace, path: str) -> CriticText:
    """The document with its pending changes, each by its author, and its open threads."""
    document = workspace.read(path)
    end = Span(len(document.text), len(document.text))
    comments = tuple(
        CriticComment(thread.span or end, entry.says, "" if entry.by == UNSIGNED else entry.by)
        for thread in workspace.comments.threads(path)
        if not thread.resolved
        for entry in thread.messages
    )
    draft = workspace.draft(path)
    if draft is None:
        return CriticText(str(document.text), (), comments)
    numbers = workspace.proposals()
    authors = {token: workspace.show(number).author.name for token, number in numbers.items()}
    return CriticText(draft.review.to_save, tuple(_pending_edits(draft.review, authors)), comments)


def _pending_edits(review: Review, authors: Mapping[str, str]) -> Iterator[CriticEdit]:
    """The edits that lead from the text that would be saved to the visible one, in whole words."""
    at = 0
    for part in review.parts:
        author = authors.get(part.turn, "")
        for edit in Change.between(part.own, part.working, words=True).edits:
            yield CriticEdit(edit.shift(at), "" if author == UNSIGNED else author)
        at += len(part.own)
