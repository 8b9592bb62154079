import type { Socket } from 'node:net';
import { unavailable } from '../../errors.ts';
import { type Connection, clientConfig } from '../connections/connection.ts';
import { openPools, type PoolOptions, type Pools } from '../connections/pools.ts';
import { openSession } from '../connections/sessions.ts';
import type { Session } from '../connections/statement.ts';
import { isCommitInDoubt, isConnectionLoss } from '../errors.ts';
import type { Primary, PrimaryHost } from './primary.ts';

/** The pools on the host that takes writes. At a switch all connections to the host before are cut. */
export interface FollowedPools {
  /** Runs the work on the trusted host, and returns its result only while that host is trusted. */
  use<Result>(work: (pools: Pools) => Promise<Result>): Promise<Result>;
  openSession(settings: string, onLost: (error: Error) => void, patient: boolean): Promise<Session>;
  opened(): Pools[];
  end(): Promise<void>;
}

interface Followed {
  host: PrimaryHost;
  pools: Pools;
  sockets: Set<Socket>;
}

/** Every request is answered within 5 s. */
const answerWithinMs = 4500;
/** Errors of calls that got no connection, because the pool is full or the host too busy: nothing was written. */
const neverConnected =
  /^timeout exceeded when trying to connect|^timeout expired|^Connection terminated due to connection timeout|ECONNREFUSED/;

export function followPrimary(primary: Primary, options: PoolOptions): FollowedPools {
  const { connectMs } = options.limits;
  let followed: Followed | undefined;
  primary.onSwitch((host) => {
    if (followed !== undefined && followed.host !== host) leave();
  });

  function leave(): void {
    const { pools, sockets } = followed ?? {};
    followed = undefined;
    // A transaction under way must not go on at a host that is no longer the primary.
    for (const socket of sockets ?? []) socket.destroy();
    void pools?.end().catch(() => {});
  }

  function follow(host: PrimaryHost): Followed {
    if (followed?.host === host) return followed;
    if (followed !== undefined) leave();
    const sockets = new Set<Socket>();
    const onSocket = (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    };
    const pools = openPools({ url: host.url }, { ...options, onSocket, onLost: () => primary.doubt(host) });
    followed = { host, pools, sockets };
    return followed;
  }

  function note(error: unknown, host: PrimaryHost): void {
    if (isCommitInDoubt(error) || (isConnectionLoss(error) && !neverConnected.test(messageOf(error))))
      primary.doubt(host);
  }

  return {
    async use(work) {
      const endsAtMs = performance.now() + answerWithinMs;
      const host = primary.current() ?? (await primary.whenTrusted(connectMs));
      let result: Awaited<ReturnType<typeof work>>;
      try {
        result = await work(follow(host).pools);
      } catch (error) {
        note(error, host);
        throw error;
      }
      // An old primary that wakes up answers reads: believe an answer only from a host that still takes writes.
      if (!primary.isBelieved(host)) {
        const leftMs = Math.min(connectMs, endsAtMs - performance.now());
        await primary.whenBelieved(host, Math.max(0, leftMs));
      }
      return result;
    },

    async openSession(settings, onLost, patient) {
      const host = primary.current() ?? (await primary.whenTrusted(connectMs));
      const { sockets } = follow(host);
      const config = clientConfig({ url: host.url } satisfies Connection, options.limits);
      const session = await openSession(
        patient ? { ...config, query_timeout: undefined } : config,
        settings,
        (error) => {
          primary.doubt(host);
          onLost(error);
        },
        (socket) => {
          sockets.add(socket);
          socket.once('close', () => sockets.delete(socket));
        },
      ).catch((error: unknown) => {
        note(error, host);
        throw error;
      });
      if (followed?.host === host) return session;
      await session.close();
      throw isOld(host);
    },

    opened: () => (followed === undefined ? [] : [followed.pools]),
    async end() {
      const ending = followed?.pools;
      followed = undefined;
      await ending?.end();
    },
  };
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

function isOld({ name }: PrimaryHost): Error {
  const cause = new Error(`${name} may no longer be the primary`);
  return unavailable('The service cannot reach its database. Try again shortly.', 1, cause);
}
