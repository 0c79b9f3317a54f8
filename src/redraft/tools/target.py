"""What a call is about: a document (a tab by its id, a path, or the active tab), the version that the call was made
for, and the passage or section that it quotes."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from difflib import SequenceMatcher, get_close_matches
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from redraft.errors import RedraftError, Refused, Stale
from redraft.formats.outline.outline import Format, outline
from redraft.search.pattern import compile_query
from redraft.search.text_search import find_all
from redraft.text.diff.line_diff import diff_lines
from redraft.text.edits import Change, follow
from redraft.text.lines import adopt_newlines, split_lines
from redraft.text.rebase import KnownChange, carry_forward
from redraft.text.text import find_passage
from redraft.tools.parameters import Field
from redraft.workspace.document import NEWLINE_SAMPLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from redraft.formats.outline.outline import OutlineEntry
    from redraft.text.edits import Edit
    from redraft.text.text import Text
    from redraft.tools.context import ToolContext
    from redraft.workspace.document import Document
    from redraft.workspace.turns.turn import Turn


OF_THE_MACHINE = frozenset({"Users", "etc", "home", "media", "mnt", "opt", "private", "root", "tmp", "usr", "var"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The two ways to name a document; with neither, the active tab is meant."""

    tab_id: Annotated[str | None, Field("From list_tabs. Default: the active tab.", ("tab",))] = None
    path: Annotated[
        str | None,
        Field("The path in the folder, instead of a tab.", ("file_path", "file", "document")),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedEdit(Target):
    """An edit of a document that was read."""

    version: Annotated[
        str,
        Field("From read_document or the last edit; line numbers refer to it."),
    ]


class TargetDocument(NamedTuple):
    """A document, and the tab in which it is open, if it is."""

    path: str
    tab_id: str | None


def resolve_target(target: Target, context: ToolContext) -> TargetDocument:
    """Find the document that is meant; refuse rather than guess."""
    workspace = context.workspace
    if not target.path:
        found = _tab_document(target.tab_id, context) if target.tab_id else _active_document(context)
        context.log_path(found.path)
        return found
    path = workspace.path(relative_path(target.path, context))
    if target.tab_id and workspace.tab(target.tab_id).path != path:
        raise Refused(f"`path` names {path}, and the tab {target.tab_id} shows another document.", field="path")
    return TargetDocument(path, workspace.tab_of(path))


def front_document(context: ToolContext) -> TargetDocument | None:
    """The default document of a call: what the surface has set, else what the person is looking at."""
    workspace = context.workspace
    if context.active_tab is not None:
        return _tab_document(context.active_tab, context)
    if context.document:
        moved = {} if context.turn is None else {origin: target for target, origin in context.turn.moved.items()}
        path = workspace.path(context.document)
        return TargetDocument(moved.get(path, path), workspace.tab_of(path))
    front = context.workspace.front(context.person)
    return None if front is None else TargetDocument(front.path, front.tab_id)


def _tab_document(tab_id: str, context: ToolContext) -> TargetDocument:
    found = context.workspace.tab(tab_id)
    return TargetDocument(found.path, found.tab_id)


def _active_document(context: ToolContext) -> TargetDocument:
    found = front_document(context)
    if found is not None:
        return found
    known = list(context.workspace.tab_paths())
    if len(known) == 1:
        return _tab_document(known[0], context)
    message = "No tab is open." if not known else f"{len(known)} tabs are open and none is active."
    raise Refused(f"{message} Name a `path` or a `tab_id`.", code="invalid_tab_id", open_tabs=known)


def relative_path(raw: str, context: ToolContext) -> str:
    """A path as models write it: with `./` before it, or absolute if it leads into this folder."""
    root = os.path.abspath(context.workspace.folder)
    inside = raw.removeprefix(root)
    if inside != raw and inside[:1] in ("", "/"):
        raw = inside.lstrip("/")
    return raw.removeprefix("./")


def relative_folder(raw: str | None, context: ToolContext) -> str:
    """A folder as the workspace tools write it: "/" is the root, and slashes around it are ignored. What looks like an
    absolute path of the machine is refused: it would create a chain of new folders here."""
    path = relative_path(raw or "", context)
    folder = path.strip("/")
    first, _, rest = folder.partition("/")
    workspace = context.workspace
    if path.startswith("/") and rest and first in OF_THE_MACHINE and not workspace.is_folder(first):
        message = f"There is no folder {first[:100]!a} here. To create it here, leave out the leading slash."
        raise Refused(message, code="invalid_path", path=path[:500])
    return folder if folder != "." else ""


# The version that a call was made for: its text, and where the call's edits go in the document as it is now.
#
# A place (lines, offsets, a section, a quoted passage) is looked up in the text that the caller read. If the document
# has changed since, the edits are carried forward through all changes, and land where that text is now, or are refused
# with what changed. See `text.rebase` for how.


# The refusal of a stale version, with what the caller needs to continue: the lines that changed since it read.


MAX_PLACES = 20
MAX_CHARACTERS = 400


def explain_stale(error: Stale, context: ToolContext) -> Stale:
    """The same refusal with both versions, and, if the old text is known, with the lines in which the new one
    differs."""
    path = error.details.get("path")
    if not isinstance(path, str) or "changed_lines" in error.details:
        return error
    try:
        now = context.peek(path)
    except RedraftError:
        return error
    details = {"current_version": now.version, **error.details}
    if "your_version" not in details and (seen := context.last_seen(path)) is not None:
        details["your_version"] = seen.version
    places = _find_changed_places(now, details.get("your_version"), context)
    return Stale(error.message, code=error.code, **details, **places)


def _find_changed_places(now: Document, version: Any, context: ToolContext) -> dict[str, Any]:
    try:
        then = old_text(context, now, version) if isinstance(version, str) else None
    except RedraftError:
        return {}
    if then is None:
        return {}
    places = line_changes(then, now.text)
    return {"changed_lines": places[:MAX_PLACES], "changed_places": len(places)}


def old_text(context: ToolContext, document: Document, version: str) -> Text | None:
    """The text of an old version of a document: as the caller saw it, as the open turn had it, or as the folder's
    history has it. `document` is its current state."""
    path, workspace = document.path, context.workspace
    known = context.find_seen_text(path, version)
    before_turn = document
    if known is None and context.turn is not None and (staged := context.turn.find_staged(path)) is not None:
        known, before_turn = staged.text_of(version), staged.first or document
    if known is None:
        known = workspace.changes.text_of(path, version, before_turn.text, before_turn.version)
    if known is None:
        return workspace.text_of_version(path, version)
    workspace.check_past(path, version, known)
    return known


def require_old_text(context: ToolContext, document: Document, version: str) -> Text:
    """The same; refused if it is no longer known."""
    try:
        text = old_text(context, document, version)
    except RedraftError:
        text = None
    if text is None:
        path = document.path
        message = f"The text of version {version[:40]!a} of {path} is not available: read the current one."
        raise Refused(message, code="not_found", version=version[:40], path=path)
    return text


def line_changes(then: Text, now: Text) -> list[dict[str, Any]]:
    """Where two texts differ, in lines of the newer one: from 0, inclusive; `end_line` is one less than `start_line` if
    lines were only removed."""
    old, new = str(then), str(now)
    return [
        {
            "start_line": region.new_start,
            "end_line": region.new_end - 1,
            "old_start_line": region.old_start,
            "old_end_line": region.old_end - 1,
            "old": shorten(old[region.at : region.until]),
            "new": shorten(new[region.new_at : region.new_until]),
        }
        for region in diff_lines(old, new)
    ]


def shorten(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else text[:MAX_CHARACTERS] + "…"


class EditBasis(NamedTuple):
    """A document as the caller of a tool read it, at `version`, and as it is `now`."""

    then: Document
    now: Document
    version: str

    @property
    def is_current(self) -> bool:
        return self.then is self.now

    def stale_error(self, message: str = "") -> Stale:
        return stale_error(self.now, self.version, message)


class CarriedEdits(NamedTuple):
    """Edits that were `asked` for, of the basis, and the same edits for the document as it is now."""

    basis: EditBasis
    asked: Change
    change: Change

    def edit(self, turn: Turn) -> Document:
        """Stage them."""
        now = self.basis.now
        return turn.edit(now.path, self.change, now.version, asked=self.asked, made_for=self.basis.version)

    @property
    def landed(self) -> dict[str, Any]:
        """For the answer: where edits landed that were made for an earlier version; lines from 0, inclusive, as the
        call left them. `end_line` is before `start_line` if nothing is left."""
        if self.basis.is_current or not self.change.edits:
            return {}
        text = self.basis.now.text
        first, last = self.change.edits[0], self.change.edits[-1]
        growth = sum(edit.growth for edit in self.change.edits[:-1])
        after = self.change.apply_to(text)
        until = last.at + growth + len(last.new)
        start = after.line_at(first.at)
        end = after.line_at(until - 1) if until > first.at else start - 1
        return {"landed": {"start_line": start, "end_line": end, "made_for": self.basis.version}}


def stale_error(document: Document, version: str, message: str = "") -> Stale:
    return Stale(
        message or f"{document.path} changed since it was read, at the place this call changes.",
        path=document.path,
        your_version=version,
        current_version=document.version,
    )


def basis_of(document: Document, version: str | None, context: ToolContext) -> EditBasis:
    """What a call was made for: the version that it names, else what its caller last read."""
    known = None if version else context.last_seen(document.path)
    wanted = version or (document.version if known is None else known.version)
    if wanted == document.version:
        return EditBasis(document, document, wanted)
    try:
        text = old_text(context, document, wanted)
    except RedraftError:
        text = None
    if text is None:
        staged = None if context.turn is None else context.turn.find_staged(document.path)
        if staged is None or staged.seen is not None or staged.first is None:
            message = f"The text of version {wanted[:40]!a} of {document.path} is not available: read it again."
            raise stale_error(document, wanted, message)
        # Created in this same turn, so its caller could not know a version: it means what it wrote there.
        text, wanted = staged.first.text, staged.first.version
    return EditBasis(replace(document, text=text), document, wanted)


def target_document(target: Target, context: ToolContext) -> tuple[TargetDocument, Document]:
    """The document to edit. This does not count as reading it: the caller's versions stay as they were."""
    place = resolve_target(target, context)
    return place, context.peek(place.path)


def target_basis(target: Target, version: str | None, context: ToolContext) -> tuple[TargetDocument, EditBasis]:
    """The same, with the text that the call was made for."""
    place, document = target_document(target, context)
    return place, basis_of(document, version, context)


def refresh(basis: EditBasis, context: ToolContext) -> EditBasis:
    """The same with the document as it is now, after others could use the workspace."""
    now = context.peek(basis.now.path)
    return basis if now.version == basis.now.version else basis._replace(now=now)


def check_lines_known(
    basis: EditBasis, edit_of: Callable[[Document], Edit], version: str | None, context: ToolContext
) -> None:
    """Refuse a line number without a version if it is unclear whether the caller counted before or after its own edits:
    their answers did not show the text."""
    read = context.last_read(basis.now.path)
    if version or read is None or read.version == basis.version:
        return
    before = basis_of(basis.now, read.version, context)
    try:
        same = (
            carry(before, [edit_of(before.then)], context).change == carry(basis, [edit_of(basis.then)], context).change
        )
    except Refused:
        same = False
    if not same:
        message = f"You have changed {basis.now.path} since you read it: give the `version` that your lines refer to."
        raise stale_error(basis.now, read.version, message)


def carry(basis: EditBasis, edits: Iterable[Edit], context: ToolContext) -> CarriedEdits:
    """Edits of the text that was read, as edits of the current one; raises `Stale` if that is impossible."""
    asked = Change(tuple(edits))
    if basis.is_current:
        return CarriedEdits(basis, asked, asked)
    change = carry_forward(asked, basis.version, basis.then.text, _find_known_changes(basis, context), context.is_own)
    if change is None:
        raise basis.stale_error()
    return CarriedEdits(basis, asked, change)


def _find_known_changes(basis: EditBasis, context: ToolContext) -> list[KnownChange]:
    """The known changes: in the folder until the open turn began, and in that turn."""
    changes, now = context.workspace.changes, basis.now
    staged = None if context.turn is None else context.turn.find_staged(now.path)
    if staged is None or staged.first is None:
        return [KnownChange(changes.since(now.path, basis.version, now.version), now.text)]
    if staged.text_of(basis.version) is not None:
        return [KnownChange(follow(staged.steps, basis.version, now.version), now.text)]
    first = staged.first
    return [
        KnownChange(changes.since(now.path, basis.version, first.version), first.text),
        KnownChange(staged.steps, now.text),
    ]


def match_newlines(content: str, document: Document) -> str:
    """New text with the document's newlines."""
    return adopt_newlines(content, document.text.slice(0, min(len(document.text), NEWLINE_SAMPLE)))


def newline_of(document: Document) -> str:
    return match_newlines("\n", document)


# Find a quoted passage: it must occur once, or the call is refused with its places or with near misses. It is searched
# in the text that the caller read; then the edit is carried forward like any other.


MAX_QUOTED_PLACES = 10
NEAR_MISSES = 3
NEAR = 0.6
# Near misses only explain a refusal, so a long document is not searched completely for them.
MAX_LINES = 50_000
MAX_CANDIDATES = 40
# A passage that agrees this far is near enough to be shown, however long the quotation is.
NEAR_WORDS, NEAR_CHARACTERS = 50, 2000
_FOLDED = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-", "\u00a0": " "})


def find_once(document: Document, quoted: str) -> int:
    """The offset of the passage; refused if it is missing or occurs more than once."""
    text, wanted = document.text, match_newlines(quoted, document)
    found = list(islice(find_passage(text, wanted), MAX_QUOTED_PLACES))
    if not found:
        raise Refused(
            f"The quoted passage is not in {document.path}.",
            code="anchor_not_found",
            path=document.path,
            near_misses=near_misses(text, str(text), wanted),
        )
    if len(found) > 1:
        raise Refused(
            f"The quoted passage occurs {sum(1 for _ in find_passage(text, wanted))} times in {document.path}.",
            code="anchor_ambiguous",
            path=document.path,
            places=[_place(text, text.line_at(at)) for at in found],
        )
    return found[0]


def _place(text: Text, line: int) -> dict[str, Any]:
    return {"line": line, "text": shorten(text.line(line).rstrip("\r\n"))}


def near_misses(text: Text, content: str, wanted: str) -> list[dict[str, Any]]:
    """What the caller may have meant: the passage except for spaces, quotes and dashes, else lines similar to its
    first."""
    words = wanted[:NEAR_CHARACTERS].translate(_FOLDED).split()[:NEAR_WORDS]
    if words:
        loose = compile_query(r"\s+".join(map(re.escape, words)), regex=True)
        found = [at for at, _ in islice(find_all(content.translate(_FOLDED), loose), NEAR_MISSES)]
        if found:
            return [_place(text, text.line_at(at)) for at in found]
    return _similar_lines(text, wanted)


def _similar_lines(text: Text, wanted: str) -> list[dict[str, Any]]:
    first = next((line.strip() for line in split_lines(wanted) if line.strip()), "")
    words = set(first.casefold().split())
    if not words:
        return []
    lines = text.lines(0, min(text.line_count, MAX_LINES))
    shared = [(len(words & set(line.casefold().split())), -number) for number, line in enumerate(lines)]
    likely = sorted((each for each in shared if each[0]), reverse=True)[:MAX_CANDIDATES]
    matcher = SequenceMatcher(b=first[:500], autojunk=False)
    scored: list[tuple[float, int]] = []
    for _, number in likely:
        matcher.set_seq1(lines[-number].strip()[:500])
        if matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR:
            scored.append((matcher.ratio(), number))
    return [_place(text, -number) for _, number in sorted(scored, reverse=True)[:NEAR_MISSES]]


def find_anchored_line(document: Document, quoted: str) -> int:
    """The last line of the passage, which must occur once."""
    at = find_once(document, quoted)
    return document.text.line_at(at + max(len(match_newlines(quoted, document).rstrip("\r\n")) - 1, 0))


def check_anchor(document: Document, start: int, end: int, quoted: str) -> None:
    """Refuse if the only occurrence of a quoted passage does not begin in these lines (from 0, inclusive)."""
    here = document.text.line_at(find_once(document, quoted))
    if not start <= here <= end:
        message = f"The quoted passage begins on line {here}, not in lines {start} to {end}."
        raise Refused(message, field="match_text", path=document.path, line=here)


# Find a section of a document by its headings.


DEEPEST = 6
MAX_SECTIONS = 10
_FORMATS: dict[str, Format] = {"markdown": "markdown", "json": "json", "yaml": "yaml"}
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_ATX = re.compile(r" {0,3}#")


class SectionSpan(NamedTuple):
    """Lines, half-open: the heading from `start`, its text from `body` up to `end`."""

    titles: tuple[str, ...]
    start: int
    body: int
    end: int


def outline_format(document: Document) -> Format:
    """The outline format to use; plain text for everything without its own."""
    return _FORMATS.get(document.format, "text")


def find_section(document: Document, headings: Sequence[str]) -> SectionSpan:
    """The one section whose headings end in the given ones, outermost first; refused if there is none or several."""
    wanted = tuple(heading.strip().lstrip("#").strip() for heading in headings)
    known = list(sections(document))
    found = [each for each in known if each.titles[-len(wanted) :] == wanted]
    if not found:
        folded = tuple(map(str.casefold, wanted))
        found = [each for each in known if tuple(map(str.casefold, each.titles[-len(wanted) :])) == folded]
    if len(found) == 1:
        return found[0]
    name = " > ".join(wanted)
    if found:
        places = [{"line": each.start, "headings": list(each.titles)} for each in found[:MAX_SECTIONS]]
        message = f"{len(found)} sections of {document.path} are called {name!r}."
        raise Refused(message, code="anchor_ambiguous", path=document.path, places=places)
    near = get_close_matches(wanted[-1], [each.titles[-1] for each in known], n=3)
    message = f"{document.path} has no section {name!r}."
    raise Refused(message, code="anchor_not_found", path=document.path, near_misses=near)


def sections(document: Document) -> Iterator[SectionSpan]:
    found = outline(str(document.text), outline_format(document), max_depth=DEEPEST)
    yield from _sections(found.entries, (), document.text)


def _sections(entries: Sequence[OutlineEntry], above: tuple[str, ...], text: Text) -> Iterator[SectionSpan]:
    waiting = [(entry, above) for entry in reversed(entries)]
    while waiting:
        entry, titles = waiting.pop()
        titles = (*titles, entry.title)
        end = text.line_count if entry.line_end is None else entry.line_end + 1
        yield SectionSpan(titles, entry.line_start, _after_heading(text, entry.line_start, end), end)
        waiting += [(child, titles) for child in reversed(entry.children)]


def _after_heading(text: Text, start: int, end: int) -> int:
    """The line after a heading, also if it is underlined."""
    line = start + 1
    if line < end and not _ATX.match(text.line(start)) and _UNDERLINE.fullmatch(text.line(line).rstrip("\r\n")):
        return line + 1
    return line
