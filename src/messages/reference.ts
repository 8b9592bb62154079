import { unstorable } from '../http/request/text-bounds.ts';

/** For the reference: every text without a NUL. */
export const storablePattern = '^[^\\x00]*$';

/**
 * Why a text can't be a reference (completes a sentence that begins with "reference"), or undefined. Refuses text that
 * Postgres could not return unchanged.
 */
export function referenceProblem(reference: string): string | undefined {
  const found = unstorable(reference);
  return found === undefined ? undefined : `must not contain ${found}`;
}
