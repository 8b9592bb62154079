import { type Note, noted } from '../../platform/database/database.ts';
import { assuranceProblem, shownAssurance, storedAssurance } from '../../portal/developer/application-api.ts';
import { countLimit, inCapitals, limitsChanged } from '../../portal/operator/spend-api.ts';
import type { DeclaredApplication } from '../../registry/declared-store.ts';
import { mayAssure } from '../../verify/assurance/profile.ts';
import type { WrittenApplication } from './application-file.ts';
import { type ActParts, changedEntry, differing, type Entry, type SectionPlan, shownFields } from './change.ts';
import type { FoundApplication, FoundApplications } from './find-applications.ts';
import type { Planning } from './planning.ts';

/** Plans the applications themselves; other sections plan what belongs to them. */
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
  const named = fieldsOf(written);
  const { name } = named;
  const { name: _, ...more } = named;
  const wrong = assuranceProblem(written.assurance, mayAssure(planning.config));
  // An application that already has the profile may keep it.
  if (wrong !== undefined && before?.assurance !== written.assurance)
    planning.problems.add(`${found.path}.assurance`, wrong);
  if (before === undefined)
    return {
      ...{ action: 'create', kind: 'application', name, fields: shownFields({ account: written.account, ...more }) },
      act: (parts) => create(found, planning, parts),
    };
  const fields = differing(toShown(before), named);
  const differs = (field: string) => fields.some((each) => each.field === field);
  return changedEntry({ kind: 'application', name: before.name, fields }, async (parts) => {
    const changed = ownFields.filter(differs);
    if (changed.length > 0) await describe(found, changed, planning, parts);
    if (differs('high_priority')) await allow(found, planning, parts);
    if (differs('segments_per_day') || differs('call_countries')) await setLimits(found, planning, parts);
  });
}

/** The fields that its developers can set in the portal. */
const ownFields = ['name', 'help_text', 'assurance'];

function fieldsOf(written: WrittenApplication) {
  const { name, help_text, assurance, high_priority, segments_per_day, call_countries } = written;
  return {
    ...{ name, help_text, assurance, high_priority, segments_per_day },
    call_countries: call_countries && inOrder(inCapitals(call_countries)),
  };
}

function toShown(row: DeclaredApplication): ReturnType<typeof fieldsOf> {
  return {
    ...{ name: row.name, help_text: row.helpText, assurance: shownAssurance(row.assurance) },
    ...{ high_priority: row.highPriority, segments_per_day: row.segmentsPerDay },
    call_countries: inOrder(row.callCountries),
  };
}

/** The order of countries has no meaning. */
function inOrder(countries: readonly string[]): string[] {
  return [...countries].sort((one, other) => (one < other ? -1 : 1));
}

async function create(found: FoundApplication, planning: Planning, parts: ActParts): Promise<void> {
  const { id, accountId, written } = found;
  const { registry } = planning.services;
  const note: Note = parts.noteOf({ act: 'application.created', id, accountId, details: { name: written.name } });
  await noted((tx) => registry.createOwnApplication(tx, accountId, written.name, id), note)(planning.tx);
  const { help_text = null, assurance, segments_per_day = null, call_countries = [] } = written;
  const described = [
    ...(help_text === null ? [] : ['help_text']),
    ...(storedAssurance(assurance) ? ['assurance'] : []),
  ];
  if (described.length > 0) await describe(found, described, planning, parts);
  if (written.high_priority === true) await allow(found, planning, parts);
  if (segments_per_day !== null || call_countries.length > 0) await setLimits(found, planning, parts);
}

function describe(
  { id, accountId, written }: FoundApplication,
  changed: readonly string[],
  { services }: Planning,
  { noteOf }: ActParts,
) {
  const { name, help_text: helpText } = written;
  const note = noteOf({ act: 'application.changed', id, accountId, details: { name, changed } });
  const assurance = storedAssurance(written.assurance);
  return services.registry.changeApplication(accountId, id, { name, helpText, assurance }, note);
}

function allow({ id, accountId, written }: FoundApplication, { services }: Planning, { noteOf }: ActParts) {
  const allowed = written.high_priority === true;
  const act = allowed ? 'application.high_priority_allowed' : 'application.high_priority_denied';
  return services.registry.allowHighPriority(id, allowed, noteOf({ act, id, accountId }));
}

async function setLimits(
  { id, accountId, written }: FoundApplication,
  planning: Planning,
  { noteOf, afterwards }: ActParts,
) {
  const limits = { segmentsPerDay: written.segments_per_day, callCountries: fieldsOf(written).call_countries };
  const note = noteOf({ ...limitsChanged(id, limits), accountId });
  const application = await planning.services.sending.setLimits(id, limits, note);
  // Not in the transaction: it reads one snapshot, and texts keep changing the row that counts the day's segments.
  if (application.limit !== null) afterwards((database) => countLimit(database, application, planning.clock.nowMs()));
}
