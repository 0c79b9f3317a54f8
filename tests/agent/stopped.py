"""A program that runs one job, to be killed at any instant: `stopped.py FOLDER STATE_HOME MODE LOG`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from redraft.agent.agent import Agent
from redraft.agent.store.agent_store import AgentStore
from redraft.config import Settings
from redraft.tools.registry import load_registry
from redraft.workspace.workspace import Workspace
from tests.agent.desk import PATIENCE, Playing, call, edit, says

WORDS = ("Amber", "Cedar", "Ember", "Grove", "Islet")
STEPS = [
    says("I look.", call("read_document", path="poem.md"), usage={"input_tokens": 10}),
    *(says("", edit("poem.md", word, word.upper()), usage={"input_tokens": 10}, delay_ms=10) for word in WORDS),
    says("Done."),
]


def main() -> None:
    folder, state_home, mode, log = sys.argv[1:]

    def bought(number: int) -> None:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(json.dumps(number) + "\n")

    workspace = Workspace.open(folder, state_home=state_home, settings=Settings(mode=mode, lock=True))
    store = AgentStore(workspace.state)
    agent = Agent(workspace, store, load_registry(), Playing(STEPS, bought))
    job = agent.start(store.sessions.create().id, "Shout")
    sys.stdout.write(f"{job.id}\n")
    sys.stdout.flush()
    agent.wait(job.id, PATIENCE)


if __name__ == "__main__":
    main()
