import type { HeliographError } from './errors.ts';
import { nowMs } from './waiting.ts';

interface Waiting {
  /** How many closings it may still sit through. */
  chances: number;
  closings: number;
  go(): void;
  refuse(error: unknown): void;
}

/** Each call under way has a connection: ten thousand at once would use up the files that a process may open. */
const mostUnderWay = 100;

/**
 * Lets calls of one API through. After a 429 all of them wait together: one that is sent too early would keep the limit
 * closed for longer. Then one goes to look, then two, four and so on, but never more than the answers say is left.
 */
export class Turnstile {
  #closedUntilMs = Number.NEGATIVE_INFINITY;
  /** How many calls may be under way after a 429; undefined: there was none. */
  #room: number | undefined;
  #underWay = 0;
  /** In the order in which they came. */
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

  /** `remaining` is what the answer says is left of the limit. */
  leave(remaining: number | undefined): void {
    this.#underWay--;
    if (this.#room !== undefined && remaining !== undefined && !this.#isClosed())
      this.#room = Math.max(1, Math.min(this.#room * 2, remaining));
    this.#letGo();
    if (this.#waiting.size === 0 && this.#underWay === 0 && !this.#isClosed()) this.#room = undefined;
  }

  /** No call is sent before then. Calls that were under way together report the same closing. */
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
