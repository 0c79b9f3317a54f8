import { beforeEach, expect, test } from "vitest";
import { followMoves, followTabs, onMove } from "./documentMoves";
import { useStore } from "./store";

const tab = (tab_id: string, path: string) => ({ tab_id, path });

beforeEach(() => {
  useStore.setState({
    order: ["one.md", "two.md"],
    active: "one.md",
    views: { "one.md": "rich" },
    tabs: { "one.md": "tab_1", "two.md": "tab_2" },
  });
});

test("documents that trade their names, or follow on one another, stay apart", () => {
  followTabs([tab("tab_1", "two.md"), tab("tab_2", "three.md")]);
  const { order, active, views, tabs } = useStore.getState();
  expect(order).toEqual(["two.md", "three.md"]);
  expect(active).toBe("two.md");
  expect(views["two.md"]).toBe("rich");
  expect(tabs).toEqual({ "two.md": "tab_1", "three.md": "tab_2" });
  followTabs([tab("tab_1", "three.md"), tab("tab_2", "two.md")]);
  expect(useStore.getState().order).toEqual(["three.md", "two.md"]);
  expect(useStore.getState().active).toBe("three.md");
});

test("a name that nobody uses any more does not stand there twice", () => {
  followTabs([tab("tab_1", "two.md")]);
  expect(useStore.getState().order).toEqual(["two.md"]);
});

test("whoever holds documents hears of it before the names are shown", () => {
  const heard: [string, string | null][] = [];
  onMove((moves) => {
    for (const to of moves.values()) heard.push([to, useStore.getState().active]);
  });
  followMoves(new Map([["one.md", "1.md"]]));
  expect(heard).toEqual([["1.md", "one.md"]]);
});
