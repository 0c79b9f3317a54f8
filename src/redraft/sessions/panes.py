"""tmux panes: where they are, what they show, and text typed into them. A pane is named by its id (`%4`), and by
nothing else.

Every word goes to tmux as a word of its own, and no shell in between takes it apart. What is typed into a pane may
still be read by a shell there: quoting it is the caller's.
"""

from __future__ import annotations

import re
import subprocess
from typing import NamedTuple

from redraft.errors import Refused

SECONDS = 10
_PANE = re.compile(r"%[0-9]+\Z")
_FIELDS = (
    "pane_id", "window_id", "window_index", "pane_left", "pane_top", "pane_width", "pane_height", "window_height",
    "pane_pid", "pane_active", "window_active", "pane_dead", "session_name",
)  # fmt: skip
_FORMAT = " ".join(f"#{{{name}}}" for name in _FIELDS)


class Pane(NamedTuple):
    """A pane where it stands: its window, and its place and size there in characters."""

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


def panes() -> dict[str, Pane]:
    """Every pane of every session by its id; none where no tmux runs. Dead ones, that only show their end, are left
    out."""
    found: dict[str, Pane] = {}
    for line in _tmux("list-panes", "-a", "-F", _FORMAT).splitlines():
        words = line.split(" ", len(_FIELDS) - 1)
        if len(words) < len(_FIELDS) or words[-2] == "1":
            continue
        pane, window, index, *numbers = words[:9]
        left, top, width, height, window_height, pid = map(int, numbers)
        active = words[9] == words[10] == "1"
        # A window may be linked into several sessions; its panes are told once.
        known = Pane(pane, window, index, left, top, width, height, window_height, pid, active, words[-1])
        found.setdefault(pane, known)
    return found


def is_alive(pane: str) -> bool:
    return bool(_PANE.match(pane)) and _tmux("display-message", "-p", "-t", pane, "#{pane_id}").strip() == pane


def shown_in(pane: str) -> str:
    """What a pane shows, wrapped lines joined."""
    return _tmux("capture-pane", "-p", "-J", "-t", checked(pane))


def press(pane: str, *keys: str) -> None:
    """Press keys by their tmux names (`Down`, `Enter`)."""
    _tmux("send-keys", "-t", checked(pane), *keys)


def type_line(pane: str, line: str) -> None:
    """Type a line as it is, and Enter."""
    told("send-keys", "-t", checked(pane), "-l", "--", line)
    told("send-keys", "-t", checked(pane), "Enter")


def select(pane: str) -> None:
    """Bring a pane to the front: its window in its session, and itself in its window."""
    told("select-window", "-t", checked(pane))
    told("select-pane", "-t", checked(pane))


def notice(pane: str, message: str, milliseconds: int) -> None:
    """Show a message over a pane for a while, where somebody looks at it."""
    _tmux("display-message", "-d", str(milliseconds), "-t", checked(pane), _plain(message))


def leave_window(pane: str) -> None:
    """Give a pane a window of its own, without going there."""
    told("break-pane", "-d", "-s", checked(pane))


def join(pane: str, beside: str, *, below: bool = False, percent: int | None = None) -> None:
    """Put a pane to the right of another, or below it, without going there."""
    size = [] if percent is None else ["-l", f"{percent}%"]
    way = "-v" if below else "-h"
    told("join-pane", "-d", way, *size, "-s", checked(pane), "-t", checked(beside))


def even_columns(pane: str) -> None:
    """Give all panes of a window, side by side, the same width."""
    told("select-layout", "-t", checked(pane), "even-horizontal")


def new_pane(session: str, folder: str, words: list[str]) -> str:
    """Start a program in a window of its own, in the session of that name, which is made if need be; its pane."""
    where = ["-P", "-F", "#{pane_id}", "-c", _plain(folder)]
    if any(pane.session == session for pane in panes().values()):
        return told("new-window", "-d", *where, "-t", f"={session}:", *words).strip()
    return told("new-session", "-d", *where, "-s", session, *words).strip()


def _plain(text: str) -> str:
    """Where tmux expands formats, among them `#(command)`, a doubled sign is the sign itself."""
    return text.replace("#", "##")


def checked(pane: str) -> str:
    if not _PANE.match(pane):
        raise Refused(f"{pane!r} is no tmux pane; they are named like %4.")
    return pane


def told(*words: str) -> str:
    """What tmux answers; refused with its own words where it does not do it."""
    done = _run(words)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Refused(f"tmux {words[0]} failed: {said}", code="conflict", command=words[0])
    return done.stdout.decode("utf-8", "replace")


def _tmux(*words: str) -> str:
    """What tmux answers, "" where it does not do it."""
    done = _run(words)
    return "" if done.returncode else done.stdout.decode("utf-8", "replace")


def _run(words: tuple[str, ...]) -> subprocess.CompletedProcess[bytes]:
    # To tmux a semicolon at the end of a word ends a command.
    kept = [f"{word[:-1]}\\;" if word.endswith(";") else word for word in words]
    try:
        return subprocess.run(  # noqa: S603 - words, never a shell's line
            ["tmux", *kept],  # noqa: S607 - the person's own tmux
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except FileNotFoundError as error:
        raise Refused("tmux is not installed here.", code="not_found") from error
    except subprocess.TimeoutExpired as error:
        raise Refused("tmux does not answer.", code="busy") from error
