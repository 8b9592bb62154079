import { type ClientKind, clientKindOf } from '../../messages/client-scope.ts';
import { containsGroup } from '../../messages/numbers/number-prefix.ts';

/** The common property of a group of starts. */
export type ScopeKind = ClientKind | 'prefix' | 'wide_prefix' | 'country';

/** In the order in which groups are judged: the smallest first, and clients before numbers. */
export const scopeKinds: readonly ScopeKind[] = ['device', 'program', 'address', 'prefix', 'wide_prefix', 'country'];

export interface JudgedGroup {
  scope: string;
  /** The country of its numbers; for a client, of one of its numbers. Empty for ranges that belong to no country. */
  country: string;
}

export function scopeKindOf(scope: string): ScopeKind {
  if (scope.startsWith('+')) return scope.endsWith('******') ? 'wide_prefix' : 'prefix';
  return clientKindOf(scope) ?? 'country';
}

export function isClient(scope: string): boolean {
  return clientKindOf(scope) !== undefined;
}

/** Whether the scope is larger than the group and has all its numbers. */
export function contains(scope: string, group: JudgedGroup): boolean {
  if (isClient(scope) || isClient(group.scope)) return false;
  if (scopeKindOf(scope) === 'country') return group.scope !== scope && group.country === scope;
  return containsGroup(scope, group.scope);
}
