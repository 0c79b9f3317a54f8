/** The text in front, for whoever hands the focus back to it: their button goes, and the next key is meant for the text. */

interface Shown {
  path: string;
  focus: () => void;
}

let shown: Shown | null = null;

/** This text is in front; the answer ends it. */
export function registerFocus(path: string, focus: () => void): () => void {
  const own = { path, focus };
  shown = own;
  return () => {
    if (shown === own) shown = null;
  };
}

/** Put the focus into the text in front, where it is one of these. */
export function focusText(paths: readonly string[]): void {
  if (shown && paths.includes(shown.path)) shown.focus();
}
