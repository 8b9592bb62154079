import { unstorable } from '../http/text-bounds.ts';

/**
 * Why a text can't be a record's reference, as the rest of a sentence that begins with "reference", or undefined. What no
 * database could give back as it was would come back as another reference, or not be found by its own.
 */
export function referenceProblem(reference: string): string | undefined {
  const found = unstorable(reference);
  return found === undefined ? undefined : `must not contain ${found}`;
}
