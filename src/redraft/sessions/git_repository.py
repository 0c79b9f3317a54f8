"""A document in the person's own git repository: commits of it alone, a branch for it, its versions.

Nothing else that is staged is touched, no ignored file or secret is added, and the repository's hooks run as for any
commit. Names are passed to git literally, after `--`, so that none of them is an option or a pattern.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from codecs import BOM_UTF8
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Forbidden, RedraftError, Refused
from redraft.files.locks import folder_lock
from redraft.files.secret_detection import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PREFIX = "agent-doc:"
SECONDS = 120
LOCK = "agent-doc.lock"
PATIENCE = 30.0  # seconds for another program that holds a lock of git's
_PAUSE = 0.05
_TRIES = 20
_LOCKED = re.compile(r"Unable to create '.*\.lock': File exists")
_PARENT = re.compile(rb"^parent (\w+)$", re.MULTILINE)
_MOVED = "cannot lock ref"
_UNFINISHED = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisect",
}
_MADE = re.compile(r"\[.* ([0-9a-f]{4,64})\] ")
_NOT_IN_A_BRANCH = re.compile(r"[^\w.-]+|\.\.+|\.lock\Z|\A[.-]+|\.\Z")


@dataclass(frozen=True, slots=True)
class CommittedVersion:
    """A document in a commit; without text if it was not there, or is not text."""

    commit: str
    date: str
    text: str | None
    when: int


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of a file."""

    top: str
    file: str

    @staticmethod
    def of(file: str) -> Repository | None:
        """The repository of a file; None if it is in none, or there is no git."""
        folder = os.path.dirname(file)
        try:
            found = _run_git(folder, "rev-parse", "--show-toplevel")
        except FileNotFoundError:
            return None
        if found.returncode:
            return None
        top = os.fsdecode(found.stdout).rstrip("\n")
        return Repository(top, os.path.relpath(file, os.path.realpath(top)))

    @staticmethod
    def require(file: str) -> Repository:
        found = Repository.of(file)
        if found is None:
            raise Refused(f"{os.path.basename(file)} is not in a git repository.")
        return found

    @property
    def shown(self) -> str:
        """The document's path from where the person stands."""
        return os.path.relpath(os.path.join(self.top, self.file))

    # Committing

    def refusal(self) -> str | None:
        """Why the document cannot be committed, as a sentence; None if it can."""
        if is_secret_name(self.file):
            return f"{self.shown} may contain a secret, so it is not committed."
        if not self._is_tracked() and self._is_ignored():
            return (
                f"{self.shown} is ignored by git, so it is not committed. To commit it anyway, `git add -f` it "
                "yourself."
            )
        return None

    def commit(self, stamp: str) -> str | None:
        """Commit the document alone; returns the commit's id, or None if nothing changed. What else is staged stays
        staged."""
        self._check_committable()

        def stage(index: str) -> None:
            self._git_output("add", "--force", "--", self.file, index=index)

        return self._commit(stage, stamp)

    def commit_text(self, text: str, stamp: str) -> str | None:
        """Commit the document as if it contained this text; None if the last commit already has it. The file itself
        does not change, and whatever else is staged stays staged."""
        self._check_committable()
        if not self._git_succeeds("diff", "--cached", "--quiet", "--", self.file):
            raise Refused(f"{self.shown} is staged; commit that first, or `git restore --staged` it.", code="conflict")
        known = self._find_committed_entry()
        if known is None:
            raise Refused("git no longer has this document. Commit the whole document once.", code="conflict")
        mode, old = known
        bom = _run_git(self.top, "cat-file", "blob", old).stdout[: len(BOM_UTF8)] == BOM_UTF8
        data = BOM_UTF8 * bom + text.encode()
        new = self._git_output("hash-object", "-w", f"--path={self.file}", "--stdin", given=data)

        def stage(index: str) -> None:
            if self._find_committed_entry() != known:
                raise Refused("Somebody else committed this document at the same time. Try again.", code="conflict")
            self._git_output("update-index", "--cacheinfo", f"{mode},{new},{self.file}", index=index)

        return self._commit(stage, stamp)

    def check_idle(self) -> None:
        """Refuse while git is in the middle of something: its next step would take our commit along or drop it."""
        folder = self._git_folder()
        for mark, what in _UNFINISHED.items():
            if os.path.exists(os.path.join(folder, mark)):
                raise Refused(f"git is in the middle of {what}. Finish or abort it first.", code="conflict")

    def _commit(self, stage: Callable[[str], None], stamp: str) -> str | None:
        """Commit what `stage` puts into an index of our own, which else is as HEAD has it. The person's index is not
        used, so that nothing of theirs is committed and a refusal leaves nothing behind."""
        folder = self._git_folder()
        with folder_lock(folder, LOCK, timeout=PATIENCE):
            for _ in range(_TRIES):
                self.check_idle()
                with tempfile.TemporaryDirectory(prefix="agent-doc-", dir=folder) as own:
                    index = os.path.join(own, "index")
                    head = self._read_head(index, os.path.join(folder, "index"))
                    stage(index)
                    if _run_git(self.top, "diff", "--cached", "--quiet", index=index).returncode == 0:
                        return None
                    made = self._commit_index(index, head, f"{PREFIX} {stamp}")
                    if made is not None:
                        self._follow(index, made, head)
                        return made
        raise Refused("Other programs commit here all the time. Try again.", code="conflict")

    def _read_head(self, index: str, known: str) -> str | None:
        """HEAD, read into an index; None if there is no commit yet."""
        head = _run_git(self.top, "rev-parse", "-q", "--verify", "HEAD").stdout.decode().strip()
        if not head:
            return None
        with contextlib.suppress(FileNotFoundError):  # what git knows of unchanged files is not found out again
            shutil.copyfile(known, index)
        self._git_output("read-tree", "--reset", head, index=index)
        return head

    def _commit_index(self, index: str, head: str | None, message: str) -> str | None:
        """Commit an index that was read from `head`; None if somebody else committed first."""
        try:
            output = self._git_output("commit", "-m", message, index=index)
        except Refused as error:
            if _MOVED in error.message:
                return None
            raise
        # Identify our commit by the id that git reported: HEAD may be somebody else's by now.
        ours = _MADE.match(output)
        if ours is None:
            raise RedraftError(f"git did not report what it committed: {output}")
        made, *parents = self._git_output("rev-list", "--parents", "-n", "1", ours[1]).split()
        if parents == ([] if head is None else [head]):
            return made
        self._git_output("update-ref", "HEAD", *parents, made)  # it would undo theirs
        return None

    def _follow(self, index: str, made: str, head: str | None) -> None:
        """Let the person's index have the document as it is committed now; else their next commit would undo it."""
        entry = self._git_output("ls-files", "--stage", "--", self.file, index=index)
        try:
            if entry:
                mode, blob, _ = entry.split(maxsplit=2)
                self._git_output("update-index", "--add", "--cacheinfo", f"{mode},{blob},{self.file}")
            else:
                self._git_output("update-index", "--force-remove", "--", self.file)
        except RedraftError:
            if head is not None:
                self._git_output("update-ref", "HEAD", head, made)
            raise

    def _find_committed_entry(self) -> tuple[str, str] | None:
        """The document's mode and blob in HEAD."""
        entry = self._git_output("ls-tree", "HEAD", "--", self.file)
        if not entry:
            return None
        mode, _, blob, _ = entry.split(maxsplit=3)
        return mode, blob

    def _git_folder(self) -> str:
        return self._git_output("rev-parse", "--absolute-git-dir")

    def _check_committable(self) -> None:
        reason = self.refusal()
        if reason is not None:
            raise Forbidden(reason, path=self.file)

    def switch_branch(self) -> str:
        """Switch to a new branch for the document, or stay there; refused if it exists and we are elsewhere."""
        stem = os.path.splitext(os.path.basename(self.file))[0]
        name = f"agent-doc/{_NOT_IN_A_BRANCH.sub('-', stem) or 'document'}"
        if (
            self._git_succeeds("symbolic-ref", "-q", "HEAD")
            and self._git_output("symbolic-ref", "--short", "HEAD") == name
        ):
            return name
        self._git_output("checkout", "--quiet", "-b", name)
        return name

    def _is_ignored(self) -> bool:
        # The one command without literal names; a name that begins with a dot is none of its patterns.
        return _run_git(self.top, "check-ignore", "-q", "--", f"./{self.file}", literal=False).returncode == 0

    def _is_tracked(self) -> bool:
        return self._git_succeeds("ls-files", "--error-unmatch", "--", self.file)

    # Cleaning up

    def squash(self, stamp: str) -> int:
        """Squash each unbroken run of the document's agent commits into one; returns how many commits were squashed.

        The tree, the index and the files stay as they are. Commits of others that come later are made again with the
        same content; a commit that a remote has is never touched.
        """
        self.check_idle()
        head = self._git_output("rev-parse", "HEAD")
        own = self._own_commits()
        rows = self._git_output("rev-list", "--topo-order", "--reverse", "--parents", "HEAD", "--not", "--remotes")
        parents_of = {commit: parents for commit, *parents in map(str.split, rows.splitlines())}
        runs = _find_runs(parents_of, own)
        if not runs:
            if len(own & parents_of.keys()) < len(own) >= 2:
                raise Refused(
                    "These commits were already pushed; squashing them would rewrite history that others have.",
                    code="conflict",
                )
            return 0
        made = self._rewrite(parents_of, runs, stamp)
        self._git_output("update-ref", "-m", "agent-doc: clean", "HEAD", made[head], head)
        return sum(map(len, runs))

    def _own_commits(self) -> set[str]:
        """The commits of an agent's that changed this document and nothing else."""
        lines = self._git_output("log", "--format=%H %s", "--", self.file).split("\n")
        found = [line.partition(" ")[0] for line in lines if line.partition(" ")[2].startswith(PREFIX)]
        return {commit for commit in found if self._list_changed_files(commit) == {self.file}}

    def _list_changed_files(self, commit: str) -> set[str]:
        names = self._git_output("diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-m", "-z", commit)
        return {name for name in names.split("\0") if name}

    def _rewrite(self, parents_of: dict[str, list[str]], runs: list[list[str]], stamp: str) -> dict[str, str]:
        """Make each run one commit, and what comes after it anew; returns what became of each commit."""
        run_of = {commit: run for run in runs for commit in run}
        made: dict[str, str] = {}
        for commit, parents in parents_of.items():
            run = run_of.get(commit)
            if run is None:
                if any(parent in made for parent in parents):
                    made[commit] = self._commit_again(commit, made)
                continue
            if commit != run[-1]:
                continue
            message = f"{PREFIX} {stamp}\n\nSquashed from {len(run)} commits."
            bases = [word for parent in parents_of[run[0]] for word in ("-p", made.get(parent, parent))]
            made[commit] = self._git_output("commit-tree", f"{commit}^{{tree}}", *bases, "-m", message)
        return made

    def _commit_again(self, commit: str, made: dict[str, str]) -> str:
        """The same commit, byte for byte, with its parents as they are now."""
        head, separator, message = _run_git(self.top, "cat-file", "commit", commit).stdout.partition(b"\n\n")
        if b"\ngpgsig" in head:
            raise Refused(
                f"Nothing was squashed: {commit[:12]} is signed, and would have to be made again.", code="conflict"
            )
        head = _PARENT.sub(lambda line: b"parent " + made.get(line[1].decode(), line[1].decode()).encode(), head)
        return self._git_output("hash-object", "-t", "commit", "-w", "--stdin", given=head + separator + message)

    # Versions

    def versions(self) -> Iterator[CommittedVersion]:
        """The document in every commit that changed it, newest first."""
        if not self._git_succeeds("rev-parse", "-q", "--verify", "HEAD"):
            return
        lines = self._git_output("log", "--format=%H %ct %ci", "--", self.file).splitlines()
        commits = [line.split(" ", 2) for line in lines]
        wanted = b"".join(f"{commit}:".encode() + os.fsencode(self.file) + b"\n" for commit, _, _ in commits)
        data = _run_git(self.top, "cat-file", "--batch", given=wanted).stdout
        at = 0
        for commit, when, date in commits:
            end = data.index(b"\n", at)
            words = data[at:end].split()
            at = end + 1
            if words[-1:] == [b"missing"] or words[-2:-1] != [b"blob"]:
                yield CommittedVersion(commit, date, None, int(when))
                continue
            size = int(words[-1])
            yield CommittedVersion(commit, date, _decode_text(data[at : at + size]), int(when))
            at += size + 1

    def version(self, commit: str) -> str:
        """The document in one commit."""
        if commit.startswith("-") or not self._git_succeeds("rev-parse", "-q", "--verify", f"{commit}^{{commit}}"):
            raise Refused(f"There is no commit {commit}.", code="not_found", commit=commit)
        found = _run_git(self.top, "show", f"{commit}:{self.file}")
        text = None if found.returncode else _decode_text(found.stdout)
        if text is None:
            raise Refused(f"{self.shown} is not in the commit {commit}, or is not text there.", code="not_found")
        return text

    def _git_output(self, *words: str, given: bytes | None = None, index: str | None = None) -> str:
        deadline = time.monotonic() + PATIENCE
        while True:
            done = _run_git(self.top, *words, given=given, index=index)
            if done.returncode == 0:
                return os.fsdecode(done.stdout).rstrip("\n")
            output = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
            if not _LOCKED.search(output) or time.monotonic() >= deadline:
                raise Refused(f"git {words[0]} failed: {output}", code="conflict", command=words[0])
            time.sleep(_PAUSE)  # another git works here; it is done soon

    def _git_succeeds(self, *words: str) -> bool:
        return _run_git(self.top, *words).returncode == 0


def _find_runs(parents_of: dict[str, list[str]], own: set[str]) -> list[list[str]]:
    """The unbroken runs of two and more of our commits, each oldest first; `parents_of` has parents first."""
    children = Counter(parent for parents in parents_of.values() for parent in parents)
    ending: dict[str, list[str]] = {}
    for commit, parents in parents_of.items():
        if commit not in own:
            continue
        before = parents[0] if len(parents) == 1 else ""
        run = ending.pop(before) if before in ending and children[before] == 1 else []
        ending[commit] = [*run, commit]
    return [run for run in ending.values() if len(run) > 1]


def _run_git(
    folder: str, *words: str, given: bytes | None = None, literal: bool = True, index: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    names = "1" if literal else "0"
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": names, "LC_ALL": "C.UTF-8"}
    if index is not None:
        environ["GIT_INDEX_FILE"] = index
    try:
        return subprocess.run(  # noqa: S603 - a list of words, never a shell command line
            ["git", "-C", folder, *words],  # noqa: S607 - the person's own git, wherever it is
            input=given,
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            env=environ,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise RedraftError(f"git {words[0]} did not end within {SECONDS} seconds.") from error


def _decode_text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
