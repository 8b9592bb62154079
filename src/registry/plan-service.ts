import type { Clock } from '../platform/clock.ts';
import type { Database, Note, Tx } from '../platform/database/database.ts';
import { ApiError } from '../platform/errors.ts';
import type { PlanName, Plans } from '../settings/settings.ts';
import { planNames } from './application.ts';
import type { ChangeFeed } from './change-feed.ts';
import { allApplications } from './directory.ts';
import * as store from './plan-store.ts';
import { planSegments } from './sending-rights.ts';

/** A plan as it is now. Version 0 has the numbers of the settings. */
export interface CurrentPlan extends store.PlanNumbers {
  plan: PlanName;
  version: number;
}

/** Numbers that are undefined stay as they are. */
export type PlanChange = { [Field in keyof store.PlanNumbers]?: store.PlanNumbers[Field] | undefined };

export interface PlanServiceOptions {
  database: Database;
  clock: Clock;
  feed: Pick<ChangeFeed, 'change'>;
  /** The plans of the settings, which apply until an operator changes them. */
  plans: Plans;
}

export type PlanService = ReturnType<typeof createPlanService>;

/** A list shows this many versions. */
const mostListed = 100;
const mostTries = 5;

/** Plans, which operators change version by version. After a change returns, no node acts on the old numbers. */
export function createPlanService({ database, clock, feed, plans }: PlanServiceOptions) {
  async function read(tx: Tx, plan: PlanName): Promise<CurrentPlan> {
    return current(plan, (await store.readChangedPlans(tx))[plan]);
  }

  function current(plan: PlanName, changed: store.ChangedPlans[PlanName]): CurrentPlan {
    if (changed !== undefined) return { plan, ...changed };
    return { plan, version: 0, ...plans[plan], segmentsPerDay: planSegments[plan] };
  }

  /** Undefined when another operator was first. */
  function write(before: CurrentPlan, change: PlanChange, by: string, note: Note<Changed> | undefined) {
    return feed.change(allApplications, async (tx) => {
      const after = merged(before, change);
      if ((await read(tx, before.plan)).version !== before.version) return undefined;
      const row = { ...after, createdAtMs: clock.nowMs(), createdBy: by };
      if (!(await store.insertVersion(tx, before.plan, row))) return undefined;
      await note?.(tx, { before, after });
      return after;
    });
  }

  return {
    read: (plan: PlanName) => read(database, plan),

    async list(): Promise<CurrentPlan[]> {
      const changed = await store.readChangedPlans(database);
      return planNames.map((plan) => current(plan, changed[plan]));
    },

    listVersions: (plan: PlanName) => store.listVersions(database, plan, mostListed),

    /** Writes the next version in place of the one that the operator saw. */
    async replace(plan: PlanName, version: number, given: store.PlanNumbers, by: string, note?: Note<Changed>) {
      const before = await read(database, plan);
      const written = before.version === version ? await write(before, given, by, note) : undefined;
      if (written === undefined) throw changedMeanwhile(plan, version);
      return written;
    },

    /** Changes single numbers, whatever the version. */
    async change(plan: PlanName, given: PlanChange, by: string, note?: Note<Changed>): Promise<CurrentPlan> {
      for (let tries = 0; tries < mostTries; tries++) {
        const written = await write(await read(database, plan), given, by, note);
        if (written !== undefined) return written;
      }
      throw changedMeanwhile(plan, undefined);
    },
  };
}

export interface Changed {
  before: CurrentPlan;
  after: CurrentPlan;
}

function merged(before: CurrentPlan, change: PlanChange): CurrentPlan {
  const { perMinute = before.perMinute, burst = before.burst, segmentsPerDay = before.segmentsPerDay } = change;
  return { plan: before.plan, version: before.version + 1, perMinute, burst, segmentsPerDay };
}

function changedMeanwhile(plan: PlanName, version: number | undefined): ApiError {
  const seen = version === undefined ? '' : ` since version ${version}`;
  return new ApiError('INCOMPATIBLE_STATE', `The plan ${plan} has been changed${seen}. Read it again, then try again.`);
}
