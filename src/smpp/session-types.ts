import type { Clock } from '../platform/clock.ts';
import type { ConnectionTarget } from './connection.ts';
import type { Delivery } from './deliveries.ts';
import type { BindCommand, BindFields } from './pdu.ts';
import type { PduRecorder } from './pdu-recorder.ts';
import type { SubmitRequest } from './submit-window.ts';

export type SessionState = 'connecting' | 'tls' | 'binding' | 'bound' | 'unbinding' | 'closed';

/** Why a session closed. The sentence is for operators. */
export interface CloseReason {
  kind:
    | 'connect' // no connection, or no TLS
    | 'bind_refused' // the peer refused the bind: see `status`
    | 'bind_unanswered'
    | 'lost' // the peer closed it, or it broke
    | 'silent' // the peer answered nothing for too long
    | 'stalled' // the peer stopped reading, or stopped inside a PDU
    | 'protocol' // octets that are no SMPP, or an answer that fits nothing
    | 'unwritten' // a receipt could not be written
    | 'peer_unbind'
    | 'stopped'; // by us
  sentence: string;
  /** The command_status of `bind_refused`, else 0. */
  status: number;
}

/** A reason without a status. */
export function because(kind: CloseReason['kind'], sentence: string): CloseReason {
  return { kind, sentence, status: 0 };
}

export interface SessionOptions {
  target: ConnectionTarget;
  bind: { command: BindCommand } & Pick<BindFields, 'systemId' | 'password' | 'systemType' | 'addressRange'>;
  /** Maximum number of unanswered submits. This and the two times may change during the session. */
  readonly window: number;
  readonly responseMs: number;
  readonly enquireLinkMs: number;
  clock: Clock;
  log: PduRecorder;
  onBound: () => void;
  /**
   * Writes a receipt or text, and resolves to the command_status of its answer. If it rejects, or takes a minute, the
   * session answers nothing and unbinds: the peer sends it again to the next session.
   */
  onDeliver: (delivery: Delivery) => Promise<number>;
  /** Called when the window has room again. */
  onFree: () => void;
  /** Called once, after every submit has been settled. */
  onClosed: (reason: CloseReason) => void;
  /** For tests: the sequence before the first one. */
  lastSequence?: number;
}

export interface SessionCounters {
  /** PDUs that need no answer and mean nothing to us, such as alert_notification. */
  ignored: number;
  /** Answers that match no open request. */
  unmatchedAnswers: number;
  /** PDUs with something wrong inside. */
  malformed: number;
}

export interface Session {
  readonly state: SessionState;
  /** How many more submits it takes now; 0 unless bound. */
  readonly free: number;
  readonly inFlight: number;
  readonly counters: Readonly<SessionCounters>;
  /** When the peer's certificate expires; undefined without TLS. */
  readonly certificateEndsAtMs: number | undefined;
  /** Sends a text at the end of this turn of the event loop. False: not taken, and `settle` is never called. */
  submit(request: SubmitRequest): boolean;
  /**
   * Takes no more submits, waits up to `drainMs` for open answers, unbinds and closes, 5 s later at the latest. Resolves
   * when closed. Before it is bound it closes at once.
   */
  unbind(drainMs?: number): Promise<void>;
  /** Checks all deadlines. Runs by itself every 250 ms; tests call it after they advance the clock. */
  tick(): void;
}
