// The signing thread. `main.ts` starts it where tokens are issued, so that signatures delay no other answer.
import { parentPort } from 'node:worker_threads';
import { type JwsKey, signJws } from './sign-jws.ts';

/** A request of the main thread: some claims to sign. */
export interface SigningOrder {
  /** For this order and all later ones; left out while it stays the same. */
  key?: JwsKey;
  /** One JWS a line: its type, a space, and its claims as JSON. */
  lines: string;
}

/** An answer: one JWS a line, in the order of the requests. */
export type SignedLines = string;

/** The main thread sends the first of these while this one signs the next. */
const answeredTogether = 8;

let key: JwsKey | undefined;

parentPort?.on('message', (order: SigningOrder) => {
  key = order.key ?? key;
  if (key === undefined) throw new Error('the signing thread was given no key');
  let signed: string[] = [];
  for (const line of order.lines.split('\n')) {
    const space = line.indexOf(' ');
    signed.push(signJws(key, line.slice(0, space), line.slice(space + 1)));
    if (signed.length < answeredTogether) continue;
    answer(signed);
    signed = [];
  }
  if (signed.length > 0) answer(signed);
});

function answer(signed: string[]): void {
  parentPort?.postMessage(signed.join('\n') satisfies SignedLines);
}
