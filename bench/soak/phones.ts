import { setTimeout as pause } from 'node:timers/promises';

/** Where texts end up: carriers note each one here. */
export interface Phones {
  /** Called by a carrier for each text that it was given. */
  arrive(to: string, text: string): void;
  /** From now on the code that is sent to this number is kept for its caller. */
  expect(number: string): ExpectedCode;
}

export interface ExpectedCode {
  /** The code, which may have come before; undefined if none comes in time. */
  within(ms: number): Promise<string | undefined>;
  cancel(): void;
}

/** Texts of the load say their number; all others are codes. */
const numbered = /^Soak text (\d{1,9})\b/;
const code = /\b(\d{4,10})\b/;

export function createPhones(onText: (number: number) => void): Phones {
  const awaited = new Map<string, (code: string) => void>();
  return {
    arrive(to, text) {
      const number = numbered.exec(text)?.[1];
      if (number !== undefined) {
        onText(Number(number));
        return;
      }
      const found = code.exec(text)?.[1];
      if (found !== undefined) awaited.get(digitsOf(to))?.(found);
    },
    expect(number) {
      const key = digitsOf(number);
      const cancel = () => void awaited.delete(key);
      const arrived = new Promise<string>((resolve) => {
        awaited.set(key, resolve);
      });
      return {
        cancel,
        async within(ms) {
          const late = new AbortController();
          const timeout = pause(ms, undefined, { signal: late.signal }).catch(() => undefined);
          const found = await Promise.race([arrived, timeout]);
          late.abort();
          cancel();
          return found;
        },
      };
    },
  };
}

/** A carrier may write a number with or without its plus. */
function digitsOf(number: string): string {
  return number.startsWith('+') ? number.slice(1) : number;
}
