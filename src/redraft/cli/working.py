"""`redraft worker`: one more process to share the work on long documents, through a common database."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

from redraft.cli.command import Call, Command, positive_number

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from types import FrameType


def worker(call: Call) -> int:
    from redraft.agent.durable import Durable
    from redraft.agent.long.crew import SUBAGENT, subagent
    from redraft.agent.pieces import MODEL_STEP, model_step
    from redraft.runtime import models

    stop = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    handlers = {MODEL_STEP: model_step(models()), SUBAGENT: subagent(models())}
    with Durable(call.arguments.database, handlers, concurrency=call.arguments.concurrency) as durable:
        call.screen.remark(f"{durable.name} is ready; Ctrl+C ends it.")
        durable.serve(stop)
    return 0


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--database", metavar="URL", required=True, help="postgresql://... or sqlite:///FILE")
    parser.add_argument(
        "--concurrency", metavar="N", type=positive_number, default=16, help="how many pieces at a time (default: 16)"
    )


COMMANDS = {
    "worker": Command(
        "worker",
        "Help other processes with long documents",
        worker,
        configure,
        ("worker --database postgresql://redraft@db.example/redraft",),
        "Work on pieces of long documents that other processes have put into a common database. A piece is one\n"
        "question to a model; no document and no folder is needed here. If a worker dies, others take over what it\n"
        "had.",
    )
}
