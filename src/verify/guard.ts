import type { GuardSettings } from '../settings/settings.ts';
import { type HeldNumber, sampleOf } from './held-number.ts';
import type { CountLimits } from './start/counts.ts';
import { type BlockReason, mostFailuresADay } from './verification.ts';

/** Facts about the number and counts from the database, by which the guard decides. */
export interface GuardFacts {
  to: string;
  /** Functions, because parsing a number costs more than all rules together: only rules that need it call them. */
  country(): string | undefined;
  numberType(): string | undefined;
  /** Verifications started for this number in the last 24 hours, and for its prefix in the last hour. */
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
  /** Set if a hold covers the number. */
  held(): HeldNumber | undefined;
  /**
   * Whether the application recently approved the number, so that a hold lets it pass. Only known while its group is
   * held back.
   */
  wasApproved: boolean;
}

export interface Finding {
  rule: BlockReason;
  limit: string | number | string[] | null;
  seen: string | number | boolean | null;
}

interface Rule extends Pick<Finding, 'rule' | 'limit'> {
  /** False when the settings allow everything. */
  active: boolean;
  read(facts: GuardFacts): Finding['seen'];
  blocks(seen: Finding['seen']): boolean;
}

/** A rule as operators see it. */
export interface RuleInForce extends Pick<Finding, 'rule' | 'limit'> {
  /** False if the settings allow everything. */
  active: boolean;
}

export interface Guard {
  /** Every rule, in the order in which they decide. */
  readonly inForce: RuleInForce[];
  /** True if counts decide a start; they must then be exact even for simultaneous starts. */
  readonly countsStarts: boolean;
  /** True if a rule counts starts by prefix: only then are they stored. */
  readonly countsPrefixes: boolean;
  /** Counting stops here, because the decision is then known. */
  readonly countLimits: CountLimits;
  /** Like `countLimits`, for an explanation, which counts a little further to show a useful number. */
  readonly explainLimits: CountLimits;
  /** The first rule that blocks, in order. */
  refusal(facts: GuardFacts): BlockReason | null;
  /** Every rule with its limit and its count. */
  findings(facts: GuardFacts): Finding[];
}

/** The metadata does not know the number's range; new mobile ranges are among these. */
const unknownType = 'UNKNOWN';
/** Types that production texts by default: no landlines, no premium-rate numbers. */
const textedTypes = ['MOBILE', 'FIXED_LINE_OR_MOBILE', unknownType];
/** An explanation counts at least to this, even if the limit is lower or absent. */
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
      read: ({ country }) => country() ?? null,
      blocks: (seen) => countries?.includes(String(seen)) === false,
    },
    {
      rule: 'block_list',
      limit: null,
      active: blocked.length > 0,
      read: ({ to }) => blocked.some((start) => to.startsWith(start)),
      blocks: (seen) => seen === true,
    },
    {
      rule: 'number_type',
      limit: types,
      active: types !== null,
      read: ({ numberType }) => numberType() ?? unknownType,
      blocks: (seen) => types?.includes(String(seen)) === false,
    },
    { rule: 'destination_limit', ...upTo(perNumber), read: ({ startsForNumber }) => startsForNumber },
    { rule: 'prefix_velocity', ...upTo(perPrefix), read: ({ startsForPrefix }) => startsForPrefix },
    { rule: 'too_many_failures', ...upTo(mostFailuresADay), read: ({ failuresToday }) => failuresToday },
  ];

  /**
   * The sample is also limited per prefix: blocked starts are free, so an attacker can try numbers until enough are in the
   * sample.
   */
  const passesPerPrefix = perPrefix === null ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(perPrefix / sampleOf));
  const isHeldBack = ({ held, wasApproved, startsForPrefix }: GuardFacts) => {
    const found = production && !wasApproved ? held() : undefined;
    return found !== undefined && !(found.isSample && startsForPrefix < passesPerPrefix);
  };

  return {
    inForce: [
      { rule: 'spend_limit', limit: null, active: production },
      ...rules.map(({ rule, limit, active }) => ({ rule, limit: rule === 'block_list' ? blocked : limit, active })),
      { rule: 'suspected_pumping', limit: null, active: production },
    ],
    countsStarts: perNumber !== null || perPrefix !== null,
    countsPrefixes: perPrefix !== null,
    countLimits: { perNumber: perNumber ?? 0, perPrefix: perPrefix ?? 0 },
    explainLimits: { perNumber: explainLimit(perNumber), perPrefix: explainLimit(perPrefix) },
    refusal(facts) {
      const found = rules.find(({ active, read, blocks }) => active && blocks(read(facts)));
      return found?.rule ?? (isHeldBack(facts) ? 'suspected_pumping' : null);
    },
    findings: (facts) => [
      ...rules.map(({ rule, limit, read }) => ({ rule, limit, seen: read(facts) })),
      ...(production ? [pumpingOf(facts.held())] : []),
    ],
  };
}

/** The minimum share of numbers that entered their code, and the actual one. */
function pumpingOf(held: HeldNumber | undefined): Finding {
  const rule = 'suspected_pumping';
  if (held === undefined) return { rule, limit: null, seen: null };
  const { leastShare, approved, numbers } = held.hold;
  return { rule, limit: Number(leastShare.toFixed(3)), seen: Number((approved / numbers).toFixed(3)) };
}

function explainLimit(limit: number | null): number {
  return Math.max(leastExplained, (limit ?? 0) + 1);
}

function upTo(limit: number | null): Pick<Rule, 'limit' | 'active' | 'blocks'> {
  return { limit, active: limit !== null, blocks: (seen) => limit !== null && Number(seen) >= limit };
}
