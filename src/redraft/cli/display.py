"""How turns and pending documents are shown to people, as text. For machines, see `workspace.shapes`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from redraft.cli.command import pluralize
from redraft.cli.screen import ADDED_WORD, BOLD, CYAN, DIM, GREEN, RED, REMOVED_WORD, YELLOW, StyledText
from redraft.text.lines import newline_style, split_lines
from redraft.workspace.shapes import is_decided_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from redraft.cli.screen import Screen
    from redraft.history.turns import TurnRecord
    from redraft.review.review import ReviewHunk
    from redraft.text.edits import Edit
    from redraft.workspace.document import Draft
    from redraft.workspace.workspace import Workspace

STATE_STYLES = {"to review": YELLOW, "rejected": DIM, "undone": DIM, "applying": RED}
AUTHOR_STYLES = {"agent": CYAN, "user": GREEN, "mixed": YELLOW, "none": DIM}
AUTHOR_WORDS = {"agent": "agent's", "user": "your own", "mixed": "agent's and yours", "none": "unchanged"}
# Where the person typed nothing, it is another program, or another agent, that wrote at the agent's words.
ANOTHERS_WORDS = "agent's and another program's"


def author_words(hunk: ReviewHunk) -> str:
    """Whose a hunk is, in words."""
    another = hunk.author == "mixed" and hunk.conflict and hunk.working == hunk.base
    return ANOTHERS_WORDS if another else AUTHOR_WORDS[hunk.author]


MAX_PATHS_IN_A_LINE = 3
MAX_TITLE_IN_A_LINE = 72


def document_changes(workspace: Workspace, turn: TurnRecord) -> list[dict[str, Any]]:
    """What a turn did (or would do) to each document: created, modified, moved, deleted, or only decided."""
    left = {step.moved_from for step in turn.files}
    found = [
        {"path": step.path, "action": step.action, "moved_from": step.moved_from}
        for step in turn.files
        if step.after is not None or step.path not in left or turn.pruned
    ]
    written = {step.path for step in turn.files}
    drafts = {
        step.path: None if step.after is None else workspace.draft_of(step.after)
        for step in turn.reviews
        if step.path not in written
    }
    for path, draft in drafts.items():
        if draft is None or turn.kind != "propose":
            action, origin = "decided", None
        else:
            action, origin = draft.kind, draft.base_path if draft.kind == "moved" else None
        found.append({"path": path, "action": action, "moved_from": origin})
    return found


def print_change(screen: Screen, change: Mapping[str, Any]) -> None:
    origin = f" (from {change['moved_from']})" if change["moved_from"] else ""
    screen.line("  ", StyledText(f"{change['action']:<9}", YELLOW), StyledText(change["path"], BOLD), origin)


def turn_state_words(turn: TurnRecord, listed: Iterable[TurnRecord] = ()) -> str:
    """What became of a turn, in the words of the app; `listed` are the turns among which its decisions are found."""
    if turn.state == "proposed":
        return "to review"
    if turn.state == "discarded":
        return "rejected"
    if turn.state != "applied" or turn.kind != "propose":
        return str(turn.state)
    decided = {other.kind for other in listed if other.source == turn.id and other.state == "applied"}
    return "partly accepted" if "reject" in decided else "accepted"


def print_turn(screen: Screen, turn: TurnRecord, listed: Iterable[TurnRecord] = ()) -> None:
    """A turn on one line: number, time, state, author, title, documents."""
    state = turn_state_words(turn, listed)
    documents = "" if all(path in turn.title for path in turn.paths) else summarize_paths(turn.paths)
    screen.line(
        StyledText(f"{turn.id:>5}", BOLD),
        StyledText(f"  {format_time(turn.created)}  ", DIM),
        StyledText(f"{state:<9}", STATE_STYLES.get(state, GREEN)),
        "  ",
        StyledText(str(turn.author), AUTHOR_STYLES["agent" if turn.author.is_agent else "user"]),
        f"  {shorten(turn.title)}",
        StyledText(f"  {documents}" if documents else "", DIM),
    )


def format_time(timestamp: float) -> str:
    """The person's own clock, to the minute."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(timestamp, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # a time that no calendar has: a damaged history
        return "unknown time"


def shorten(title: str) -> str:
    return title if len(title) <= MAX_TITLE_IN_A_LINE else title[: MAX_TITLE_IN_A_LINE - 1] + "…"


def summarize_paths(paths: tuple[str, ...] | list[str]) -> str:
    """Some names, and how many more."""
    shown = ", ".join(paths[:MAX_PATHS_IN_A_LINE])
    more = len(paths) - MAX_PATHS_IN_A_LINE
    return f"{shown} and {more} more" if more > 0 else shown


def print_draft(screen: Screen, draft: Draft) -> None:
    """A document on one line: its name, what would become of it, and what waits."""
    conflicts = sum(hunk.conflict for hunk in draft.review.hunks)
    parts: list[str | StyledText] = ["  ", StyledText(draft_name(draft), BOLD)]
    if draft.kind != "modified":
        parts.append(StyledText(f"  {draft.kind}", YELLOW))
    if (what := describe_hunks(draft)) != "":
        parts.append(f"  {what}")
    if conflicts:
        parts.append(StyledText(f"  {pluralize(conflicts, 'conflict')}", RED))
    if draft.dirty and draft.kind != "created":
        parts.append(StyledText("  not saved yet", YELLOW))
    screen.line(*parts)


def draft_name(draft: Draft) -> str:
    return f"{draft.base_path} -> {draft.path}" if draft.kind == "moved" else draft.key


def describe_hunks(draft: Draft) -> str:
    """`3 hunks: 2 agent's, 1 your own`, `1 hunk, agent's`; a created or deleted document is decided whole."""
    if is_decided_whole(draft):
        return ""
    authors = Counter(map(author_words, draft.review.hunks))
    if not authors:
        return ""
    if len(authors) == 1:
        return f"{pluralize(authors.total(), 'hunk')}, {next(iter(authors))}"
    every = (*AUTHOR_WORDS.values(), ANOTHERS_WORDS)
    by_author = ", ".join(f"{authors[words]} {words}" for words in every if authors[words])
    return f"{pluralize(authors.total(), 'hunk')}: {by_author}"


# A change as lines to read: removed and added lines, and on a terminal the words that differ.


CONTEXT_LINES = 2
# Far enough back to find two lines of context in any prose; a longer line is cut, and only from the context.
CONTEXT_REACH = 2000
# How much of a long line is shown on either side of a change within it.
LINE_REACH = 60


def show_change(screen: Screen, whole: str, at: int, old: str, new: str) -> None:
    """`old`, which stands at `at` in the text `whole`, becomes `new`; with a little of what is around it. Where the
    two are equal (what is disputed may stand as it was), it is shown once."""
    at, until, old, new = _widen_to_line(whole, at, old, new)
    ends = newline_style(old) != newline_style(new) and bool(old and new)
    for line in split_lines(whole[max(0, at - CONTEXT_REACH) : at])[-CONTEXT_LINES:]:
        screen.line("    ", StyledText(line.rstrip("\r\n"), DIM))
    if old == new:
        show_text(screen, "=", new, "")
    else:
        removed, added = _word_stretches(old, new) if screen.colour else ([(old, False)], [(new, False)])
        _show_side(screen, "-", removed, (RED, REMOVED_WORD), ends=ends)
        _show_side(screen, "+", added, (GREEN, ADDED_WORD), ends=ends)
    if old and new and old[-1] in "\r\n" and new[-1] not in "\r\n":
        screen.line("    ", StyledText("(no newline at end of file)", DIM))
    for line in split_lines(whole[until : until + CONTEXT_REACH])[:CONTEXT_LINES]:
        screen.line("    ", StyledText(line.rstrip("\r\n"), DIM))


def _widen_to_line(whole: str, at: int, old: str, new: str) -> tuple[int, int, str, str]:
    """A change within a line with the rest of that line, as far as fits beside it; and where both stand."""
    end = at + len(old)
    start = max(whole.rfind("\n", 0, at), whole.rfind("\r", 0, at)) + 1
    whole_lines = start == at and (old or new)[-1:] in ("\r", "\n")
    if whole_lines or end == len(whole):
        stop = end
    else:
        breaks = [place for mark in "\r\n" if (place := whole.find(mark, end)) >= 0]
        stop = min(breaks, default=len(whole))
    head, tail = whole[start:at], whole[end:stop]
    before = head if len(head) <= LINE_REACH else "…" + head[-LINE_REACH:]
    behind = tail if len(tail) <= LINE_REACH else tail[:LINE_REACH] + "…"
    old, new = before + old + behind, before + new + behind
    # The break at its end is the line's own, and no empty line behind it.
    inside = new and not {old[-1:], new[-1:]} & {"\r", "\n"}
    until = stop + (2 if whole.startswith("\r\n", stop) else 1) if inside else end
    return start, until, old, new


def show_text(screen: Screen, sign: str, text: str, style: str) -> None:
    """A text with a sign before each line."""
    _show_side(screen, sign, [(text, False)], (style, style), ends=False)


def _word_stretches(old: str, new: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    """Both sides as stretches, each with whether it differs from the other side."""
    from redraft.text.diff.word_diff import word_edits

    if not old or not new:
        return [(old, False)], [(new, False)]
    edits = word_edits(old, new)
    return list(_stretches(old, ((edit, edit.old) for edit in edits))), list(
        _stretches(old, ((edit, edit.new) for edit in edits))
    )


def _stretches(old: str, edits: Iterable[tuple[Edit, str]]) -> Iterator[tuple[str, bool]]:
    at = 0
    for edit, text in edits:
        yield old[at : edit.at], False
        yield text, True
        at = edit.end
    yield old[at:], False


def _show_side(
    screen: Screen, sign: str, stretches: list[tuple[str, bool]], styles: tuple[str, str], *, ends: bool
) -> None:
    plain, marked = styles
    for line in _stretch_lines(stretches):
        parts = [
            StyledText(text if ends else text.rstrip("\r\n"), marked if changed else plain) for text, changed in line
        ]
        screen.line(StyledText(f"  {sign} ", plain), *parts)


def _stretch_lines(stretches: Iterable[tuple[str, bool]]) -> Iterator[list[tuple[str, bool]]]:
    """The stretches, cut at line ends."""
    line: list[tuple[str, bool]] = []
    for text, changed in stretches:
        for piece in split_lines(text):
            line.append((piece, changed))
            if piece[-1] in "\r\n":
                yield line
                line = []
    if line:
        yield line
