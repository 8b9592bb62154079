// Keeps one slot of a carrier bound, for ever: as a transceiver, or as a transmitter and a receiver ("pair").
//
//   const supervisor = createBindSupervisor({ slot: 1, settings, clock, log, isAllowedAddress, onDeliver, onChange });
//   supervisor.free          // how many submits it takes now
//   supervisor.submit({ fields, messageId, deadlineMs, settle })     // false: not taken
//   supervisor.state         // for operators
//   await supervisor.stop(30_000);   // drain up to 30 s, unbind, close; with 0 it unbinds at once (5 s at most)
//
// It starts at once. Changed settings need a new supervisor: stop the old one with a drain, then start the new one.
// `state.mode` says what the carrier took. Give `bind: 'pair'` in the settings to a new supervisor that should not ask again.
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import { randomFraction } from '../../platform/random.ts';
import { createBackOff } from './back-off.ts';
import { type BindLeg, createBindLeg, type LegState } from './bind-leg.ts';
import type { BindOptions } from './bind-options.ts';
import { createBindTargets } from './bind-targets.ts';
import { type BindCommand, statuses } from './pdu.ts';
import type { CloseReason } from './session-types.ts';
import type { SubmitRequest } from './submit-window.ts';

const tickMs = 250;

export interface BindState {
  slot: number;
  /** `degraded`: texts leave, but no receipts arrive, because the receiver is not bound. */
  state: LegState | 'degraded';
  mode: 'transceiver' | 'pair';
  host: string | null;
  /** Since when it has been in this state. */
  since: string;
  /** What is wrong, as a sentence. */
  error: string | null;
  next_try_at: string | null;
  /** The carrier refuses the account. */
  refused: boolean;
  /** When the carrier's certificate ends; null without TLS. */
  certificateEndsAtMs: number | null;
}

export interface BindSupervisor {
  readonly state: BindState;
  readonly free: number;
  readonly inFlight: number;
  /** Its session has ended in order, and the next one is being made. */
  readonly isReturning: boolean;
  submit(request: SubmitRequest): boolean;
  stop(drainMs: number): Promise<void>;
  /** Looks at all deadlines. It does so by itself every 250 ms; tests call it after they turned the clock. */
  tick(): void;
}

interface Legs {
  /** A transceiver, or the transmitter of a pair. */
  sender: BindLeg;
  receiver: BindLeg | undefined;
}

export interface BindSupervisorOptions extends BindOptions {
  slot: number;
  /** Called when `state.state` has changed. */
  onState?: (() => void) | undefined;
}

export function createBindSupervisor(options: BindSupervisorOptions): BindSupervisor {
  const { clock, settings, slot, random = randomFraction } = options;
  const senderTargets = createBindTargets(options);
  const senderBackOff = createBackOff(random);
  const receiverBackOff = createBackOff(random);
  /** Which mode the carrier is known to take: the first that was bound, or what the settings say. */
  let known: BindState['mode'] | undefined = settings.bind === 'pair' ? 'pair' : undefined;
  let legs: Legs = createLegs(known ?? 'transceiver', clock.steadyMs());
  let state: BindState['state'] = 'connecting';
  let sinceMs = clock.nowMs();
  let stopping = false;
  const timer = setInterval(tick, tickMs).unref();
  setImmediate(tick);

  function createLegs(mode: BindState['mode'], firstTryMs: number): Legs {
    if (mode === 'transceiver') return { sender: createSender('bind_transceiver', firstTryMs), receiver: undefined };
    const sender = createSender('bind_transmitter', firstTryMs);
    const receiver = createBindLeg({
      ...options,
      command: 'bind_receiver',
      targets: createBindTargets(options),
      backOff: receiverBackOff,
      firstTryMs,
      onChange,
      onClosed: () => {},
    });
    return { sender, receiver };
  }

  function createSender(command: BindCommand, firstTryMs: number): BindLeg {
    const [backOff, targets, onClosed] = [senderBackOff, senderTargets, changeMode];
    return createBindLeg({ ...options, command, targets, backOff, firstTryMs, onChange, onClosed });
  }

  /** Carriers that know no transceiver nack the bind or ignore it: then a pair is tried, and the other way round. */
  function changeMode({ kind, status }: CloseReason, nextTryMs: number): void {
    const notTaken = kind === 'bind_unanswered' || (kind === 'bind_refused' && status === statuses.invalidCommand);
    if (!notTaken || known !== undefined) return;
    const [next, firstTryMs] =
      modeNow() === 'pair' ? (['transceiver', nextTryMs] as const) : (['pair', clock.steadyMs()] as const);
    // The leg that called is still at work.
    setImmediate(() => {
      if (stopping) return;
      const before = legs;
      legs = createLegs(next, firstTryMs);
      void before.sender.stop(0);
      void before.receiver?.stop(0);
      tick();
    });
  }

  function modeNow(): BindState['mode'] {
    return legs.receiver === undefined ? 'transceiver' : 'pair';
  }

  function onChange(): void {
    const next = stateNow();
    if (next !== state) {
      state = next;
      sinceMs = clock.nowMs();
      options.onState?.();
    }
    if (state === 'bound') known = modeNow();
    options.onChange();
  }

  function stateNow(): BindState['state'] {
    const { sender, receiver } = legs;
    if (sender.state !== 'bound' || receiver === undefined || receiver.state === 'bound') return sender.state;
    return 'degraded';
  }

  function errorNow(): string | null {
    const { sender, receiver } = legs;
    if (sender.error !== null || receiver === undefined || receiver.error === null) return sender.error;
    return `The receiver is not bound, so no receipts arrive: ${receiver.error}`;
  }

  function tick(): void {
    legs.sender.tick();
    legs.receiver?.tick();
  }

  return {
    get state() {
      const { host, nextTryMs } = legs.sender;
      const nextTryAtMs = nextTryMs === undefined ? null : clock.nowMs() + nextTryMs - clock.steadyMs();
      return {
        slot,
        state: stateNow(),
        mode: modeNow(),
        host,
        since: toTimestamp(sinceMs),
        error: errorNow(),
        next_try_at: timestampOrNull(nextTryAtMs),
        refused: legs.sender.refused || legs.receiver?.refused === true,
        certificateEndsAtMs: legs.sender.certificateEndsAtMs,
      };
    },
    get free() {
      return legs.sender.session?.free ?? 0;
    },
    get inFlight() {
      return legs.sender.session?.inFlight ?? 0;
    },
    get isReturning() {
      return legs.sender.isReturning;
    },
    submit: (request) => legs.sender.session?.submit(request) ?? false,
    async stop(drainMs) {
      stopping = true;
      const sender = legs.sender.stop(drainMs);
      // Receipts may still arrive while the sender waits for its answers.
      if (drainMs > 0) await sender;
      await Promise.all([sender, legs.receiver?.stop(0)]);
      clearInterval(timer);
    },
    tick,
  };
}
