"""What reaches the terminal. Every text passes through `escape` here, so no command can forget it.

A line is made of parts; each part is escaped before it is coloured, and colour is all that this module adds. A document
or a file name can therefore not move the cursor, retitle the window, or reorder text. Raw bytes are written only to a
file or a pipe.
"""

from __future__ import annotations

import io
import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redraft.errors import RedraftError

BOLD, DIM = "1", "2"
RED, GREEN, YELLOW, CYAN = "31", "32", "33", "36"
REMOVED_WORD, ADDED_WORD = "1;4;31", "1;4;32"

# Joiners make Persian words and family emoji; a tab is harmless.
_HARMLESS = "\t\u200c\u200d"
# Here a command's own message says what to do; the general advice is meant for agents.
_SAYS_ITSELF = ("invalid_argument", "confirmation_required", "nothing_to_undo")
# What to type next. By what the error is about, where one of its details says so, else by its code.
_COMMANDS: dict[tuple[str, str], str] = {
    ("not_found", "job_id"): "`redraft jobs` lists them.",
    ("not_found", "session_id"): "`redraft jobs` shows the session of each job; without --session a new one starts.",
    ("not_found", "trash"): "`redraft trash list` shows what is.",
    ("not_found", "name"): "`redraft users list` lists them.",
    ("not_found", "view"): "`redraft views list` lists them.",
    ("not_found", "path"): "Check its name; `redraft tool list_documents` lists what is in the folder.",
    ("turn_not_found", ""): "`redraft turns` lists their numbers.",
    ("hunk_not_found", ""): "`redraft diff` shows what is pending, with ids.",
    ("unsupported_file_type", "kind"): "Name a text file.",
    ("unsupported_file_type", ""): "Redraft works on UTF-8 text: convert a copy first, for example with iconv.",
    ("permission_denied", ""): "Change its permissions, or those of its folder.",
    ("secret", ""): "To see it, open the folder in the app on this machine with `redraft open`. It asks first.",
    ("model_unavailable", ""): "`redraft models` lists the models that are set up; see docs/models.md.",
}
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class StyledText(NamedTuple):
    """A part of a line in a colour."""

    text: str
    style: str


def _next_step(error: RedraftError) -> str:
    """What a person at the keyboard does next; the advice of an error speaks of an agent's tools."""
    if error.hint:
        return error.hint
    found = (_COMMANDS.get((error.code, about)) for about in (*error.details, ""))
    return next((command for command in found if command), error.advice)


def escape(text: str) -> str:
    """The text with everything that a terminal would obey, hide or reorder written out as `\\x1b` or `\\u202e`."""
    return text if text.isprintable() else "".join(map(_escape_character, text))


def _escape_character(char: str) -> str:
    if char.isprintable() or char in _HARMLESS:
        return char
    from unicodedata import category

    # Blanks such as the no-break space are not "printable" to Python; what Unicode has yet to assign may be an emoji.
    if category(char) in ("Zs", "Cn", "Co"):
        return char
    return ascii(char)[1:-1]


@dataclass(slots=True)
class Screen:
    """Where a command prints its output."""

    json: bool
    colour: bool
    terminal: bool

    @staticmethod
    def standard(*, json: bool) -> Screen:
        """The program's own output; colour only for a person who looks at it and does not mind."""
        from redraft.runtime import is_colour_wanted

        terminal = sys.stdout.isatty()
        for stream in (sys.stdout, sys.stderr):
            # A terminal in another encoding shows escapes for what it lacks; it does not stop the program.
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        return Screen(json, terminal and not json and is_colour_wanted(), terminal)

    def line(self, *parts: str | StyledText) -> None:
        """One line of human output. A line break inside a part is escaped like any control character."""
        sys.stdout.write("".join(map(self._render, parts)) + "\n")

    def _render(self, part: str | StyledText) -> str:
        if isinstance(part, str):
            return escape(part)
        text = escape(part.text)
        return f"\x1b[{part.style}m{text}\x1b[0m" if self.colour and text else text

    def emit(self, payload: Mapping[str, Any]) -> None:
        """Machine-readable output: one JSON object, in ASCII, so that it too is safe to look at."""
        import json

        sys.stdout.write(json.dumps(payload, ensure_ascii=True, indent=2) + "\n")

    def content(self, text: str, *, bom: bool = False) -> None:
        """A document: byte for byte into a file or a pipe, escaped on a terminal."""
        if self.terminal:
            for line in _LINES.findall(text):
                self.line(line.removesuffix("\n"))
            return
        data = text.encode()
        sys.stdout.flush()
        sys.stdout.buffer.write(b"\xef\xbb\xbf" + data if bom else data)
        sys.stdout.buffer.flush()

    def remark(self, text: str) -> None:
        """A remark on standard error, so that it does not mix with the output."""
        sys.stderr.write(escape(text) + "\n")

    def report_failure(self, error: RedraftError) -> None:
        """Why a command did not do what it was asked."""
        if self.json:
            self.emit(error.as_dict())
            return
        self.remark(f"redraft: {error.message}")
        if error.code not in _SAYS_ITSELF:
            self.remark(f"         {_next_step(error)}")

    def finish(self) -> None:
        """Flush the output, so that a write error is handled here and not at exit."""
        sys.stdout.flush()

    def abandon(self) -> None:
        """Discard buffered output: nobody is left to read it."""
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
