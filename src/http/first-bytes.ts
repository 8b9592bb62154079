/**
 * Tells, for each request on a connection, when its caller was last informed as of the request's first byte: at the
 * opening of the connection, or at the end of an answer. A request sent ahead of an answer cannot know what that says.
 */
export class FirstBytes {
  #informedAtMs: number;
  /** As of the first byte that waits to be read as a request. */
  #oldestMs: number;
  /** As of the bytes that came last, and how many those are. */
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

  /** Bytes came; `first` says whether none waited before them. */
  noteBytes(length: number, first: boolean): void {
    this.#newestMs = this.#informedAtMs;
    this.#newestLength = length;
    if (first) this.#oldestMs = this.#newestMs;
  }

  /** A request was taken, and so many bytes are left. Of bytes that came in several pieces the oldest counts for all. */
  take(leftLength: number): number {
    const taken = this.#oldestMs;
    if (leftLength <= this.#newestLength) this.#oldestMs = this.#newestMs;
    return taken;
  }

  /** For a request whose first bytes wait, or that has not begun to arrive. */
  of(waitingLength: number): number {
    return waitingLength === 0 ? this.#informedAtMs : this.#oldestMs;
  }
}
