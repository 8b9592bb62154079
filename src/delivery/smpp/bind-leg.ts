// Tests: test/smpp/bind-supervisor.test.ts
import { isAccountRefusal } from '../../smpp/bind-refusals.ts';
import type { BindCommand } from '../../smpp/pdu.ts';
import { createSession } from '../../smpp/session.ts';
import type { CloseReason, Session } from '../../smpp/session-types.ts';
import type { BackOff } from './bind-back-off.ts';
import type { BindOptions } from './bind-options.ts';
import type { BindTargets } from './bind-targets.ts';

export type LegState = 'connecting' | 'binding' | 'bound' | 'waiting' | 'unbinding' | 'stopped';

/** Keeps one session of one kind bound: when it closes, waits and opens the next one. */
export interface BindLeg {
  readonly state: LegState;
  readonly session: Session | undefined;
  /** The address of the newest try. */
  readonly host: string | null;
  /** Why the newest session failed; null once one is bound. */
  readonly error: string | null;
  /** The newest session was refused because of the account; false once one is bound. */
  readonly refused: boolean;
  /** When the certificate of the newest bound session expires; null without TLS. */
  readonly certificateEndsAtMs: number | null;
  /** By `clock.steadyMs`, while waiting. */
  readonly nextTryMs: number | undefined;
  /** The last bound session ended in order, and no attempt has failed since. */
  readonly isReturning: boolean;
  /** Ends a wait: the next attempt begins now, and later waits start from the shortest. */
  tryNow(more?: TryNow): void;
  stop(drainMs: number): Promise<void>;
  tick(): void;
}

export interface TryNow {
  /** Another connection of ours to this account has just ended. */
  justUnbound?: boolean;
}

/** How a session ended, and when the next try begins. */
export interface LegEnd {
  reason: CloseReason;
  wasBound: boolean;
  /** The refusal will pass by itself (bind-back-off.ts). */
  isPassing: boolean;
  nextTryMs: number;
}

export interface BindLegOptions extends BindOptions {
  command: BindCommand;
  targets: BindTargets;
  backOff: BackOff;
  /** By `clock.steadyMs`. */
  firstTryMs: number;
  onClosed: (end: LegEnd) => void;
}

export function createBindLeg(options: BindLegOptions): BindLeg {
  const { clock, command, targets, settings, backOff, onChange, mayTry = () => true } = options;
  let session: Session | undefined;
  let host: string | null = null;
  let error: string | null = null;
  let refused = false;
  let certificateEndsAtMs: number | null = null;
  let boundAtMs: number | undefined;
  /** When to try next; undefined during a try. */
  let nextTryMs: number | undefined = options.firstTryMs;
  let stopped = false;
  let endedInOrder = false;

  async function connect(): Promise<void> {
    nextTryMs = undefined;
    onChange();
    try {
      const target = await targets.next();
      if (stopped) return;
      host = `${target.host}:${target.port}`;
      open(target);
      onChange();
    } catch (cause) {
      onClosed({ kind: 'connect', sentence: (cause as Error).message, status: 0 });
    }
  }

  function open(target: Awaited<ReturnType<BindTargets['next']>>): void {
    boundAtMs = undefined;
    session = createSession({
      target,
      bind: {
        command,
        systemId: settings().system_id,
        password: settings().password ?? '',
        systemType: settings().system_type,
        addressRange: settings().address_range,
      },
      get window() {
        return settings().window;
      },
      get responseMs() {
        return settings().response_seconds * 1000;
      },
      get enquireLinkMs() {
        return settings().enquire_link_seconds * 1000;
      },
      clock,
      log: options.log,
      onBound() {
        boundAtMs = clock.steadyMs();
        endedInOrder = false;
        error = null;
        refused = false;
        certificateEndsAtMs = session?.certificateEndsAtMs ?? null;
        onChange();
      },
      onDeliver: options.onDeliver,
      onFree: onChange,
      onClosed,
    });
  }

  function onClosed(reason: CloseReason): void {
    session = undefined;
    if (stopped) {
      onChange();
      return;
    }
    endedInOrder = reason.kind === 'peer_unbind' || reason.kind === 'unwritten';
    error = reason.sentence;
    const wasBound = boundAtMs !== undefined;
    const { waitMs, isPassing } = backOff.after(
      reason,
      boundAtMs === undefined ? undefined : clock.steadyMs() - boundAtMs,
    );
    if (reason.kind === 'bind_refused') refused = !isPassing && isAccountRefusal(reason.status);
    boundAtMs = undefined;
    nextTryMs = clock.steadyMs() + waitMs;
    options.onClosed({ reason, wasBound, isPassing, nextTryMs });
    onChange();
  }

  function stateNow(): LegState {
    if (session?.state === 'bound') return 'bound';
    if (session?.state === 'binding') return 'binding';
    if (session?.state === 'unbinding') return 'unbinding';
    if (stopped) return session === undefined ? 'stopped' : 'unbinding';
    return nextTryMs === undefined || nextTryMs <= clock.steadyMs() ? 'connecting' : 'waiting';
  }

  return {
    get state() {
      return stateNow();
    },
    get session() {
      return session;
    },
    get host() {
      return host;
    },
    get error() {
      return error;
    },
    get refused() {
      return refused;
    },
    get certificateEndsAtMs() {
      return certificateEndsAtMs;
    },
    get nextTryMs() {
      return nextTryMs;
    },
    get isReturning() {
      return !stopped && (endedInOrder || session?.state === 'unbinding');
    },
    tryNow({ justUnbound = false } = {}) {
      if (stopped || nextTryMs === undefined) return;
      backOff.reset(justUnbound);
      nextTryMs = Math.min(nextTryMs, clock.steadyMs());
    },
    async stop(drainMs) {
      stopped = true;
      nextTryMs = undefined;
      await session?.unbind(drainMs);
    },
    tick() {
      session?.tick();
      if (!stopped && nextTryMs !== undefined && clock.steadyMs() >= nextTryMs && mayTry()) void connect();
    },
  };
}
