// `plan`, `apply` and `export`: section 22 of the contract, "Declared configuration".
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { guideSamples } from '../../portal/src/webhooks/guide-samples.ts';
import type { Database, Session } from '../../src/platform/database/database.ts';
import { NotReplicated, translateError } from '../../src/platform/database/errors.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { getToken } from '../support/applications.ts';
import { runIn } from '../support/commands.ts';
import { createDeclaredFiles, type DeclaredFiles } from '../support/declared.ts';
import { createApplication, send, signUp, type TestDeveloper } from '../support/developer.ts';

const shopSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const env = { CARRIER: 'pass-Zq7', SHOP_WEBHOOK: shopSecret, ZITADEL: 'key-of-zitadel', SHORT: 'whsec_AAAA' };

let app: TestApp;
let files: DeclaredFiles;
let owner: TestDeveloper;
before(async () => {
  app = await createTestApp({ delivery: 'held' });
  owner = await signUp(app);
  files = await createDeclaredFiles(app, env);
});
after(async () => {
  await files.remove();
  await app.close();
});

const carrier = (more: object = {}) => ({
  name: 'acme',
  kind: 'smpp',
  settings: { host: '127.0.0.1', system_id: 'me', password: { env: 'CARRIER' }, ...more },
});
const hook = 'http://127.0.0.1:9/events';
const whole = () => ({
  plans: [{ plan: 'pro', per_minute: 900 }],
  guard: { per_number: 7, blocked: ['+4477009'] },
  carriers: [carrier()],
  routes: [{ name: 'uk', match: { countries: ['GB'], applications: ['shop'] }, carriers: [{ carrier: 'acme' }] }],
  applications: [
    {
      account: owner.email,
      name: 'shop',
      help_text: 'Ask us.',
      high_priority: true,
      segments_per_day: 500,
      registrations: [
        { api: 'sms', plan: 'pro' },
        { api: 'verify', plan: 'free' },
      ],
      webhooks: [{ url: hook, types: ['message.delivered'], secret: { env: 'SHOP_WEBHOOK' } }],
      hooks: [{ kind: 'zitadel', secret: { env: 'ZITADEL' }, locale: 'de' }],
    },
  ],
  senders: [{ sender: 'SHOP', application: 'shop', countries: ['GB'], per_second: 5 }],
  numbers: [{ number: '80123', application: 'shop', keyword: 'JOIN' }],
});

interface Detail {
  help_text: string;
  registrations: { api: string; plan: string; status: string }[];
}
const idOf = async (name: string): Promise<string> => {
  const { body } = await owner.send<{ data: { id: string; name: string }[] }>(
    'GET',
    '/portal/v1/applications?limit=100',
  );
  return body.data.find((each) => each.name === name)?.id ?? assert.fail(`there is an application ${name}`);
};

describe('one file', () => {
  test('plan shows everything and changes nothing; apply makes it; then there is no difference', async () => {
    const planned = await files.plan(whole());
    assert.equal(planned.code, 2);
    for (const line of [
      '~ plan pro\n    per_minute: 600 → 900',
      '~ guard\n    per_number: null → 7',
      '+ carrier acme',
      '+ application shop',
      '+ registration verify of shop\n    plan: "free"',
      '+ hook zitadel of shop',
      '+ route uk',
      '+ sender SHOP of shop for GB',
      '+ number 80123 JOIN',
      '+ webhook 127.0.0.1:9/events of shop',
      '9 to create, 2 to change, 0 to delete, 0 the same.',
    ])
      assert.ok(planned.text.includes(line), `${line}\n${planned.text}`);
    assert.equal((await files.plan(whole())).text, planned.text, 'nothing was changed');

    const applied = await files.apply(whole());
    assert.equal(applied.code, 0);
    assert.match(applied.text, /Applied\. Every node follows/);
    assert.deepEqual(await files.plan(whole()), { text: 'No difference: 11 the same.', code: 0 });

    const { body } = await owner.send<Detail>('GET', `/portal/v1/applications/${await idOf('shop')}`);
    assert.equal(body.help_text, 'Ask us.');
    assert.deepEqual(
      body.registrations.map(({ api, plan, status }) => [api, plan, status]),
      [
        ['sms', 'pro', 'approved'],
        ['verify', 'free', 'approved'],
      ],
    );
  });

  test('the audit log has each change once, and who made it', async () => {
    const { rows } = await app.db.database.query<{ act: string; by: string; owned: boolean }>(
      `select act, details ->> 'by' as by, account_id is not null as owned from audit where actor_kind = 'machine' order by id`,
    );
    assert.deepEqual(
      new Set(rows.map(({ act, owned }) => `${act}${owned ? ' of an account' : ''}`)),
      new Set([
        'application.changed of an account',
        'application.created of an account',
        'application.high_priority_allowed of an account',
        'application.limit_changed of an account',
        'carrier.created',
        'guard_rules.changed',
        'hook.created of an account',
        'number.given',
        'plan.changed',
        'registration.created of an account',
        'routes.replaced',
        'sender.approved of an account',
        'webhook.created of an account',
      ]),
    );
    assert.equal(rows.length, 14);
    assert.ok(rows.every(({ by }) => by === 'apply'));
  });

  test('an export has no secret, and applied again it changes nothing', async () => {
    const exported = await files.export();
    assert.equal(/Zq7|whsec_|key-of-zitadel|"env"/.test(JSON.stringify(exported)), false);
    assert.deepEqual(exported.plans, [{ plan: 'pro', per_minute: 900, burst: 200, segments_per_day: 100_000 }]);
    assert.deepEqual(exported.guard, { per_number: 7, blocked: ['+4477009'] });
    assert.deepEqual(exported.routes?.[0], {
      ...{ name: 'uk', match: { countries: ['GB'], applications: ['shop'] } },
      carriers: [{ carrier: 'acme', weight: 1 }],
    });
    assert.deepEqual(exported.senders?.[0], { sender: 'SHOP', application: 'shop', countries: ['GB'], per_second: 5 });
    const { text, code } = await files.apply(exported, '--prune');
    assert.match(text, /No difference: 11 the same/);
    assert.equal(code, 0);
  });

  test('a secret that the file does not name stays; a new one is a difference that is never shown', async () => {
    const [application] = whole().applications;
    const rotated = { ...env, ZITADEL: 'another-key', SHOP_WEBHOOK: `whsec_${Buffer.alloc(32, 9).toString('base64')}` };
    const others = await createDeclaredFiles(app, rotated);
    try {
      const { text } = await others.plan({ applications: [application] });
      assert.match(text, /~ hook zitadel of shop\n {4}secret: changed \(secret\)/);
      assert.match(text, /~ webhook [^\n]*\n {4}secret: changed \(secret\)/);
      assert.equal(text.includes('another-key') || text.includes('whsec_'), false);
      await others.apply({ applications: [application] });
      assert.equal((await others.plan({ applications: [application] })).code, 0);
    } finally {
      await others.remove();
    }
    const id = await idOf('shop');
    const { body } = await owner.send<{ data: { id: string }[] }>('GET', `/portal/v1/applications/${id}/webhooks`);
    const detail = await owner.send<{ secrets: unknown[] }>(
      'GET',
      `/portal/v1/applications/${id}/webhooks/${body.data[0]?.id}`,
    );
    assert.equal(detail.body.secrets.length, 2, 'for a day both sign');
    await files.apply(whole());
  });
});

describe('what a file does not name', () => {
  test('stays, with all its fields, unless --prune is given', async () => {
    const id = await idOf('shop');
    const slim = {
      carriers: [carrier({ window: 20 })],
      applications: [{ account: owner.email, name: 'shop', registrations: [{ api: 'sms', plan: 'pro' }], hooks: [] }],
      numbers: [],
      senders: [],
    };
    const { text } = await files.plan(slim);
    assert.match(text, /^~ carrier acme\n {4}window: 10 → 20\n\n0 to create, 1 to change, 0 to delete, 2 the same\.$/);
    const pruned = await files.plan(slim, '--prune');
    for (const line of [
      '- number 80123 JOIN',
      '- sender SHOP of shop for GB',
      '- hook zitadel of shop',
      '- registration verify of shop',
    ])
      assert.ok(pruned.text.includes(line), pruned.text);
    assert.equal(/- (?:webhook|route|carrier|plan)/.test(pruned.text), false, 'a list that is absent stays');
    await files.apply(slim, '--prune');
    assert.equal((await files.plan(slim, '--prune')).code, 0);
    const { body } = await owner.send<Detail>('GET', `/portal/v1/applications/${id}`);
    assert.deepEqual([body.help_text, body.registrations.map(({ api }) => api)], ['Ask us.', ['sms']]);
    await files.apply(whole());
  });

  test('--prune deletes applications of the accounts that the file names, and of no other', async () => {
    const [first, second] = [await signUp(app), await signUp(app)];
    for (const developer of [first, second]) await createApplication(developer, 'old');
    const file = { applications: [{ account: first.email, name: 'new' }] };
    assert.match((await files.plan(file, '--prune')).text, /\+ application new\n[\s\S]*- application old\n/);
    await files.apply(file, '--prune');
    const names = async (developer: TestDeveloper) => {
      const { body } = await developer.send<{ data: { name: string }[] }>('GET', '/portal/v1/applications');
      return body.data.map(({ name }) => name);
    };
    assert.deepEqual([await names(first), await names(second)], [['new'], ['old']]);
  });

  test('null takes a rule of the guard back to the settings, and a limit back to the plan', async () => {
    const file = {
      guard: { blocked: null },
      applications: [{ account: owner.email, name: 'shop', segments_per_day: null, help_text: null }],
    };
    const { text } = await files.apply(file);
    assert.match(text, /blocked: \["\+4477009"\] → null/);
    assert.match(text, /help_text: "Ask us\." → null\n {4}segments_per_day: 500 → null/);
    assert.deepEqual((await files.export()).guard, { per_number: 7 });
    assert.equal((await files.plan(file)).code, 0);
    await files.apply(whole());
  });
});

describe('what operators and developers set in the portal', () => {
  let developer: TestDeveloper;
  before(async () => {
    developer = await signUp(app);
  });
  const named = (more: object) => ({ applications: [{ account: developer.email, name: 'fields', ...more }] });
  const text = '{{code}} is your code for ACME.';

  test('assurance, countries for calls and texts by country: made, shown, changed, and in an export', async () => {
    const first = {
      ...{ assurance: 'nist-800-63b-4', call_countries: ['de', 'GB', 'DE'] },
      templates: [{ country: 'in', text, template_id: '110716' }],
    };
    const made = await files.apply(named(first));
    assert.match(made.text, /assurance: "nist-800-63b-4"\n {4}call_countries: \["DE","GB"\]/);
    assert.match(made.text, /\+ template for IN of fields\n {4}text: "\{\{code\}\} is/);
    assert.equal((await files.plan(named(first))).code, 0);
    const exported = (await files.export()).applications?.find((each) => (each as { name: string }).name === 'fields');
    assert.deepEqual(exported, {
      ...{ account: developer.email, name: 'fields', assurance: 'nist-800-63b-4', call_countries: ['DE', 'GB'] },
      ...{ templates: [{ country: 'IN', text, template_id: '110716' }], registrations: [] },
    });

    const other = 'Code {{code}}, valid {{minutes}} min';
    const second = {
      ...{ assurance: 'standard', call_countries: [] },
      templates: [
        { country: 'IN', text: other },
        { country: 'US', text },
      ],
    };
    const { text: changes } = await files.apply(named(second));
    for (const line of [
      'assurance: "nist-800-63b-4" → "standard"',
      'call_countries: ["DE","GB"] → []',
      '~ template for IN of fields\n    text: "{{code}} is your code for ACME." → "Code {{code}}, valid {{minutes}} min"',
      '+ template for US of fields',
    ])
      assert.ok(changes.includes(line), changes);
    assert.equal((await files.plan(named({}), '--prune')).text.includes('template'), false, 'an absent list stays');
    assert.match((await files.apply(named({ templates: [] }), '--prune')).text, /- template for US of fields/);
    assert.equal((await files.plan(named({ ...second, templates: [] }), '--prune')).code, 0);
    const { rows } = await app.db.database.query<{ act: string }>(
      `select act from audit where act like 'template.%' order by id`,
    );
    assert.deepEqual(
      rows.map(({ act }) => act),
      ['template.changed', 'template.changed', 'template.changed', 'template.deleted', 'template.deleted'],
    );
  });

  test('a carrier is paused and resumed; a file that does not say so leaves it as it is', async () => {
    const file = (more: object) => ({ carriers: [{ ...carrier(), name: 'halted', ...more }] });
    assert.match(
      (await files.apply(file({ paused: true }))).text,
      /\+ carrier halted\n {4}kind: "smpp"\n {4}paused: true/,
    );
    const isPaused = async () => {
      const { rows } = await app.db.database.query<{ paused: boolean }>(
        `select paused from carrier where name = 'halted' and deleted_at is null`,
      );
      return rows[0]?.paused;
    };
    assert.equal(await isPaused(), true);
    assert.equal((await files.plan(file({}))).code, 0);
    const exported = (await files.export()).carriers?.find((each) => (each as { name: string }).name === 'halted');
    assert.equal((exported as { paused: boolean }).paused, true);
    const inFull = JSON.parse((await files.run('carriers', 'export')).text) as { carriers: { paused?: boolean }[] };
    assert.deepEqual(
      inFull.carriers.map(({ paused }) => paused),
      [undefined, true],
    );
    assert.match((await files.apply(file({ paused: false }))).text, /~ carrier halted\n {4}paused: true → false/);
    assert.equal(await isPaused(), false);
    await files.apply({ carriers: [carrier()] }, '--prune');
  });

  test('what is wrong with them is named', async () => {
    const bad = {
      ...{ assurance: 'best', call_countries: ['XX', 'GBR', 1] },
      templates: [
        { country: 'in', text },
        { country: 'IN', text },
        { country: 'XX', text: 'no code' },
        { country: 'US', text, template_id: 'with space' },
      ],
    };
    await assert.rejects(files.plan(named(bad)), ({ message }: Error) => {
      for (const part of [
        '0.assurance must be one of standard, nist-800-63b-4',
        '0.call_countries.0 must be a country code of two letters',
        '0.call_countries.1 must be a country code like GB',
        '0.call_countries.2 must be a country code like GB',
        '0.templates.2.country must be an ISO country code',
        '0.templates.2.text must have {{code}} once',
        '0.templates.3.template_id must be 1 to 64 visible ASCII characters',
      ])
        assert.ok(message.includes(`\n  applications.${part}`), `${part}\n${message}`);
      return true;
    });
    const twice = named({ templates: bad.templates.slice(0, 2) });
    await assert.rejects(files.plan(twice), /templates\.1\.country is in this list already/);
    const withPause = { carriers: [{ ...carrier(), paused: 'yes' }] };
    await assert.rejects(files.plan(withPause), /carriers\.0\.paused must be a boolean/);
  });

  test('a profile needs a risk check in production, and an application that has it keeps it', async () => {
    const file = named({ assurance: 'nist-800-63b-4' });
    await files.apply(file);
    const production = { ...app, config: { ...app.config, environment: 'production' as const, risk: undefined } };
    const there = await createDeclaredFiles(production, env);
    try {
      assert.equal((await there.plan(file)).code, 0);
      const more = { applications: [...file.applications, { ...file.applications[0], name: 'another' }] };
      await assert.rejects(there.plan(more), /applications\.1\.assurance cannot be kept without a risk check/);
    } finally {
      await there.remove();
    }
  });
});

describe('which object is meant', () => {
  test('an application by its id is renamed, by its name it is another', async () => {
    const developer = await signUp(app);
    const id = await createApplication(developer, 'before');
    const { text } = await files.apply({ applications: [{ id, account: developer.email, name: 'after' }] });
    assert.match(text, /~ application before\n {4}name: "before" → "after"/);
    const two = { account: developer.email, name: 'after' };
    await createApplication(developer, 'after');
    await assert.rejects(files.plan({ applications: [two] }), /applications\.0\.id is required.*more than one/);
    const exported = await files.export();
    const own = exported.applications?.filter((each) => (each as typeof two).account === developer.email);
    assert.equal(own?.length, 2);
    assert.ok(
      own?.every((each) => 'id' in (each as object)),
      'an export names them by id',
    );
    assert.equal((await files.plan({ applications: own })).code, 0);
  });

  test('hooks of one kind and webhooks of one address are paired by what is equal, else by id', async () => {
    const developer = await signUp(app);
    const generic = (to: string) => ({ kind: 'generic', pointers: { to, code: '/code' } });
    const one = (...hooks: object[]) => ({ applications: [{ account: developer.email, name: 'many', hooks }] });
    await files.apply(one(generic('/a'), generic('/b')), '--credentials', join(files.folder, 'many.json'));
    assert.equal((await files.plan(one(generic('/b'), generic('/a')), '--prune')).code, 0, 'their order is free');
    assert.match(
      (await files.plan(one(generic('/b')), '--prune')).text,
      /^- hook generic of many\n\n0 to create, 0 to change, 1 to delete, 2 the same/,
    );
    assert.match(
      (await files.plan(one(generic('/a'), generic('/c')))).text,
      /pointers: \{"to":"\/b".*→ \{"to":"\/c"/,
      'the one that is left is changed',
    );
    await assert.rejects(files.plan(one(generic('/c'))), /hooks\.0\.id is required: it may be any of hok_\w+, hok_\w+/);
  });

  test('an account by its id, by an owner of one account, and not by a developer or a stranger', async () => {
    const file = (account: string) => ({ applications: [{ account, name: 'of-an-account' }] });
    const { rows } = await app.db.database.query<{ id: string }>(
      `select account_id as id from member m join person p on p.id = m.person_id where p.email = $1`,
      [owner.email],
    );
    assert.equal((await files.plan(file(rows[0]?.id ?? ''))).code, 2);
    assert.equal((await files.plan(file(owner.email.toUpperCase()))).code, 2);
    for (const account of ['nobody@example.com', 'acc_01jcq000000000000000000000', 'nobody'])
      await assert.rejects(files.plan(file(account)), /applications\.0\.account must be the email of an owner/);
  });
});

test('an application whose name is the id of another keeps what it has, by an export too', async () => {
  const developer = await signUp(app);
  const other = await createApplication(developer, 'other');
  const own = { account: developer.email, name: other };
  await files.apply({ applications: [own] });
  const { body } = await developer.send<{ data: { id: string; name: string }[] }>('GET', '/portal/v1/applications');
  const id = body.data.find(({ name }) => name === other)?.id ?? '';
  await files.apply({ numbers: [{ number: '80188', application_id: id, api: 'sms' }] });
  const exported = await files.export();
  const number = exported.numbers?.find((each) => (each as { number: string }).number === '80188');
  assert.equal((number as { application_id?: string }).application_id, id);
  assert.deepEqual((await files.plan({ numbers: [number] })).code, 0);
});

describe('credentials', () => {
  const registered = (developer: TestDeveloper) => ({
    account: developer.email,
    name: 'secret',
    registrations: ['sms', 'verify', 'messaging'].map((api) => ({ api, plan: 'free' })),
  });

  test('none is made without --credentials; with it they are in a new file for its owner alone, and work', async () => {
    const developer = await signUp(app);
    const file = { applications: [registered(developer)] };
    await files.apply(file);
    assert.equal((await files.plan(file)).code, 0, 'an application without credentials is no difference');
    const path = join(files.folder, 'credentials.json');
    const { text } = await files.apply(file, '--credentials', path);
    assert.match(text, /\+ credential api_key of secret\n\+ credential client of secret\n/);
    assert.match(text, /has 2 new credentials/);
    assert.equal(/hg_sandbox_|hgs_/.test(text), false, 'they are not printed');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    const { credentials } = (await files.read('credentials.json')) as { credentials: Record<string, string>[] };
    const [key, client] = credentials;
    const sent = await send(app, 'GET', '/sms/v1/messages', { headers: { apikey: key?.api_key ?? '' } });
    assert.equal(sent.status, 200);
    const pair = { client_id: client?.client_id ?? '', client_secret: client?.client_secret ?? '' };
    assert.ok(await getToken(app, pair, 'verify:manage'));
    assert.deepEqual(client?.scopes, ['openid verify:manage', 'openid messaging:send']);
  });

  test('a file that exists is refused before anything is changed, and one that is not needed is not left', async () => {
    const developer = await signUp(app);
    const file = { applications: [registered(developer)] };
    const path = join(files.folder, 'there.json');
    await writeFile(path, 'mine');
    await assert.rejects(files.apply(file, '--credentials', path), /exists already.*nothing has been changed/);
    assert.equal((await files.plan(file)).code, 2);
    const inNoFolder = join(files.folder, 'none', 'x.json');
    await assert.rejects(files.apply(file, `--credentials=${inNoFolder}`), /cannot be created \(ENOENT\)/);
    const fresh = join(files.folder, 'fresh.json');
    await files.apply(file, '--credentials', fresh);
    const again = join(files.folder, 'again.json');
    const more = { applications: [{ ...registered(developer), help_text: 'Hm.' }] };
    assert.match(
      (await files.apply(more, '--credentials', again)).text,
      /No credential was missing, so the file .* was not written/,
    );
    await assert.rejects(stat(again));
  });

  test('a commit that no standby has confirmed leaves the credentials in their file: they may be there', async () => {
    const developer = await signUp(app);
    const path = join(files.folder, 'doubtful.json');
    const { database } = app.db;
    const openSession: Database['openSession'] = async (...given) => {
      const session = await database.openSession(...given);
      const query: Session['query'] = async (statement, values) => {
        const rows = await session.query<never>(statement, values);
        if (statement === 'commit') throw translateError(new NotReplicated());
        return rows;
      };
      return { ...session, query };
    };
    const doubtful = { ...app, db: { ...app.db, database: { ...database, openSession } } };
    const file = await files.write({ applications: [registered(developer)] });
    await assert.rejects(runIn({}, doubtful, 'apply', file, '--credentials', path), /in doubt.*Keep .*doubtful/);
    const { credentials } = (await files.read('doubtful.json')) as { credentials: Record<string, string>[] };
    const key = credentials.find(({ type }) => type === 'api_key')?.api_key ?? '';
    assert.equal((await send(app, 'GET', '/sms/v1/messages', { headers: { apikey: key } })).status, 200);
  });

  test('a webhook or hook that needs a secret of ours asks for --credentials, and the file then has it', async () => {
    const developer = await signUp(app);
    const file = {
      applications: [
        {
          account: developer.email,
          name: 'told',
          webhooks: [{ url: hook, status: 'paused' }],
          hooks: [{ kind: 'supabase' }],
        },
      ],
    };
    assert.match(
      (await files.plan(file)).text,
      /New secrets are needed for applications\.0\.hooks\.0, applications\.0\.webhooks\.0/,
    );
    await assert.rejects(files.apply(file), /Nothing has been changed.*--credentials <new file>/);
    await files.apply(file, '--credentials', join(files.folder, 'told.json'));
    const { credentials } = (await files.read('told.json')) as { credentials: Record<string, string>[] };
    assert.deepEqual(
      credentials.map(({ type, secret }) => [type, secret?.replace(/whsec_.*/, 'whsec_')]),
      [
        ['hook_secret', 'v1,whsec_'],
        ['webhook_secret', 'whsec_'],
      ],
    );
    assert.equal((await files.plan(file)).code, 0);
    const exported = (await files.export()).applications?.find((each) => (each as { name: string }).name === 'told');
    assert.deepEqual((exported as { webhooks: object[] }).webhooks, [{ url: hook, status: 'paused' }]);
  });
});

describe('a file that is wrong', () => {
  test('every bad field is named by its path, with what would be right, and nothing is changed', async () => {
    const before = await files.export();
    const bad = {
      plans: [{ plan: 'gold' }, { plan: 'free', per_minute: 0 }],
      guard: { per_number: 0, countries: ['XX'], blocked: ['0044'], prefix: 1 },
      carriers: [carrier({ password: 'in clear' }), { name: 'B', kind: 'fax', settings: {} }],
      routes: [{ name: 'x', match: { applications: ['nobody'] }, carriers: [{ carrier: 'nowhere' }] }],
      applications: [
        { account: 'nobody@example.com', name: '', plan: 'free' },
        {
          account: owner.email,
          name: 'shop',
          registrations: [{ api: 'fax', plan: 'free' }],
          webhooks: [
            { url: 'http://10.0.0.1/x', secret: { env: 'SHORT' } },
            { url: hook, types: ['x'], secret: 'clear' },
          ],
          hooks: [{ kind: 'generic' }],
        },
        {
          account: owner.email,
          name: 'other',
          webhooks: [{ url: 'http://10.0.0.1/x', secret: { env: 'SHORT' } }],
          hooks: [{ kind: 'generic' }, { kind: 'zitadel' }, { kind: 'logto', secret: { env: 'NOT_SET' } }],
        },
      ],
      senders: [{ sender: 'A', application: 'nobody', carriers: ['none'] }, { sender: 'B' }],
      numbers: [{ number: '1', application_id: 'app_01jcq000000000000000000000', application: 'shop' }],
      texts: [],
    };
    await assert.rejects(files.apply(bad), ({ message }: Error) => {
      for (const part of [
        'texts is not known here: a file may have plans, carriers,',
        'plans.0.plan must be one of free, pro, enterprise',
        'plans.1.per_minute must be a whole number from 1 to 1000000',
        'guard.per_number must be a whole number',
        'guard.blocked.0 must be the first digits of numbers',
        'guard.prefix is not known here: there may be countries, blocked,',
        'carriers.0.settings.password must be an object like {"env": "NAME"}',
        'carriers.1.name must be 2 to 32 lower-case letters',
        'carriers.1.kind must be one of smpp, http',
        'applications.0.account must be the email of an owner',
        'applications.0.name must be a name',
        'applications.0.plan is not known here',
        'applications.1.registrations.0.api must be one of sms, verify, messaging',
        'applications.1.webhooks.1.types.0 must be a type of event',
        'applications.1.webhooks.1.secret must be an object like {"env": "NAME"}',
        'applications.2.webhooks.0.url must',
        'applications.2.webhooks.0.secret names SHORT, which must have whsec_',
        'applications.2.hooks.0.pointers.to is required',
        'applications.2.hooks.1.secret is required for a new hook',
        'applications.2.hooks.2.secret must be left out',
        'routes.0.match.applications.0 must be the id of an application, or a name',
        'senders.0.application must be the id of an application, or a name',
        'senders.0.carriers.0 must be the name of an existing carrier',
        'senders.1.application_id is required',
        'numbers.0.application_id must not be beside application',
      ])
        assert.ok(message.includes(`\n  ${part}`), `${part}\n${message}`);
      return true;
    });
    assert.deepEqual(await files.export(), before);
  });

  test('with --json the problems are JSON, and so is a plan', async () => {
    const { text, code } = await files.plan({ plans: [{ plan: 'gold' }] }, '--json');
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(text), {
      problems: [{ field: 'plans.0.plan', message: 'must be one of free, pro, enterprise' }],
    });
    const planned = await files.plan({ plans: [{ plan: 'pro', burst: 250 }] }, '--json');
    assert.deepEqual(JSON.parse(planned.text), {
      different: true,
      changes: [{ action: 'change', kind: 'plan', name: 'pro', fields: [{ field: 'burst', before: 200, after: 250 }] }],
      same: 0,
      needs_credentials: [],
    });
    const applied = JSON.parse((await files.apply({ plans: [{ plan: 'pro', burst: 200 }] }, '--json')).text);
    assert.deepEqual([applied.outcome, applied.credentials], ['unchanged', 0]);
  });

  for (const [what, file, says] of [
    ['no JSON', '{', /is not JSON/],
    ['a list', [], /must hold a JSON object/],
    ['lists that are none', { carriers: {}, plans: 5 }, /carriers must be a list\n {2}plans must be a list/],
    ['too many entries', { senders: Array(10_001).fill({}) }, /senders must have at most 10000 entries/],
    ['more than 4 MiB', `"${'x'.repeat(4 * 1024 * 1024)}"`, /larger than 4 MiB/],
    ['deep nesting', `{"carriers":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, /nested deeper than 30/],
    ['an application twice', { applications: [{ account: 'A', name: 'a' }, 7] }, /applications\.1 must be/],
    ['a plan twice', { plans: [{ plan: 'pro' }, { plan: 'PRO' }] }, /plans\.1 is in this list already/],
  ] as const)
    test(`${what}`, () => assert.rejects(files.plan(file), says));

  test('arguments that are wrong say how to call it', async () => {
    for (const [args, says] of [
      [['plan'], /Give the file\. Run: npm run plan -- <file\.json>/],
      [['plan', 'a', 'b'], /Give one file/],
      [['plan', 'a', '--credentials', 'x'], /--credentials is not known here/],
      [['apply', 'a', '--credentials'], /needs the name of a new file/],
      [['apply', 'a', '--force'], /--force is not known here/],
      [['export', 'a', '--prune'], /--prune is not known here/],
      [['plan', join(files.folder, 'none.json')], /cannot be read: there is none/],
      [['plan', files.folder], /is not a file/],
    ] as const)
      await assert.rejects(files.run(args[0], ...args.slice(1)), says);
  });

  test('a change that the service refuses leaves everything as it was', async () => {
    const before = await files.export();
    const file = { guard: { per_number: 9 }, carriers: [], plans: [{ plan: 'free', burst: 33 }] };
    await assert.rejects(
      files.apply(file, '--prune'),
      /Nothing has been changed:\n {2}carrier acme: The route uk names/,
    );
    assert.deepEqual(await files.export(), before);
  });
});

test('export writes a new file, and another only with --replace', async () => {
  const path = join(files.folder, 'exported.json');
  assert.match((await files.run('export', path)).text, /has everything but secrets/);
  await assert.rejects(files.run('export', path), /exists already\. --replace writes it anew/);
  await files.run('export', path, '--replace');
  assert.deepEqual(await files.read('exported.json'), await files.export());
  assert.equal((await files.run('plan', path)).code, 0);
});

test('routes that name what is gone: their export is applied again, and any other file is refused', async () => {
  const developer = await signUp(app);
  const file = {
    carriers: [{ ...carrier(), name: 'leaves' }],
    applications: [{ account: developer.email, name: 'leaves' }],
    routes: [{ name: 'left', match: { applications: ['leaves'] }, carriers: [{ carrier: 'leaves' }] }],
  };
  await files.apply(file);
  const { rows } = await app.db.database.query<{ id: string }>(`select id from application where name = 'leaves'`);
  await developer.send('DELETE', `/portal/v1/applications/${rows[0]?.id}`);
  await app.db.database.query(`update carrier set deleted_at = now() where name = 'leaves'`);
  const exported = await files.export();
  assert.match((await files.apply(exported)).text, /^No difference/);
  const [route] = exported.routes as { match: object; carriers: object[] }[];
  assert.deepEqual(
    [route?.match, route?.carriers],
    [{ applications: [rows[0]?.id] }, [{ carrier: 'leaves', weight: 1 }]],
  );
  const other = { routes: [{ ...route, from: 'INFO' }] };
  await assert.rejects(files.plan(other), /routes\.0\.carriers\.0\.carrier must be the name of an existing carrier/);
  await files.apply({ routes: [] });
});

test('the file of the guide is right', async () => {
  const guide = readFileSync(new URL('../../docs/guides/gitops.md', import.meta.url), 'utf8');
  const sample = guideSamples(guide).get('heliograph.json') ?? '';
  const secrets = { ACME_PASSWORD: 'secret', SHOP_WEBHOOK_SECRET: shopSecret, ZITADEL_KEY: 'key' };
  const reader = await createDeclaredFiles(app, secrets);
  try {
    const developer = await signUp(app);
    const file = sample.replace('owner@example.com', developer.email);
    assert.equal((await reader.apply(file)).code, 0);
    assert.match((await reader.plan(file)).text, /^No difference: 11 the same/);
  } finally {
    await reader.remove();
  }
});
