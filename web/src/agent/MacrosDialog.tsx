import { useQuery } from "@tanstack/react-query";
import { Play, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button, IconButton } from "@/ui/Button";
import { Modal } from "@/ui/Modal";
import { Empty, Field } from "@/ui/Small";
import { describeWish } from "./descriptions";
import { type Confirmation, deleteMacro, describeMacro, type Macro, macrosQuery, runMacro } from "./macros";
import css from "./macros.module.css";

/** All macros: what each does, its values, and buttons to run or delete it. */
export function MacrosDialog({ onClose }: { onClose: () => void }): ReactNode {
  const { data: macros = [] } = useQuery(macrosQuery);
  return (
    <Modal
      title="Macros"
      text="A macro repeats saved edits as one turn, in the agent's mode. To save one, choose “Save as macro” below the agent's changes."
      onClose={onClose}
      acts={<Button onClick={onClose}>Close</Button>}
    >
      {macros.length === 0 ? <Empty>No macros yet.</Empty> : null}
      <ul className={css.macros}>
        {macros.map((macro) => (
          <MacroRow key={macro.name} macro={macro} onDone={onClose} />
        ))}
      </ul>
    </Modal>
  );
}

function MacroRow({ macro, onDone }: { macro: Macro; onDone: () => void }): ReactNode {
  const [values, setValues] = useState<Record<string, string>>({});
  const [wanted, setWanted] = useState<Confirmation | null>(null);
  const [running, setRunning] = useState(false);
  const { name } = macro;
  const lacking = macro.values.some((value) => value !== "title" && !values[value]?.trim());
  const run = async (agree: boolean) => {
    setRunning(true);
    const asks = await runMacro(name, values, agree);
    setRunning(false);
    setWanted(asks);
    if (!asks) onDone();
  };
  return (
    <li>
      <form
        className={css.macro}
        aria-label={name}
        onSubmit={(event) => {
          event.preventDefault();
          if (!lacking && !running) void run(wanted !== null);
        }}
      >
        <b className={css.name}>{name}</b>
        <span className={css.acts}>
          {macro.saved ? (
            <IconButton label={`Delete ${name}`} onClick={() => void deleteMacro(name)}>
              <Trash2 size={14} />
            </IconButton>
          ) : null}
          <Button small type="submit" look={wanted ? "danger" : "plain"} disabled={lacking || running}>
            <Play size={12} aria-hidden /> {wanted ? "Run anyway" : "Run"}
          </Button>
        </span>
        <span className={css.what}>{describeMacro(macro)}</span>
        {macro.values.map((value) => (
          <Field
            key={value}
            className={css.value ?? ""}
            aria-label={`${value} for ${name}`}
            placeholder={value === "title" ? `title (${name})` : value}
            onChange={(event) => setValues({ ...values, [value]: event.target.value })}
          />
        ))}
        {wanted ? (
          <span className={css.what} role="alert">
            This would {describeWish(wanted)}: {wanted.paths.join(", ")}
          </span>
        ) : null}
      </form>
    </li>
  );
}
