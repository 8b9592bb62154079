import { fromUuid } from '../../src/platform/ids.ts';
import type { Bench, Product } from '../bench.ts';
import { byToken, many, post } from '../requests.ts';
import { type Row, ratioRow } from '../result-row.ts';
import { compare, type Side, usualConnections } from '../rounds.ts';
import { echoed, fastifyGroup } from './against-fastify.ts';

const path = '/verify/v1/verifications';
/** A round that has used up its requests sooner ends sooner. */
export const startsPerSecond = 8000;
/** Of the five tries: the fifth would end the verification. */
export const wrongCodes = 4;

let numbers = 0;
/** Far from one another: the guard counts neighbours, and a run of them is not what callers send. */
export const newNumber = () => `+447${String((numbers++ * 7919) % 1e9).padStart(9, '0')}`;

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

export function starts({ callers }: Product, count: number, given: (index: number) => object = () => ({})): string[] {
  return many(count, (index) => {
    const body = { to: newNumber(), channel: 'sms', ...given(index) };
    return post(path, body, byToken(callers[index % callers.length]?.verifyToken ?? ''));
  });
}

/** Wrong codes for verifications that are open: a check that decides, every one of them. */
export async function checks(bench: Bench, product: Product, count: number): Promise<string[]> {
  const tokens = new Map(product.callers.map(({ applicationId, verifyToken }) => [applicationId, verifyToken]));
  return checksOf(await makePending(bench, product, count), ({ id, applicationId }) =>
    post(`${path}/${id}`, { code: '000000' }, byToken(tokens.get(applicationId) ?? '')),
  );
}

/** As many wrong codes for each verification as leave it open. */
export function checksOf(pending: Pending[], check: (one: Pending) => string): string[] {
  const requests = pending.map(check);
  return many(wrongCodes, () => requests).flat();
}

export interface Pending {
  id: string;
  applicationId: string;
}

/** Starts verifications, and returns them. */
export async function makePending(bench: Bench, product: Product, count: number): Promise<Pending[]> {
  const { node, store } = product;
  await bench.load.run({
    ports: [node.port],
    requests: starts(product, count),
    connections: usualConnections,
    ms: 60_000,
    once: true,
  });
  const { rows } = await store.database.query<Pending>(
    `select v.id, v.application_id as "applicationId" from pending_verification p join verification v on v.id = p.verification_id
     where v.attempts = 0 order by v.id desc limit $1`,
    [count],
  );
  return rows.map(({ id, applicationId }) => ({
    id: fromUuid('ver', id),
    applicationId: fromUuid('app', applicationId),
  }));
}
