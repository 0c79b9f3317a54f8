"""`redraft diff`, `accept` and `reject`: looking at what is pending, and deciding it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.choosing import Wish, choose
from redraft.cli.command import Call, Command, add_paths, counted, turn_number
from redraft.cli.hunk_lines import show_change, show_text
from redraft.cli.screen import BOLD, CYAN, DIM, RED, YELLOW, Styled
from redraft.cli.shapes import AUTHOR_STYLES, AUTHOR_WORDS, name_of
from redraft.workspace.shapes import decided_whole, draft_shape, proposals, turn_shape

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Mapping, Sequence

    from redraft.review.review import ReviewHunk
    from redraft.workspace.decisions import Decided
    from redraft.workspace.draft import Draft
    from redraft.workspace.workspace import Workspace

FILE_WORDS = {
    "created": "a new document, to be taken or refused whole",
    "deleted": "the document would go to the trash",
    "moved": "the document would move",
}


def diff(call: Call) -> int:
    with call.workspace() as workspace:
        drafts = _wanted(workspace, [*call.arguments.paths, *call.arguments.path])
        turns = proposals(workspace)
        if call.arguments.patch:
            patch = "".join(patch_of(draft) for draft in drafts)
            if call.screen.json:
                call.emit({"patch": patch})
            else:
                call.screen.content(patch)
        elif call.screen.json:
            call.emit({"documents": [draft_shape(draft, turns) for draft in drafts]})
        else:
            _tell(call, drafts, turns)
    return 0


def _wanted(workspace: Workspace, paths: Sequence[str]) -> list[Draft]:
    drafts = list(workspace.drafts())
    if not paths:
        return drafts
    for path in paths:
        if not any(path in (draft.path, draft.base_path) for draft in drafts):
            workspace.read(path)  # refuses what is no document; one in which nothing is pending is no failure
    return [draft for draft in drafts if draft.path in paths or draft.base_path in paths]


def patch_of(draft: Draft) -> str:
    """From what the disk holds to the working text, as `git apply` takes it."""
    from redraft.text.patch import format_patch

    mark = "\ufeff" if draft.bom else ""
    old = None if draft.base_path is None else mark + draft.saved_text
    new = None if draft.path is None else mark + draft.review.working
    return format_patch(draft.key, old, new, old_path=draft.base_path)


def _tell(call: Call, drafts: Sequence[Draft], turns: Mapping[str, int]) -> None:
    screen = call.screen
    for draft in drafts:
        screen.line(Styled(name_of(draft), BOLD), Styled("" if draft.kind == "modified" else f"  {draft.kind}", YELLOW))
        if draft.kind != "modified":
            screen.line("  ", Styled("file", CYAN), f"  {FILE_WORDS[draft.kind]}")
        for hunk in draft.review.hunks:
            _tell_hunk(call, draft, hunk, turns)
        for typed in draft.unsaved:
            screen.line("  ", Styled(f"typed and not saved yet  line {typed.new.start + 1}", DIM))
            show_change(screen, draft.saved_text, typed.at, typed.old_text, typed.new_text)
        screen.line()
    if not drafts:
        screen.line("Nothing is pending.")
    elif any(draft.pending for draft in drafts):
        screen.line("Decide with ", Styled(call.again("accept"), CYAN), " or ", Styled(call.again("reject"), CYAN))
        screen.line("and the ids of hunks, the names of documents, --turn or --all.")
    if clash := next((hunk for draft in drafts for hunk in draft.review.hunks if hunk.conflict), None):
        settle = call.again("settle", clash.id)
        screen.line("Settle a conflict with ", Styled(settle, CYAN), " and --mine, --theirs or --both.")


def _tell_hunk(call: Call, draft: Draft, hunk: ReviewHunk, turns: Mapping[str, int]) -> None:
    screen = call.screen
    turn = f"  turn {turns[hunk.turn]}" if hunk.turn in turns else ""
    screen.line(
        "  ",
        Styled("" if decided_whole(draft) else f"{hunk.id}  ", CYAN),
        Styled(AUTHOR_WORDS[hunk.author], AUTHOR_STYLES[hunk.author]),
        Styled(f"  line {hunk.working_line + 1}{turn}", DIM),
        Styled("  conflict" if hunk.conflict else "", RED),
    )
    show_change(screen, draft.review.base, hunk.at, hunk.base, hunk.working)
    if hunk.author == "mixed" and hunk.proposed != hunk.working:
        screen.line("    ", Styled("the agent wrote:", DIM))
        show_text(screen, "?", hunk.proposed, YELLOW)


def accept(call: Call) -> int:
    wish = Wish.of(call.arguments)
    with call.workspace() as workspace:
        decided = workspace.accept(choose(workspace, wish))
        report(call, decided, "Accepted")
    return 0


def reject(call: Call) -> int:
    wish = Wish.of(call.arguments)
    with call.workspace() as workspace:
        decided = workspace.reject(choose(workspace, wish))
        report(call, decided, "Rejected")
    return 0


def report(call: Call, decided: Decided, verb: str) -> None:
    """What was decided, what is left, and how to take the decision back."""
    screen = call.screen
    if screen.json:
        turn = None if decided.turn is None else turn_shape(decided.turn)
        call.emit({"turn": turn, "decided": decided.counts, "left": decided.left})
        return
    if decided.turn is None:
        screen.line("There was nothing to decide.")
        return
    for path, count in decided.counts.items():
        left = decided.left.get(path, 0)
        screen.line(f"{verb} {counted(count, 'hunk')} in ", Styled(path, BOLD), f"; {left} left." if left else ".")
    screen.line("Undo with: ", Styled(call.again("undo", str(decided.turn.id)), CYAN))


def configure_diff(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="show only these documents")
    add_paths(parser, "the same")
    parser.add_argument(
        "--patch", action="store_true", help="print a unified patch from the disk to the working text, for `git apply`"
    )


def configure_choice(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="HUNK/PATH", nargs="*", help="a hunk's id or enough of its beginning, or all of a document"
    )
    add_paths(parser, "all of this document; may be repeated")
    parser.add_argument("--turn", metavar="T", type=turn_number, help="all that is left of this turn")
    parser.add_argument("--all", action="store_true", help="everything that is pending")


COMMANDS = {
    "diff": Command(
        "diff",
        "Show what is pending, hunk by hunk",
        diff,
        configure_diff,
        ("diff", "diff chapter-1.md", "diff --patch | git apply --check"),
    ),
    "accept": Command(
        "accept",
        "Take hunks into the documents",
        accept,
        configure_choice,
        ("accept h_1a2b3c", "accept file --path new.md", "accept --turn 4", "accept --all"),
        "Take hunks into the documents and write them. Several ways of choosing narrow each other.",
    ),
    "reject": Command(
        "reject",
        "Refuse hunks; what you typed yourself stays",
        reject,
        configure_choice,
        ("reject h_1a2b3c", "reject chapter-1.md", "reject --turn 4", "reject --all"),
        "Refuse an agent's hunks. What you typed yourself stays, unless you name your own hunk by its id.\n"
        "A rejection can be undone.",
    ),
}
