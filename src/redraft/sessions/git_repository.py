"""A document in the person's own git repository: commits of it alone, a branch for it, its versions.

Nothing else that is staged is touched, no ignored file or secret is added, and the repository's hooks run as for any
commit. Names are passed to git literally, after `--`, so that none of them is an option or a pattern.
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
from redraft.files.secret_detection import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = "agent-doc:"
SECONDS = 120
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

    # Committing

    def refusal(self) -> str | None:
        """Why the document cannot be committed, as a sentence; None if it can."""
        if is_secret_name(self.file):
            return f"{self.file} may contain a secret, so it is not committed."
        if not self._is_tracked() and self._is_ignored():
            return (
                f"{self.file} is ignored by git, so it is not committed. To commit it anyway, `git add -f` it yourself."
            )
        return None

    def commit(self, stamp: str) -> str | None:
        """Commit the document alone; returns the commit's id, or None if nothing changed."""
        self._check_committable()
        if not self._git_output("status", "--porcelain", "--", self.file):
            return None
        new = not self._is_tracked()
        if new:  # a tracked one is not staged: if the commit is refused, `git merge --abort` would remove what is
            self._git_output("add", "--", self.file)
        try:
            self._git_output("commit", "--quiet", "--only", "-m", f"{PREFIX} {stamp}", "--", self.file)
        except RedraftError:
            if new:
                self._git_succeeds("rm", "--cached", "--quiet", "--", self.file)
            raise
        return self._git_output("rev-parse", "HEAD")

    def commit_text(self, text: str, stamp: str) -> str | None:
        """Commit the document as if it contained this text; None if the last commit already has it. The file itself
        does not change, and whatever else is staged stays staged."""
        self._check_committable()
        head = self._git_output("rev-parse", "HEAD")
        known = self._git_output("ls-tree", head, "--", self.file)
        if not known:
            raise Refused("git no longer has this document. Commit the whole document once.", code="conflict")
        mode, _, old, _ = known.split(maxsplit=3)
        if not self._git_succeeds("diff", "--cached", "--quiet", "--", self.file):
            raise Refused(f"{self.file} is staged; commit that first, or `git restore --staged` it.", code="conflict")
        if self._git_succeeds("rev-parse", "-q", "--verify", "MERGE_HEAD"):
            raise Refused("A merge is in progress; finish it first.", code="conflict")
        bom = _run_git(self.top, "cat-file", "blob", old).stdout[: len(BOM_UTF8)] == BOM_UTF8
        data = BOM_UTF8 * bom + text.encode()
        new = self._git_output("hash-object", "-w", f"--path={self.file}", "--stdin", given=data)
        if new == old:
            return None
        entry = f"{mode},{new},{self.file}"
        with tempfile.TemporaryDirectory(
            prefix="agent-doc-", dir=self._git_output("rev-parse", "--absolute-git-dir")
        ) as own:
            index = os.path.join(own, "index")
            self._git_output("read-tree", head, index=index)
            self._git_output("update-index", "--cacheinfo", entry, index=index)
            output = self._git_output("commit", "-m", f"{PREFIX} {stamp}", index=index)
        # Identify our commit by the id that git reported: HEAD may be somebody else's by now.
        ours = _MADE.match(output)
        if ours is None:
            raise RedraftError(f"git did not report what it committed: {output}")
        made, parent = self._git_output("rev-parse", ours[1], f"{ours[1]}^").split()
        try:
            if parent != head:
                raise Refused("Somebody else committed at the same time. Try again.", code="conflict")
            self._git_output("update-index", "--cacheinfo", entry)
        except RedraftError:
            # Ours would undo theirs; or, if the index is locked, their next one would undo ours.
            self._git_output("update-ref", "HEAD", parent, made)
            raise
        return made

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
        """Squash the document's agent commits into one; returns how many there were, 0 if fewer than two.

        The tree, the index and the files stay as they are: only the newest commit changes. Refused if anything but
        those commits is between the first of them and now.
        """
        head = self._git_output("rev-parse", "HEAD")
        subjects = self._git_output("log", "--format=%H %s", "--", self.file).splitlines()
        own = [line.split(" ", 1)[0] for line in subjects if line.partition(" ")[2].startswith(PREFIX)]
        if len(own) < 2:
            return 0
        first = own[-1]
        parents = self._git_output("rev-list", "--parents", "-n", "1", first).split()[1:]
        self._check_between(set(own), [head, *(f"^{parent}" for parent in parents)])
        if self._git_succeeds("merge-base", "--is-ancestor", first, "@{upstream}"):
            raise Refused(
                "These commits were already pushed; squashing them would rewrite history that others have.",
                code="conflict",
            )
        message = f"{PREFIX} {stamp}\n\nSquashed from {len(own)} commits."
        parent = [word for each in parents for word in ("-p", each)]
        made = self._git_output("commit-tree", f"{head}^{{tree}}", *parent, "-m", message)
        self._git_output("update-ref", "-m", "agent-doc: clean", "HEAD", made, head)
        return len(own)

    def _check_between(self, own: set[str], span: list[str]) -> None:
        for line in self._git_output("log", "--format=%H %h %s", *span).splitlines():
            commit, shown, subject = (*line.split(" ", 2), "")[:3]
            names = self._git_output("diff-tree", "--root", "--no-commit-id", "--name-only", "-r", "-m", "-z", commit)
            if commit not in own:
                why = "is not an agent's commit of this document"
            elif {name for name in names.split("\0") if name} != {self.file}:
                why = "changes other files too"
            else:
                continue
            raise Refused(
                f"Nothing was squashed: {shown} ({subject}) {why}, and lies between them.",
                code="conflict",
                commit=commit,
            )

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
            raise Refused(f"{self.file} is not in the commit {commit}, or is not text there.", code="not_found")
        return text

    def _git_output(self, *words: str, given: bytes | None = None, index: str | None = None) -> str:
        done = _run_git(self.top, *words, given=given, index=index)
        if done.returncode:
            output = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise Refused(f"git {words[0]} failed: {output}", code="conflict", command=words[0])
        return os.fsdecode(done.stdout).rstrip("\n")

    def _git_succeeds(self, *words: str) -> bool:
        return _run_git(self.top, *words).returncode == 0


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
