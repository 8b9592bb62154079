import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dependsOn, findTestFiles, isUnitTest } from '../scripts/test-files.ts';
import type { Setting } from '../src/settings/kinds.ts';
import { settings } from '../src/settings/settings.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

/** Who may import whom. The files beside the folders put everything together: they import all, and none imports them. */
const mayImport: Record<string, string[]> = {
  platform: [],
  backup: ['platform'],
  http: ['platform'],
  edge: ['http', 'platform'],
  registry: ['http', 'platform'],
  metering: ['http', 'platform'],
  events: ['http', 'platform'],
  // A change of a record writes its event by the same statement.
  messages: ['events', 'http', 'platform'],
  identity: ['registry', 'http', 'platform'],
  verify: ['messages', 'events', 'http', 'platform'],
  delivery: ['messages', 'events', 'http', 'platform'],
  sandbox: ['messages', 'http', 'platform'],
  // Counts what delivery does, and reads what its stores tell.
  quality: ['delivery', 'messages', 'http', 'platform'],
  // Gets what carriers report, and asks to send answers.
  inbound: ['delivery', 'messages', 'events', 'http', 'platform'],
  // The virtual SMSC speaks with the carriers' codec.
  smsc: ['delivery', 'platform'],
  // The portal reads from every domain.
  portal: [
    'registry',
    'metering',
    'messages',
    'verify',
    'delivery',
    'quality',
    'inbound',
    'events',
    'http',
    'platform',
  ],
};

/** These put everything together: they import all, and only the files beside the folders import them. */
const composing = 'compose';

/** Every table has one owner: the folder whose stores read and write it. */
const ownerOf: Record<string, string[]> = {
  // Credentials of a disabled account open nothing, and its webhooks wait.
  account: ['portal', 'registry', 'events'],
  person: ['portal'],
  member: ['portal'],
  invitation: ['portal'],
  second_factor: ['portal'],
  audit: ['portal'],
  recovery_code: ['portal'],
  session: ['portal'],
  one_time_link: ['portal'],
  sign_in_throttle: ['portal'],
  sign_in: ['portal'],
  known_address: ['portal'],
  // Webhooks take turns by account.
  application: ['registry', 'events'],
  registration: ['registry'],
  api_key: ['registry'],
  oauth_client: ['registry'],
  client_secret: ['registry'],
  sender: ['registry'],
  verification_template: ['registry'],
  plan: ['registry'],
  spend_day: ['messages'],
  sender_pace: ['delivery'],
  registry_change: ['registry'],
  node: ['registry'],
  signing_key: ['identity'],
  token_revocation: ['identity'],
  // Delivery records in it what became of a text.
  message: ['messages', 'delivery'],
  message_default: ['messages'],
  message_end: ['messages', 'delivery'],
  unmasked_message: ['messages'],
  message_sum: ['messages'],
  // Accepting and canceling a message put it into the queue and take it out.
  delivery_queue: ['delivery', 'messages'],
  delivery_schedule: ['delivery', 'messages'],
  delivery_claim: ['delivery', 'messages'],
  sent_text: ['delivery'],
  text_part: ['delivery'],
  text_attempt: ['delivery'],
  bulk_failover: ['delivery'],
  unsettled_text: ['delivery'],
  unmatched_receipt: ['delivery'],
  carrier: ['delivery'],
  route_table: ['delivery'],
  carrier_bind: ['delivery'],
  carrier_log: ['delivery'],
  carrier_test: ['delivery'],
  event: ['events'],
  event_default: ['events'],
  event_listener: ['events'],
  webhook: ['events'],
  webhook_secret: ['events'],
  webhook_course: ['events'],
  webhook_delivery: ['events'],
  webhook_delivery_default: ['events'],
  webhook_replay: ['events'],
  total_day: ['quality'],
  carrier_minute: ['quality'],
  alert: ['quality'],
  alert_call: ['quality'],
  conversion_number: ['quality'],
  conversion_sum: ['quality'],
  conversion_application: ['quality'],
  // What is held back of an application is among what nodes remember of it.
  guard_hold: ['quality', 'registry'],
  blocked_start: ['quality'],
  // An application may send from its numbers, which every node knows.
  own_number: ['inbound', 'registry'],
  inbound_text: ['inbound'],
  inbound_part: ['inbound'],
  inbound_seen: ['inbound'],
  // Accepting and claiming texts ask whether there is any opt-out at all.
  opt_out: ['inbound', 'messages', 'delivery'],
  opt_out_change: ['inbound'],
  automatic_reply: ['inbound'],
  walk: ['platform'],
  idempotency: ['platform'],
  handset_text: ['sandbox'],
  handset_delayed_text: ['sandbox'],
  handset_late_receipt: ['sandbox'],
  handset_report: ['sandbox'],
  verification: ['verify'],
  verification_default: ['verify'],
  pending_verification: ['verify'],
  ended_verification: ['verify'],
  ended_verification_default: ['verify'],
  recent_failure: ['verify'],
  counted_start: ['verify'],
  start_client: ['verify'],
  verification_sum: ['verify'],
  usage_minute: ['metering'],
  request_trace: ['metering'],
  key_ring: ['platform'],
  schema_migration: ['platform'],
};

interface SourceFile {
  /** Below `src`, like `platform/clock.ts`. */
  name: string;
  folder: string | undefined;
  text: string;
  imports: string[];
}

const files: SourceFile[] = readdirSync(source, { recursive: true })
  .map((name) => String(name).replaceAll('\\', '/'))
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => {
    const text = readFileSync(join(source, name), 'utf8');
    return { name, folder: folderOf(name), text, imports: importsOf(text) };
  });

function folderOf(name: string): string | undefined {
  return name.includes('/') ? name.split('/')[0] : undefined;
}

function importsOf(text: string): string[] {
  const patterns = [/\bfrom\s+'([^']+)'/g, /\bimport\s+'([^']+)'/g, /\bimport\(\s*'([^']+)'/g];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path ?? ''));
}

/** The imports of our own files, as names below `src`. */
function ownImports({ name, imports }: SourceFile): string[] {
  const folder = dirname(join(source, name));
  return imports.filter((path) => path.startsWith('.')).map((path) => relative(source, resolve(folder, path)));
}

/** Comments speak of things the code must not use. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(^|\s)\/\/.*$/gm, '');
}

describe('import directions', () => {
  test('every folder is in the table of the architecture', () => {
    const folders = new Set(files.flatMap(({ folder }) => folder ?? []));
    assert.deepEqual(
      [...folders].filter((folder) => folder !== composing && !Object.hasOwn(mayImport, folder)),
      [],
    );
  });

  test('a folder imports only what the table allows it', () => {
    const forbidden = files.flatMap((file) => {
      const { folder } = file;
      if (folder === undefined || folder === composing) return [];
      const allowed = [folder, ...(mayImport[folder] ?? [])];
      return ownImports(file)
        .filter((target) => !allowed.includes(folderOf(target) ?? ''))
        .map((target) => `${file.name} imports ${target}`);
    });
    assert.deepEqual(forbidden, []);
  });

  test('nothing imports main.ts, and nothing of the product imports a test', () => {
    const wrong = files.flatMap((file) =>
      ownImports(file)
        .filter((target) => target === 'main.ts' || target.startsWith('..') || target.endsWith('.test.ts'))
        .map((target) => `${file.name} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('no two files need each other, by whatever way round, types included', () => {
    const importsOfName = new Map(files.map((file) => [file.name, ownImports(file)]));
    const done = new Set<string>();
    const visit = (name: string, path: string[]): void => {
      if (path.includes(name)) assert.fail(`a circle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
      if (done.has(name)) return;
      for (const target of importsOfName.get(name) ?? []) visit(target, [...path, name]);
      done.add(name);
    };
    for (const { name } of files) visit(name, []);
  });

  test('the quick lane has one door: server.ts imports its lane, and nothing else imports any of it', () => {
    const inside = (name: string) => name.startsWith('http/plain/');
    const doors = files
      .filter(({ name }) => !inside(name))
      .flatMap((file) =>
        ownImports(file)
          .filter(inside)
          .map((target) => `${file.name} imports ${target}`),
      );
    assert.deepEqual(doors, ['http/server.ts imports http/plain/lane.ts']);
  });

  for (const [name, file] of [
    ['pg', 'platform/database/database.ts'],
    ['@redis/client', 'platform/redis.ts'],
    ['undici', 'webhooks/client.ts'],
  ] as const) {
    test(`only ${file} knows ${name}`, () => {
      const users = files.filter(({ imports }) => imports.some((path) => path === name || path.startsWith(`${name}/`)));
      assert.deepEqual(
        users.map((user) => user.name),
        [file],
      );
    });
  }
});

describe('owners', () => {
  test('every table of the migrations has an owner', () => {
    const made = readdirSync(join(root, 'migrations')).flatMap((name) =>
      [...readFileSync(join(root, 'migrations', name), 'utf8').matchAll(/^create table (\w+)/gm)].map(
        ([, table]) => table,
      ),
    );
    assert.deepEqual(new Set([...made, 'schema_migration']), new Set(Object.keys(ownerOf)));
  });

  test('a table is read and written in the folder that owns it', () => {
    const named = new RegExp(`\\b(?:from|join|into|update|table) (${Object.keys(ownerOf).join('|')})\\b`, 'g');
    const wrong = files.flatMap(({ name, folder, text }) =>
      [...withoutComments(text).matchAll(named)]
        .map(([, table = '']) => table)
        .filter((table) => !ownerOf[table]?.includes(folder ?? ''))
        .map((table) => `${name} uses ${table}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('app.ts is a table of contents', () => {
    const lines =
      files
        .find(({ name }) => name === 'app.ts')
        ?.text.trimEnd()
        .split('\n').length ?? 0;
    assert.ok(lines > 0 && lines <= 120, `app.ts has ${lines} lines`);
  });
});

describe('tests', () => {
  test('one beside its source is pure: it needs no database, no socket, no program and no build', () => {
    const unfit = ['app', 'database', 'redis', 'service', 'cluster', 'fault-proxy'].map(
      (name) => `test/support/${name}.ts`,
    );
    unfit.push('test/socket/bare-server.ts', 'test/browser/browser.ts');
    const wrong = findTestFiles([])
      .filter(isUnitTest)
      .flatMap((file) =>
        unfit.filter((support) => dependsOn(file, support)).map((support) => `${file} imports ${support}`),
      );
    assert.deepEqual(wrong, []);
  });

  // Unit tests share processes: a hook of one file would run for the tests of the others.
  test('hooks of a test beside its source stand in a describe', () => {
    const withHooks = findTestFiles([])
      .filter(isUnitTest)
      .filter((file) => /^(before|after)(Each)?\(/m.test(readFileSync(join(root, file), 'utf8')));
    assert.deepEqual(withHooks, []);
  });
});

describe('one source each', () => {
  const guarded: Record<string, RegExp> = {
    time: /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b/,
    randomness: /\bMath\.random\b|\brandomUUID\b|\brandomInt\b|\brandomFill/,
    'the environment': /\bprocess\.env\b/,
  };
  for (const [what, pattern] of Object.entries(guarded)) {
    test(`${what} comes from platform/ or main.ts`, () => {
      const users = files
        .filter(({ folder, name }) => folder !== 'platform' && name !== 'main.ts')
        .filter(({ text }) => pattern.test(withoutComments(text)));
      assert.deepEqual(
        users.map(({ name }) => name),
        [],
      );
    });
  }

  // The clocks are compared; and whether a node is alive, or holds a webhook, is told by the one clock that all share.
  const byDatabaseClock = [
    'platform/database/clock-check.ts',
    'registry/change-feed.ts',
    'registry/change-store.ts',
    'webhooks/lease-store.ts',
    'delivery/queue/claim-store.ts',
    'delivery/queue/release-store.ts',
  ];
  test('SQL gets the time as a parameter, never by now()', () => {
    const users = files.filter(
      ({ name, text }) =>
        !byDatabaseClock.includes(name) &&
        /(?<![.\w])(now|clock_timestamp|statement_timestamp)\(\)|\bcurrent_timestamp\b/i.test(withoutComments(text)),
    );
    assert.deepEqual(
      users.map(({ name }) => name),
      [],
    );
  });
});

describe('what is written down agrees with the code', () => {
  test('.env.example has every setting with its help and default, and no other', () => {
    const lines = Object.entries<Setting<unknown>>(settings).flatMap(([name, { help, fallback }]) => [
      '',
      `# ${help}`,
      `#${name}=${fallback ?? ''}`,
    ]);
    const head = [
      '# Every setting with its default. Copy this file to .env and remove the # from each setting you change.',
      '# The environment overrides the file.',
    ];
    assert.equal(readFileSync(join(root, '.env.example'), 'utf8'), `${[...head, ...lines].join('\n')}\n`);
  });

  test('docs/settings.md names every setting', () => {
    const document = readFileSync(join(root, 'docs/settings.md'), 'utf8');
    assert.deepEqual(
      Object.keys(settings).filter((name) => !document.includes(`\`${name}\``)),
      [],
    );
  });
});
