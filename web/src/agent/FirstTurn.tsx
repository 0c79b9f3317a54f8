import { useQuery } from "@tanstack/react-query";
import { Sparkles } from "lucide-react";
import type { ReactNode } from "react";
import { server, told } from "@/api/client";
import { providersQuery, treeQuery } from "@/api/queries";
import { useStore } from "@/state/store";
import { suggest } from "./acts";
import css from "./agent.module.css";
import { proseOf, suggestions } from "./suggestions";

const READ_DOCUMENTS = 5;
const READ_CHARACTERS = 20_000;

async function beginningOf(path: string): Promise<string> {
  const params = { query: { path, limit: READ_CHARACTERS } };
  return (await told(server.GET("/api/documents", { params }))).content;
}

/** An empty chat: who answers here, and three requests made for these documents, one of them with changes to review. */
export function FirstTurn(): ReactNode {
  const { data: providers } = useQuery(providersQuery);
  const { data: tree } = useQuery(treeQuery);
  const model = useStore((store) => store.agentModel);
  const documents = (tree ?? []).filter((entry) => entry.kind !== "folder");
  const prose = proseOf(documents).slice(0, READ_DOCUMENTS);
  const { data: text = "" } = useQuery({
    queryKey: ["outline", "beginnings", prose],
    queryFn: async () => (await Promise.all(prose.map(beginningOf))).join("\n"),
    enabled: prose.length > 0,
  });
  const offline = model === "offline" || (model === "" && providers?.default.provider === "offline");
  return (
    <div className={css.first}>
      <p className={css.firstTitle}>
        <Sparkles size={18} aria-hidden /> What shall we do with these documents?
      </p>
      <p className={css.soft}>
        {offline
          ? "No key is set, so the offline assistant answers. It is no language model: it follows rules, quotes and counts what is there, and says so when it does not understand."
          : "Whatever the agent changes reaches you as a turn: you see it, decide it, and can take it back."}
      </p>
      {tree ? (
        <ul className={css.suggestions} aria-label="Suggestions">
          {suggestions(documents, text).map((suggestion) => (
            <li key={suggestion.ask}>
              <button type="button" className={css.suggestion} onClick={() => suggest(suggestion.ask)}>
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
