"""ripgrep as a sieve: which files of a large folder can match at all, when there is no index to tell.

It reads with as many threads as the machine has, which Python cannot. Its answer is never shown: whoever asks reads the
files that it names, by our own rules, and looks for matches there. It is asked for nothing but the words that a match
must hold (see `required`), in their order on one line, so that it does not matter where its patterns and ours differ:
it may name too many files and never too few. It can read beneath the folder only (see `confined`).

The program is the one installed beside this interpreter, never one that happens to be on the path. Where there is none,
where it cannot be confined, or after it has failed once, there is no answer.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from redraft.search.confined import start
from redraft.search.required import required
from redraft.workspace.reading import may_be_read, opened

if TYPE_CHECKING:
    from redraft.search.pattern import Pattern
    from redraft.workspace.engine import Engine

# Hidden files stay out, as they do for us, and so does what has a NUL in it; ignore files do not count.
_FLAGS = (
    *("--no-config", "--no-ignore", "--no-messages", "--no-mmap", "--encoding=none"),
    *("--files-with-matches", "--null"),
)
LONGEST_SECONDS = 10.0
# Nearly every file holds words as short as these.
_SHORT = 2
_SIGN = re.compile(r"[\\.+*?()|\[\]{}^$]")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")


class Ripgrep:
    """Safe to use from several threads."""

    def __init__(self, program: str | None = None) -> None:
        self.program: str | None = program or os.path.join(os.path.dirname(sys.executable), "rg")

    def may_match(self, engine: Engine, pattern: Pattern) -> list[str] | None:
        """The paths of all files that may match, in no order; None where it cannot be said."""
        words = expression(pattern)
        if words is None or self.program is None:
            return None
        case = "--ignore-case" if pattern.folding else "--case-sensitive"
        with opened(engine) as folder:
            process = start(self.program, [*_FLAGS, case, f"--regexp={words}", "./"], folder)
        output = None if process is None else _output_of(process)
        if output is None:
            self.program = None
            return None
        paths = (os.fsdecode(path[2:]) for path in output.split(b"\0")[:-1])
        return [path for path in paths if may_be_read(path)]


def _output_of(process: subprocess.Popen[bytes]) -> bytes | None:
    with process:
        try:
            output, _ = process.communicate(timeout=LONGEST_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
    return output if process.returncode in (0, 1) else None  # found, or found nothing


def expression(pattern: Pattern) -> str | None:
    """What each line with a match must hold, for ripgrep to look for; None where that is next to nothing.

    Where letter case is folded only ASCII counts: what else is equal is up to each engine's tables.
    """
    if not pattern.by_line or any(sign in pattern.query for sign in "\n\r\0"):
        return None
    clauses = [
        sorted({_longest_ascii(word) if pattern.folding else word for word in clause})
        for clause in required(pattern.query, regex=pattern.regex)
    ]
    telling = [clause for clause in clauses if all(clause)]
    if not any(min(map(len, clause)) > _SHORT for clause in telling):
        return None
    return ".*".join("(?:" + "|".join(_SIGN.sub(r"\\\g<0>", word) for word in clause) + ")" for clause in telling)


def _longest_ascii(word: str) -> str:
    return max(_NOT_ASCII.split(word), key=len)
