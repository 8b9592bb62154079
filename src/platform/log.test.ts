import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog, readableLine } from './log.ts';

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
