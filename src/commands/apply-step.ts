import type { AuditEntry } from '../accounts/audit/audit.ts';
import type { Note } from '../platform/database/database.ts';
import type { FieldProblem } from '../platform/errors.ts';

/** Makes the note that writes an entry of the command into the audit log. */
export type NoteOf = (entry: AuditEntry) => Note;

/** One change that a file asks for, with the line that reports it. Without `act` nothing changes. */
export interface ApplyStep {
  line: string;
  act?: (noteOf: NoteOf) => Promise<unknown>;
}

/** The changes that a section of a file asks for. None is made if any problem is found. */
export interface ApplyPlan {
  wrong: string[];
  steps: ApplyStep[];
  /** Entries that the file does not name: removed with `--prune`. */
  others: ApplyStep[];
}

export const nothingToApply: ApplyPlan = { wrong: [], steps: [], others: [] };

/** Describes what is wrong with an entry of a file. */
export function sayWrong(where: string, problems: readonly FieldProblem[]): string[] {
  return problems.map(({ field, message }) => `${where}: ${field === 'request' ? '' : `${field} `}${message}`);
}

/** Whether a list has one thing twice; names each such thing once. */
export function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
