import type { GuardSettings } from '../platform/config.ts';
import type { CountLimits } from './start-counts.ts';
import { type BlockReason, mostFailuresADay } from './verification.ts';

/** What the guard decides by: facts about the number, and counts from the database. */
export interface GuardFacts {
  to: string;
  /** Functions, because parsing a number costs more than all rules together; only rules that need it call them. */
  country(): string | undefined;
  numberType(): string | undefined;
  /** Verifications started for this number in the last 24 hours, and for its prefix in the last hour. */
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
}

export interface Finding {
  rule: BlockReason;
  limit: string | number | string[] | null;
  seen: string | number | boolean | null;
}

interface Rule extends Pick<Finding, 'rule' | 'limit'> {
  /** False when the settings allow everything. */
  active: boolean;
  look(facts: GuardFacts): Finding['seen'];
  blocks(seen: Finding['seen']): boolean;
}

export interface Guard {
  /** True if counts decide a start; they must then be exact even for simultaneous starts. */
  readonly countsStarts: boolean;
  /** True if the starts for a prefix count; only then are they written down. */
  readonly countsPrefixes: boolean;
  /** Counting stops here: the decision is known. */
  readonly countLimits: CountLimits;
  /** The same for `explain`, which counts a little further to show a useful number. */
  readonly explainLimits: CountLimits;
  /** The first rule that blocks, in order. */
  refusal(facts: GuardFacts): BlockReason | null;
  /** Every rule with its limit and what it saw. */
  findings(facts: GuardFacts): Finding[];
}

/** The metadata does not know the number's range; new mobile ranges are among these. */
const unknownType = 'UNKNOWN';
/** Types that production texts by default: no landlines, no premium-rate numbers. */
const textedTypes = ['MOBILE', 'FIXED_LINE_OR_MOBILE', unknownType];
/** `explain` counts up to this at least, even if the limit is lower or absent. */
const leastExplained = 100;

/**
 * Blocks SMS pumping: texts ordered for the fees they earn. The sandbox limits starts and number types only if
 * configured, so that developers can try things; country and block lists and the failure limit apply everywhere.
 */
export function createGuard(settings: GuardSettings, environment: 'sandbox' | 'production'): Guard {
  const production = environment === 'production';
  const perNumber = settings.per_number ?? (production ? 10 : null);
  const perPrefix = settings.per_prefix ?? (production ? 50 : null);
  const types = settings.number_types?.map((type) => type.toUpperCase()) ?? (production ? textedTypes : null);
  const countries = settings.countries?.map((country) => country.toUpperCase()) ?? null;
  const blocked = settings.blocked ?? [];

  const rules: Rule[] = [
    {
      rule: 'country_not_allowed',
      limit: countries,
      active: countries !== null,
      look: ({ country }) => country() ?? null,
      blocks: (seen) => countries?.includes(String(seen)) === false,
    },
    {
      rule: 'block_list',
      limit: null,
      active: blocked.length > 0,
      look: ({ to }) => blocked.some((start) => to.startsWith(start)),
      blocks: (seen) => seen === true,
    },
    {
      rule: 'number_type',
      limit: types,
      active: types !== null,
      look: ({ numberType }) => numberType() ?? unknownType,
      blocks: (seen) => types?.includes(String(seen)) === false,
    },
    { rule: 'destination_limit', ...upTo(perNumber), look: ({ startsForNumber }) => startsForNumber },
    { rule: 'prefix_velocity', ...upTo(perPrefix), look: ({ startsForPrefix }) => startsForPrefix },
    { rule: 'too_many_failures', ...upTo(mostFailuresADay), look: ({ failuresToday }) => failuresToday },
  ];

  return {
    countsStarts: perNumber !== null || perPrefix !== null,
    countsPrefixes: perPrefix !== null,
    countLimits: { perNumber: perNumber ?? 0, perPrefix: perPrefix ?? 0 },
    explainLimits: { perNumber: explainLimit(perNumber), perPrefix: explainLimit(perPrefix) },
    refusal: (facts) => rules.find(({ active, look, blocks }) => active && blocks(look(facts)))?.rule ?? null,
    findings: (facts) => rules.map(({ rule, limit, look }) => ({ rule, limit, seen: look(facts) })),
  };
}

function explainLimit(limit: number | null): number {
  return Math.max(leastExplained, (limit ?? 0) + 1);
}

function upTo(limit: number | null): Pick<Rule, 'limit' | 'active' | 'blocks'> {
  return { limit, active: limit !== null, blocks: (seen) => limit !== null && Number(seen) >= limit };
}
