"""The folder's search finds what ripgrep finds: every line, its number, its column; with an index and without."""

from __future__ import annotations

import random
import re
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from redraft.search import hits
from redraft.search.index import Index
from tests.conftest import TORTURE
from tests.search.ripgrep import lines_found, ripgrep

if TYPE_CHECKING:
    from pathlib import Path

    from tests.workspace.folder import Folder

Query = tuple[str, dict[str, Any]]

SHAPES = (
    *(r"\b{word}\b", r"\b({word}|{other})\b", r"(?i)\b{word}|\b{other}", r"{word}\w*", r"^{word}", r"{word}[.,;:]?$"),
    *(r"(?i){word}", r"{word}|{other}", r"({word}|{other})\s+\w+", r"{word}.*{other}", r"\w+{tail}\b"),
    *(r"[{first}]\w{{2,4}}{tail}", r"^\s*[-*]\s+.*{word}", r"\d+\D+{word}", r"{word}\S", r"[^\s{first}]{tail}"),
)
FIXED: list[Query] = [
    (r"^#+ \w+", {"regex": True}),
    (r"^$", {"regex": True}),
    (r"\d{4}-\d\d-\d\d", {"regex": True}),
    (r"\p{Greek}|é", {"regex": True}),
    (r"[^\x01-\x7f]+", {"regex": True}),
    (r"x*", {"regex": True, "glob": "*.txt"}),
    (r"\A#+ ", {"regex": True}),
    (r"(?i)\Athe \w+", {"regex": True}),
    ("](", {}),
    ("```", {}),
    ("—", {}),
    ("é", {"case_sensitive": False}),
    ("É", {"case_sensitive": False}),
    ("the", {"glob": "*.md", "whole_word": True}),
    ("a", {"glob": "!*.md"}),
    ("zzzzzz", {}),
]


WORDS = "river lantern naïve Straße école ΣΊΣΥΦΟΣ日本語 мост K2 snake_case x-ray 𝒳 ½ don't https://a.b/c ſ K"


def queries(text: str, count: int) -> list[Query]:
    """Made from the words of the tree itself, the same ones in every run."""
    chance = random.Random(11)
    words = sorted(set(re.findall(r"[^\W\d_]{3,}", text)))
    lines = [line.strip() for line in text.splitlines() if len(line.split()) > 3]
    made = list(FIXED)
    while len(made) < count:
        word, other = chance.choice(words), chance.choice(words)
        fields = {"word": word, "other": other, "first": word[0], "tail": word[-2:]}
        options: dict[str, Any] = {"case_sensitive": chance.random() < 0.6, "whole_word": chance.random() < 0.2}
        kind = chance.random()
        if kind < 0.5:
            made.append((chance.choice(SHAPES).format(**fields), {**options, "regex": True}))
        elif kind < 0.75:
            made.append((word[chance.randrange(2) :], options))
        else:
            line = chance.choice(lines)
            start = chance.randrange(len(line) - 2)
            made.append((line[start : start + chance.randint(2, 30)], options))
    return made


def differences(folder: Path, index: Index, asked: list[Query]) -> list[str]:
    """The queries for which we do not find just what ripgrep finds."""
    wrong: list[str] = []
    for query, options in asked:
        ours = {(hit.path, hit.line, hit.column, hit.text) for hit in index.search(query, limit=100_000, **options)}
        theirs = lines_found(folder, query, options)
        if ours != theirs:
            wrong.append(f"{query!r} {options}: {sorted(ours - theirs)[:2]} but {sorted(theirs - ours)[:2]}")
    return wrong


@pytest.fixture
def made(folder: Folder) -> Folder:
    """A tree with what real ones have: newlines of both kinds, a byte order mark, scripts, deep and odd names."""
    chance = random.Random(5)
    words = WORDS.split()
    for number in range(120):
        lines = [" ".join(chance.choices(words, k=chance.randint(0, 9))) for _ in range(chance.randint(0, 30))]
        ending = chance.choice(["\n", "\n", "\r\n"])
        start = chance.choice(["", "", "", "\ufeff"])
        last = chance.choice(["", ending])
        name = f"{chance.choice(['', 'a/', 'a/b c/', 'é/'])}note {number}.{chance.choice(['md', 'txt'])}"
        folder.put(name, start + ending.join(lines) + last)
    folder.put("empty.md", "")
    folder.put(".hidden/river.md", "river")
    return folder


@pytest.fixture
def real(folder: Folder, material: Path) -> Folder:
    [archive] = (material / "workspace-tree").glob("*.tar.gz")
    with tarfile.open(archive) as tree:
        tree.extractall(folder.path, filter="data")
    return folder


@pytest.fixture(params=["made", "real"])
def tree(request: pytest.FixtureRequest) -> Folder:
    ripgrep()
    return request.getfixturevalue(request.param)


@pytest.mark.slow
@pytest.mark.covers("SB-rule-search-all")
@pytest.mark.parametrize("way", ["alone", "narrowed by ripgrep", "indexed"])
def test_every_query_finds_what_ripgrep_finds(tree: Folder, way: str, monkeypatch: pytest.MonkeyPatch):
    with Index.open(tree.open()) as index:
        if way == "alone":
            index.ripgrep.program = None
        elif way == "indexed":
            index.update()
        else:
            monkeypatch.setattr(hits, "_FIRST_FILES", 1)  # a small folder is not narrowed, nor is a frequent word
            monkeypatch.setattr(hits, "_FEW", 1.0)
        text = "\n".join(data.decode("utf-8", "replace") for data in tree.tree().values())
        assert differences(tree.path, index, queries(text, 200 if TORTURE else 80)) == []
        if way == "narrowed by ripgrep" and index.ripgrep.program is None:
            pytest.skip("this kernel has no Landlock, so ripgrep was not asked")


def test_the_end_of_a_text_is_that_of_a_line_as_it_is_to_ripgrep(folder: Folder):
    """Asked plainly: with `--crlf`, ripgrep finds such an end in a last line without a line break only."""
    for number, text in enumerate(["river\nriver bank\n", "a river", "bank\nthe river\n\nriver\n"]):
        folder.put(f"{number}.md", text)
    with Index.open(folder.open()) as index:
        ours = {f"{hit.path}:{hit.line + 1}:{hit.text}" for hit in index.search(r"[a-z]r\z", regex=True)}
    command = [ripgrep(), "--no-config", "--line-number", r"[a-z]r\z", *sorted(folder.tree())]
    theirs = subprocess.run(command, cwd=folder.path, capture_output=True, encoding="utf-8", check=True)
    assert ours == set(theirs.stdout.splitlines())
    assert len(ours) == 4
