"""The extension for VS Code: part of this package as a `.vsix`, and installed where the editor looks for it.

Nothing is downloaded. The editor's own command installs it if there is one; otherwise it is unpacked into the editor's
extensions folder, as the editor would do. It is unpacked next to its place and then renamed, so that an editor never
sees half of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal, cast

import redraft
from redraft import __version__
from redraft.errors import RedraftError, Refused
from redraft.files.atomic_write import write_file
from redraft.files.paths import parse_path
from redraft.files.root import Root

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Editor = Literal["vscode", "jetbrains"]
EDITORS: tuple[Editor, ...] = ("vscode", "jetbrains")
PROGRAMS = ("code", "cursor", "windsurf", "codium", "code-insiders", "code-server")
FOLDERS = (
    ".vscode/extensions",
    ".vscode-server/extensions",
    ".vscode-oss/extensions",
    ".cursor/extensions",
    ".windsurf/extensions",
    ".local/share/code-server/extensions",
)
SECONDS = 120


@dataclass(frozen=True, slots=True)
class EditorInstallation:
    """An editor: its command, if it has one, and its extensions folder, if that exists."""

    program: str | None
    folder: str | None


def find_editor(home: str, environ: Mapping[str, str]) -> EditorInstallation:
    named = environ.get("VSCODE_EXTENSIONS", "")
    folders = [named, *(os.path.join(home, folder) for folder in FOLDERS)]
    folder = next((folder for folder in folders if folder and os.path.isdir(folder)), None)
    program = next((found for name in PROGRAMS if (found := shutil.which(name, path=environ.get("PATH")))), None)
    return EditorInstallation(program, folder)


def extension_package() -> str:
    """The extension as a `.vsix`: in the package, or where a checkout builds it."""
    package = os.path.dirname(os.path.abspath(redraft.__file__))
    checkout = os.path.dirname(os.path.dirname(package))
    places = (os.path.join(package, "editors"), os.path.join(checkout, "editors", "vscode", "dist"))
    found = next((path for place in places if os.path.isfile(path := os.path.join(place, "redraft.vsix"))), None)
    if found is None:
        raise RedraftError(
            "The extension is not part of this installation; in a checkout, `make vsix` builds it.", code="not_found"
        )
    return found


def extension_files() -> dict[str, bytes]:
    """The extension's files by name, as an editor unpacks them."""
    with zipfile.ZipFile(extension_package()) as archive:
        names = [name for name in archive.namelist() if name.startswith("extension/") and not name.endswith("/")]
        return {name.removeprefix("extension/"): archive.read(name) for name in names}


def read_installed_version(editor: EditorInstallation) -> str | None:
    """The installed version of the extension; None if it is not installed."""
    return max((version for version, _ in _list_installed_folders(editor)), default=None)


def _list_installed_folders(editor: EditorInstallation) -> Iterator[tuple[str, str]]:
    for name in os.listdir(editor.folder) if editor.folder else ():
        if name.startswith("redraft.redraft-"):
            yield name.removeprefix("redraft.redraft-"), os.path.join(editor.folder or "", name)


def install_extension(editor: EditorInstallation, environ: Mapping[str, str]) -> str:
    """Install this version of the extension, replacing any other; returns how."""
    if editor.program is not None:
        return _install_with_editor(editor.program, environ)
    if editor.folder is None:
        raise Refused("VS Code was not found: neither its command nor its extensions folder.", code="not_found")
    content = extension_files()
    target = os.path.join(editor.folder, f"redraft.redraft-{json.loads(content['package.json'])['version']}")
    old = [path for _, path in _list_installed_folders(editor)]
    with tempfile.TemporaryDirectory(prefix=".redraft-", dir=editor.folder) as making:
        made = os.path.join(making, "new")
        for name, data in content.items():
            os.makedirs(os.path.dirname(os.path.join(made, name)), exist_ok=True)
            with open(os.path.join(made, name), "wb") as file:
                file.write(data)
        for number, path in enumerate(old):
            os.rename(path, os.path.join(making, f"old-{number}"))
        os.rename(made, target)
    return target


def _install_with_editor(program: str, environ: Mapping[str, str]) -> str:
    words = [program, "--install-extension", extension_package(), "--force"]
    try:
        done = subprocess.run(  # noqa: S603 - the person's own editor, and no shell
            words, capture_output=True, timeout=SECONDS, check=False, stdin=subprocess.DEVNULL, env=dict(environ)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RedraftError(f"{program} did not install the extension: {error}.") from error
    if done.returncode:
        output = " ".join((done.stderr or done.stdout).decode("utf-8", "replace").split())
        raise RedraftError(f"{program} did not install the extension: {output[-500:]}")
    return program


# The skill for Claude Code: bundled here, installed into a project, compared with the installed one.


SKILL_PATH = ".claude/skills/agent-doc/SKILL.md"
SkillStatus = Literal["missing", "outdated", "up to date"]


def read_bundled_skill() -> str:
    """The skill that this version of the program bundles."""
    text = files("redraft.sessions").joinpath("SKILL.md").read_text(encoding="utf-8")
    return text.replace("{version}", __version__, 1)


def skill_status(folder: str) -> SkillStatus:
    """Whether a project's skill is the bundled one."""
    with Root.open(folder) as root:
        found = _read_skill(root)
    if found is None:
        return "missing"
    return "up to date" if found == read_bundled_skill().encode() else "outdated"


def install_skill(folder: str) -> bool:
    """Write the bundled skill into a project; False if it is there already, byte for byte."""
    with Root.open(folder) as root:
        found, wanted = _read_skill(root), read_bundled_skill().encode()
        if found == wanted:
            return False
        write_file(root, parse_path(SKILL_PATH), wanted, expected=found)
    return True


def _read_skill(root: Root) -> bytes | None:
    try:
        return root.read(parse_path(SKILL_PATH)).data
    except Refused as error:
        if error.code == "not_found":
            return None
        raise


# A newer version of this program, found and installed with pip, from the index that the person's own pip uses.
#
# Only `upgrade` calls this, so nothing uses the network unless somebody asks for it.


NAME = "redraft"
PIP_SECONDS = 600
_PIP = (sys.executable, "-m", "pip", "install", "--upgrade", "--disable-pip-version-check", "--no-input", "--quiet")


def newer_version() -> str | None:
    """The version that pip would install instead of this one; None if this is the newest."""
    # If the index does not answer, pip is satisfied with what is installed: so first ask it what is available.
    return _candidate_version() if _candidate_version("--ignore-installed") else None


def _candidate_version(*options: str) -> str | None:
    output = _run_pip("--dry-run", "--no-deps", "--report", "-", *options, NAME)
    try:
        report = cast("dict[str, Any]", json.loads(output))
        found = [entry["metadata"]["version"] for entry in report["install"]]
    except (ValueError, KeyError, TypeError) as error:
        raise RedraftError(f"unexpected answer from pip: {output[:200]!r}.") from error
    return found[0] if found else None


def install_version(version: str) -> None:
    _run_pip(f"{NAME}=={version}")


def _run_pip(*words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter's pip, and no shell
            [*_PIP, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=PIP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RedraftError("pip did not finish in time; it is unknown whether there is a newer version.") from error
    if done.returncode:
        output = " ".join(done.stderr.decode("utf-8", "replace").split())
        if "No module named pip" in output:
            raise Refused("This was not installed with pip; upgrade it with the program that installed it.")
        raise RedraftError(f"pip failed: {output[-500:]}")
    return done.stdout.decode("utf-8", "replace")
