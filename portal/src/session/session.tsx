import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { call } from '../api/call.ts';
import { type Problem, toProblem } from '../api/problem.ts';
import type { Account, Service } from '../api/types.ts';
import { clearPageState } from './page-state.ts';

export interface Session {
  service: Service;
  account: Account | null;
  /** Set when the session expired; not set after a sign-out. */
  expired: boolean;
  enter: (account: Account) => void;
  /** Reads the account again after a change of role, account or second factor. */
  refresh: () => Promise<void>;
  leave: () => Promise<void>;
  /** The person was deleted, and the session with it. */
  forget: () => void;
  expire: () => void;
}

const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('useSession outside of SessionProvider');
  return session;
}

interface ProviderProps {
  children: ReactNode;
  loading: ReactNode;
  failed: (problem: Problem, retry: () => void) => ReactNode;
}

/** Loads the service and the signed-in account before it shows any page. */
export function SessionProvider({ children, loading, failed }: ProviderProps) {
  const [service, setService] = useState<Service | undefined>(undefined);
  const [account, setAccount] = useState<Account | null>(null);
  const [expired, setExpired] = useState(false);
  const [problem, setProblem] = useState<Problem | undefined>(undefined);

  const start = useCallback(async () => {
    setProblem(undefined);
    try {
      const [found, signedIn] = await Promise.all([call<Service>('GET', '/portal/v1/service'), findAccount()]);
      setAccount(signedIn);
      setService(found);
    } catch (error) {
      setProblem(toProblem(error));
    }
  }, []);
  useEffect(() => void start(), [start]);

  const become = useCallback((next: Account | null, hasExpired: boolean) => {
    // The next developer at this screen must not see this one's secrets.
    if (next === null) clearPageState();
    setExpired(hasExpired);
    setAccount(next);
  }, []);

  const session = useMemo(
    () =>
      service && {
        service,
        account,
        expired,
        enter: (entered: Account) => become(entered, false),
        refresh: async () => become(await findAccount(), false),
        forget: () => become(null, false),
        leave: async () => {
          const away = await endSession(account);
          become(null, false);
          if (away !== null) location.assign(away);
        },
        expire: () => become(null, true),
      },
    [service, account, expired, become],
  );

  if (problem !== undefined) return failed(problem, () => void start());
  if (session === undefined) return loading;
  return <SessionContext value={session}>{children}</SessionContext>;
}

/**
 * Returns where the session at the provider of single sign-on ends, or null. A session that has already ended is no
 * error.
 */
async function endSession(account: Account | null): Promise<string | null> {
  try {
    if (account?.sso?.session)
      return (await call<{ logout_url: string | null }>('DELETE', '/portal/v1/sso/session')).logout_url;
    await call('DELETE', '/portal/v1/sessions/current');
  } catch (error) {
    if (toProblem(error).status !== 401) throw error;
  }
  return null;
}

async function findAccount(): Promise<Account | null> {
  return (await call<{ account: Account | null }>('GET', '/portal/v1/sessions/current')).account;
}
