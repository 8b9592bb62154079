import { Worker } from 'node:worker_threads';
import type { Log } from '../platform/log.ts';
import { type JwsKey, type JwsSigner, signJwsInPool } from './sign-jws.ts';
import type { SignedLines, SigningOrder } from './signing-thread.ts';

export interface SigningThread {
  sign: JwsSigner;
  /** Whether there is a thread that takes orders. */
  readonly isRunning: boolean;
  stop(): Promise<void>;
}

interface Request {
  key: JwsKey;
  typ: string;
  claims: string;
  resolve: (jws: string | Promise<string>) => void;
}

/** At this number of requests they are sent at once, before the end of the turn. */
const askedTogether = 16;

/**
 * Signs in a thread all that one turn of the event loop asks for: much cheaper than a job per signature in Node's pool.
 * Starts when a turn first asks for several; until then the pool signs.
 */
export function startSigningThread(
  log: Log,
  { file = new URL('./signing-thread.js', import.meta.url), restartAfterMs = 1000 } = {},
): SigningThread {
  /** Set while it takes orders. */
  let thread: Worker | undefined;
  let launched: Worker | undefined;
  let restart: NodeJS.Timeout | undefined;
  let stopping = false;
  /** The id of the key that the thread has. */
  let keyGiven: string | undefined;
  /** The requests of this turn so far. */
  let asked: Request[] = [];
  /** The requests that the thread is signing. It answers in this order. */
  let atWork: Request[] = [];

  function launch(): void {
    const worker = new Worker(file);
    launched = worker;
    // Requests keep the process alive, not the thread.
    worker.unref();
    keyGiven = undefined;
    worker.on('online', () => {
      thread = worker;
    });
    worker.on('message', (signed: SignedLines) => {
      const lines = signed.split('\n');
      for (const [index, { resolve }] of atWork.splice(0, lines.length).entries()) resolve(lines[index] ?? '');
    });
    worker.on('error', (error) => log.error({ err: error }, 'the signing thread failed'));
    worker.on('exit', () => {
      thread = undefined;
      const lost = atWork;
      atWork = [];
      signInPool(lost);
      if (!stopping) restart = setTimeout(launch, restartAfterMs).unref();
    });
  }

  /** Sends the turn's requests, which all have the same key. */
  function sendAsked(): void {
    const [first] = asked;
    if (first === undefined) return;
    const requests = asked;
    asked = [];
    if (thread === undefined) {
      if (launched === undefined && requests.length > 1 && !stopping) launch();
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

  return {
    sign: (key, typ, claims) =>
      new Promise((resolve) => {
        if (asked[0] !== undefined && asked[0].key.kid !== key.kid) sendAsked();
        const count = asked.push({ key, typ, claims, resolve });
        if (count === 1) setImmediate(sendAsked);
        else if (count >= askedTogether) sendAsked();
      }),
    get isRunning() {
      return thread !== undefined;
    },
    async stop() {
      stopping = true;
      clearTimeout(restart);
      await launched?.terminate();
    },
  };
}

function signInPool(requests: Request[]): void {
  for (const { key, typ, claims, resolve } of requests) resolve(signJwsInPool(key, typ, claims));
}
