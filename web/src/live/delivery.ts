/** Whether what was typed has arrived; apart from the documents themselves, which the first page is shown without. */

type Wait = (paths?: readonly string[]) => Promise<boolean>;

let wait: Wait = async () => true;
const first = new Set<Wait>();

/** Wait until the server has what was typed into these documents; it must, before it decides or saves. */
export const waitForDelivery: Wait = async (paths) => {
  const ready = await Promise.all([...first].map((each) => each(paths)));
  return (await wait(paths)) && ready.every(Boolean);
};

export function setDeliveryWait(found: Wait): void {
  wait = found;
}

/** Wait for this before: typing that is not in the documents themselves yet. The answer ends it. */
export function addDeliveryWait(found: Wait): () => void {
  first.add(found);
  return () => first.delete(found);
}
