import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { toTimestamp } from './clock.ts';

/** A pino logger, and the stream that it writes its lines to. */
export type Log = Logger & {
  readonly stream: DestinationStream;
  /** The level of routine lines, one for each request and each migration: a terminal shows them only at `debug`. */
  readonly routine: 'info' | 'debug';
};

export interface LogOptions {
  level: string;
  /** Readable lines instead of JSON. */
  readable: boolean;
  /** Where lines go: standard output by default; tests pass their own stream. */
  to?: DestinationStream;
  /** The number of a web process, in each of its lines. */
  process?: number;
}

/** Most bytes to buffer for a slow reader of standard output. */
const heldBackAtMost = 16 * 1024 * 1024;

/** Write lines in groups, because every write wakes another thread. A line waits at most 100 ms. */
const writtenTogether = 8 * 1024;
const writtenAfterMs = 100;

/**
 * Logs carry ids, routes and outcomes: never a header, a body, a number, a code or a secret. Callers must not pass
 * secrets in: nothing redacts them afterwards.
 */
export function createLog({ level, readable, to, process }: LogOptions): Log {
  const options = {
    level,
    base: null,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: describeError },
    timestamp: () => `,"time":"${toTimestamp(Date.now())}"`,
  };
  const lines = to ?? toStandardOutput(readable);
  const stream = process === undefined ? lines : numbered(lines, process);
  return Object.assign(pino(options, stream), { stream, routine: readable ? ('debug' as const) : ('info' as const) });
}

/** Every line is a JSON object with fields. */
function numbered(lines: DestinationStream, process: number): DestinationStream {
  return { write: (line) => lines.write(`{"process":${process},${line.slice(1)}`) };
}

/** Asynchronous, so that a slow terminal or a full pipe never delays an answer. Lines beyond the buffer are dropped. */
function toStandardOutput(readable: boolean): DestinationStream {
  const stdout = destination({ dest: 1, sync: false, maxLength: heldBackAtMost });
  return readable ? { write: (line: string) => stdout.write(readableLine(line)) } : together(stdout);
}

function together(stdout: ReturnType<typeof destination>): DestinationStream {
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(timer);
    if (lines !== '') stdout.write(lines);
    lines = '';
  };
  // Run before pino's exit handler, which flushes what it already has.
  process.prependListener('exit', flush);
  return {
    write(line) {
      // No timer runs while nothing is logged.
      if (lines === '') timer = setTimeout(flush, writtenAfterMs).unref();
      lines += line;
      if (lines.length >= writtenTogether) flush();
    },
  };
}

/**
 * Writes a line whose fields are already JSON. For the log line of each request, pino takes as long as the whole edge.
 */
export function writeLine(log: Log, level: 'debug' | 'info' | 'error', fields: string): void {
  if (!log.isLevelEnabled(level)) return;
  log.stream.write(`{"level":"${level}","time":"${toTimestamp(Date.now())}",${fields}}\n`);
}

interface DescribedError {
  type: string;
  message: string;
  stack: string;
  code?: unknown;
  cause?: unknown;
}

/**
 * Postgres errors repeat values: in extra fields ("Key (to)=(+44…) already exists"), which we omit, and in class 22
 * (bad data) in the message itself.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as { code?: unknown };
  const message = typeof code === 'string' && /^22[0-9A-Z]{3}$/.test(code) ? 'bad data' : error.message;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const described: DescribedError = {
    type: error.name,
    message,
    stack: [`${error.name}: ${message}`, ...frames].join('\n'),
  };
  if (code !== undefined) described.code = code;
  if (error.cause !== undefined) described.cause = describeError(error.cause);
  return described;
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
  return `${parts.join(' ')}\n${readableError(line.err)}`;
}

function readableError(error: unknown): string {
  if (typeof error !== 'object' || error === null) return error === undefined ? '' : `${visible(error)}\n`;
  const { stack, cause } = error as Partial<DescribedError>;
  const lines = String(stack).split('\n').map(visible).join('\n');
  return `${lines}\n${cause === undefined ? '' : `caused by ${readableError(cause)}`}`;
}

/** Escape control characters: a terminal would execute them. */
function visible(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.replaceAll(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
