"""Comments: threads that people and agents hold about a passage of a document.

A thread is a file of its own in `.redraft/comments/`, so that threads travel with the folder and merge: one line per
entry, appended and never changed. Lines that appear twice count once, and lines that are none of ours (a merge's marks)
are passed over, so two people who commented without each other lose nothing when their folders are merged.

    {"thread": "5f0c…", "document": "notes.md", "quote": "about a dozen", "before": "…", "after": "…", "at": "…"}
    {"id": "91ab…", "by": "anna", "at": "2026-11-18T09:30:00Z", "says": "Is that so?"}
    {"id": "c04d…", "by": "agent", "at": "…", "says": "It is eleven.", "turn": 12}
    {"id": "77e1…", "by": "anna", "at": "…", "resolved": true}

Where the passage is now lies in the history, together with the version of the text that the place is meant for. It
is brought up to date after every change of the document: along the steps that the change log knows to the character,
else by comparing. A passage that is gone leaves its thread orphaned, with the quotation; if it comes back, so does
the anchor.

What a file says is hostile like any document: ids and sizes are checked, and reading a thread never starts anything.
"""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from redraft.errors import RedraftError, Refused, Stale
from redraft.files.atomic_write import write_file
from redraft.files.paths import DocPath, parse_path
from redraft.text.diff.word_diff import compare
from redraft.text.edits import ChangeStep, Span
from redraft.text.passage import CONTEXT, QuotedPassage, find, follow
from redraft.text.text import Text
from redraft.workspace.document import version_of
from redraft.workspace.turns.edit_positions import change_of_decision

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from redraft.files.file_image import FileStamp
    from redraft.history.turns import Author
    from redraft.review.review import Review
    from redraft.workspace.document import Document
    from redraft.workspace.engine import Engine
    from redraft.workspace.events import Event

FOLDER = parse_path(".redraft/comments")
MERGE_RULE = b"# Replies that two people wrote at the same time are all kept.\n*.jsonl merge=union\n"
ID = re.compile(r"[0-9a-f]{12}\Z")
MAX_COMMENT = 10_000
MAX_QUOTE = 2_000
MAX_FILE = 1_000_000
MAX_THREADS = 20_000
TRIES = 5
MENTION = re.compile(r"(?<![\w@])@([\w][\w.\-]*)")
CHANGED = ("document.typed", "document.changed", "review.updated")


@dataclass(frozen=True, slots=True)
class CommentEntry:
    """One line of a thread: what somebody said, or that they resolved or reopened it."""

    id: str
    by: str
    at: str
    says: str = ""
    turn: int | None = None
    resolved: bool | None = None

    @property
    def mentions(self) -> list[str]:
        """Who is addressed in it."""
        return list(dict.fromkeys(MENTION.findall(self.says)))


@dataclass(frozen=True, slots=True)
class CommentThread:
    """A thread; `span` is where its passage is in the text that people see now, and `line` the line in which it begins,
    from 0; None where it is orphaned."""

    id: str
    document: str
    passage: QuotedPassage
    entries: tuple[CommentEntry, ...] = ()
    span: Span | None = None
    line: int | None = None

    @property
    def resolved(self) -> bool:
        return next((entry.resolved for entry in reversed(self.entries) if entry.resolved is not None), False)

    @property
    def orphaned(self) -> bool:
        return self.span is None

    @property
    def messages(self) -> tuple[CommentEntry, ...]:
        return tuple(entry for entry in self.entries if entry.says)


@dataclass(frozen=True, slots=True)
class AnchoredDocument:
    """Where a document's threads are in one version of its text. `lost` are passages that are gone, and whether each
    could be recognised if it came back."""

    version: str
    spans: dict[str, Span]
    lost: dict[str, tuple[QuotedPassage, bool]]

    def dump(self) -> str:
        lost = {thread: [each.quote, each.before, each.after, known] for thread, (each, known) in self.lost.items()}
        return json.dumps({"spans": {key: [s.start, s.end] for key, s in self.spans.items()}, "lost": lost})

    @staticmethod
    def load(version: str, text: str) -> AnchoredDocument:
        data = json.loads(text)
        lost = {key: (QuotedPassage(*row[:3]), bool(row[3])) for key, row in data["lost"].items()}
        return AnchoredDocument(version, {key: Span(*pair) for key, pair in data["spans"].items()}, lost)


class Comments:
    """The threads of one folder. The caller must have the workspace to itself."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._read: dict[str, tuple[FileStamp | None, CommentThread | None]] = {}
        self._texts: dict[str, tuple[str, str]] = {}  # the text of the version that anchors were last brought to

    # Reading

    def threads(self, path: str | None = None) -> list[CommentThread]:
        """The threads of a document, or of all documents that may be read, in the order of their places; orphans
        last."""
        wanted = None if path is None else self._engine.documents.path(path)
        threads = [thread for thread in self._load() if wanted is None or thread.document == wanted]
        if wanted is not None and not threads:
            self._engine.documents.read(wanted)  # so that a wrong path is no document without comments
        found: list[CommentThread] = []
        for document in sorted({thread.document for thread in threads}):
            found += self._place([thread for thread in threads if thread.document == document], document)
        return found

    def thread(self, name: str) -> CommentThread:
        thread = self._load_thread(name)
        if thread is None:
            raise Refused(f"There is no comment {name}.", code="not_found", comment=name)
        placed = self._place([thread], thread.document)
        if not placed:
            raise Refused(f"There is no comment {name}.", code="not_found", comment=name)
        return placed[0]

    def _place(self, threads: Sequence[CommentThread], document: str) -> list[CommentThread]:
        """The threads with their current places; none if the document may not be shown."""
        try:
            now = self._engine.documents.read(self._engine.documents.path(document))
        except RedraftError as error:
            return [] if error.code != "not_found" else list(threads)
        known = self._follow(now, threads)
        placed = [_at(each, known.spans.get(each.id), now.text) for each in threads]
        end = len(now.text) + 1
        return sorted(placed, key=lambda each: (each.span.start if each.span else end, each.id))

    def _load(self) -> list[CommentThread]:
        root = self._engine.root
        if not root.is_folder(FOLDER):
            return []
        names = [path.rpartition("/")[2] for path in root.names_in(FOLDER)]
        ids = [name.removesuffix(".jsonl") for name in sorted(names) if name.endswith(".jsonl")]
        found = (self._load_thread(each) for each in ids[:MAX_THREADS])
        return [thread for thread in found if thread is not None]

    def _load_thread(self, name: str) -> CommentThread | None:
        if not ID.match(name):
            return None
        path = thread_path(name)
        try:
            stamp = self._engine.root.stamp(path)
        except RedraftError:  # a link, say, which leads nobody anywhere
            return None
        kept = self._read.get(name)
        if kept is None or stamp is None or kept[0] != stamp:
            kept = (stamp, None if stamp is None else self._parse(name, self._file(path) or b""))
            self._read[name] = kept
        return kept[1]

    def _file(self, path: DocPath) -> bytes | None:
        try:
            return self._engine.root.read(path, limit=MAX_FILE).data
        except Refused:
            return None

    def _parse(self, name: str, data: bytes) -> CommentThread | None:
        rows = [row for line in data.decode("utf-8", "replace").split("\n") if (row := _row(line)) is not None]
        heads = [row for row in rows if row.get("thread") == name]
        passages = [(str(row.get("at", "")), found) for row in heads if (found := _head(row)) is not None]
        if not passages:
            return None
        document, passage = max(reversed(passages), key=lambda each: each[0])[1]  # of a merge's two, the later
        try:
            self._engine.documents.path(document)
        except RedraftError:
            return None
        entries = {entry.id: entry for row in rows if (entry := _entry(row)) is not None}
        ordered = sorted(entries.values(), key=lambda entry: entry.at)
        return CommentThread(name, document, passage, tuple(ordered))

    # Writing

    def add(self, path: str, span: Span | None, says: str, *, author: Author, at: str = "") -> CommentThread:
        """Begin a thread about a passage of the document as people see it now. Without a passage it is an imported
        thread that has lost its passage."""
        now = self._engine.documents.read(self._engine.documents.path(path))
        if span is None:
            return self._begin(now, None, QuotedPassage(""), self._entry(says, author, at=at))
        text = str(now.text)
        if span.end > len(text) or not text[span.start : span.end].strip():
            raise Refused("A comment needs a passage with words in it.", path=now.path)
        if len(span) > MAX_QUOTE:
            raise Refused(
                f"A comment can be about {MAX_QUOTE:,} characters at most.", code="too_large", limit=MAX_QUOTE
            )
        return self._begin(now, span, QuotedPassage.of(text, span), self._entry(says, author, at=at))

    def _begin(self, now: Document, span: Span | None, passage: QuotedPassage, entry: CommentEntry) -> CommentThread:
        name = secrets.token_hex(6)
        line = None if span is None else now.text.line_at(span.start)
        thread = CommentThread(name, now.path, passage, (entry,), span, line)
        self._keep_merge_rule()
        lines = [self._head_line(thread), *map(_dump_entry, thread.entries)]
        write_file(self._engine.root, thread_path(name), "".join(lines).encode(), expected=None)
        if span is not None:
            known = self._follow(now, [])
            self._store(now.path, replace(known, spans={**known.spans, name: span}))
        self._tell(thread)
        return thread

    def reply(self, name: str, says: str, *, author: Author, turn: int | None = None) -> CommentThread:
        return self._append(name, self._entry(says, author, turn=turn))

    def resolve(self, name: str, *, author: Author, resolved: bool = True) -> CommentThread:
        """Mark a thread as resolved, or reopen it."""
        if self.thread(name).resolved == resolved:
            return self.thread(name)
        return self._append(name, CommentEntry(secrets.token_hex(6), author.name, self._now(), resolved=resolved))

    def _entry(self, says: str, author: Author, *, turn: int | None = None, at: str = "") -> CommentEntry:
        words = says.strip()
        if not words:
            raise Refused("A comment cannot be empty.")
        if len(words) > MAX_COMMENT:
            message = f"A comment may have at most {MAX_COMMENT:,} characters."
            raise Refused(message, code="too_large", limit=MAX_COMMENT)
        return CommentEntry(secrets.token_hex(6), author.name, at or self._now(), words, turn)

    def _now(self) -> str:
        now = datetime.fromtimestamp(self._engine.clock(), UTC)
        return now.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _head_line(self, thread: CommentThread) -> str:
        passage = thread.passage
        row = {"thread": thread.id, "document": thread.document, "quote": passage.quote}
        return _line({**row, "before": passage.before, "after": passage.after, "at": self._now()})

    def _append(self, name: str, entry: CommentEntry) -> CommentThread:
        self.thread(name)  # which refuses what is not there, or not for anybody
        self._append_line(name, _dump_entry(entry))
        thread = self.thread(name)
        self._tell(thread)
        return thread

    def _append_line(self, name: str, line: str) -> None:
        path = thread_path(name)
        for last in range(TRIES):
            data = self._engine.root.read(path, limit=MAX_FILE).data
            gap = b"" if data.endswith(b"\n") or not data else b"\n"
            try:
                write_file(self._engine.root, path, data + gap + line.encode(), expected=data)
                return
            except Stale:  # somebody else wrote a line in the same moment
                if last == TRIES - 1:
                    raise

    def _keep_merge_rule(self) -> None:
        path = parse_path(f"{FOLDER}/.gitattributes")
        if not self._engine.root.exists(path):
            write_file(self._engine.root, path, MERGE_RULE, expected=None)

    def _tell(self, thread: CommentThread) -> None:
        self._engine.events.tell("comments.changed", path=thread.document, thread=thread.id)

    # Following

    def hear(self, event: Event) -> None:
        """Move the anchors of a document after it changed."""
        if event.type not in CHANGED:
            return
        for path in [*event.data.get("paths", ()), *([event.data["path"]] if "path" in event.data else [])]:
            if self._load_anchors(path) is not None:
                now = self._engine.documents.read_unmasked(self._engine.documents.path(path))
                if now is not None:
                    self._follow(now, [])

    def move(self, moves: Mapping[str, str]) -> None:
        """Let threads follow moved documents, each from its old to its new path; two documents may swap paths."""
        stored = {path: known for path in moves if (known := self._load_anchors(path)) is not None}
        threads = [thread for thread in self._load() if thread.document in moves]
        if not stored and not threads:
            return
        texts = {path: self._texts.pop(path, ("", "")) for path in stored}
        with self._engine.database.transaction(durable=False):
            for path in stored:
                self._engine.database.execute("DELETE FROM anchors WHERE path = ?", (path,))
            for path, known in stored.items():
                self._write(moves[path], known)
                self._texts[moves[path]] = texts[path]
        for thread in threads:
            self._append_line(thread.id, self._head_line(replace(thread, document=moves[thread.document])))

    def reviews_of(self, paths: Iterable[str]) -> dict[str, Review]:
        """The reviews of those documents that have anchors, before a decision changes them."""
        drafts = {
            path: self._engine.documents.load_stored_draft(path)
            for path in paths
            if self._load_anchors(path) is not None
        }
        return {path: draft.review for path, draft in drafts.items() if draft is not None}

    def note_decisions(self, before: Mapping[str, Review]) -> None:
        """Record in the change log what decisions did to the texts of these reviews, as far as that is known
        exactly."""
        for path, review in before.items():
            now = self._engine.documents.read_unmasked(self._engine.documents.path(path))
            if now is None or str(now.text) == review.working:
                continue
            change = change_of_decision(review, str(now.text))
            if change is not None:
                version = version_of(Text(review.working), bom=now.bom)
                step = ChangeStep(version, now.version, change, version, change)
                self._engine.documents.changes.add(path, [step])

    def _follow(self, now: Document, threads: Iterable[CommentThread]) -> AnchoredDocument:
        """The anchors of a document, and of imported threads, in its current text."""
        text = str(now.text)
        version = now.version
        known = self._load_anchors(now.path) or AnchoredDocument(version, {}, {})
        after = self._bring_along(now.path, known, text, version)
        spans, lost = dict(after.spans), dict(after.lost)
        for name, (passage, can_return) in after.lost.items():
            place = find(text, passage) if can_return else None
            if place is not None:
                spans[name] = place
                del lost[name]
        for thread in threads:
            if thread.id not in spans and thread.id not in lost:
                place = find(text, thread.passage)
                if place is None:
                    lost[thread.id] = (thread.passage, True)
                else:
                    spans[thread.id] = place
        found = AnchoredDocument(version, spans, lost)
        if found != known and (spans or lost):
            self._store(now.path, found)
        self._texts[now.path] = (version, text)
        return found

    def _bring_along(self, path: str, known: AnchoredDocument, text: str, version: str) -> AnchoredDocument:
        if known.version == version or not known.spans:
            return replace(known, version=version)
        then = self._text_of(path, known.version)
        spans: dict[str, Span | None] = dict(known.spans)
        passages = {} if then is None else {name: QuotedPassage.of(then, span) for name, span in known.spans.items()}
        started = then
        for step in self._engine.documents.changes.since(path, known.version, version):
            if then is None:
                break
            spans = {name: span and follow(span, step.change, then) for name, span in spans.items()}
            then = step.change.apply(then)
        if then != text:
            spans = {name: span and _find_again(then, span, text) for name, span in spans.items()}
        kept = {name: span for name, span in spans.items() if span is not None}
        lost = dict(known.lost)
        for name in spans.keys() - kept.keys():
            passage = passages.get(name) or self._passage_of(name)
            lost[name] = (passage, started is None or find(started, passage) is not None)
        return AnchoredDocument(version, kept, lost)

    def _passage_of(self, name: str) -> QuotedPassage:
        thread = self._load_thread(name)
        return QuotedPassage("") if thread is None else thread.passage

    def _text_of(self, path: str, version: str) -> str | None:
        known = self._texts.get(path)
        if known is not None and known[0] == version:
            return known[1]
        from redraft.workspace.past_texts import text_of_version

        try:
            found = text_of_version(self._engine, path, version)
        except RedraftError:
            return None
        return None if found is None else str(found)

    def _load_anchors(self, path: str) -> AnchoredDocument | None:
        row = self._engine.database.row("SELECT version, places FROM anchors WHERE path = ?", (path,))
        return None if row is None else AnchoredDocument.load(row[0], row[1])

    def _store(self, path: str, known: AnchoredDocument) -> None:
        with self._engine.database.transaction(durable=False):
            self._write(path, known)

    def _write(self, path: str, known: AnchoredDocument) -> None:
        values = (path, known.version, known.dump())
        self._engine.database.execute("INSERT OR REPLACE INTO anchors VALUES (?, ?, ?)", values)


def _find_again(then: str | None, span: Span, now: str) -> Span | None:
    """Where a passage is after an unknown change. The texts are compared, and the result is used only if it is
    unambiguous: the passage still reads the same, or still stands between the same neighbours."""
    if then is None:
        return None
    passage = QuotedPassage.of(then, span)
    place = follow(span, compare(then, now), then)
    if place is not None:
        alone = then.count(passage.quote) == now.count(passage.quote) == 1
        if alone and now[place.start : place.end] == passage.quote:
            return place
        beside = now.endswith(passage.before, 0, place.start) and now.startswith(passage.after, place.end)
        if beside and any(_is_unique(side, then, now) for side in (passage.before, passage.after)):
            return place
    return find(now, passage) if find(then, passage) is not None else None


def _is_unique(neighbour: str, then: str, now: str) -> bool:
    return len(neighbour) == CONTEXT and then.count(neighbour) == now.count(neighbour) == 1


def _at(thread: CommentThread, span: Span | None, text: Text) -> CommentThread:
    quoted = thread.passage if span is None else QuotedPassage.of(str(text), span)
    return replace(thread, passage=quoted, span=span, line=None if span is None else text.line_at(span.start))


def thread_path(name: str) -> DocPath:
    return parse_path(f"{FOLDER}/{name}.jsonl")


def _row(line: str) -> dict[str, Any] | None:
    try:
        row: object = json.loads(line)
    except ValueError:
        return None
    return cast("dict[str, Any]", row) if isinstance(row, dict) else None


def _head(row: Mapping[str, Any]) -> tuple[str, QuotedPassage] | None:
    values = [row.get(name) for name in ("document", "quote", "before", "after")]
    if not all(isinstance(value, str) and len(value) <= MAX_QUOTE for value in values):
        return None
    document, *passage = cast("list[str]", values)
    return document, QuotedPassage(*passage)


def _entry(row: Mapping[str, Any]) -> CommentEntry | None:
    name, by, at, says = (row.get(key, "") for key in ("id", "by", "at", "says"))
    turn, resolved = row.get("turn"), row.get("resolved")
    if not all(isinstance(value, str) for value in (name, by, at, says)) or not ID.match(cast("str", name)):
        return None
    if not says and not isinstance(resolved, bool):
        return None
    who = "".join(sign for sign in cast("str", by) if sign.isprintable())[:100]
    return CommentEntry(
        cast("str", name),
        who,
        cast("str", at)[:40],
        cast("str", says)[:MAX_COMMENT],
        turn if type(turn) is int else None,
        resolved if isinstance(resolved, bool) else None,
    )


def _dump_entry(entry: CommentEntry) -> str:
    row: dict[str, Any] = {"id": entry.id, "by": entry.by, "at": entry.at}
    if entry.says:
        row["says"] = entry.says
    if entry.turn is not None:
        row["turn"] = entry.turn
    if entry.resolved is not None:
        row["resolved"] = entry.resolved
    return _line(row)


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
