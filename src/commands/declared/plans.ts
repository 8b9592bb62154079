import { type Static, Type } from 'typebox';
import { registeredPlan } from '../../portal/developer/registration-api.ts';
import { burst, perMinute, planChanged } from '../../portal/operator/plan-api.ts';
import { segments } from '../../portal/operator/spend-api.ts';
import type { Changed } from '../../registry/plan-service.ts';
import type { PlanName } from '../../settings/settings.ts';
import { appliedBy, changedEntry, differing, type Entry, nothingPlanned, type SectionPlan } from './change.ts';
import { readEntries } from './entry.ts';
import { nameRepeated, type Planning } from './planning.ts';

const planSchema = Type.Object({
  plan: registeredPlan,
  per_minute: Type.Optional(perMinute),
  burst: Type.Optional(burst),
  segments_per_day: Type.Optional(segments),
});
type WrittenPlan = Static<typeof planSchema>;

/** Numbers of plans; those that a file does not name stay. A plan cannot be removed. */
export async function planPlans(list: unknown[] | undefined, planning: Planning): Promise<SectionPlan> {
  if (list === undefined) return nothingPlanned;
  const { problems, services } = planning;
  const read = readEntries<WrittenPlan>(list, 'plans', planSchema, problems).map(({ path, value }) => ({
    path,
    name: value.plan.toLowerCase() as PlanName,
    value,
  }));
  nameRepeated(read, problems);
  const now = new Map((await services.plans.list()).map((plan) => [plan.plan, plan]));
  const entries = read.flatMap(({ name, value }): Entry[] => {
    const before = now.get(name);
    if (before === undefined) return [];
    const given = { perMinute: value.per_minute, burst: value.burst, segmentsPerDay: value.segments_per_day };
    const shown = ({ perMinute, burst, segmentsPerDay }: typeof given | typeof before) => ({
      ...{ per_minute: perMinute, burst, segments_per_day: segmentsPerDay },
    });
    const fields = differing(shown(before), shown(given));
    const after = {
      perMinute: given.perMinute ?? before.perMinute,
      burst: given.burst ?? before.burst,
      segmentsPerDay: given.segmentsPerDay === undefined ? before.segmentsPerDay : given.segmentsPerDay,
    };
    return [
      changedEntry({ kind: 'plan', name, fields }, ({ noteOf }) =>
        services.plans.replace(name, before.version, after, appliedBy, (tx, changed: Changed) =>
          noteOf(planChanged(changed))(tx, undefined),
        ),
      ),
    ];
  });
  return { entries, unnamed: [] };
}
