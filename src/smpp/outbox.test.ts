import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createTestClock } from '../../test/support/clock.ts';
import { encodePdu } from './encode.ts';
import { createOutbox } from './outbox.ts';
import { emptySubmit, submitPdu } from './pdu.ts';
import { createSubmitWindow, type PendingSubmit, type SubmitAnswer } from './submit-window.ts';

test('a submit whose time is over is not written, and settled as not sent; the times of others count from their write', () => {
  const clock = createTestClock();
  const socket = new PassThrough();
  let isReady = false;
  const outbox = createOutbox({
    socket: () => (isReady ? (socket as unknown as Socket) : undefined),
    clock,
    onGiven: () => {},
    onDrain: () => {},
  });
  const window = createSubmitWindow({ clock });
  const settled: [sequence: number, kind: SubmitAnswer['kind']][] = [];
  const written: number[] = [];
  const submit = (waitMs: number) => {
    const sequence = window.nextSequence();
    const pdu = submitPdu(sequence, { ...emptySubmit, source: '1', destination: '2' });
    const entry: PendingSubmit = {
      sequence,
      messageId: null,
      unsent: { pdu, frame: encodePdu(pdu) },
      sentMs: clock.steadyMs(),
      writeBeforeMs: clock.steadyMs() + waitMs,
      answerWithinMs: 5000,
      onWritten: () => void written.push(sequence),
      settle: ({ kind }) => void settled.push([sequence, kind]),
    };
    window.add(entry);
    outbox.submit(entry);
    return entry;
  };
  submit(10_000);
  const later = submit(20_000);
  clock.advance(10_000);
  isReady = true;
  outbox.flush();
  assert.deepEqual(written, [2]);
  assert.equal(
    socket.read()?.length,
    encodePdu(submitPdu(2, { ...emptySubmit, source: '1', destination: '2' })).length,
  );
  assert.equal(later.sentMs, clock.steadyMs());
  window.expire(clock.steadyMs());
  assert.deepEqual(settled, [[1, 'not_sent']]);
  clock.advance(5000);
  window.expire(clock.steadyMs());
  assert.deepEqual(settled.slice(1), [[2, 'in_doubt']]);
  outbox.close();
});
