import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, readableLine, writeLine } from './log.ts';

function linesOf(work: (log: ReturnType<typeof createLog>) => void): string[] {
  const lines: string[] = [];
  work(createLog({ level: 'info', readable: false, to: { write: (line) => void lines.push(line) } }));
  return lines;
}

test('a line is JSON with its time in UTC, its level by name, and neither pid nor host', () => {
  const [line = ''] = linesOf((log) => log.info({ route: '/healthz' }, 'hello'));
  const { time, ...rest } = JSON.parse(line) as Record<string, unknown>;
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'info', route: '/healthz', msg: 'hello' });
});

test('what is below the level is not written', () => {
  assert.deepEqual(
    linesOf((log) => log.debug('quiet')),
    [],
  );
  const lines: string[] = [];
  const log = createLog({ level: 'error', readable: false, to: { write: (line) => void lines.push(line) } });
  writeLine(log, 'info', '"route":"/healthz"');
  assert.deepEqual(lines, []);
});

test('routine lines are at info in a file, and at debug in a terminal', () => {
  const routineIn = (readable: boolean, level: string) => {
    const lines: string[] = [];
    const log = createLog({ level, readable, to: { write: (line) => void lines.push(line) } });
    writeLine(log, log.routine, '"route":"/healthz"');
    log[log.routine]({ migration: '0001-first' }, 'migrated');
    return lines.length;
  };
  assert.deepEqual([routineIn(false, 'info'), routineIn(true, 'info'), routineIn(true, 'debug')], [2, 0, 2]);
});

test('a line of ready JSON looks like one of pino, and both keep their order', () => {
  const lines = linesOf((log) => {
    log.info({ route: '/healthz' });
    writeLine(log, 'info', '"route":"/healthz"');
    log.info({ route: '/healthz' });
  });
  assert.equal(lines.length, 3);
  const withoutTime = lines.map((line) => line.replace(/"time":"[^"]*"/, '"time":""'));
  assert.deepEqual(new Set(withoutTime), new Set(['{"level":"info","time":"","route":"/healthz"}\n']));
});

const request = {
  level: 'info',
  time: '2026-01-02T12:00:01.234Z',
  method: 'POST',
  route: '/sms/v1/messages',
  status: 201,
  ms: 3,
  correlation_id: 'req_01',
};

test('in a terminal a request is one short line', () => {
  assert.equal(readableLine(JSON.stringify(request)), '12:00:01 info  POST /sms/v1/messages 201 3 ms req_01\n');
});

test('in a terminal other fields follow the message, and an error brings its stack', () => {
  const line = {
    level: 'error',
    time: request.time,
    msg: 'it broke',
    node: 'a',
    tries: 3,
    err: { stack: 'Error: x\n    at y' },
  };
  assert.equal(readableLine(JSON.stringify(line)), '12:00:01 error it broke node=a tries=3\nError: x\n    at y\n');
});

test('in a terminal nothing that was logged can move the cursor or look like another line', () => {
  const line = {
    ...request,
    msg: 'a\nb\u001b[2J',
    reason: '\u001b]0;title\u0007\r\n12:00:02 info  forged',
    node: 'plain',
  };
  const text = readableLine(JSON.stringify(line));
  assert.equal(text.split('\n').length, 2);
  assert.doesNotMatch(text.slice(0, -1), /\p{Cc}/u);
  assert.match(text, /node=plain/);
});

test('an error of the database is logged without the values it repeats', () => {
  const violated = Object.assign(new Error('duplicate key value violates unique constraint "message_pkey"'), {
    code: '23505',
    severity: 'ERROR',
    detail: 'Key (to)=(+447700900123) already exists.',
    where: 'COPY message, line 1: "+447700900123"',
  });
  const unreadable = Object.assign(new Error('invalid input syntax for type integer: "+447700900123"'), {
    code: '22P02',
    severity: 'ERROR',
  });
  const wrapped = new Error('it failed', { cause: unreadable });
  const lines = linesOf((log) => {
    for (const err of [violated, unreadable, wrapped]) log.error({ err }, 'unexpected');
  });
  assert.doesNotMatch(lines.join(''), /447700900123/);
  assert.match(lines[0] ?? '', /message_pkey.*23505/);
  assert.match(lines[1] ?? '', /22P02/);
  assert.match(lines[2] ?? '', /it failed.*22P02/);
});

test('an error is logged with its name, its stack, its code and its cause', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
  const [line = ''] = linesOf((log) => log.error({ err: new TypeError('it broke', { cause }) }));
  const { err } = JSON.parse(line) as { err: Record<string, unknown> & { cause: Record<string, unknown> } };
  assert.equal(err.type, 'TypeError');
  assert.equal(err.message, 'it broke');
  assert.match(String(err.stack), /^TypeError: it broke\n +at .*log\.test/);
  assert.equal(err.cause.code, 'ECONNREFUSED');
});

test('what was thrown and is no error is logged as it is', () => {
  const [line = ''] = linesOf((log) => log.error({ err: 'a text' }));
  assert.equal((JSON.parse(line) as { err: unknown }).err, 'a text');
});
