import { usePageState } from '../../session/page-state.ts';
import type { Operation } from '../model/operations.ts';
import { exampleValues, type Values } from '../samples/make-request.ts';

/** The idempotency key of the reader's next call. Each page has its own, so that each try is a new call. */
export function newIdempotencyKey(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `order-${random.toString(36).padStart(7, '0')}`;
}

/** The values that the reader entered, kept while other pages are shown. Samples and try-it share them. */
export function useValues(operation: Operation): [Values, (change: Partial<Values>) => void] {
  const [values, update] = usePageState<Values | null>(`values-${operation.id}`, null);
  const [made] = usePageState(`first-values-${operation.id}`, exampleValues(operation, newIdempotencyKey()));
  return [
    withKnownIds(operation, values ?? made),
    (change) => update((before) => ({ ...(before ?? made), ...change })),
  ];
}

const ids = new Map<string, string>();

/** Remembers the ids of a response by prefix, so that the next page can read or cancel the new record. */
export function rememberIds(answer: unknown): void {
  const { id } = (answer ?? {}) as { id?: unknown };
  if (typeof id !== 'string') return;
  const prefix = /^([a-z]{3})_/.exec(id)?.[1];
  if (prefix !== undefined) ids.set(prefix, id);
}

/** The example's id belongs to no record: use an id that this tab has seen. */
function withKnownIds({ parameters }: Operation, values: Values): Values {
  const known = parameters.flatMap(({ place, field, example }) => {
    const name = `${place} ${field.name}`;
    const id = ids.get(example.slice(0, 3));
    return id !== undefined && values.parameters[name] === example ? [[name, id]] : [];
  });
  return known.length === 0
    ? values
    : { ...values, parameters: { ...values.parameters, ...Object.fromEntries(known) } };
}
