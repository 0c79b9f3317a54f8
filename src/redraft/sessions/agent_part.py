"""What agents changed in a document since some earlier text: that text with the agents' changes, and no others.

`agents_part` is pure: it follows the document's changes line by line, for two texts: the document and the agents' part.
A person's line is in the first alone; a line that they deleted stays in the second. If an agent rewrites a person's
line, the two cannot be separated: that is refused, never guessed. `changes` reads from the history who changed what.
What another program wrote, including an agent's own editor, belongs to no turn and counts as the person's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from redraft.errors import Refused
from redraft.text.diff.line_diff import diff_lines
from redraft.text.lines import adopt_newlines, split_lines
from redraft.workspace.past_texts import MAX_TURNS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from redraft.history.turns import TurnRecord
    from redraft.workspace.workspace import Workspace

Who = Literal["agent", "person", "both"]
TAKEN_BACK = frozenset({"undo", "restore", "rollback"})


class AttributedChange(NamedTuple):
    """The document's text after a change, and who made it. `back` means that it undid an earlier one."""

    text: str
    who: Who = "person"
    back: bool = False
    turn: int | None = None
    when: float = 0.0


class Commit(NamedTuple):
    """The document's text in git, and since when."""

    text: str
    when: int


class AttributedLine(NamedTuple):
    """A line of the document, of the part, or of both. A line that a person only deleted stays `behind` the line before
    it; one that they replaced, before its replacement."""

    text: str
    here: bool = True
    part: bool = True
    behind: bool = False


def agents_part(start: str, changes: Iterable[AttributedChange]) -> str:
    """The first text with the agents' changes; raises `conflict` if they cannot be separated from others' changes."""
    *_, last = parts(start, changes)
    return last


def parts(start: str, changes: Iterable[AttributedChange]) -> Iterator[str]:
    """The part at the start, and after each change."""
    text = _end_with_newline(start)
    lines = [AttributedLine(line) for line in split_lines(text)]
    known = {text: lines}
    open_ended = _open_end(start)
    yield start
    for change in changes:
        new = _end_with_newline(change.text)
        open_ended |= _open_end(change.text)
        lines = known[new] if change.back and new in known else _apply_change(lines, text, new, change)
        text = new
        known[text] = lines
        part = [line.text for line in lines if line.part]
        if part and (bare := part[-1].rstrip("\r\n")) in open_ended:
            part[-1] = bare
        yield "".join(part)


def _apply_change(lines: list[AttributedLine], old: str, new: str, change: AttributedChange) -> list[AttributedLine]:
    added = split_lines(new)
    made: list[AttributedLine] = []
    at = number = 0
    for region in diff_lines(old, new):
        at, number = _copy_lines(lines, made, at, region.old_start - number), region.old_end
        end = _copy_lines(lines, [], at, region.old_end - region.old_start, behind=False)
        made += _replace_lines(lines[at:end], added[region.new_start : region.new_end], change)
        at = end
    return made + lines[at:]


def _copy_lines(
    lines: list[AttributedLine], made: list[AttributedLine], at: int, count: int, *, behind: bool = True
) -> int:
    """Copy this many lines of the document, with the part's lines between and right after them; returns where they
    end."""
    start = at
    while count:
        count -= lines[at].here
        at += 1
    while behind and at < len(lines) and lines[at].behind:
        at += 1
    made += lines[start:at]
    return at


def _replace_lines(removed: list[AttributedLine], added: list[str], change: AttributedChange) -> list[AttributedLine]:
    """What replaces the lines that a change removed."""
    if change.who == "person":
        left = [line._replace(here=False, behind=not added) for line in removed if line.part]
        return [*left, *(AttributedLine(line, part=False) for line in added)]
    if change.who == "both" or (added and any(line.here != line.part for line in removed)):
        near = _quote_first_line(added or [line.text for line in removed])
        raise Refused(
            f"Turn {change.turn} mixed the agent's words with yours, near {near}. They cannot be separated; "
            "commit the whole document.",
            code="conflict",
            turn=change.turn,
        )
    return [*(line for line in removed if not line.here), *(AttributedLine(line) for line in added)]


def _quote_first_line(lines: list[str]) -> str:
    return repr(next((line.strip() for line in lines if line.strip()), "")[:60])


def _end_with_newline(text: str) -> str:
    """The text with a newline after its last line, so that a line below does not change it."""
    return text if not text or text[-1] in "\r\n" else text + adopt_newlines("\n", text)


def _open_end(text: str) -> set[str]:
    """The last line, if there is no newline after it."""
    return set() if not text or text[-1] in "\r\n" else set(split_lines(text)[-1:])


def agents_part_since(versions: Sequence[Commit], changes: Sequence[AttributedChange]) -> str | None:
    """The agents' part of the document since the first of these commits, the newest; None if that is unknown.

    A commit that contains only the agents' part never was the document's text: it is found on the way from an older one
    that was. A commit that the history saw neither way was made in between, and is placed by its time.
    """
    newest = versions[0]
    for version in versions:
        at = max((number for number, change in enumerate(changes) if change.text == version.text), default=None)
        if at is not None:
            found = _part_through(newest.text, version.text, changes[at + 1 :])
            return _part_since_time(newest, changes) if found is None else found
    return _part_since_time(newest, changes)


def _part_through(wanted: str, start: str, changes: Sequence[AttributedChange]) -> str | None:
    """The last part from this start on; None if none on the way equals `wanted`."""
    met, part = False, start
    try:
        for part in parts(start, changes):
            met = met or part == wanted
    except Refused:
        if met:
            raise
    return part if met else None


def _part_since_time(commit: Commit, changes: Sequence[AttributedChange]) -> str | None:
    """The same from a text that the history never saw. Commit times are in whole seconds; a turn of that same second is
    included if its changes are. None if an agent's words are older and still in the document, but not in the commit."""
    has = set(split_lines(_end_with_newline(commit.text)))
    lines = [set(split_lines(_end_with_newline(change.text))) for change in changes]
    at = -1
    for number, change in enumerate(changes):
        if change.turn is None:
            continue
        added, removed = lines[number] - lines[number - 1], lines[number - 1] - lines[number]
        if change.when >= commit.when and (change.when >= commit.when + 1 or not added <= has or removed & has):
            break
        at = number
        if change.who != "person" and (added & lines[-1]) - has:
            return None
    return agents_part(commit.text, changes[at + 1 :])


def changes(workspace: Workspace, path: str, now: str) -> list[AttributedChange]:
    """The document's texts in the history, oldest first, up to its current one."""
    mixed = _find_mixed_turns(workspace, path)
    found: list[AttributedChange] = []
    for number, text in workspace.revisions(path, now):
        if number is None:
            found.append(AttributedChange(text))
            continue
        turn = workspace.show(number)
        if turn.author.kind == "outside":
            found.append(AttributedChange(text))  # a person's editor wrote it, and the time it was noticed says little
            continue
        who = "both" if number in mixed else _turn_author(workspace, turn)
        found.append(AttributedChange(text, who, turn.kind in TAKEN_BACK, number, turn.created))
    return found


def _turn_author(workspace: Workspace, turn: TurnRecord) -> Who:
    """Whose words a turn added or removed. Undoing an agent's turn removes the agent's."""
    while turn.kind in TAKEN_BACK and turn.source is not None:
        turn = workspace.show(turn.source)
    return "agent" if turn.author.is_agent else "person"


def _find_mixed_turns(workspace: Workspace, path: str) -> set[int]:
    """The proposals that were accepted while the review also had the person's own words: both were saved together."""
    found: set[int] = set()
    for turn in workspace.turns(limit=MAX_TURNS, path=path):
        for step in turn.reviews if turn.kind == "accept" and turn.source is not None else ():
            draft = None if step.before is None else workspace.draft_of(step.before)
            if draft is not None and any(hunk.author != "agent" for hunk in draft.review.hunks):
                found.add(turn.source or 0)
    return found
