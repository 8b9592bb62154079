import assert from 'node:assert/strict';
import { test } from 'node:test';
import { showBody, showControls } from './shown-answer.ts';

test('control characters become signs; line breaks and tabs stay', () => {
  assert.equal(showControls('a\u0000b\u001b[31mc\r\nd\te\u007f'), 'a\u2400b\u241b[31mc\nd\te\u2421');
});

test('marks that turn text around are spelled out', () => {
  assert.equal(showControls('x\u202ey\u2066z\u200b'), 'x\\u{202e}y\\u{2066}z\\u{200b}');
});

test('a body that was cut inside a character ends before it', () => {
  const body = Buffer.from('ok €').subarray(0, 4);
  assert.equal(showBody(body, true), 'ok ');
  assert.equal(showBody(Buffer.from([0xff, 0x41]), false), '\ufffdA');
});
