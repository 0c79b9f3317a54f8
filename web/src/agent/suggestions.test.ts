import { expect, test } from "vitest";
import { findName, listSuggestions } from "./suggestions";

const STORY =
  "The letter came. Ines read it. They were in the tin. They had always been at Sallow Point, at Sallow Point.\n" +
  "Present: Ines, the cat | Ines | on the last of September, and the first of September they left.";

test("a name is a word that always has its capital, and stands inside a sentence", () => {
  expect(findName(STORY)).toBe("Ines");
  expect(findName("Then it rained. Then they went. and then nothing")).toBeNull();
  expect(findName("")).toBeNull();
});

test("one of three suggestions leads to changes, whatever the folder holds", () => {
  const folders = [
    [{ path: "story/chapter-1.md", size: 900 }],
    [
      { path: "a.md", size: 3 },
      { path: "todo.md", size: 1 },
    ],
    [{ path: "data.json", size: 10 }],
    [],
  ];
  for (const documents of folders) {
    const found = listSuggestions(documents, STORY);
    expect(found.filter(({ why }) => why.includes("review") || why.includes("accept"))).toHaveLength(1);
  }
});

test("a new name is one that the documents do not know", () => {
  const asked = listSuggestions([{ path: "a.md", size: 3 }], `${STORY} Marta came along.`).map(({ ask }) => ask);
  expect(asked).toContain("Rename Ines to Robin everywhere");
});

test("the document in front is spoken of, and the longest where none is", () => {
  const documents = [
    { path: "long.md", size: 900 },
    { path: "README.md", size: 20 },
  ];
  expect(listSuggestions(documents, "")[0]?.ask).toBe("Summarise long.md in 3 sentences");
  expect(listSuggestions(documents, "", "README.md")[0]?.ask).toBe("Summarise README.md in 3 sentences");
});
