import { expect, test } from "vitest";
import { formatAge } from "@/ui/format";
import { describeCall, describeFindings, describeWish, formatMoney, formatSpent } from "./descriptions";
import { groupExchanges, groupParts } from "./exchanges";
import type { Call, Part, Question } from "./jobView";
import { resolveLink } from "./links";

const DOCUMENTS = new Set(["story/chapter-1.md", "a b.md"]);

test("links lead to the web, to documents, and nowhere else", () => {
  expect(resolveLink("https://example.org/x", DOCUMENTS)).toEqual({ to: "web", href: "https://example.org/x" });
  expect(resolveLink("mailto:a@example.org", DOCUMENTS)?.to).toBe("web");
  expect(resolveLink("story/chapter-1.md#L12", DOCUMENTS)).toEqual({
    to: "document",
    path: "story/chapter-1.md",
    line: 12,
  });
  expect(resolveLink("story/chapter-1.md:3", DOCUMENTS)).toEqual({
    to: "document",
    path: "story/chapter-1.md",
    line: 3,
  });
  expect(resolveLink("./a%20b.md", DOCUMENTS)).toEqual({ to: "document", path: "a b.md" });
  for (const bad of [
    "javascript:alert(1)",
    "javascript:1",
    "data:text/html,x",
    "file:///etc/passwd",
    "/api/visit",
    "%E0%A4%A",
  ]) {
    expect(resolveLink(bad, DOCUMENTS), bad).toBeNull();
  }
});

const line = (role: string, text: string, job_id: string | null, data = {}) => ({ role, text, ts: "", job_id, data });

test("a chat is what was asked, each with all that came of it", () => {
  const found = groupExchanges([
    line("user", "One", "j1"),
    line("tool", "read_document a.md", "j1", { ok: true }),
    line("user", "Two", "j2"),
    line("assistant", "First answer", "j1"),
    line("assistant", "Second answer", "j2"),
  ]);
  expect(found.map((each) => [each.asked, each.answer, each.calls.length])).toEqual([
    ["One", "First answer", 1],
    ["Two", "Second answer", 0],
  ]);
});

const call = (id: string, more: Partial<Call> = {}): Call => ({
  kind: "call",
  id,
  tool: "read_document",
  arguments: "{'path': 'a.md'}",
  summary: "",
  diffs: [],
  facts: {},
  ...more,
});

test("an answer that was said piece by piece between calls is not repeated; what it adds is", () => {
  const parts: Part[] = [{ kind: "words", text: "I look." }, call("1"), { kind: "words", text: "Done." }];
  expect(groupParts(parts, "I look. Done.").map((group) => group.kind)).toEqual(["words", "calls", "words"]);
  const more = groupParts(parts, "I look. Done.\n\nLeft out: a.png");
  expect(more.at(-1)).toEqual({ kind: "words", text: "Left out: a.png" });
});

test("calls that follow one another are one group, and last words are not said twice", () => {
  const parts: Part[] = [
    { kind: "words", text: "I look." },
    call("1"),
    call("2"),
    { kind: "words", text: "Done… (9 characters)" },
  ];
  expect(groupParts(parts, null).map((group) => group.kind)).toEqual(["words", "calls", "words"]);
  expect(groupParts(parts, "Done at last").map((group) => group.kind)).toEqual(["words", "calls", "words"]);
  expect(groupParts(parts, "Done at last").at(-1)).toEqual({ kind: "words", text: "Done at last" });
  expect(groupParts([], null)).toEqual([]);
});

test("acts and figures are told as people say them", () => {
  expect(describeCall(call("1"))).toBe("Reading a.md");
  expect(describeCall(call("1", { ok: true }))).toBe("Read a.md");
  expect(describeCall(call("1", { ok: true, tool: "new_tool", arguments: "" }))).toBe("new tool");
  expect(describeFindings(call("1", { facts: { document_count: 1, matche_count: 2, error: "x" } }))).toBe(
    "1 document, 2 matches",
  );
  expect([formatMoney(0), formatMoney(0.003), formatMoney(1.5)]).toEqual(["$0", "$0.0030", "$1.50"]);
  expect(formatSpent({ input: 0, output: 0, usd: 0, unpriced: 0 })).toBe("");
  expect(formatSpent({ input: 1234, output: 5, usd: 0, unpriced: 1 })).toBe("1.2k tokens in, 5 out, price unknown");
  const question = { action: "destroy and move", paths: ["a", "b"] } as Question;
  expect(describeWish(question)).toBe("delete and move 2 documents");
});

test("ages are in words, and dates when they are old", () => {
  const now = new Date("2026-03-10T12:00:00Z");
  const at = (seconds: number) => formatAge(new Date(now.getTime() - seconds * 1000), now);
  expect([at(5), at(120), at(7200), at(90_000)]).toEqual(["just now", "2 minutes ago", "2 hours ago", "yesterday"]);
  expect(at(20 * 86_400)).toBe("Feb 18, 2026");
});
