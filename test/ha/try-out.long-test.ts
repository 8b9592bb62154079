// run: alone
// `npm run cluster -- ha` in a real terminal, as a person uses it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createTerminal, type Terminal, type Window } from '../cli/terminal.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/process.ts';
import { buildService, cleanEnvironment } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let terminal: Terminal;
let window: Window;
let port: number;
before(async () => {
  await buildService();
  port = await freePort();
  const { PATH = '', HOME = '' } = cleanEnvironment();
  terminal = await createTerminal(root, { PATH, HOME, PORT: String(port) });
  window = await terminal.open({ columns: 130, rows: 40 });
});
after(() => terminal?.close());

/** A start and a failover take longer than anything else in a terminal. */
async function seen(pattern: RegExp): Promise<void> {
  let last = '';
  const isSeen = async () => {
    last = await window.screen();
    return pattern.test(last);
  };
  await eventually(`the terminal shows ${pattern}`, isSeen, { withinMs: 300_000, everyMs: 300 }).catch(
    (error: Error) => {
      throw new Error(`${error.message}. It shows:\n${last.trimEnd()}`);
    },
  );
}

test('all of it starts; a key kills the primary, texts wait and go on, and the member comes back; q leaves nothing', async () => {
  await window.type('npm run cluster -- ha');
  await seen(/leader +running +timeline 1\n[\s\S]*sync_standby[\s\S]*k {2}kill the primary/);
  await seen(/node2 +200 +database ok, synchronous_standby ok, window_store ok/);
  await seen(/[1-9]\d* texts accepted/);
  await window.press('k');
  await seen(/killed Patroni and Postgres of db\d; Patroni waits 20 s for it/);
  await seen(/killed Patroni[\s\S]*texts wait: 503/);
  await seen(/leader +running +timeline 2/);
  await seen(/killed Patroni[\s\S]*texts wait[\s\S]*texts are accepted again/);
  await seen(/(?:db\d +\w+ +running +timeline 2.*\n){3}/);
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`);
  assert.equal(answer.status, 200);
  await window.press('q');
  await seen(/Stopping everything\.\n[\s\S]*ready>/);
  await assert.rejects(fetch(`http://127.0.0.1:${port}/readyz`));
});
