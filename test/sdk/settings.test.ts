// Where a client has its address and credentials from, and what it says if one is missing.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConnection } from '../../sdk/src/settings.ts';

const environment = {
  HELIOGRAPH_URL: 'http://127.0.0.1:8080/',
  HELIOGRAPH_API_KEY: ' hg_sandbox_1 ',
  HELIOGRAPH_CLIENT_ID: 'cli_1',
  HELIOGRAPH_CLIENT_SECRET: 'hgs_1',
};

test('without options everything comes from the environment', () => {
  const { missing: _, ...found } = readConnection({}, () => environment);
  assert.deepEqual(found, {
    baseUrl: 'http://127.0.0.1:8080',
    apiKey: 'hg_sandbox_1',
    clientId: 'cli_1',
    clientSecret: 'hgs_1',
  });
  assert.equal(readConnection({ apiKey: 'hg_2' }, () => environment).apiKey, 'hg_2');
});

test('with an address nothing does: the credentials of one service must not go to another', () => {
  const { baseUrl, apiKey, missing } = readConnection({ baseUrl: 'https://other.example.com' }, () => environment);
  assert.deepEqual([baseUrl, apiKey], ['https://other.example.com', undefined]);
  assert.match(missing('apiKey').message, /^This API needs apiKey: pass apiKey to new Heliograph/);
});

test('an error names the setting that is missing or wrong, and never its value', () => {
  assert.throws(() => readConnection({}, () => ({})), /HELIOGRAPH_URL is not set/);
  assert.throws(() => readConnection({}, () => ({ HELIOGRAPH_URL: '' })), /HELIOGRAPH_URL is not set/);
  assert.throws(
    () => readConnection({}, () => ({ HELIOGRAPH_URL: 'localhost' })),
    /HELIOGRAPH_URL must be the address/,
  );
  const wrong = { ...environment, HELIOGRAPH_CLIENT_SECRET: 'hgs_\né' };
  assert.throws(
    () => readConnection({}, () => wrong),
    ({ message }: Error) => /HELIOGRAPH_CLIENT_SECRET must be/.test(message) && !message.includes('hgs_'),
  );
  const { missing } = readConnection({}, () => ({ ...environment, HELIOGRAPH_CLIENT_SECRET: undefined }));
  assert.match(
    missing('clientId', 'clientSecret').message,
    /set HELIOGRAPH_CLIENT_SECRET, or pass clientSecret to new Heliograph/,
  );
});
