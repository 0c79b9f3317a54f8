"""`layout` and `sync` on a real tmux: panes moved and never ended, and geometry that is looked at."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.sessions.tmux.layout import grid_of, is_arranged
from redraft.sessions.tmux.panes import Pane, list_panes

if TYPE_CHECKING:
    from tests.sessions.conftest import AgentDoc, Tmux

SLEEP = ("sleep", "300")


def register(agent_doc: AgentDoc, windows: dict[str, str] | None = None, **documents: str) -> None:
    """Documents `a.md`, `b.md` ... with their panes."""
    entries = {
        name: {
            "pane": pane,
            "file": f"{name}.md",
            "cwd": str(agent_doc.folder),
            "window": (windows or {}).get(name, ""),
        }
        for name, pane in documents.items()
    }
    for name in documents:
        agent_doc.write(f"{name}.md", f"---\nagent_doc_session: {name}\n---\n")
    agent_doc.write(".agent-doc/sessions.json", json.dumps(entries))


def shape(tmux: Tmux, pane: str) -> list[list[str]]:
    """The columns of a pane's window as tmux shows them, found by looking at the left edges alone."""
    window = tmux.ask(pane, "window_id")
    inside = sorted(
        (each for each in list_panes().values() if each.window == window), key=lambda each: (each.left, each.top)
    )
    return [[each.id for each in inside if each.left == left] for left in sorted({each.left for each in inside})]


@pytest.mark.slow
@pytest.mark.covers("AD-sync-args", "AD-sync-grid", "AD-sync-fast", "AD-sync-detach", "AD-sync-attach",
                    "AD-sync-reorder", "AD-sync-verify")  # fmt: skip
def test_sync_makes_the_grid_from_any_state_and_leaves_it_alone_once_it_is_there(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b, shell = tmux.split(a, *SLEEP), tmux.split(a, *SLEEP, way="-v")
    c, d = tmux.window("work", *SLEEP), tmux.window("work", *SLEEP)
    register(agent_doc, a=a, b=b, c=c, d=d)
    everyone = set(list_panes())
    assert "Arranged %" in agent_doc.ok("sync", "--col", "a.md,b.md", "--col", "c.md,d.md", "--focus", "c.md")
    assert shape(tmux, a) == [[a, b], [c, d]]
    assert tmux.ask("work:", "pane_id") == c
    before = tmux.ask(a, "window_layout")
    assert "Already arranged" in agent_doc.ok("sync", "--col", "a.md,b.md", "--col", "c.md,d.md")
    assert tmux.ask(a, "window_layout") == before
    # The same panes in the same order, but in another geometry: that counts too.
    agent_doc.ok("sync", "--col", "a.md", "--col", "b.md", "--col", "c.md", "--col", "d.md")
    assert shape(tmux, a) == [[a], [b], [c], [d]]
    agent_doc.ok("sync", "--col", "a.md,b.md,c.md,d.md")
    assert shape(tmux, a) == [[a, b, c, d]]
    heights = [pane.height for pane in list_panes().values() if pane.window == tmux.ask(a, "window_id")]
    assert max(heights) - min(heights) <= 2, "they share the height"
    agent_doc.ok("sync", "--col", "d.md,c.md", "--col", "b.md")
    assert shape(tmux, d) == [[d, c], [b]]
    assert set(list_panes()) == everyone, "nobody was ended"
    assert tmux.ask(shell, "window_id") != tmux.ask(d, "window_id")


@pytest.mark.slow
@pytest.mark.covers("AD-sync-window-dead", "AD-registry-shared")
def test_sync_takes_the_window_that_was_named_or_another_of_the_project(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b, stranger = tmux.window("work", *SLEEP), tmux.window("work", *SLEEP)
    there, window = tmux.ask(stranger, "window_id"), tmux.ask(b, "window_id")
    register(agent_doc, {"b": window}, a=a, b=b, c=b)
    agent_doc.ok("sync", "--window", there, "--col", "a.md", "--col", "b.md,c.md")
    assert tmux.ask(a, "window_id") == there
    assert shape(tmux, a) == [[a], [b]], "two documents share a pane, which stands there once"
    register(agent_doc, {"b": there}, a=a, b=b)
    agent_doc.ok("sync", "--window", "@99", "--col", "b.md", "--col", "a.md")
    assert shape(tmux, a) == [[b], [a]]
    assert tmux.ask(a, "window_id") == there
    done = agent_doc.run("sync", "--col", "missing.md")
    assert done.status == 4
    assert "skipped" in done.err


@pytest.mark.slow
@pytest.mark.covers("AD-sync-verify")
def test_sync_says_so_where_the_window_is_too_small_or_the_panes_stand_elsewhere(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    others = [tmux.window("work", *SLEEP) for _ in range(8)]
    tmux.run("resize-window", "-t", a, "-x", "6", "-y", "4")
    names = "abcdefghi"
    register(agent_doc, None, **dict(zip(names, [a, *others], strict=True)))
    done = agent_doc.run("sync", *(word for name in names for word in ("--col", f"{name}.md")))
    assert done.status == 1
    assert "is the window large enough?" in done.err or "tmux join-pane failed" in done.err
    assert len(list_panes()) == 9, "and nobody was ended"
    # Somebody's own tmux puts panes elsewhere than they were asked to stand.
    tmux.run("resize-window", "-t", a, "-x", "200", "-y", "50")
    tmux.run("set-hook", "-g", "after-select-layout", "select-layout even-vertical")
    done = agent_doc.run("sync", "--col", "b.md", "--col", "a.md")
    assert (done.status, "The panes could not be arranged" in done.err) == (1, True)


@pytest.mark.slow
@pytest.mark.covers("AD-layout-args", "AD-layout-resolve", "AD-layout-target", "AD-layout-break-out", "AD-layout-join",
                    "AD-layout-focus", "AD-layout-skip")  # fmt: skip
def test_layout_joins_documents_where_most_of_them_are_and_leaves_shells_alone(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b, shell, other = (tmux.split(a, *SLEEP) for _ in range(3))
    c = tmux.window("work", *SLEEP)
    register(agent_doc, a=a, b=b, c=c, other=other, dead="%999")
    (agent_doc.folder / "plain.md").write_text("No session.\n", encoding="utf-8")
    done = agent_doc.run("layout", "c.md", "a.md", "b.md", "dead.md", "plain.md", "--split", "v")
    assert done.status == 0
    assert done.err.count("It was skipped.") == 2
    window = tmux.ask(a, "window_id")
    assert set(tmux.inside(window)) == {a, b, c, shell}, "the pane of another document has left, the shell has not"
    assert next(column for column in shape(tmux, a) if a in column)[:3] == [c, a, b], (
        "stacked, in the order that was named"
    )
    assert tmux.ask("work:", "pane_id") == c


@pytest.mark.slow
@pytest.mark.covers("AD-layout-rearranges", "AD-layout-args")
def test_layout_rearranges_panes_that_are_in_the_window_already(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b, c = (tmux.split(a, *SLEEP) for _ in range(2))
    tmux.run("select-layout", "-t", a, "even-horizontal")
    register(agent_doc, a=a, b=b, c=c)
    for names, split in (("abc", "v"), ("cab", "v"), ("cab", "h"), ("bca", "h"), ("abc", "v"), ("cba", "h")):
        panes = [{"a": a, "b": b, "c": c}[name] for name in names]
        agent_doc.ok("layout", *(f"{name}.md" for name in names), "--split", split)
        assert shape(tmux, a) == ([panes] if split == "v" else [[pane] for pane in panes])
        sizes = [int(tmux.ask(pane, "pane_height" if split == "v" else "pane_width")) for pane in panes]
        assert max(sizes) - min(sizes) <= 2, "in equal shares"
        assert tmux.ask("work:", "pane_id") == panes[0], "the first has the focus"
        # What stands so already is left alone, also where somebody has made one of the panes larger.
        tmux.run("resize-pane", "-t", panes[0], "-y" if split == "v" else "-x", "20")
        before = tmux.ask(a, "window_layout")
        agent_doc.ok("layout", *(f"{name}.md" for name in names), "--split", split)
        assert tmux.ask(a, "window_layout") == before


@pytest.mark.slow
@pytest.mark.covers("AD-layout-single", "AD-layout-focus")
def test_layout_of_a_single_document_only_brings_it_to_the_front(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b = tmux.split(a, *SLEEP)
    other = tmux.window("work", *SLEEP)
    register(agent_doc, a=a, b=b, other=other)
    window = tmux.ask(a, "window_id")
    agent_doc.ok("layout", "other.md")
    assert tmux.ask("work:", "pane_id") == other
    agent_doc.ok("layout", "b.md")
    assert tmux.ask("work:", "pane_id") == b
    assert set(tmux.inside(window)) == {a, b}, "and nobody leaves"


@pytest.mark.slow
@pytest.mark.covers("AD-layout-window-filter", "AD-layout-break-out")
def test_layout_of_a_window_wants_only_what_is_registered_for_it(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    b, c, shell = (tmux.split(a, *SLEEP) for _ in range(3))
    other = tmux.window("work", *SLEEP)
    window = tmux.ask(a, "window_id")
    register(agent_doc, {"a": window, "b": window, "c": "@77", "other": window}, a=a, b=b, c=c, other=other)
    agent_doc.ok("layout", "a.md", "c.md", "other.md", "--window", window)
    assert set(tmux.inside(window)) == {a, other, shell}, "what is registered for another window is not wanted here"
    assert tmux.ask(other, "pane_top") == tmux.ask(a, "pane_top"), "side by side"
    assert int(tmux.ask(other, "pane_left")) > int(tmux.ask(a, "pane_left"))


@pytest.mark.slow
@pytest.mark.covers("AD-layout-target")
def test_layout_of_two_windows_with_one_document_each_takes_the_one_with_more_panes(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("work", *SLEEP)
    tmux.split(a, *SLEEP)
    c = tmux.window("work", *SLEEP)
    register(agent_doc, a=a, c=c)
    agent_doc.ok("layout", "c.md", "a.md")
    assert tmux.ask(c, "window_id") == tmux.ask(a, "window_id")


@pytest.mark.slow
@pytest.mark.covers("AD-layout-skip")
def test_layout_fails_where_no_document_has_a_session(agent_doc: AgentDoc, tmux: Tmux):
    tmux.session("work", *SLEEP)
    agent_doc.write("plain.md", "No session.\n")
    assert agent_doc.run("layout", "plain.md").status == 4


@pytest.mark.slow
@pytest.mark.covers("AD-route-dead-sync", "AD-route-dead")
def test_a_document_that_is_claimed_on_the_way_brings_its_window_together(agent_doc: AgentDoc, tmux: Tmux):
    a = tmux.session("claude", "cat")
    window = tmux.ask(a, "window_id")
    strayed = tmux.window("claude", *SLEEP)
    register(agent_doc, {"b": window}, b=strayed)
    agent_doc.write("new.md", "Text.\n")
    agent_doc.ok("route", "new.md")
    assert set(tmux.inside(window)) == {a, strayed}, "what is registered for the window is there again"
    assert tmux.ask("claude:", "pane_id") == a
    assert "/agent-doc new.md" in tmux.run("capture-pane", "-p", "-t", a)


def drawn(columns: list[list[int]], width: int, height: int) -> tuple[list[list[str]], dict[str, Pane]]:
    """Panes as tmux would place them: a column of borders between columns, a line of borders between panes."""
    live, names, left = dict[str, Pane](), list[list[str]](), 0
    for heights in columns:
        top, column = 0, list[str]()
        for size in heights:
            name = f"%{len(live)}"
            live[name] = Pane(name, "@1", "1", left, top, width, size, height, 1, active=False, session="s")
            column.append(name)
            top += size + 1
        names.append(column)
        left += width + 1
    return names, live


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4), st.data())
def test_a_grid_is_recognised_and_no_other_is_taken_for_it(counts: list[int], data: st.DataObject):
    height = 59
    columns = [[(height - count + 1) // count] * count for count in counts]
    for column in columns:
        column[-1] += height - (sum(column) + len(column) - 1)
    names, live = drawn(columns, 20, height)
    assert is_arranged(grid_of(names), "@1", live)
    flat = [name for column in names for name in column]
    other_order = data.draw(st.permutations(flat))
    cuts = data.draw(st.lists(st.integers(1, len(flat)), max_size=3))
    edges = [0, *sorted(set(cuts) - {len(flat)}), len(flat)]
    other = [list(other_order[start:end]) for start, end in pairwise(edges)]
    assert is_arranged(grid_of(other), "@1", live) == (other == names)
    assert not is_arranged(grid_of(names), "@2", live)


@given(st.lists(st.lists(st.sampled_from(["%1", "%2", "%3"]), max_size=4), max_size=4))
def test_a_pane_stands_in_a_grid_once_and_first_come_first_served(columns: list[list[str]]):
    grid = grid_of(columns)
    flat = [pane for column in grid for pane in column]
    assert flat == list(dict.fromkeys(pane for column in columns for pane in column))
    assert all(grid)
