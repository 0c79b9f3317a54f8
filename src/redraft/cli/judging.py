"""A job's hunks judged on a terminal, one key each: the person sees a hunk, accepts it, rejects it, or leaves it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from redraft.cli.command import counted
from redraft.cli.hunk_lines import show_change
from redraft.cli.screen import BOLD, CYAN, RED, Styled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.agent.agent import Agent
    from redraft.cli.command import Call
    from redraft.workspace.workspace import Workspace

KEYS = "a accept, r reject, A accept all that follow, R reject all that follow, q leave the rest"


def judge(call: Call, agent: Agent, workspace: Workspace, turn: int) -> None:
    """Go through what is left of a turn. What is left undecided stays pending."""
    hunks = [(path, hunk) for path, ids in workspace.hunks_of_turn(turn).items() for hunk in ids]
    call.screen.line(f"{counted(len(hunks), 'hunk')} to judge: {KEYS}.")
    verdict = ""
    accepted: dict[str, list[str]] = {}
    rejected: dict[str, list[str]] = {}
    for number, (path, hunk) in enumerate(hunks, start=1):
        if verdict not in ("A", "R"):
            _show(call, workspace, path, hunk, f"{number}/{len(hunks)}")
            verdict = _key(fresh=number == 1)
        if verdict == "q":
            break
        chosen = accepted if verdict in ("a", "A") else rejected
        chosen.setdefault(path, []).append(hunk)
    _decide(call, agent, workspace, accepted, rejected)


def _decide(
    call: Call,
    agent: Agent,
    workspace: Workspace,
    accepted: dict[str, list[str]],
    rejected: dict[str, list[str]],
) -> None:
    with agent.room.guard:
        if rejected:
            _learn(agent, workspace, rejected)
            workspace.reject(rejected)
        if accepted:
            workspace.accept(accepted)
    taken, refused = (sum(map(len, chosen.values())) for chosen in (accepted, rejected))
    call.screen.line(f"Accepted {taken}, rejected {refused}. ", Styled(call.again("undo"), CYAN), " takes it back.")


def _learn(agent: Agent, workspace: Workspace, rejected: dict[str, list[str]]) -> None:
    for path, ids in rejected.items():
        draft = workspace.draft(path)
        for hunk in () if draft is None else draft.review.hunks:
            if hunk.id in ids and hunk.author == "agent":
                agent.room.memory.rejected(path, hunk.proposed, hunk.base)


def _show(call: Call, workspace: Workspace, path: str, name: str, place: str) -> None:
    draft = workspace.draft(path)
    if draft is None:
        return
    hunk = next((each for each in draft.review.hunks if each.id == name), None)
    clash = Styled("  conflict", RED) if hunk is not None and hunk.conflict else ""
    what = draft.kind if hunk is None else f"line {hunk.line + 1}"
    call.screen.line(Styled(f"{place}  {path}", BOLD), f"  {what}", clash)
    if hunk is not None:
        show_change(call.screen, draft.review.base, hunk.at, hunk.base, hunk.working)
    else:
        show_change(call.screen, "", 0, draft.review.base, draft.review.working)


def _key(*, fresh: bool) -> str:
    """One key that means something; the end of the input leaves the rest. What was typed before anything was shown is
    no judgement: `fresh` lets go of it."""
    sys.stdout.flush()
    while True:
        key = _read_key(fresh=fresh)
        fresh = False
        if key in ("a", "r", "A", "R", "q"):
            return key
        if key in ("", "\x04"):
            return "q"
        if key == "\x03":
            raise KeyboardInterrupt


def _read_key(*, fresh: bool) -> str:
    """A key as it is pressed, where the terminal gives single keys."""
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before: Sequence[Any] = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor, termios.TCSAFLUSH if fresh else termios.TCSADRAIN)
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, list(before))
