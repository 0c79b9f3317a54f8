"""A newer version of this program, found and installed by pip: from the index that the person's own pip asks.

Called by `upgrade` and by nothing else, so nothing goes over the network unless somebody asks for it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any, cast

from redraft.errors import RedraftError, Refused

NAME = "redraft"
SECONDS = 600
_PIP = (sys.executable, "-m", "pip", "install", "--upgrade", "--disable-pip-version-check", "--no-input", "--quiet")


def newer_version() -> str | None:
    """The version that pip would install in the place of this one, None where this is the newest."""
    # Where the index does not answer, pip is content with what is installed: so it is first asked for what there is.
    return _would_install() if _would_install("--ignore-installed") else None


def _would_install(*options: str) -> str | None:
    said = _pip("--dry-run", "--no-deps", "--report", "-", *options, NAME)
    try:
        report = cast("dict[str, Any]", json.loads(said))
        found = [entry["metadata"]["version"] for entry in report["install"]]
    except (ValueError, KeyError, TypeError) as error:
        raise RedraftError(f"pip answered with something else: {said[:200]!r}.") from error
    return found[0] if found else None


def install(version: str) -> None:
    _pip(f"{NAME}=={version}")


def _pip(*words: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter's pip, and no shell
            [*_PIP, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise RedraftError("pip did not end in time; nothing is known of a newer version.") from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()
        if "No module named pip" in said:
            raise Refused("This was installed without pip; upgrade it with the program that installed it.")
        raise RedraftError(f"pip could not do it: {said[-500:]}")
    return done.stdout.decode("utf-8", "replace")
