/** How images are shown: the folder's own through the server, external ones by their description only. */

import type { NodeViewRenderer } from "@tiptap/core";
import type { Node } from "@tiptap/pm/model";
import { imageAddress } from "./tools";

/** The images of the document at a path, which may change. */
export function imageView(path: () => string): NodeViewRenderer {
  return ({ node }) => ({ dom: renderImage(node, path()), ignoreMutation: () => true });
}

function renderImage({ attrs }: Node, path: string): HTMLElement {
  const { src, alt, title } = attrs as { src: string | null; alt: string | null; title: string | null };
  const frame = document.createElement("span");
  const address = imageAddress(path, src ?? "");
  const words = alt || src || "Image";
  const tell = (why: string) => {
    frame.className = "rich-image";
    frame.replaceChildren(words);
    frame.title = `${src ?? ""} ${why}`.trim();
  };
  if (address === null) {
    tell("(not loaded: it is not in this folder)");
    return frame;
  }
  const image = document.createElement("img");
  image.alt = alt ?? "";
  image.title = title ?? "";
  image.addEventListener("error", () => tell("(not found)"));
  image.src = address;
  frame.append(image);
  return frame;
}
