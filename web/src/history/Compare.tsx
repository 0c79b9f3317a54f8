import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { sentenceOf } from "@/api/client";
import { Empty, Labelled } from "@/ui/Small";
import ui from "@/ui/ui.module.css";
import css from "./history.module.css";
import { ThreePanes } from "./ThreePanes";
import { compareQuery } from "./turns";

/** A document three times: as it is now, as it was before the turn, and as the turn made it. */
export function Compare({ turn, paths }: { turn: number; paths: readonly string[] }): ReactNode {
  const [path, setPath] = useState(paths[0] ?? "");
  const { data, error } = useQuery({ ...compareQuery(turn, path), enabled: path !== "" });
  if (!path) return <Empty>This turn touched no document.</Empty>;
  return (
    <>
      {paths.length > 1 ? (
        <Labelled label="Document">
          <select className={ui.field} value={path} onChange={(event) => setPath(event.target.value)}>
            {paths.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </Labelled>
      ) : null}
      {error ? <Empty>{sentenceOf(error)}</Empty> : null}
      {data ? (
        <>
          {data.current_file === data.checkpoint_base ? (
            <p className={css.remark}>Nothing is left of this turn: the document is as it was before.</p>
          ) : null}
          <ThreePanes key={path} now={data.current_file} before={data.checkpoint_base} turn={data.agent_proposed} />
        </>
      ) : null}
    </>
  );
}
