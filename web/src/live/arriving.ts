/** Whether what was typed has arrived; apart from the documents themselves, which the first page is shown without. */

type Wait = (paths?: readonly string[]) => Promise<boolean>;

let wait: Wait = async () => true;

/** Wait until the server has what was typed into these documents; it must, before it decides or saves. */
export const allArrived: Wait = (paths) => wait(paths);

export function waitWith(found: Wait): void {
  wait = found;
}
