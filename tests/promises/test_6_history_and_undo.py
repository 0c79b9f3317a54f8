"""Promise 6: every write is in the history with its author, and can be undone whole, however it was accepted.

Two agents edit, make, move and delete documents, the person decides, types, saves and goes back to a checkpoint, and
another program writes, too. Undoing all of it from the last turn to the first must give the first bytes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.promises.doors import Folder, Json, Lines, call, chance, fingerprint, number_of, rounds, served

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow
ACTS = 10
FILES = ("one.md", "two.md")


class Ledger:
    """Two documents that several hands write, and after each act what the disk held."""

    def __init__(self, folder: Folder, agents: dict[str, Lines], seed: int) -> None:
        self.dice = chance("history", seed)
        self.folder = folder
        self.agents = agents
        self.place = f"{seed}"
        self.names = [f"{seed}/{name}" for name in FILES]
        self.done = [f"seed {seed}"]
        self.first: dict[str, bytes] = {}
        for name in self.names:
            words = [self.dice.choice(["ab", "abc", "de", "fab"]) for _ in range(20)]
            lines = [" ".join(words[at : at + 4]) + f" k{at}k\r\n" for at in range(0, 20, 4)]
            self.first[name] = "".join(lines).encode()
            folder.put(name, self.first[name])
        self.reasons = list[str]()  # why the last undo was refused
        self.began = self.newest()

    def newest(self) -> int:
        turns = self.folder.server.get("/api/turns", limit=1)["turns"]
        return turns[0]["turn"] if turns else 0

    def on_disk(self) -> dict[str, str]:
        return fingerprint(self.folder.path / self.place)

    def told(self) -> str:
        return "; ".join(self.done)

    def check_written(self, before: dict[str, str], newest: int, author: str) -> None:
        """Whatever changed on the disk is in a turn of this author."""
        after = self.on_disk()
        changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        turns = self.folder.turns(newest)
        recorded = {path for turn in turns if turn["author"]["name"] == author for path in turn["paths"]}
        missing = {name for name in changed if name.removeprefix(f"{self.folder.path}/") not in recorded}
        assert not missing, f"{self.told()}: {missing} changed, {author} has {turns}"

    def agent_edits(self) -> str:
        author = self.dice.choice(list(self.agents))
        name = self.dice.choice(self.seen() or [""])
        text, version = self.folder.text(name) if name else ("", "")
        marks = re.findall(r"k\d+k", text)
        if not marks:
            return author
        mark = self.dice.choice(marks)
        new = self.dice.choice([f"{author.upper()} {mark}", f"{mark} X{len(self.done)}", f"{mark} ab\r\nab"])
        done, answer = call(self.agents[author], "edit_text", path=name, version=version, old_text=mark, new_text=new)
        self.done.append(f"{author} {mark}->{new!r} in {name}: {answer.get('turn', answer.get('error'))}")
        # Another agent's words wait at that place, or another proposed to delete the document: for agents it is gone.
        leaving = any(hunk["kind"] == "deleted" for hunk in self.folder.hunks(name))
        assert done or answer["error"] == ("not_found" if leaving else "conflict"), self.told()
        return author

    def agent_changes_files(self) -> str:
        """Make, move or delete a document."""
        author = self.dice.choice(list(self.agents))
        name, new = self.dice.choice(self.seen() or ["none.md"]), f"{self.place}/new-{len(self.done)}.md"
        call_of: dict[str, Json] = {
            "create_document": {"path": new, "content": "Made.\r\n"},
            "move_document": {"from_path": name, "to_path": new},
            "delete_document": {"path": name},
        }
        tool = self.dice.choice(list(call_of))
        done, answer = call(self.agents[author], tool, **call_of[tool])
        self.done.append(f"{author} {tool} {call_of[tool]}: {answer.get('turn', answer.get('error'))}")
        assert done or answer["error"] in ("conflict", "not_found", "version_mismatch"), self.told()
        return author

    def seen(self) -> list[str]:
        """The documents that the person sees, proposed ones included."""
        entries = self.folder.server.get("/api/tree", limit=10_000)["entries"]
        shown = [entry["path"] for entry in entries if entry["path"].startswith(f"{self.place}/")]
        ask = self.folder.server.request
        return [path for path in shown if ask("GET", "/api/documents", query={"path": path}).status == 200]

    def restore(self) -> str:
        """The documents of some turn as they were before it."""
        turns = [turn["turn"] for turn in self.turns() if turn["state"] == "applied"]
        if turns:
            number = self.dice.choice(turns)
            answer = self.folder.server.request("POST", f"/api/turns/{number}/restore")
            assert answer.status in (200, 409), (self.told(), answer.body)
            self.done.append(f"restore {number}: {number_of(answer.json.get('turn'))}")
        return "you"

    def outside_writes(self) -> str:
        """Another program adds a line to a document that was seen."""
        name = self.dice.choice(self.seen() or [""])
        if name and (self.folder.path / name).exists() and not self.folder.hunks(name):
            self.folder.text(name)
            self.folder.put(name, self.folder.bytes_of(name) + f"outside {len(self.done)}\r\n".encode())
            self.folder.text(name)
            self.done.append(f"outside wrote {name}")
        return "outside"

    def decide(self) -> str:
        waiting = [draft["path"] for draft in self.folder.server.get("/api/review")["documents"]]
        name = self.dice.choice([path for path in waiting if path.startswith(f"{self.place}/")] or self.names)
        hunks = self.folder.hunks(name)
        if hunks:
            verdict = self.dice.choice(["accept", "accept", "reject"])
            chosen = [hunk["hunk_id"] for hunk in self.dice.sample(hunks, self.dice.randint(1, len(hunks)))]
            _, answer = self.folder.decide(verdict, name, chosen)
            self.done.append(f"{verdict} {len(chosen)} of {len(hunks)} in {name}: {number_of(answer.get('turn'))}")
        return "you"

    def type_and_save(self) -> str:
        name = self.dice.choice(self.seen() or [""])
        if not name:
            return "you"
        text, version = self.folder.text(name)
        at = self.dice.randint(0, len(text))
        assert self.folder.type(name, at, "", "7", version), self.told()
        turn = self.folder.save(name)
        self.done.append(f"typed at {at} of {name} and saved: {number_of(turn)}")
        return "you"

    def undo(self, number: int) -> bool:
        """Take a turn back. What is refused names its conflict and changes nothing."""
        before, newest = self.on_disk(), self.newest()
        done, answer = self.folder.undo(number)
        self.done.append(f"undo {number}: {done or answer}")
        if done:
            self.check_written(before, newest, "you")
        else:
            assert self.on_disk() == before, self.told()
            assert answer.get("conflicts") or answer.get("message"), self.told()
            conflicts: list[Json] = answer.get("conflicts", [])
            assert all(conflict["path"] and conflict["reason"] for conflict in conflicts), self.told()
            self.reasons = [conflict["reason"] for conflict in conflicts]
        return done

    def undo_with_advice(self, number: int) -> bool:
        """Take a turn back. Where typing that an undone save left stands in the way, it says so: the person discards
        that, and then it goes."""
        if self.undo(number):
            return True
        typing = {found[1] for reason in self.reasons if (found := re.search(r"`redraft discard (\S+)`", reason))}
        for name in typing:
            turn = self.folder.server.post(f"/api/tabs/{self.folder.tab(name)['tab_id']}/discard")["turn"]
            self.done.append(f"discarded typing in {name}: {number_of(turn)}")
        return bool(typing) and self.undo(number)

    def turns(self) -> list[Json]:
        """The turns of these documents, the newest first."""
        return self.folder.turns(self.began)

    def state(self, number: int) -> str:
        return next(turn["state"] for turn in self.turns() if turn["turn"] == number)

    def undo_from_the_last(self) -> bool:
        """Take everything back, the newest first; whether something was refused."""
        standing = ("applied", "proposed")
        numbers = [turn["turn"] for turn in self.turns()]
        taken = [self.undo_with_advice(number) for number in numbers if self.state(number) in standing]
        return not all(taken)

    def play(self) -> None:
        for _ in range(ACTS):
            before, newest = self.on_disk(), self.newest()
            acts = [self.agent_edits, self.agent_edits, self.decide, self.decide, self.type_and_save]
            acts += [self.agent_changes_files, self.restore, self.outside_writes]
            author = self.dice.choice(acts)()
            # What another program goes on writing is one turn with what it wrote before.
            self.check_written(before, self.began if author == "outside" else newest, author)
        refused = False
        if self.dice.random() < 0.5:
            numbers = [turn["turn"] for turn in self.turns()]
            for number in self.dice.sample(numbers, self.dice.randint(1, len(numbers))):
                refused |= not self.undo(number)
            # What was taken back and brought again may be refused once more; it must say so and change nothing.
            refused |= self.undo_from_the_last()
        else:
            assert not self.undo_from_the_last(), self.told()
        if refused:
            return
        for name in self.names:
            assert self.folder.hunks(name) == [], self.told()
            assert self.folder.bytes_of(name) == self.first[name], f"{self.told()}: {self.folder.bytes_of(name)!r}"
        assert len(self.on_disk()) == len(self.first), f"{self.told()}: {self.on_disk()}"


@pytest.mark.covers("P6")
def test_every_write_has_its_author_and_undoing_from_the_last_to_the_first_gives_the_first_bytes(tmp_path: Path):
    with served(tmp_path) as folder:
        agents = {"alpha": folder.agent("alpha"), "beta": folder.agent("beta", "--mode", "propose")}
        for seed in rounds(5):
            Ledger(folder, agents, seed).play()
        for agent in agents.values():
            assert agent.close() == ""
