"""tmux panes: where they are, what they show, and text typed into them. A pane is named by its id (`%4`), and by
nothing else.

Every argument is passed to tmux separately, without a shell in between. What is typed into a pane may still be read by
a shell there: the caller has to quote it.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import Any, NamedTuple

from redraft.errors import Refused

SECONDS = 10
_PANE = re.compile(r"%[0-9]+\Z")
_FIELDS = (
    "pane_id", "window_id", "window_index", "pane_left", "pane_top", "pane_width", "pane_height", "window_height",
    "pane_pid", "pane_active", "window_active", "pane_dead", "session_name",
)  # fmt: skip
_FORMAT = " ".join(f"#{{{name}}}" for name in _FIELDS)


class Pane(NamedTuple):
    """A pane: its window, and its position and size there in characters."""

    id: str
    window: str
    number: str
    left: int
    top: int
    width: int
    height: int
    window_height: int
    pid: int
    active: bool
    session: str

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height


def list_panes() -> dict[str, Pane]:
    """Every pane of every session by its id; empty if tmux is not running. Dead panes, which only show their final
    output, are left out."""
    found: dict[str, Pane] = {}
    for line in _try_tmux("list-panes", "-a", "-F", _FORMAT).splitlines():
        words = line.split(" ", len(_FIELDS) - 1)
        if len(words) < len(_FIELDS) or words[-2] == "1":
            continue
        pane, window, index, *numbers = words[:9]
        left, top, width, height, window_height, pid = map(int, numbers)
        active = words[9] == words[10] == "1"
        # A window may be linked into several sessions; its panes are listed once.
        known = Pane(pane, window, index, left, top, width, height, window_height, pid, active, words[-1])
        found.setdefault(pane, known)
    return found


def is_alive(pane: str) -> bool:
    return bool(_PANE.match(pane)) and _try_tmux("display-message", "-p", "-t", pane, "#{pane_id}").strip() == pane


def capture(pane: str) -> str:
    """What a pane shows, with wrapped lines joined."""
    return _try_tmux("capture-pane", "-p", "-J", "-t", check_pane(pane))


def press(pane: str, *keys: str) -> None:
    """Press keys by their tmux names (`Down`, `Enter`)."""
    _try_tmux("send-keys", "-t", check_pane(pane), *keys)


def type_line(pane: str, line: str) -> None:
    """Type a line literally, and Enter."""
    run_tmux("send-keys", "-t", check_pane(pane), "-l", "--", line)
    run_tmux("send-keys", "-t", check_pane(pane), "Enter")


def select(pane: str) -> None:
    """Bring a pane to the front: its window in its session, and itself in its window."""
    run_tmux("select-window", "-t", check_pane(pane))
    run_tmux("select-pane", "-t", check_pane(pane))


def show_message(pane: str, message: str, milliseconds: int) -> None:
    """Show a message over a pane for a while, if somebody is looking at it."""
    _try_tmux("display-message", "-d", str(milliseconds), "-t", check_pane(pane), _escape_format(message))


def leave_window(pane: str) -> None:
    """Move a pane into a window of its own, without switching to it."""
    run_tmux("break-pane", "-d", "-s", check_pane(pane))


def join(pane: str, beside: str, *, below: bool = False, percent: int | None = None) -> None:
    """Move a pane to the right of another, or below it, without switching to it."""
    size = [] if percent is None else ["-l", f"{percent}%"]
    way = "-v" if below else "-h"
    run_tmux("join-pane", "-d", way, *size, "-s", check_pane(pane), "-t", check_pane(beside))


def equalize_columns(pane: str) -> None:
    """Give all panes of a window, side by side, the same width."""
    run_tmux("select-layout", "-t", check_pane(pane), "even-horizontal")


def create_pane(session: str, folder: str, words: list[str]) -> str:
    """Start a program in a new window of the session of that name, which is created if necessary; returns its pane."""
    where = ["-P", "-F", "#{pane_id}", "-c", _escape_format(folder)]
    if any(pane.session == session for pane in list_panes().values()):
        return run_tmux("new-window", "-d", *where, "-t", f"={session}:", *words).strip()
    return run_tmux("new-session", "-d", *where, "-s", session, *words).strip()


def _escape_format(text: str) -> str:
    """Where tmux expands formats, such as `#(command)`, a doubled `#` is a literal one."""
    return text.replace("#", "##")


def check_pane(pane: str) -> str:
    if not _PANE.match(pane):
        raise Refused(f"{pane!r} is not a tmux pane; panes have names like %4.")
    return pane


def run_tmux(*words: str) -> str:
    """The output of tmux; refused with its own message if it fails."""
    done = _run(words)
    if done.returncode:
        output = " ".join(done.stderr.decode("utf-8", "replace").split())
        raise Refused(f"tmux {words[0]} failed: {output}", code="conflict", command=words[0])
    return done.stdout.decode("utf-8", "replace")


def _try_tmux(*words: str) -> str:
    """The output of tmux, "" if it fails."""
    done = _run(words)
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def _run(words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    # To tmux, a semicolon at the end of an argument ends the command.
    escaped = [f"{word[:-1]}\\;" if word.endswith(";") else word for word in words]
    try:
        return subprocess.run(  # noqa: S603 - a list of words, never a shell command line
            ["tmux", *escaped],  # noqa: S607 - the person's own tmux
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise Refused("tmux is not installed here.", code="not_found") from error
    except subprocess.TimeoutExpired as error:
        raise Refused("tmux does not answer.", code="busy") from error


# The question that a session asks in its pane: numbered options, one of them marked, parsed from its text. Pure.


# Colours, cursor moves, titles and links, and the single characters that select a character set.
_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78DEHM])")
_FRAME = re.compile(r"^[\s│┃|╎]+|[\s│┃|╎]+$")
_OPTION = re.compile(r"(?P<mark>[❯>▶›]\s*)?(?P<number>[0-9]{1,2})[.)]\s+(?P<label>\S.*)")
_RULE = re.compile(r"[─━╌╭╮╰╯┌┐└┘═\s]*")


@dataclass(frozen=True, slots=True)
class PaneQuestion:
    """A question with its options; `marked` is the index, from 0, of the one that Enter would select."""

    text: str
    options: tuple[str, ...]
    marked: int

    def as_json(self) -> dict[str, Any]:
        options = [{"index": number, "label": label} for number, label in enumerate(self.options, 1)]
        return {"active": True, "question": self.text, "options": options, "selected": self.marked + 1}


NO_QUESTION: dict[str, Any] = {"active": False, "question": None, "options": []}


def strip_escapes(text: str) -> str:
    return _ESCAPES.sub("", text)


def find_question(pane: str) -> PaneQuestion | None:
    """The last question in a pane's text that can be answered: options numbered from 1, one of them marked.

    A list that an agent merely wrote has no marker, and so is not a question.
    """
    lines = [_FRAME.sub("", line) for line in strip_escapes(pane).replace("\r", "").split("\n")]
    end = len(lines)
    while end > 0:
        found = _options_before(lines, end)
        if found is None:
            return None
        start, options, marked = found
        if marked is not None:
            return PaneQuestion(_question_above(lines, start), tuple(options), marked)
        end = start
    return None


def _options_before(lines: list[str], end: int) -> tuple[int, list[str], int | None] | None:
    """The last run of options that begins with 1: where it is, their labels, and which one is marked."""
    for start in range(end - 1, -1, -1):
        first = _OPTION.fullmatch(lines[start])
        if first is None or first["number"] != "1":
            continue
        options: list[str] = []
        marked: int | None = None
        for line in lines[start:end]:
            option = _OPTION.fullmatch(line)
            if option is not None and option["number"] == str(len(options) + 1):
                if option["mark"]:
                    marked = len(options)
                options.append(option["label"].strip())
            elif _RULE.fullmatch(line) and line.strip():
                break  # the frame around the question ends
        return start, options, marked
    return None


def _question_above(lines: list[str], start: int) -> str:
    for line in reversed(lines[:start]):
        if not _RULE.fullmatch(line):
            return line
    return ""
