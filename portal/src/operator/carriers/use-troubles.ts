import { operatorPath } from '../../api/call.ts';
import type { Alert } from '../../api/operator-types.ts';
import { useLoad } from '../../session/use-load.ts';

const refreshMs = 5000;

/** An open alert, as far as a page of carriers needs it. */
export type Trouble = Pick<Alert, 'kind' | 'carrier' | 'country' | 'summary'>;

/** The open alerts of each carrier, causes first. Undefined until they are known: they must not push the page down. */
export function useTroubles(): ((carrier: string) => Trouble[]) | undefined {
  const { data, problem } = useLoad<{ data: Alert[] }>(operatorPath('alerts?state=open&limit=100'), refreshMs);
  if (data === undefined && problem === undefined) return undefined;
  return (name) => data?.data.filter(({ carrier }) => carrier === name) ?? [];
}
