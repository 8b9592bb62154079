// Tests: src/quality/route-effect.test.ts, test/contract/operator-routes.test.ts
import { matchingRule } from '../delivery/routing/matching.ts';
import type { RouteRule } from '../delivery/routing/table.ts';
import { dayMs } from '../platform/clock.ts';
import type { Tx } from '../platform/database/database.ts';
import { fromUuid } from '../platform/ids.ts';
import { dayOf, readTotals } from './total-store.ts';

/** What a table of routes would have done to texts to a country. */
export interface CountryEffect {
  /** Empty for numbers that belong to no country. */
  country: string;
  texts: number;
  /** No rule matches them. */
  refused: number;
  /** Texts that only a rule for some APIs or prefixes may match: totals record neither. */
  unsure: number;
}

/** Counted texts with the facts that totals have. */
export interface CountedTexts {
  country: string;
  sender: string;
  applicationId: string;
  texts: number;
}

/** Pure: counts by country, those with the most refused texts first. */
export function effectOf(rules: readonly RouteRule[], counted: readonly CountedTexts[]): CountryEffect[] {
  const isNarrow = ({ match }: RouteRule) => (match.apis?.length ?? 0) > 0 || (match.prefixes?.length ?? 0) > 0;
  const sure = rules.filter((rule) => !isNarrow(rule));
  const widened = rules.filter(isNarrow).map((rule) => ({ ...rule, match: { ...rule.match, apis: [], prefixes: [] } }));
  const byCountry = new Map<string, CountryEffect>();
  for (const { country, sender: from, applicationId, texts } of counted) {
    const facts = { to: '', country: country === '' ? undefined : country, from, api: 'sms', applicationId } as const;
    const isMatched = rules.length === 0 || matchingRule(sure, facts) !== undefined;
    const isUnsure = !isMatched && matchingRule(widened, facts) !== undefined;
    const effect = byCountry.get(country) ?? { country, texts: 0, refused: 0, unsure: 0 };
    byCountry.set(country, effect);
    effect.texts += texts;
    if (isUnsure) effect.unsure += texts;
    else if (!isMatched) effect.refused += texts;
  }
  return [...byCountry.values()].sort((a, b) => b.refused - a.refused || b.unsure - a.unsure || b.texts - a.texts);
}

const mostGroups = 5000;

/** What these rules would have done to the texts of today and yesterday. */
export async function readEffect(tx: Tx, rules: readonly RouteRule[], nowMs: number): Promise<CountryEffect[]> {
  const span = { from: dayOf(nowMs - dayMs), to: dayOf(nowMs) };
  const rows = await readTotals(tx, { ...span, by: ['country', 'sender', 'application'], limit: mostGroups });
  const counted = rows.map(({ country = '', sender = '', application = '', sent, failed, expired }) => {
    return { country, sender, applicationId: fromUuid('app', application), texts: sent + failed + expired };
  });
  return effectOf(rules, counted).filter(({ texts }) => texts > 0);
}
