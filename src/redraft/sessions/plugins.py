"""The extension for VS Code: part of this package, packed as a `.vsix`, and installed where the editor looks for it.

Nothing is downloaded. The editor's own command installs it where there is one; else it is unpacked into the editor's
folder of extensions, as the editor would. What is unpacked is made beside its place and renamed, so that an editor
never sees half of it.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tempfile
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from xml.sax.saxutils import quoteattr

import redraft
from redraft.errors import RedraftError, Refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Editor = Literal["vscode", "jetbrains"]
EDITORS: tuple[Editor, ...] = ("vscode", "jetbrains")
PROGRAMS = ("code", "codium", "code-insiders")
FOLDERS = (".vscode/extensions", ".vscode-server/extensions", ".vscode-oss/extensions")
SECONDS = 120
_EARLIEST = (1980, 1, 1, 0, 0, 0)  # the same files make the same archive, whenever it is made
_TYPES = {".json": "application/json", ".js": "application/javascript", ".md": "text/markdown", ".txt": "text/plain"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where an editor is: its command, if it has one, and its folder of extensions, if that is there."""

    program: str | None
    folder: str | None


def find(home: str, environ: Mapping[str, str]) -> Place:
    named = environ.get("VSCODE_EXTENSIONS", "")
    folders = [named, *(os.path.join(home, folder) for folder in FOLDERS)]
    folder = next((folder for folder in folders if folder and os.path.isdir(folder)), None)
    program = next((found for name in PROGRAMS if (found := shutil.which(name, path=environ.get("PATH")))), None)
    return Place(program, folder)


def source() -> str:
    """The extension's files: in the package, or beside it in a checkout."""
    package = os.path.dirname(os.path.abspath(redraft.__file__))
    places = (package, os.path.dirname(os.path.dirname(package)))
    found = (os.path.join(place, "editors", "vscode") for place in places)
    place = next((folder for folder in found if os.path.isfile(os.path.join(folder, "package.json"))), None)
    if place is None:
        raise RedraftError("The extension is not part of this installation.", code="not_found")
    return place


def files() -> dict[str, bytes]:
    """The extension's files by name, its manifest with this program's version."""
    folder = source()
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
    content = files()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        entries = {
            "extension.vsixmanifest": _manifest(json.loads(content["package.json"])),
            "[Content_Types].xml": _types(),
        }
        for name, data in {**entries, **{f"extension/{name}": data for name, data in content.items()}}.items():
            archive.writestr(zipfile.ZipInfo(name, _EARLIEST), data, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _manifest(said: Mapping[str, Any]) -> bytes:
    identity = (
        f"Id={quoteattr(said['name'])} Version={quoteattr(said['version'])} Publisher={quoteattr(said['publisher'])}"
    )
    engine = quoteattr(said["engines"]["vscode"])
    return f"""\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" {identity} />
    <DisplayName>{said["displayName"]}</DisplayName>
    <Description xml:space="preserve">{said["description"]}</Description>
    <Categories>{",".join(said["categories"])}</Categories>
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


def installed(place: Place) -> str | None:
    """The version of the extension that the editor has, None where it has none."""
    return max((version for version, _ in _installed(place)), default=None)


def _installed(place: Place) -> Iterator[tuple[str, str]]:
    for name in os.listdir(place.folder) if place.folder else ():
        if name.startswith("redraft.redraft-"):
            yield name.removeprefix("redraft.redraft-"), os.path.join(place.folder or "", name)


def install(place: Place, environ: Mapping[str, str]) -> str:
    """Install the extension of this version in the place of any other; tells how."""
    if place.program is not None:
        return _by_the_editor(place.program, environ)
    if place.folder is None:
        raise Refused("No VS Code was found here: neither its command nor its folder of extensions.", code="not_found")
    content = files()
    target = os.path.join(place.folder, f"redraft.redraft-{json.loads(content['package.json'])['version']}")
    old = [path for _, path in _installed(place)]
    with tempfile.TemporaryDirectory(prefix=".redraft-", dir=place.folder) as making:
        made = os.path.join(making, "new")
        os.mkdir(made)
        for name, data in content.items():
            with open(os.path.join(made, name), "wb") as file:
                file.write(data)
        for number, path in enumerate(old):
            os.rename(path, os.path.join(making, f"old-{number}"))
        os.rename(made, target)
    return target


def _by_the_editor(program: str, environ: Mapping[str, str]) -> str:
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
        said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
        raise RedraftError(f"{program} did not install the extension: {said[-500:]}")
    return program
