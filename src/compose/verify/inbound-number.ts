import { findTrustedSenders } from '../../delivery/carrier/store.ts';
import { listNumbers } from '../../inbound/own-number-store.ts';
import type { Database } from '../../platform/database/database.ts';
import { sandboxNumber } from '../../verify/inbound/request-text.ts';

const searchedNumbers = 100;

/** Finds the number that people text for an application: one of its own, of a carrier whose senders can be trusted. */
export function createInboundNumbers(database: Database, environment: 'sandbox' | 'production') {
  return async (applicationId: string): Promise<string | undefined> => {
    if (environment === 'sandbox') return sandboxNumber;
    const trusted = await findTrustedSenders(database);
    if (trusted.length === 0) return undefined;
    const numbers = await listNumbers(database, { applicationId }, { limit: searchedNumbers, after: undefined });
    return numbers.find(({ carrier }) => carrier === null || trusted.includes(carrier))?.number;
  };
}
