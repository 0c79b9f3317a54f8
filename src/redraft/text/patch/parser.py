"""Unified patches as values, parsed from any of their dialects.

Git, Mercurial, Subversion, Bazaar and plain `diff -u` all write the same `@@` sections under different headers; this
module parses them all into `FilePatch`, and ignores the prose around them (mails, commit messages, bug comments). It is
strict where being lenient would lose an edit: counts that do not add up, a patch that was cut off and the older diff
formats are refused, never parsed halfway. It never looks at a document: `unified_diff` applies what it parses.

A line of a patch ends at a line feed and nowhere else; a carriage return is content, as in git.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NoReturn

from redraft.errors import Refused

# File names in the headers of patches.
#
# A name may be quoted as in C, followed by a date or a revision, and preceded by a prefix for its side (`a/`, `b/`)
# that is not part of it. Nothing here looks at a file or decides whether a name is safe to open.


Names = tuple[str | None, str | None]
RawNames = tuple[str, str]

_NOWHERE = "/dev/null"
# Git's usual prefixes, and those of `diff.mnemonicPrefix`: commit, index, working tree, object.
_PREFIXES = {("a/", "b/"), ("i/", "w/"), ("c/", "i/"), ("c/", "w/"), ("o/", "w/"), ("1/", "2/")}
_STAMP = re.compile(r"\s+\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d.*|\s*\((?:revision \d+|working copy|nonexistent)\)")
_TO_QUOTE = re.compile(r'[\x00-\x1f\x7f"\\]')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\([0-7]{3})|\\(.)|([^\\]+)")
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def quote_path(path: str) -> str:
    """The path in C quotes if it needs them."""
    if not _TO_QUOTE.search(path):
        return path
    return '"' + _TO_QUOTE.sub(lambda found: f"\\{ord(found[0]):03o}", path) + '"'


def unquote_path(name: str) -> str:
    """The name without C quotes, in which bytes beyond ASCII are octal escapes; unchanged if it has none."""
    if not name.startswith('"'):
        return name
    found = _QUOTED.match(name)
    if not found:
        raise _wrong(name, "is not closed")
    raw = bytearray()
    for octal, escape, plain in _ESCAPED.findall(found[1]):
        if escape and escape not in _ESCAPES:
            raise _wrong(name, "is quoted wrongly")
        raw += plain.encode() if plain else bytes([int(octal, 8) & 255 if octal else _ESCAPES[escape]])
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise _wrong(name, "is not UTF-8") from None


def header_name(field: str) -> str:
    """The name in a `---` or `+++` line, without what follows it."""
    if field.startswith('"'):
        return unquote_path(field)
    name, tab, _ = field.partition("\t")
    return name if tab else _STAMP.sub("", name)


def git_names(field: str) -> RawNames | None:
    """The two names of a `diff --git` line, which only quotes, or being equal except for a prefix, can separate."""
    if found := _QUOTED.match(field):
        return unquote_path(found[0]), unquote_path(field[found.end() + 1 :])
    for blank in re.finditer(" ", field):
        old, new = field[: blank.start()], unquote_path(field[blank.end() :])
        if old == new or ((old[:2], new[:2]) in _PREFIXES and old[2:] == new[2:]):
            return old, new
    old, _, new = field.partition(" ")
    return (old, unquote_path(new)) if new and (" " not in new or new.startswith('"')) else None


def without_prefixes(old: str, new: str, git: RawNames | None = None) -> Names:
    """The names without their sides' prefixes, and None for the name that stands for no file.

    If a `diff --git` line gave both names, it alone says whether there are prefixes: `a/x` may be a file in `a`.
    """
    first, second = git or (old, new)
    prefixed = (first[:2], second[:2]) in _PREFIXES and (git is not None or first[2:] == second[2:])
    if git is None:
        prefixed = prefixed or (_side(first, "a/") and _side(second, "b/"))
    old, new = (name[2:] if prefixed and name != _NOWHERE else name for name in (old, new))
    return None if old == _NOWHERE else old, None if new == _NOWHERE else new


def _side(name: str, prefix: str) -> bool:
    return name == _NOWHERE or name.startswith(prefix)


def _wrong(name: str, why: str) -> Refused:
    return Refused(f"the file name {name} {why}", code="invalid_patch")


Kind = Literal["modified", "created", "deleted", "renamed", "copied"]
Sign = Literal[" ", "-", "+"]


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """One `@@` section. Starts count from 0. A line keeps its line feed; it has none if its file has none."""

    old_start: int
    new_start: int
    lines: tuple[tuple[Sign, str], ...]
    heading: str = ""

    @property
    def old_lines(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "+"]

    @property
    def new_lines(self) -> list[str]:
        return [text for sign, text in self.lines if sign != "-"]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """What a patch does to one file. A path is None on the side where the file does not exist.

    `binary` means that the content is not in the patch as text. `crlf` means that every line of the patch ends in CR
    LF, its headers too, so that the carriage returns may come from the way it was sent rather than from the file.
    """

    old_path: str | None
    new_path: str | None
    hunks: tuple[PatchHunk, ...]
    kind: Kind
    binary: bool = False
    mode: str | None = None
    crlf: bool = False

    @property
    def path(self) -> str:
        """The file's name after the patch, or before it if the patch deletes it."""
        return self.new_path or self.old_path or ""


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The files of a unified patch, in order; refused with `invalid_patch` if any part cannot be trusted."""
    _refuse_formats(text, _OTHER_FORMATS)
    files = _PatchParser(text).parse()
    if not files:
        _refuse_formats(text, _SCRIPTS)
        raise _invalid("There is no unified diff in this text.")
    return tuple(files)


_SECTION = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)")
_BINARY = re.compile(r"(?:Binary files )+(.+) and (.+) differ")
# None of these can be inside a section, whose lines begin with a sign, so one search of the whole text finds them.
_OTHER_FORMATS = {
    "a context diff": re.compile(r"^\*\*\* .*\n--- .*\n\*{15}", re.MULTILINE),
    "a normal diff, without context": re.compile(r"^\d+(?:,\d+)?[acd]\d+(?:,\d+)?\r?\n[<>]", re.MULTILINE),
    "a combined diff of a merge": re.compile(r"^(?:diff --(?:cc|combined) |@@@+ -)", re.MULTILINE),
}
# Plain words may look like these, so they only explain why nothing else was found.
_SCRIPTS = {
    "an ed script": re.compile(r"^\d+(?:,\d+)?[acd]\r?$", re.MULTILINE),
    "an RCS script": re.compile(r"^[ad]\d+ \d+\r?$", re.MULTILINE),
}
# What may come directly after a complete section although it begins with a minus: the rule above a mail's signature, or
# the one below a quoted patch. Any other signed line there shows that the counts are wrong.
_RULE = re.compile(r"--[ -]?\r?")
_ABSENT = re.compile(r"\((?:nonexistent|revision 0)\)|19(?:70-01-01|69-12-31) \d\d:00:00")
_NO_CONTENT = re.compile(r"0+|e69de29[0-9a-f]*")


@dataclass(slots=True)
class _Header:
    """What the lines above a file's sections have said so far."""

    names: Names = (None, None)
    git: RawNames | None = None
    kind: Kind = "modified"
    binary: bool = False
    mode: str | None = None
    has_content: bool = False


class _PatchParser:
    """One pass over the lines of a patch."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        if self.lines[-1] == "":
            del self.lines[-1]
        self.crlf = bool(self.lines) and all(line.endswith("\r") for line in self.lines if not line.startswith("\\"))
        self.at = 0
        self.files: list[FilePatch] = []

    def parse(self) -> list[FilePatch]:
        while self.at < len(self.lines):
            line = self.peek()
            if line.startswith("diff --git "):
                self.parse_git_file()
            elif self.names_follow():
                self.parse_named_file(_Header())
            elif found := _BINARY.fullmatch(line):
                self.at += 1
                self.finish(_Header(names=without_prefixes(found[1], found[2]), binary=True), ())
            elif _SECTION.match(line):
                self.refuse("a section has no file name")
            else:
                self.at += 1
        return self.files

    def peek(self, ahead: int = 0) -> str:
        """A line without its terminator; empty past the end."""
        at = self.at + ahead
        return self.lines[at].removesuffix("\r") if at < len(self.lines) else ""

    def refuse(self, why: str) -> NoReturn:
        raise _invalid(f"Line {self.at + 1} of the patch: {why}.", line=self.at + 1)

    def names_follow(self) -> bool:
        return self.peek().startswith("--- ") and self.peek(1).startswith("+++ ")

    def parse_git_file(self) -> None:
        header = _Header(git=git_names(self.peek()[len("diff --git ") :]))
        header.names = without_prefixes(*header.git, header.git) if header.git else (None, None)
        self.at += 1
        while self.at < len(self.lines) and self.parse_extended_header(header, self.peek()):
            self.at += 1
        if self.names_follow():
            self.parse_named_file(header)
            return
        if self.peek() == "GIT binary patch" or _BINARY.fullmatch(self.peek()):
            self.at += 1
            header.binary = True
        # Without a section, an index line that mentions content means that this content is not in the patch.
        header.binary = header.binary or header.has_content
        self.finish(header, ())

    def parse_extended_header(self, header: _Header, line: str) -> bool:
        """Parse one of git's extended header lines; False if they are over."""
        word, _, rest = line.partition(" ")
        if line.startswith(("new file mode ", "new mode ")):
            header.mode = rest.rpartition(" ")[2]
            header.kind = "created" if line.startswith("new file") else header.kind
        elif line.startswith("deleted file mode "):
            header.kind = "deleted"
        elif word == "index":
            hashes, _, mode = rest.partition(" ")
            header.mode = mode or header.mode
            header.has_content = not all(_NO_CONTENT.fullmatch(part) for part in hashes.split(".."))
        elif word in ("rename", "copy") and rest.startswith(("from ", "to ")):
            header.kind = "renamed" if word == "rename" else "copied"
            which, _, name = rest.partition(" ")
            name = unquote_path(name)
            header.names = (name, header.names[1]) if which == "from" else (header.names[0], name)
        else:
            return line.startswith(("old mode ", "similarity index ", "dissimilarity index "))
        return True

    def parse_named_file(self, header: _Header) -> None:
        """The two name lines and the sections below them."""
        old, new = (header_name(self.peek(ahead)[4:]) for ahead in (0, 1))
        stamps = self.peek(0), self.peek(1)
        self.at += 2
        hunks: list[PatchHunk] = []
        while self.peek().startswith("@@"):
            hunks.append(self.parse_section())
        if not hunks:
            self.refuse("the file has no section: the patch is truncated")
        self.check_order(hunks)
        if header.kind in ("modified", "created", "deleted"):
            header.names = without_prefixes(old, new, header.git)
            header.kind = _kind(header, hunks, stamps)
        self.finish(header, tuple(hunks))

    def parse_section(self) -> PatchHunk:
        found = _SECTION.fullmatch(self.peek())
        if not found:
            self.refuse("the line numbers of this section cannot be read")
        self.at += 1
        counts = [int(found[2] or 1), int(found[4] or 1)]
        lines: list[tuple[Sign, str]] = []
        while any(counts):
            sign, text = self.parse_body_line()
            counts[0] -= sign != "+"
            counts[1] -= sign != "-"
            if min(counts) < 0:
                self.refuse("the section's lines do not match its header")
            self.at += 1
            if self.at < len(self.lines) and self.lines[self.at].startswith("\\"):
                text = text.removesuffix("\n")
                self.at += 1
            lines.append((sign, text))
        self.check_section(lines)
        old_start, new_start = int(found[1]), int(found[3])
        # A side without lines is numbered by the line before it, any other by its first line.
        old_start -= any(sign != "+" for sign, _ in lines)
        new_start -= any(sign != "-" for sign, _ in lines)
        if min(old_start, new_start) < 0:
            self.refuse("a section with lines cannot begin at line 0")
        return PatchHunk(old_start, new_start, tuple(lines), found[5])

    def parse_body_line(self) -> tuple[Sign, str]:
        if self.at >= len(self.lines):
            self.refuse("the patch is truncated inside a section")
        line = self.lines[self.at]
        # Mail programs strip trailing blanks: an empty line is an empty line of context, as in git and patch.
        if line in ("", "\r"):
            return " ", line + "\n"
        sign = line[0]
        if sign not in (" ", "-", "+"):
            self.refuse("the section ends earlier than its header says")
        return sign, line[1:] + "\n"

    def check_section(self, lines: list[tuple[Sign, str]]) -> None:
        if all(sign == " " for sign, _ in lines):
            self.refuse("the section above changes nothing: the patch is truncated")
        below = self.lines[self.at] if self.at < len(self.lines) else ""
        if below.startswith((" ", "+", "-")) and not _RULE.fullmatch(below) and not self.names_follow():
            self.refuse("the section above has more lines than its header says")
        for absent in ("+", "-"):
            side = [text for sign, text in lines if sign != absent]
            if not all(text.endswith("\n") for text in side[:-1]):
                self.refuse("only the last line of a file can lack a newline")

    def check_order(self, hunks: list[PatchHunk]) -> None:
        for before, after in pairwise(hunks):
            if before.old_start + len(before.old_lines) > after.old_start:
                self.refuse("the sections above overlap or are out of order")
            if not all(text.endswith("\n") for _, text in before.lines):
                self.refuse("only the last line of a file can lack a newline")

    def finish(self, header: _Header, hunks: tuple[PatchHunk, ...]) -> None:
        old, new = header.names
        if old is None and new is None:
            self.refuse("the file above has no name")
        old = None if header.kind == "created" else old
        new = None if header.kind == "deleted" else new
        self.files.append(FilePatch(old, new, hunks, header.kind, header.binary, header.mode, self.crlf))


def _invalid(message: str, **details: object) -> Refused:
    return Refused(message, code="invalid_patch", **details)


def _refuse_formats(text: str, formats: dict[str, re.Pattern[str]]) -> None:
    for name, pattern in formats.items():
        if pattern.search(text):
            raise _invalid(f"This is {name}; only unified diffs can be read.", format=name)


def _kind(header: _Header, hunks: list[PatchHunk], stamps: tuple[str, str]) -> Kind:
    """What happens to the file, if the dialect only says so by a missing name or an impossibly early date."""
    if header.git is None and len(hunks) == 1:
        if _ABSENT.search(stamps[0]) and not hunks[0].old_lines:
            return "created"
        if _ABSENT.search(stamps[1]) and not hunks[0].new_lines:
            return "deleted"
    if header.names[0] is None:
        return "created"
    return "deleted" if header.names[1] is None else header.kind
