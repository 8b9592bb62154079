// Tests: test/ha/primary.test.ts
import type { Clock } from '../../clock.ts';
import { unavailable } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { type HostAddress, readHosts } from './hosts.ts';
import { choose } from './trust.ts';
import { type HostState, type Watched, watchHost } from './watched-host.ts';

/** The server that takes writes. Each switch makes a new object, also when the same host has restarted. */
export interface PrimaryHost extends HostAddress {
  timeline: number;
  startedAt: string;
}

/** Finds the host that takes writes, and follows it. One per process: it writes to the host twice a second. */
export interface Primary {
  /** The host, while it is trusted: its timeline is the highest, and a write of our own has just committed there. */
  current(): PrimaryHost | undefined;
  /** Waits for a trusted host, or throws a 503. */
  whenTrusted(limitMs: number): Promise<PrimaryHost>;
  /** Resolves when a write that began after this call has committed: all that was read before is then replicated. */
  confirm(limitMs?: number): Promise<void>;
  /**
   * Marks the host as in doubt, after a lost connection or a commit without an answer: writes there may not be replicated.
   */
  doubt(host: PrimaryHost): void;
  /** Whether to believe an answer of this host: it is trusted, and not in doubt. */
  isBelieved(host: PrimaryHost): boolean;
  /**
   * Waits until answers of this host can be believed: a write that began after the last doubt has committed. Else throws a
   * 503.
   */
  whenBelieved(host: PrimaryHost, limitMs: number): Promise<void>;
  /** Rises at each switch: what a node read from the previous server may be missing on this one. */
  readonly epoch: number;
  /** Called at each switch; without a host when the last one is known to take writes no longer. */
  onSwitch(listener: (host: PrimaryHost | undefined) => void): void;
  state(): PrimaryState;
  stop(): Promise<void>;
}

export interface PrimaryState {
  hosts: HostState[];
  /** Whether commits wait for a synchronous standby; undefined while no host is trusted. */
  isSynchronous: boolean | undefined;
  /** Two servers take writes on one timeline. */
  isSplit: boolean;
}

export interface PrimaryOptions {
  url: string;
  clock: Pick<Clock, 'steadyMs'>;
  log: Log;
}

const confirmWithinMs = 1500;

export function createPrimary({ url, clock, log }: PrimaryOptions): Primary {
  const listeners: ((host: PrimaryHost | undefined) => void)[] = [];
  const waiting = new Set<() => void>();
  let highest = 0;
  let system: string | undefined;
  let epoch = 0;
  let isSplit = false;
  let found: { host: PrimaryHost; watched: Watched } | undefined;
  const hosts = readHosts(url).map((address) =>
    watchHost(address, {
      clock,
      mayWrite: (watched) => chosen() === watched,
      isFollowed: (watched) => found?.watched === watched,
      isFound: () => current() !== undefined,
      onNews: evaluate,
    }),
  );
  for (const host of hosts) host.start();

  function current(): PrimaryHost | undefined {
    return found?.watched.isProven() === true ? found.host : undefined;
  }

  function learn(): void {
    for (const { view, address } of hosts) {
      if (view === undefined) continue;
      system ??= view.system;
      if (view.system === system) highest = Math.max(highest, view.timeline);
      else log.error({ host: address.name }, 'a host of DATABASE_URL belongs to another cluster: it is not used');
    }
  }

  /** The host that may be written. If two addresses lead to the same server, the one already in use. */
  function chosen(): Watched | undefined {
    const views = hosts.flatMap((host) =>
      host.view?.system === system && host.view ? [[host, host.view] as const] : [],
    );
    const choice = choose(views, highest);
    if ((choice.is === 'split') !== isSplit) {
      isSplit = choice.is === 'split';
      if (choice.is === 'split') {
        const names = choice.hosts.map(({ address }) => address.name).join(', ');
        log.error({ hosts: names }, 'two hosts take writes on the same timeline: neither is used');
      }
    }
    if (choice.is !== 'found') return undefined;
    const { view } = choice.host;
    const isSame = found?.watched.view?.startedAt === view?.startedAt && found?.watched.view?.isStandby === false;
    return isSame ? found?.watched : choice.host;
  }

  function evaluate(): void {
    learn();
    const next = chosen();
    if (found !== undefined && isOver(found, next)) switchTo(undefined);
    if (next !== undefined && next !== found?.watched && next.isProven()) switchTo(next);
    if (current() !== undefined) for (const wake of [...waiting]) wake();
  }

  function switchTo(watched: Watched | undefined): void {
    const before = found?.host.name;
    const { view } = watched ?? {};
    if (watched === undefined || view === undefined) {
      found = undefined;
      log.warn({ host: before }, 'this host of the database no longer takes writes');
    } else {
      const { timeline, startedAt } = view;
      found = { host: { ...watched.address, timeline, startedAt }, watched };
      epoch++;
      log.info({ host: watched.address.name, timeline }, 'found the primary of the database');
    }
    for (const listener of listeners) listener(found?.host);
  }

  /**
   * Calls `find` now, and after each news while a host is trusted, until it finds something. Throws a 503 after `limitMs`.
   */
  async function until<Found>(find: () => Found | undefined, limitMs: number): Promise<Found> {
    const now = find();
    if (now !== undefined) return now;
    return new Promise((resolve, reject) => {
      const wake = () => {
        try {
          const found = find();
          if (found === undefined) return;
          resolve(found);
        } catch (error) {
          reject(error);
        }
        end();
      };
      const timer = setTimeout(() => {
        end();
        reject(noPrimary());
      }, limitMs);
      const end = () => {
        clearTimeout(timer);
        waiting.delete(wake);
      };
      waiting.add(wake);
    });
  }

  /** True once a write at this host that began after `sinceMs` has committed, while the host is still trusted. */
  function hasWritten(host: PrimaryHost | undefined, sinceMs: number): true | undefined {
    if (host === undefined || found?.host !== host) throw noPrimary();
    return current() === host && found.watched.provenAtMs() > sinceMs ? true : undefined;
  }

  function noPrimary(): Error {
    const told = hosts.map((host) => host.describe()).join(', ');
    const cause = new Error(`no host of the database takes writes that this node trusts: ${told}`);
    return unavailable('The service cannot reach its database. Try again shortly.', 1, cause);
  }

  return {
    current,
    whenTrusted: (limitMs) => until(current, limitMs),
    async confirm(limitMs = confirmWithinMs) {
      const sinceMs = clock.steadyMs();
      const { host, watched } = found ?? {};
      watched?.prove();
      await until(() => hasWritten(host, sinceMs), limitMs);
    },
    doubt(host) {
      if (found?.host === host) found.watched.doubt();
    },
    isBelieved: (host) => current() === host && found?.watched.isDoubted() === false,
    async whenBelieved(host, limitMs) {
      // Ignore doubts that arise while waiting: on a busy host new ones keep coming, and the answer would wait for ever.
      const doubtedAtMs = found?.watched.doubtedAtMs() ?? 0;
      await until(() => hasWritten(host, doubtedAtMs), limitMs);
    },
    get epoch() {
      return epoch;
    },
    onSwitch: (listener) => void listeners.push(listener),
    state() {
      const now = current();
      return {
        hosts: hosts.map((host) => host.state(now !== undefined && found?.watched === host)),
        isSynchronous: now && found?.watched.view?.isSynchronous,
        isSplit,
      };
    },
    async stop() {
      await Promise.all(hosts.map((host) => host.stop()));
    },
  };
}

/** True when the host is certainly no longer the primary. A host that does not answer may still be it. */
function isOver({ host, watched }: { host: PrimaryHost; watched: Watched }, next: Watched | undefined): boolean {
  if (next !== undefined && next !== watched) return next.isProven();
  const { view } = watched;
  if (view === undefined) return false;
  return next === undefined || view.startedAt !== host.startedAt || view.timeline !== host.timeline;
}
