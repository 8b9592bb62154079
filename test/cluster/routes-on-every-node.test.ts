// run: with cluster
// "Acts on every node within 2 seconds": an operator changes the routes and the carriers on one of three processes, and
// texts that the two others accept show when the change acts there.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createLinkMaker } from '../../src/accounts/sign-in/one-time-links.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { openKeyRing } from '../../src/platform/crypto/open-key-ring.ts';
import { decodeText } from '../../src/smpp/charset.ts';
import { type Double, startDouble } from '../providers/provider.ts';
import { createRegistered } from '../support/applications.ts';
import type { Cluster, ClusterNode } from '../support/cluster.ts';
import type { TestDatabase } from '../support/database.ts';
import { asDeveloper, send, type TestDeveloper } from '../support/developer.ts';
import { inShort } from '../support/effort.ts';
import { eventually } from '../support/eventually.ts';
import { tellFigure } from '../support/figures.ts';
import { sharedSettings } from '../support/node-settings.ts';
import { type ScriptedSmsc, startScriptedSmsc } from '../support/scripted-smsc.ts';
import { shareCluster } from '../support/shared-cluster.ts';

const carriersPath = '/portal/v1/operator/carriers';
const routesPath = '/portal/v1/operator/routes';

/** Where a text may arrive: the HTTP carrier has two addresses, one of them at a time. */
type Place = 'smpp' | 'http' | 'moved';
/** By what each text says. */
const arrivals = new Map<string, Place>();

let db: TestDatabase;
let cluster: Cluster;
let operator: TestDeveloper;
let apikey: string;
let smsc: ScriptedSmsc;
let providers: Record<'http' | 'moved', Double>;
before(async () => {
  const shared = await shareCluster();
  ({ db, cluster } = shared);
  operator = await createOperator();
  apikey = (await createRegistered(changing(), ['sms'], 'enterprise', shared.developer)).apiKey;
  smsc = await startScriptedSmsc((pdu) => {
    if (pdu.command === 'submit_sm') arrivals.set(decodeText(pdu.shortMessage, 'gsm7'), 'smpp');
    return false;
  });
  providers = { http: await startProvider('http'), moved: await startProvider('moved') };
  await connect('alpha', 'smpp', { host: '127.0.0.1', port: smsc.port, system_id: 'me', binds: 3 });
  const describeIt = { url: '{{base}}/send', json: { text: '{{text}}' }, accepted: [{ status: [200] }], id: 'id' };
  await connect('bravo', 'http', { base: providers.http.url, describe: describeIt });
});
after(async () => {
  // Others on this cluster have no such carriers.
  const { version } = await change('GET', routesPath);
  await change('PUT', routesPath, { version, routes: [] });
  for (const name of ['alpha', 'bravo']) await operator.send('DELETE', `${carriersPath}/${name}?force=true`);
  await Promise.all([smsc.close(), providers.http.close(), providers.moved.close()]);
});

function changing(): ClusterNode {
  return cluster.nodes[0] as ClusterNode;
}

async function createOperator(): Promise<TestDeveloper> {
  const { database } = db;
  const keys = await openKeyRing({ database, clock: systemClock, secret: sharedSettings.HELIOGRAPH_SECRET });
  const email = 'operator@example.com';
  const token = await createLinkMaker({ database, clock: systemClock, keys }).createLink(email, {
    makesOperator: true,
  });
  const password = 'a sentence that only I would think of';
  const answer = await send(changing(), 'POST', '/portal/v1/password-resets', { body: { token, password } });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return asDeveloper(changing(), email, password, answer);
}

function startProvider(place: Place): Promise<Double> {
  return startDouble(({ body }) => {
    const { text } = JSON.parse(body);
    arrivals.set(text, place);
    return { status: 200, body: { id: text } };
  });
}

async function change(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await operator.send(method, path, body);
  assert.ok([200, 201].includes(answer.status), `${method} ${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function connect(name: string, kind: string, settings: object): Promise<void> {
  await change('POST', carriersPath, { name, kind, settings });
  await eventually(`${name} is up`, async () => (await change('GET', `${carriersPath}/${name}`)).state === 'up');
}

/** Nearly all texts to the first carrier. While it is paused the other one of its group takes them. */
async function route(first: string, second: string): Promise<void> {
  const { version } = await change('GET', routesPath);
  const carriers = [
    { carrier: first, weight: 1000 },
    { carrier: second, weight: 1 },
  ];
  const rule = { name: `to ${first}`, match: {}, carriers };
  await change('PUT', routesPath, { version, routes: [rule] });
}

/** A change, and where texts arrive from then on. */
type Change = [make: () => Promise<unknown>, place: Place];

const toSmpp: Change = [() => route('alpha', 'bravo'), 'smpp'];
const toHttp: Change = [() => route('bravo', 'alpha'), 'http'];
const pause: Change = [() => change('POST', `${carriersPath}/bravo/pause`), 'smpp'];
const resume: Change = [() => change('POST', `${carriersPath}/bravo/resume`), 'http'];
const move = (place: 'http' | 'moved'): Change => [
  () => change('PATCH', `${carriersPath}/bravo`, { settings: { base: providers[place].url } }),
  place,
];

const carrierChanges = [pause, resume, move('moved'), move('http')];

let texts = 0;

/** Sends texts by one node until one arrives at the place. Returns when the first of those was sent. */
async function firstAt(node: ClusterNode, place: Place): Promise<number> {
  const sentMs = new Map<string, number>();
  let found: number | undefined;
  await eventually(`a text of ${node.url} arrives at ${place}`, async () => {
    const message = `Text ${++texts}`;
    sentMs.set(message, performance.now());
    const body = { to: '+447712000001', from: 'ACME', message };
    const { status } = await send(node, 'POST', '/sms/v1/messages', { body, headers: { apikey } });
    assert.equal(status, 201);
    found = [...sentMs].find(([text]) => arrivals.get(text) === place)?.[1];
    return found !== undefined;
  });
  return found ?? assert.fail('it has arrived');
}

/** Makes a change. Returns how long after its answer the last of the other nodes followed it. */
async function measure([make, place]: Change): Promise<number> {
  await make();
  const answeredMs = performance.now();
  const followed = await Promise.all(cluster.nodes.slice(1).map((node) => firstAt(node, place)));
  return Math.max(...followed) - answeredMs;
}

/** What the contract promises. A machine that was busy at the wrong moment gets two chances more. */
const promisedMs = 2000;
const chances = 3;

/** Each change leads back to where the one before it began, so that they can be repeated. */
async function measureAll(what: string, changes: Change[]): Promise<void> {
  let tookMs: number[] = [];
  for (let chance = 1; chance <= chances; chance++) {
    tookMs = [];
    for (const each of changes) tookMs.push(await measure(each));
    if (Math.max(...tookMs) <= promisedMs) break;
  }
  const sorted = tookMs.map(Math.round).sort((a, b) => a - b);
  const [median, worst] = [sorted[sorted.length >> 1], sorted.at(-1) ?? 0];
  tellFigure(`${what}: ${sorted.length} changes, followed after ${median} ms (median), ${worst} ms (worst)`);
  assert.ok(worst <= promisedMs, `${what}: ${sorted.join(', ')} ms`);
}

describe('what an operator changes on one node acts on the others within 2 s', () => {
  test('changed routes act on the other nodes within 2 s', () =>
    measureAll('routes', Array.from({ length: inShort(2, 5) }, () => [toSmpp, toHttp]).flat()));

  test('a carrier: paused, resumed, at another address', () =>
    measureAll('carriers', inShort(carrierChanges, [...carrierChanges, ...carrierChanges])));

  test('explain shows the new routing table', async () => {
    await toSmpp[0]();
    const { version } = await change('GET', routesPath);
    for (const node of cluster.nodes) {
      await eventually(`${node.url} explains version ${version}`, async () => {
        const headers = { cookie: operator.cookie };
        const { body } = await send(node, 'POST', `${routesPath}/explain`, { body: { to: '+447712000001' }, headers });
        const [first] = body.candidates as { carrier: string }[];
        return body.version === version && first?.carrier === 'alpha';
      });
    }
  });

  test('the routes, when NOTIFY does not arrive at one of them', async () => {
    const { postgres, url } = cluster.nodes[2] as ClusterNode;
    // A connection that asks to be notified is cut before it has asked.
    postgres.set({ kind: 'reset' });
    postgres.set({ kind: 'cut', from: 'client', at: 'listen ', deliver: false, times: 1e9 });
    await eventually('it tries to listen', () => postgres.cuts() > 0);
    await eventually('it answers again', async () => (await fetch(`${url}/readyz`)).status === 200);
    await measureAll('routes without NOTIFY', [toHttp, toSmpp, toHttp]);
    postgres.set({ kind: 'pass' });
  });
});
