import { toTimestamp } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid, uuidOf } from '../platform/ids.ts';
import type { SmppAccount, SmppPassword } from './account.ts';

const columns = `id, application_id as "applicationId", system_id as "systemId", binds, addresses,
  created_at as "createdAtMs"`;

export async function insertAccount(tx: Tx, account: SmppAccount): Promise<void> {
  await tx.query(
    `insert into smpp_account (id, application_id, system_id, binds, addresses, created_at, application_uuid)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      ...[uuidOf(account.id), account.applicationId, account.systemId, account.binds, account.addresses],
      ...[toTimestamp(account.createdAtMs), uuidOf(account.applicationId)],
    ],
  );
}

/** Oldest first. */
export async function listAccounts(tx: Tx, applicationId: string, limit: number): Promise<SmppAccount[]> {
  const { rows } = await tx.query<SmppAccount>(
    `select ${columns} from smpp_account where application_id = $1 order by id limit $2`,
    [applicationId, limit],
  );
  return rows.map(toAccount);
}

export async function findAccount(tx: Tx, applicationId: string, id: string): Promise<SmppAccount | undefined> {
  const { rows } = await tx.query<SmppAccount>(
    `select ${columns} from smpp_account where id = $1 and application_id = $2`,
    [uuidOf(id), applicationId],
  );
  return rows.map(toAccount)[0];
}

/** The account of a system_id, with the hashes of its passwords in force. */
export async function findBySystemId(
  tx: Tx,
  systemId: string,
  nowMs: number,
): Promise<{ account: SmppAccount; passwords: { hash: Buffer; endsAtMs: number | null }[] } | undefined> {
  const { rows } = await tx.query<SmppAccount & { hash: Buffer | null; endsAtMs: number | null }>(bySystemId, [
    systemId,
    toTimestamp(nowMs),
  ]);
  const [first] = rows;
  if (first === undefined) return undefined;
  const passwords = rows.flatMap(({ hash, endsAtMs }) => (hash === null ? [] : [{ hash, endsAtMs }]));
  const { id, applicationId, binds, addresses, createdAtMs } = toAccount(first);
  return { account: { id, applicationId, systemId, binds, addresses, createdAtMs }, passwords };
}

const bySystemId = {
  name: 'find-smpp-account',
  text: `select a.id, a.application_id as "applicationId", a.binds, a.addresses, a.created_at as "createdAtMs",
      p.hash, p.ends_at as "endsAtMs"
    from smpp_account a left join smpp_password p on p.account_id = a.id and (p.ends_at is null or p.ends_at > $2)
    where a.system_id = $1`,
};

export async function deleteAccount(tx: Tx, applicationId: string, id: string): Promise<boolean> {
  const { count } = await tx.query('delete from smpp_account where id = $1 and application_id = $2', [
    uuidOf(id),
    applicationId,
  ]);
  return count > 0;
}

export async function insertPassword(
  tx: Tx,
  accountId: string,
  { id, hash, createdAtMs }: { id: string; hash: Buffer; createdAtMs: number },
): Promise<void> {
  await tx.query('insert into smpp_password (id, account_id, hash, created_at) values ($1, $2, $3, $4)', [
    ...[uuidOf(id), uuidOf(accountId), hash, toTimestamp(createdAtMs)],
  ]);
}

/** Ends the passwords at this time at the latest, and deletes expired ones. */
export async function endPasswords(tx: Tx, accountId: string, endsAtMs: number, nowMs: number): Promise<void> {
  const id = uuidOf(accountId);
  await tx.query('update smpp_password set ends_at = least(ends_at, $2) where account_id = $1', [
    id,
    toTimestamp(endsAtMs),
  ]);
  await tx.query('delete from smpp_password where account_id = $1 and ends_at <= $2', [id, toTimestamp(nowMs)]);
}

/** In force, newest first, by account. */
export async function listPasswords(tx: Tx, accountIds: string[], nowMs: number): Promise<Map<string, SmppPassword[]>> {
  const { rows } = await tx.query<SmppPassword & { accountId: string }>(
    `select id, account_id as "accountId", created_at as "createdAtMs", ends_at as "endsAtMs" from smpp_password
     where account_id = any($1::uuid[]) and (ends_at is null or ends_at > $2) order by id desc`,
    [accountIds.map(uuidOf), toTimestamp(nowMs)],
  );
  const found = new Map<string, SmppPassword[]>(accountIds.map((id) => [id, []]));
  for (const { accountId, id, createdAtMs, endsAtMs } of rows)
    found.get(fromUuid('smp', accountId))?.push({ id: fromUuid('sec', id), createdAtMs, endsAtMs });
  return found;
}

function toAccount(row: SmppAccount): SmppAccount {
  return { ...row, id: fromUuid('smp', row.id) };
}
