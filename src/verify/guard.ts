import type { GuardSettings } from '../platform/config.ts';
import { type BlockReason, mostFailuresADay } from './verification.ts';
import type { CountedTo } from './verification-store.ts';

/** What the guard looks at: facts about the number, and counts from the verification rows themselves. */
export interface Sighting {
  recipient: string;
  /** Functions, because to read a number costs more than all other rules together: only a rule that needs it asks. */
  country(): string | undefined;
  numberType(): string | undefined;
  /** Verifications started for this number in the last 24 hours, and for its neighbours in the last hour. */
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
  /** False when its settings let everything pass. */
  active: boolean;
  look(sighting: Sighting): Finding['seen'];
  blocks(seen: Finding['seen']): boolean;
}

export interface Guard {
  /** Whether a start is decided by counts, which must then be exact among starts that arrive together. */
  readonly countsStarts: boolean;
  /** How far starts have to be counted to know whether there are too many. */
  readonly countedTo: CountedTo;
  /** The same for a person to look at: a little further, so that what is seen says something. */
  readonly explainedTo: CountedTo;
  /** The first rule that is broken, in the order in which they are asked. */
  refusal(sighting: Sighting): BlockReason | null;
  /** Every rule with what it allows and what it saw. */
  findings(sighting: Sighting): Finding[];
}

/** A number that its country has not given out, as far as the metadata knows: new mobile ranges are among them. */
const unknownType = 'UNKNOWN';
/** Who may get a text in production unless it is set: not landlines, nor numbers that cost whoever texts them. */
const textedTypes = ['MOBILE', 'FIXED_LINE_OR_MOBILE', unknownType];
/** Counts that `explain` shows end here where the limit is lower, or none. */
const leastExplained = 100;

/**
 * Against texts that are ordered to be paid for, not to be read. In the sandbox nothing is counted unless
 * it is set, so that counts cannot hit a developer who tries things out; the lists hold everywhere.
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
      look: ({ recipient }) => blocked.some((start) => recipient.startsWith(start)),
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
    countedTo: { perNumber: perNumber ?? 0, perPrefix: perPrefix ?? 0 },
    explainedTo: { perNumber: explained(perNumber), perPrefix: explained(perPrefix) },
    refusal: (sighting) => rules.find(({ active, look, blocks }) => active && blocks(look(sighting)))?.rule ?? null,
    findings: (sighting) => rules.map(({ rule, limit, look }) => ({ rule, limit, seen: look(sighting) })),
  };
}

function explained(limit: number | null): number {
  return Math.max(leastExplained, (limit ?? 0) + 1);
}

function upTo(limit: number | null): Pick<Rule, 'limit' | 'active' | 'blocks'> {
  return { limit, active: limit !== null, blocks: (seen) => limit !== null && Number(seen) >= limit };
}
