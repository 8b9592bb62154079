import type { GuardSettings } from '../platform/config.ts';
import { type BlockReason, mostFailuresADay } from './verification.ts';

/** What the guard looks at: facts about the number, and counts from the verification rows themselves. */
export interface Sighting {
  recipient: string;
  country: string | undefined;
  numberType: string | undefined;
  /** Verifications started for this number in the last 24 hours, and for its neighbours in the last hour. */
  startsForNumber: number;
  startsForPrefix: number;
  failuresToday: number;
}

export interface Finding {
  rule: BlockReason;
  limit: string | number | string[] | null;
  seen: string | number | boolean | null;
  blocks: boolean;
}

export interface Guard {
  /** Every rule with what it allows and what it saw, in the order in which they are asked. */
  judge(sighting: Sighting): Finding[];
}

/** Numbers that cost the caller, or where no person reads texts. */
const refusedTypes = ['PREMIUM_RATE', 'SHARED_COST', 'TOLL_FREE', 'PAGER', 'UAN', 'VOICEMAIL'];

/**
 * Against texts that are ordered to be paid for, not to be read. In the sandbox the counts are out of reach, so that they
 * cannot hit a developer who tries things out; the lists hold everywhere.
 */
export function createGuard(settings: GuardSettings, environment: 'sandbox' | 'production'): Guard {
  const production = environment === 'production';
  const perNumber = settings.per_number ?? (production ? 10 : 10_000);
  const perPrefix = settings.per_prefix ?? (production ? 50 : 100_000);
  const types = settings.number_types ?? null;
  const countries = settings.countries?.map((country) => country.toUpperCase()) ?? null;
  const blocked = settings.blocked ?? [];

  return {
    judge(sighting) {
      const { recipient, country, numberType, startsForNumber, startsForPrefix, failuresToday } = sighting;
      const onList = blocked.some((start) => recipient.startsWith(start));
      const wrongType =
        types === null
          ? production && numberType !== undefined && refusedTypes.includes(numberType)
          : numberType === undefined || !types.includes(numberType);
      return [
        {
          rule: 'country_not_allowed',
          limit: countries,
          seen: country ?? null,
          blocks: countries !== null && (country === undefined || !countries.includes(country)),
        },
        { rule: 'block_list', limit: null, seen: onList, blocks: onList },
        { rule: 'number_type', limit: types, seen: numberType ?? null, blocks: wrongType },
        { rule: 'destination_limit', limit: perNumber, seen: startsForNumber, blocks: startsForNumber >= perNumber },
        { rule: 'prefix_velocity', limit: perPrefix, seen: startsForPrefix, blocks: startsForPrefix >= perPrefix },
        {
          rule: 'too_many_failures',
          limit: mostFailuresADay,
          seen: failuresToday,
          blocks: failuresToday >= mostFailuresADay,
        },
      ];
    },
  };
}

export function reasonOf(findings: Finding[]): BlockReason | null {
  return findings.find(({ blocks }) => blocks)?.rule ?? null;
}
