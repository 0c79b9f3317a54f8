"""`redraft usage` and `figures`: what the models cost, and figures on their work."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import TYPE_CHECKING

from redraft.cli.command import Command, Invocation, positive_number
from redraft.cli.screen import BOLD, DIM, StyledText

if TYPE_CHECKING:
    from argparse import ArgumentParser

DAY_SECONDS = 86_400


def usage(call: Invocation) -> int:
    from redraft.runtime import open_agent

    with call.workspace() as workspace, open_agent(workspace) as agent:
        found = agent.store.usage.by(call.arguments.by, since=_since(call))
        if call.screen.json:
            call.emit({"by": call.arguments.by, "usage": [spent.as_dict() for spent in found]})
            return 0
        for spent in found:
            money = f"${spent.price_usd:.4f}" if spent.unpriced < spent.steps else "no price known"
            call.screen.line(
                StyledText(f"{spent.name:<32}", BOLD),
                f"{spent.steps:>6} steps {spent.input_tokens:>10} in {spent.output_tokens:>9} out  {money}",
            )
        total = sum((spent.price_usd for spent in found), Decimal(0))
        tokens = sum(spent.tokens for spent in found)
        call.screen.line(f"Total: {tokens} tokens, ${total:.4f}." if found else "No usage yet.")
    return 0


def figures(call: Invocation) -> int:
    from redraft.agent.metrics import collect_metrics as counted
    from redraft.runtime import open_agent

    with call.workspace() as workspace, open_agent(workspace) as agent:
        found = counted(agent.store, workspace, since=_since(call))
    if call.screen.json:
        call.emit(found.as_dict())
        return 0
    if not found.jobs and found.accepted is None:
        call.screen.line("No agent has worked here yet.")
        return 0
    for words, value in (
        ("conversations", str(found.conversations)),
        ("requests", str(found.jobs)),
        ("tool calls", f"{found.actions}{_per_conversation(found.actions_per_conversation)}"),
        ("calls that succeeded", _percent(found.succeeded)),
        ("turns kept", _percent(found.accepted)),
        ("turns undone", _percent(found.undone)),
        ("request time", _seconds(found.p50_seconds, found.p95_seconds)),
    ):
        call.screen.line(f"{words:<24}", StyledText(value, BOLD))
    for tool in found.tools:
        failed = f", {tool.failed} failed" if tool.failed else ""
        call.screen.line(
            StyledText(f"  {tool.tool:<22}", DIM),
            f"{tool.calls} call{'s' if tool.calls != 1 else ''}{failed}, {tool.seconds:.1f} s, {tool.tokens} tokens",
        )
    return 0


def _per_conversation(value: float | None) -> str:
    return "" if value is None else f" ({value:.1f} a conversation)"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.0%}"


def _seconds(p50: float | None, p95: float | None) -> str:
    return "-" if p50 is None or p95 is None else f"{p50:.1f} s (95th percentile {p95:.1f} s)"


def _since(call: Invocation) -> float:
    return 0.0 if call.arguments.days is None else time.time() - call.arguments.days * DAY_SECONDS


def configure_usage(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--by", choices=("day", "model", "document"), default="day", help="what to group by (default: day)"
    )
    configure_days(parser)


def configure_days(parser: ArgumentParser) -> None:
    parser.add_argument("--days", metavar="N", type=positive_number, help="only the last N days")


COMMANDS = {
    "usage": Command(
        "usage",
        "Show model usage, in tokens and money",
        usage,
        configure_usage,
        ("usage", "usage --by model", "usage --by document --days 7"),
    ),
    "figures": Command(
        "figures",
        "Show figures on the agents' work: calls, outcomes of their turns, and request times",
        figures,
        configure_days,
        ("figures", "figures --days 7", "figures --json"),
    ),
}
