import { createHmac, randomUUID } from 'node:crypto';
import { createHookIds } from '../../src/hooks/hook-id.ts';
import { createHookSecrets } from '../../src/hooks/secret.ts';
import { insertHook, insertSecret } from '../../src/hooks/store.ts';
import { systemClock as clock } from '../../src/platform/clock.ts';
import { newId } from '../../src/platform/ids.ts';
import type { Bench, Product } from '../bench.ts';
import { many, post } from '../requests.ts';
import type { Row } from '../result-row.ts';
import { measure, type Side, type Speed, spreadOf, warmUp } from '../rounds.ts';
import { newNumber, starts } from './verify.ts';

const startsPerSecond = 8000;

/** A hook as Supabase calls it. */
interface Hook {
  path: string;
  key: Buffer;
}

/** What a code costs that an identity server posts, against one that an application starts by the API. */
export async function hooks(bench: Bench): Promise<Row[]> {
  const product = await bench.held();
  const { node, store } = product;
  const made = await makeHooks(product);
  const enough = Math.ceil((startsPerSecond * bench.pace.roundMs) / 3000);
  const side = (requests: () => string[]): Side => ({ servers: [node], requests, status: '200', once: true });
  const byHook = side(() => hookCalls(made, enough));
  const byApi = {
    'with the same code and client': side(() => starts(product, enough, (index) => ({ ...newCode(index), client }))),
    'with a code of ours': side(() => starts(product, enough)),
  };
  await store.empty();
  for (const each of [byHook, ...Object.values(byApi)]) await warmUp(bench, each);
  const rows: Row[] = [];
  for (const [name, baseline] of Object.entries(byApi)) {
    const value = await moreCpu(bench, { subject: byHook, baseline });
    await store.empty();
    const goal = name === 'with the same code and client' ? { goal: { below: 15 } } : {};
    rows.push({
      group: "A code from Supabase's hook, against a start by the API",
      name: `${name}: more CPU`,
      unit: '%',
      value,
      ...goal,
    });
  }
  return rows;
}

/** Many short rounds in turn: what drifts on the machine meets both. CPU of the node and of Postgres together. */
async function moreCpu(bench: Bench, { subject, baseline }: { subject: Side; baseline: Side }) {
  const rounds = 6 * bench.pace.rounds;
  const roundMs = bench.pace.roundMs / 3;
  const cost = ({ cpuMicroseconds, postgresMicroseconds }: Speed) => cpuMicroseconds + postgresMicroseconds;
  const read = async (side: Side) => cost(await measure(bench, side, roundMs));
  const found: number[] = [];
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const first = await read(baseline);
      found.push((await read(subject)) / first);
    } else {
      const first = await read(subject);
      found.push(first / (await read(baseline)));
    }
  }
  return spreadOf(found.map((ratio) => (ratio - 1) * 100));
}

/** One for each application. */
export function makeHooks({ store, callers }: Product): Promise<Hook[]> {
  const [secrets, ids] = [createHookSecrets(store.keys), createHookIds(store.keys, clock)];
  const atMs = clock.nowMs();
  return store.database.transaction(async (tx) => {
    const made: Hook[] = [];
    for (const { applicationId } of callers) {
      const id = ids.create();
      const none = { from: null, locale: null, pointers: null };
      await insertHook(tx, { id, applicationId, kind: 'supabase', ...none, createdAtMs: atMs, updatedAtMs: atMs });
      const secret = secrets.create(id, 'supabase', undefined);
      await insertSecret(tx, id, { ...secret, id: newId('sec', clock), createdAtMs: atMs });
      const key = Buffer.from((secret.shown ?? '').replace('v1,whsec_', ''), 'base64');
      made.push({ path: `/hooks/v1/supabase/${id}`, key });
    }
    return made;
  });
}

/** Supabase sends the person's address, which becomes the client of the start. */
const client = { ip: '203.0.113.7' };

export const newCode = (index: number) => ({ code: String(100_000 + (index % 900_000)) });

/** Each for a new number, with the fields that Supabase sends. */
export function hookCalls(made: Hook[], count: number): string[] {
  return many(count, (index) => {
    const { path, key } = made[index % made.length] as Hook;
    const body = payload(newNumber().slice(1), newCode(index).code);
    const [id, seconds] = [randomUUID(), Math.floor(Date.now() / 1000)];
    const signature = createHmac('sha256', key)
      .update(`${id}.${seconds}.${JSON.stringify(body)}`)
      .digest('base64');
    const signed = [`webhook-id: ${id}`, `webhook-timestamp: ${seconds}`, `webhook-signature: v1,${signature}`];
    return post(path, body, ...signed);
  });
}

const payload = (phone: string, otp: string) => ({
  metadata: { uuid: randomUUID(), time: '2026-11-18T12:00:00.000000000Z', name: 'send-sms', ip_address: client.ip },
  user: {
    id: '6481a5c1-3d37-4a56-9f6a-bee08c554965',
    aud: 'authenticated',
    role: 'authenticated',
    email: '',
    phone,
    confirmation_sent_at: '2026-11-18T12:00:00.000000Z',
    app_metadata: { provider: 'phone', providers: ['phone'] },
    user_metadata: {},
    identities: [],
    created_at: '2026-11-18T12:00:00.000000Z',
    updated_at: '2026-11-18T12:00:00.000000Z',
    is_anonymous: false,
  },
  sms: { otp, phone },
});
