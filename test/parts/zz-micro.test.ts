import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createClaims } from '../../src/delivery/claim-store.ts';
import { recordClaim } from '../../src/delivery/result-store.ts';
import { createReceipts } from '../../src/delivery/receipts.ts';
import { createHandsets } from '../../src/sandbox/handsets.ts';
import { insertMessages } from '../../src/messages/message-store.ts';
import { newId } from '../../src/platform/ids.ts';
import { createTestClock } from '../support/clock.ts';
import { createTestDatabase } from '../support/database.ts';

test('micro', async () => {
  const db = await createTestDatabase();
  const database = db.another({ poolSize: 2, timeouts: { statementMs: 60000, transactionMs: 60000 } });
  const pids = (await Promise.all([1, 2].map(() => database.transaction(async (tx) => { const r = (await tx.query<{ pid: number }>('select pg_backend_pid() as pid, pg_sleep(0.2)')).rows[0]?.pid; return r; }))));
  console.log(pids);
  const cpu = () => pids.reduce((sum, pid) => sum + Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000, 0);
  const clock = createTestClock();
  const apps = Array.from({ length: 16 }, () => newId('app', clock));
  const claimNext = createClaims(database);
  const receipts = createReceipts(database, clock);
  const handsets = createHandsets(database, clock);
  const spent: Record<string, number> = {};
  const measure = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const from = cpu();
    const result = await work();
    await database.query('select 1');
    spent[name] = (spent[name] ?? 0) + cpu() - from;
    return result;
  };
  const size = Number(process.env.MICRO_SIZE ?? 100);
  const rounds = Math.round(12000 / size);
  for (let round = 0; round < rounds; round++) {
    const nowMs = clock.nowMs();
    const messages = Array.from({ length: size }, (_, i) => ({
      id: newId('msg', clock), applicationId: apps[i % 16] ?? '', api: 'sms' as const, verificationId: null, channel: 'sms',
      to: `+4477009${String((round * size + i) % 100000).padStart(5, '0')}`, sender: 'ACME', body: 'Your table is booked for eight. See you tonight!', template: null,
      status: 'queued' as const, encoding: 'GSM-7' as const, segmentCount: 1, characters: 48, remaining: 112, reference: null, errorCode: null,
      correlationId: newId('req', clock), createdAtMs: nowMs, updatedAtMs: nowMs, sentAtMs: null, deliveredAtMs: null, expiresAtMs: nowMs + 86400000, carrier: 'sandbox', sendAtMs: null,
    }));
    await measure('insert', () => insertMessages(database, messages));
    const claim = await measure('claim', () => claimNext({ carrier: 'sandbox', nowMs, leaseMs: 10000, limit: 500 }));
    const texts = claim?.texts ?? [];
    await measure('arrive', () => handsets.receive(texts.map(({ message }) => ({ applicationId: message.applicationId, to: message.to, messageId: message.id, attempt: 1, delivered: true, receiptLaterMs: 0 }))));
    await measure('record', () => recordClaim(database, claim?.id ?? 0, { carrier: 'sandbox', ended: texts.map(({ entry }) => ({ entry: { ...entry, attempt: 1 }, status: 'sent' as const, carrierMessageId: '1', error: null })), again: [], keepCarrierIds: false, nowMs }));
    clock.advance(150);
    await measure('receipts', () => handsets.reportDue((due) => receipts.apply('sandbox', due.map(({ messageId }) => ({ carrierMessageId: '1', messageId, outcome: 'delivered' as const, error: null })))).catch(e => { throw e; }));
  }
  // EXPLAIN
  const wrap = (name: string) => { const query = database.query.bind(database); return { ...database, transaction: database.transaction.bind(database), query: async (q: any, v: any) => { const text = typeof q === 'string' ? q : q.text; const t = performance.now(); const r = await query('explain (analyze, summary, settings) ' + text, v); console.log('PLAN', name, text.slice(0, 60).replace(/\n/g, ' '), (performance.now() - t).toFixed(2), r.rows.map((x: any) => x['QUERY PLAN']).filter((l: string) => /Planning Time|Execution Time|JIT|Settings/.test(l)).join(' ')); if (process.env.FULL) console.log(r.rows.map((x: any) => x['QUERY PLAN']).join('\n')); return name === 'record' || name === 'insert' ? r : query(q, v); } } as any; };
  {
    const nowMs = clock.nowMs();
    const messages = Array.from({ length: size }, (_, i) => ({
      id: newId('msg', clock), applicationId: apps[i % 16] ?? '', api: 'sms' as const, verificationId: null, channel: 'sms',
      to: `+4477009${String(i).padStart(5, '0')}`, sender: 'ACME', body: 'Your table is booked for eight. See you tonight!', template: null,
      status: 'queued' as const, encoding: 'GSM-7' as const, segmentCount: 1, characters: 48, remaining: 112, reference: null, errorCode: null,
      correlationId: newId('req', clock), createdAtMs: nowMs, updatedAtMs: nowMs, sentAtMs: null, deliveredAtMs: null, expiresAtMs: nowMs + 86400000, carrier: 'sandbox', sendAtMs: null,
    }));
    await insertMessages(wrap('insert'), messages);
    await insertMessages(database, messages.map((m) => ({ ...m, id: newId('msg', clock) })));
    const claim = await createClaims(wrap('claim'))({ carrier: 'sandbox', nowMs, leaseMs: 10000, limit: 500 });
    const texts = claim?.texts ?? [];
    await recordClaim(wrap('record'), claim?.id ?? 0, { carrier: 'sandbox', ended: texts.map(({ entry }) => ({ entry: { ...entry, attempt: 1 }, status: 'sent' as const, carrierMessageId: '1', error: null })), again: [], keepCarrierIds: false, nowMs });
    const w = wrap('receipt'); w.transaction = (f: any) => f(w);
    await createReceipts(w, clock).apply('sandbox', texts.map(({ message }) => ({ carrierMessageId: '1', messageId: message.id, outcome: 'delivered' as const, error: null })));
  }
  for (const [name, us] of Object.entries(spent)) console.log('MICRO', name, (us / rounds / size).toFixed(1));
  console.log('MICRO all', (Object.values(spent).reduce((a, b) => a + b, 0) / rounds / size).toFixed(1));
  const { rows } = await database.query<Record<string, unknown>>(`select relname, n_tup_upd, n_tup_hot_upd, pg_total_relation_size(relid) as size from pg_stat_user_tables where n_tup_ins > 0`);
  console.log(rows);
  await db.drop();
});
