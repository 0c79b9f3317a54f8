import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { server, unwrap } from "@/api/client";
import { providersQuery, treeQuery } from "@/api/queries";
import { useStore } from "@/state/store";
import { sendNow } from "./actions";
import css from "./agent.module.css";
import { listProse, listSuggestions } from "./suggestions";

const READ_DOCUMENTS = 5;
const READ_CHARACTERS = 20_000;

async function readBeginning(path: string): Promise<string> {
  const params = { query: { path, limit: READ_CHARACTERS } };
  return (await unwrap(server.GET("/api/documents", { params }))).content;
}

/** An empty chat: which model answers here, and three requests that fit these documents, one with changes to review. */
export function EmptyChat(): ReactNode {
  const { data: providers } = useQuery(providersQuery);
  const { data: tree } = useQuery(treeQuery);
  const model = useStore((store) => store.agentModel);
  const front = useStore((store) => store.active);
  const documents = (tree ?? []).filter((entry) => entry.kind !== "folder");
  const prose = listProse(documents, front).slice(0, READ_DOCUMENTS);
  const { data: text = "" } = useQuery({
    queryKey: ["outline", "beginnings", prose],
    queryFn: async () => (await Promise.all(prose.map(readBeginning))).join("\n"),
    enabled: prose.length > 0,
    placeholderData: keepPreviousData,
  });
  const offline = model === "offline" || (model === "" && providers?.default.provider === "offline");
  return (
    <div className={css.first}>
      <p className={css.firstTitle}>
        <Sparkles size={18} aria-hidden /> What do you want to do with these documents?
      </p>
      <p className={css.soft}>
        {offline
          ? "No API key is set, so the offline assistant answers. It is not a language model: it follows rules, quotes and counts what is there, and tells you when it does not understand."
          : "Every change the agent makes is a turn that you can review and undo."}
      </p>
      {tree ? (
        <ul className={css.suggestions} aria-label="Suggestions">
          {listSuggestions(documents, text, front).map((suggestion) => (
            <li key={suggestion.ask}>
              <button type="button" className={css.suggestion} onClick={() => sendNow(suggestion.ask)}>
                {suggestion.ask}
                <span className={css.soft}>{suggestion.why}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </div>
  );
}
