/** The shared text of a session, for the rich editor. */

import type { YTextEvent, Transaction as YTransaction } from "yjs";
import type { Session } from "@/live/session";
import type { Edit } from "@/live/textMerge";
import type { SyncedText } from "./richSync";

export class SharedText implements SyncedText {
  constructor(
    readonly session: Session,
    /** Somebody else changed the text; `back` if the person undid something. */
    readonly others: (edits: Edit[], back: boolean) => void,
  ) {
    session.text.observe(this.#observe);
  }

  read(): string {
    return this.session.text.toString();
  }

  type(edits: readonly Edit[]): void {
    this.session.type(edits, this);
  }

  end(): void {
    this.session.text.unobserve(this.#observe);
    this.session.undo.removeTrackedOrigin(this);
  }

  #observe = ({ delta }: YTextEvent, { origin }: YTransaction): void => {
    if (origin !== this) this.others(toEdits(delta), origin === this.session.undo);
  };
}

function toEdits(delta: YTextEvent["delta"]): Edit[] {
  const found: Edit[] = [];
  let at = 0;
  for (const { retain = 0, delete: deleted = 0, insert } of delta) {
    at += retain;
    if (deleted > 0 || typeof insert === "string") {
      const last = found.at(-1);
      const text = typeof insert === "string" ? insert : "";
      // A replacement is reported as two steps, in either order.
      if (last && last.to === at && retain === 0) Object.assign(last, { to: at + deleted, insert: last.insert + text });
      else found.push({ from: at, to: at + deleted, insert: text });
    }
    at += deleted;
  }
  return found;
}
