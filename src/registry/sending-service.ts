import type { CountryTemplate } from '../http/sending-rights.ts';
import type { Clock } from '../platform/clock.ts';
import { type Database, type Note, noted, type Tx } from '../platform/database/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import type { ChangeFeed } from './change-feed.ts';
import { lockAnyApplication } from './registry-store.ts';
import { largestOf } from './sending-rights.ts';
import * as store from './sending-store.ts';

export interface SendingServiceOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  environment: 'sandbox' | 'production';
}

/** The daily limit before and after a change; null for none. */
export interface LimitChange {
  before: number | null;
  after: number | null;
}

/** Whether the change begins a limit: from then on the application's segments are counted. */
export function isLimitBegun({ before, after }: LimitChange): boolean {
  return before === null && after !== null;
}

export type SendingService = ReturnType<typeof createSendingService>;

/** Templates and the segments a day of applications, for operators. After a call returns, no node acts on the old state. */
export function createSendingService({ database, clock, feed, environment }: SendingServiceOptions) {
  async function requireApplication(id: string, tx: Tx = database) {
    const found = isId('app', id) ? await store.findSendingApplication(tx, id) : undefined;
    if (found === undefined) throw notFound();
    const { plans, changedPlans, ...application } = found;
    const ofPlan = environment === 'sandbox' ? null : largestOf(plans, changedPlans);
    return { ...application, limit: environment === 'sandbox' ? null : (application.segmentsPerDay ?? ofPlan) };
  }

  return {
    requireApplication: (id: string) => requireApplication(id),

    async setLimits(id: string, limits: store.ApplicationLimits, note?: Note<LimitChange>) {
      await requireApplication(id);
      const set = async (tx: Tx): Promise<LimitChange> => {
        if (!(await lockAnyApplication(tx, id))) throw notFound();
        const { limit: before } = await requireApplication(id, tx);
        await store.setLimits(tx, id, limits);
        return { before, after: (await requireApplication(id, tx)).limit };
      };
      const change = await feed.change(id, noted(set, note));
      return { ...(await requireApplication(id)), isLimitBegun: isLimitBegun(change) };
    },

    async listTemplates(applicationId: string): Promise<store.StoredTemplate[]> {
      await requireApplication(applicationId);
      return store.listTemplates(database, applicationId);
    },

    async requireTemplate(applicationId: string, country: string): Promise<store.StoredTemplate> {
      await requireApplication(applicationId);
      const found = (await store.listTemplates(database, applicationId)).find((each) => each.country === country);
      if (found === undefined) throw notFound();
      return found;
    },

    async putTemplate(
      applicationId: string,
      country: string,
      given: CountryTemplate,
      note?: Note,
    ): Promise<store.StoredTemplate> {
      await requireApplication(applicationId);
      const template = { ...given, country, updatedAtMs: clock.nowMs() };
      const put = async (tx: Tx) => {
        if (!(await lockAnyApplication(tx, applicationId))) throw notFound();
        await store.putTemplate(tx, applicationId, template);
      };
      await feed.change(applicationId, noted(put, note));
      return template;
    },

    async removeTemplate(applicationId: string, country: string, note?: Note): Promise<void> {
      await requireApplication(applicationId);
      const remove = async (tx: Tx) => {
        if (!(await store.deleteTemplate(tx, applicationId, country))) throw notFound();
      };
      await feed.change(applicationId, noted(remove, note));
    },
  };
}
