import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { dependsOn, findTestFiles, isUnitTest } from '../scripts/test-files.ts';
import {
  assertNoCircle,
  crowdedFolders,
  fileImports,
  forbiddenImports,
  type Rooms,
  readSources,
  roomImports,
  roomOf,
} from './support/import-graph.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');

const delivery = (...rooms: string[]) => rooms.map((room) => `delivery/${room}`);
const domains = [
  'registry',
  'metering',
  'messages',
  'verify',
  'delivery',
  'quality',
  'inbound',
  'events',
  'webhooks',
  'hooks',
  'twilio',
  'smpp-server',
];

/** The rooms, and what each may import besides platform. A name stands for all rooms below it. */
const mayImport: Record<string, string[]> = {
  platform: [],
  // Reads the environment. Rooms that need plans or the guard's limits import their types from it.
  settings: [],
  backup: [],
  http: [],
  edge: ['http'],
  registry: ['settings', 'http'],
  metering: ['http'],
  events: ['http'],
  webhooks: ['events', 'http'],
  messages: ['events', 'http'],
  identity: ['registry', 'http'],
  verify: ['settings', 'messages', 'events', 'http'],
  // The door of identity servers, over the services of verify and messages.
  hooks: ['messages', 'verify', 'http'],
  // Twilio's shape over the same services; its callbacks take turns as webhooks do.
  twilio: ['registry', 'messages', 'verify', 'webhooks', 'http'],
  // The protocol itself, for carriers and for the virtual SMSC.
  smpp: ['messages'],
  smsc: ['smpp'],
  // The door of programs that send through us, over the service of messages.
  'smpp-server': ['registry', 'messages', 'smpp', 'http'],
  'delivery/carrier': ['smpp', 'messages'],
  'delivery/routing': [...delivery('carrier'), 'messages', 'http'],
  'delivery/smpp': [...delivery('carrier'), 'smpp', 'messages'],
  'delivery/http': [...delivery('carrier'), 'messages', 'http'],
  'delivery/sandbox': [...delivery('carrier'), 'messages'],
  'delivery/setup': [...delivery('carrier', 'routing', 'smpp', 'http', 'sandbox'), 'smpp', 'messages', 'http'],
  'delivery/attempts': [...delivery('carrier', 'routing'), 'messages', 'events', 'http'],
  'delivery/queue': [...delivery('attempts', 'carrier', 'routing'), 'messages', 'events', 'http'],
  'delivery/receipts': [...delivery('queue', 'attempts', 'carrier', 'routing'), 'messages', 'events', 'http'],
  'delivery/worker': [
    ...delivery('receipts', 'queue', 'attempts', 'carrier', 'routing', 'setup'),
    ...['messages', 'events', 'http'],
  ],
  sandbox: ['messages', 'http'],
  // Counts what delivery does, and reads its stores.
  quality: [...delivery('carrier', 'routing', 'queue', 'attempts', 'receipts'), 'messages', 'http'],
  inbound: [...delivery('carrier'), 'messages', 'events', 'http'],
  'accounts/people': ['http'],
  'accounts/audit': ['http'],
  'accounts/sign-in': ['accounts/people', 'http'],
  // At the provider of a company.
  'accounts/sso': ['settings', 'accounts/people', 'accounts/sign-in', 'accounts/audit', 'http'],
  // What a person or an operator does with them.
  accounts: ['accounts/sso', 'accounts/people', 'accounts/sign-in', 'accounts/audit', 'http'],
  // The portal reads from every domain.
  'portal/developer': ['accounts', 'settings', ...domains, 'http'],
  // For both: a search covers every domain.
  'portal/find': ['portal/developer', 'accounts', ...domains, 'http'],
  'portal/operator': ['portal/developer', 'accounts', 'settings', ...domains, 'http'],
};

/** These put everything together: they import all, and only the files beside the folders import them. */
const composing = ['compose', 'commands'];

/** What every page may import. */
const pageParts = ['theme', 'words', 'api', 'location.ts', 'session', 'parts'];

/** The rooms of the other programs; the files beside the folders put them together. */
const programs: Record<string, Rooms> = {
  'portal/src': {
    theme: [],
    words: [],
    'location.ts': [],
    api: ['words'],
    session: ['api'],
    parts: ['theme', 'words', 'api', 'location.ts', 'session'],
    account: pageParts,
    analytics: pageParts,
    visitor: ['account', ...pageParts],
    credentials: pageParts,
    events: pageParts,
    guard: pageParts,
    inbound: pageParts,
    senders: pageParts,
    handset: pageParts,
    try: ['handset', ...pageParts],
    usage: pageParts,
    records: ['events', ...pageParts],
    requests: ['events', 'records', ...pageParts],
    webhooks: ['events', ...pageParts],
    integrations: ['handset', 'try', 'webhooks', ...pageParts],
    docs: ['try', ...pageParts],
    find: ['records', 'docs', ...pageParts],
    overview: ['credentials', 'guard', 'try', ...pageParts],
    applications: [
      ...[
        'overview',
        'credentials',
        'senders',
        'try',
        'records',
        'inbound',
        'events',
        'webhooks',
        'integrations',
        'usage',
        'analytics',
      ],
      ...['requests', ...pageParts],
    ],
    // Operators see what developers see, and more; no page of a developer imports one of theirs.
    operator: ['account', 'analytics', 'applications', 'guard', ...pageParts],
  },
  'cli/src': {
    'version.ts': [],
    process: [],
    terminal: ['process'],
    syntax: ['process'],
    profile: ['version.ts', 'process', 'terminal', 'syntax'],
    command: ['process', 'terminal', 'syntax', 'profile'],
    completion: ['syntax', 'command'],
    service: ['version.ts', 'process', 'profile', 'command'],
    views: ['terminal', 'service'],
    listen: ['version.ts', 'process', 'profile'],
    commands: [
      ...['process', 'terminal', 'syntax', 'profile', 'command', 'completion', 'service', 'views', 'listen'],
      'version.ts',
    ],
  },
  'sdk/src': {},
};

/** More source files in one folder are a sign for a room. */
const mostFiles = 30;

/** Every table has one owner: the folder whose stores read and write it. */
const ownerOf: Record<string, string[]> = {
  // Credentials of a disabled account open nothing, and its webhooks wait.
  account: ['accounts', 'registry', 'webhooks', 'twilio'],
  person: ['accounts'],
  member: ['accounts'],
  invitation: ['accounts'],
  second_factor: ['accounts'],
  audit: ['accounts'],
  recovery_code: ['accounts'],
  session: ['accounts'],
  sso_identity: ['accounts'],
  sso_attempt: ['accounts'],
  sso_challenge: ['accounts'],
  sso_session: ['accounts'],
  one_time_link: ['accounts'],
  sign_in_throttle: ['accounts'],
  sign_in: ['accounts'],
  known_address: ['accounts'],
  // Webhooks take turns by account.
  application: ['registry', 'webhooks', 'twilio'],
  registration: ['registry'],
  api_key: ['registry'],
  oauth_client: ['registry'],
  client_secret: ['registry'],
  client_key: ['registry'],
  sender: ['registry'],
  verification_template: ['registry'],
  plan: ['registry'],
  guard_rules: ['verify'],
  spend_day: ['messages'],
  sender_pace: ['delivery'],
  registry_change: ['registry'],
  node: ['registry'],
  signing_key: ['identity'],
  token_revocation: ['identity'],
  client_assertion: ['identity'],
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
  // Webhooks read events in their order.
  event: ['events', 'webhooks'],
  event_default: ['events'],
  event_listener: ['events'],
  // Events are written for applications that have a listener.
  webhook: ['webhooks', 'events'],
  webhook_secret: ['webhooks'],
  webhook_course: ['webhooks'],
  webhook_delivery: ['webhooks'],
  webhook_delivery_default: ['webhooks'],
  webhook_replay: ['webhooks'],
  webhook_answer: ['webhooks'],
  total_day: ['quality'],
  carrier_minute: ['quality'],
  total_step: ['quality'],
  verification_step: ['quality'],
  carrier_outcome: ['quality'],
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
  counted_send: ['verify'],
  verification_fallback: ['verify'],
  awaited_text: ['verify'],
  start_client: ['verify'],
  late_outcome: ['verify'],
  hook: ['hooks'],
  hook_secret: ['hooks'],
  hook_call: ['hooks'],
  twilio_token: ['twilio'],
  // Written with the changes of texts.
  status_call: ['twilio', 'messages'],
  // A text from a phone waits for the accounts of its application.
  smpp_account: ['smpp-server', 'inbound'],
  smpp_password: ['smpp-server'],
  smpp_listener: ['smpp-server'],
  smpp_bind: ['smpp-server'],
  smpp_problem: ['smpp-server'],
  smpp_part: ['smpp-server'],
  // Written with the changes of texts, and with texts from phones.
  smpp_delivery: ['smpp-server', 'messages', 'inbound'],
  code_reporter: ['verify'],
  verification_sum: ['verify'],
  usage_minute: ['metering'],
  request_trace: ['metering'],
  key_ring: ['platform'],
  schema_migration: ['platform'],
};

const files = readSources(source).map((file) => ({
  ...file,
  /** Its first folder: the owner of tables. */
  folder: file.name.includes('/') ? file.name.split('/')[0] : undefined,
}));

/** Comments speak of things the code must not use. */
function withoutComments(text: string): string {
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/(^|\s)\/\/.*$/gm, '');
}

describe('import directions', () => {
  test('every folder is in the table of the rooms', () => {
    const rooms = new Set(files.flatMap(({ name }) => roomOf(name, mayImport) ?? []));
    assert.deepEqual(
      [...rooms].filter((room) => !composing.includes(room) && !Object.hasOwn(mayImport, room)),
      [],
    );
  });

  test('a room imports only what the table allows it', () => {
    const withPlatform = Object.entries(mayImport).map(([room, targets]) => [room, ['platform', ...targets]]);
    assert.deepEqual(forbiddenImports(files, Object.fromEntries(withPlatform), composing), []);
  });

  test(`a folder has at most ${mostFiles} source files`, () => {
    assert.deepEqual(crowdedFolders(files, mostFiles), []);
  });

  test('no two rooms need each other, by whatever way round', () => {
    assertNoCircle(roomImports(files, mayImport));
  });

  test('nothing imports main.ts, and nothing of the product imports a test', () => {
    const wrong = files.flatMap((file) =>
      file.ownImports
        .filter((target) => target === 'main.ts' || target.startsWith('..') || target.endsWith('.test.ts'))
        .map((target) => `${file.name} imports ${target}`),
    );
    assert.deepEqual(wrong, []);
  });

  test('no two files need each other, by whatever way round, types included', () => {
    assertNoCircle(fileImports(files));
  });

  test('the quick lane has one door: server.ts imports its lane, and nothing else imports any of it', () => {
    const inside = (name: string) => name.startsWith('http/plain/');
    const doors = files
      .filter(({ name }) => !inside(name))
      .flatMap((file) => file.ownImports.filter(inside).map((target) => `${file.name} imports ${target}`));
    assert.deepEqual(doors, ['http/server.ts imports http/plain/lane.ts']);
  });

  for (const [name, home] of [
    ['pg', 'platform/database/connections/'],
    ['@redis/client', 'platform/redis.ts'],
    ['undici', 'platform/http-out/client.ts'],
    ['openid-client', 'accounts/sso/provider.ts'],
  ] as const) {
    test(`only ${home} knows ${name}`, () => {
      const users = files.filter(({ imports }) => imports.some((path) => path === name || path.startsWith(`${name}/`)));
      assert.ok(users.length > 0);
      const strangers = users.map((user) => user.name).filter((user) => !user.startsWith(home));
      assert.deepEqual(strangers, []);
    });
  }
});

describe('import directions of the pages, the command line and the client', () => {
  for (const [folder, rooms] of Object.entries(programs)) {
    const sources = readSources(join(root, folder));

    test(`${folder}: no two files need each other, types included`, () => {
      assertNoCircle(fileImports(sources));
    });

    test(`${folder}: every folder is in the table, and imports only what the table allows it`, () => {
      const found = new Set(sources.flatMap(({ name }) => roomOf(name, rooms) ?? []));
      assert.deepEqual(
        [...found].filter((room) => !Object.hasOwn(rooms, room)),
        [],
      );
      assert.deepEqual(forbiddenImports(sources, rooms), []);
      assertNoCircle(roomImports(sources, rooms));
    });

    test(`${folder}: a folder has at most ${mostFiles} source files`, () => {
      assert.deepEqual(crowdedFolders(sources, mostFiles), []);
    });

    test(`${folder}: of the service it imports types alone`, () => {
      const code = /^(?:import|export)(?! type)[^;]*?from '(?:\.\.\/)+src\/[^']+'/gm;
      const wrong = sources.flatMap(({ name, text }) =>
        [...text.matchAll(code)].map(([statement]) => `${name}: ${statement}`),
      );
      assert.deepEqual(wrong, []);
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
        .filter(({ folder, name }) => folder !== 'platform' && folder !== 'settings' && name !== 'main.ts')
        .filter(({ text }) => pattern.test(withoutComments(text)));
      assert.deepEqual(
        users.map(({ name }) => name),
        [],
      );
    });
  }

  test('no file calls fetch: outgoing calls go through a client that knows which addresses are allowed', () => {
    const inBrowser = 'smsc/page.ts';
    // The provider that the settings name, and what its metadata name, may be anywhere.
    const ofSettings = 'accounts/sso/bounded-fetch.ts';
    const users = files.filter(
      ({ name, text }) => name !== inBrowser && name !== ofSettings && /(?<![.\w])fetch\(/.test(withoutComments(text)),
    );
    assert.deepEqual(
      users.map(({ name }) => name),
      [],
    );
  });

  test('texts that are marked as copied stay in edge and http', () => {
    const users = files.filter(
      ({ folder, text }) => /\bOwnedText\b/.test(text) && !/^(edge|http|platform)$/.test(folder ?? ''),
    );
    assert.deepEqual(
      users.map(({ name }) => name),
      [],
    );
  });

  const inOneFile: [string, string, RegExp][] = [
    ['the numbers of advisory locks', 'platform/database/advisory-locks.ts', /\b4_?207_?\d{3}\b/],
    ['the retry after a deadlock', 'platform/database/retry-collisions.ts', /\/\^40/],
  ];
  for (const [what, file, pattern] of inOneFile) {
    test(`only ${file} has ${what}`, () => {
      const users = files.filter(({ text }) => pattern.test(withoutComments(text)));
      assert.deepEqual(
        users.map(({ name }) => name),
        [file],
      );
    });
  }

  // The clocks are compared; and whether a node is alive, or holds a webhook, is decided by the one clock that all share.
  const byDatabaseClock = [
    'platform/database/clock-check.ts',
    'registry/change-feed.ts',
    'registry/change-store.ts',
    'webhooks/lease-store.ts',
    'twilio/callbacks/store.ts',
    'smpp-server/bind-store.ts',
    'smpp-server/delivery-store.ts',
    'delivery/queue/carrier-reads.ts',
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
