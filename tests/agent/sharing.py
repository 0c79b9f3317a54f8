"""A process that shares work through a database: `sharing.py work|ask URL LOG [COUNT]`.

`work` helps until it is stopped; `ask` fans COUNT pieces out and prints their results as JSON. Every piece that is
begun leaves a line in LOG.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any

from redraft.agent.durable import Durable

RUN = "job_shared"


def items(count: int) -> list[dict[str, Any]]:
    return [{"number": number, "text": f"Chunk {number} of a novel."} for number in range(count)]


def main() -> None:
    role, url, log = sys.argv[1:4]

    def note(number: int) -> None:
        with Path(log).open("a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {number}\n")

    async def analyse(item: Any) -> Any:
        note(item["number"])
        await asyncio.sleep(0.05)
        return {"number": item["number"], "words": len(item["text"].split()), "letters": sorted(set(item["text"]))}

    with Durable(url, {"analyse": analyse}, concurrency=8) as durable:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        if role == "work":
            durable.serve(threading.Event())
        results = [result for _, result in durable.fan_out(RUN, "analyse", items(int(sys.argv[4])))]
    sys.stdout.write(json.dumps(results) + "\n")


if __name__ == "__main__":
    main()
