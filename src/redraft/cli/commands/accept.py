"""`redraft diff`, `accept` and `reject`: show what is pending, and decide it."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from redraft.cli.command import Command, Invocation, add_paths, pluralize, turn_number
from redraft.cli.display import AUTHOR_STYLES, author_words, draft_name, show_change, show_text
from redraft.cli.hunk_selection import HunkSelection, select_hunks
from redraft.cli.screen import BOLD, CYAN, DIM, RED, YELLOW, StyledText
from redraft.errors import Refused
from redraft.review.labels import HunkLabel
from redraft.workspace.shapes import draft_shape, is_decided_whole, turn_shape, warning_of

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable, Mapping, Sequence

    from redraft.review.review import ReviewHunk
    from redraft.workspace.document import Draft
    from redraft.workspace.turns.decisions import DecisionResult
    from redraft.workspace.workspace import Workspace

FILE_WORDS = {
    "created": "a new document, accepted or rejected as a whole",
    "deleted": "the document would be moved to the trash",
    "moved": "the document would be moved",
}


def diff(call: Invocation) -> int:
    with call.workspace() as workspace:
        drafts = _select_drafts(workspace, [*call.arguments.paths, *call.arguments.path])
        turns = workspace.proposals()
        label = call.arguments.label
        if label is not None:
            drafts = [
                draft for draft in drafts if any(_matches(_labels(draft, hunk), label) for hunk in draft.review.hunks)
            ]
        if call.arguments.patch:
            patch = "".join(patch_of(draft) for draft in drafts)
            if call.screen.json:
                call.emit({"patch": patch})
            else:
                call.screen.content(patch)
        elif call.screen.json:
            shapes = [draft_shape(draft, turns) for draft in drafts]
            for shape in shapes:
                shape["hunks"] = [hunk for hunk in shape["hunks"] if _matches(hunk["labels"], label)]
            call.emit({"documents": shapes})
        else:
            _print_drafts(call, drafts, turns)
    return 0


def _matches(labels: Sequence[str], label: str | None) -> bool:
    return label is None or (bool(labels) if label == "any" else label in labels)


def _select_drafts(workspace: Workspace, paths: Sequence[str]) -> list[Draft]:
    drafts = list(workspace.drafts())
    if not paths:
        return drafts
    for path in paths:
        if not any(path in (draft.path, draft.base_path) for draft in drafts):
            workspace.read(path)  # refuses what is not a document; a document with nothing pending is fine
    return [draft for draft in drafts if draft.path in paths or draft.base_path in paths]


def patch_of(draft: Draft) -> str:
    """A patch from the file on disk to the working text, for `git apply`."""
    from redraft.text.patch.unified_diff import format_patch

    mark = "\ufeff" if draft.bom else ""
    old = None if draft.base_path is None else mark + draft.saved_text
    new = None if draft.path is None else mark + draft.review.working
    return format_patch(draft.key, old, new, old_path=draft.base_path)


def _print_drafts(call: Invocation, drafts: Sequence[Draft], turns: Mapping[str, int]) -> None:
    screen = call.screen
    for draft in drafts:
        screen.line(
            StyledText(draft_name(draft), BOLD),
            StyledText("" if draft.kind == "modified" else f"  {draft.kind}", YELLOW),
        )
        if warning := warning_of(draft):
            screen.line("  ", StyledText(warning, YELLOW))
        if draft.kind != "modified":
            screen.line("  ", StyledText("file", CYAN), f"  {FILE_WORDS[draft.kind]}")
        hunks = [hunk for hunk in draft.review.hunks if _matches(_labels(draft, hunk), call.arguments.label)]
        for hunk in hunks:
            _print_hunk(call, draft, hunk, turns)
        if left := len(draft.review.hunks) - len(hunks):
            screen.line("  ", StyledText(f"and {pluralize(left, 'other change')}", DIM))
        for typed in draft.unsaved:
            screen.line("  ", StyledText(f"unsaved typing  line {typed.new.start + 1}", DIM))
            show_change(screen, draft.saved_text, typed.at, typed.old_text, typed.new_text)
        screen.line()
    if not drafts:
        screen.line("Nothing is pending." if call.arguments.label is None else "No pending change has this label.")
    elif can_be_accepted(drafts):
        screen.line(
            "Decide with ",
            StyledText(call.command_line("accept"), CYAN),
            " or ",
            StyledText(call.command_line("reject"), CYAN),
        )
        screen.line("and hunk ids, document names, --turn or --all.")
        if _has_repeated_ids(drafts):
            screen.line("If several documents have the same id, add --path.")
    print_settle_steps(call, drafts)


def _print_hunk(call: Invocation, draft: Draft, hunk: ReviewHunk, turns: Mapping[str, int]) -> None:
    screen = call.screen
    turn = f"  turn {turns[hunk.turn]}" if hunk.turn in turns else ""
    screen.line(
        "  ",
        StyledText("" if is_decided_whole(draft) else f"{hunk.id}  ", CYAN),
        StyledText(author_words(hunk), AUTHOR_STYLES[hunk.author]),
        StyledText(f"  line {hunk.working_line + 1}{turn}", DIM),
        StyledText("  conflict" if hunk.conflict else "", RED),
        StyledText("".join(f"  {name.replace('_', ' ')}" for name in _labels(draft, hunk)), YELLOW),
    )
    show_change(screen, draft.review.base, hunk.at, hunk.base, hunk.working)
    if hunk.author == "user" and hunk.unsettled:
        yours = "includes your unsaved text" if hunk.beside else "is your unsaved text"
        screen.line("    ", StyledText(f"(- is what another program wrote, + {yours})", DIM))
    if hunk.author == "mixed" and hunk.proposed != hunk.working:
        screen.line("    ", StyledText("the agent wrote:", DIM))
        show_text(screen, "?", hunk.proposed, YELLOW)


def _labels(draft: Draft, hunk: ReviewHunk) -> Sequence[str]:
    return () if is_decided_whole(draft) else draft.review.labels.get(hunk.id, ())


def _has_repeated_ids(drafts: Iterable[Draft]) -> bool:
    ids = [hunk.id for draft in drafts if not is_decided_whole(draft) for hunk in draft.review.hunks]
    return len(set(ids)) < len(ids)


def can_be_accepted(drafts: Iterable[Draft]) -> bool:
    """Whether there is anything pending besides conflicts, which have to be resolved first."""
    return any(
        draft.pending and (draft.kind != "modified" or not all(hunk.conflict for hunk in draft.review.hunks))
        for draft in drafts
    )


def settle_steps(call: Invocation, drafts: Sequence[Draft]) -> list[tuple[str, str]]:
    """The commands that resolve the first pending conflict, with what each does; empty if there is none."""
    found = next(((draft.key, hunk) for draft in drafts for hunk in draft.review.hunks if hunk.conflict), None)
    if found is None:
        return []
    path, clash = found
    theirs = "what the agent wrote" if clash.author == "mixed" else "what the file says"
    names = _hunk_names(path, clash.id, drafts)
    return [
        ("To resolve the conflict, keep the text as it is", call.command_line("settle", *names, "--mine")),
        (f"or use {theirs}", call.command_line("settle", *names, "--theirs")),
        ("or keep both", call.command_line("settle", *names, "--both")),
    ]


def _hunk_names(path: str, name: str, drafts: Iterable[Draft]) -> list[str]:
    """The words of a command that name a hunk: its id, and its document where others have a hunk of the same id."""
    alike = [draft for draft in drafts if any(hunk.id == name for hunk in draft.review.hunks)]
    return [name] if len(alike) == 1 else [name, "--path", path]


def accept(call: Invocation) -> int:
    wish = HunkSelection.of(call.arguments)
    with call.workspace() as workspace:
        try:
            decided = workspace.accept(select_hunks(workspace, wish), turn=wish.turn)
        except Refused as error:
            if error.code == "conflict" and "hunk_id" in error.details:
                error.hint = _settle_hint(call, workspace.drafts(), error.details["hunk_id"])
            raise
        report_decision(call, decided, "Accepted")
        left = [draft for draft in workspace.drafts() if decided.left.get(draft.key)]
        if not call.screen.json:
            print_settle_steps(call, left)
    return 0


def _settle_hint(call: Invocation, drafts: Sequence[Draft], name: str) -> str:
    clashing = (draft.key for draft in drafts if any(hunk.id == name and hunk.conflict for hunk in draft.review.hunks))
    settle = call.command_line("settle", *_hunk_names(next(clashing), name, drafts))
    return f"Resolve it first: {settle} --mine, --theirs or --both. {call.command_line('diff')} shows both sides."


def print_settle_steps(call: Invocation, drafts: Sequence[Draft]) -> None:
    """Print how to resolve the first pending conflict in these documents, if any."""
    for what, command in settle_steps(call, drafts):
        call.screen.line(f"{what}: ", StyledText(command, CYAN))


def reject(call: Invocation) -> int:
    wish = HunkSelection.of(call.arguments)
    with call.workspace() as workspace:
        decided = workspace.reject(select_hunks(workspace, wish), turn=wish.turn)
        report_decision(call, decided, "Rejected")
    return 0


def report_decision(call: Invocation, decided: DecisionResult, verb: str) -> None:
    """Report what was decided, what is left, and how to undo the decision."""
    screen = call.screen
    if screen.json:
        turn = None if decided.turn is None else turn_shape(decided.turn)
        call.emit({"turn": turn, "decided": decided.counts, "left": decided.left})
        return
    if decided.turn is None:
        own = ", ".join(decided.counts) if verb == "Rejected" else ""
        screen.line(f"Nothing was rejected: your own text in {own} stays." if own else "There was nothing to decide.")
        return
    for path, count in decided.counts.items():
        if not count:
            continue
        left = decided.left.get(path, 0)
        screen.line(
            f"{verb} {pluralize(count, 'hunk')} in ", StyledText(path, BOLD), f"; {left} left." if left else "."
        )
    screen.line("Undo with: ", StyledText(call.command_line("undo", str(decided.turn.id)), CYAN))


def configure_diff(parser: ArgumentParser) -> None:
    parser.add_argument("paths", metavar="PATH", nargs="*", help="show only these documents")
    add_paths(parser, "the same")
    form = parser.add_mutually_exclusive_group()  # a patch without some of the changes would not apply
    form.add_argument(
        "--patch", action="store_true", help="print a unified diff from the disk to the working text, for `git apply`"
    )
    form.add_argument(
        "--label",
        choices=("any", *get_args(HunkLabel)),
        metavar="LABEL",
        help="show only changes with this label, such as number_changed or paragraph_removed; `any` shows all that "
        "should be looked at first",
    )


def configure_choice(parser: ArgumentParser) -> None:
    parser.add_argument(
        "names", metavar="HUNK/PATH", nargs="*", help="a hunk id or a unique prefix of one, or a document"
    )
    add_paths(parser, "everything in this document; may be repeated")
    parser.add_argument("--turn", metavar="T", type=turn_number, help="everything still pending of this turn")
    parser.add_argument("--all", action="store_true", help="everything that is pending")
    parser.add_argument(
        "--unit",
        choices=("words", "suggestion", "sentence", "paragraph", "document"),
        default="words",
        help="extend the decision to the whole suggestion, sentence, paragraph or document of each hunk",
    )


COMMANDS = {
    "diff": Command(
        "diff",
        "Show what is pending, hunk by hunk",
        diff,
        configure_diff,
        ("diff", "diff chapter-1.md", "diff --label any", "diff --patch | git apply --check"),
    ),
    "accept": Command(
        "accept",
        "Accept hunks",
        accept,
        configure_choice,
        ("accept h_1a2b3c", "accept file --path new.md", "accept --turn 4", "accept --all"),
        "Accept hunks and write the documents. Several selectors narrow each other.",
    ),
    "reject": Command(
        "reject",
        "Reject hunks; your own typing stays",
        reject,
        configure_choice,
        ("reject h_1a2b3c", "reject chapter-1.md", "reject --turn 4", "reject --all"),
        "Reject an agent's hunks. Your own typing stays, unless you name your own hunk by its id.\n"
        "A rejection can be undone.",
    ),
}
