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
  /** For what cannot be in the transaction, and may be lost in a crash. */
  afterwards: (work: (database: Database) => Promise<void>) => void;
}

/** One object of the file, or of the store, and what becomes of it. */
export interface Entry {
  action: 'same' | 'create' | 'change' | 'delete';
  kind: Kind;
  name: string;
  fields: FieldChange[];
  /** Left out where an entry before it makes the change of several. */
  act?: (parts: ActParts) => Promise<unknown>;
  /** Notes the credentials that `act` will make after the transaction. */
  reveal?: (credentials: CredentialsFile) => void;
}

/** Who made a change, where the store names the person: versions of routes, plans and guard rules, and the audit log. */
export const appliedBy = 'apply';

/** What a section asks for, and what it does not name: deleted with `--prune`. */
export interface SectionPlan {
  entries: Entry[];
  unnamed: Entry[];
}

export const nothingPlanned: SectionPlan = { entries: [], unnamed: [] };

/** The fields that the file names and that differ. Undefined in the file: not named. */
export function differing(before: object, named: object): FieldChange[] {
  const was = before as Record<string, unknown>;
  return Object.entries(named)
    .filter(([field, value]) => value !== undefined && !isDeepStrictEqual(was[field], value))
    .map(([field, value]) => ({ field, before: was[field], after: value }));
}

/** What a new object shows. */
export function shownFields(fields: object): FieldChange[] {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([field, value]) => ({ field, before: undefined, after: value }));
}

/** An entry that is changed if any field differs. */
export function changedEntry(
  { kind, name, fields }: Pick<Entry, 'kind' | 'name' | 'fields'>,
  act: NonNullable<Entry['act']>,
): Entry {
  return fields.length === 0 ? { action: 'same', kind, name, fields } : { action: 'change', kind, name, fields, act };
}
