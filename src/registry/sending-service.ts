import type { CountryTemplate } from '../http/sending-rights.ts';
import type { Clock } from '../platform/clock.ts';
import type { PlanName } from '../platform/config.ts';
import type { Database } from '../platform/database.ts';
import { notFound } from '../platform/errors.ts';
import { isId } from '../platform/ids.ts';
import type { ChangeFeed } from './change-feed.ts';
import { allApplications } from './directory.ts';
import { lockAnyApplication } from './registry-store.ts';
import { largestOf, planSegments } from './sending-rights.ts';
import * as store from './sending-store.ts';

export interface SendingServiceOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  environment: 'sandbox' | 'production';
}

export type SendingService = ReturnType<typeof createSendingService>;

/** Templates and segments a day, for operators. After a call returns, no node acts on the old state. */
export function createSendingService({ database, clock, feed, environment }: SendingServiceOptions) {
  async function requireApplication(id: string) {
    const found = isId('app', id) ? await store.findSendingApplication(database, id) : undefined;
    if (found === undefined) throw notFound();
    const { plans, changedPlans, ...application } = found;
    const ofPlan = environment === 'sandbox' ? null : largestOf(plans, changedPlans);
    return { ...application, limit: environment === 'sandbox' ? null : (application.segmentsPerDay ?? ofPlan) };
  }

  async function readPlan(plan: PlanName): Promise<{ plan: PlanName; segmentsPerDay: number | null }> {
    const changed = (await store.readChangedPlans(database))[plan];
    return { plan, segmentsPerDay: changed === undefined ? planSegments[plan] : changed };
  }

  return {
    requireApplication,

    async setSegmentsPerDay(id: string, segments: number | null) {
      await requireApplication(id);
      await feed.change(id, async (tx) => {
        if (!(await store.setSegmentsPerDay(tx, id, segments))) throw notFound();
      });
      return requireApplication(id);
    },

    readPlan,

    async setPlan(plan: PlanName, segments: number | null) {
      await feed.change(allApplications, (tx) => store.putPlan(tx, plan, segments));
      return readPlan(plan);
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

    async putTemplate(applicationId: string, country: string, given: CountryTemplate): Promise<store.StoredTemplate> {
      await requireApplication(applicationId);
      const template = { ...given, country, updatedAtMs: clock.nowMs() };
      await feed.change(applicationId, async (tx) => {
        if (!(await lockAnyApplication(tx, applicationId))) throw notFound();
        await store.putTemplate(tx, applicationId, template);
      });
      return template;
    },

    async removeTemplate(applicationId: string, country: string): Promise<void> {
      await requireApplication(applicationId);
      await feed.change(applicationId, async (tx) => {
        if (!(await store.deleteTemplate(tx, applicationId, country))) throw notFound();
      });
    },
  };
}
