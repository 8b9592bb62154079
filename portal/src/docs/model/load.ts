import { call } from '../../api/call.ts';
import type { OpenApi } from './openapi.ts';
import { type Api, apisOf, type Operation } from './operations.ts';

export const parts = [
  { name: 'apis', title: 'APIs' },
  { name: 'portal', title: 'Developer portal' },
  { name: 'operators', title: 'Operators' },
  { name: 'operations', title: 'Operations' },
] as const;

export type PartName = (typeof parts)[number]['name'];

const loaded = new Map<string, Promise<unknown>>();

/** Loads once. After a failure the next reader loads it again. */
function once<Value>(key: string, ask: () => Promise<Value>): Promise<Value> {
  const known = loaded.get(key);
  if (known !== undefined) return known as Promise<Value>;
  const asked = ask();
  loaded.set(key, asked);
  asked.catch(() => loaded.delete(key));
  return asked;
}

/** One part of the reference. Each part has its own OpenAPI document. */
export function loadPart(name: PartName): Promise<Api[]> {
  return once(name, async () => apisOf(await call<OpenApi>('GET', `/openapi/${name}.json`)));
}

export function loadAll(): Promise<Api[]> {
  return once('all', async () => (await Promise.all(parts.map(({ name }) => loadPart(name)))).flat());
}

export interface Found {
  part: PartName;
  operation: Operation;
  previous: Operation | undefined;
  next: Operation | undefined;
}

/** Most readers need an operation of the APIs. The other documents are loaded only if it is not among them. */
export function findOperation(id: string): Promise<Found | undefined> {
  return once(`operation ${id}`, async () => {
    const first = search('apis', await loadPart('apis'), id);
    if (first !== undefined) return first;
    for (const { name } of parts) {
      const found = search(name, await loadPart(name), id);
      if (found !== undefined) return found;
    }
    return undefined;
  });
}

function search(part: PartName, apis: Api[], id: string): Found | undefined {
  const operations = apis.flatMap((api) => api.operations);
  const index = operations.findIndex((operation) => operation.id === id);
  const operation = operations[index];
  if (operation === undefined) return undefined;
  return { part, operation, previous: operations[index - 1], next: operations[index + 1] };
}
