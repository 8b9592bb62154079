import { createHash } from 'node:crypto';
import { createClient } from '@redis/client';

/** A script that is sent by its hash, and whole only to a server that does not know it yet. */
export interface Script {
  text: string;
  hash: string;
}

/**
 * One connection, for as long as it holds: it neither reconnects nor sends anything twice. What is sent in one turn goes
 * out in one write. An answer that does not come in time, or that is an error, is the end of the connection, and so of
 * everything else that waits on it.
 */
export interface Redis {
  run(script: Script, key: string, args: string[]): Promise<number[]>;
  /** The server's name for itself. A server that was started again has another. */
  readonly serverId: string;
  close(): void;
}

export interface RedisOptions {
  url: string;
  /** How long an answer may take. Nobody waits for the opening, which may need a handshake and a password. */
  timeoutMs: number;
  connectMs?: number;
  /** Called once, unless `close` came first. */
  onLost: (error: Error) => void;
}

/** The time is counted in steps, so that one in which this process itself stood still is not held against the server. */
const steps = 4;

export async function connectRedis(options: RedisOptions): Promise<Redis> {
  const { url, timeoutMs, connectMs = 1000, onLost } = options;
  const client = createClient({
    url: url.replace(/^valkey/, 'redis'),
    RESP: 2,
    name: 'heliograph',
    disableClientInfo: true,
    disableOfflineQueue: true,
    // The client's own timeout ends when a command is written, which is when ours begins to matter.
    commandOptions: { timeout: 0 },
    socket: { reconnectStrategy: false, connectTimeout: connectMs, keepAliveInitialDelay: 10_000 },
  });
  let over = false;

  function end(): boolean {
    if (over) return false;
    over = true;
    if (client.isOpen) client.destroy();
    return true;
  }

  function lose(error: Error): void {
    if (end()) onLost(error);
  }

  /** Destroying the client makes everything that waits fail, this one too. */
  async function within<Result>(limitMs: number, answer: Promise<Result>): Promise<Result> {
    let answered = false;
    let left = steps;
    let timer = setTimeout(step, limitMs / steps);
    function step(): void {
      left -= 1;
      if (left > 0) timer = setTimeout(step, limitMs / steps);
      // What lies in the socket by now is read first.
      else setImmediate(() => answered || lose(new Error(`no answer within ${limitMs} ms`)));
    }
    try {
      return await answer;
    } catch (error) {
      lose(error as Error);
      throw error;
    } finally {
      answered = true;
      clearTimeout(timer);
    }
  }

  const send = (args: string[]) => client.sendCommand<number[]>(args);
  client.on('error', lose);
  await within(connectMs, client.connect());
  const serverId = /^run_id:(\S+)/m.exec(await within(timeoutMs, client.info('server')))?.[1] ?? '';

  return {
    serverId,
    run(script, key, args) {
      const answer = send(['EVALSHA', script.hash, '1', key, ...args]).catch((error: unknown) => {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return send(['EVAL', script.text, '1', key, ...args]);
      });
      return within(timeoutMs, answer);
    },
    close: () => void end(),
  };
}

export function createScript(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}
