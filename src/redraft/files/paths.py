"""Names of documents: what a path may look like, and which places are closed to whom.

A `DocPath` is a relative path in its one canonical form ("notes/plan.md"), and `parse_path` is the only way to get one.
This module judges names and never looks at the disk: `root` ensures that a valid name also leads to a file inside the
folder, by resolving it below a descriptor. Names are kept as they were written, never normalised; only comparisons
fold them, so that `.GIT`, `.git.` or a full-width spelling is caught where a disk would treat it as `.git`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NewType

from redraft.errors import Forbidden, Refused

DocPath = NewType("DocPath", str)

TEMP_PREFIX = ".redraft-tmp-"
MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4096

# Judging a name is pure and takes microseconds, but happens several times per call for the same few documents.
REMEMBERED = 4096


def name_set(names: str) -> frozenset[str]:
    """A table of names, written as words."""
    return frozenset(names.split())


# Invisible characters, or ones that can make a name look like another: bidirectional controls and line separators.
# Joiners (U+200C, U+200D) are allowed, because Persian names and family emoji need them.
_TREACHEROUS = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")

_DEVICE_NAMES = frozenset(
    {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {port + digit for port in ("com", "lpt") for digit in "0123456789¹²³"}
)

# Hidden from everybody and not writable through the workspace: the data of version control and our own.
_INTERNAL = frozenset({".git", ".redraft"})

# Places where text is executed, or changes what is executed, without anybody asking for that file by name: when a
# folder is opened in an editor, entered by a shell, committed, pushed or given to another agent. A Makefile or a
# script is not here: it runs only when a person starts it, like any program, and may well be the document at hand.
_EXECUTED_BY_CONVENTION = name_set(
    # version control and its hooks
    ".git .gitattributes .gitconfig .gitmodules .hg .hgrc .jj .svn .husky .lefthook .lefthook.yml lefthook.yml"
    " .pre-commit-config.yaml .pre-commit-config.yml .pre-commit-hooks.yaml"
    # continuous integration
    " .appveyor.yml .buildkite .circleci .cirrus.yml .drone.yml .forgejo .gitea .github .gitlab .gitlab-ci.yml"
    " .semaphore .tekton .travis.yml .woodpecker .woodpecker.yml appveyor.yml azure-pipelines.yml"
    " azure-pipelines.yaml bitbucket-pipelines.yml jenkinsfile"
    # editors and their tasks
    " .devcontainer .devcontainer.json .dir-locals.el .emacs .emacs.d .exrc .fleet .idea .nvim.lua .nvimrc .vim"
    " .vimrc .vscode .vs .zed"
    # other agents: their settings name commands and permissions
    " .agent-doc .aider.conf.yml .claude .cline .clinerules .codex .continue .cursor .gemini .kiro .mcp.json"
    " .redraft .roo .windsurf"
    # shells, debuggers and environments
    " .bash_aliases .bash_login .bash_logout .bash_profile .bashrc .config .direnv .env .envrc .gdbinit .inputrc"
    " .irbrc .lldbinit .local .login .mise .mise.toml .profile .pryrc .pythonrc .rprofile .screenrc .ssh .tmux.conf"
    " .tool-versions .xinitrc .xprofile .xsession .yarn .yarnrc .yarnrc.yml .zlogin .zlogout .zprofile .zshenv .zshrc"
    " mise.toml"
)

# What other agents read as instructions whenever they work in the folder: an agent may write it if a person agreed.
_AGENT_INSTRUCTIONS = name_set(
    ".agents.md .aiderrules .augment-guidelines .cursorrules .goosehints .kilocoderules .roorules .rules .windsurfrules"
    " agent.md agents.local.md agents.md agents.override.md claude.local.md claude.md copilot-instructions.md crush.md"
    " gemini.md qwen.md warp.md"
)
_INSTRUCTIONS_SUFFIX = ".instructions.md"

# The system's own files in any folder: not documents, and nothing for an agent to touch.
_SYSTEM_FILES = name_set(".ds_store .localized desktop.ini thumbs.db ehthumbs.db")

# NTFS gives a long name an alias of six letters, a tilde and a number: GIT~1 is .git there.
_SHORT_NAMES = frozenset(name.replace(".", "")[:6] for name in _EXECUTED_BY_CONVENTION)


@lru_cache(maxsize=REMEMBERED)
def parse_path(raw: str) -> DocPath:
    """The canonical path that `raw` names; raises `invalid_path` for anything that could be read as another place."""
    fault = start_fault(raw)
    for name in raw.split("/"):
        fault = fault or name_fault(name)
    fault = fault or length_fault(raw)
    if fault is not None:
        # As ASCII: control characters and unpaired surrogates must not reach whatever shows the message.
        raise Refused(f"The path {raw[:200]!a} cannot be used: {fault}.", code="invalid_path")
    return DocPath(raw)


# Each of these says why something cannot be (part of) a path, as the end of a sentence; None if it can.


def start_fault(raw: str) -> str | None:
    """Of a whole path: how it begins."""
    if not raw:
        return "it is empty"
    if raw[0] == "/":
        return "it is absolute"
    if raw[0] == "~":
        return "it begins with ~"
    if raw[1:2] == ":" and raw[0].isascii() and raw[0].isalpha():
        return "it begins with a drive letter"
    return None


def length_fault(raw: str) -> str | None:
    """Of a whole path without other faults: its length."""
    if len(raw) * 4 > MAX_PATH_BYTES and len(raw.encode()) > MAX_PATH_BYTES:
        return f"it is longer than {MAX_PATH_BYTES} bytes"
    return None


def name_fault(name: str) -> str | None:
    """Of one component."""
    if not name:
        return "it has an empty component"
    if name in {".", ".."}:
        return f"it has the component {name!r}"
    if (fault := _character_fault(name)) is not None:
        return fault
    if name[-1] in ". ":
        return "a name ends in a dot or a space"
    if len(name) * 4 > MAX_NAME_BYTES and len(name.encode()) > MAX_NAME_BYTES:
        return f"a name is longer than {MAX_NAME_BYTES} bytes"
    if name.split(".", 1)[0].rstrip(" ").casefold() in _DEVICE_NAMES:
        return "a name is reserved for a device"
    return None


def _character_fault(name: str) -> str | None:
    if "\\" in name:
        return "it has a backslash"
    # Every character refused below is unprintable in Python as well, and nearly every real name is printable.
    if name.isprintable():
        return None
    for char in name:
        if char < " " or "\x7f" <= char <= "\x9f":
            return "it has a control character"
        if "\ud800" <= char <= "\udfff":
            return "it is not valid Unicode"
        if char in _TREACHEROUS:
            return "it has a character that hides or reorders text"
    return None


def join_path(folder: str, name: str) -> DocPath:
    """`name` inside `folder` ("" is the root); both have been checked before."""
    return DocPath(f"{folder}/{name}" if folder else name)


def split_path(path: DocPath) -> tuple[str, str]:
    """The folder ("" for the root) and the name within it."""
    folder, _, name = path.rpartition("/")
    return folder, name


def fold_name(name: str) -> str:
    """A component as the most lenient disk would read it; for comparing with guarded names.

    Compatibility forms and letter case are folded, ignorable characters (HFS+ drops them) and trailing dots and blanks
    (Windows drops them) removed. A stream suffix (`.git::$INDEX_ALLOCATION`) is left to `fold_variants`.
    """
    if not name.isascii():
        from unicodedata import category, normalize

        name = normalize("NFKC", "".join(char for char in name if category(char) != "Cf"))
    return name.casefold().rstrip(". ")


def fold_variants(name: str) -> tuple[str, ...]:
    """What `name` may mean: itself, and on NTFS the file whose stream it names."""
    folded = fold_name(name)
    if ":" not in folded:
        return (folded,)
    return folded, folded.split(":", 1)[0].rstrip(". ")


@lru_cache(maxsize=REMEMBERED)
def is_internal(path: str) -> bool:
    """Whether the path is in version control's data or ours: nobody lists it, nobody writes it through us."""
    return any(is_internal_name(name) for name in path.split("/"))


def is_internal_name(name: str) -> bool:
    """Whether one component makes every path through it internal."""
    # Called for each file of a listing: all internal names begin with a dot, in ASCII also after folding, except for
    # their short aliases and for spellings in other alphabets.
    if name.isascii() and not name.startswith(".") and "~" not in name:
        return False
    return any(
        variant in _INTERNAL or variant.startswith(TEMP_PREFIX) or _alias_of(variant, {"git", "redraf"})
        for variant in fold_variants(name)
    )


def _alias_of(name: str, stems: frozenset[str] | set[str]) -> bool:
    stem, tilde, number = name.partition("~")
    return bool(tilde) and number.isdigit() and stem in stems


@lru_cache(maxsize=REMEMBERED)
def agent_may_write(path: str) -> bool:
    """Whether an agent may create, change, move or delete what is at `path`."""
    *folders, last = path.split("/")
    if folders and fold_name(folders[-1]) == ".github" and is_agent_instructions(last):
        folders = folders[:-1]  # the one text there that is written for agents
    for name in (*folders, last):
        for variant in fold_variants(name):
            if variant in _EXECUTED_BY_CONVENTION | _SYSTEM_FILES or variant.startswith(TEMP_PREFIX):
                return False
            if _alias_of(variant, _SHORT_NAMES):
                return False
    return True


@lru_cache(maxsize=REMEMBERED)
def is_agent_instructions(path: str) -> bool:
    """Whether agents follow the file at `path` as instructions, like `AGENTS.md` or `.cursorrules`."""
    return any(
        variant in _AGENT_INSTRUCTIONS or variant.endswith(_INSTRUCTIONS_SUFFIX)
        for variant in fold_variants(path.rpartition("/")[2])
    )


@lru_cache(maxsize=REMEMBERED)
def is_system_file(path: str) -> bool:
    """Whether `path` is one of the system's own files, such as `.DS_Store`."""
    return not _SYSTEM_FILES.isdisjoint(fold_variants(path.rpartition("/")[2]))


def check_no_system_file(path: str) -> None:
    """Raise `forbidden_path` if `is_system_file`."""
    if is_system_file(path):
        raise Forbidden(f"{path} belongs to the operating system.", code="forbidden_path", path=path)


def check_agent_write(path: str) -> None:
    """Raise `forbidden_path` unless `agent_may_write`."""
    check_no_system_file(path)
    if not agent_may_write(path):
        raise Forbidden(
            f"{path} is executed or configures a program, so agents may not write it.",
            code="forbidden_path",
            path=path,
        )
