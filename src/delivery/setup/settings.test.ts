import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../platform/errors.ts';
import { joinSecrets, keepSecrets, splitSecrets } from './secrets.ts';
import { checkSettings, isOtherAccount, mergePatch, nameProblem, readSettings } from './settings.ts';

const right = { host: 'smsc.example.com', system_id: 'me' };
const fieldsOf = (given: unknown) => checkSettings(given).problems.map(({ field }) => field);

describe('settings of a carrier', () => {
  test('host and system_id are enough', () => {
    const settings = readSettings(right);
    assert.deepEqual([settings.port, settings.window, settings.binds, settings.errors], [2775, 10, 1, null]);
    assert.deepEqual(settings.message_id, { response: 'exact', receipt: 'exact' });
  });

  test('the given settings are not changed, and two carriers share no default', () => {
    const given = Object.freeze({ ...right });
    const [one, two] = [readSettings(given), readSettings(given)];
    assert.deepEqual(given, right);
    one.hosts.push({ host: 'a', port: 1 });
    assert.deepEqual(two.hosts, []);
  });

  for (const [given, field] of [
    [{ host: 'smpp://host' }, 'host'],
    [{ host: 'host:2775' }, 'host'],
    [{ host: '-host' }, 'host'],
    [{ host: 'a..b' }, 'host'],
    [{ host: '' }, 'host'],
    [{ port: 0 }, 'port'],
    [{ port: 65_536 }, 'port'],
    [{ port: '2775' }, 'port'],
    [{ hosts: [{ host: 'a', port: 1, name: 'b' }] }, 'hosts.0.name'],
    [{ local_address: 'eth0' }, 'local_address'],
    [{ system_id: '' }, 'system_id'],
    [{ system_id: 'ü' }, 'system_id'],
    [{ system_id: 'a\0' }, 'system_id'],
    [{ password: 'a'.repeat(17) }, 'password'],
    [{ binds: 33 }, 'binds'],
    [{ window: 1.5 }, 'window'],
    [{ per_second: 0 }, 'per_second'],
    [{ utc_offset: '+01:10' }, 'utc_offset'],
    [{ charsets: [] }, 'charsets'],
    [{ charsets: ['ucs2/8', 'ucs2/8'] }, 'charsets'],
    [{ charsets: ['utf8'] }, 'charsets.0'],
    [{ tls: true }, 'tls'],
    [{ tls: { key: 'x' } }, 'tls.key'],
    [{ message_id: { response: 'octal' } }, 'message_id.response'],
    [{ ton_npi: { sender: { ton: 1, npi: 1 } } }, 'ton_npi.sender'],
    [{ errors: 'mine' }, 'errors'],
    [{ errors: { '001': 'no code of ours' } }, 'errors'],
    [{ submit_errors: { '0x0b': 'never' } }, 'submit_errors'],
    [{ tlvs: [{ tag: 1, value: 'hex:0' }] }, 'tlvs'],
    [{ Window: 10 }, 'Window'],
  ] as const) {
    test(`names ${field} in ${JSON.stringify(given)}`, () => {
      const fields = fieldsOf({ ...right, ...given });
      assert.ok(fields.includes(`settings.${field}`), `${fields}`);
    });
  }

  test('whatever is given, it says what is wrong, or what it says is right stays right', () => {
    const names = fc.constantFrom(
      'host',
      'port',
      'hosts',
      'tls',
      'system_id',
      'password',
      'charsets',
      'errors',
      'bind',
    );
    const values = fc.oneof(fc.jsonValue(), fc.constantFrom('localhost', '127.0.0.1', 2775, false, {}, [], null));
    const given = fc.oneof(fc.jsonValue(), fc.dictionary(fc.oneof(names, fc.string()), values));
    fc.assert(
      fc.property(given, (each) => {
        const { settings, problems } = checkSettings(each);
        assert.ok(
          problems.every(({ field, message }) => field.startsWith('settings') && message.length > 0),
          'each problem names its field',
        );
        if (problems.length > 0) assert.throws(() => readSettings(each), ApiError);
        else assert.deepEqual(readSettings(settings), settings);
      }),
    );
  });
});

describe('secrets', () => {
  const text = fc.string({ maxLength: 16 });
  const tls = fc.record({ ca: text, key: text }, { requiredKeys: [], noNullPrototype: true });
  const settings = fc
    .record(
      { password: text, tls: fc.oneof(fc.constant(false as const), tls), window: fc.nat() },
      { requiredKeys: ['tls'], noNullPrototype: true },
    )
    .map((some) => ({ ...readSettings(right), ...some }));

  test('apart and together again, the settings are the same; apart, no secret is among them', () => {
    fc.assert(
      fc.property(settings, (given) => {
        const { settings: open, secrets } = splitSecrets(given);
        assert.deepEqual(joinSecrets(open, secrets), given);
        assert.ok(!('password' in open) && (open.tls === false || !('key' in open.tls)), 'none is shown');
      }),
    );
  });

  test('secrets that are not named stay; null removes one', () => {
    const before = { ...readSettings(right), password: 'p', tls: { cert: 'c', key: 'k' } };
    assert.deepEqual(keepSecrets(right, before), { ...right, password: 'p' });
    assert.deepEqual(keepSecrets({ ...right, password: null }, before), right);
    assert.deepEqual(keepSecrets({ ...right, password: 'q' }, before), { ...right, password: 'q' });
    const named = (given: object) => (keepSecrets({ ...right, tls: given }, before) as { tls: unknown }).tls;
    assert.deepEqual(named({ cert: 'c' }), { cert: 'c', key: 'k' });
    assert.deepEqual(named({ cert: 'c', key: 'l' }), { cert: 'c', key: 'l' });
    assert.deepEqual(named({ cert: 'c', key: null }), { cert: 'c' });
    assert.deepEqual(named({ ca: 'a' }), { ca: 'a' });
  });
});

describe('mergePatch', () => {
  test('by the examples of RFC 7396', () => {
    for (const [target, patch, result] of [
      [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
      [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
      [{ a: 'b' }, { a: null }, {}],
      [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
      [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
      [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
      [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
      [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
      [
        ['a', 'b'],
        ['c', 'd'],
        ['c', 'd'],
      ],
      [{ a: 'b' }, ['c'], ['c']],
      [{ a: 'foo' }, null, null],
      [{ a: 'foo' }, 'bar', 'bar'],
      [{ e: null }, { a: 1 }, { e: null, a: 1 }],
      [[1, 2], { a: 'b', c: null }, { a: 'b' }],
      [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
    ]) {
      assert.deepEqual(mergePatch(target, patch), result);
    }
  });

  test('a name like __proto__ is only a name', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}}');
    const merged = mergePatch({}, patch) as Record<string, unknown>;
    assert.equal(merged.polluted, undefined);
    assert.deepEqual(Object.keys(merged), ['__proto__']);
  });
});

test('names', () => {
  for (const name of ['ab', 'acme', 'a-1', `a${'b'.repeat(31)}`]) assert.equal(nameProblem(name), undefined, name);
  for (const name of ['a', '', 'sandbox', '1a', 'A', 'a_b', 'a b', `a${'b'.repeat(32)}`, 'acme\n']) {
    assert.notEqual(nameProblem(name), undefined, name);
  }
});

test('another account: host, port, hosts or system_id; the order of names means nothing', () => {
  const before = readSettings({ ...right, hosts: [{ host: 'a', port: 1 }] });
  assert.equal(isOtherAccount(before, { ...before, window: 99, password: 'x' }), false);
  assert.equal(isOtherAccount(before, { ...before, hosts: [{ port: 1, host: 'a' }] }), false);
  assert.equal(isOtherAccount(before, { ...before, port: 2776 }), true);
});
