"""The house rules, as tests with lists of exceptions that only shrink.

A list holds the present measure of each exception and must equal what is found, so that whoever makes a thing smaller
also makes its list shorter, and nobody makes one longer without showing it. Sources are read as syntax trees.
"""

from __future__ import annotations

import ast
import re
import subprocess
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from redraft.errors import CODES
from tests.house.figures import functions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parents[2]

MODULE_LINES = 600
LONG_MODULES: dict[str, int] = {}

FUNCTION_LINES = 60
LONG_FUNCTIONS: dict[str, int] = {}

NOUNS_IN_ING: set[str] = set()

# A handler that catches everything and does not raise again hides mistakes; each one here has its reason beside it.
SWALLOWING_EXCEPTS: dict[str, int] = {
    "src/redraft/workspace/events.py": 1,  # a listener's mistake must not undo what is already done
    "src/redraft/files/key_store.py": 1,  # in a thread of its own; raised again in the thread that waits for it
}

VAGUE_NAMES = {"utils", "util", "common", "core", "helpers", "helper", "manager", "service", "services", "misc"}

# Written in pieces, so that the rules do not find themselves.
UNFINISHED = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")
MACHINE_PATH = re.compile(r"(?<![\w.~}-])/(?:work|root|home)" + r"/")
REGISTRY = re.compile(
    r"https?://[^\s\"'<>)]*(?:pypi|pythonhosted|npmjs|crates\.io|artifactory|nexus|registry|mirror)"
    r"|--(?:extra-)?index" + r"-url|--find" + r"-links",
    re.IGNORECASE,
)
# The hostile names that a test tries are data and no paths of this machine.
MACHINE_PATHS_AS_DATA: set[str] = set()


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file of the project, read once."""

    name: str
    text: str
    tree: ast.Module


def sources(*folders: str) -> list[Source]:
    paths = (path for folder in folders for path in sorted((ROOT / folder).rglob("*.py")))
    texts = ((path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in paths)
    return [Source(name, text, ast.parse(text, name)) for name, text in texts]


@cache
def src() -> list[Source]:
    return sources("src")


@cache
def package_and_evals() -> list[Source]:
    """The package, and the evals, which are written like it."""
    return src() + sources("evals")


@cache
def python() -> list[Source]:
    return package_and_evals() + sources("tests", "benchmarks")


def tracked() -> dict[str, str]:
    """The text files that git has or would take."""
    command = ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if listing.returncode:
        pytest.skip("this is no git checkout")
    names = (name for name in listing.stdout.split("\0") if name and (ROOT / name).is_file())
    found: dict[str, str] = {}
    for name in names:
        try:
            found[name] = (ROOT / name).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
    return found


def places(pattern: re.Pattern[str], files: dict[str, str]) -> list[str]:
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {match.group()}"
        for name, text in files.items()
        for match in pattern.finditer(text)
    ]


def calls(node: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for child in ast.walk(node):
        if isinstance(child, ast.Call):
            yield ast.unparse(child.func), child


def test_modules_hold_one_idea_and_are_short_enough_to_read_at_once():
    sizes = {source.name: source.text.count("\n") for source in package_and_evals()}
    assert {name: size for name, size in sizes.items() if size > MODULE_LINES} == LONG_MODULES


def test_a_module_is_named_after_what_it_holds():
    stems = {Path(source.name).stem for source in package_and_evals()}
    assert {stem for stem in stems if stem.endswith("ing")} == NOUNS_IN_ING


def test_a_class_name_means_one_thing():
    found: dict[str, list[str]] = {}
    for source in package_and_evals():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(source.name)
    assert {name: where for name, where in found.items() if len(where) > 1} == {}


def test_functions_fit_a_screen():
    found = {
        f"{source.name}:{node.name}": size
        for source in package_and_evals()
        for node in functions(source.tree)
        if (size := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    }
    assert found == LONG_FUNCTIONS


def swallows(handler: ast.ExceptHandler) -> bool:
    caught = "" if handler.type is None else ast.unparse(handler.type)
    broad = handler.type is None or re.search(r"\b(?:Base)?Exception\b", caught) is not None
    return broad and not isinstance(handler.body[-1], ast.Raise)


@pytest.mark.parametrize(
    ("handler", "hides"),
    [
        ("except: pass", True),
        ("except Exception as error: log(error)", True),
        ("except (OSError, BaseException): pass", True),
        ("except BaseException:\n    close()\n    raise", False),
        ("except Exception as error:\n    raise Refused from error", False),
        ("except (OSError, ValueError): pass", False),
    ],
)
def test_a_handler_that_hides_every_failure_is_seen(handler: str, hides: bool):
    tree = ast.parse(f"try: act()\n{handler}")
    assert [swallows(node) for node in ast.walk(tree) if isinstance(node, ast.ExceptHandler)] == [hides]


def test_nothing_catches_everything_and_goes_on():
    found: dict[str, int] = {}
    for source in python():
        handlers = (node for node in ast.walk(source.tree) if isinstance(node, ast.ExceptHandler))
        if count := sum(map(swallows, handlers)):
            found[source.name] = count
    assert found == SWALLOWING_EXCEPTS


def test_no_module_has_a_name_that_says_nothing():
    assert [source.name for source in python() if VAGUE_NAMES & set(re.split(r"[/_.]", source.name))] == []


def test_every_module_says_what_it_is():
    assert [source.name for source in python() if not ast.get_docstring(source.tree)] == []


def test_no_folder_of_tests_is_found_under_the_name_of_a_package():
    specs = {path.name: find_spec(path.name) for path in (ROOT / "tests").iterdir() if path.is_dir()}
    places = {name: spec.submodule_search_locations or [] for name, spec in specs.items() if spec is not None}
    assert [name for name, found in places.items() if str(ROOT / "tests" / name) in found] == []


def leaves_the_encoding_to_chance(name: str, call: ast.Call) -> bool:
    named = {keyword.arg for keyword in call.keywords}
    if "encoding" in named or None in named:
        return False
    method = name.rpartition(".")[2]
    if method in {"read_text", "write_text"} and "." in name:
        return len(call.args) <= (method == "write_text")
    if name in {"open", "io.open", "os.fdopen"}:
        modes = [*call.args[1:2], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
        return not any("b" in str(mode.value) for mode in modes if isinstance(mode, ast.Constant))
    return name.startswith("subprocess.") and bool(named & {"text", "universal_newlines"})


@pytest.mark.parametrize(
    ("source", "by_chance"),
    [
        ("open(path)", True),
        ("open(path, 'w')", True),
        ("open(path, 'rb')", False),
        ("open(path, mode='ab')", False),
        ("open(path, encoding='utf-8')", False),
        ("path.read_text()", True),
        ("path.read_text('utf-8')", False),
        ("path.write_text(words)", True),
        ("path.write_text(words, encoding='utf-8')", False),
        ("subprocess.run(command, text=True)", True),
        ("subprocess.run(command)", False),
        ("workspace.open(path)", False),
    ],
)
def test_an_encoding_left_to_chance_is_seen(source: str, by_chance: bool):
    [(name, call)] = calls(ast.parse(source))
    assert leaves_the_encoding_to_chance(name, call) is by_chance


def test_the_encoding_is_always_written():
    found = [
        f"{source.name}:{call.lineno}"
        for source in python()
        for name, call in calls(source.tree)
        if leaves_the_encoding_to_chance(name, call)
    ]
    assert found == []


def asserting(tree: ast.Module) -> set[str]:
    """The names of functions that check something: themselves, or through another function of the same file."""
    known: set[str] = set()
    while True:
        found = {node.name for node in functions(tree) if checks_something(node, known)}
        if found == known:
            return known
        known = found


def checks_something(node: ast.AST, known: Iterable[str]) -> bool:
    if any(isinstance(child, ast.Assert) for child in ast.walk(node)):
        return True
    names = [name.rpartition(".")[2] for name, _ in calls(node)]
    laws = re.compile(r"raises|warns|fail|run_state_machine_as_test|(?:check|assert|expect|law)(?:_\w+)?|\w+_laws?")
    return any(name in known or laws.fullmatch(name) for name in names)


@pytest.mark.parametrize(
    ("source", "asserts"),
    [
        ("def test_x(): assert True", True),
        ("def test_x():\n    with pytest.raises(ValueError): act()", True),
        ("def test_x(): check_laws(old, new)", True),
        ("def test_x(): machine.check_invariants()", True),
        ("def same(): assert True\ndef both(): same()\ndef test_x(): both()", True),
        ("def test_x(): act()", False),
        ("def same(): assert True\ndef test_x(): act()", False),
    ],
)
def test_a_test_that_asserts_nothing_is_seen(source: str, asserts: bool):
    assert ("test_x" in asserting(ast.parse(source))) is asserts


def test_every_test_asserts_something():
    idle: list[str] = []
    for source in python():
        if Path(source.name).name.startswith("test_"):
            known = asserting(source.tree)
            tests = (node for node in functions(source.tree) if node.name.startswith("test_"))
            idle += [f"{source.name}:{node.lineno} {node.name}" for node in tests if node.name not in known]
    assert idle == []


def test_nothing_is_left_for_later_in_the_sources():
    files = {name: text for name, text in tracked().items() if not name.startswith("examples/")}
    assert places(UNFINISHED, files) == []


def test_no_file_names_a_path_of_somebodys_machine():
    files = {name: text for name, text in tracked().items() if name not in MACHINE_PATHS_AS_DATA}
    assert places(MACHINE_PATH, files) == []


def test_no_file_names_a_package_registry():
    assert places(REGISTRY, tracked()) == []


def test_no_second_lock_file_is_tracked():
    assert "uv.lock" not in {Path(name).name for name in tracked()}


def test_the_readme_names_the_two_commands():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [command for command in ("make run", "make test") if command not in readme] == []


def error_rows() -> list[list[str]]:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in row] for row in rows]


@pytest.mark.covers("RD-house-errors-documented")
def test_every_error_code_is_documented_as_it_behaves():
    written = [(row[0].strip("`"), row[2], row[3], row[5]) for row in error_rows()]
    assert written == [(name, str(code.http), str(code.exit), code.advice) for name, code in CODES.items()]


def test_every_documented_error_code_has_a_meaning_and_says_whether_one_may_go_on():
    assert [row[0] for row in error_rows() if len(row[1]) < len("too short")] == []
    assert [row[4] for row in error_rows()] == ["yes" if code.recoverable else "no" for code in CODES.values()]
