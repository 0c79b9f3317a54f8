"""A command (its words, its options, what it does) and one invocation of it."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

from redraft.cli.screen import escape
from redraft.errors import ConfirmationRequired, Refused

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Generator, Mapping

    from redraft.cli.screen import Screen
    from redraft.workspace.workspace import Workspace

CONFLICTS = 1  # the exit status of a command that did only part of its work and names the rest

# SQLite's largest integer has 19 digits; no history has that many turns.
MAX_TURN_DIGITS = 18


class Parser(argparse.ArgumentParser):
    """A parser that raises our errors, so that they can also be printed as JSON."""

    def error(self, message: str) -> NoReturn:
        raise Refused(f"{message[:1].upper()}{message[1:]}. See `{self.prog} --help`.")


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the program. `words` may be two, as in `trash list`."""

    words: str
    summary: str
    act: Callable[[Invocation], int]
    configure: Callable[[argparse.ArgumentParser], None] = lambda parser: None
    examples: tuple[str, ...] = ()
    about: str = ""

    def parser(self) -> Parser:
        parser = Parser(
            prog=f"redraft {self.words}",
            description=self.about or f"{self.summary}.",
            epilog="examples:\n" + "\n".join(f"  redraft {example}" for example in self.examples),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        self.configure(parser)
        parser.add_argument(
            "--folder", metavar="F", default=".", help="the folder to work in (default: the current one)"
        )
        parser.add_argument("--json", action="store_true", help="print JSON, errors included")
        return parser


@dataclass(slots=True)
class Invocation:
    """One run of a command."""

    arguments: Namespace
    screen: Screen
    shown_notices: list[str] = field(default_factory=list[str])
    _workspace: Workspace | None = None

    @property
    def folder(self) -> str:
        return self.arguments.folder

    @contextmanager
    def workspace(self, *, mode: str | None = None) -> Generator[Workspace]:
        """Open the folder. Its notices are printed at the end, unless the command printed them."""
        from redraft.runtime import open_workspace

        if not os.path.lexists(self.folder):
            raise Refused(f"The folder {self.folder} does not exist.", code="folder_not_found", folder=self.folder)
        if not os.path.isdir(self.folder):
            raise Refused(f"{self.folder} is a file, not a folder.", code="folder_not_found", folder=self.folder)
        with open_workspace(self.folder, mode=mode) as workspace:
            self._workspace = workspace
            try:
                yield workspace
            finally:
                self._workspace = None
                for notice in workspace.notices:
                    if notice not in self.shown_notices and not self.screen.json:
                        self.screen.remark(f"note: {notice}")

    def emit(self, payload: Mapping[str, Any]) -> None:
        """Print the answer as JSON; an answer about a folder always includes its notices."""
        notices = {} if self._workspace is None else {"notices": self._workspace.notices}
        self.screen.emit({**payload, **notices})

    def command_line(self, *words: str) -> str:
        """A command line for the same folder, to be copied."""
        from shlex import join

        folder = [] if self.folder == "." else ["--folder", self.folder]
        return join(["redraft", *words, *folder])

    def confirm(self, what: str, paths: list[str]) -> bool:
        """Whether the person agrees, by `--yes` or by answering; asks only if there is a terminal."""
        from redraft.workspace.turns.modes import describe_action

        if self.arguments.yes:
            return True
        if self.screen.json or not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise ConfirmationRequired(
                f"This would {describe_action(what)}. Run it again with --yes to agree.", action=what, paths=paths
            )
        for path in paths:
            self.screen.remark(f"  {path}")
        sys.stdout.flush()
        sys.stderr.write(f"This would {escape(describe_action(what))}. Continue? [y/N] ")
        sys.stderr.flush()
        return sys.stdin.readline().strip().casefold() in ("y", "yes")


def add_paths(parser: argparse.ArgumentParser, what: str) -> None:
    """Add `--path P`, which may be repeated and is the same as naming the document."""
    parser.add_argument("--path", metavar="P", action="append", default=[], help=what)


def add_yes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="agree without being asked")


def turn_number(text: str) -> int:
    """Parse a turn number: 12 or #12."""
    digits = text.removeprefix("#")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= MAX_TURN_DIGITS):
        raise argparse.ArgumentTypeError(f"{text!r} is not a turn number; `redraft turns` lists them")
    return int(digits)


def positive_number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= MAX_TURN_DIGITS and int(text) > 0):
        raise argparse.ArgumentTypeError(f"it must be 1 or greater, not {text!r}")
    return int(text)


def pluralize(number: int, noun: str) -> str:
    """`1 hunk`, `2 hunks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
