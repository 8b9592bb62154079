import { readEmail } from '../../accounts/people/email.ts';
import { findAccountIds, listOwnedBy } from '../../accounts/people/owner-store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Tx } from '../../platform/database/database.ts';
import { isId, newId } from '../../platform/ids.ts';
import { type DeclaredApplication, listDeclared } from '../../registry/declared-store.ts';
import { applicationSchema, longestAccount, type WrittenApplication } from './application-file.ts';
import { readAllEntries, type Unfit } from './entry.ts';
import { grouped, type Memory, nameRepeated, remembered } from './planning.ts';
import type { Problems } from './problems.ts';

/** An application of a file with its account, and its row if there is one. */
export interface FoundApplication {
  path: string;
  written: WrittenApplication;
  /** Also set for a new application, because other sections may name it. */
  id: string;
  accountId: string;
  before: DeclaredApplication | undefined;
}

export interface FoundApplications {
  applications: FoundApplication[];
  /** Other applications of the same accounts, which the file does not name. */
  others: DeclaredApplication[];
}

interface FindParts {
  tx: Tx;
  clock: Clock;
  problems: Problems;
  memory: Memory;
}

/** Finds each application of a file by its id, or by its name in its account. */
export async function findApplications(list: readonly unknown[], parts: FindParts): Promise<FoundApplications> {
  const { tx, clock, problems } = parts;
  const read = readAllEntries<WrittenApplication>(list, 'applications', applicationSchema, problems);
  const accountOf = await findAccounts(read, tx);
  const owned = read.flatMap((entry) => {
    const accountId = requireAccount(entry, accountOf, problems);
    return accountId === undefined || entry.fit === undefined
      ? []
      : [{ path: entry.path, value: entry.fit, accountId }];
  });
  const accountIds = [...new Set(owned.map(({ accountId }) => accountId))];
  const ids = owned.flatMap(({ value }) => value.id ?? []);
  const rows = await listDeclared(tx, { accountIds, ids }, clock.nowMs());
  const byName = grouped(rows, ({ accountId, name }) => `${accountId} ${name}`);
  const byId = new Map(rows.map((row) => [row.id, row]));
  const named = owned.map(({ value, accountId, path }) => ({ path, name: value.id ?? `${accountId} ${value.name}` }));
  nameRepeated(named, problems);
  const applications = owned.flatMap((each): FoundApplication[] => {
    const { path, value: written, accountId } = each;
    const before =
      written.id === undefined
        ? theOnlyOne(byName.get(`${accountId} ${written.name}`) ?? [], path, problems)
        : requireOwn(byId.get(written.id), each, problems);
    if (before === 'unclear') return [];
    const id = before?.id ?? remembered(parts.memory.newIds, `${accountId} ${written.name}`, () => newId('app', clock));
    return [{ path, written, id, accountId, before }];
  });
  nameRepeated(
    applications.map(({ path, id }) => ({ path, name: id })),
    { add: (path, message) => (named.length === applications.length ? problems.add(path, message) : undefined) },
  );
  const found = new Set(applications.map(({ id }) => id));
  const others = rows.filter(({ id, accountId }) => !found.has(id) && accountIds.includes(accountId));
  return { applications, others };
}

/** Account ids by the name in the file, an id or an e-mail. An e-mail may own several accounts. */
async function findAccounts(read: readonly Unfit<WrittenApplication>[], tx: Tx): Promise<Map<string, string[]>> {
  const names = [...new Set(read.flatMap(({ value }) => (isName(value.account) ? [value.account] : [])))];
  const ids = names.filter((name) => isId('acc', name));
  const emails = names.flatMap((name) => readEmail(name) ?? []);
  const accounts = new Map((await findAccountIds(tx, ids)).map((id) => [id, [id]]));
  const owned = grouped(await listOwnedBy(tx, emails), ({ email }) => email);
  for (const name of names) {
    const rows = owned.get(readEmail(name) ?? '') ?? [];
    if (rows.length > 0)
      accounts.set(
        name,
        rows.map(({ accountId }) => accountId),
      );
  }
  return accounts;
}

/** The schema check has already reported any other value. */
const isName = (account: unknown): account is string => typeof account === 'string' && account.length <= longestAccount;

function requireAccount(
  { path, value: { account } }: Unfit<WrittenApplication>,
  accounts: ReadonlyMap<string, string[]>,
  problems: Problems,
): string | undefined {
  if (!isName(account)) return undefined;
  const [id, ...more] = accounts.get(account) ?? [];
  if (id === undefined)
    problems.add(
      `${path}.account`,
      'must be the email of an owner of an existing account, or its id. A file makes no accounts: people sign up.',
    );
  else if (more.length > 0)
    problems.add(`${path}.account`, `must be an id: this person owns ${[id, ...more].join(' and ')}`);
  return more.length > 0 ? undefined : id;
}

function theOnlyOne(
  rows: readonly DeclaredApplication[],
  path: string,
  problems: Problems,
): DeclaredApplication | undefined | 'unclear' {
  if (rows.length <= 1) return rows[0];
  const ids = rows.map(({ id }) => id).join(' or ');
  problems.add(`${path}.id`, `is required: the account has more than one application of this name. Set it to ${ids}.`);
  return 'unclear';
}

function requireOwn(
  row: DeclaredApplication | undefined,
  { path, accountId }: { path: string; accountId: string },
  problems: Problems,
): DeclaredApplication | 'unclear' {
  if (row?.accountId === accountId) return row;
  const problem =
    row === undefined
      ? 'must be the id of an existing application. Leave it out to create one.'
      : 'must be the id of an application of this account: one cannot be moved to another';
  problems.add(`${path}.id`, problem);
  return 'unclear';
}
