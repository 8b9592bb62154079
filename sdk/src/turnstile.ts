import type { HeliographError } from './errors.ts';
import { nowMs } from './waiting.ts';

interface Waiting {
  /** How many more closings the call may wait for. */
  chances: number;
  closings: number;
  go(): void;
  refuse(error: unknown): void;
}

/** Each active call has a connection, and a process can open only a limited number of files. */
const mostUnderWay = 100;

/**
 * Limits the concurrent calls of one API. After a 429 all of them wait, because a call sent too early prolongs the limit.
 * Then it admits one call, then two, four and so on, but never more than the responses say is left.
 */
export class Turnstile {
  #closedUntilMs = Number.NEGATIVE_INFINITY;
  /** Maximum number of concurrent calls after a 429; undefined if there was none. */
  #room: number | undefined;
  #underWay = 0;
  /** First in, first out. */
  readonly #waiting = new Set<Waiting>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /**
   * Resolves when the call may be sent; it must then `leave`. Returns how often the turnstile closed meanwhile: a 429 of
   * one call is one for all that wait, so a call that has no `chances` left is refused with the same error.
   */
  enter(chances: number, signal: AbortSignal | undefined): Promise<number> {
    signal?.throwIfAborted();
    if (this.#waiting.size === 0 && this.#mayGo()) {
      this.#underWay++;
      return Promise.resolve(0);
    }
    return new Promise((resolve, reject) => {
      const settle = (act: () => void) => {
        this.#waiting.delete(waiting);
        signal?.removeEventListener('abort', stop);
        act();
      };
      const waiting: Waiting = {
        chances,
        closings: 0,
        go: () => settle(() => resolve(waiting.closings)),
        refuse: (error) => settle(() => reject(error)),
      };
      const stop = () => {
        waiting.refuse(signal?.reason);
        this.#letGo();
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#waiting.add(waiting);
      this.#letGo();
    });
  }

  /** `remaining` is the remaining limit of the response. */
  leave(remaining: number | undefined): void {
    this.#underWay--;
    if (this.#room !== undefined && remaining !== undefined && !this.#isClosed())
      this.#room = Math.max(1, Math.min(this.#room * 2, remaining));
    this.#letGo();
    if (this.#waiting.size === 0 && this.#underWay === 0 && !this.#isClosed()) this.#room = undefined;
  }

  /** Sends no call for this time. Calls that were active together report the same closing. */
  close(ms: number, error: HeliographError): void {
    const isNew = !this.#isClosed();
    this.#closedUntilMs = Math.max(this.#closedUntilMs, nowMs() + ms);
    this.#room = 1;
    if (!isNew) return;
    for (const waiting of this.#waiting) {
      waiting.closings++;
      if (waiting.closings > waiting.chances) waiting.refuse(error);
    }
    this.#letGo();
  }

  #isClosed(): boolean {
    return nowMs() < this.#closedUntilMs;
  }

  #mayGo(): boolean {
    return !this.#isClosed() && this.#underWay < Math.min(this.#room ?? mostUnderWay, mostUnderWay);
  }

  #letGo(): void {
    for (const waiting of this.#waiting) {
      if (!this.#mayGo()) break;
      this.#underWay++;
      waiting.go();
    }
    clearTimeout(this.#timer);
    if (this.#waiting.size > 0 && this.#isClosed())
      this.#timer = setTimeout(() => this.#letGo(), Math.ceil(this.#closedUntilMs - nowMs()));
  }
}
