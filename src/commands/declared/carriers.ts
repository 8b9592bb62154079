import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import { type CarrierRow, readCarriers } from '../../delivery/carrier/store.ts';
import { secretFieldNames } from '../../delivery/http/presets/presets.ts';
import { type CarrierSettings, keepCarrierSecrets } from '../../delivery/setup/kinds.ts';
import { secretsToGiveAgain } from '../../delivery/setup/secret-destination.ts';
import { isObject } from '../../platform/is-object.ts';
import {
  type ActParts,
  changedEntry,
  differing,
  type Entry,
  type FieldChange,
  type SectionPlan,
  shownFields,
} from './change.ts';
import { type Read, readEntries } from './entry.ts';
import { checkedOnce, nameRepeated, type Planning } from './planning.ts';
import { namesVariable, revealed, rightSecret } from './secret.ts';

/** The carrier service checks name, kind and settings. */
const carrierSchema = Type.Object({
  name: Type.String({ maxLength: 32, expected: 'the name of a carrier' }),
  kind: Type.String({ maxLength: 16, expected: 'smpp or http' }),
  settings: Type.Unsafe<Record<string, unknown>>({ type: 'object', expected: 'an object with its settings' }),
  paused: Type.Optional(Type.Boolean()),
});

interface WrittenCarrier {
  name: string;
  kind: string;
  settings: Record<string, unknown>;
  paused?: boolean;
}

/** Reads the carriers of a file, with secrets filled in from the environment. */
export function readDeclaredCarriers(list: readonly unknown[], planning: Planning): Read<WrittenCarrier>[] {
  const read = readEntries<WrittenCarrier>(list, 'carriers', carrierSchema, planning.problems);
  nameRepeated(
    read.map(({ path, value }) => ({ path: `${path}.name`, name: value.name })),
    planning.problems,
  );
  return read.map(({ path, value }) => ({
    path,
    value: { ...value, settings: withSecrets(value.settings, path, planning) },
  }));
}

function withSecrets(settings: Record<string, unknown>, path: string, planning: Planning): Record<string, unknown> {
  const reveal = (value: unknown, field: string, isSecret: boolean): unknown => {
    const place = `${path}.settings.${field}`;
    if (namesVariable(value)) return revealed(value, place, planning) ?? 'unset';
    if (isSecret && typeof value === 'string' && !planning.options.literalSecrets)
      planning.problems.add(place, `must be ${rightSecret}. The file must not have the secret itself.`);
    return value;
  };
  const each = (values: Record<string, unknown>, prefix: string, isSecret: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, reveal(value, `${prefix}${name}`, isSecret(name))]),
    );
  const { tls, secrets } = settings;
  return {
    ...each(settings, '', (name) => name === 'password' || secretFieldNames.includes(name)),
    ...(isObject(tls) && { tls: each(tls, 'tls.', (name) => name === 'key') }),
    ...(isObject(secrets) && { secrets: each(secrets, 'secrets.', () => true) }),
  };
}

/** Carriers of a file are made or changed. Secrets that it does not name stay. */
export async function planCarriers(written: readonly Read<WrittenCarrier>[], planning: Planning): Promise<SectionPlan> {
  const rows = await readCarriers(planning.tx);
  const known = new Map(rows.map((row) => [row.name, row]));
  const entries = await Promise.all(written.map((carrier) => planOne(carrier, known, planning)));
  const named = new Set(written.map(({ value }) => value.name));
  const { carriers } = planning.services;
  const unnamed = rows
    .filter(({ name }) => !named.has(name))
    .map(
      ({ name }): Entry => ({
        ...{ action: 'delete', kind: 'carrier', name, fields: [] },
        act: ({ noteOf }) => carriers.remove(name, { force: false }, noteOf({ act: 'carrier.deleted', id: name })),
      }),
    );
  return { entries: entries.filter((entry) => entry !== undefined), unnamed };
}

async function planOne(
  { path, value: carrier }: Read<WrittenCarrier>,
  known: ReadonlyMap<string, CarrierRow>,
  { services: { carriers }, problems, memory }: Planning,
): Promise<Entry | undefined> {
  const { name, kind, paused } = carrier;
  const row = known.get(name);
  const before = row && carriers.readAll(row);
  if (before !== undefined && before.kind !== kind) {
    problems.add(`${path}.kind`, `must be ${before.kind}: a carrier keeps its kind. Use another name.`);
    return undefined;
  }
  const settings = before === undefined ? carrier.settings : keepCarrierSecrets(carrier.settings, before);
  const given = { name, kind, settings };
  const checked = await checkedOnce(memory, `carrier ${JSON.stringify(given)}`, () => carriers.check(given));
  const wrong = [...checked.problems];
  if (before !== undefined && wrong.length === 0)
    wrong.push(...secretsToGiveAgain(before, carrier.settings, checked.carrier));
  if (problems.addAll(path, wrong)) return undefined;
  const pause = (isPaused: boolean, { noteOf }: ActParts) =>
    carriers.setPaused(name, isPaused, noteOf({ act: isPaused ? 'carrier.paused' : 'carrier.resumed', id: name }));
  if (row === undefined || before === undefined)
    return {
      ...{ action: 'create', kind: 'carrier', name, fields: shownFields({ kind, ...(paused && { paused }) }) },
      act: async (parts) => {
        await carriers.create(carrier, parts.noteOf({ act: 'carrier.created', id: name, details: { kind } }));
        if (paused === true) await pause(paused, parts);
      },
    };
  const changed = differences(before, checked.carrier);
  const fields = [...changed, ...differing({ paused: row.paused }, { paused })];
  return changedEntry({ kind: 'carrier', name, fields }, async (parts) => {
    const note = parts.noteOf({ act: 'carrier.changed', id: name });
    if (changed.length > 0) await carriers.replace(name, carrier.settings, note);
    if (paused !== undefined && paused !== row.paused) await pause(paused, parts);
  });
}

/** The settings that differ, without secrets. */
function differences(before: CarrierSettings, after: CarrierSettings): FieldChange[] {
  const [was, is] = [before.settings, after.settings] as unknown as Record<string, unknown>[];
  const secret = new Set(['password', 'tls', 'secrets', ...secretFieldNames]);
  const names = new Set([...Object.keys(was ?? {}), ...Object.keys(is ?? {})]);
  return [...names].flatMap((field): FieldChange[] => {
    if (isDeepStrictEqual(was?.[field], is?.[field])) return [];
    return [secret.has(field) ? { field, secret: true } : { field, before: was?.[field], after: is?.[field] }];
  });
}
