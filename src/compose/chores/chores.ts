import type { Chore } from '../../platform/work/maintenance.ts';
import { eventChores } from './event-chores.ts';
import { inboundChores } from './inbound-chores.ts';
import { type ChoreOptions, createChoreKit } from './kit.ts';
import { peopleChores } from './people-chores.ts';
import { qualityChores } from './quality-chores.ts';
import { recordChores } from './record-chores.ts';
import { requestChores } from './request-chores.ts';
import { textChores } from './text-chores.ts';
import { verificationChores } from './verification-chores.ts';

/** Every maintenance chore and its interval. The SQL is in the store that owns the table. */
export function createChores(options: ChoreOptions): Chore[] {
  const kit = createChoreKit(options);
  return [
    textChores,
    inboundChores,
    verificationChores,
    recordChores,
    eventChores,
    requestChores,
    qualityChores,
    peopleChores,
  ].flatMap((choresOf) => choresOf(options, kit));
}
