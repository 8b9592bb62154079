import { noteLimit } from '../../messages/spend-store.ts';
import { type Note, noted } from '../../platform/database/database.ts';
import type { DeclaredApplication } from '../../registry/declared-store.ts';
import { type ActParts, changedEntry, differing, type Entry, type SectionPlan, shownFields } from './change.ts';
import type { FoundApplication, FoundApplications } from './find-applications.ts';
import type { Planning } from './planning.ts';

/** Applications themselves; what belongs to them is planned beside. */
export function planApplications({ applications, others }: FoundApplications, planning: Planning): SectionPlan {
  return {
    entries: applications.map((found) => planOne(found, planning)),
    unnamed: others.map(
      ({ id, accountId, name }): Entry => ({
        ...{ action: 'delete', kind: 'application', name, fields: [] },
        act: ({ noteOf }) => {
          const note = noteOf({ act: 'application.deleted', id, accountId, details: { name } });
          return planning.services.registry.deleteApplication(accountId, id, note);
        },
      }),
    ),
  };
}

function planOne(found: FoundApplication, planning: Planning): Entry {
  const { before, written } = found;
  const { name, help_text, high_priority, segments_per_day } = written;
  const named = { name, help_text, high_priority, segments_per_day };
  const { name: _, ...more } = named;
  if (before === undefined)
    return {
      ...{ action: 'create', kind: 'application', name, fields: shownFields({ account: written.account, ...more }) },
      act: (parts) => create(found, planning, parts),
    };
  const fields = differing(toShown(before), named);
  const differs = (field: string) => fields.some((each) => each.field === field);
  return changedEntry({ kind: 'application', name: before.name, fields }, async (parts) => {
    if (differs('name') || differs('help_text')) await rename(found, planning, parts);
    if (differs('high_priority')) await allow(found, planning, parts);
    if (differs('segments_per_day')) await setLimit(found, planning, parts);
  });
}

function toShown({ name, helpText, highPriority, segmentsPerDay }: DeclaredApplication) {
  return { name, help_text: helpText, high_priority: highPriority, segments_per_day: segmentsPerDay };
}

async function create(found: FoundApplication, planning: Planning, parts: ActParts): Promise<void> {
  const { id, accountId, written } = found;
  const { registry } = planning.services;
  const note: Note = parts.noteOf({ act: 'application.created', id, accountId, details: { name: written.name } });
  await noted((tx) => registry.createOwnApplication(tx, accountId, written.name, id), note)(planning.tx);
  if ((written.help_text ?? null) !== null) await rename(found, planning, parts);
  if (written.high_priority === true) await allow(found, planning, parts);
  if ((written.segments_per_day ?? null) !== null) await setLimit(found, planning, parts);
}

function rename({ id, accountId, written }: FoundApplication, { services }: Planning, { noteOf }: ActParts) {
  const { name, help_text: helpText } = written;
  const details = { name, changed: ['name', 'help_text'] };
  const note = noteOf({ act: 'application.changed', id, accountId, details });
  return services.registry.changeApplication(accountId, id, { name, helpText }, note);
}

function allow({ id, accountId, written }: FoundApplication, { services }: Planning, { noteOf }: ActParts) {
  const allowed = written.high_priority === true;
  const act = allowed ? 'application.high_priority_allowed' : 'application.high_priority_denied';
  return services.registry.allowHighPriority(id, allowed, noteOf({ act, id, accountId }));
}

async function setLimit(
  { id, accountId, written }: FoundApplication,
  planning: Planning,
  { noteOf, afterwards }: ActParts,
) {
  const { segments_per_day: segments = null } = written;
  const details = { segments_per_day: segments };
  const note = noteOf({ act: 'application.limit_changed', id, accountId, details });
  const { limit } = await planning.services.sending.setLimits(id, { segmentsPerDay: segments }, note);
  // Texts count in this row all the time, so a transaction over one state of the store would meet their changes.
  if (limit !== null) afterwards((database) => noteLimit(database, id, limit, planning.clock.nowMs()));
}
