import { createContext, type ReactNode, useContext } from 'react';
import { operatorPath } from '../api/call.ts';
import type { AlertCount } from '../api/operator-types.ts';
import { useSession } from './session.tsx';
import { type Loaded, useLoad } from './use-load.ts';

const refreshMs = 10_000;

const OpenAlertsContext = createContext<Loaded<AlertCount>>({ data: undefined, problem: undefined, reload: () => {} });

/** Counts the open alerts once for all parts of the page. Only operators send the request, and no hidden page does. */
export function OpenAlertsProvider({ children }: { children: ReactNode }) {
  const { account } = useSession();
  const loaded = useLoad<AlertCount>(account?.operator ? operatorPath('alerts/count') : undefined, refreshMs);
  return <OpenAlertsContext value={loaded}>{children}</OpenAlertsContext>;
}

export function useOpenAlerts(): Loaded<AlertCount> {
  return useContext(OpenAlertsContext);
}
