import { queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { server, unwrap } from "@/api/client";
import { client, refetch } from "@/api/queries";
import type { About } from "@/live/session";
import type { Draft } from "./hunkPlaces";

const AFTER_MS = 200;

/**
 * What is pending in one document; null if nothing is.
 *
 * Server change events do not refetch it: the document itself reports them, with the text that they are about.
 */
export const draftQuery = (path: string) =>
  queryOptions({
    queryKey: ["draft", path],
    queryFn: async (): Promise<Draft | null> => {
      // As a list, which may be empty: a browser logs an error for a 404.
      const { documents } = await unwrap(server.GET("/api/review", { params: { query: { path } } }));
      return documents[0] ? dropDecided(documents[0]) : null;
    },
    refetchOnWindowFocus: false,
    // An answer equal to the last one is news as well: the page may have dropped a hunk since, or lacked its text then.
    structuralSharing: false,
  });

/** The hunks whose decisions the server has yet to answer, by document: older answers must not show them again. */
const decidedHunks = new Map<string, Set<string>>();

function dropDecided(draft: Draft): Draft {
  const hidden = decidedHunks.get(draft.path);
  return hidden?.size ? { ...draft, hunks: draft.hunks.filter(({ hunk_id }) => !hidden.has(hunk_id)) } : draft;
}

/** Hide a hunk from the moment it is decided. Call the returned function once that is answered. */
export function hideHunk(path: string, hunkId: string): () => void {
  const hidden = decidedHunks.get(path) ?? new Set();
  decidedHunks.set(path, hidden.add(hunkId));
  const { queryKey } = draftQuery(path);
  void client.cancelQueries({ queryKey });
  client.setQueryData(queryKey, (draft) => draft && dropDecided(draft));
  return () => hidden.delete(hunkId);
}

/**
 * The review of a document, refetched whenever its text or what is pending changes. Also when both are what they were
 * before: an answer that came in between was placed in another text.
 */
export function useReview(path: string, about: About, wanted: boolean): Draft | null {
  const { version, pending, saved, arrivals } = about;
  const enabled = pending > 0 || (wanted && !saved);
  const { data } = useQuery({ ...draftQuery(path), enabled });
  const known = enabled ? `${version} ${pending} ${arrivals}` : "";
  useEffect(() => {
    if (known === "") return;
    const soon = setTimeout(() => void refetch({ queryKey: draftQuery(path).queryKey }), AFTER_MS);
    return () => clearTimeout(soon);
  }, [path, known]);
  return (enabled && data) || null;
}
