import type { RouteRule, RouteTable } from '../../api/operator-types.ts';
import { words as allWords } from '../../words/operator/routes.ts';

const words = allWords.effect;
const mostFailover = 8;

/** A rule with its own key, because its name can change and may still be invalid. */
export interface DraftRule {
  key: string;
  rule: RouteRule;
}

/** The table that an operator edits, and the version it is based on. */
export interface RoutesDraft {
  version: number;
  rules: DraftRule[];
}

export function toRoutesDraft({ version, routes }: RouteTable): RoutesDraft {
  return { version, rules: routes.map((rule) => ({ key: crypto.randomUUID(), rule })) };
}

export function rulesOf({ rules }: RoutesDraft): RouteRule[] {
  return rules.map(({ rule }) => rule);
}

export function newRule(carriers: readonly string[]): RouteRule {
  return {
    name: '',
    match: {},
    carriers: carriers.slice(0, 1).map((carrier) => ({ carrier, weight: 1 })),
    failover: [],
    failover_bulk: false,
    from: null,
    hours: null,
  };
}

/** Replaces the rule of this key, or adds it at the end. */
export function withRule(draft: RoutesDraft, changed: DraftRule): RoutesDraft {
  const isNew = !draft.rules.some(({ key }) => key === changed.key);
  const rules = isNew
    ? [...draft.rules, changed]
    : draft.rules.map((each) => (each.key === changed.key ? changed : each));
  return { ...draft, rules };
}

/** Adds a last rule that sends as without rules: the first carrier by name, and the others when it fails. */
export function withRest(draft: RoutesDraft, carriers: readonly string[]): RoutesDraft {
  const [first, ...others] = [...carriers].sort();
  const taken = new Set(draft.rules.map(({ rule }) => rule.name));
  const name = taken.has(words.rest) ? `${words.rest}-${draft.rules.length + 1}` : words.rest;
  const rule = { ...newRule(first === undefined ? [] : [first]), name, failover: others.slice(0, mostFailover) };
  return { ...draft, rules: [...draft.rules, { key: crypto.randomUUID(), rule }] };
}

export function withoutRule(draft: RoutesDraft, key: string): RoutesDraft {
  return { ...draft, rules: draft.rules.filter((each) => each.key !== key) };
}

export function withMoved(draft: RoutesDraft, index: number, by: -1 | 1): RoutesDraft {
  const rules = [...draft.rules];
  const [moved] = rules.splice(index, 1);
  if (moved !== undefined) rules.splice(index + by, 0, moved);
  return { ...draft, rules };
}
