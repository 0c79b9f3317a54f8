/**
 * What was typed while the server was unreachable, stored in this browser, so that closing or reloading the page loses
 * none of it.
 *
 * The replica's own updates are stored, not the text: reading them twice, or in two windows, still gives every
 * character once.
 */

const DATABASE = "redraft";
const STORE = "unsent";

/** What one page could not send: its replica's updates, and how much of them the server is known to have. */
export interface Unsent {
  epoch: string;
  kept: Uint8Array;
  updates: Uint8Array[];
}

/** A piece of it. The first has everything so far, and each of the others what came since. */
export interface Piece {
  epoch: string;
  kept: Uint8Array;
  update: Uint8Array;
}

type Key = [path: string, client: number, number: number];

export async function storePiece(path: string, client: number, number: number, piece: Piece): Promise<void> {
  await inTransaction("readwrite", (store) => store.put(piece, [path, client, number] satisfies Key));
}

export async function deleteUnsent(path: string, client: number): Promise<void> {
  await inTransaction("readwrite", (store) => store.delete(IDBKeyRange.bound([path, client], [path, client, []])));
}

/** What is stored for a document, by the pages that could not send it. */
export async function readUnsent(path: string): Promise<Map<number, Unsent>> {
  const range = IDBKeyRange.bound([path], [path, []]);
  const keys = (await inTransaction("readonly", (store) => store.getAllKeys(range))) as Key[];
  const pieces = (await inTransaction("readonly", (store) => store.getAll(range))) as Piece[];
  const found = new Map<number, Unsent>();
  pieces.forEach(({ epoch, kept, update }, at) => {
    const client = keys[at]?.[1] ?? 0;
    const known = found.get(client);
    if (known) known.updates.push(update);
    else found.set(client, { epoch, kept, updates: [update] });
  });
  return found;
}

async function inTransaction<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await openDatabase();
  const transaction = database.transaction(STORE, mode);
  const asked = act(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

let opening: Promise<IDBDatabase> | undefined;

function openDatabase(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opening;
}
