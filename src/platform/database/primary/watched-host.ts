import type { Clock } from '../../clock.ts';
import { causeOf } from '../../errors.ts';
import { createPoller } from '../../work/poller.ts';
import { isCommitInDoubt, keepsConnectionUsable } from '../errors.ts';
import { createHostWatch } from './host-watch.ts';
import type { HostAddress } from './hosts.ts';
import { type HostView, isDoubted, isProven, noProof, type Proof } from './trust.ts';

/** A host as this process last saw it, for operators. */
export interface HostState {
  name: string;
  is: 'primary' | 'standby' | 'old_primary' | 'away';
  timeline: number | null;
}

/** One host of the database, polled regularly. */
export interface Watched {
  readonly address: HostAddress;
  /** Undefined while it does not answer. */
  readonly view: HostView | undefined;
  isProven(): boolean;
  /** When the newest committed write began. */
  provenAtMs(): number;
  /** When it was last in doubt: only a write that began later ends the doubt. */
  doubtedAtMs(): number;
  isDoubted(): boolean;
  /** Writes once more, after the current write. */
  prove(): void;
  doubt(): void;
  describe(): string;
  state(isPrimary: boolean): HostState;
  start(): void;
  stop(): Promise<void>;
}

export interface WatchOptions {
  clock: Pick<Clock, 'steadyMs'>;
  /** Whether this host takes writes on the highest known timeline. */
  mayWrite(host: Watched): boolean;
  isFollowed(host: Watched): boolean;
  /** Whether a trusted host is known. */
  isFound(): boolean;
  onNews(): void;
}

/** Trust needs one committed write per second: at this interval, one may be late. */
const proveEveryMs = 400;
const proveSoonMs = 100;
/** A standby is only polled for a promotion. */
const lookEveryMs = 1000;
const searchEveryMs = 100;

export function watchHost(address: HostAddress, options: WatchOptions): Watched {
  const { clock, mayWrite, isFollowed, isFound, onNews } = options;
  let view: HostView | undefined;
  let proof: Proof = noProof;
  let reason = 'not asked yet';
  let stopped = false;
  const watch = createHostWatch(address, () => lose('the connection was lost'));
  const poller = createPoller({ run: ask, pauseMs });

  function pauseMs(): number {
    if (isFollowed(host)) return host.isProven() && !host.isDoubted() ? proveEveryMs : proveSoonMs;
    return isFound() ? lookEveryMs : searchEveryMs;
  }

  async function ask(): Promise<void> {
    try {
      learn(await watch.look());
      if (!mayWrite(host) || stopped) return;
      const beganMs = clock.steadyMs();
      await watch.write();
      proof = { ...proof, wroteAtMs: beganMs };
    } catch (error) {
      // A commit without a standby's confirmation does not renew trust, but the host did answer: keep its view and try
      // again.
      if (!isCommitInDoubt(error)) lose(causeOf(error), keepsConnectionUsable(error));
    }
    onNews();
  }

  function learn(now: HostView): void {
    const isSame = view?.startedAt === now.startedAt && view.timeline === now.timeline && !now.isStandby;
    if (!isSame) proof = noProof;
    view = now;
    onNews();
  }

  function lose(why: string, isUsable = false): void {
    reason = why;
    view = undefined;
    if (!isUsable) watch.cut();
    if (!stopped) onNews();
  }

  function prove(): void {
    if (!stopped) poller.poll().catch(() => {});
  }

  const host: Watched = {
    address,
    get view() {
      return view;
    },
    isProven: () => view !== undefined && isProven(proof, clock.steadyMs()),
    provenAtMs: () => proof.wroteAtMs,
    doubtedAtMs: () => proof.doubtedAtMs,
    isDoubted: () => isDoubted(proof),
    prove,
    doubt() {
      proof = { ...proof, doubtedAtMs: clock.steadyMs() };
      prove();
    },
    describe() {
      if (view === undefined) return `${address.name} does not answer (${reason})`;
      return `${address.name} ${view.isStandby ? 'is a standby' : 'takes writes'} on timeline ${view.timeline}`;
    },
    state(isPrimary) {
      const timeline = view?.timeline ?? null;
      const is = view === undefined ? 'away' : isPrimary ? 'primary' : view.isStandby ? 'standby' : 'old_primary';
      return { name: address.name, is, timeline };
    },
    start: () => poller.start(0),
    async stop() {
      stopped = true;
      const ended = poller.stop();
      watch.cut();
      await ended;
    },
  };
  return host;
}
