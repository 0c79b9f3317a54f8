import { useQuery } from "@tanstack/react-query";
import { Command } from "cmdk";
import { type ReactNode, useState } from "react";
import { treeQuery } from "@/api/queries";
import { openDocument } from "@/state/documents";
import { show, useStore } from "@/state/store";
import { COMMANDS, formatKeys } from "./commands";
import { isSubsequence, rankPath } from "./fuzzy";
import css from "./Palette.module.css";

const MOST = 60;

const close = () => show({ palette: "closed" });

/** Find any document by a few letters of its name; with `>`, any command. */
export function Palette(): ReactNode {
  const palette = useStore((store) => store.palette);
  return palette === "closed" ? null : <PaletteDialog key={palette} ofCommands={palette === "commands"} />;
}

function PaletteDialog({ ofCommands }: { ofCommands: boolean }): ReactNode {
  const { data: entries } = useQuery(treeQuery);
  const [typed, setTyped] = useState("");
  const commands = ofCommands || typed.startsWith(">");
  const wanted = typed.replace(/^>/, "").trim().toLowerCase();
  const fits = (name: string) => isSubsequence(wanted, name.toLowerCase());
  const documents = commands ? [] : (entries ?? []).filter(({ kind }) => kind === "file");
  const best = documents
    .flatMap(({ path }) => {
      const rank = rankPath(wanted, path);
      return rank === null ? [] : [{ path, rank }];
    })
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST);
  return (
    <Command.Dialog
      open
      onOpenChange={close}
      shouldFilter={false}
      label="Go to"
      overlayClassName={css.overlay ?? ""}
      contentClassName={css.palette ?? ""}
    >
      <Command.Input
        className={css.input}
        value={typed}
        onValueChange={setTyped}
        placeholder={ofCommands ? "Type a command" : "Search documents, or type > for commands"}
      />
      <Command.List className={css.list}>
        <Command.Empty className={css.empty}>No matches.</Command.Empty>
        {best.map(({ path }) => (
          <Command.Item
            key={path}
            value={path}
            className={css.item}
            onSelect={() => {
              close();
              void openDocument(path);
            }}
          >
            {path}
          </Command.Item>
        ))}
        {(commands ? COMMANDS : [])
          .filter(({ name }) => fits(name))
          .map(({ name, keys, run }) => (
            <Command.Item
              key={name}
              value={name}
              className={css.item}
              onSelect={() => {
                close();
                run();
              }}
            >
              {name} {keys ? <kbd>{formatKeys(keys)}</kbd> : null}
            </Command.Item>
          ))}
      </Command.List>
    </Command.Dialog>
  );
}
