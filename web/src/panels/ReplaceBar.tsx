import { type ReactNode, useState } from "react";
import { refresh } from "@/api/queries";
import { callTool } from "@/api/tools";
import { attempt } from "@/state/documents";
import { showToast } from "@/state/store";
import { Button } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Field } from "@/ui/Small";
import css from "./ReplaceBar.module.css";
import type { SearchAnswer, SearchRequest } from "./search";

interface Preview {
  path: string;
  version: string;
  matches: number;
  lines: { line: number; before: string; after: string }[];
}

interface Replaced {
  version: string;
  matches_found: number;
  preview: Preview["lines"];
}

function replaceArguments(
  asked: SearchRequest,
  path: string,
  replace: string,
  version: string,
): Record<string, unknown> {
  const how = { is_regex: asked.kind === "regex", case_sensitive: asked.matchCase, whole_word: asked.wholeWord };
  return { path, find: asked.query, replace, version, ...how };
}

/** Replace what was found: first as a preview, then as one turn. */
export function ReplaceBar({ asked, found }: { asked: SearchRequest; found: SearchAnswer | undefined }): ReactNode {
  const [replace, setReplace] = useState("");
  const [previews, setPreviews] = useState<Preview[] | null>(null);

  const look = () =>
    attempt(async () => {
      const shown: Preview[] = [];
      for (const { path } of found?.documents ?? []) {
        const { version } = await callTool<{ version: string }>("read_document", { path, max_tokens: 1 });
        const result = await callTool<Replaced>("find_and_replace", {
          ...replaceArguments(asked, path, replace, version),
          preview: true,
        });
        shown.push({ path, version: result.version, matches: result.matches_found, lines: result.preview });
      }
      setPreviews(shown);
    });

  const carryOut = () =>
    attempt(async () => {
      const calls = (previews ?? []).map(({ path, version }) => ({
        name: "find_and_replace",
        arguments: replaceArguments(asked, path, replace, version),
      }));
      await callTool("batch", { calls, title: `Replace ${asked.query} with ${replace}` }, true);
      setPreviews(null);
      refresh("turn", "document", "review");
      showToast(`Replaced in ${calls.length} ${calls.length === 1 ? "document" : "documents"}.`);
    });

  const some = (found?.count ?? 0) > 0 && asked.query !== "";
  return (
    <>
      <form
        style={{ display: "flex", gap: 6 }}
        onSubmit={(event) => {
          event.preventDefault();
          if (some) void look();
        }}
      >
        <Field
          aria-label="Replace with"
          placeholder="Replace with"
          value={replace}
          onChange={(event) => setReplace(event.target.value)}
        />
        <Button type="submit" disabled={!some}>
          Preview
        </Button>
      </form>
      {previews ? (
        <Modal
          wide
          title="Replace"
          text={`“${asked.query}” becomes “${replace}”. This is one turn, which you can undo.`}
          onClose={() => setPreviews(null)}
          acts={
            <>
              <Button onClick={() => setPreviews(null)}>Cancel</Button>
              <Button look="primary" onClick={() => void carryOut()}>
                Replace {previews.reduce((sum, { matches }) => sum + matches, 0)}
              </Button>
            </>
          }
        >
          <ReplacePreview previews={previews} />
        </Modal>
      ) : null}
    </>
  );
}

function ReplacePreview({ previews }: { previews: readonly Preview[] }): ReactNode {
  return (
    <div className={css.all}>
      {previews.map(({ path, matches, lines }) => (
        <section key={path}>
          <h3>{path}</h3>
          {lines.map(({ line, before, after }) => (
            <p key={line}>
              <del>{before}</del>
              <ins>{after}</ins>
            </p>
          ))}
          {matches > lines.length ? <p>and {matches - lines.length} more</p> : null}
        </section>
      ))}
    </div>
  );
}
