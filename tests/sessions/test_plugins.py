"""The extension for VS Code: packed, installed, and run in Node with an editor that the test plays."""

from __future__ import annotations

import json
import shutil
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from redraft import __version__
from redraft.sessions.installation import extension_files, extension_package

if TYPE_CHECKING:
    from tests.sessions.conftest import AgentDoc

# An editor with one document in it, as far as the extension asks for one; it notes what it was told.
EDITOR = """\
const Module = require("node:module");
const given = JSON.parse(process.argv[1]);
const told = [];
const item = { show() { told.push(["bar", item.text, item.command]); }, hide() { told.push(["bar", null]); } };
const document = {
  uri: { scheme: "file", fsPath: given.file, toString: () => given.file }, languageId: "markdown", isDirty: given.dirty,
  async save() { told.push(["saved"]); return given.saves; }, getText() { return given.selected; },
};
const commands = {};
const editor = { document, viewColumn: 2, selection: { isEmpty: !given.selected } };
// Whatever else the extension asks of its editor exists, and does nothing.
const anything = new Proxy(function () {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => "" : name === "then" ? undefined : anything),
  apply: () => anything,
  construct: () => ({ event: () => anything, fire() {}, dispose() {} }),
});
const having = (known) => Object.assign(Object.create(anything), known);
const vscode = having({
  StatusBarAlignment: { Left: 1 },
  window: having({
    activeTextEditor: editor, visibleTextEditors: [{ viewColumn: 1 }, editor], tabGroups: having({ all: [] }),
    createStatusBarItem: () => item,
    setStatusBarMessage: (said) => told.push(["said", said]),
    showErrorMessage: (said) => told.push(["error", said]),
    showWarningMessage: (said) => told.push(["warning", said]),
    showInformationMessage: async () => undefined,
    showQuickPick: async (items) => items[given.choice],
  }),
  workspace: having({
    getConfiguration: () => ({ get: () => given.program }), textDocuments: [], workspaceFolders: undefined,
    getWorkspaceFolder: () => ({ uri: { fsPath: given.home } }),
  }),
  commands: having({ registerCommand: (name, act) => { commands[name] = act; return {}; } }),
  env: { clipboard: { readText: async () => given.clipboard } },
});
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
(async () => {
  await require(given.extension).activate({ subscriptions: [] });
  const done = await commands[given.command]();
  console.log(JSON.stringify({ told, done, commands: Object.keys(commands) }));
})();
"""
# A `redraft doc` that notes its words and its standard input, and answers as the test says.
PROGRAM = """\
#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done | tail -n +2 | paste -sd '\\t' >> "{home}/words"
[ "$2" = write ] && cat > "{home}/stdin"
[ "$2" = prompt ] && cat "{home}/prompt"
[ "$2" = prompt ] && exit {prompt}
echo "Done with $2."
[ {status} = 0 ] || echo "It failed." >&2
exit {status}
"""
FILE = "my $(touch pwned) notes.md"


class Editor:
    """The editor, played in Node."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.unpacked = home / "unpacked"
        for name, data in extension_files().items():
            place = self.unpacked / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        self.asks({"active": False})

    def asks(self, prompt: dict[str, Any]) -> None:
        (self.home / "prompt").write_text(json.dumps(prompt), encoding="utf-8")

    def run(self, command: str, *, status: int = 0, prompt: int = 0, **more: Any) -> dict[str, Any]:
        (self.home / ".agent-doc").mkdir(exist_ok=True)
        program = self.home / "redraft"
        program.write_text(PROGRAM.format(home=self.home, status=status, prompt=prompt), encoding="utf-8")
        program.chmod(0o755)
        (self.home / "words").unlink(missing_ok=True)
        given = {
            "extension": str(self.unpacked / "dist" / "extension.js"),
            "command": f"redraft.{command}",
            "program": str(program),
            "home": str(self.home),
            "file": str(self.home / FILE),
            "dirty": False,
            "saves": True,
            "selected": "",
            "clipboard": "",
            **more,
        }
        words = ["node", "-e", EDITOR, json.dumps(given)]
        done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False, timeout=30)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    @property
    def calls(self) -> list[list[str]]:
        lines = (self.home / "words").read_text(encoding="utf-8").splitlines()
        return [line.split("\t") for line in lines if not line.startswith("prompt\t--\t")]


@pytest.fixture
def editor(tmp_path: Path) -> Editor:
    if shutil.which("node") is None:
        pytest.skip("node is not installed")
    return Editor(tmp_path)


@pytest.mark.covers("AD-u2")
def test_a_submit_saves_the_document_and_calls_the_program_without_a_shell(editor: Editor):
    ran = editor.run("submit", dirty=True)
    assert editor.calls == [["route", "--", str(editor.home / FILE)]]
    assert ["saved"] in ran["told"]
    assert ["said", "Redraft: Done with route."] in ran["told"]
    assert ran["told"][-1] == ["bar", "$(comment) session", "redraft.submit"]
    assert not (editor.home / "pwned").exists()


def test_a_document_that_cannot_be_saved_is_not_submitted(editor: Editor):
    ran = editor.run("submit", dirty=True, saves=False, prompt=4)
    assert editor.calls == []
    assert ["warning", "Redraft: the document could not be saved."] in ran["told"]
    assert ran["told"][-1] == ["bar", "$(circle-slash) no session", "redraft.claim"]


def test_a_claim_says_on_which_side_the_document_stands(editor: Editor):
    editor.run("claim")
    assert editor.calls == [["claim", "--position", "right", "--", str(editor.home / FILE)]]


def test_an_answer_is_applied_by_the_program_and_a_failure_is_told(editor: Editor):
    assert editor.run("apply", clipboard="The answer.")["done"] is True
    assert (editor.home / "stdin").read_text(encoding="utf-8") == "The answer."
    editor.run("apply", clipboard="The answer.", selected="The chosen part.")
    assert (editor.home / "stdin").read_text(encoding="utf-8") == "The chosen part."
    failed = editor.run("apply", status=75)
    assert failed["done"] is False
    assert "nothing was written" in str(failed["told"])
    missing = editor.run("submit", program=str(editor.home / "missing"))
    assert missing["told"][-2][0] == "error"


@pytest.mark.covers("AD-u11")
def test_the_question_of_a_session_is_shown_and_answered(editor: Editor):
    options = [{"index": 1, "label": "Yes"}, {"index": 2, "label": "No"}]
    editor.asks({"active": True, "question": "Go on?", "options": options})
    ran = editor.run("answer", choice=1)
    assert editor.calls == [["prompt", "--answer", "2", "--", str(editor.home / FILE)]]
    assert ran["told"][0] == ["bar", "$(question) session asks", "redraft.answer"]


def test_the_package_is_what_the_editor_expects_and_has_this_version():
    with zipfile.ZipFile(extension_package()) as archive:
        manifest = ET.fromstring(archive.read("extension.vsixmanifest"))
        package = json.loads(archive.read("extension/package.json"))
        names = archive.namelist()
    identity = manifest.find(".//{*}Identity")
    assert identity is not None
    assert (identity.get("Id"), identity.get("Publisher")) == (package["name"], package["publisher"])
    assert identity.get("Version") == package["version"] == __version__
    assert {"extension/dist/extension.js", "extension/dist/chatPage.js", "extension/media/icon.svg"} <= set(names)
    assert [name for name in names if "node_modules" in name or name.endswith(".ts")] == []


# The menus of the editor that extensions may use without its makers' leave. A server of it lets everybody use the
# others, too, so that no test in one would show that one was used by mistake.
STABLE_MENUS = {
    "scm/change/title", "editor/title", "editor/context", "explorer/context", "view/title", "view/item/context",
    "comments/commentThread/context", "comments/commentThread/title", "commandPalette",
}  # fmt: skip
STABLE_POINTS = {
    "commands", "keybindings", "viewsContainers", "views", "viewsWelcome", "menus", "colors", "configuration",
}  # fmt: skip


@pytest.mark.covers("RD-vscode-stable")
def test_the_extension_uses_only_what_every_editor_lets_it_use():
    package = json.loads(extension_files()["package.json"])
    assert "enabledApiProposals" not in package
    assert set(package["contributes"]) <= STABLE_POINTS
    assert set(package["contributes"]["menus"]) <= STABLE_MENUS
    listed = {command["command"] for command in package["contributes"]["commands"]}
    used = [entry for entries in package["contributes"]["menus"].values() for entry in entries]
    assert {entry["command"] for entry in [*used, *package["contributes"]["keybindings"]]} <= listed


@pytest.mark.covers("AD-plugin-list", "AD-plugin-install", "AD-plugin-update", "AD-plugin-directory")
def test_the_extension_is_unpacked_where_the_editor_looks_and_takes_the_place_of_an_older_one(
    agent_doc: AgentDoc, tmp_path: Path
):
    agent_doc.patching.setenv("PATH", str(tmp_path / "nothing"))
    assert agent_doc.ok("plugin", "list") == "vscode     not installed\njetbrains  not available yet\n"
    assert agent_doc.run("plugin", "install", "vscode").status == 4, "there is no editor"
    extensions = tmp_path / ".vscode/extensions"
    (extensions / "other.thing-1.0.0").mkdir(parents=True)
    assert agent_doc.run("plugin", "update", "vscode").status == 4, "there is nothing to update"
    agent_doc.ok("plugin", "install", "vscode")
    target = extensions / f"redraft.redraft-{__version__}"
    found = {str(path.relative_to(target)): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert found == extension_files()
    assert f"{__version__} installed" in agent_doc.ok("plugin", "list")
    assert "up to date" in agent_doc.ok("plugin", "update", "vscode")
    target.rename(extensions / "redraft.redraft-0.0.1")
    agent_doc.ok("plugin", "update", "vscode")
    assert {path.name for path in extensions.iterdir()} == {"other.thing-1.0.0", target.name}
    done = agent_doc.run("plugin", "install", "jetbrains")
    assert done.status == 4
    assert "no plugin for JetBrains yet" in done.err


@pytest.mark.covers("AD-plugin-install")
def test_an_editor_with_a_command_installs_the_package_itself(agent_doc: AgentDoc, tmp_path: Path):
    code = tmp_path / "bin/code"
    code.parent.mkdir()
    code.write_text(f'#!/bin/sh\necho "$1 $3" > {tmp_path}/words\ncp "$2" {tmp_path}/got.vsix\n', encoding="utf-8")
    code.chmod(0o755)
    agent_doc.patching.setenv("PATH", str(code.parent), prepend=":")
    agent_doc.ok("plugin", "install", "vscode")
    assert (tmp_path / "words").read_text(encoding="utf-8") == "--install-extension --force\n"
    assert (tmp_path / "got.vsix").read_bytes() == Path(extension_package()).read_bytes()
    code.write_text("#!/bin/sh\necho no room >&2\nexit 1\n", encoding="utf-8")
    done = agent_doc.run("plugin", "install", "vscode")
    assert done.status != 0
    assert "no room" in done.err
