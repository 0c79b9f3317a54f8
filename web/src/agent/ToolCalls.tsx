import { Check, ChevronRight, CircleAlert, LoaderCircle } from "lucide-react";
import { Collapsible } from "radix-ui";
import type { ReactNode } from "react";
import { pluralize } from "@/ui/format";
import css from "./agent.module.css";
import { describeCall, describeFindings } from "./descriptions";
import type { Call } from "./jobView";

const FEW = 3;

/** What the agent did between two messages: a line each; many are collapsed into one. */
export function ToolCalls({ calls }: { calls: readonly Call[] }): ReactNode {
  if (calls.length <= FEW) return <CallList calls={calls} />;
  const failed = calls.filter((call) => call.ok === false).length;
  return (
    <Collapsible.Root className={css.calls}>
      <Collapsible.Trigger className={css.callHead}>
        <ChevronRight size={14} className={css.chevron} aria-hidden />
        <span>
          {pluralize(calls.length, "action")}
          {failed ? `, ${failed} failed` : ""}: {describeCall(calls.at(-1) as Call)}
        </span>
      </Collapsible.Trigger>
      <Collapsible.Content>
        <CallList calls={calls} />
      </Collapsible.Content>
    </Collapsible.Root>
  );
}

function CallList({ calls }: { calls: readonly Call[] }): ReactNode {
  return (
    <ul className={css.calls} aria-label="Actions">
      {calls.map((call) => (
        <li key={call.id}>
          <ToolCall call={call} />
        </li>
      ))}
    </ul>
  );
}

function ToolCall({ call }: { call: Call }): ReactNode {
  const found = describeFindings(call);
  return (
    <Collapsible.Root>
      <Collapsible.Trigger className={css.callHead} data-ok={call.ok}>
        <ChevronRight size={14} className={css.chevron} aria-hidden />
        <Mark ok={call.ok} />
        <span className={css.callText}>
          {describeCall(call)}
          {found ? <span className={css.soft}> · {found}</span> : null}
        </span>
      </Collapsible.Trigger>
      <Collapsible.Content className={css.callBody}>
        <dl>
          <dt>Tool</dt>
          <dd>
            <code>{call.tool}</code>
          </dd>
          <dt>Arguments</dt>
          <dd>
            <pre>{call.arguments || "none"}</pre>
          </dd>
          {call.diffs.map(({ path, patch }) => (
            <div key={path}>
              <dt>Change to {path}</dt>
              <dd>
                <pre>{patch || "Too long to show here."}</pre>
              </dd>
            </div>
          ))}
          <dt>Result</dt>
          <dd>
            <pre>{answerOf(call)}</pre>
          </dd>
        </dl>
      </Collapsible.Content>
    </Collapsible.Root>
  );
}

function answerOf(call: Call): string {
  if (call.ok === undefined) return "Running…";
  const facts = Object.entries(call.facts).map(([name, value]) => `${name}: ${value}`);
  return [call.summary, ...facts].join("\n");
}

function Mark({ ok }: { ok: boolean | undefined }): ReactNode {
  if (ok === undefined) return <LoaderCircle size={14} className={css.spin} aria-label="Running" />;
  if (ok) return <Check size={14} className={css.good} aria-label="Done" />;
  return <CircleAlert size={14} className={css.bad} aria-label="Failed" />;
}
