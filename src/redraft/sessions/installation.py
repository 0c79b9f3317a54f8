"""The extension for VS Code: part of this package, packed as a `.vsix`, and installed where the editor looks for it.

Nothing is downloaded. The editor's own command installs it if there is one; otherwise it is unpacked into the editor's
extensions folder, as the editor would do. It is unpacked next to its place and then renamed, so that an editor never
sees half of it.
"""

from __future__ import annotations

import io
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
from xml.sax.saxutils import quoteattr

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
PROGRAMS = ("code", "codium", "code-insiders")
FOLDERS = (".vscode/extensions", ".vscode-server/extensions", ".vscode-oss/extensions")
SECONDS = 120
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same files always give the same archive
_TYPES = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown", ".txt": "text/plain"}


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


def extension_folder() -> str:
    """The extension's files: in the package, or next to it in a checkout."""
    package = os.path.dirname(os.path.abspath(redraft.__file__))
    places = (package, os.path.dirname(os.path.dirname(package)))
    found = (os.path.join(editor, "editors", "vscode") for editor in places)
    editor = next((folder for folder in found if os.path.isfile(os.path.join(folder, "package.json"))), None)
    if editor is None:
        raise RedraftError("The extension is not part of this installation.", code="not_found")
    return editor


def extension_files() -> dict[str, bytes]:
    """The extension's files by name, its manifest with this program's version."""
    folder = extension_folder()
    found: dict[str, bytes] = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            found[name] = file.read()
    manifest = json.loads(found["package.json"])
    manifest["version"] = redraft.__version__.partition("+")[0]
    found["package.json"] = (json.dumps(manifest, indent=2, ensure_ascii=False) + "\n").encode()
    return found


def pack() -> bytes:
    """The extension as a `.vsix`."""
    content = extension_files()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        entries = {
            "extension.vsixmanifest": _manifest(json.loads(content["package.json"])),
            "[Content_Types].xml": _types(),
        }
        for name, data in {**entries, **{f"extension/{name}": data for name, data in content.items()}}.items():
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _manifest(package: Mapping[str, Any]) -> bytes:
    name, version, publisher = (quoteattr(package[field]) for field in ("name", "version", "publisher"))
    identity = f"Id={name} Version={version} Publisher={publisher}"
    engine = quoteattr(package["engines"]["vscode"])
    return f"""\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" {identity} />
    <DisplayName>{package["displayName"]}</DisplayName>
    <Description xml:space="preserve">{package["description"]}</Description>
    <Categories>{",".join(package["categories"])}</Categories>
    <Properties><Property Id="Microsoft.VisualStudio.Code.Engine" Value={engine} /></Properties>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code" /></Installation>
  <Dependencies />
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true" />
  </Assets>
</PackageManifest>
""".encode()


def _types() -> bytes:
    kinds = "".join(f'<Default Extension="{ending}" ContentType="{kind}" />' for ending, kind in _TYPES.items())
    space = "http://schemas.openxmlformats.org/package/2006/content-types"
    manifest = '<Default Extension=".vsixmanifest" ContentType="text/xml" />'
    return f'<?xml version="1.0" encoding="utf-8"?>\n<Types xmlns="{space}">{kinds}{manifest}</Types>\n'.encode()


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
        os.mkdir(made)
        for name, data in content.items():
            with open(os.path.join(made, name), "wb") as file:
                file.write(data)
        for number, path in enumerate(old):
            os.rename(path, os.path.join(making, f"old-{number}"))
        os.rename(made, target)
    return target


def _install_with_editor(program: str, environ: Mapping[str, str]) -> str:
    with tempfile.TemporaryDirectory(prefix="redraft-") as folder:
        packed = os.path.join(folder, "redraft.vsix")
        with open(packed, "wb") as file:
            file.write(pack())
        words = [program, "--install-extension", packed, "--force"]
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
