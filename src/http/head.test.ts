import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createTestClock } from '../../test/support/clock.ts';
import { inShort } from '../../test/support/effort.ts';
import { createHead, createHeadWriter, type Head } from './head.ts';

const writer = createHeadWriter({ clock: createTestClock(), https: true, keepAliveMs: 72_000 });

/** Names of general headers, and others. */
const name = fc.constantFrom('Cache-Control', 'RateLimit-Limit', 'Retry-After', 'Location', 'Vary', 'Limit');
const own = fc.dictionary(name, fc.constantFrom('1', 'no-store', '"a: b";r=1', 'RateLimit: 2', ''));
const ms = fc.constantFrom(0, 1, 999, 1000, 60_000);
const decision = fc.record({
  admitted: fc.boolean(),
  limits: fc.constantFrom({ perMinute: 60, burst: 20 }, { perMinute: 6000, burst: 2000 }),
  remaining: fc.integer({ min: 0, max: 60 }),
  resetMs: ms,
  nextFreeMs: ms,
  retryAfterMs: ms,
  refusedBy: fc.constant(undefined),
  chargedAtMs: fc.constant(undefined),
});
const head: fc.Arbitrary<Head> = fc.record({
  status: fc.constantFrom(200, 204, 429),
  correlationId: fc.constant('req_1'),
  decision,
  own,
  type: fc.constantFrom('application/json', undefined),
});
const framing = fc.record({ length: fc.constantFrom(0, 12, undefined), last: fc.boolean() });

/** Headers that only one of the two writes: Node adds them itself. */
const byNode = new Set(['Date', 'Connection', 'Keep-Alive', 'Transfer-Encoding']);

function fromSocket(text: string): string[] {
  assert.ok(text.endsWith('\r\n\r\n'));
  return text
    .slice(0, -4)
    .split('\r\n')
    .slice(1)
    .filter((line) => !byNode.has(line.slice(0, line.indexOf(':'))));
}

function fromPairs(pairs: string[]): string[] {
  const lines = pairs.flatMap((value, index) => (index % 2 === 0 ? [`${value}: ${pairs[index + 1]}`] : []));
  return lines.filter((line) => !byNode.has(line.slice(0, line.indexOf(':'))));
}

test('both lanes write the same headers, each name once, and an answer’s own header wins', () => {
  fc.assert(
    fc.property(head, framing, (each, how) => {
      const lines = fromSocket(writer.forSocket(each, how));
      assert.deepEqual(lines, fromPairs(writer.forNode(each, how)));
      const names = lines.map((line) => line.slice(0, line.indexOf(':')));
      assert.equal(new Set(names).size, names.length);
      for (const [key, value] of Object.entries(each.own)) assert.ok(lines.includes(`${key}: ${value}`));
      assert.ok(lines.includes('X-Correlation-ID: req_1'));
    }),
    { numRuns: inShort(300, 1000) },
  );
});

test('a length, unless it is a stream or a 204; the last answer closes', () => {
  const written = fc.sample(head, 1)[0] as Head;
  const of = (status: number, length: number | undefined, last: boolean) =>
    writer.forSocket({ ...written, status }, { length, last });
  assert.match(of(200, 12, false), /^HTTP\/1.1 200 OK\r\n.*\r\nContent-Length: 12\r\n\r\n$/s);
  assert.match(of(200, undefined, false), /\r\nTransfer-Encoding: chunked\r\n\r\n$/);
  assert.ok(!of(204, 0, false).includes('Content-Length'));
  assert.match(of(200, 12, false), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=72\r\n/);
  assert.match(of(200, 12, true), /\r\nConnection: close\r\n/);
  assert.match(of(200, 12, true), /\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
});

test('a value that cannot be a header is refused before anything is written', () => {
  const [good] = fc.sample(head, 1);
  for (const value of ['a\r\nSet-Cookie: b', 'a\nb', '\0', 'ā']) {
    assert.throws(() => createHead({ ...(good as Head), own: { Location: value } }), { code: 'ERR_INVALID_CHAR' });
  }
});
