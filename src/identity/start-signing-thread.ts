import { Worker } from 'node:worker_threads';
import type { Log } from '../platform/log.ts';
import { type JwsKey, type JwsSigner, signJwsInPool } from './sign-jws.ts';
import type { SignedLines, SigningOrder } from './signing-thread.ts';

export interface SigningThread {
  sign: JwsSigner;
  stop(): Promise<void>;
}

interface Request {
  key: JwsKey;
  typ: string;
  claims: string;
  resolve: (jws: string | Promise<string>) => void;
}

/** The thread begins before a turn has ended when the turn asks for more than this. */
const askedTogether = 16;

/**
 * Starts a thread that signs what one turn of the event loop asks for together. One signature in Node's thread pool takes
 * a job, two wake-ups and a callback; here a dozen share them. While there is no thread, the pool signs.
 */
export function startSigningThread(
  log: Log,
  { file = new URL('./signing-thread.js', import.meta.url), restartAfterMs = 1000 } = {},
): SigningThread {
  let thread: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  /** The id of the key that the thread has. */
  let keyGiven: string | undefined;
  /** What this turn has asked for so far. */
  let asked: Request[] = [];
  /** What the thread works on. It answers in this order. */
  let atWork: Request[] = [];

  function launch(): void {
    const launched = new Worker(file);
    // Requests keep the process alive, not the thread.
    launched.unref();
    thread = launched;
    keyGiven = undefined;
    launched.on('message', (signed: SignedLines) => {
      const lines = signed.split('\n');
      for (const [index, { resolve }] of atWork.splice(0, lines.length).entries()) resolve(lines[index] ?? '');
    });
    launched.on('error', (error) => log.error({ err: error }, 'the signing thread failed'));
    launched.on('exit', () => {
      thread = undefined;
      const lost = atWork;
      atWork = [];
      signInPool(lost);
      if (!stopping) restart = setTimeout(launch, restartAfterMs).unref();
    });
  }

  /** All of them for one key. */
  function sendAsked(): void {
    const [first] = asked;
    if (first === undefined) return;
    const requests = asked;
    asked = [];
    if (thread === undefined) {
      signInPool(requests);
      return;
    }
    const order: SigningOrder = { lines: requests.map(({ typ, claims }) => `${typ} ${claims}`).join('\n') };
    const { kid, alg, privateKey } = first.key;
    if (kid !== keyGiven) order.key = { kid, alg, privateKey };
    keyGiven = kid;
    atWork.push(...requests);
    thread.postMessage(order);
  }

  launch();
  return {
    sign: (key, typ, claims) =>
      new Promise((resolve) => {
        if (asked[0] !== undefined && asked[0].key.kid !== key.kid) sendAsked();
        const count = asked.push({ key, typ, claims, resolve });
        if (count === 1) setImmediate(sendAsked);
        else if (count >= askedTogether) sendAsked();
      }),
    async stop() {
      stopping = true;
      clearTimeout(restart);
      await thread?.terminate();
    },
  };
}

function signInPool(requests: Request[]): void {
  for (const { key, typ, claims, resolve } of requests) resolve(signJwsInPool(key, typ, claims));
}
