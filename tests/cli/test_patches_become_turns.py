"""The law of `propose`: a patch from one folder to another, proposed and accepted whole, makes the one the other."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redraft.cli.commands.propose import stage
from redraft.history.turns import Author
from redraft.text.patch.unified_diff import format_patch, parse_patch
from redraft.workspace.workspace import Workspace
from tests.conftest import TORTURE

AGENT = Author("agent", "scribe")

lines = st.lists(st.sampled_from(["one\n", "two\n", "\n", "drei\r\n", "four", "\u2028 f\u00fcnf\n"]), max_size=6)
folders = st.dictionaries(st.sampled_from(["a.md", "b.md", "c/d.md", "e f.md"]), lines.map("".join), max_size=4)


def written(folder: Path, documents: dict[str, str]) -> None:
    for path, text in documents.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())


def found(folder: Path) -> dict[str, str]:
    paths = (path for path in folder.rglob("*") if path.is_file() and ".redraft" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in paths}


def patch_between(old: dict[str, str], new: dict[str, str]) -> str:
    return "".join(format_patch(path, old.get(path), new.get(path)) for path in sorted({*old, *new}))


@pytest.mark.slow
@given(folders, folders)
@settings(max_examples=1000 if TORTURE else 25)
def test_a_patch_proposed_and_accepted_makes_one_folder_the_other(old: dict[str, str], new: dict[str, str]):
    patch = patch_between(old, new)
    if not patch:
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "notes")
        folder.mkdir()
        written(folder, old)
        with Workspace.open(folder, state_home=str(Path(place, "state"))) as workspace:
            with workspace.turn(AGENT, "patch") as turn:
                for part in parse_patch(patch):
                    stage(turn, part)
            assert found(folder) == old
            workspace.accept({draft.key: None for draft in workspace.drafts()})
            assert found(folder) == new
            workspace.undo()
            assert found(folder) == old
