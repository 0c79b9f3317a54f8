"""Another program: a process that writes files as editors, sync programs and scripts do, and knows nothing of us."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import os, sys, time
how, path = sys.argv[1:3]
text = sys.stdin.buffer.read()
if how == "rename":
    with open(path + "~new", "wb") as file:
        file.write(text)
    os.rename(path + "~new", path)
elif how == "in place":
    with open(path, "wb") as file:
        file.write(text)
elif how == "time kept":
    found = os.stat(path)
    with open(path, "r+b") as file:
        file.write(text)
        file.truncate()
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
elif how == "delete":
    os.unlink(path)
elif how == "move":
    os.rename(path, text.decode())
elif how == "change and move":
    target, text = text.split(b"\\0")
    with open(path, "r+b") as file:
        file.write(text)
        file.truncate()
    os.rename(path, target)
elif how == "replace and move":
    target, text, *copies = text.split(b"\\0")
    for place in (*copies, path.encode() + b"~new"):
        with open(place, "wb") as file:
            file.write(text)
    os.rename(path + "~new", path)
    os.rename(path, target)
elif how == "keep writing":
    end, number = time.monotonic() + 3, 0
    while time.monotonic() < end:
        number += 1
        with open(path, "wb") as file:
            file.write(text + b"Beat %d.\\n" % number)
        time.sleep(0.01)
    with open(path, "wb") as file:
        file.write(text + b"The last.\\n")
"""
WAYS = ("rename", "in place", "time kept")


def another_program(how: str, path: Path, text: str | Path = "") -> None:
    """Let it act, and wait until it has."""
    command = [sys.executable, "-c", SCRIPT, how, str(path)]
    subprocess.run(command, input=str(text).encode(), check=True, timeout=60)
