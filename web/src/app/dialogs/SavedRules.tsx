import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { deleteRule, type Rule, rulesQuery } from "@/agent/rules";
import { IconButton } from "@/ui/Button";
import css from "./dialogs.module.css";

const VERDICTS: Record<Rule["verdict"], string> = {
  allow: "Always allow",
  ask: "Always ask",
  deny: "Never allow",
};

/** The person's standing rules for the agent in this folder, with buttons to remove them. */
export function SavedRules(): ReactNode {
  const { data: rules = [] } = useQuery({ ...rulesQuery, refetchOnMount: "always" });
  if (rules.length === 0) return null;
  return (
    <fieldset className={css.group}>
      <legend>Saved permissions</legend>
      <ul className={css.rules}>
        {rules.map((rule) => {
          const text = `${VERDICTS[rule.verdict]}: ${rule.tool === "*" ? "everything" : rule.tool.replaceAll("_", " ")}`;
          const where = rule.path === "*" ? "" : ` in ${rule.path}`;
          return (
            <li key={`${rule.tool} ${rule.path}`}>
              <span>
                {text}
                {where}
              </span>
              <IconButton label={`Delete: ${text}${where}`} onClick={() => void deleteRule(rule)}>
                <X size={14} />
              </IconButton>
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}
