import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConfigError, readConfig } from './config.ts';

test('without any setting the defaults of the contract hold', () => {
  const config = readConfig({});
  assert.equal(config.port, 8080);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.environment, 'sandbox');
  assert.equal(config.publicUrl, 'http://127.0.0.1:8080');
  assert.equal(config.realm, 'heliograph');
  assert.deepEqual(config.plans.enterprise, { perMinute: 6000, burst: 2000 });
  assert.deepEqual(config.addressLimits, { perMinute: 6000, burst: 1000 });
  assert.equal(config.tokenSeconds, 3600);
  assert.equal(config.resendSeconds, 2);
  assert.equal(config.retentionDays, 30);
});

test('production resends after 30 s and refuses to start without a secret', () => {
  assert.equal(readConfig({ HELIOGRAPH_ENV: 'production', HELIOGRAPH_SECRET: 'x'.repeat(32) }).resendSeconds, 30);
  assert.throws(() => readConfig({ HELIOGRAPH_ENV: 'production' }), /HELIOGRAPH_SECRET must be set in production/);
});

test('every bad setting is named at once, an unknown one included', () => {
  const bad = {
    PORT: '99999',
    HELIOGRAPH_ENV: 'staging',
    HELIOGRAPH_PLANS: '{"free":{"per_minute":0}}',
    HELIOGRAPH_GUARD: '[]',
    HELIOGRAPH_TRUSTED_PROXIES: '10.0.0.0/33',
    HELIOGRAPH_TOKEN_SECONDS: '0',
    HELIOGRAPH_TOKEN_ALG: 'HS256',
    DATABASE_URL: 'mysql://localhost',
    HELIOGRAPH_RETENTIONS_DAYS: '3',
  };
  try {
    readConfig(bad);
    assert.fail('it was accepted');
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.equal(error.problems.length, Object.keys(bad).length);
    for (const name of Object.keys(bad)) assert.ok(error.message.includes(name), name);
    assert.match(error.message, /did you mean HELIOGRAPH_RETENTION_DAYS\?/);
  }
});

test('an empty variable is an unset one', () => {
  assert.equal(readConfig({ PORT: '', HELIOGRAPH_SECRET: '' }).port, 8080);
});

test('plan numbers are changed one by one', () => {
  const { plans } = readConfig({ HELIOGRAPH_PLANS: '{"free":{"burst":5},"pro":{"per_minute":1000000}}' });
  assert.deepEqual(plans.free, { perMinute: 60, burst: 5 });
  assert.deepEqual(plans.pro, { perMinute: 1_000_000, burst: 200 });
});

test('a public address keeps its path and loses its last slash; an IPv6 host gets its brackets', () => {
  assert.equal(readConfig({ HELIOGRAPH_PUBLIC_URL: 'https://sms.example/x/' }).publicUrl, 'https://sms.example/x');
  assert.equal(readConfig({ HOST: '::1' }).publicUrl, 'http://[::1]:8080');
});
