// What the browser keeps (IndexedDB): takes with their recordings, and pieces of the one being recorded.
// Where the browser keeps nothing (some private windows), everything lives until the page closes.

const kStores = {takes: 'id', chunks: ['take', 'number']};
const kTakesKept = 30;
let opened = null;
let memory = null;

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('hum', 1);
    request.onupgradeneeded = () => {
      for (const [name, keyPath] of Object.entries(kStores)) request.result.createObjectStore(name, {keyPath});
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

const keyOf = (store, value) => JSON.stringify([kStores[store]].flat().map((field) => value[field]));

function inMemory(store, method, value) {
  memory ??= Object.fromEntries(Object.keys(kStores).map((name) => [name, new Map()]));
  const kept = memory[store];
  if (method === 'put') return kept.set(keyOf(store, value), value);
  if (method === 'delete' && value instanceof IDBKeyRange) {
    return [...kept].filter(([, chunk]) => chunk.take === value.lower[0]).forEach(([key]) => kept.delete(key));
  }
  if (method === 'delete') return kept.delete(JSON.stringify([value].flat()));
  if (method === 'get') return kept.get(JSON.stringify([value].flat()));
  return [...kept.values()];
}

// One request of one transaction. Resolves when the transaction is complete, so that what is put is safely kept.
async function ask(store, mode, method, value) {
  if (memory) return inMemory(store, method, value);
  try {
    const database = await open();
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(store, mode);
      const call = value === undefined ? transaction.objectStore(store)[method]() :
                                         transaction.objectStore(store)[method](value);
      transaction.oncomplete = () => resolve(call.result);
      transaction.onabort = () => reject(transaction.error);
    });
  } catch (fault) {
    if (fault?.name === 'QuotaExceededError') throw fault;
    return inMemory(store, method, value);
  }
}

export const getTake = (id) => ask('takes', 'readonly', 'get', id);
export const removeTake = (id) => ask('takes', 'readwrite', 'delete', id);

// Newest first.
export async function listTakes() {
  const takes = await ask('takes', 'readonly', 'getAll');
  return takes.sort((one, other) => other.created - one.created);
}

// Keeps a take; drops the oldest beyond kTakesKept that are safely uploaded.
export async function keepTake(take) {
  await ask('takes', 'readwrite', 'put', take);
  for (const old of (await listTakes()).slice(kTakesKept)) {
    if (old.upload) await removeTake(old.id);
  }
}

// A piece of a recording in progress. samples: Float32Array.
export const keepChunk = (take, number, rate_hz, samples) =>
    ask('chunks', 'readwrite', 'put', {take, number, rate_hz, samples});

// The pieces of recordings that were never finished, in order.
export async function listChunks() {
  const chunks = await ask('chunks', 'readonly', 'getAll');
  return chunks.sort((one, other) => one.number - other.number);
}

export const dropChunks = (take) => ask('chunks', 'readwrite', 'delete', IDBKeyRange.bound([take, 0], [take, Infinity]));
