"""The language server: in a real Neovim, with an editor that refuses at any moment, and without its extra."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pycrdt import Doc, Text

from redraft.lsp_server.mirror import EditorMirror, to_plain
from tests.server.serving import begun, ended
from tests.speaking.lines import PATIENCE, environment

if TYPE_CHECKING:
    from pathlib import Path

    from redraft.text.edits import Edit

STORY = "# The pier\n\n😀 The lamp was dark.\n\nThe sea was calm.\n\nThe end.\n"
# A person at Neovim: attach the server, take the first change, type, refuse the second, and save.
NEOVIM = """
local function wait(what, condition)
  assert(vim.wait(PATIENCE, condition, 20), "waited in vain: " .. what)
end
local function lines() return vim.api.nvim_buf_get_lines(0, 0, -1, false) end
local function ask(method, params)
  for _, answer in pairs(vim.lsp.buf_request_sync(0, method, params, PATIENCE)) do
    assert(not answer.error, vim.inspect(answer.error))
    return answer.result
  end
end
local function act(line, title)
  local here = { line = line, character = 0 }
  local uri = { uri = vim.uri_from_bufnr(0) }
  local context = { diagnostics = {} }
  local range = { start = here, ["end"] = here }
  local offered = ask("textDocument/codeAction", { textDocument = uri, range = range, context = context })
  for _, action in ipairs(offered) do
    if vim.startswith(action.title, title) then
      local command = action.command
      return ask("workspace/executeCommand", { command = command.command, arguments = command.arguments })
    end
  end
  error("no action " .. title .. " in " .. vim.inspect(offered))
end
local done, failed = pcall(function()
  vim.cmd("edit FOLDER/story.md")
  local options = { name = "redraft", cmd = COMMAND, root_dir = "FOLDER", flags = { debounce_text_changes = 0 } }
  vim.lsp.buf_attach_client(0, vim.lsp.start_client(options))
  wait("one proposal", function() return lines()[3] == "😀 The lamp was lit." end)
  wait("the other", function() return lines()[5] == "The sea was rough." end)
  wait("their marks", function() return #vim.diagnostic.get(0) == 2 end)
  local first = vim.diagnostic.get(0)[1]
  assert(vim.api.nvim_buf_get_text(0, 2, first.col, 2, first.end_col, {})[1] == "lit", vim.inspect(first))
  assert(#ask("textDocument/codeLens", { textDocument = { uri = vim.uri_from_bufnr(0) } }) == 4)
  act(2, "Accept: dark → lit")
  wait("one mark", function() return #vim.diagnostic.get(0) == 1 end)
  vim.api.nvim_buf_set_lines(0, -1, -1, false, { "Typed 😀." })
  act(4, "Reject")
  wait("no mark", function() return #vim.diagnostic.get(0) == 0 end)
  wait("the sea", function() return lines()[5] == "The sea was calm." end)
  act(0, "Save")
  assert(lines()[8] == "Typed 😀.", vim.inspect(lines()))
end)
if not done then
  io.stderr:write(tostring(failed) .. vim.inspect(lines()))
  vim.cmd("cquit")
end
vim.cmd("qall!")
"""


@pytest.mark.slow
@pytest.mark.covers("RD-lsp-neovim", "RD-lsp-typing")
def test_neovim_accepts_one_change_and_rejects_another_while_it_types(tmp_path: Path):
    if shutil.which("nvim") is None:
        pytest.skip("there is no Neovim: apt-get install neovim")
    folder = tmp_path / "notes"
    folder.mkdir()
    story, script = folder / "story.md", tmp_path / "person.lua"
    story.write_text(STORY, encoding="utf-8")
    command = f'{{ "{sys.executable}", "-W", "error", "-m", "redraft", "lsp" }}'
    parts = {"FOLDER": str(folder), "COMMAND": command, "PATIENCE": str(int(PATIENCE * 1000))}
    text = NEOVIM
    for name, part in parts.items():
        text = text.replace(name, part)
    script.write_text(text, encoding="utf-8")
    server = begun(folder)
    try:
        for old, new in (("was dark", "was lit"), ("was calm", "was rough")):
            asked: Any = {"mode": "propose", "author": "Agent"}
            server.post("/api/tools/read_document", {"path": "story.md"}, **asked)
            server.post("/api/tools/edit_text", {"path": "story.md", "old_text": old, "new_text": new}, **asked)
        words = ["nvim", "--headless", "-u", "NONE", "-i", "NONE", "-S", str(script)]
        done = subprocess.run(
            words, env=environment(folder), capture_output=True, encoding="utf-8", check=False, timeout=2 * PATIENCE
        )
        assert done.returncode == 0, done.stderr
        assert story.read_text(encoding="utf-8") == STORY.replace("was dark", "was lit") + "Typed 😀.\n"
        assert server.get("/api/review")["documents"] == []
    finally:
        ended(server)


@pytest.mark.covers("RD-lsp-extra")
def test_without_its_extra_the_command_says_what_to_install(tmp_path: Path):
    hidden = (
        "import sys\n"
        "class Hidden:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pygls':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Hidden())\n"
    )
    (tmp_path / "sitecustomize.py").write_text(hidden, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "redraft", "lsp"],
        env={**environment(tmp_path), "PYTHONPATH": str(tmp_path)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "run `pip install 'redraft[lsp]'`" in done.stderr
    assert (done.returncode, done.stdout) == (2, "")


class Editor:
    """One kind of line break, a version, and edits that it refuses where they are for an older one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.version = 0
        self.reports: list[str] = []

    def change(self, edits: list[Edit]) -> None:
        for edit in reversed(edits):
            assert self.text.startswith(edit.old, edit.at)
            self.text = self.text[: edit.at] + edit.new + self.text[edit.at + len(edit.old) :]
        self.version += 1
        self.reports.append(self.text)

    def type(self, at: int, words: str) -> None:
        self.text = self.text[:at] + words + self.text[at:]
        self.version += 1
        self.reports.append(self.text)


@pytest.mark.covers("RD-lsp-ledger")
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("seed", range(12))
def test_nothing_typed_is_lost_or_doubled_whatever_crosses(newline: str, seed: int):
    chance = random.Random(seed)
    far: Doc[Any] = Doc()
    far_text = far.get("text", type=Text)
    far_text.insert(0, newline.join(["one 😀 two", "three", "", "four five", ""]))
    room: Doc[Any] = Doc()
    room.get("text", type=Text)
    room.apply_update(far.get_update())
    mirror = EditorMirror(room)
    editor = Editor(to_plain(str(far_text)))
    mirror.begin(editor.text)
    ledger: list[str] = []
    offered: tuple[int, list[Edit]] | None = None
    for number in range(80):
        mark = chr(0x4E00 + number)
        act = chance.randrange(7)
        if act < 2:
            editor.type(chance.randrange(len(editor.text) + 1), mark + "\n" * (chance.random() < 0.25))
            ledger.append(mark)
        elif act == 2:
            text = str(far_text)
            at = chance.randrange(len(text) + 1)
            at += text[max(0, at - 1) : at + 1] == "\r\n"
            far_text.insert(len(text[:at].encode()), mark)
            ledger.append(mark)
        elif act == 3:
            far.apply_update(room.get_update(far.get_state()))
            room.apply_update(far.get_update(room.get_state()))
        elif act == 4:
            if offered is not None and offered[0] == editor.version:
                editor.change(offered[1])
            offered = None
        elif act == 5 and editor.reports:
            mirror.report(editor.reports.pop(0))
        elif not editor.reports:
            edits = mirror.make_offer()
            offered = None if edits is None else (editor.version, edits)
    settle(mirror, editor, far)
    assert to_plain(str(far_text)) == editor.text
    assert [editor.text.count(mark) for mark in ledger] == [1] * len(ledger)
    assert str(far_text).count("\n") == str(far_text).count(newline)


def settle(mirror: EditorMirror, editor: Editor, far: Doc[Any]) -> None:
    """Until everybody has heard everything."""
    while editor.reports:
        mirror.report(editor.reports.pop(0))
    far.apply_update(mirror.room.get_update(far.get_state()))
    mirror.room.apply_update(far.get_update(mirror.room.get_state()))
    while (edits := mirror.make_offer()) is not None:
        editor.change(edits)
        mirror.report(editor.reports.pop(0))
    far.apply_update(mirror.room.get_update(far.get_state()))
