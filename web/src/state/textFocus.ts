/** The text in front, for controls that return the focus to it: the control goes, and the next key is for the text. */

interface Shown {
  path: string;
  focus: () => void;
}

let shown: Shown | null = null;

/** This text is in front; returns the function that ends it. */
export function registerFocus(path: string, focus: () => void): () => void {
  const own = { path, focus };
  shown = own;
  return () => {
    if (shown === own) shown = null;
  };
}

/** Focus the text in front, if it is one of these. */
export function focusText(paths: readonly string[]): void {
  if (shown && paths.includes(shown.path)) shown.focus();
}
