import type { Answered, Meter } from '../http/gate.ts';
import type { CallingApplication } from '../http/route.ts';
import { TraceWriter } from './request-trace.ts';
import type { Asked, RequestTraces } from './request-traces.ts';
import type { Counter, UsageCounts } from './usage-counts.ts';

/** Keeps the counter and trace buffer of its application's last request, which saves two lookups per request. */
export class ApplicationMeter implements Meter {
  readonly #caller: CallingApplication;
  readonly #counts: UsageCounts;
  readonly #traces: RequestTraces;
  readonly #writer: TraceWriter;
  #counter: Counter | undefined;
  #asked: Asked | undefined;

  constructor(caller: CallingApplication, counts: UsageCounts, traces: RequestTraces) {
    this.#caller = caller;
    this.#counts = counts;
    this.#traces = traces;
    this.#writer = new TraceWriter(caller);
  }

  count(admitted: boolean): void {
    const counter = this.#counts.count(this.#caller, admitted, this.#counter);
    if (counter !== this.#counter) this.#counter = counter;
  }

  note(answered: Answered): void {
    const asked = this.#traces.note(this.#caller.applicationId, this.#writer.row(answered), this.#asked);
    if (asked !== this.#asked) this.#asked = asked;
  }
}
