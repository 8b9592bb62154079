import { isDeepStrictEqual } from 'node:util';
import { createAudit } from '../../accounts/audit/audit.ts';
import type { Database } from '../../platform/database/database.ts';
import { isCommitInDoubt } from '../../platform/database/errors.ts';
import { ApiError, StartError } from '../../platform/errors.ts';
import { toRun } from '../../platform/how-to-run.ts';
import { isId } from '../../platform/ids.ts';
import { recordChange } from '../../registry/change-store.ts';
import { allApplications } from '../../registry/directory.ts';
import { createRegistry } from '../../registry/registry.ts';
import { createSilentLog } from '../silent-log.ts';
import { type ActParts, appliedBy, type Entry, type NoteOf } from './change.ts';
import type { CredentialsFile } from './credentials-file.ts';
import type { DeclaredFile } from './file.ts';
import { inOneTransaction } from './one-transaction.ts';
import { type DeclaredPlan, type PlanParts, planFile } from './plan-file.ts';
import { planAsJson } from './show.ts';

export type Applied = { outcome: 'done' } | { outcome: 'changed_meanwhile'; plan: DeclaredPlan };

/** Above this number of applications, one change of all applications costs the nodes less. */
const mostChanges = 50;

/**
 * Makes the changes of a plan that a person has seen, unless the store now needs other changes. All but webhooks are one
 * transaction; after a crash the file can be applied again.
 */
export async function applyPlan(
  file: DeclaredFile,
  seen: DeclaredPlan,
  parts: PlanParts,
  credentials: CredentialsFile | undefined,
): Promise<Applied> {
  const audit = createAudit(parts);
  const noteOf: NoteOf = (entry) => (tx) =>
    audit.recordByMachine(tx, { ...entry, details: { ...entry.details, by: appliedBy } });
  const later: ((database: Database) => Promise<void>)[] = [];
  const actParts: ActParts = { noteOf, credentials, afterwards: (work) => void later.push(work) };

  const outcome = await inOneTransaction(
    parts.database,
    async (held): Promise<Applied & { plan: DeclaredPlan }> => {
      // A conflict with another change starts the work anew.
      later.length = 0;
      credentials?.clear();
      const changed = new Set<string>();
      const plan = await planFile(file, parts, held, async (applicationId, work) => {
        const result = await work(held, (other) => void changed.add(other));
        changed.add(applicationId);
        return result;
      });
      if (!isSamePlan(plan, seen)) return { outcome: 'changed_meanwhile', plan };
      for (const entry of plan.together) await act(entry, actParts);
      if (credentials !== undefined) for (const entry of plan.oneByOne) entry.reveal?.(credentials);
      for (const name of namesOfChanges(changed)) await recordChange(held, name, parts.clock.nowMs());
      await credentials?.write();
      return { outcome: 'done', plan };
    },
    () => parts.say('Another apply is under way. Waiting for its end.'),
  ).catch((error: unknown) => {
    if (isCommitInDoubt(error)) throw inDoubt(credentials);
    credentials?.clear();
    throw error;
  });
  if (outcome.outcome === 'changed_meanwhile') return outcome;
  await settle(parts);
  for (const work of later) await work(parts.database);
  await actOneByOne(outcome.plan.oneByOne, actParts);
  return { outcome: 'done' };
}

/** The commit may have made the credentials, so they stay in their file. */
function inDoubt(credentials: CredentialsFile | undefined): StartError {
  const kept = credentials === undefined ? '' : ` Keep ${credentials.path}: its credentials may have been made.`;
  return new StartError(
    `The changes are in doubt: Postgres has not confirmed its commit. See what is there by ${toRun('plan', '<file.json>')}, and apply again what differs.${kept}`,
  );
}

/** The names of changes for the feed: ids of applications, or all applications, or the guard's rules. */
function namesOfChanges(changed: ReadonlySet<string>): string[] {
  const names = [...changed];
  const others = names.filter((name) => !isId('app', name));
  return names.length - others.length > mostChanges ? [...new Set([...others, allApplications])] : names;
}

function isSamePlan(a: DeclaredPlan, b: DeclaredPlan): boolean {
  return isDeepStrictEqual(planAsJson(a), planAsJson(b));
}

async function act(entry: Entry, parts: ActParts): Promise<void> {
  try {
    await entry.act?.(parts);
  } catch (error) {
    const message = refusalOf(error);
    if (message === undefined) throw error;
    throw new StartError(`Nothing has been changed:\n  ${entry.kind} ${entry.name}: ${message}`);
  }
}

/** Changes webhooks one by one, because each waits for its worker. A refused one does not stop the others. */
async function actOneByOne(entries: readonly Entry[], parts: ActParts): Promise<void> {
  const refused: string[] = [];
  for (const entry of entries) {
    await entry.act?.(parts).catch((error: unknown) => {
      refused.push(`  ${entry.kind} ${entry.name}: ${refusalOf(error) ?? (error as Error).message}`);
    });
  }
  if (refused.length > 0)
    throw new StartError(
      ['All but the following has been changed. Apply the file again when its cause is gone:', ...refused].join('\n'),
    );
}

function refusalOf(error: unknown): string | undefined {
  return error instanceof ApiError && error.status < 500 ? error.message : undefined;
}

/** Waits until no node acts on an older state. */
async function settle(parts: PlanParts): Promise<void> {
  const { feed } = createRegistry({ ...parts, log: createSilentLog(), listen: false });
  try {
    await feed.settled();
  } finally {
    await feed.stop();
  }
}
