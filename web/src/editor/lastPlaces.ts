/** The cursor position in each document, for the view that shows it next. Lines and columns count from 0. */

import type { DocumentView } from "@/state/store";

export interface LastPlace {
  line: number;
  /** In UTF-16 units. */
  column: number;
  view: DocumentView;
  /** Whether it had the keyboard focus. */
  focused: boolean;
}

export const lastPlaces = new Map<string, LastPlace>();
