import { systemClock as clock } from '../../src/platform/clock.ts';
import { fromUuid } from '../../src/platform/ids.ts';
import { createTwilioAccounts } from '../../src/twilio/account-service.ts';
import { sidOf } from '../../src/twilio/sid.ts';
import { createTwilioTokens } from '../../src/twilio/token.ts';
import type { Bench, Product } from '../bench.ts';
import { makeAccount } from '../callers.ts';
import { byKey, get, many, postForm } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { measure, type Side, type Speed, warmUp } from '../rounds.ts';
import { text, texts } from './sms.ts';
import { checks, checksOf, makePending, startsPerSecond, wrongCodes } from './verify.ts';

/** The same acts through Twilio's shape: more CPU of the node for each, in alternating rounds on one node. */
export async function twilio(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  const accounts = await makeAccounts(product);
  await product.store.empty();
  const sent = await compareSends(bench, product, accounts);
  const read = await compareReads(bench, product, accounts);
  await product.store.empty();
  const checked = await compareChecks(bench, product, accounts);
  await product.store.empty();
  return [
    moreCpu('Send a text', sent),
    moreCpu('Read a text', read),
    moreCpu('Check a verification, a wrong code', checked),
  ];
}

interface Account {
  /** The header of its requests. */
  basic: string;
  /** The paths of its resources. */
  messages: string;
  service: string;
}

/** By application id. */
type Accounts = Map<string, Account>;

async function makeAccounts({ store, callers }: Product): Promise<Accounts> {
  const { service } = store.registry;
  const accounts = createTwilioAccounts({
    ...{ database: store.database, clock, tokens: createTwilioTokens(store.keys), publicUrl: '' },
    ringVersion: () => store.keys.version,
    change: service.changeOwn,
    requireOwn: service.requireOwn,
  });
  const accountId = await makeAccount(store);
  const made: Accounts = new Map();
  for (const { applicationId } of callers) {
    const { accountSid, serviceSid, authToken } = await accounts.create({ accountId, applicationId });
    made.set(applicationId, {
      basic: `Authorization: Basic ${Buffer.from(`${accountSid}:${authToken}`).toString('base64')}`,
      messages: `/twilio/2010-04-01/Accounts/${accountSid}/Messages`,
      service: `/twilio/v2/Services/${serviceSid}`,
    });
  }
  return made;
}

function compareSends(bench: Bench, { node, callers }: Product, accounts: Accounts): Promise<Costs> {
  const all = [...accounts.values()];
  const send = (index: number) => {
    const { messages, basic } = all[index % all.length] as Account;
    const To = `+4477009${String(index).padStart(5, '0')}`;
    return postForm(`${messages}.json`, { To, From: text.from, Body: text.message }, basic);
  };
  const side = (requests: () => string[]): Side => ({ servers: [node], requests, status: '201' });
  return compareCosts(bench, { baseline: side(() => texts(callers)), subject: side(() => many(1000, send)) });
}

async function compareReads(bench: Bench, { node, store, callers }: Product, accounts: Accounts): Promise<Costs> {
  const { rows } = await store.database.query<{ id: string; owner: string }>(
    'select id, application_id as owner from message order by id limit 1000',
  );
  const keys = new Map(callers.map(({ applicationId, apiKey }) => [applicationId, apiKey]));
  const side = (read: (id: string, owner: string) => string): Side => ({
    servers: [node],
    requests: () => rows.map(({ id, owner }) => read(fromUuid('msg', id), fromUuid('app', owner))),
    status: '200',
  });
  return compareCosts(bench, {
    baseline: side((id, owner) => get(`/sms/v1/messages/${id}`, byKey(keys.get(owner) ?? ''))),
    subject: side((id, owner) => {
      const { messages, basic } = accounts.get(owner) as Account;
      return get(`${messages}/${sidOf('SM', id)}.json`, basic);
    }),
  });
}

function compareChecks(bench: Bench, product: Product, accounts: Accounts): Promise<Costs> {
  const count = Math.ceil((startsPerSecond * bench.pace.roundMs) / 1000 / wrongCodes);
  const side = (requests: Side['requests']): Side => ({
    ...{ servers: [product.node], requests, status: '200', once: true },
  });
  return compareCosts(bench, {
    baseline: side(() => checks(bench, product, count)),
    subject: side(async () =>
      checksOf(await makePending(bench, product, count), ({ id, applicationId }) => {
        const { service, basic } = accounts.get(applicationId) as Account;
        return postForm(`${service}/VerificationCheck`, { VerificationSid: sidOf('VE', id), Code: '000000' }, basic);
      }),
    ),
  });
}

/** Of each side, by round. */
interface Costs {
  baseline: Speed[];
  subject: Speed[];
}

/** The difference is a few percent: there are many short rounds, alternating. */
async function compareCosts(bench: Bench, sides: Record<keyof Costs, Side>): Promise<Costs> {
  const { rounds, roundMs } = bench.pace;
  const found: Costs = { baseline: [], subject: [] };
  for (const side of Object.values(sides)) await warmUp(bench, side);
  for (let round = 0; round < rounds * 3; round++) {
    // The other one first in every second round.
    const order = round % 2 === 0 ? (['baseline', 'subject'] as const) : (['subject', 'baseline'] as const);
    for (const name of order) found[name].push(await measure(bench, sides[name], roundMs / 4));
  }
  return found;
}

/** Neighbours on the machine only ever add to what a call costs: the cheaper rounds of each side say what it is. */
function moreCpu(name: string, { baseline, subject }: Costs): Row {
  const more = (part: number) => (costAt(subject, part) / costAt(baseline, part) - 1) * 100;
  const values = [0.1, 0.25, 0.4].map(more);
  return {
    group: "Twilio's shape, against the native call",
    name: `${name}: more CPU`,
    unit: '%',
    value: { median: more(0.25), low: Math.min(...values), high: Math.max(...values) },
    goal: { below: 10 },
    cpuMicroseconds: costAt(subject, 0.25),
  };
}

function costAt(rounds: Speed[], part: number): number {
  const costs = rounds.map(({ cpuMicroseconds }) => cpuMicroseconds).sort((a, b) => a - b);
  return costs[Math.floor(costs.length * part)] ?? 0;
}
