import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { longestSearch, readSearchText } from './search-text.ts';

describe('what a search text may mean', () => {
  test('a number is read in every spelling that has its country code', () => {
    for (const spelling of [
      '+447700900123',
      '+44 7700 900123',
      '+44 (0)7700 900123',
      '+44 (7700) 900-123',
      '+44-7700-900-123',
      '+44.7700.900.123',
      '+44\u00a07700\u202f900123',
      '+44 7700\u2013900\u2013123',
      '0044 7700 900123',
      '004477/0090/0123',
      '447700900123',
      'tel:+447700900123',
      '  +44 7700 900 123  ',
    ]) {
      assert.deepEqual(readSearchText(spelling).numbers, ['+447700900123'], spelling);
    }
  });

  test('digits without a country code are kept for the countries of the service', () => {
    assert.deepEqual(readSearchText('07700 900-123').numbers, []);
    assert.equal(readSearchText('07700 900-123').national, '07700900123');
    assert.equal(readSearchText('(415) 555-0123').national, '4155550123');
    assert.equal(readSearchText('+447700900123').national, undefined);
  });

  test('an id is found in whatever was pasted with it, and means nothing else', () => {
    const id = 'req_01m7jf8bxr000p4yw1dbjh6twz';
    for (const pasted of [
      id,
      id.toUpperCase(),
      `X-Correlation-ID: ${id}`,
      `{"correlation_id":"${id}","details":[]}`,
      `https://sms.example.com/#/operator/records/${id}`,
    ]) {
      const { id: found, numbers, name, carrierId } = readSearchText(pasted);
      assert.deepEqual(found, { prefix: 'req', id }, pasted);
      assert.deepEqual([numbers, name, carrierId], [[], undefined, undefined]);
    }
  });

  test('what is no id of ours may be a name or the id of a carrier', () => {
    assert.deepEqual(readSearchText('ACME Shop'), {
      id: undefined,
      numbers: [],
      national: undefined,
      carrierId: undefined,
      name: 'ACME Shop',
    });
    assert.equal(readSearchText('0a3f9c').carrierId, '0a3f9c');
    assert.equal(readSearchText('req_nope').id, undefined);
    assert.equal(readSearchText('req_01m7jf8bxr000p4yw1dbjh6twzz').id, undefined);
    assert.equal(readSearchText('x').name, undefined);
  });

  test('long and odd texts take no time and mean little', () => {
    for (const odd of ['', ' ', '\0', '+', '()', '9'.repeat(100_000), '(0)'.repeat(50_000), '(\u2212'.repeat(50_000)]) {
      const { numbers, id } = readSearchText(odd);
      assert.deepEqual([numbers, id], [[], undefined], odd.slice(0, 20));
    }
    assert.equal(readSearchText('a'.repeat(1000)).name?.length, longestSearch);
  });
});
