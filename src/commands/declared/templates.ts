import type { DeclaredTemplate } from '../../registry/declared-store.ts';
import type { WrittenTemplate } from './application-file.ts';
import { changedEntry, differing, type Entry, type SectionPlan, shownFields } from './change.ts';
import type { FoundApplication } from './find-applications.ts';
import { nameRepeated, type Planning } from './planning.ts';

/** The texts of applications' codes by country. */
export function planTemplates(applications: readonly FoundApplication[], planning: Planning): SectionPlan {
  const plans = applications
    .filter(({ written }) => written.templates !== undefined)
    .map((found) => planOf(found, planning));
  return { entries: plans.flatMap(({ entries }) => entries), unnamed: plans.flatMap(({ unnamed }) => unnamed) };
}

function planOf(found: FoundApplication, planning: Planning): SectionPlan {
  const { path, before, written } = found;
  const given = (written.templates ?? []).map((each) => ({ ...each, country: each.country.toUpperCase() }));
  nameRepeated(
    given.map(({ country }, index) => ({ path: `${path}.templates.${index}.country`, name: country })),
    planning.problems,
  );
  const rows = new Map((before?.templates ?? []).map((row) => [row.country, row]));
  const named = new Set(given.map(({ country }) => country));
  return {
    entries: given.map((each) => planOne(each, rows.get(each.country), found, planning)),
    unnamed: [...rows.values()]
      .filter(({ country }) => !named.has(country))
      .map(({ country }) => removal(country, found, planning)),
  };
}

const nameOf = (country: string, { written }: FoundApplication) => `for ${country} of ${written.name}`;

function planOne(
  { country, text, template_id }: WrittenTemplate,
  row: DeclaredTemplate | undefined,
  found: FoundApplication,
  { services }: Planning,
): Entry {
  const { id, accountId } = found;
  const entry = { kind: 'template', name: nameOf(country, found) } as const;
  const act: Entry['act'] = ({ noteOf }) => {
    const templateId = template_id === undefined ? (row?.templateId ?? null) : template_id;
    const note = noteOf({ act: 'template.changed', id, accountId, details: { country, text } });
    return services.sending.putTemplate(id, country, { text, templateId }, note);
  };
  const fields = { text, template_id };
  if (row === undefined) return { action: 'create', ...entry, fields: shownFields(fields), act };
  return changedEntry({ ...entry, fields: differing({ text: row.text, template_id: row.templateId }, fields) }, act);
}

function removal(country: string, found: FoundApplication, { services }: Planning): Entry {
  const { id, accountId } = found;
  return {
    ...{ action: 'delete', kind: 'template', name: nameOf(country, found), fields: [] },
    act: ({ noteOf }) => {
      const note = noteOf({ act: 'template.deleted', id, accountId, details: { country } });
      return services.sending.removeTemplate(id, country, note);
    },
  };
}
