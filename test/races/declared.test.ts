// Declared configuration when two people apply, when others change the store meanwhile, and when a command dies.
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { runCommand } from '../../src/commands/commands.ts';
import { advisoryLocks } from '../../src/platform/database/advisory-locks.ts';
import type { Database, Session } from '../../src/platform/database/database.ts';
import { createTestApp, type TestApp } from '../support/app.ts';
import { createDeclaredFiles, type DeclaredFiles, type Ran } from '../support/declared.ts';
import { createApplication, signUp, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';

let app: TestApp;
let files: DeclaredFiles;
let owner: TestDeveloper;
before(async () => {
  app = await createTestApp({ manyConnections: true, delivery: 'held' });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  files = await createDeclaredFiles(app, { SECRET: secret }, (text) => {
    if (text.startsWith('Another apply is under way')) waits++;
  });
  owner = await signUp(app);
});
after(async () => {
  await files.remove();
  await app.close();
});

/** How many have said that they wait for their turn. */
let waits = 0;

const plan = (burst: number) => ({ plans: [{ plan: 'enterprise', burst }] });
const codes = (all: Ran[]) => all.map(({ code }) => code).sort((a, b) => a - b);

/** Runs work while it holds the lock of apply: every apply waits for its end. */
async function whileHeld(work: () => Promise<void>): Promise<void> {
  const session = await app.db.database.openSession(() => {});
  waits = 0;
  try {
    await session.query('select pg_advisory_lock($1)', [advisoryLocks.declaredConfiguration]);
    await work();
  } finally {
    await session.close();
  }
}

describe('two people', () => {
  test('with different files: one wins, and the others get the difference', async () => {
    for (let round = 0; round < 3; round++) {
      const bursts = [1, 2, 3].map((each) => 100 + 10 * round + each);
      const all = await Promise.all(bursts.map((burst) => files.apply(plan(burst))));
      // One that compares after another has applied is no race: it applies over it, as it showed.
      const won = all.filter(({ code }) => code === 0);
      assert.ok(won.length >= 1);
      for (const { text } of all.filter(({ code }) => code === 2))
        assert.match(text, /was changed meanwhile, so nothing has been applied[\s\S]*burst: \d+ → \d+/);
      const exported = (await files.export()).plans?.[0] as { burst: number };
      assert.ok(bursts.includes(exported.burst));
    }
  });

  test('who compared before and comes second gets the difference, and the first change stays', async () => {
    let second: Promise<Ran[]> = Promise.resolve([]);
    await whileHeld(async () => {
      second = Promise.all([files.apply(plan(201)), files.apply(plan(202))]);
      await eventually('both to wait for their turn', () => waits >= 2);
    });
    const all = await second;
    assert.deepEqual(codes(all), [0, 2]);
    assert.match(
      all.find(({ code }) => code === 2)?.text ?? '',
      /The difference is now:\n\n~ plan enterprise\n {4}burst: 20\d → 20\d/,
    );
  });

  test('with the same file: it is applied once, and both are content', async () => {
    let both: Promise<Ran[]> = Promise.resolve([]);
    const file = {
      applications: [{ account: owner.email, name: 'once', registrations: [{ api: 'sms', plan: 'free' }] }],
    };
    await whileHeld(async () => {
      both = Promise.all([files.apply(file), files.apply(file)]);
      await eventually('both to wait for their turn', () => waits >= 2);
    });
    const all = await both;
    assert.deepEqual(codes(all), [0, 0]);
    assert.equal(all.filter(({ text }) => text.includes('Another apply has made these changes')).length, 1);
    const { count } = await app.db.database.query(`select from application where name = 'once'`);
    assert.equal(count, 1);
  });
});

test('a change in the portal between comparison and apply is not overwritten unseen', async () => {
  const id = await createApplication(owner, 'both');
  const file = { applications: [{ account: owner.email, id, name: 'both', help_text: 'From the file.' }] };
  let applied: Promise<Ran> | undefined;
  await whileHeld(async () => {
    applied = files.apply(file);
    await eventually('it to wait', () => waits >= 1);
    const changed = await owner.send('PATCH', `/portal/v1/applications/${id}`, { help_text: 'From the portal.' });
    assert.equal(changed.status, 200);
  });
  const { text, code } = (await applied) ?? assert.fail();
  assert.equal(code, 2);
  assert.match(text, /help_text: "From the portal\." → "From the file\."/);
});

/** A database whose connection breaks before its nth statement: what a crash of the command leaves. */
function breaksBefore(database: Database, n: number): { database: Database; statements: () => number } {
  let seen = 0;
  const check = () => {
    if (++seen === n) throw new Error('the command died here');
    if (n > 0 && seen > n) throw new Error('the command is dead');
  };
  const broken: Database = {
    ...database,
    query: async (...args) => {
      check();
      return database.query(...args) as never;
    },
    transaction: (work) =>
      database.transaction((tx) =>
        work({
          query: async (...args) => {
            check();
            return tx.query(...args) as never;
          },
        }),
      ),
    openSession: async (...args) => {
      const session = await database.openSession(...args);
      const query: Session['query'] = async (...given) => {
        check();
        return session.query(...given) as never;
      };
      return { ...session, query };
    },
  };
  return { database: broken, statements: () => seen };
}

test('a command that dies before any of its statements leaves a file that can be applied', async () => {
  const file = (name: string) => ({
    guard: { per_number: name.length },
    carriers: [{ name: 'dies', kind: 'smpp', settings: { host: '127.0.0.1', system_id: name } }],
    applications: [
      {
        account: owner.email,
        name,
        registrations: [{ api: 'sms', plan: 'pro' }],
        hooks: [{ kind: 'supabase' }],
        webhooks: [
          { url: 'http://127.0.0.1:9/a', secret: { env: 'SECRET' }, status: 'paused' },
          { url: 'http://127.0.0.1:9/b' },
        ],
      },
    ],
    senders: [{ sender: 'ACME', application: name }],
    numbers: [{ number: '80123', application: name }],
  });
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

  async function attempt(name: string, dieBefore: number): Promise<{ statements: number; died: boolean }> {
    const path = await files.write(file(name));
    const { database, statements } = breaksBefore(app.db.database, dieBefore);
    const { config, clock, keys } = app;
    let died = false;
    const credentials = join(files.folder, `${name}-${dieBefore}.json`);
    await runCommand('apply', [path, '--credentials', credentials], {
      ...{ config, clock, keys, database, secret: '', say: () => {}, exitWith: () => {}, colour: false },
      readEnv: () => secret,
      interrupted: new AbortController().signal,
    }).catch(() => {
      died = true;
    });
    return { statements: statements(), died };
  }

  const { statements, died } = await attempt('whole', 0);
  assert.equal(died, false);
  assert.ok(statements > 60, `${statements} statements`);
  const step = Math.ceil(statements / inShort(5, statements));
  for (let at = 1; at <= statements; at += step) {
    const name = `dies${at}`;
    await attempt(name, at);
    const fresh = join(files.folder, `again-${at}.json`);
    const again = await files.run('apply', await files.write(file(name)), '--credentials', fresh);
    assert.equal(again.code, 0, `before statement ${at}: ${again.text}`);
    const after = await files.plan(file(name));
    assert.equal(after.code, 0, `before statement ${at}: ${after.text}`);
    const { count } = await app.db.database.query('select from application where name = $1', [name]);
    assert.equal(count, 1);
  }
  const left = (await readdir(files.folder)).filter((each) => each.endsWith('.new'));
  assert.deepEqual(left, []);
});

test('a thousand objects are compared by a few statements, and applied', async (t) => {
  const developers = [owner, ...(await Promise.all(Array.from({ length: 3 }, () => signUp(app))))];
  const applications = Array.from({ length: 200 }, (_, index) => ({
    account: (developers[1 + (index % 3)] as TestDeveloper).email,
    name: `app ${index}`,
    help_text: `Text ${index}`,
    registrations: [{ api: 'sms', plan: 'pro' }],
  }));
  const senders = Array.from({ length: 400 }, (_, index) => ({
    ...{ sender: `S${index}`, application: `app ${index % 200}`, countries: ['GB'] },
  }));
  const numbers = Array.from({ length: 200 }, (_, index) => ({
    number: `${70_000 + index}`,
    application: `app ${index}`,
  }));
  const file = { applications, senders, numbers };
  const beganMs = performance.now();
  const planned = await files.plan(file);
  const planMs = performance.now() - beganMs;
  assert.match(planned.text, /1000 to create, 0 to change, 0 to delete, 0 the same/);
  assert.equal((await files.apply(file)).code, 0);
  const againMs = performance.now();
  assert.equal((await files.plan(file)).text, 'No difference: 1000 the same.');
  t.diagnostic(`plan: ${Math.round(planMs)} ms new, ${Math.round(performance.now() - againMs)} ms the same`);
});
