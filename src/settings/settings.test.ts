import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ConfigError, readConfig } from './settings.ts';

test('without any setting the defaults of the contract hold', () => {
  const config = readConfig({});
  assert.equal(config.port, 8080);
  assert.equal(config.host, '127.0.0.1');
  assert.equal(config.environment, 'sandbox');
  assert.equal(config.publicUrl, 'http://127.0.0.1:8080');
  assert.equal(config.realm, 'heliograph');
  assert.deepEqual(config.plans.free, { perMinute: 60, burst: 60 });
  assert.deepEqual(config.plans.pro, { perMinute: 600, burst: 200 });
  assert.deepEqual(config.plans.enterprise, { perMinute: 6000, burst: 2000 });
  assert.deepEqual(config.addressLimits, { perMinute: 6000, burst: 1000 });
  assert.equal(config.tokenSeconds, 3600);
  assert.equal(config.resendSeconds, 2);
  assert.equal(config.retentionDays, 30);
});

test('operators need a second factor in production, and are asked for one in the sandbox, unless it is set', () => {
  const production = { HELIOGRAPH_ENV: 'production', HELIOGRAPH_SECRET: 'x'.repeat(32) };
  const factorIn = (env: Record<string, string>) => readConfig(env).operatorSecondFactor;
  assert.deepEqual([factorIn({}), factorIn(production)], ['asked', 'required']);
  assert.equal(factorIn({ ...production, HELIOGRAPH_OPERATOR_SECOND_FACTOR: 'asked' }), 'asked');
  assert.throws(() => factorIn({ HELIOGRAPH_OPERATOR_SECOND_FACTOR: 'x' }), /must be one of asked, required/);
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
  assert.deepEqual(plans.pro, { perMinute: 1_000_000, burst: 333_334 });
});

test('a plan set without burst gets a third of its minute, at least 60, and never more than the minute', () => {
  for (const [perMinute, burst] of [
    [1, 1],
    [59, 59],
    [60, 60],
    [61, 60],
    [180, 60],
    [181, 61],
    [600, 200],
    [601, 201],
    [1_000_000, 333_334],
  ]) {
    const { plans } = readConfig({ HELIOGRAPH_PLANS: `{"pro":{"per_minute":${perMinute}}}` });
    assert.deepEqual(plans.pro, { perMinute, burst });
  }
  assert.deepEqual(readConfig({ HELIOGRAPH_PLANS: '{"enterprise":{}}' }).plans.enterprise, {
    perMinute: 6000,
    burst: 2000,
  });
});

test('plan names are read in any case, and each is named once', () => {
  const { plans } = readConfig({ HELIOGRAPH_PLANS: '{"FREE":{"burst":5},"Pro":{"per_minute":300}}' });
  assert.deepEqual(
    [plans.free, plans.pro],
    [
      { perMinute: 60, burst: 5 },
      { perMinute: 300, burst: 100 },
    ],
  );
  assert.throws(() => readConfig({ HELIOGRAPH_PLANS: '{"free":{},"Free":{}}' }), /name free once/);
});

test('a public address keeps its path and loses its last slash; an IPv6 host gets its brackets', () => {
  assert.equal(readConfig({ HELIOGRAPH_PUBLIC_URL: 'https://sms.example/x/' }).publicUrl, 'https://sms.example/x');
  assert.equal(readConfig({ HOST: '::1' }).publicUrl, 'http://[::1]:8080');
});

test('a public address is the base of links: no query, no fragment and no password', () => {
  for (const bad of ['https://x.example/?a=1', 'https://x.example/#a', 'https://me:secret@x.example', 'x.example']) {
    assert.throws(() => readConfig({ HELIOGRAPH_PUBLIC_URL: bad }), /HELIOGRAPH_PUBLIC_URL must/, bad);
  }
});

test('proxies are addresses or networks, and nothing that only begins like one', () => {
  assert.deepEqual(readConfig({ HELIOGRAPH_TRUSTED_PROXIES: ' 10.0.0.0/8 , ::1,' }).trustedProxies, [
    '10.0.0.0/8',
    '::1',
  ]);
  for (const bad of [
    '10.0.0.0/8/9',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '10.0.0/8',
    '::1/129',
    'proxy.example',
    '10.0.0.0 /8',
  ]) {
    assert.throws(() => readConfig({ HELIOGRAPH_TRUSTED_PROXIES: bad }), /HELIOGRAPH_TRUSTED_PROXIES must/, bad);
  }
});

test('numbers are whole and plain, and secrets are never repeated in a complaint', () => {
  for (const bad of ['0x50', '8e3', '-1', '80.5', ' 80', '99999999999', '٨٠']) {
    assert.throws(() => readConfig({ PORT: bad }), /PORT must be a whole number/, bad);
  }
  const secrets = {
    HELIOGRAPH_SECRET: 'too short',
    DATABASE_URL: 'mysql://me:hidden@x',
    HELIOGRAPH_METRICS_TOKEN: 'hidden',
  };
  assert.throws(
    () => readConfig(secrets),
    (error: Error) => !/too short|hidden/.test(error.message) && (error as ConfigError).problems.length === 3,
  );
});

test('plans are changed by plain numbers of plans there are', () => {
  for (const bad of [
    '{"gold":{"burst":1}}',
    '{"free":5}',
    '{"free":{"burst":"5"}}',
    '{"free":{"burst":1.5}}',
    '{"free":null}',
    '{"__proto__":{"burst":1}}',
    '{"free":{"burst":1000001}}',
    'null',
    '{',
  ]) {
    assert.throws(() => readConfig({ HELIOGRAPH_PLANS: bad }), /HELIOGRAPH_PLANS must/, bad);
  }
});

test('records are kept at least until their numbers are masked', () => {
  assert.equal(readConfig({ HELIOGRAPH_RETENTION_DAYS: '365' }).keepDays, 365);
  const bad = { HELIOGRAPH_RETENTION_DAYS: '31', HELIOGRAPH_KEEP_DAYS: '30' };
  assert.throws(() => readConfig(bad), /HELIOGRAPH_KEEP_DAYS must not be below HELIOGRAPH_RETENTION_DAYS/);
});

test('records are kept at least as long as a text may wait', () => {
  assert.equal(readConfig({ HELIOGRAPH_RETENTION_DAYS: '3', HELIOGRAPH_KEEP_DAYS: '14' }).keepDays, 14);
  const bad = { HELIOGRAPH_RETENTION_DAYS: '3', HELIOGRAPH_KEEP_DAYS: '13' };
  assert.throws(() => readConfig(bad), /HELIOGRAPH_KEEP_DAYS must be a whole number from 14 to 36500/);
});

test('what only the command line reads is not a mistake of the service', () => {
  assert.equal(readConfig({ HELIOGRAPH_URL: 'http://127.0.0.1:8080', HELIOGRAPH_API_KEY: 'x' }).port, 8080);
  assert.throws(() => readConfig({ HELIOGRAPH_URLS: 'x' }), /HELIOGRAPH_URLS is not a setting/);
});

test('the variables of OpenTelemetry are read as it writes them', () => {
  assert.equal(readConfig({}).tracing, undefined);
  assert.equal(readConfig({ OTEL_SERVICE_NAME: 'sms' }).tracing, undefined);
  assert.deepEqual(readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }).tracing, {
    url: 'http://collector:4318/v1/traces',
    headers: {},
    resource: { 'service.name': 'heliograph' },
    sampler: { parentBased: true, ratio: 1 },
  });
  const all = readConfig({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi==, x-tenant = a ,',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=texts,deployment.environment.name=caf%C3%A9',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  }).tracing;
  assert.deepEqual(all, {
    url: 'https://collector.example.com/otlp/v1/traces',
    headers: { authorization: 'Basic YTpi==', 'x-tenant': 'a' },
    resource: { 'service.name': 'texts', 'deployment.environment.name': 'café' },
    sampler: { parentBased: false, ratio: 0.25 },
  });
  const samplerOf = (name: string) =>
    readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_SAMPLER: name }).tracing?.sampler;
  assert.deepEqual(samplerOf('parentbased_always_off'), { parentBased: true, ratio: 0 });
  assert.deepEqual(samplerOf('always_on'), { parentBased: false, ratio: 1 });
});

test('a wrong variable of OpenTelemetry is named, and its secret is not repeated', () => {
  const wrong: [name: string, value: string][] = [
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'http://user:hidden-secret@collector:4318'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'hidden-secret'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hidden-secret%0d%0aevil:1'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'authorization=hidden-secret%zz'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Content-Length=5'],
    ['OTEL_EXPORTER_OTLP_HEADERS', Array.from({ length: 65 }, (_, index) => `x${index}=1`).join()],
    ['OTEL_RESOURCE_ATTRIBUTES', `team=${'x'.repeat(300)}`],
    ['OTEL_TRACES_SAMPLER', 'jaeger_remote'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['OTEL_TRACES_SAMPLER_ARG', 'half'],
  ];
  for (const [name, value] of wrong) {
    assert.throws(
      () => readConfig({ [name]: value }),
      ({ message }: Error) => message.includes(`${name} must`) && !message.includes('hidden-secret'),
      `${name}=${value.slice(0, 40)}`,
    );
  }
});

describe('the risk check', () => {
  const set =
    (risk: Record<string, string>, env = 'production') =>
    () =>
      readConfig({
        ...{ HELIOGRAPH_ENV: env, HELIOGRAPH_SECRET: 'x'.repeat(32) },
        ...Object.fromEntries(Object.entries(risk).map(([name, value]) => [`HELIOGRAPH_RISK_${name}`, value])),
      });

  test('none by default; with an address its defaults', () => {
    assert.equal(readConfig({}).risk, undefined);
    assert.deepEqual(set({ URL: 'https://risk.example.com/' })().risk, {
      url: 'https://risk.example.com',
      ...{ preset: 'json', maxAgeHours: 240, authorization: undefined, credentials: undefined, onFailure: 'allow' },
    });
    const client = { TOKEN_URL: 'https://id.example.com/token', CLIENT_ID: 'me', CLIENT_SECRET: 'secret' };
    assert.deepEqual(set({ URL: 'http://10.0.0.1/check', ...client })().risk?.credentials, {
      ...{ tokenUrl: client.TOKEN_URL, clientId: 'me', clientSecret: 'secret', scope: 'sim-swap:check' },
    });
  });

  test('what does not fit together, or would send numbers in clear, is refused', () => {
    const url = { URL: 'https://risk.example.com' };
    const bad: [Record<string, string>, RegExp][] = [
      [{ AUTHORIZATION: 'Bearer x' }, /RISK_AUTHORIZATION must not be set without HELIOGRAPH_RISK_URL/],
      [{ ...url, CLIENT_ID: 'me' }, /RISK_TOKEN_URL and HELIOGRAPH_RISK_CLIENT_SECRET must be set/],
      [
        { ...url, TOKEN_URL: 'https://id.example.com', CLIENT_ID: 'me', CLIENT_SECRET: 's', AUTHORIZATION: 'x' },
        /use one of the two/,
      ],
      [{ URL: 'http://risk.example.com' }, /RISK_URL must begin with https/],
      [{ URL: 'https://me:secret@risk.example.com' }, /no user/],
      [{ ...url, PRESET: 'sms' }, /RISK_PRESET must be one of json, camara-sim-swap/],
      [{ ...url, MAX_AGE_HOURS: '2401' }, /RISK_MAX_AGE_HOURS must be a whole number from 1 to 2400/],
      [{ ...url, ON_FAILURE: 'retry' }, /RISK_ON_FAILURE must be one of allow, block/],
    ];
    for (const [risk, message] of bad) assert.throws(set(risk), message, JSON.stringify(risk));
    assert.equal(set({ URL: 'http://risk.example.com' }, 'sandbox')().risk?.url, 'http://risk.example.com');
  });
});
