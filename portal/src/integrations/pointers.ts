import type { Hook } from '../api/types.ts';

export type Pointers = NonNullable<Hook['pointers']>;
export type PointerName = keyof Pointers;

export const pointerNames: PointerName[] = ['to', 'code', 'text', 'locale', 'ip'];

/** Null if all are empty: the server's default pointers then apply. */
export function pointersFrom(typed: Record<PointerName, string>): Pointers | null {
  const given = pointerNames.flatMap((name) => (typed[name].trim() === '' ? [] : [[name, typed[name].trim()]]));
  return given.length === 0 ? null : (Object.fromEntries(given) as Pointers);
}
