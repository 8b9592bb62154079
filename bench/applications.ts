import { systemClock as clock, toTimestamp } from '../src/platform/clock.ts';
import { newId } from '../src/platform/ids.ts';
import { makeAccount } from './callers.ts';
import type { Store } from './store.ts';

/** An application that may send texts, and its key. */
export interface KeyedApplication {
  id: string;
  key: string;
}

const chunk = 10_000;

/** Applications with keys that work, made as the registry makes them, but many at once. */
export async function makeApplications(store: Store, count: number): Promise<KeyedApplication[]> {
  const accountId = await makeAccount(store);
  const made: KeyedApplication[] = [];
  while (made.length < count) {
    const now = toTimestamp(clock.nowMs());
    const keys = Array.from({ length: Math.min(chunk, count - made.length) }, () => ({
      ...store.registry.apiKeys.create(),
      id: newId('key', clock),
      applicationId: newId('app', clock),
      registrationId: newId('reg', clock),
    }));
    const applications = keys.map(({ applicationId }) => applicationId);
    await store.patiently(
      `insert into application (id, account_id, name, created_at, updated_at)
       select id, $2, 'Bench', $3, $3 from unnest($1::text[]) id`,
      [applications, accountId, now],
    );
    await store.patiently(
      `insert into registration (id, application_id, api, plan, status, created_at, updated_at)
       select id, application_id, 'sms', 'enterprise', 'approved', $3, $3
       from unnest($1::text[], $2::text[]) as r(id, application_id)`,
      [keys.map(({ registrationId }) => registrationId), applications, now],
    );
    await store.patiently(
      `insert into api_key (id, application_id, hash, prefix, last_four, created_at)
       select id, application_id, hash, 'hg_sandbox_', 'fill', $4
       from unnest($1::text[], $2::text[], $3::bytea[]) as k(id, application_id, hash)`,
      [keys.map(({ id }) => id), applications, keys.map(({ hash }) => hash), now],
    );
    made.push(...keys.map(({ applicationId, key }) => ({ id: applicationId, key })));
  }
  return made;
}

/** Applications that are only there. */
export async function fillApplications(
  store: Store,
  from: number,
  to: number,
  onProgress: (made: number) => void,
): Promise<void> {
  const accountId = await makeAccount(store);
  for (let low = from; low < to; low += chunk * 10) {
    const rows = `generate_series(${low}, ${Math.min(low + chunk * 10, to) - 1}) i`;
    const id = (prefix: string) => `'${prefix}_fill' || lpad(i::text, 22, '0')`;
    // Every row that is referred to has just been made: to look each up again would take most of the time.
    await store.patiently(`set session_replication_role = replica;
      insert into application (id, account_id, name, created_at, updated_at)
        select ${id('app')}, '${accountId}', 'Bench', now(), now() from ${rows};
      insert into registration (id, application_id, api, plan, status, created_at, updated_at)
        select ${id('reg')}, ${id('app')}, 'sms', 'free', 'approved', now(), now() from ${rows};
      insert into api_key (id, application_id, hash, prefix, last_four, created_at)
        select ${id('key')}, ${id('app')}, sha256(i::text::bytea), 'hg_sandbox_', 'fill', now() from ${rows}`);
    onProgress(Math.min(low + chunk * 10, to));
  }
}

/** As if each had been changed: the node has to look it up again. Returns when it has forgotten. */
export async function makeForgotten(store: Store, applications: KeyedApplication[]): Promise<void> {
  await store.patiently('select record_registry_change(id, now()) from unnest($1::text[]) id', [
    applications.map(({ id }) => id),
  ]);
  for (;;) {
    const { rows } = await store.database.query<{ reported: boolean }>(
      `select bool_and(acknowledged_seq >= (select max(seq) from registry_change)) as reported
       from node where seen_at > now() - interval '3 seconds'`,
    );
    if (rows[0]?.reported === true) return;
    await new Promise((done) => setTimeout(done, 20));
  }
}
