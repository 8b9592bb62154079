/**
 * Finds when a request's caller was last informed, as of the request's first byte: when the connection opened, or its
 * last answer ended. A request sent before an answer cannot know that answer.
 */
export class FirstBytes {
  #informedAtMs: number;
  /** The informed time of the oldest byte not yet taken as a request. */
  #oldestMs: number;
  /** When the caller of the newest bytes was last informed, and the number of these bytes. */
  #newestMs: number;
  #newestLength = 0;

  constructor(openedAtMs: number) {
    this.#informedAtMs = openedAtMs;
    this.#oldestMs = openedAtMs;
    this.#newestMs = openedAtMs;
  }

  noteAnswer(nowMs: number): void {
    this.#informedAtMs = nowMs;
  }

  /** Records arriving bytes; `first` is true when no bytes were waiting. */
  noteBytes(length: number, first: boolean): void {
    this.#newestMs = this.#informedAtMs;
    this.#newestLength = length;
    if (first) this.#oldestMs = this.#newestMs;
  }

  /**
   * Takes a request that leaves `leftLength` bytes. If those came in several pieces, the oldest piece's time counts for
   * all.
   */
  take(leftLength: number): number {
    const taken = this.#oldestMs;
    if (leftLength <= this.#newestLength) this.#oldestMs = this.#newestMs;
    return taken;
  }

  /** The informed time of a request that is incomplete or has not begun to arrive. */
  of(waitingLength: number): number {
    return waitingLength === 0 ? this.#informedAtMs : this.#oldestMs;
  }
}
