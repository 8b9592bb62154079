import { fromUuid } from '../../src/platform/ids.ts';
import type { Bench, Product } from '../bench.ts';
import { byToken, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side, usualConnections } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';

const path = '/verify/v1/verifications';
/** A round that has used up its requests sooner ends sooner. */
const startsPerSecond = 8000;
/** Of the five tries: the fifth would end the verification. */
const wrongCodes = 4;

let numbers = 0;

/** Verification start, each for a new number, and check, each of a wrong code that decides. */
export async function verify(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  const { node, store } = product;
  const enough = Math.ceil((startsPerSecond * bench.pace.roundMs) / 1000);
  await store.empty();
  const start: Side = {
    servers: [node],
    requests: () => starts(product, enough),
    status: '200',
    once: true,
  };
  const started = await compare(bench, { baseline: echoed(bench, start), subject: start });
  await store.empty();
  const check: Side = {
    servers: [node],
    requests: () => checks(bench, product, Math.ceil(enough / wrongCodes)),
    status: '200',
    once: true,
  };
  // The echo needs no codes that are open.
  const sample = await check.requests();
  const baseline = echoed(bench, { ...check, requests: () => sample });
  const checked = await compare(bench, { baseline, subject: check });
  await store.empty();
  return [
    ratioRow(fastifyGroup, 'Verification start, a new number each', started, 0.5),
    ratioRow(fastifyGroup, 'Verification check, a wrong code', checked, 0.55),
  ];
}

export function starts({ callers }: Product, count: number): string[] {
  return many(count, (index) => {
    // Far from one another: the guard counts neighbours, and a run of them is not what callers send.
    const body = { to: `+447${String((numbers++ * 7919) % 1e9).padStart(9, '0')}`, channel: 'sms' };
    return post(path, body, byToken(callers[index % callers.length]?.verifyToken ?? ''));
  });
}

/** Wrong codes for verifications that are open: a check that decides, every one of them. */
export async function checks(bench: Bench, product: Product, count: number): Promise<string[]> {
  const { node, store, callers } = product;
  await bench.load.run({
    ports: [node.port],
    requests: starts(product, count),
    connections: usualConnections,
    ms: 60_000,
    once: true,
  });
  const { rows } = await store.database.query<{ id: string; applicationId: string }>(
    `select v.id, v.application_id as "applicationId" from pending_verification p join verification v on v.id = p.verification_id
     where v.attempts = 0 order by v.id desc limit $1`,
    [count],
  );
  const tokens = new Map(callers.map(({ applicationId, verifyToken }) => [applicationId, verifyToken]));
  const requests = rows.map(({ id, applicationId }) =>
    post(
      `${path}/${fromUuid('ver', id)}`,
      { code: '000000' },
      byToken(tokens.get(fromUuid('app', applicationId)) ?? ''),
    ),
  );
  return many(wrongCodes, () => requests).flat();
}
