// Tests: test/smpp/bind-supervisor.test.ts
//
// Keeps one slot of a carrier bound, for ever: as a transceiver, or as a transmitter and a receiver ("pair").
//
//   const supervisor = createBindSupervisor({ slot: 1, settings, clock, log, isAllowedAddress, onDeliver, onChange });
//   supervisor.free          // how many submits it takes now
//   supervisor.submit({ fields, messageId, deadlineMs, settle })     // false: not taken
//   supervisor.state         // for operators
//   await supervisor.stop(30_000);   // drain up to 30 s, unbind, close; with 0 it unbinds at once (5 s at most)
//
// It starts at once. Settings that a bind is made with need a new supervisor: stop the old one with a drain, then start
// the new one. `state.mode` is the kind of bind that the carrier took; with it as `bind` a new supervisor tries no other.
import { timestampOrNull, toTimestamp } from '../../platform/clock.ts';
import { randomFraction } from '../../platform/crypto/random.ts';
import { isUnknownBind, mayBeWrongKind } from '../../smpp/bind-refusals.ts';
import type { BindCommand } from '../../smpp/pdu.ts';
import type { SubmitRequest } from '../../smpp/submit-window.ts';
import { createBackOff } from './bind-back-off.ts';
import { type BindLeg, createBindLeg, type LegEnd, type LegState, type TryNow } from './bind-leg.ts';
import type { BindOptions } from './bind-options.ts';
import { createBindTargets } from './bind-targets.ts';

const tickMs = 250;

export interface BindState {
  slot: number;
  /** `degraded`: texts leave, but no receipts arrive, because the receiver is not bound. */
  state: LegState | 'degraded';
  mode: 'transceiver' | 'pair';
  host: string | null;
  /** Since when it has been in this state. */
  since: string;
  /** The error, as a sentence. */
  error: string | null;
  next_try_at: string | null;
  /** The carrier refuses the account. */
  refused: boolean;
  /** When the carrier's certificate expires; null without TLS. */
  certificateEndsAtMs: number | null;
}

export interface BindSupervisor {
  readonly state: BindState;
  readonly free: number;
  readonly inFlight: number;
  /** Its session has ended in order, and the next one is being made. */
  readonly isReturning: boolean;
  submit(request: SubmitRequest): boolean;
  /** Ends the wait for the next try. */
  tryNow(more?: TryNow): void;
  stop(drainMs: number): Promise<void>;
  /** Checks all deadlines. Runs by itself every 250 ms; tests call it after they advance the clock. */
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

interface PairAttempt {
  isOver: boolean;
  error: string;
  refused: boolean;
  /** When the transceiver is tried again. */
  nextTryMs: number;
}

export function createBindSupervisor(options: BindSupervisorOptions): BindSupervisor {
  const { clock, settings, slot, random = randomFraction } = options;
  const senderTargets = createBindTargets(options);
  const senderBackOff = createBackOff(random, options.justUnbound);
  const receiverBackOff = createBackOff(random, options.justUnbound);
  /** The mode that the carrier is known to take: the first that was bound, or that of the settings. */
  let known: BindState['mode'] | undefined = settings().bind === 'pair' ? 'pair' : undefined;
  /** The single attempt of a pair after an unclear refusal, and the answer that the transceiver got. */
  let attempt: PairAttempt | undefined;
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
      onClosed: endAttempt,
    });
    return { sender, receiver };
  }

  function createSender(command: BindCommand, firstTryMs: number): BindLeg {
    // An attempt does not count as a further failure.
    const backOff = isAttempting() ? createBackOff(random) : senderBackOff;
    const [targets, onClosed] = [senderTargets, onSenderClosed];
    return createBindLeg({ ...options, command, targets, backOff, firstTryMs, onChange, onClosed });
  }

  /** Carriers that do not know a kind of bind nack it or ignore it: then the other kind is tried. */
  function onSenderClosed(end: LegEnd): void {
    if (isAttempting()) endAttempt(end);
    else if (known === undefined && isUnknownBind(end.reason)) {
      if (modeNow() === 'pair') changeMode('transceiver', end.nextTryMs);
      else changeMode('pair', clock.steadyMs());
    } else if (known === undefined && !end.wasBound && !end.isPassing && mayBeWrongKind(end.reason)) beginAttempt(end);
  }

  /** Other carriers refuse a transceiver as if the account were wrong, or just close: so a pair is tried once. */
  function beginAttempt({ reason, nextTryMs }: LegEnd): void {
    if (attempt !== undefined || modeNow() === 'pair') return;
    attempt = { isOver: false, error: reason.sentence, refused: legs.sender.refused, nextTryMs };
    changeMode('pair', clock.steadyMs());
  }

  /** A pair with only one half bound is worse than a transceiver. */
  function endAttempt({ wasBound }: Pick<LegEnd, 'wasBound'>): void {
    if (!isAttempting() || attempt === undefined || wasBound) return;
    attempt.isOver = true;
    changeMode('transceiver', Math.max(clock.steadyMs(), attempt.nextTryMs));
  }

  function isAttempting(): boolean {
    return attempt !== undefined && !attempt.isOver && known === undefined;
  }

  function changeMode(next: BindState['mode'], firstTryMs: number): void {
    // Deferred, because the leg that called this is still in the middle of its own work.
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
    return isAttempting() ? 'binding' : 'degraded';
  }

  function errorNow(): string | null {
    const { sender, receiver } = legs;
    if (sender.state !== 'bound' && sender.error === null && known === undefined) return attempt?.error ?? null;
    if (sender.error !== null || receiver === undefined || receiver.error === null) return sender.error;
    return `The receiver is not bound, so no receipts arrive: ${receiver.error}`;
  }

  function isRefused(): boolean {
    const { sender, receiver } = legs;
    if (known === undefined && sender.error === null) return attempt?.refused === true;
    return sender.refused || receiver?.refused === true;
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
        refused: isRefused(),
        certificateEndsAtMs: legs.sender.certificateEndsAtMs,
      };
    },
    get free() {
      // An attempt may end at any moment, and would put its texts in doubt.
      return isAttempting() ? 0 : (legs.sender.session?.free ?? 0);
    },
    get inFlight() {
      return legs.sender.session?.inFlight ?? 0;
    },
    get isReturning() {
      return legs.sender.isReturning;
    },
    submit: (request) => legs.sender.session?.submit(request) ?? false,
    tryNow(more) {
      legs.sender.tryNow(more);
      legs.receiver?.tryNow(more);
      tick();
    },
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
