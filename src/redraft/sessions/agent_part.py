"""What of a document is its agents' doing since some text of it: that text with the agents' changes, and no others.

`agents_part` is pure: it carries two texts along the document's changes, line by line, the document and the part. A
person's line is in the first alone; a line that they took away stays in the second. An agent who rewrites a person's
line mixes both, and then they cannot be parted: that is refused, never guessed. `changes` reads who changed what from
the history. What another program wrote, an agent's own editor among them, is nobody's turn and counts as the person's.
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
    """What the document said after a change, and whose it was. `back` says that it took an earlier one back."""

    text: str
    who: Who = "person"
    back: bool = False
    turn: int | None = None
    when: float = 0.0


class Commit(NamedTuple):
    """What git has of the document, and since when."""

    text: str
    when: int


class AttributedLine(NamedTuple):
    """A line of the document, of the part, or of both. One that a person only took away stays `behind` the line before
    it; one that they replaced, before the lines that stand for it now."""

    text: str
    here: bool = True
    part: bool = True
    behind: bool = False


def agents_part(start: str, changes: Iterable[AttributedChange]) -> str:
    """The first text with what agents made of it; `conflict` where that cannot be told from what others did."""
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
    """Copy so many lines of the document, with those of the part among them and just behind; gives where they end."""
    start = at
    while count:
        count -= lines[at].here
        at += 1
    while behind and at < len(lines) and lines[at].behind:
        at += 1
    made += lines[start:at]
    return at


def _replace_lines(gone: list[AttributedLine], added: list[str], change: AttributedChange) -> list[AttributedLine]:
    """What stands in the place of the lines that a change took away."""
    if change.who == "person":
        left = [line._replace(here=False, behind=not added) for line in gone if line.part]
        return [*left, *(AttributedLine(line, part=False) for line in added)]
    if change.who == "both" or (added and any(line.here != line.part for line in gone)):
        near = _quote_first_line(added or [line.text for line in gone])
        raise Refused(
            f"Turn {change.turn} mixed the agent's words with yours, near {near}. They cannot be separated; "
            "commit the whole document.",
            code="conflict",
            turn=change.turn,
        )
    return [*(line for line in gone if not line.here), *(AttributedLine(line) for line in added)]


def _quote_first_line(lines: list[str]) -> str:
    return repr(next((line.strip() for line in lines if line.strip()), "")[:60])


def _end_with_newline(text: str) -> str:
    """The text with a break after its last line, so that a line below changes nothing in it."""
    return text if not text or text[-1] in "\r\n" else text + adopt_newlines("\n", text)


def _open_end(text: str) -> set[str]:
    """The last line, if there is no break after it."""
    return set() if not text or text[-1] in "\r\n" else set(split_lines(text)[-1:])


def agents_part_since(versions: Sequence[Commit], said: Sequence[AttributedChange]) -> str | None:
    """The agents' part of the document since the first of these commits, the newest; None where nobody can say.

    A commit that holds an agents' part alone never was the document's text: it is found on the way from an older one
    that was. One that the history saw neither way was made in between, and stands where its time says.
    """
    newest = versions[0]
    for version in versions:
        at = max((number for number, change in enumerate(said) if change.text == version.text), default=None)
        if at is not None:
            found = _part_through(newest.text, version.text, said[at + 1 :])
            return _part_since_time(newest, said) if found is None else found
    return _part_since_time(newest, said)


def _part_through(wanted: str, start: str, said: Sequence[AttributedChange]) -> str | None:
    """The last part from this start on; None where none on the way is the one that is wanted."""
    met, part = False, start
    try:
        for part in parts(start, said):
            met = met or part == wanted
    except Refused:
        if met:
            raise
    return part if met else None


def _part_since_time(commit: Commit, said: Sequence[AttributedChange]) -> str | None:
    """The same from a text that the history never saw. Its time is one of whole seconds; a turn of that very second is
    in it if its changes are. None where an agent's words are older and still in the document, and yet not in it."""
    has = set(split_lines(_end_with_newline(commit.text)))
    lines = [set(split_lines(_end_with_newline(change.text))) for change in said]
    at = -1
    for number, change in enumerate(said):
        if change.turn is None:
            continue
        added, gone = lines[number] - lines[number - 1], lines[number - 1] - lines[number]
        if change.when >= commit.when and (change.when >= commit.when + 1 or not added <= has or gone & has):
            break
        at = number
        if change.who != "person" and (added & lines[-1]) - has:
            return None
    return agents_part(commit.text, said[at + 1 :])


def changes(workspace: Workspace, path: str, now: str) -> list[AttributedChange]:
    """The document's texts as the history has them, the oldest first, up to what it says now."""
    mixed = _mixed_turns(workspace, path)
    found: list[AttributedChange] = []
    for number, text in workspace.revisions(path, now):
        if number is None:
            found.append(AttributedChange(text))
            continue
        turn = workspace.show(number)
        if turn.author.kind == "outside":
            found.append(AttributedChange(text))  # a person's editor wrote it, and when it was noticed says little
            continue
        who = "both" if number in mixed else _turn_author(workspace, turn)
        found.append(AttributedChange(text, who, turn.kind in TAKEN_BACK, number, turn.created))
    return found


def _turn_author(workspace: Workspace, turn: TurnRecord) -> Who:
    """Whose words a turn put in or took out. Taking an agent's turn back takes out the agent's."""
    while turn.kind in TAKEN_BACK and turn.source is not None:
        turn = workspace.show(turn.source)
    return "agent" if turn.author.is_agent else "person"


def _mixed_turns(workspace: Workspace, path: str) -> set[int]:
    """The proposals that were accepted while the review also held the person's own words: both were saved in one."""
    found: set[int] = set()
    for turn in workspace.turns(limit=MAX_TURNS, path=path):
        for step in turn.reviews if turn.kind == "accept" and turn.source is not None else ():
            draft = None if step.before is None else workspace.draft_of(step.before)
            if draft is not None and any(hunk.author != "agent" for hunk in draft.review.hunks):
                found.add(turn.source or 0)
    return found
