// Applying an export changes nothing, whatever the configuration is.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { eventTypes } from '../../src/events/event.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createDeclaredFiles, type DeclaredFiles } from '../support/declared.ts';
import { signUp } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';

const secret = { env: 'SECRET' };
let app: TestApp;
let files: DeclaredFiles;
let accounts: string[];
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  files = await createDeclaredFiles(app, { SECRET: 'hidden-Zq7' });
  accounts = [(await signUp(app)).email, (await signUp(app)).email];
});
after(async () => {
  await files.remove();
  await app.close();
});

const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const someOf = (...values: string[]) => fc.subarray(values);
const carrierNames = ['acme', 'beta', 'gamma'];
const names = ['shop', 'bank', 'ACME', 'Ünïcode & Söhne'];

const smpp = fc.record(
  {
    host: fc.constantFrom('127.0.0.1', 'localhost'),
    port: fc.integer({ min: 1, max: 65_535 }),
    system_id: fc.constantFrom('me', 'you'),
    password: fc.constant(secret),
    binds: fc.integer({ min: 1, max: 4 }),
    window: fc.integer({ min: 1, max: 50 }),
    per_second: fc.constantFrom(null, 5, 100),
    tls: fc.constantFrom(false, { servername: 'smsc.example.com' }),
    validity: fc.constantFrom('relative', 'none'),
    on_doubt: fc.constantFrom('resend', 'hold'),
    charsets: fc.constantFrom(['gsm7/0', 'ucs2/8'], ['ucs2/8']),
    receipts: fc.constantFrom('all', 'none', 'last'),
    tlvs: fc.constantFrom([], [{ tag: 5121, value: 'x' }]),
  },
  { requiredKeys: ['host', 'system_id'] },
);
const http = fc.constantFrom(
  { preset: 'infobip', base: 'http://127.0.0.1:9', api_key: secret },
  {
    base: 'http://127.0.0.1:9',
    describe: {
      url: '{{base}}/x',
      json: { to: '{{to}}', text: '{{text}}', key: '{{secret:key}}' },
      accepted: [{ status: [200] }],
    },
    secrets: { key: secret },
  },
);
const kinds = fc.oneof(
  smpp.map((settings) => ({ kind: 'smpp', settings })),
  http.map((settings) => ({ kind: 'http', settings })),
);

const webhook = fc.record(
  {
    url: fc.integer({ min: 1, max: 999 }).map((part) => `http://127.0.0.1:9/${part}`),
    types: someOf(...eventTypes.slice(0, 5)),
    description: fc.constantFrom(null, 'of the shop'),
    status: fc.constantFrom('active', 'paused'),
  },
  { requiredKeys: ['url'] },
);
const pointers = fc.constantFrom({ to: '/a', code: '/b' }, { to: '/x~1y', text: '/t', locale: '/l' });
const hook = fc.oneof(
  fc.record(
    { kind: fc.constantFrom('supabase', 'logto', 'authentik'), locale: fc.constantFrom(null, 'de', 'pt-BR') },
    { requiredKeys: ['kind'] },
  ),
  fc.record({ kind: fc.constant('generic'), pointers, from: fc.constantFrom(null, 'ACME') }),
  fc.constant({ kind: 'zitadel', secret }),
);
const template = (country: string) =>
  fc.record(
    {
      country: fc.constant(country),
      text: fc.constantFrom('{{code}} is your code for ACME.', 'Code {{code}}, valid {{minutes}} min'),
      template_id: fc.constantFrom(null, '1107161234567890123'),
    },
    { requiredKeys: ['country', 'text'] },
  );
const application = (name: string) =>
  fc.record(
    {
      name: fc.constant(name),
      account: fc.constantFrom(0, 1),
      help_text: fc.constantFrom(null, 'Call us.', 'Écrivez-nous 😀'),
      assurance: fc.constantFrom('standard', 'nist-800-63b-4'),
      high_priority: fc.boolean(),
      segments_per_day: fc.constantFrom(null, 0, 500),
      call_countries: someOf('GB', 'de', 'FR').chain((codes) =>
        fc.shuffledSubarray(codes, { minLength: codes.length }),
      ),
      templates: someOf('IN', 'us').chain((codes) => fc.tuple(...codes.map(template))),
      registrations: someOf('sms', 'verify', 'messaging').map((apis) =>
        apis.map((api) => ({ api, plan: api === 'sms' ? 'Pro' : 'free' })),
      ),
      webhooks: fc.uniqueArray(webhook, { maxLength: 2, selector: ({ url }) => url }),
      hooks: fc.array(hook, { maxLength: 2 }),
    },
    { requiredKeys: ['name', 'account'] },
  );

const configuration = fc
  .record({ used: someOf(...carrierNames), declared: someOf(...names) })
  .chain(({ used, declared }) =>
    fc.record({
      guard: maybe(
        fc.record(
          {
            countries: fc.constantFrom(null, ['GB', 'FR'], ['de']),
            blocked: fc.constantFrom(null, [], ['+4477']),
            per_number: fc.constantFrom(null, 3),
            number_types: fc.constantFrom(null, ['MOBILE', 'UNKNOWN']),
          },
          { requiredKeys: [] },
        ),
      ),
      plans: maybe(
        fc.constantFrom(
          [{ plan: 'free', per_minute: 77 }],
          [
            { plan: 'Pro', burst: 3, segments_per_day: null },
            { plan: 'enterprise', segments_per_day: 0 },
          ],
        ),
      ),
      carriers: fc.tuple(
        ...used.map((name) =>
          fc.tuple(kinds, fc.constantFrom({}, { paused: true }, { paused: false })).map(([kind, pause]) => ({
            ...{ name, ...kind, ...pause },
          })),
        ),
      ),
      applications: fc.tuple(...declared.map(application)),
      routes: fc.uniqueArray(
        fc.record(
          {
            name: fc.constantFrom('one', 'two', 'three'),
            carriers: fc.constantFrom(...(used.length === 0 ? ['sandbox'] : used)).map((carrier) => [{ carrier }]),
            match: fc.record(
              {
                countries: someOf('gb', 'DE'),
                prefixes: someOf('4477', '+33'),
                apis: someOf('sms', 'verify'),
                applications: someOf(...declared),
                senders: someOf('ACME'),
              },
              { requiredKeys: [] },
            ),
            failover_bulk: fc.constantFrom(false, { per_minute: 7 }),
            from: fc.constantFrom(null, 'INFO'),
            hours: fc.constantFrom(null, { from: '08:00', to: '20:00', days: ['mon'], zone: 'Europe/London' }),
          },
          { requiredKeys: ['name', 'carriers'] },
        ),
        { selector: ({ name }) => name },
      ),
      senders: fc.uniqueArray(
        fc.record(
          {
            sender: fc.constantFrom('ACME', 'Shop', '80123'),
            application: fc.constantFrom(...(declared.length === 0 ? ['none'] : declared)),
            countries: someOf('GB', 'FR'),
            carriers: someOf(...used),
            registration: fc.constantFrom(null, 'REG-1'),
            per_second: fc.constantFrom(null, 5),
          },
          { requiredKeys: ['sender', 'application'] },
        ),
        { maxLength: declared.length === 0 ? 0 : 4, selector: ({ sender, application }) => `${sender} ${application}` },
      ),
      numbers: fc.uniqueArray(
        fc.record(
          {
            number: fc.constantFrom('80123', '+44 7700 900000'),
            application: fc.constantFrom(...(declared.length === 0 ? ['none'] : declared)),
            keyword: fc.constantFrom(null, 'join'),
            carrier: fc.constantFrom(null, ...used),
            ignored_words: someOf('CANCEL', 'end'),
          },
          { requiredKeys: ['number', 'application'] },
        ),
        {
          maxLength: declared.length === 0 ? 0 : 4,
          selector: ({ number, keyword, carrier }) => `${number} ${keyword ?? null} ${carrier ?? null}`,
        },
      ),
    }),
  );

/** In an order in which no key is in the way. */
const emptied = `truncate carrier, carrier_bind, carrier_log, carrier_test, route_table, sender, own_number, plan,
  guard_rules, application, webhook, event_listener cascade`;

test('export, then apply: nothing differs, also with --prune', async () => {
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(configuration, async (made) => {
      await app.db.database.query(emptied);
      const file = {
        ...made,
        applications: made.applications.map((each) => ({ ...each, account: accounts[each.account] })),
      };
      const applied = await files.apply(file, '--credentials', join(files.folder, `credentials-${++runs}.json`));
      assert.equal(applied.code, 0, applied.text);
      const again = await files.plan(file, '--prune');
      assert.equal(again.code, 0, `the same file again:\n${again.text}`);
      const exported = await files.export();
      assert.equal(JSON.stringify(exported).includes('Zq7'), false);
      const planned = await files.plan(exported, '--prune');
      assert.equal(planned.code, 0, `${planned.text}\n${JSON.stringify(exported, null, 1)}`);
      assert.match((await files.apply(exported, '--prune')).text, /^No difference/);
      assert.deepEqual(await files.export(), exported);
    }),
    { numRuns: inShort(8, 400), ...(inShort(true, false) && { seed: 22 }) },
  );
});
