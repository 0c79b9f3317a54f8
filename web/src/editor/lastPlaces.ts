/** Where the person was in each document, for the view that shows it next. Lines and columns count from 0. */

import type { DocumentView } from "@/state/store";

export interface LastPlace {
  line: number;
  /** In UTF-16 units. */
  column: number;
  view: DocumentView;
  /** Whether the keyboard was there. */
  focused: boolean;
}

export const lastPlaces = new Map<string, LastPlace>();
