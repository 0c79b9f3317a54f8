import { Bot, Cog, User } from "lucide-react";
import type { ReactNode } from "react";
import { ago, counted } from "@/agent/words";
import { show } from "@/state/store";
import { Badge, type Tone } from "@/ui/Small";
import css from "./history.module.css";
import { kindOf, type Turn } from "./turns";

const FACES = { person: User, agent: Bot, system: Cog };
const TONES: Record<string, Tone> = { "waits for you": "agent", undone: "warn" };

/** A turn in the list: who, what, when, and how much. */
export function TurnRow({ turn }: { turn: Turn }): ReactNode {
  const Face = FACES[turn.author.kind];
  const kind = kindOf(turn);
  const where = turn.paths.length === 1 ? turn.paths[0] : counted(turn.paths.length, "document");
  return (
    <li>
      <button
        type="button"
        className={css.turn}
        data-author={turn.author.kind}
        data-state={turn.state}
        onClick={() => show({ dialog: { kind: "turn", turn: turn.turn } })}
      >
        <Face size={15} aria-label={turn.author.name} className={css.face} />
        <span className={css.turnText}>
          <span className={css.turnTitle}>{turn.title}</span>
          <span className={css.turnMeta}>
            {kind ? <Badge tone={TONES[kind] ?? "plain"}>{kind}</Badge> : null}
            <time dateTime={turn.created_at}>{ago(new Date(turn.created_at))}</time> · {turn.author.name} · {where}
          </span>
        </span>
      </button>
    </li>
  );
}
