import { createHash } from 'node:crypto';

/** A Lua script. We send its hash, and its text only to a server that does not know it yet. */
export interface Script {
  text: string;
  hash: string;
}

/**
 * One connection without reconnects or retries. Commands of one turn share a write. A late or failed answer closes the
 * connection and fails every command that waits on it.
 */
export interface Redis {
  run(script: Script, key: string, args: string[]): Promise<number[]>;
  ask(command: string[]): Promise<unknown>;
  /** Whether a replica has confirmed all answered commands. Always false without `replicated`. */
  isReplicated(): boolean;
  /** How long no replica has confirmed an answer. */
  unreplicatedForMs(): number;
  /** The server's run id. It changes when the server restarts. */
  readonly serverId: string;
  close(): void;
}

export interface RedisOptions {
  url: string;
  /** How long an answer may take. Opening has its own limit: it may need a TLS handshake and a password. */
  timeoutMs: number;
  connectMs?: number;
  /** Each answer waits until a replica has it, so that a failover keeps it. Refuses a server that is a replica itself. */
  replicated?: boolean;
  /** Called once when the connection is lost; not after `close`. */
  onLost: (error: Error) => void;
}

/** Count the timeout in steps: a pause of this process then uses up one step, not the server's whole time. */
const steps = 4;
/** Without a replica that answers, commands stop waiting after this, and ask again once a second. */
const replicaWithinMs = 40;
const askAgainAfterMs = 1000;

export async function connectRedis(options: RedisOptions): Promise<Redis> {
  const { url, timeoutMs, connectMs = 1000, replicated = false, onLost } = options;
  // Its hundreds of files take as long to load as a fifth of the service: most installations have no Redis.
  const { createClient } = await import('@redis/client');
  const client = createClient({
    url: url.replace(/^valkey/, 'redis'),
    RESP: 2,
    name: 'heliograph',
    disableClientInfo: true,
    disableOfflineQueue: true,
    // The client's timeout covers only the time until the command is written. `within` times the answer.
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

  /** On timeout or error, `lose` destroys the client, which rejects every waiting command. */
  async function within<Result>(limitMs: number, answer: Promise<Result>): Promise<Result> {
    let answered = false;
    let left = steps;
    let timer = setTimeout(step, limitMs / steps);
    function step(): void {
      left -= 1;
      if (left > 0) timer = setTimeout(step, limitMs / steps);
      // First read what has already arrived in the socket.
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
  const info = await within(timeoutMs, replicated ? client.info() : client.info('server'));
  const serverId = /^run_id:(\S+)/m.exec(info)?.[1] ?? '';
  if (replicated && !/^role:master/m.test(info)) {
    const error = new Error('the server that Sentinel names is still a replica');
    lose(error);
    throw error;
  }

  let isReplicated = false;
  let unreplicatedSinceMs = performance.now();
  let waitsAgainAtMs = 0;
  let waiting: Promise<void> | undefined;
  /** One WAIT for all commands of this turn of the event loop; it also confirms earlier commands. */
  function waitForReplica(): Promise<void> {
    waiting ??= Promise.resolve().then(async () => {
      waiting = undefined;
      const count = Number(await send(['WAIT', '1', String(replicaWithinMs)]));
      const nowMs = performance.now();
      isReplicated = count > 0;
      unreplicatedSinceMs = isReplicated ? Number.POSITIVE_INFINITY : Math.min(unreplicatedSinceMs, nowMs);
      if (!isReplicated) waitsAgainAtMs = nowMs + askAgainAfterMs;
    });
    return waiting;
  }

  async function onReplica(answer: Promise<number[]>): Promise<number[]> {
    if (performance.now() < waitsAgainAtMs) return answer;
    const [numbers] = await Promise.all([answer, waitForReplica()]);
    return numbers;
  }

  return {
    serverId,
    run(script, key, args) {
      const answer = send(['EVALSHA', script.hash, '1', key, ...args]).catch((error: unknown) => {
        if (!String(error).includes('NOSCRIPT')) throw error;
        return send(['EVAL', script.text, '1', key, ...args]);
      });
      return within(timeoutMs, replicated ? onReplica(answer) : answer);
    },
    ask: (command) => within(timeoutMs, send(command)),
    isReplicated: () => isReplicated,
    unreplicatedForMs: () => Math.max(0, performance.now() - unreplicatedSinceMs),
    close: () => void end(),
  };
}

export function createScript(text: string): Script {
  return { text, hash: createHash('sha1').update(text).digest('hex') };
}
