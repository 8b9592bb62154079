import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSettings } from '../setup/settings.ts';

function problemsWith(more: object): string[] {
  const { problems } = checkSettings({ host: '127.0.0.1', system_id: 'a', ...more });
  return problems.map(({ field, message }) => `${field} ${message}`);
}

test('meanings, TLVs and offsets that the parts would not understand are refused when they are written', () => {
  for (const [settings, problem] of [
    [{ submit_errors: { eleven: 'throttled' } }, /^settings\.submit_errors must have command_statuses/],
    [{ submit_errors: { '0x0b': 'perhaps' } }, /^settings\.submit_errors must give 0x0b a meaning/],
    [{ errors: { '027': 'gone' } }, /^settings\.errors must give 027 one of these meanings/],
    [{ tlvs: [{ tag: 0x0424, value: 'x' }] }, /^settings\.tlvs must not have the tag 0x0424/],
    [{ utc_offset: '+14:00' }, /^settings\.utc_offset must be a quarter of an hour/],
  ] as const) {
    const [found = '', ...more] = problemsWith(settings);
    assert.match(found, problem);
    assert.deepEqual(more, []);
  }
});

test('meanings, TLVs and offsets that the parts understand are accepted', () => {
  const right = {
    submit_errors: { '0x0000000b': 'never:invalid_destination' },
    errors: { '027': 'unreachable' },
    tlvs: [{ tag: 0x1400, value: '1001' }],
    utc_offset: '-03:30',
  };
  assert.deepEqual(problemsWith(right), []);
  assert.deepEqual(problemsWith({ errors: 'vonage' }), []);
  assert.deepEqual(problemsWith({ errors: null }), []);
});
