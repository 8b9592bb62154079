import { Events } from './feed.ts';
import { newIdempotencyKey } from './idempotency.ts';
import { type List, listAt } from './list.ts';
import { pathPart } from './path.ts';
import type { CallOptions, Transport, WriteOptions } from './transport.ts';
import type {
  CanceledVerification,
  CheckedVerification,
  GuardDecision,
  NewVerification,
  NumberToCheck,
  Payment,
  ReportedVerification,
  StartedVerification,
  Verification,
  VerificationFilters,
  VerificationOutcome,
} from './types.ts';

export interface CheckOptions extends WriteOptions {
  payment?: Payment | undefined;
}

const base = '/verify/v1/verifications';

/** Verifies numbers by code. */
export class Verifications {
  /** The events of verifications. */
  readonly events: Events;
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.events = new Events(transport);
  }

  /**
   * Sends a code to a number. A second start while one is pending continues it, with the same code. With a `code` of
   * your own, another code replaces it.
   */
  start(verification: NewVerification, options: WriteOptions = {}): Promise<StartedVerification> {
    return this.#post<StartedVerification>(base, { channel: 'sms', ...verification }, options);
  }

  /**
   * Checks the code that a person entered. `valid` says whether it was correct. With a `payment` that is another one than
   * the verification was started with, it fails.
   */
  check(id: string, code: string, { payment, ...options }: CheckOptions = {}): Promise<CheckedVerification> {
    return this.#post<CheckedVerification>(pathOf(id), { code, ...(payment !== undefined && { payment }) }, options);
  }

  /** Checks a code by number: for the pending verification, else the newest that started within 24 hours. */
  checkNumber(check: NumberToCheck, options: WriteOptions = {}): Promise<CheckedVerification> {
    return this.#post<CheckedVerification>('/verify/v1/checks', check, options);
  }

  /** Reports the outcome of a code of your own that you checked yourself. */
  outcome(id: string, outcome: VerificationOutcome, { signal }: CallOptions = {}): Promise<ReportedVerification> {
    const path = `${pathOf(id)}/outcome`;
    return this.#transport.call<ReportedVerification>({ method: 'PUT', path, body: { outcome }, signal });
  }

  get(id: string, { signal }: CallOptions = {}): Promise<Verification> {
    return this.#transport.call<Verification>({ method: 'GET', path: pathOf(id), signal });
  }

  /** Newest first. */
  list(filters: VerificationFilters = {}, options: CallOptions = {}): List<Verification> {
    return listAt<Verification>(this.#transport, base, filters, options);
  }

  cancel(id: string, { signal }: CallOptions = {}): Promise<CanceledVerification> {
    return this.#transport.call<CanceledVerification>({ method: 'DELETE', path: pathOf(id), signal });
  }

  /** Explains whether a start for this number would be allowed. It sends nothing. */
  explain(to: string, options: WriteOptions = {}): Promise<GuardDecision> {
    return this.#post<GuardDecision>('/verify/v1/guard/explain', { to }, options);
  }

  #post<Answer>(path: string, body: unknown, options: WriteOptions): Promise<Answer> {
    const { signal, idempotencyKey = newIdempotencyKey() } = options;
    return this.#transport.call<Answer>({ method: 'POST', path, body, idempotencyKey, signal });
  }
}

function pathOf(id: string): string {
  return `${base}/${pathPart('id', id)}`;
}
