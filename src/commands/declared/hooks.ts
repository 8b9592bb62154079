import type { Hook, HookPointers } from '../../hooks/hook.ts';
import { pointerProblems } from '../../hooks/payload.ts';
import { longestGiven } from '../../hooks/secret.ts';
import { listHooksOf, openSecrets } from '../../hooks/store.ts';
import { makesOwnKey } from '../../portal/developer/hook-record.ts';
import type { WrittenHook } from './application-file.ts';
import { changedEntry, differing, type Entry, type SectionPlan, shownFields } from './change.ts';
import type { FoundApplication } from './find-applications.ts';
import { agrees, match } from './matching.ts';
import { grouped, type Planning } from './planning.ts';
import { revealed } from './secret.ts';

/** The key of a server that makes its own replaces the one before at once: that server signs with one only. */
const overlapSeconds = 0;

/** The hooks of applications. A hook is found by its id, or by its kind. */
export async function planHooks(applications: readonly FoundApplication[], planning: Planning): Promise<SectionPlan> {
  const declaring = applications.filter(({ written }) => written.hooks !== undefined);
  const rows =
    declaring.length === 0
      ? []
      : await listHooksOf(
          planning.tx,
          declaring.map(({ id }) => id),
        );
  const byApplication = grouped(rows, ({ applicationId }) => applicationId);
  const plans: SectionPlan[] = [];
  for (const found of declaring) plans.push(await planOf(found, byApplication.get(found.id) ?? [], planning));
  return { entries: plans.flatMap(({ entries }) => entries), unnamed: plans.flatMap(({ unnamed }) => unnamed) };
}

async function planOf(found: FoundApplication, rows: Hook[], planning: Planning): Promise<SectionPlan> {
  const { path, written: application } = found;
  const given = (application.hooks ?? []).map((written, index) => ({ path: `${path}.hooks.${index}`, written }));
  const { matches, others } = match<WrittenHook, Hook>(given, rows, {
    keyOf: ({ kind }) => kind,
    isSame: (written, row) => agrees(row, fieldsOf(written)),
    keepsKey: true,
    problems: planning.problems,
  });
  const entries: Entry[] = [];
  for (const each of matches) entries.push(await planOne({ ...each, found }, planning));
  return { entries, unnamed: others.map((row) => removal(row, found, planning)) };
}

interface MatchedHook {
  path: string;
  written: WrittenHook;
  row: Hook | undefined;
  found: FoundApplication;
}

function fieldsOf({ from, locale, pointers }: WrittenHook) {
  return { from, locale, pointers };
}

async function planOne({ path, written, row, found }: MatchedHook, planning: Planning): Promise<Entry> {
  const { problems, services } = planning;
  const { hooks } = services;
  const { kind } = written;
  const owned = { accountId: found.accountId, applicationId: found.id };
  const name = `${kind} of ${found.written.name}`;
  const secret = secretOf(written, path, planning);
  const pointers: HookPointers | null = written.pointers === undefined ? (row?.pointers ?? null) : written.pointers;
  problems.addAll(path, pointerProblems({ kind, pointers }));
  const { from = null, locale = null } = written;
  if (row === undefined) {
    if (makesOwnKey(kind) && written.secret === undefined)
      problems.add(`${path}.secret`, 'is required for a new hook: the server makes the signing key');
    if (!makesOwnKey(kind)) planning.unseen.push(path);
    return {
      ...{ action: 'create', kind: 'hook', name, fields: shownFields(fieldsOf(written)) },
      act: async ({ noteOf, credentials }) => {
        const made = await hooks.create(owned, { kind, secret, from, locale, pointers }, (tx, { id }) =>
          noteOf({ act: 'hook.created', id, accountId: found.accountId, details: { application_id: found.id, kind } })(
            tx,
            undefined,
          ),
        );
        const { id, url, settings } = made;
        const about = { application: found.written.name, application_id: found.id };
        if (made.secret !== null)
          credentials?.add({ type: 'hook_secret', ...about, id, kind, url, secret: made.secret, settings });
      },
    };
  }
  const isOther = secret !== undefined && !(await hasSecret(row, secret, planning));
  const fields = differing(row, fieldsOf(written));
  const details = { application_id: found.id, changed: fields.map(({ field }) => field) };
  const all = [...fields, ...(isOther ? [{ field: 'secret', secret: true } as const] : [])];
  return changedEntry({ kind: 'hook', name, fields: all }, async ({ noteOf }) => {
    const entry = { id: row.id, accountId: found.accountId };
    if (fields.length > 0)
      await hooks.change(owned, row.id, fieldsOf(written), noteOf({ act: 'hook.changed', ...entry, details }));
    if (isOther)
      await hooks.rotateSecret(
        owned,
        row.id,
        { overlapSeconds, secret },
        noteOf({ act: 'hook.secret_created', ...entry }),
      );
  });
}

function secretOf({ kind, secret }: WrittenHook, path: string, planning: Planning): string | undefined {
  const place = `${path}.secret`;
  if (secret !== undefined && !makesOwnKey(kind)) {
    planning.problems.add(
      place,
      'must be left out: the service makes it. --credentials <new file> writes the secret of a new hook to that file.',
    );
    return undefined;
  }
  const found = revealed(secret, place, planning);
  if (found !== undefined && found.length > longestGiven)
    planning.problems.add(place, `names a variable that has more than ${longestGiven} characters`);
  return found;
}

async function hasSecret(row: Hook, secret: string, { tx, services }: Planning): Promise<boolean> {
  const [newest] = await openSecrets(tx, row.id, services.hookSecrets);
  return newest?.key?.equals(Buffer.from(secret)) === true;
}

function removal(row: Hook, found: FoundApplication, { services }: Planning): Entry {
  const { id: applicationId, accountId, written } = found;
  return {
    ...{ action: 'delete', kind: 'hook', name: `${row.kind} of ${written.name}`, fields: [] },
    act: ({ noteOf }) => {
      const details = { application_id: applicationId };
      return services.hooks.remove(
        { accountId, applicationId },
        row.id,
        noteOf({ act: 'hook.deleted', id: row.id, accountId, details }),
      );
    },
  };
}
