/** What the server tells, by its own description: see docs/openapi.json. */

import type { components } from "../../../web/src/api/schema";

type Schemas = components["schemas"];
export type Draft = Schemas["DraftShape"];
export type Hunk = Schemas["HunkShape"];
export type Turn = Schemas["TurnResponse"];
export type Decided = Schemas["DecidedShape"];
export type TakenBack = Schemas["TakenBackShape"];
export type Comment = Schemas["CommentShape"];
export type Blame = Schemas["BlameResponse"];
export type Job = Schemas["JobShape"];
export type Tab = Schemas["TabShape"];

/** One event of `/api/changes/stream`. */
export interface FolderChange {
  kind: string;
  path?: string;
  turn?: number;
  job_id?: string;
}
