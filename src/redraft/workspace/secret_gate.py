"""The one gate for secrets: a document's text leaves the workspace only through here, whoever asks.

A document is withheld if its name or its text says that it holds keys or passwords, or if it is another name (a hard
link) of such a file. So is what a file said before anybody gave it such a name: if another program did that, `outside`
records it as a move, so that it is still known when the secret is gone. The folder's owner may see a file of theirs
after they confirmed it: `confirmed` holds the paths that they confirmed, and only the server, which knows who asks,
passes any.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from redraft.errors import RedraftError
from redraft.files.paths import DocPath, parse_path, split_path
from redraft.files.root import list_files, walk_files
from redraft.files.secret_detection import KEY_MARK, SECRET_HEAD, is_secret_content, is_secret_name, mask, secret_error
from redraft.history.audit import mask_all_but_paths, paths_in
from redraft.history.recovery import read_or_none
from redraft.review.review import Review

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from redraft.files.file_image import FileStamp
    from redraft.files.root import Root
    from redraft.history.turns import TurnRecord
    from redraft.text.text import Text
    from redraft.workspace.document import Document, Draft
    from redraft.workspace.engine import Engine


def check_not_secret(document: Document) -> None:
    """Refuse a document that contains a private key or begins like one, whatever its name."""
    if holds_secret(document.text):
        raise secret_error(document.path)


def holds_secret(text: Text | str) -> bool:
    """Whether a text looks like a secret. If it has none of the words that a key needs, 4 MB take a millisecond."""
    pieces = [text] if isinstance(text, str) else text.portions
    borders = [left[-len(KEY_MARK) :] + right[: len(KEY_MARK)] for left, right in pairwise(pieces)]
    if any(KEY_MARK.decode() in piece for piece in (*pieces, *borders)):
        return is_secret_content(str(text).encode(errors="replace"))
    head = text[:SECRET_HEAD] if isinstance(text, str) else text.slice(0, min(len(text), SECRET_HEAD))
    return is_secret_content(head.encode(errors="replace"))


# Documents under review


def is_secret_draft(root: Root, draft: Draft) -> bool:
    """Whether a draft is of a secret: by its path in the working view or on disk, or by what the file or the draft
    says."""
    if any(path is not None and is_secret_name(path) for path in (draft.path, draft.base_path)):
        return True
    if draft.base_path is not None and _is_secret_file(root, DocPath(draft.base_path), draft.saved or b""):
        return True
    return is_secret_content(draft.saved or b"") or holds_secret(draft.review.working)


def _is_secret_file(root: Root, path: DocPath, said: bytes) -> bool:
    """Whether the file also has a secret's name, or there is now a link on its path and the file has a secret's name
    elsewhere."""
    try:
        return root.exists(path) and root.is_secret_link(path)
    except RedraftError:
        return path in find_renamed_files(root, {path: MissingFile(None, frozenset((said,)))})


def mask_draft(root: Root, draft: Draft, confirmed: Container[str] = ()) -> Draft:
    """The draft as it may be shown: for a secret, only that something is pending or unsaved, and no text."""
    if draft.key in confirmed or not is_secret_draft(root, draft):
        return draft
    said = mask(draft.key)
    review = Review.between("", said if draft.review.pending else "", said, draft.turn or "withheld")
    return replace(draft, review=review, saved=None if draft.saved is None else b"")


# What another program renamed


class MissingFile(NamedTuple):
    """A file that is not where it was: its identity, as far as known, and what it may have said."""

    stamp: FileStamp | None
    texts: frozenset[bytes]


def find_renamed_files(
    root: Root, gone: Mapping[DocPath, MissingFile], folders: Iterable[str] | None = None
) -> dict[str, DocPath]:
    """The secrets' names that files have now. A file is recognised by its identity or by exactly equal content. All
    folders are searched, or only the given ones."""
    files = {(each.stamp.dev, each.stamp.ino): path for path, each in gone.items() if each.stamp is not None}
    texts: dict[bytes, list[DocPath]] = {}
    for path, each in gone.items():
        for data in each.texts - {b""}:
            texts.setdefault(data, []).append(path)
    if not files and not texts:
        return {}
    sizes = {len(data) for data in texts}
    open_folder = root.open_folder
    everything = chain.from_iterable(list_files(open_folder, folder)[0] for folder in folders or ())
    places: dict[str, list[DocPath]] = {}
    for place, status in walk_files(open_folder) if folders is None else everything:
        file = (status.st_dev, status.st_ino)
        if (file not in files and status.st_size not in sizes) or not is_secret_name(place):
            continue
        of_text: Sequence[DocPath] = ()
        if status.st_size in sizes:
            with contextlib.suppress(RedraftError):
                of_text = texts.get(read_or_none(root, place) or b"", ())
        path = files.get(file)
        stamp = None if path is None else gone[path].stamp
        if path is not None and stamp is not None and root.is_that_file(place, stamp):
            of_text = [path]
        for found in of_text:
            places.setdefault(found, []).append(place)
    return _match_places(places)


def _match_places(places: Mapping[str, Sequence[DocPath]]) -> dict[str, DocPath]:
    """One place for each file: the place with its name, if there is one; two files that could be in the same places get
    different ones."""
    found: dict[str, DocPath] = {}
    for path, found_at in places.items():
        name = split_path(DocPath(path))[1]
        taken = set(found.values())
        found[path] = min(found_at, key=lambda place: (place in taken, split_path(place)[1] != name))
    return found


# The history


class Lineage:
    """Where documents went after a turn, by the moves that still stand. `paths` are those that will be asked about;
    without any, nothing is recorded, and threads other than the workspace's may ask."""

    def __init__(self, engine: Engine, turn: int, paths: Collection[str] = ()) -> None:
        self._engine = engine
        self._moves: dict[str, list[tuple[int, str]]] = {}
        self._turn = turn
        if paths:
            engine.outside.look_now(paths)  # what another program renamed is a move, once it is recorded
        rows = engine.database.rows(
            "SELECT file_steps.moved_from, file_steps.turn, file_steps.path FROM file_steps"
            " JOIN turns ON turns.id = file_steps.turn"
            " WHERE file_steps.turn >= ? AND file_steps.moved_from IS NOT NULL AND turns.state = 'applied'",
            (turn,),
        )
        for source, number, path in rows:
            self._moves.setdefault(source, []).append((number, path))

    def secret_name(self, path: str, *texts: str, since: int | None = None) -> str | None:
        """The secret's name that the document at `path` has, or got after the turn; None if it never had one. `texts`
        are what it said."""
        waiting, seen = [(self._turn if since is None else since, path)], {path}
        while waiting:
            since, where = waiting.pop()
            if is_secret_name(where):
                return where
            for number, to in self._moves.get(where, ()):
                if number >= since and to not in seen:
                    seen.add(to)
                    waiting.append((number, to))
        found = (self._name_on_disk(DocPath(place), texts) for place in sorted(seen))
        return next((name for name in found if name is not None), None)

    def _name_on_disk(self, path: DocPath, texts: Sequence[str]) -> str | None:
        """A secret's name that the file also has, or that another program gave it without a record: the history never
        knew the file, or cannot be written."""
        engine = self._engine
        try:
            parse_path(path)
        except RedraftError:
            return None  # a call named it, and was refused
        with contextlib.suppress(RedraftError):  # behind a link by now: as good as gone
            if engine.root.exists(path):
                return path if engine.root.is_secret_link(path) else None
        known = engine.seen.find_known_content(path)
        if known is not None and known.snapshot is None:
            return None  # that it went is recorded, and where it went
        said = {text.encode(errors="replace") for text in texts}
        if known is not None and known.snapshot is not None:
            with contextlib.suppress(RedraftError):
                said.add(engine.store.get(known.snapshot))
        return find_renamed_files(
            engine.root, {path: MissingFile(engine.outside.files.last_stamp(path), frozenset(said))}
        ).get(path)


def find_withheld(engine: Engine, turn: int, texts: Sequence[tuple[str, str, str]]) -> set[str]:
    """Those of a turn's documents, given with their texts before and after it, that are withheld."""
    lineage = Lineage(engine, turn, [path for path, _, _ in texts])
    return {
        path
        for path, before, after in texts
        if holds_secret(before) or holds_secret(after) or lineage.secret_name(path, before, after) is not None
    }


def mask_texts(texts: Sequence[tuple[str, str, str]], hidden: Container[str]) -> list[tuple[str, str, str]]:
    """The same texts, with a sentence in place of those that are withheld."""
    return [
        (path, mask(path) if before else "", mask(path) if after else "") if path in hidden else (path, before, after)
        for path, before, after in texts
    ]


def mask_audit(engine: Engine, entries: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Lines of the audit log; a line about a document that is a secret now says only which document it was."""
    arguments = [_decode_arguments(entry["arguments"]) for entry in entries]
    places = [{*paths_in(each)} for each in arguments]
    turns = {entry["turn"] for entry in entries if entry["turn"] is not None}
    for entry, named in zip(entries, places, strict=True):
        if entry["turn"] is not None:
            with contextlib.suppress(RedraftError):  # a turn that was lost
                named.update(engine.turns.get(entry["turn"]).paths)
    since = min(turns, default=0)
    lineage = Lineage(engine, since, set[str]().union(*places))
    found: list[dict[str, Any]] = []
    for entry, each, named in zip(entries, arguments, places, strict=True):
        since = since if entry["turn"] is None else entry["turn"]
        hidden = any(lineage.secret_name(path, since=since) is not None for path in named)
        told = json.dumps(mask_all_but_paths(each), ensure_ascii=False) if hidden else entry["arguments"]
        found.append({**entry, "arguments": told})
    return found


def _decode_arguments(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (ValueError, TypeError):  # somebody has tampered with the line
        return arguments


def mask_records(engine: Engine, records: Sequence[dict[str, Any]], at: float) -> list[dict[str, Any]]:
    """What an agent did, call by call, recorded from the given time on; a call about a document that is a secret now
    says only which document it was. Safe to call from any thread."""
    row = engine.database.row("SELECT coalesce(max(id), 0) FROM turns WHERE created <= ?", (at,))
    lineage = Lineage(engine, 0 if row is None else row[0])
    known: dict[str, bool] = {}
    hidden: set[Any] = set()
    found: list[dict[str, Any]] = []
    for record in records:
        places = {*paths_in(record)}
        known |= {path: lineage.secret_name(path) is not None for path in places - known.keys()}
        call = record.get("tool_call_id")
        if any(known[path] for path in places):
            hidden.add(call)
        secret = any(known[path] for path in places) or (call is not None and call in hidden)
        found.append(mask_all_but_paths(record) if secret else record)
    return found


def is_masked(path: str, *texts: str) -> bool:
    """Whether these texts of a document are the sentence that replaces a secret."""
    return mask(path) in texts


def check_stays_secret(engine: Engine, turn: TurnRecord, confirmed: Container[str], *, restoring: bool = False) -> None:
    """Refuse to undo a turn if that would give a secret's text a name under which everybody can read it. Restoring
    writes the documents of a proposal too."""
    lineage = Lineage(engine, turn.id, turn.paths)
    paths = [path for step in turn.files for path in (step.path, step.moved_from) if path is not None]
    paths += [step.path for step in turn.reviews if restoring]
    for path in paths:
        name = None if is_secret_name(path) else lineage.secret_name(path)
        if name is not None and name not in confirmed:
            raise secret_error(name)
