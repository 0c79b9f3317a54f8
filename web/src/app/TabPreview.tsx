import { useQuery } from "@tanstack/react-query";
import { HoverCard } from "radix-ui";
import type { ReactNode } from "react";
import { type Schemas, server, unwrap } from "@/api/client";
import { reviewQuery } from "@/api/queries";
import { listOpenHunks } from "@/review/reviewText";
import { pluralize } from "@/ui/format";
import { Badge } from "@/ui/Small";
import css from "./TabPreview.module.css";

type Tab = Schemas["TabShape"];

const FIRST = 600;
const LINES = 8;
const AFTER_MS = 600;

/** A tab's preview on hover: its path, its state, and its first lines. The tab is the child. */
export function TabPreview({ tab, children }: { tab: Tab; children: ReactNode }): ReactNode {
  return (
    <HoverCard.Root openDelay={AFTER_MS} closeDelay={100}>
      <HoverCard.Trigger asChild>{children}</HoverCard.Trigger>
      <HoverCard.Portal>
        <HoverCard.Content className={css.card} side="bottom" align="start" sideOffset={4} collisionPadding={8}>
          <Preview tab={tab} />
        </HoverCard.Content>
      </HoverCard.Portal>
    </HoverCard.Root>
  );
}

function Preview({ tab: { path, version, is_dirty, line_count } }: { tab: Tab }): ReactNode {
  const { data: drafts } = useQuery(reviewQuery);
  const { data: begins } = useQuery({
    queryKey: ["preview", path, version],
    queryFn: async () =>
      (await unwrap(server.GET("/api/documents", { params: { query: { path, limit: FIRST } } }))).content,
  });
  const draft = drafts?.find((each) => each.path === path && each.pending);
  const lines = begins?.split(/\r\n?|\n/).filter((line) => line.trim() !== "") ?? [];
  return (
    <>
      <p className={css.path}>{path}</p>
      <p className={css.standing}>
        <span>{pluralize(line_count, "line")}</span>
        <Badge tone={is_dirty ? "warn" : "plain"}>{is_dirty ? "unsaved" : "saved"}</Badge>
        {draft ? <Badge tone="agent">{pluralize(listOpenHunks(draft).length, "change")} to review</Badge> : null}
      </p>
      {begins === undefined ? null : (
        <pre className={css.lines}>{lines.slice(0, LINES).join("\n") || "Empty document"}</pre>
      )}
    </>
  );
}
