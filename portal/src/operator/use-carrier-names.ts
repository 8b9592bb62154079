import { operatorPath } from '../api/call.ts';
import type { Carrier } from '../api/operator-types.ts';
import type { Page } from '../api/types.ts';
import { useLoad } from '../session/use-load.ts';

/** The names of all carriers, in order; undefined until they are loaded. */
export function useCarrierNames(everyMs?: number): string[] | undefined {
  const { data } = useLoad<Page<Carrier>>(operatorPath('carriers?limit=100'), everyMs);
  return data?.data.map(({ name }) => name).toSorted((a, b) => a.localeCompare(b));
}
