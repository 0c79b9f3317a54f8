/** The text in front, for controls and keys that act on it from elsewhere. */

interface Shown {
  path: string;
  /** The control goes, and the next key is for the text. */
  focus: () => void;
  /** Ask the agent about what is at the cursor. */
  ask: () => void;
  /** Go to the next change, or the previous one. */
  step: (direction: number) => void;
}

let shown: Shown | null = null;

/** This text is in front; returns the function that ends it. */
export function registerText(own: Shown): () => void {
  shown = own;
  return () => {
    if (shown === own) shown = null;
  };
}

/** Focus the text in front, if it is one of these. */
export function focusText(paths: readonly string[]): void {
  if (shown && paths.includes(shown.path)) shown.focus();
}

/** Open the box for a request to the agent, at the cursor of the text in front. */
export function askAtCursor(): void {
  shown?.ask();
}

/** Go to the next change from the text in front, or to the previous one. */
export function stepToChange(direction: number): void {
  shown?.step(direction);
}
