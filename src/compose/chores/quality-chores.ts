import { findOnSeveralCarriers } from '../../delivery/attempts/store.ts';
import { hourMs, minuteMs } from '../../platform/clock.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import { deleteClearedAlerts } from '../../quality/alerts/store.ts';
import { deleteOldSteps, foldSteps } from '../../quality/analytics/step-store.ts';
import { deleteOldVerificationSteps, foldVerifications } from '../../quality/analytics/verification-store.ts';
import { deleteOldBlockedStarts } from '../../quality/blocked-start-store.ts';
import { createCodeOutcomes } from '../../quality/code-outcomes.ts';
import {
  deleteClientSums,
  deleteOldNumbers,
  deleteOldSums,
  foldHours,
  forgetClientsOfNumbers,
} from '../../quality/conversion/store.ts';
import { createConversionWatch } from '../../quality/conversion/watch.ts';
import { deleteOldHolds, endDueHolds, forgetClients } from '../../quality/guard-hold-store.ts';
import { deleteOldMinutes } from '../../quality/minute-store.ts';
import { deleteOldOutcomes } from '../../quality/outcome-store.ts';
import { deleteOldDays, foldDays } from '../../quality/total-store.ts';
import { recordChange } from '../../registry/change-store.ts';
import { walkEndedCodes } from '../../verify/ended-code-store.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** Chores that count the outcomes of codes and texts: for the guard against pumping, totals and alerts. */
export function qualityChores({ config, database, clock, keys }: ChoreOptions, { every }: ChoreKit): Chore[] {
  const countCodes = createCodeOutcomes({
    ...{ database, clock, walkEnded: walkEndedCodes, findShared: findOnSeveralCarriers },
    conversions:
      config.environment === 'sandbox' ? undefined : createConversionWatch({ clock, keys, notifyNodes: recordChange }),
  });
  return [
    { name: 'code-outcomes', everyMs: minuteMs, runPiece: countCodes },
    every(minuteMs, 'ended-holds', endDueHolds),
    every(10 * minuteMs, 'clients-of-holds', forgetClients),
    every(10 * minuteMs, 'clients-of-numbers', forgetClientsOfNumbers),
    every(10 * minuteMs, 'client-sums', deleteClientSums),
    every(hourMs, 'old-holds', deleteOldHolds),
    every(hourMs, 'old-blocked-starts', deleteOldBlockedStarts),
    every(10 * minuteMs, 'old-conversion-numbers', deleteOldNumbers),
    every(10 * minuteMs, 'conversions-by-day', foldHours),
    every(hourMs, 'old-conversions', deleteOldSums),
    every(10 * minuteMs, 'totals-by-day', foldDays),
    every(10 * minuteMs, 'totals-by-hour', foldSteps),
    every(hourMs, 'old-steps', deleteOldSteps),
    every(10 * minuteMs, 'verifications-by-hour', foldVerifications),
    every(hourMs, 'old-verification-steps', deleteOldVerificationSteps),
    every(hourMs, 'old-totals', deleteOldDays),
    every(hourMs, 'old-alerts', deleteClearedAlerts),
    every(10 * minuteMs, 'old-carrier-outcomes', deleteOldOutcomes),
    every(10 * minuteMs, 'old-carrier-minutes', deleteOldMinutes),
  ];
}
