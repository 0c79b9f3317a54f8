"""ripgrep as a filter: which files of a large folder can match at all, if there is no index.

It reads with as many threads as the machine has, which Python cannot. Its output is never shown: the caller reads the
files that it names, by our own rules, and searches them. It is given only the words that a match must contain (see
`regex_syntax`), in order on one line, so differences between its patterns and ours do not matter: it may name too many
files and never too few. It can only read inside the folder (see `start_in_sandbox`).

The program is the one installed beside this interpreter, never one that happens to be on the path. If there is none,
if it cannot be confined, or after it has failed once, there is no answer.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from redraft.search.regex_syntax import find_required_words
from redraft.workspace.folder.scan import can_be_searched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redraft.search.pattern import Pattern
    from redraft.workspace.folder.scan import FolderReader

# Start a program that can read inside one folder and nothing else on the disk: Landlock enforces that.
#
# Our own reads follow no link at any level (see `files.root`); another program's do, if somebody swaps one in at the
# right moment. Confined, it gets an error instead, because the kernel checks what a path leads to and not its name. A
# thread that confines itself stays confined, and so do its children; so each start uses a new thread that ends with it.
# If the kernel does not support this, nothing is started.


# The same numbers on every machine that Linux runs on (the kernel's landlock.h and prctl.h).
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF, _PATH_BENEATH = 444, 445, 446, 1
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
# Everything that the first version of Landlock can forbid: execute, write, read, list, remove and create.
_EVERYTHING = (1 << 13) - 1


def start_in_sandbox(program: str, arguments: Sequence[str], folder: int) -> subprocess.Popen[bytes] | None:
    """Start a program in the folder that `folder` is open on, with an empty environment and no input.

    Returns the process, whose output is a pipe; None if it cannot be confined, or cannot be started.
    """
    started: list[subprocess.Popen[bytes]] = []

    def confine_and_start() -> None:
        with suppress(OSError), open(os.devnull, "r+b", buffering=0) as nothing, open(program, "rb") as executable:
            _confine((folder, _READ_FILE | _READ_FOLDER), (executable.fileno(), _READ_FILE | _EXECUTE))
            process = subprocess.Popen(  # noqa: S603 - the caller's own program, and no shell
                [program, *arguments],
                cwd=f"/proc/self/fd/{folder}",
                env={},
                stdin=nothing,
                stdout=subprocess.PIPE,
                stderr=nothing,
            )
            started.append(process)

    thread = threading.Thread(target=confine_and_start, name="redraft-confined")
    thread.start()
    thread.join()
    return started[0] if started else None


def _confine(*allowed: tuple[int, int]) -> None:
    """Forbid this thread all of the disk except what is below these descriptors; raises `OSError` if that fails."""
    if not sys.platform.startswith("linux"):
        raise OSError
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)

    def check_result(result: int) -> int:
        if result < 0:
            raise OSError(ctypes.get_errno(), "cannot be confined")
        return result

    handled = struct.pack("=Q", _EVERYTHING)
    rules = check_result(library.syscall(_CREATE_RULESET, handled, ctypes.c_size_t(len(handled)), 0))
    try:
        for fd, rights in allowed:
            check_result(library.syscall(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", rights, fd), 0))
        check_result(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        check_result(library.syscall(_RESTRICT_SELF, rules, 0))
    finally:
        os.close(rules)


# Hidden files are skipped, as in our own search, and so are files with a NUL; ignore files do not count.
_FLAGS = (
    *("--no-config", "--no-ignore", "--no-messages", "--no-mmap", "--encoding=none"),
    *("--files-with-matches", "--null"),
)
LONGEST_SECONDS = 10.0
# Nearly every file contains words as short as these.
_SHORT = 2
_SIGN = re.compile(r"[\\.+*?()|\[\]{}^$]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class Ripgrep:
    """Safe to use from several threads."""

    def __init__(self, program: str | None = None) -> None:
        self.program: str | None = program or os.path.join(os.path.dirname(sys.executable), "rg")

    def may_match(self, reader: FolderReader, pattern: Pattern) -> list[str] | None:
        """The paths of all files that may match, in no order; None if it cannot tell."""
        words = build_required_expression(pattern)
        if words is None or self.program is None:
            return None
        case = "--ignore-case" if pattern.folding else "--case-sensitive"
        with reader.open_folder() as folder:
            process = start_in_sandbox(self.program, [*_FLAGS, case, f"--regexp={words}", "./"], folder)
        output = None if process is None else _output_of(process)
        if output is None:
            self.program = None
            return None
        paths = (os.fsdecode(path[2:]) for path in output.split(b"\0")[:-1])
        return [path for path in paths if can_be_searched(path)]


def _output_of(process: subprocess.Popen[bytes]) -> bytes | None:
    with process:
        try:
            output, _ = process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
    return output if process.returncode in (0, 1) else None  # found something, or nothing


def build_required_expression(pattern: Pattern) -> str | None:
    """What each matching line must contain, as a pattern for ripgrep; None if that is next to nothing.

    If case is ignored, only ASCII counts: which other characters are equal depends on each engine's tables.
    """
    if not pattern.by_line or any(sign in pattern.query for sign in "\n\r\0"):
        return None
    clauses = [
        sorted({_longest_ascii(word) if pattern.folding else word for word in clause})
        for clause in find_required_words(pattern.query, regex=pattern.regex)
    ]
    telling = [clause for clause in clauses if all(clause)]
    if not any(min(map(len, clause)) > _SHORT for clause in telling):
        return None
    return ".*".join("(?:" + "|".join(_SIGN.sub(r"\\\g<0>", word) for word in clause) + ")" for clause in telling)


def _longest_ascii(word: str) -> str:
    return max(_NOT_ASCII.split(word), key=len)
