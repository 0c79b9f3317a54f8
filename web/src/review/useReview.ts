import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { server, told } from "@/api/client";
import { askAnew } from "@/api/queries";
import type { About } from "@/live/session";
import type { Draft } from "./placing";

const AFTER_MS = 200;

/**
 * What waits for a decision in one document; null where nothing does.
 *
 * Not among what the server's changes make us ask anew: the document itself tells of them, with the text they are about.
 */
export const draftQuery = (path: string) =>
  queryOptions({
    queryKey: ["draft", path],
    // As a list, which may be empty: a browser complains aloud of an answer that there is nothing.
    queryFn: async (): Promise<Draft | null> =>
      (await told(server.GET("/api/review", { params: { query: { path } } }))).documents[0] ?? null,
    refetchOnWindowFocus: false,
  });

/** The review of a document, asked for again whenever its text or what is pending is another. */
export function useReview(path: string, { version, pending, saved }: About, wanted: boolean): Draft | null {
  const enabled = pending > 0 || (wanted && !saved);
  const { data } = useQuery({ ...draftQuery(path), enabled });
  const known = enabled ? `${version} ${pending}` : "";
  useEffect(() => {
    if (known === "") return;
    const soon = setTimeout(() => void askAnew({ queryKey: draftQuery(path).queryKey }), AFTER_MS);
    return () => clearTimeout(soon);
  }, [path, known]);
  return (enabled && data) || null;
}
