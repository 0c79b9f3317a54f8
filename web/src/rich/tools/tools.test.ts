import { classHighlighter, highlightTree } from "@lezer/highlight";
import { describe, expect, it } from "vitest";
import paths from "../../../../tests/vectors/rich/image-paths.json?raw";
import { matchActions, parseLanguage, parseLinkAddress } from "./actions";
import { imageAddress, imagePath } from "./imagePaths";
import { altText } from "./imageUpload";
import { LANGUAGES, languageName, loadParser, parserOf } from "./languages";

interface Vector {
  document: string;
  src: string;
  path: string | null;
}

describe("pictures", () => {
  it("are the files that the server takes them for", () => {
    for (const { document, src, path } of JSON.parse(paths) as Vector[])
      expect(imagePath(document, src), src).toBe(path);
  });

  it("have an address only in the folder", () => {
    expect(imageAddress("a/note.md", "my lamp.png")).toBe("/api/images?path=a%2Fmy%20lamp.png");
    expect(imageAddress("note.md", "https://x.org/a.png")).toBeNull();
  });

  it("are described by their name where it says something", () => {
    expect(altText("old_lamp-house.png")).toBe("old lamp house");
    expect(["image.png", "Screenshot 12.png", "IMG_0042.jpg", ""].map(altText)).toEqual(["", "", "", ""]);
    expect(altText("[x](y).png")).toBe("x(y)");
  });
});

describe("the slash menu", () => {
  it("offers everything for nothing, and the nearest first", () => {
    expect(matchActions("").length).toBe(13);
    expect(matchActions("head").map(({ id }) => id)).toEqual(["heading1", "heading2", "heading3"]);
    expect(matchActions("li")[0]?.id).toBe("horizontalRule");
    expect(matchActions("todo").map(({ id }) => id)).toEqual(["taskList"]);
    expect(matchActions("list").map(({ id }) => id)).toEqual(["bulletList", "orderedList", "taskList"]);
    expect(matchActions("xyz")).toEqual([]);
  });
});

describe("what is typed into fields", () => {
  it("is an address or none", () => {
    expect(parseLinkAddress("https://x.org/a b")).toBe("https://x.org/a%20b");
    expect(parseLinkAddress("www.x.org")).toBe("https://www.x.org");
    expect(parseLinkAddress("x.org/page")).toBe("https://x.org/page");
    expect(parseLinkAddress("ines@x.org")).toBe("mailto:ines@x.org");
    expect(["map.md", "../a/b.md", "#part", "/x"].map(parseLinkAddress)).toEqual([
      "map.md",
      "../a/b.md",
      "#part",
      "/x",
    ]);
    for (const bad of ["", "  ", "javascript:alert(1)", "data:text/html,x", "vbscript:x"]) {
      expect(parseLinkAddress(bad), bad).toBeNull();
    }
  });

  it("is a language of one word", () => {
    expect(["python", " c++ ", "a b`c", "  "].map(parseLanguage)).toEqual(["python", "c++", "a", null]);
  });
});

describe("languages", () => {
  it("are known by their other names", () => {
    expect(["py", "TS", "c++", "bash", "yml"].map(languageName)).toEqual([
      "python",
      "typescript",
      "cpp",
      "shell",
      "yaml",
    ]);
    expect(["", null, "klingon", "constructor", "__proto__"].map(languageName)).toEqual([null, null, null, null, null]);
  });

  it("each load a parser that colours something", async () => {
    const samples: Record<string, string> = { html: "<p>x</p>", css: "a { color: red }", yaml: "a: 1", diff: "+a\n-b" };
    for (const name of LANGUAGES) {
      await loadParser(name);
      const styles: string[] = [];
      const sample = samples[name] ?? '# x\n"text" 12 if return true // select from\nlet x = 1;';
      const parser = parserOf(name);
      if (parser) highlightTree(parser.parse(sample), classHighlighter, (_from, _to, style) => styles.push(style));
      expect(styles.length, name).toBeGreaterThan(0);
    }
  });
});
