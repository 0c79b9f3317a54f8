import { Bot, Cog, FilePen, User } from "lucide-react";
import type { ReactNode } from "react";
import { show } from "@/state/store";
import { formatAge, pluralize } from "@/ui/format";
import { Badge, type Tone } from "@/ui/Small";
import css from "./history.module.css";
import { authorOf, describeState, type Turn } from "./turns";

const FACES = { person: User, agent: Bot, system: Cog, outside: FilePen };
const TONES: Record<string, Tone> = { "to review": "agent", undone: "warn" };

/** A turn in the list: who, what, when, and how much. */
export function TurnRow({ turn, turns }: { turn: Turn; turns: readonly Turn[] }): ReactNode {
  const Face = FACES[turn.author.kind];
  const kind = describeState(turn, turns);
  const places = turn.folders.length > 0 ? turn.folders.slice(-1) : turn.paths;
  const where = places.length === 1 ? places[0] : pluralize(places.length, "document");
  return (
    <li>
      <button
        type="button"
        className={css.turn}
        data-author={turn.author.kind}
        data-state={turn.state}
        onClick={() => show({ dialog: { kind: "turn", turn: turn.turn } })}
      >
        <Face size={15} aria-label={authorOf(turn)} className={css.face} />
        <span className={css.turnText}>
          <span className={css.turnTitle}>{turn.title}</span>
          <span className={css.turnMeta}>
            {kind ? <Badge tone={TONES[kind] ?? "plain"}>{kind}</Badge> : null}
            <time dateTime={turn.created_at}>{formatAge(new Date(turn.created_at))}</time> · {authorOf(turn)} · {where}
          </span>
        </span>
      </button>
    </li>
  );
}
