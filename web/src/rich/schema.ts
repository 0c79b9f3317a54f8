/**
 * The rich editor's schema: TipTap's StarterKit with tables, task lists and inline images, and four differences, which
 * `src/redraft/formats/rich/schema.py` has too: an item may begin with any block, code may be bold or a link, a code
 * block keeps the rest of its info line, and a link or image its reference's label. Markdown that no other node can
 * show is a `source` block or an `inlineSource`: visible, movable, not editable. Styling is elsewhere.
 */

import { type Extensions, Node, type NodeViewRenderer } from "@tiptap/core";
import { Code } from "@tiptap/extension-code";
import { CodeBlock } from "@tiptap/extension-code-block";
import { Image } from "@tiptap/extension-image";
import { Link } from "@tiptap/extension-link";
import { ListItem, TaskItem, TaskList } from "@tiptap/extension-list";
import { TableKit } from "@tiptap/extension-table";
import type { Schema } from "@tiptap/pm/model";
import { StarterKit } from "@tiptap/starter-kit";

/** Markdown that is shown as source: HTML, a directive, frontmatter, a footnote, link definitions. */
export const Source = Node.create({
  name: "source",
  group: "block",
  atom: true,
  draggable: true,
  selectable: true,
  addAttributes() {
    return {
      markdown: { default: "", parseHTML: (element) => element.textContent ?? "", rendered: false },
      kind: { default: "html", parseHTML: (element) => element.getAttribute("data-source") ?? "html", rendered: false },
    };
  },
  parseHTML() {
    return [{ tag: "pre[data-source]", priority: 100 }];
  },
  renderHTML({ node }) {
    return ["pre", { "data-source": node.attrs.kind }, String(node.attrs.markdown)];
  },
});

/** The same within a line: an HTML tag, a footnote reference. */
export const InlineSource = Node.create({
  name: "inlineSource",
  group: "inline",
  inline: true,
  atom: true,
  selectable: true,
  addAttributes() {
    return { markdown: { default: "", parseHTML: (element) => element.textContent ?? "", rendered: false } };
  },
  parseHTML() {
    return [{ tag: "code[data-inline-source]", priority: 100 }];
  },
  renderHTML({ node }) {
    return ["code", { "data-inline-source": "" }, String(node.attrs.markdown)];
  },
});

const label = { default: null, rendered: false };

/** A description of the schema, which the server's tests compare with their own. */
export function describeSchema(schema: Schema): object {
  const attrs = (spec: { attrs?: { [name: string]: { default?: unknown } } | null }) =>
    Object.fromEntries(Object.entries(spec.attrs ?? {}).map(([name, attr]) => [name, attr.default]));
  const nodes = Object.values(schema.nodes).map(({ name, spec }) => {
    const group = spec.group?.split(" ")[0] ?? "";
    return [name, { content: spec.content ?? "", group, attrs: attrs(spec) }] as const;
  });
  const marks = Object.values(schema.marks).map(({ name, spec }) => ({ name, attrs: attrs(spec) }));
  return { nodes: Object.fromEntries(nodes), marks };
}

/**
 * The extensions that define the schema; keys, menus and styling are added where the editor is created. How an image is
 * shown has to be known before the first drawing, since an image element is loaded as soon as it exists.
 */
export function richExtensions(image: NodeViewRenderer | null = null): Extensions {
  return [
    StarterKit.configure({
      code: false,
      codeBlock: false,
      link: false,
      listItem: false,
      underline: false,
      trailingNode: false,
      undoRedo: false,
    }),
    Code.extend({ excludes: "code" }),
    CodeBlock.extend({
      addAttributes() {
        return { ...this.parent?.(), meta: { default: null, rendered: false } };
      },
    }),
    Link.extend({
      addAttributes() {
        return { ...this.parent?.(), label };
      },
    }).configure({ openOnClick: false, autolink: false, HTMLAttributes: { target: null, rel: null } }),
    Image.extend({
      addAttributes() {
        return { ...this.parent?.(), label };
      },
      addNodeView: () => image,
    }).configure({ inline: true }),
    ListItem.extend({ content: "block+" }),
    TaskList,
    TaskItem.extend({ content: "block+" }).configure({ nested: true }),
    TableKit.configure({ table: { resizable: false } }),
    Source,
    InlineSource,
  ];
}
