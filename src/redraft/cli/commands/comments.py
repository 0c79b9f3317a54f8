"""`redraft comments`: threads about passages, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, pluralize
from redraft.cli.screen import BOLD, CYAN, DIM, StyledText

if TYPE_CHECKING:
    from argparse import ArgumentParser

    from redraft.workspace.comments import CommentThread

QUOTED = 60


def list_comments(call: Invocation) -> int:
    given = call.arguments
    with call.workspace() as workspace:
        found = workspace.comments.threads(given.file)
        shown = [each for each in found if (given.all or not each.resolved) and (each.orphaned or not given.orphaned)]
        if call.screen.json:
            from redraft.workspace.shapes import comment_shape

            call.emit({"comments": [comment_shape(each) for each in shown]})
            return 0
        for thread in shown:
            _print_thread(call, thread)
        resolved = sum(each.resolved for each in found) if not given.all else 0
        if not shown:
            call.screen.line("There are no comments." if not resolved else "There are no open comments.")
        if resolved:
            call.screen.line(StyledText(f"{pluralize(resolved, 'resolved comment')} not shown: --all.", DIM))
    return 0


def _print_thread(call: Invocation, thread: CommentThread) -> None:
    screen = call.screen
    place = "its passage is gone" if thread.line is None else f"line {thread.line + 1}"
    state = ", resolved" if thread.resolved else ""
    screen.line(StyledText(thread.id, BOLD), f"  {thread.document}, {place}{state}")
    quote = " ".join(thread.passage.quote.split())
    screen.line(StyledText(f"  “{quote if len(quote) <= QUOTED else quote[:QUOTED] + '…'}”", DIM))
    for entry in thread.messages:
        made = f" (turn {entry.turn})" if entry.turn is not None else ""
        first, *rest = entry.says.split("\n")
        screen.line(f"  {entry.by}: {first}{made if not rest else ''}")
        for line in rest:
            screen.line(f"    {line}")


def add(call: Invocation) -> int:
    from redraft.history.turns import PERSON
    from redraft.text.edits import Span
    from redraft.tools.target import find_once

    given = call.arguments
    with call.workspace() as workspace:
        at = find_once(workspace.read(given.file), given.quote)
        span = Span(at, at + len(given.quote))
        return _report(call, workspace.comments.add(given.file, span, given.says, author=PERSON), "Commented")


def reply(call: Invocation) -> int:
    from redraft.history.turns import PERSON

    with call.workspace() as workspace:
        thread = workspace.comments.reply(call.arguments.comment, call.arguments.says, author=PERSON)
        return _report(call, thread, "Replied")


def resolve(call: Invocation) -> int:
    from redraft.history.turns import PERSON

    given = call.arguments
    with call.workspace() as workspace:
        thread = workspace.comments.resolve(given.comment, author=PERSON, resolved=not given.reopen)
        return _report(call, thread, "Opened again" if given.reopen else "Resolved")


def _report(call: Invocation, thread: CommentThread, what: str) -> int:
    if call.screen.json:
        from redraft.workspace.shapes import comment_shape

        call.emit({"comment": comment_shape(thread)})
    else:
        call.screen.line(f"{what}: {thread.id} in {thread.document}.")
        call.screen.line("Show it: ", StyledText(call.command_line("comments", "list", thread.document), CYAN))
    return 0


def _configure_list(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="only the comments on this document")
    parser.add_argument("--all", action="store_true", help="resolved ones too")
    parser.add_argument("--orphaned", action="store_true", help="only those whose passage is gone")


def _configure_add(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the document, by its path in the folder")
    parser.add_argument("says", metavar="TEXT", help="what to say")
    parser.add_argument(
        "--quote", metavar="Q", required=True, help="the passage, as it stands there; it must occur once"
    )


def _configure_reply(parser: ArgumentParser) -> None:
    parser.add_argument("comment", metavar="COMMENT", help="its id, from `redraft comments list`")
    parser.add_argument("says", metavar="TEXT", help="what to say")


def _configure_resolve(parser: ArgumentParser) -> None:
    parser.add_argument("comment", metavar="COMMENT", help="its id, from `redraft comments list`")
    parser.add_argument("--reopen", action="store_true", help="open it again instead")


COMMANDS = {
    "comments list": Command(
        "comments list",
        "List the comments on documents",
        list_comments,
        _configure_list,
        ("comments list", "comments list chapter.md --all", "comments list --orphaned"),
        "List the open comments of the folder or of one document, in the order of their places. A comment whose\n"
        "passage is gone is kept with its quotation.",
    ),
    "comments add": Command(
        "comments add",
        "Comment on a passage",
        add,
        _configure_add,
        ("comments add chapter.md 'Is that so?' --quote 'about a dozen'",),
        "Comment on a passage of a document. The document is not changed; comments are stored in .redraft/comments in\n"
        "the folder, so that they travel with it.",
    ),
    "comments reply": Command(
        "comments reply",
        "Reply to a comment",
        reply,
        _configure_reply,
        ("comments reply 5f0c12ab90de 'It is eleven.'",),
    ),
    "comments resolve": Command(
        "comments resolve",
        "Resolve a comment, or open it again",
        resolve,
        _configure_resolve,
        ("comments resolve 5f0c12ab90de", "comments resolve 5f0c12ab90de --reopen"),
    ),
}
