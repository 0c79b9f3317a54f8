"""The index's own database: which files were read, at which mark, the dictionaries of their words, and their texts.

Everything in it can be rebuilt, so if anything is wrong with it, it is deleted and recreated. A changed file gets a new
number in a new segment; the old number's data stays until its segment is dropped, and the segment's other files
are then read again. Several processes may use it: numbers are never reused, and `version` shows that somebody else
wrote.
"""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import zlib
from array import array
from bisect import bisect_left
from functools import cached_property
from itertools import accumulate, count
from typing import TYPE_CHECKING, NamedTuple

from redraft import __version__
from redraft.files.sqlite import LogIndex, is_damage, open_cache, remove_database
from redraft.workspace.folder.scan import FileMark

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from redraft.search.regex_syntax import Clause

# Which texts contain a piece of writing: a dictionary of the words in many texts, searched by parts of words.
#
# A text is cut into tokens: runs of letters and digits, runs of other characters, and single characters of scripts
# without spaces. A `Segment` stores the distinct tokens of some texts in one string and, for each, the numbers of the
# texts that contain it. Since cutting depends only on each character's kind, a passage cut the same way tells what
# must be in the dictionary: its inner tokens whole, its first token as the end and its last as the start of some word.
# Tens of thousands of words are searched in less than a millisecond, and there are far fewer words than there would be
# trigrams.
#
# Case is folded on both sides, character by character, so that whatever a case-insensitive search considers equal is
# equal here. Answers may contain too many texts, never too few.


_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\ua000-\ua4cf\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s{_UNSPACED}]+")
# Longer tokens (mostly encoded data) are stored as windows, so that every piece of up to _STEP characters is in one.
_WINDOW = 40
_STEP = 20
# A piece that this many words contain rules out next to nothing.
MOST_WORDS = 500


def fold(text: str) -> str:
    """Without case: a homomorphism, so a part of a text folds to a part of the folded text."""
    return text.casefold()


def tokens(text: str) -> set[str]:
    """The distinct tokens of a text."""
    found = set(_TOKEN.findall(fold(text)))
    long = [token for token in found if len(token) > _WINDOW]
    for token in long:
        found.discard(token)
        found.update(_windows(token))
    return found


def _windows(token: str) -> Iterator[str]:
    for start in range(0, len(token) - _WINDOW, _STEP):
        yield token[start : start + _WINDOW]
    yield token[-_WINDOW:]


class PassagePart(NamedTuple):
    """A part of a passage, and whether the word that contains it must begin or end with it."""

    text: str
    begins: bool
    ends: bool

    def needle(self) -> bytes:
        return ("\n" * self.begins + self.text + "\n" * self.ends).encode()


def pieces(passage: str) -> list[PassagePart]:
    """What a text with this passage must have in its dictionary, the longest first."""
    folded = fold(passage)
    found: set[PassagePart] = set()
    for match in _TOKEN.finditer(folded):
        token, start, end = match.group(), match.start(), match.end()
        if len(token) > _STEP:
            found.add(PassagePart(token[:_STEP], False, False))
        else:
            found.add(PassagePart(token, start > 0, end < len(folded)))
    return sorted(found, key=lambda piece: (-len(piece.text), piece))


class Segment:
    """The dictionary of some texts, immutable once built. The texts are numbered from `first`."""

    def __init__(self, number: int, first: int, words: bytes) -> None:
        self.number = number
        self.first = first
        self._words = words

    @cached_property
    def _ends(self) -> array[int]:
        """Where each word ends. Looking up a position is far quicker than counting the words before it, and costs some
        milliseconds when the first word is found."""
        return array("I", accumulate(len(word) + 1 for word in self._words[1:].split(b"\n")[:-1]))

    def ordinals(self, piece: PassagePart) -> list[int] | None:
        """The words that contain a piece, by their positions in the dictionary; None if there are too many to
        matter."""
        needle, words = piece.needle(), self._words
        found: list[int] = []
        ordinal = 0
        at = words.find(needle)
        while at >= 0:
            ordinal = bisect_left(self._ends, at + piece.begins, ordinal)
            found.append(ordinal)
            if len(found) > MOST_WORDS:
                return None
            at = words.find(needle, self._ends[ordinal])
        return found


class SegmentBuilder:
    """Collects texts for a new segment, by their places in it."""

    def __init__(self) -> None:
        self._texts: dict[str, array[int]] = {}
        self.size = 0

    def add(self, place: int, text: str) -> None:
        texts = self._texts
        for token in tokens(text):
            places = texts.get(token)
            if places is None:
                texts[token] = array("I", (place,))
            else:
                places.append(place)
        self.size += len(text)

    def words(self) -> bytes:
        return ("\n" + "\n".join(self._texts) + "\n").encode()

    def postings(self) -> Iterator[bytes]:
        """The places of the texts that contain each word, in the order of `words`."""
        return (numbers.tobytes() for numbers in self._texts.values())


def decode_postings(postings: bytes) -> array[int]:
    found = array("I")
    found.frombytes(postings)
    return found


# What the index stores about files: as rows, as segments of texts, and as batches on their way into the database.


class IndexRow(NamedTuple):
    """A file as it was read; `number` is 0 if it has no text that may be shown."""

    path: str
    mark: FileMark
    number: int


class IndexInput(NamedTuple):
    """A file to store. `words` is None if it has no text that may be shown, `text` is None if its mark does not prove
    its content."""

    path: str
    mark: FileMark
    words: str | None
    text: bytes | None


class SegmentRange(NamedTuple):
    """A segment, and the first and last number of its texts."""

    segment: int
    first: int
    last: int


class IndexBatch:
    """Files that were read and will be stored together. Their words are collected as they come, which takes far longer
    than storing them, and needs no database."""

    def __init__(self) -> None:
        self.reads: list[IndexInput] = []
        self.builder = SegmentBuilder()
        self.texts = 0
        self.size = 0

    def add(self, read: IndexInput) -> None:
        self.reads.append(read)
        self.size += read.mark.size
        if read.words is not None:
            self.builder.add(self.texts, read.words)
            self.texts += 1


# What may be shown is decided when a file is stored, so another release, whose rules may differ, starts again.
# Increase this if the tables or those rules change within a release.
SCHEMA = 3
_VERSION = zlib.crc32(f"{SCHEMA} {__version__}".encode()) & 0x7FFF_FFFF
BUSY_SECONDS = 2.0
_AT_A_TIME = 500
# Searching this many texts costs less than narrowing them down further.
FEW_ENOUGH = 30
# A larger text is read from its file: a copy would cost more than it saves.
LARGEST_TEXT = 1 << 20
# A word this short is part of so many others that it is used only if there is nothing longer.
SHORT = 2
TABLES = """
    CREATE TABLE files (path TEXT PRIMARY KEY, number INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE segments (number INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,
        words BLOB NOT NULL);
    CREATE TABLE postings (segment INTEGER NOT NULL, word INTEGER NOT NULL, numbers BLOB NOT NULL,
        PRIMARY KEY (segment, word)) WITHOUT ROWID;
    CREATE TABLE texts (number INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, text BLOB NOT NULL);
    CREATE TABLE given (last INTEGER NOT NULL);
    INSERT INTO given VALUES (0)"""


class IndexLost(Exception):
    """The database was damaged and has been recreated, so everything has to be read again."""


class IndexUnavailable(Exception):
    """The database cannot be used right now: another process has locked it, or the disk is full."""


class IndexDatabase:
    """One connection, used by one thread at a time. Every call may raise `IndexLost` or `IndexUnavailable`."""

    def __init__(self, state: str) -> None:
        self.path = os.path.join(state, "search.db")
        self._segments: list[Segment] = []
        self._log_index = LogIndex(self.path)
        self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        connection = open_cache(self.path, _prepare, busy_seconds=BUSY_SECONDS)
        self._log_index.note()
        return connection

    def close(self) -> None:
        self._connection.close()

    @contextlib.contextmanager
    def _use(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        self._log_index.fill_up()
        try:
            if writing:
                self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection
            if writing:
                self._connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if not is_damage(error):
                raise IndexUnavailable from error
            self._connection.close()
            remove_database(self.path)
            self._connection = self._open()
            self._segments = []
            raise IndexLost from error

    def version(self) -> int:
        """Changes whenever another process has changed the database."""
        with self._use() as connection:
            return connection.execute("PRAGMA data_version").fetchone()[0]

    def load(self) -> list[IndexRow]:
        """Load the dictionaries; returns the files."""
        with self._use() as connection:
            found = connection.execute("SELECT number, first, words FROM segments ORDER BY number").fetchall()
            self._segments = [Segment(*row) for row in found]
            files = connection.execute("SELECT path, number, ino, size, mtime_ns, ctime_ns FROM files").fetchall()
            return [IndexRow(path, FileMark(*marks), number) for path, number, *marks in files]

    def put(self, batch: IndexBatch, deleted: Sequence[str] = ()) -> list[IndexRow]:
        """Store files that were read and remove those in `deleted`."""
        with self._use(writing=True) as connection:
            connection.executemany(
                "DELETE FROM texts WHERE number = (SELECT number FROM files WHERE path = ?)",
                ((path,) for path in (*deleted, *(read.path for read in batch.reads))),
            )
            connection.executemany("DELETE FROM files WHERE path = ?", ((path,) for path in deleted))
            (last,) = connection.execute("SELECT last FROM given").fetchone()
            numbers = count(last + 1)
            rows = [
                IndexRow(path, mark, next(numbers) if words is not None else 0) for path, mark, words, _ in batch.reads
            ]
            connection.executemany(
                "INSERT INTO texts VALUES (?, ?, ?)",
                (
                    (row.number, zlib.crc32(read.text), read.text)
                    for row, read in zip(rows, batch.reads, strict=True)
                    if row.number and read.text is not None and len(read.text) <= LARGEST_TEXT
                ),
            )
            connection.executemany(
                "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?)",
                ((row.path, row.number, *row.mark) for row in rows),
            )
            connection.execute("UPDATE given SET last = ?", (last + batch.texts,))
            segment = self._put_segment(connection, batch, last + 1) if batch.texts else None
        if segment is not None:
            self._segments.append(segment)
        return rows

    def _put_segment(self, connection: sqlite3.Connection, batch: IndexBatch, first: int) -> Segment:
        words = batch.builder.words()
        extent = (first, first + batch.texts - 1)
        added = connection.execute("INSERT INTO segments (first, last, words) VALUES (?, ?, ?)", (*extent, words))
        number = added.lastrowid or 0
        connection.executemany(
            "INSERT INTO postings VALUES (?, ?, ?)",
            ((number, word, numbers) for word, numbers in enumerate(batch.builder.postings())),
        )
        return Segment(number, first, words)

    def extents(self) -> list[SegmentRange]:
        with self._use() as connection:
            return [SegmentRange(*row) for row in connection.execute("SELECT number, first, last FROM segments")]

    def drop(self, extents: Iterable[SegmentRange]) -> None:
        """Delete segments and all of their files."""
        chosen = list(extents)
        with self._use(writing=True) as connection:
            for segment, first, last in chosen:
                connection.execute("DELETE FROM texts WHERE number BETWEEN ? AND ?", (first, last))
                connection.execute("DELETE FROM files WHERE number BETWEEN ? AND ?", (first, last))
                connection.execute("DELETE FROM postings WHERE segment = ?", (segment,))
                connection.execute("DELETE FROM segments WHERE number = ?", (segment,))
        dropped = {extent.segment for extent in chosen}
        self._segments = [segment for segment in self._segments if segment.number not in dropped]

    def texts(self, numbers: Sequence[int]) -> dict[int, bytes]:
        """Those of these texts that are stored, as they were at that time."""
        found: dict[int, bytes] = {}
        with self._use() as connection:
            for start in range(0, len(numbers), _AT_A_TIME):
                some = numbers[start : start + _AT_A_TIME]
                marks = ",".join("?" * len(some))
                question = f"SELECT number, checksum, text FROM texts WHERE number IN ({marks})"  # noqa: S608 - only marks
                for number, checksum, text in connection.execute(question, some):
                    if zlib.crc32(text) != checksum:
                        raise sqlite3.DatabaseError("a text is not what was written down")
                    found[number] = text
        return found

    def candidates(self, clauses: Sequence[Clause]) -> set[int] | None:
        """The numbers of all texts that may contain what is required (and of some outdated ones); None for any text."""
        found: set[int] | None = None
        with self._use() as connection:
            for clause in sorted(clauses, key=lambda clause: -min(map(len, clause))):
                if found is not None and (len(found) <= FEW_ENOUGH or min(map(len, clause)) <= SHORT):
                    break
                numbers = self._texts_with_any(connection, [pieces(word) for word in clause])
                if numbers is not None:
                    found = numbers if found is None else found & numbers
        return found

    def _texts_with_any(
        self, connection: sqlite3.Connection, words: Sequence[Sequence[PassagePart]]
    ) -> set[int] | None:
        numbers: set[int] = set()
        for word in words:
            found = self._texts_with_all(connection, word)
            if found is None:
                return None
            numbers |= found
        return numbers

    def _texts_with_all(self, connection: sqlite3.Connection, word: Sequence[PassagePart]) -> set[int] | None:
        """The texts that contain all parts of one passage; None if no part is distinctive."""
        numbers: set[int] = set()
        telling = False
        for segment in self._segments:
            within: set[int] | None = None
            for piece in word:
                ordinals = segment.ordinals(piece)
                if ordinals is not None:
                    texts = _texts(connection, segment.number, ordinals)
                    within = texts if within is None else within & texts
                if within is not None and len(within) <= FEW_ENOUGH:
                    break
            if within is None:
                return None
            telling = True
            numbers.update(segment.first + place for place in within)
        return numbers if telling else None


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("PRAGMA user_version").fetchone()[0] != _VERSION:
        if connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise sqlite3.DatabaseError("of another version")
        for statement in TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version={_VERSION}")
    connection.execute("SELECT 1 FROM files, segments, postings, texts, given").fetchone()
    connection.execute("COMMIT")


def _texts(connection: sqlite3.Connection, segment: int, words: Sequence[int]) -> set[int]:
    found: set[int] = set()
    for start in range(0, len(words), _AT_A_TIME):
        some = words[start : start + _AT_A_TIME]
        marks = ",".join("?" * len(some))
        question = f"SELECT numbers FROM postings WHERE segment = ? AND word IN ({marks})"  # noqa: S608 - only marks
        for (numbers,) in connection.execute(question, (segment, *some)):
            found.update(decode_postings(numbers))
    return found
