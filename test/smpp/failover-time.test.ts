// How soon the codes of a carrier that dies are with the next one, by the real clock. The times are reported, not asserted.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestApp, type TestApp } from '../support/app.ts';
import { bearer, getToken } from '../support/applications.ts';
import { type CarrierWorld, createCarrierWorld } from '../support/carrier-world.ts';
import { createRunningClock } from '../support/clock.ts';
import { send } from '../support/developer.ts';
import { eventually } from '../support/eventually.ts';
import { tellFigure } from '../support/figures.ts';
import { type Script, startScriptedSmsc } from '../support/scripted-smsc.ts';

let app: TestApp;
let world: CarrierWorld;
before(async () => {
  app = await createTestApp({ clock: createRunningClock() });
  world = await createCarrierWorld(app);
});
after(() => app.close());

/** Takes every text, and notes its number and time. */
function noting(arrivals: Map<string, number>): Script {
  return (pdu, peer) => {
    if (pdu.command !== 'submit_sm') return false;
    arrivals.set(pdu.destination, performance.now());
    peer.send({ command: 'submit_sm_resp', status: 0, sequence: pdu.sequence, messageId: pdu.destination, tlvs: [] });
    return true;
  };
}

test('a carrier dies with codes in its queue: the next one gets them all', async () => {
  const [atFirst, atSecond] = [new Map<string, number>(), new Map<string, number>()];
  const first = await startScriptedSmsc(noting(atFirst));
  const second = await startScriptedSmsc(noting(atSecond));
  await world.connect(first.port, { per_second: 10 }, { name: 'first' });
  await world.connect(second.port, {}, { name: 'second' });
  const headers = bearer(await getToken(app, world.sender.client, 'verify:manage'));
  const numbers = Array.from({ length: 200 }, (_, index) => `4477009${10_000 + index}`);
  const started = await Promise.all(
    numbers.map((number) =>
      send(app, 'POST', '/verify/v1/verifications', { body: { to: `+${number}`, channel: 'sms' }, headers }),
    ),
  );
  assert.ok(
    started.every(({ status }) => status === 200),
    'all were started',
  );
  await eventually('the first carrier to have some', () => atFirst.size > 0);
  const diedMs = performance.now();
  await first.close();
  await eventually('every code to have left', () => numbers.every((each) => atFirst.has(each) || atSecond.has(each)));
  const tookMs = [...atSecond.values()].map((ms) => Math.round(ms - diedMs)).sort((a, b) => a - b);
  assert.ok(tookMs.length > 0, 'the second carrier got some');
  tellFigure(
    `${tookMs.length} codes moved: half of them within ${tookMs[tookMs.length >> 1]} ms, all within ${tookMs.at(-1)} ms`,
  );
  await second.close();
});
