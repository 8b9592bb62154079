// Tests: src/quality/rules/outcomes.test.ts
import type { AlertKind, Condition } from '../alerts/alert.ts';

/** Why texts wait, the deepest cause first. */
const causes: readonly AlertKind[] = ['account_refused', 'bind_down', 'answers_slow', 'throttled', 'refused'];
const symptoms: readonly AlertKind[] = ['codes_waiting', 'bulk_waiting'];

/** A symptom names the cause that its carrier has, so that either alert explains the problem. */
export function nameCauses(conditions: readonly Condition[]): Condition[] {
  return conditions.map((condition) => {
    if (!symptoms.includes(condition.kind)) return condition;
    const found = conditions
      .filter(({ kind, carrier }) => causes.includes(kind) && carrier === condition.carrier)
      .toSorted((a, b) => causes.indexOf(a.kind) - causes.indexOf(b.kind))[0];
    if (found === undefined) return condition;
    return { ...condition, summary: `${condition.summary} ${found.summary}`, advice: found.advice };
  });
}
