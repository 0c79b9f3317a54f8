"""A process that shares an analysis through a database: `sharing.py work|ask URL LOG STATE`.

`work` helps until it is stopped; `ask` analyses the novel and prints what was found as JSON. Every question that is
asked of the model leaves a line in LOG, with the process that asked it.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent.long.model import Model
from agent.long.writing import chapter
from redraft.agent.database import AgentDatabase
from redraft.agent.durable import Durable
from redraft.agent.long.answers import Answers
from redraft.agent.long.crew import SUBAGENT, Means, subagent
from redraft.agent.long.documents import LongDocuments, Shared
from redraft.tools.long import Source

if TYPE_CHECKING:
    from agent.long.model import Asked

CHUNKS = 200
CONCURRENCY = 8


def novel() -> Source:
    people = ("Ines Havel", "Orlo Pike", "Mara Quill", "Teo Brandt", "Lena Voss")
    sentences = [f"{people[at % 5]} met {people[at % 3]} on day {at}." for at in range(CHUNKS)]
    return Source("novel.md", "".join(chapter(at, sentences[at], filler=12) for at in range(CHUNKS)), "markdown")


def people(asked: Asked) -> dict[str, Any]:
    names = sorted(set(re.findall(r"(\w+ \w+) (?:met|on day)|met (\w+ \w+)", asked.passage)))
    found = [name for pair in names for name in pair if name]
    return {"characters": [{"name": name, "aliases": [], "role": f"in {len(asked.passage)}"} for name in found]}


def found_by(long: LongDocuments) -> dict[str, Any]:
    analysis = long.analyse(novel(), "characters", "")
    return {"summary": analysis.summary, "details": analysis.details, "chunks": analysis.effort.chunks}


def main() -> None:
    role, url, log, state = sys.argv[1:5]

    def says(asked: Asked) -> dict[str, Any]:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {asked.passage.split()[2]}\n")
        return people(asked)

    model = Model(says, seconds=0.05)
    with Durable(url, {SUBAGENT: subagent(model)}, concurrency=CONCURRENCY) as durable:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if role == "work":
            durable.serve(threading.Event())
        database = AgentDatabase(state)
        means = Means(model, Answers(database, lambda: 0.0))
        found = found_by(LongDocuments(means, chunk_tokens=400, shared=Shared(durable, "job_shared")))
        database.close()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
