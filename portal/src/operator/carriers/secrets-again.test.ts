import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { secretsToType } from './secrets-again.ts';

describe('secrets that an operator has to enter again', () => {
  const stored = ['password', 'tls.key'];
  for (const [what, patch, names] of [
    ['nothing was changed', undefined, []],
    ['a change that is not an address', { window: 20 }, []],
    ['another port', { port: 2776 }, stored],
    ['another port, and the password', { port: 2776, password: 'x' }, ['tls.key']],
    ['another name in the certificate, and the key', { tls: { servername: 'b', key: 'k' } }, ['password']],
    ['a new private key alone', { tls: { key: 'k' } }, []],
    ['TLS turned off', { tls: false }, ['password']],
    ['a removed secret', { port: 2776, password: null, tls: { key: null } }, []],
  ] as const) {
    test(what, () => assert.deepEqual(secretsToType(patch, stored), names));
  }
  test('secrets of a custom description', () => {
    assert.deepEqual(secretsToType({ describe: { url: 'x' } }, ['secrets']), ['secrets']);
    assert.deepEqual(secretsToType({ base: 'x', secrets: { key: 'k' } }, ['secrets']), []);
  });
});
