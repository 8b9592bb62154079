import { guardRulesSchema, mergedRules, type WrittenRules } from '../../verify/guard-rules/schema.ts';
import { appliedBy, changedEntry, differing, nothingPlanned, type SectionPlan } from './change.ts';
import { readEntry } from './entry.ts';
import type { Planning } from './planning.ts';

/** Plans the guard's rules that a file names; null restores the rule of the settings. */
export async function planGuard(given: unknown, { problems, services }: Planning): Promise<SectionPlan> {
  if (given === undefined) return nothingPlanned;
  const { fit } = readEntry<WrittenRules>(given, 'guard', guardRulesSchema, problems);
  if (fit === undefined) return nothingPlanned;
  const { version, rules: before } = await services.guard.read();
  const after = mergedRules(before, fit);
  const named = Object.keys(fit).map((name) => [name, (after as Record<string, unknown>)[name] ?? null]);
  const was = Object.fromEntries(
    Object.keys(fit).map((name) => [name, (before as Record<string, unknown>)[name] ?? null]),
  );
  const fields = differing(was, Object.fromEntries(named));
  const entry = changedEntry({ kind: 'guard', name: 'rules', fields }, ({ noteOf }) => {
    const details = { from: before, to: after };
    const note = noteOf({ act: 'guard_rules.changed', id: String(version + 1), details });
    return services.guard.replace(version, after, appliedBy, (tx) => note(tx, undefined));
  });
  return { entries: [entry], unnamed: [] };
}
