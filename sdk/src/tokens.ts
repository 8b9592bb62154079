import { nowMs, orAborted } from './waiting.ts';

export interface Token {
  value: string;
  /** When to request a new token: shortly before it expires. */
  renewAtMs: number;
}

export interface TokenAnswer {
  access_token: string;
  expires_in: number;
}

const earliestRenewalMs = 30_000;

/** Caches the token of one scope. All waiting calls share one request. */
export class Tokens {
  readonly #ask: () => Promise<TokenAnswer>;
  #current: Token | undefined;
  #asked: Promise<Token> | undefined;

  constructor(ask: () => Promise<TokenAnswer>) {
    this.#ask = ask;
  }

  /** An aborted caller does not abort the request, because others may wait for it. */
  get(signal: AbortSignal | undefined): Promise<Token> {
    if (this.#current !== undefined && nowMs() < this.#current.renewAtMs) return Promise.resolve(this.#current);
    return orAborted(this.#asked ?? this.#renew(), signal);
  }

  /** The service refused this token: the next call gets a new one. */
  forget(token: Token): void {
    if (this.#current === token) this.#current = undefined;
  }

  #renew(): Promise<Token> {
    const asked = this.#fetchToken();
    this.#asked = asked;
    const done = () => {
      this.#asked = undefined;
    };
    asked.then(done, done);
    return asked;
  }

  async #fetchToken(): Promise<Token> {
    const beganMs = nowMs();
    const { access_token: value, expires_in: seconds } = await this.#ask();
    const lifeMs = seconds * 1000;
    this.#current = { value, renewAtMs: beganMs + lifeMs - Math.min(earliestRenewalMs, lifeMs / 10) };
    return this.#current;
  }
}
