import type { GuardSettings } from '../platform/config.ts';
import { type BlockReason, mostFailuresADay } from './verification.ts';

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
  /** How many neighbours of a number have to be counted, to know whether there are too many. */
  readonly neighboursCounted: number;
  /** The first rule that is broken, in the order in which they are asked. */
  refusal(sighting: Sighting): BlockReason | null;
  /** Every rule with what it allows and what it saw. */
  findings(sighting: Sighting): Finding[];
}

/** Numbers that cost the caller, or where no person reads texts. */
const refusedTypes = ['PREMIUM_RATE', 'SHARED_COST', 'TOLL_FREE', 'PAGER', 'UAN', 'VOICEMAIL'];

/**
 * Against texts that are ordered to be paid for, not to be read. In the sandbox nothing is counted unless
 * it is set, so that counts cannot hit a developer who tries things out; the lists hold everywhere.
 */
export function createGuard(settings: GuardSettings, environment: 'sandbox' | 'production'): Guard {
  const production = environment === 'production';
  const perNumber = settings.per_number ?? (production ? 10 : null);
  const perPrefix = settings.per_prefix ?? (production ? 50 : null);
  const types = settings.number_types ?? null;
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
      active: types !== null || production,
      look: ({ numberType }) => numberType() ?? null,
      blocks: (seen) =>
        types === null ? production && refusedTypes.includes(String(seen)) : !types.includes(String(seen)),
    },
    { rule: 'destination_limit', ...upTo(perNumber), look: ({ startsForNumber }) => startsForNumber },
    { rule: 'prefix_velocity', ...upTo(perPrefix), look: ({ startsForPrefix }) => startsForPrefix },
    { rule: 'too_many_failures', ...upTo(mostFailuresADay), look: ({ failuresToday }) => failuresToday },
  ];

  return {
    neighboursCounted: perPrefix ?? 0,
    refusal: (sighting) => rules.find(({ active, look, blocks }) => active && blocks(look(sighting)))?.rule ?? null,
    findings: (sighting) => rules.map(({ rule, limit, look }) => ({ rule, limit, seen: look(sighting) })),
  };
}

function upTo(limit: number | null): Pick<Rule, 'limit' | 'active' | 'blocks'> {
  return { limit, active: limit !== null, blocks: (seen) => limit !== null && Number(seen) >= limit };
}
