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

/** The document that the person has opened, until its text has the focus. */
let opened: string | null = null;

/** The person has opened this document: its text gets the focus as soon as it is there. */
export function focusWhenShown(path: string): void {
  opened = path;
  const pane = document.querySelector<HTMLElement>(`section[data-document="${CSS.escape(path)}"]`);
  if (pane) focusOpened(pane, path);
}

/** Watch the pane of a document that is being opened; returns the function that ends it. */
export function watchOpening(pane: HTMLElement, path: string): () => void {
  if (opened !== path || focusOpened(pane, path)) return () => undefined;
  const observer = new MutationObserver(() => focusOpened(pane, path) && observer.disconnect());
  observer.observe(pane, { childList: true, subtree: true, attributeFilter: ["contenteditable"] });
  // Whoever clicks elsewhere meanwhile wants the focus there.
  const elsewhere = ({ target }: Event) => {
    if (opened === path && !pane.contains(target as Node)) opened = null;
  };
  addEventListener("pointerdown", elsewhere, { capture: true });
  return () => {
    observer.disconnect();
    removeEventListener("pointerdown", elsewhere, { capture: true });
  };
}

function focusOpened(pane: HTMLElement, path: string): boolean {
  const text = pane.querySelector<HTMLElement>('[role="textbox"][contenteditable="true"]');
  if (!text || opened !== path) return false;
  opened = null;
  text.focus();
  // A dialog that is just closing gives the focus back to where it was: that is later than this.
  setTimeout(() => document.activeElement === document.body && text.focus());
  return true;
}

/** Open the box for a request to the agent, at the cursor of the text in front. */
export function askAtCursor(): void {
  shown?.ask();
}

/** Go to the next change from the text in front, or to the previous one. */
export function stepToChange(direction: number): void {
  shown?.step(direction);
}
