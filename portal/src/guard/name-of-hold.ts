import type { OwnGuardHold } from '../api/record-types.ts';
import { words } from '../words/guard.tsx';

/** A hold's name: the prefix, country or client that its starts share. */
export function nameOfHold({ group, prefix, country }: Pick<OwnGuardHold, 'group' | 'prefix' | 'country'>): string {
  if (group === 'prefix') return words.groups.prefix(prefix ?? '');
  return group === 'country' ? words.groups.country(country ?? '') : words.groups[group];
}
