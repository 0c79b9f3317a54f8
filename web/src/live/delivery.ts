/** Whether what was typed has reached the server; separate from the live documents, which the first page loads without.
 * */

type Wait = (paths?: readonly string[]) => Promise<boolean>;

let wait: Wait = async () => true;
const first = new Set<Wait>();

/** Wait until the server has what was typed into these documents; required before it decides or saves. */
export const waitForDelivery: Wait = async (paths) => {
  const ready = await Promise.all([...first].map((each) => each(paths)));
  return (await wait(paths)) && ready.every(Boolean);
};

export function setDeliveryWait(found: Wait): void {
  wait = found;
}

/** Wait for this first: typing that is not in the documents themselves yet. Returns the function that ends it. */
export function addDeliveryWait(found: Wait): () => void {
  first.add(found);
  return () => first.delete(found);
}
