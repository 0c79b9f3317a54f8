"""A document in the person's own git repository: commits of it alone, a branch for it, its versions.

Nothing else that is staged is touched, no ignored file or secret is added, and the repository's hooks run as for any
commit. Names are given to git literally, after `--`, so that none of them is an option or a pattern.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from codecs import BOM_UTF8
from dataclasses import dataclass
from typing import TYPE_CHECKING

from redraft.errors import Forbidden, RedraftError, Refused
from redraft.files.secrets import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "agent-doc:"
SECONDS = 120
_NOT_IN_A_BRANCH = re.compile(r"[^\w.-]+|\.\.+|\.lock\Z|\A[.-]+|\.\Z")


@dataclass(frozen=True, slots=True)
class Version:
    """A document as a commit has it; no text where it was not there, or is no text."""

    commit: str
    date: str
    text: str | None
    when: int


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository that a file lies in."""

    top: str
    file: str

    @staticmethod
    def of(file: str) -> Repository | None:
        """The repository of a file; None where it lies in none, or there is no git."""
        folder = os.path.dirname(file)
        try:
            found = _git(folder, "rev-parse", "--show-toplevel")
        except FileNotFoundError:
            return None
        if found.returncode:
            return None
        top = os.fsdecode(found.stdout).rstrip("\n")
        return Repository(top, os.path.relpath(file, os.path.realpath(top)))

    @staticmethod
    def needed(file: str) -> Repository:
        found = Repository.of(file)
        if found is None:
            raise Refused(f"{os.path.basename(file)} lies in no git repository.")
        return found

    # Committing

    def why_not(self) -> str | None:
        """Why the document cannot be committed, as a sentence; None where it can."""
        if is_secret_name(self.file):
            return f"{self.file} may hold a secret, so it is not committed."
        if not self._tracked() and self._ignored():
            return f"{self.file} is ignored by git, so it is not committed. `git add -f` it yourself if you want that."
        return None

    def commit(self, stamp: str) -> str | None:
        """Commit the document alone; the commit's id, None where nothing changed."""
        self._check_may()
        if not self._told("status", "--porcelain", "--", self.file):
            return None
        new = not self._tracked()
        self._told("add", "--", self.file)
        try:
            self._told("commit", "--quiet", "--only", "-m", f"{PREFIX} {stamp}", "--", self.file)
        except RedraftError:
            if new:
                self._asked("rm", "--cached", "--quiet", "--", self.file)
            raise
        return self._told("rev-parse", "HEAD")

    def commit_text(self, text: str, stamp: str) -> str | None:
        """Commit the document as if it held this text; None where it does in the last commit. The file keeps what it
        holds, and what else is staged stays so."""
        self._check_may()
        head = self._told("rev-parse", "HEAD")
        known = self._told("ls-tree", head, "--", self.file)
        if not known:
            raise Refused("git does not have this document any more. Commit it whole once.", code="conflict")
        mode, _, old, _ = known.split(maxsplit=3)
        if not self._asked("diff", "--cached", "--quiet", "--", self.file):
            raise Refused(f"{self.file} is staged; commit that first, or `git restore --staged` it.", code="conflict")
        if self._asked("rev-parse", "-q", "--verify", "MERGE_HEAD"):
            raise Refused("A merge is under way; end it first.", code="conflict")
        bom = _git(self.top, "cat-file", "blob", old).stdout[: len(BOM_UTF8)] == BOM_UTF8
        data = BOM_UTF8 * bom + text.encode()
        new = self._told("hash-object", "-w", f"--path={self.file}", "--stdin", given=data)
        if new == old:
            return None
        entry = f"{mode},{new},{self.file}"
        with tempfile.TemporaryDirectory(prefix="agent-doc-", dir=self._told("rev-parse", "--absolute-git-dir")) as own:
            index = os.path.join(own, "index")
            self._told("read-tree", head, index=index)
            self._told("update-index", "--cacheinfo", entry, index=index)
            self._told("commit", "--quiet", "-m", f"{PREFIX} {stamp}", index=index)
        made, parent = self._told("rev-parse", "HEAD", "HEAD^").split()
        try:
            if parent != head:
                raise Refused("Somebody else committed at the same time. Try again.", code="conflict")
            self._told("update-index", "--cacheinfo", entry)
        except RedraftError:
            # Ours would take theirs back; or, where the index is locked, their next would take back ours.
            self._told("update-ref", "HEAD", parent, made)
            raise
        return made

    def _check_may(self) -> None:
        reason = self.why_not()
        if reason is not None:
            raise Forbidden(reason, path=self.file)

    def branch(self) -> str:
        """Go to a new branch for the document, or stay there; refused where it exists and we are elsewhere."""
        stem = os.path.splitext(os.path.basename(self.file))[0]
        name = f"agent-doc/{_NOT_IN_A_BRANCH.sub('-', stem) or 'document'}"
        if self._asked("symbolic-ref", "-q", "HEAD") and self._told("symbolic-ref", "--short", "HEAD") == name:
            return name
        self._told("checkout", "--quiet", "-b", name)
        return name

    def _ignored(self) -> bool:
        # The one command that does not know literal names; a name that begins with a dot is none of its patterns.
        return _git(self.top, "check-ignore", "-q", "--", f"./{self.file}", literal=False).returncode == 0

    def _tracked(self) -> bool:
        return self._asked("ls-files", "--error-unmatch", "--", self.file)

    # Cleaning up

    def squash(self, stamp: str) -> int:
        """Make one commit of the document's agent commits; how many they were, 0 where there are less than two.

        The tree stays as it is, and so do index and files: only the name of the newest commit changes. Refused where
        anything but those commits stands between the first of them and now.
        """
        head = self._told("rev-parse", "HEAD")
        subjects = self._told("log", "--format=%H %s", "--", self.file).splitlines()
        own = [line.split(" ", 1)[0] for line in subjects if line.partition(" ")[2].startswith(PREFIX)]
        if len(own) < 2:
            return 0
        first = own[-1]
        parents = self._told("rev-list", "--parents", "-n", "1", first).split()[1:]
        self._check_between(set(own), [head, *(f"^{parent}" for parent in parents)])
        if self._asked("merge-base", "--is-ancestor", first, "@{upstream}"):
            raise Refused(
                "These commits were pushed already; squashing them would rewrite what others have.", code="conflict"
            )
        message = f"{PREFIX} {stamp}\n\nOne commit in the place of {len(own)}."
        parent = [word for each in parents for word in ("-p", each)]
        made = self._told("commit-tree", f"{head}^{{tree}}", *parent, "-m", message)
        self._told("update-ref", "-m", "agent-doc: clean", "HEAD", made, head)
        return len(own)

    def _check_between(self, own: set[str], span: list[str]) -> None:
        for line in self._told("log", "--format=%H %h %s", *span).splitlines():
            commit, shown, subject = (*line.split(" ", 2), "")[:3]
            names = self._told("diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-m", "-z", commit)
            if commit not in own:
                why = "is not an agent's commit of this document"
            elif {name for name in names.split("\0") if name} != {self.file}:
                why = "changes other files too"
            else:
                continue
            raise Refused(
                f"Nothing was squashed: {shown} ({subject}) {why}, and stands among them.",
                code="conflict",
                commit=commit,
            )

    # Versions

    def versions(self) -> Iterator[Version]:
        """The document in every commit that changed it, the newest first."""
        if not self._asked("rev-parse", "-q", "--verify", "HEAD"):
            return
        lines = self._told("log", "--format=%H %ct %ci", "--", self.file).splitlines()
        commits = [line.split(" ", 2) for line in lines]
        wanted = b"".join(f"{commit}:".encode() + os.fsencode(self.file) + b"\n" for commit, _, _ in commits)
        data = _git(self.top, "cat-file", "--batch", given=wanted).stdout
        at = 0
        for commit, when, date in commits:
            end = data.index(b"\n", at)
            words = data[at:end].split()
            at = end + 1
            if words[-1:] == [b"missing"] or words[-2:-1] != [b"blob"]:
                yield Version(commit, date, None, int(when))
                continue
            size = int(words[-1])
            yield Version(commit, date, _text(data[at : at + size]), int(when))
            at += size + 1

    def version(self, commit: str) -> str:
        """The document as one commit has it."""
        if commit.startswith("-") or not self._asked("rev-parse", "-q", "--verify", f"{commit}^{{commit}}"):
            raise Refused(f"There is no commit {commit}.", code="not_found", commit=commit)
        found = _git(self.top, "show", f"{commit}:{self.file}")
        text = None if found.returncode else _text(found.stdout)
        if text is None:
            raise Refused(f"{self.file} is not in the commit {commit}, or is no text there.", code="not_found")
        return text

    def _told(self, *words: str, given: bytes | None = None, index: str | None = None) -> str:
        done = _git(self.top, *words, given=given, index=index)
        if done.returncode:
            said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise Refused(f"git {words[0]} failed: {said}", code="conflict", command=words[0])
        return os.fsdecode(done.stdout).rstrip("\n")

    def _asked(self, *words: str) -> bool:
        return _git(self.top, *words).returncode == 0


def _git(
    folder: str, *words: str, given: bytes | None = None, literal: bool = True, index: str | None = None
) -> subprocess.CompletedProcess[bytes]:
    names = "1" if literal else "0"
    environ = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_LITERAL_PATHSPECS": names, "LC_ALL": "C.UTF-8"}
    if index is not None:
        environ["GIT_INDEX_FILE"] = index
    try:
        return subprocess.run(  # noqa: S603 - words, never a shell's line
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


def _text(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
