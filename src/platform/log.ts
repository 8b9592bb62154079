import { type DestinationStream, destination, type Logger, pino } from 'pino';

export type Log = Logger;

export interface LogOptions {
  level: string;
  /** Lines for a person instead of JSON. */
  readable: boolean;
  /** Where lines go; standard output unless a test wants to read them. */
  to?: DestinationStream;
}

/**
 * Logs carry ids, routes and outcomes: never a header, a body, a number, a code or a secret. Nothing redacts them
 * afterwards, because nothing secret is ever handed in.
 */
export function createLog({ level, readable, to }: LogOptions): Log {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    timestamp: () => `,"time":"${new Date(Date.now()).toISOString()}"`,
  };
  if (to !== undefined) return pino(options, to);
  // Asynchronous, so a slow terminal or a full pipe never holds up an answer.
  const stdout = destination({ dest: 1, sync: false });
  return pino(options, readable ? { write: (line: string) => stdout.write(readableLine(line)) } : stdout);
}

const shownElsewhere = new Set(['level', 'time', 'msg', 'method', 'route', 'status', 'ms', 'correlation_id', 'err']);

/** `12:00:01 info  POST /sms/v1/messages 201 3 ms  req_01…` */
export function readableLine(json: string): string {
  const line = JSON.parse(json) as Record<string, unknown>;
  const parts = [String(line.time).slice(11, 19), String(line.level).padEnd(5)];
  if (line.route !== undefined) parts.push(`${line.method} ${line.route} ${line.status} ${line.ms} ms`);
  if (line.msg !== undefined) parts.push(visible(line.msg));
  for (const [name, value] of Object.entries(line)) {
    if (!shownElsewhere.has(name)) parts.push(`${name}=${visible(value)}`);
  }
  if (line.correlation_id !== undefined) parts.push(String(line.correlation_id));
  const error = line.err as { stack?: string; message?: string } | undefined;
  return `${parts.join(' ')}\n${error === undefined ? '' : `${error.stack ?? error.message}\n`}`;
}

/** A terminal obeys control characters: they are shown, not sent. */
function visible(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
