import { isDeepStrictEqual } from 'node:util';
import type { AuditEntry } from '../../accounts/audit/audit.ts';
import type { Database, Note } from '../../platform/database/database.ts';
import type { CredentialsFile } from './credentials-file.ts';

/** Makes the note that writes an entry of the command into the audit log. */
export type NoteOf = (entry: AuditEntry) => Note;

export type Kind =
  | 'plan'
  | 'guard'
  | 'carrier'
  | 'application'
  | 'registration'
  | 'template'
  | 'hook'
  | 'route'
  | 'routes'
  | 'sender'
  | 'number'
  | 'credential'
  | 'webhook';

/** A field that differs. A secret is named and never shown. */
export type FieldChange =
  | { field: string; before: unknown; after: unknown; secret?: never }
  | { field: string; secret: true; before?: never; after?: never };

export interface ActParts {
  noteOf: NoteOf;
  credentials: CredentialsFile | undefined;
  /** Runs work after the transaction that cannot be part of it; a crash may lose the work. */
  afterwards: (work: (database: Database) => Promise<void>) => void;
}

/** One object of the file or the store, and the action for it. */
export interface Entry {
  action: 'same' | 'create' | 'change' | 'delete';
  kind: Kind;
  name: string;
  fields: FieldChange[];
  /** Missing if an earlier entry makes this change too. */
  act?: (parts: ActParts) => Promise<unknown>;
  /** Notes the credentials that `act` will make after the transaction. */
  reveal?: (credentials: CredentialsFile) => void;
}

/** Who made a change, where the store names the person: versions of routes, plans and guard rules, and the audit log. */
export const appliedBy = 'apply';

/** The changes of one section. `unnamed`: objects that the file does not name, which `--prune` deletes. */
export interface SectionPlan {
  entries: Entry[];
  unnamed: Entry[];
}

export const nothingPlanned: SectionPlan = { entries: [], unnamed: [] };

/** The fields that differ. Fields that are undefined in the file stay as they are. */
export function differing(before: object, named: object): FieldChange[] {
  const was = before as Record<string, unknown>;
  return Object.entries(named)
    .filter(([field, value]) => value !== undefined && !isDeepStrictEqual(was[field], value))
    .map(([field, value]) => ({ field, before: was[field], after: value }));
}

/** The fields of a new object, for display. */
export function shownFields(fields: object): FieldChange[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([field, value]) => ({ field, before: undefined, after: value }));
}

/** An entry for an existing object: changed if any field differs. */
export function changedEntry(
  { kind, name, fields }: Pick<Entry, 'kind' | 'name' | 'fields'>,
  act: NonNullable<Entry['act']>,
): Entry {
  return fields.length === 0 ? { action: 'same', kind, name, fields } : { action: 'change', kind, name, fields, act };
}
