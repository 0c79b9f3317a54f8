/** Documents that are dropped on the tree from outside: text is added, and of anything else it is said that it is not. */

import { server, unwrap } from "@/api/client";
import { refresh } from "@/api/queries";
import { attempt, openDocument } from "@/state/documents";
import { showToast } from "@/state/store";

const TEXTS = /\.(md|markdown|mdx|txt|text|json|ya?ml|csv)$/i;
const MOST_BYTES = 16 * 1024 * 1024;

/** Add the files to a folder, and open the last one. */
export async function addDroppedFiles(files: readonly File[], folder: string): Promise<void> {
  let last = "";
  for (const file of files) {
    if (!TEXTS.test(file.name)) {
      showToast(`${file.name} is not a text document. Pictures can be dropped into a document.`, { tone: "bad" });
      continue;
    }
    if (file.size > MOST_BYTES) {
      showToast(`${file.name} is too large to be added here. Copy it into the folder.`, { tone: "bad" });
      continue;
    }
    const path = folder ? `${folder}/${file.name}` : file.name;
    const added = await attempt(async () => {
      // As UTF-8 that cannot be damaged: what is not text is refused.
      const content = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(await file.arrayBuffer());
      await unwrap(server.POST("/api/documents", { body: { path, content } }));
    });
    if (added) last = path;
  }
  refresh("turn", "tree");
  if (last) await openDocument(last);
}
