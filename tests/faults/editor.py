"""Another program that edits the same files, knows nothing of Redraft, and takes care not to lose anything itself.

Run as `python -m faults.editor FOLDER SEED COUNT FILE...`. Each edit adds one line that occurs nowhere else, in one of
three ways: in place, at the end; in place with the modification time put back; or by writing a new file and exchanging
it with the old one. If an exchange brings out something else than was read, that is added and exchanged again, so that
whatever is lost in the end was lost by somebody else. A line is said on standard output when it is written.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import sys
import time

RENAMEAT2 = 316 if os.uname().machine == "x86_64" else 276
AT_FDCWD, RENAME_EXCHANGE = -100, 2
LIBC = ctypes.CDLL(None, use_errno=True)


def append(path: str, line: str, *, keep_mtime: bool) -> None:
    before = os.stat(path)
    with open(path, "ab", buffering=0) as file:
        file.write(line.encode())
        if keep_mtime:
            os.utime(file.fileno(), ns=(before.st_atime_ns, before.st_mtime_ns))


def exchange(path: str, line: str) -> None:
    """Replace the file as editors do, but look at what was replaced."""
    temp = f"{path}.editor~"
    seen = read(path)
    wanted = [*seen, line]
    while True:
        with open(temp, "w", encoding="utf-8") as file:
            file.writelines(wanted)
        while LIBC.syscall(RENAMEAT2, AT_FDCWD, os.fsencode(temp), AT_FDCWD, os.fsencode(path), RENAME_EXCHANGE):
            time.sleep(0.0005)  # the name is being exchanged by somebody else
        displaced = read(temp)
        os.unlink(temp)
        if displaced == seen:
            return
        seen, wanted = wanted, wanted + [other for other in displaced if other not in wanted]


def read(path: str) -> list[str]:
    with open(path, encoding="utf-8", newline="") as file:
        return file.readlines()


def main(folder: str, seed: str, count: str, *files: str) -> None:
    choose = random.Random(seed)
    for number in range(int(count)):
        name, way = choose.choice(files), choose.choice(("in place", "mtime kept", "exchanged"))
        line = f"line {seed}-{number} {way} end\n"
        path = os.path.join(folder, name)
        if way == "exchanged":
            exchange(path, line)
        else:
            append(path, line, keep_mtime=way == "mtime kept")
        os.write(1, json.dumps([name, line.rstrip("\n")]).encode() + b"\n")
        time.sleep(choose.random() * 0.02)


if __name__ == "__main__":
    main(*sys.argv[1:])
