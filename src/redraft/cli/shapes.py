"""How turns and pending documents are told to people, in words. For machines, see `workspace.shapes`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from redraft.cli.command import counted
from redraft.cli.screen import BOLD, CYAN, DIM, GREEN, RED, YELLOW, Styled
from redraft.workspace.shapes import decided_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.cli.screen import Screen
    from redraft.history.turns import TurnRecord
    from redraft.workspace.draft import Draft
    from redraft.workspace.workspace import Workspace

STATE_STYLES = {"proposed": YELLOW, "applied": GREEN, "discarded": DIM, "undone": DIM, "applying": RED}
AUTHOR_STYLES = {"agent": CYAN, "user": GREEN, "mixed": YELLOW, "none": DIM}
AUTHOR_WORDS = {"agent": "agent's", "user": "your own", "mixed": "agent's and yours", "none": "unchanged"}
MAX_PATHS_IN_A_LINE = 3
MAX_TITLE_IN_A_LINE = 72


def changes(workspace: Workspace, turn: TurnRecord) -> list[dict[str, Any]]:
    """What became of each document in a turn, or would: created, modified, moved, deleted, or only decided about."""
    left = {step.moved_from for step in turn.files}
    found = [
        {"path": step.path, "action": step.action, "moved_from": step.moved_from}
        for step in turn.files
        if step.after is not None or step.path not in left or turn.pruned
    ]
    written = {step.path for step in turn.files}
    drafts = {
        step.path: None if step.after is None else workspace.engine.documents.from_image(step.after)
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


def change_line(screen: Screen, change: Mapping[str, Any]) -> None:
    origin = f" (from {change['moved_from']})" if change["moved_from"] else ""
    screen.line("  ", Styled(f"{change['action']:<9}", YELLOW), Styled(change["path"], BOLD), origin)


def turn_line(screen: Screen, turn: TurnRecord) -> None:
    """A turn on one line: number, time, state, author, title, documents."""
    state = str(turn.state)
    documents = "" if all(path in turn.title for path in turn.paths) else few(turn.paths)
    screen.line(
        Styled(f"{turn.id:>5}", BOLD),
        Styled(f"  {when(turn.created)}  ", DIM),
        Styled(f"{state:<9}", STATE_STYLES.get(state, "")),
        "  ",
        Styled(str(turn.author), AUTHOR_STYLES["agent" if turn.author.is_agent else "user"]),
        f"  {short(turn.title)}",
        Styled(f"  {documents}" if documents else "", DIM),
    )


def when(timestamp: float) -> str:
    """The person's own clock, to the minute."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(timestamp, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):  # a time that no calendar has: a damaged history
        return "unknown time"


def short(title: str) -> str:
    return title if len(title) <= MAX_TITLE_IN_A_LINE else title[: MAX_TITLE_IN_A_LINE - 1] + "…"


def few(paths: tuple[str, ...] | list[str]) -> str:
    """Some names, and how many more."""
    shown = ", ".join(paths[:MAX_PATHS_IN_A_LINE])
    more = len(paths) - MAX_PATHS_IN_A_LINE
    return f"{shown} and {more} more" if more > 0 else shown


def draft_line(screen: Screen, draft: Draft) -> None:
    """A document on one line: its name, what would become of it, and what waits."""
    conflicts = sum(hunk.conflict for hunk in draft.review.hunks)
    parts: list[str | Styled] = ["  ", Styled(name_of(draft), BOLD)]
    if draft.kind != "modified":
        parts.append(Styled(f"  {draft.kind}", YELLOW))
    if (what := hunks_in_words(draft)) != "":
        parts.append(f"  {what}")
    if conflicts:
        parts.append(Styled(f"  {counted(conflicts, 'conflict')}", RED))
    if draft.dirty and draft.kind != "created":
        parts.append(Styled("  not saved yet", YELLOW))
    screen.line(*parts)


def name_of(draft: Draft) -> str:
    return f"{draft.base_path} -> {draft.path}" if draft.kind == "moved" else draft.key


def hunks_in_words(draft: Draft) -> str:
    """`3 hunks: 2 agent's, 1 your own`, `1 hunk, agent's`; a created or deleted document is decided whole."""
    if decided_whole(draft):
        return ""
    authors = Counter(hunk.author for hunk in draft.review.hunks)
    if not authors:
        return ""
    if len(authors) == 1:
        return f"{counted(authors.total(), 'hunk')}, {AUTHOR_WORDS[next(iter(authors))]}"
    by_author = ", ".join(f"{authors[name]} {AUTHOR_WORDS[name]}" for name in AUTHOR_WORDS if authors[name])
    return f"{counted(authors.total(), 'hunk')}: {by_author}"
