import { isDeepStrictEqual } from 'node:util';
import { type GivenRoute, routesSchema, toRule } from '../delivery/routing/schema.ts';
import type { RouteService } from '../delivery/routing/service.ts';
import type { RouteRule } from '../delivery/routing/table.ts';
import { problemsOf } from '../http/request/validation.ts';
import { type ApplyPlan, type NoteOf, nothingToApply, sayWrong } from './apply-step.ts';

/** Routes of a file replace the whole list: their order matters, so none can be left alone. */
export async function planRoutes(
  written: unknown[] | undefined,
  { service, carriers }: { service: RouteService /** Carriers of the same file. */; carriers: ReadonlySet<string> },
): Promise<ApplyPlan> {
  if (written === undefined) return nothingToApply;
  // Checking fills in defaults.
  const given = structuredClone(written);
  const unfit = problemsOf(routesSchema, given);
  if (unfit.length > 0) return { ...nothingToApply, wrong: sayWrong('routes', unfit) };
  const routes = given as GivenRoute[];
  const problems = (await service.check(routes)).filter(({ field }) => !carriers.has(valueAt({ routes }, field)));
  if (problems.length > 0) return { ...nothingToApply, wrong: sayWrong('routes', problems) };
  const before = await service.read();
  const after = routes.map(toRule);
  const lines = describe(before.routes, after);
  if (isDeepStrictEqual(before.routes, after)) return { ...nothingToApply, steps: lines.map((line) => ({ line })) };
  const [first = `routes: none`, ...more] = lines;
  const replace = (noteOf: NoteOf) => {
    const details = { version: before.version + 1, routes: routes.map(({ name }) => name) };
    const note = noteOf({ act: 'routes.replaced', id: String(before.version + 1), details });
    return service.replace(before.version, routes, 'command line', note);
  };
  return { ...nothingToApply, steps: [{ line: first, act: replace }, ...more.map((line) => ({ line }))] };
}

function describe(before: readonly RouteRule[], after: readonly RouteRule[]): string[] {
  const known = new Map(before.map((rule) => [rule.name, rule]));
  const kept = after.filter(({ name }) => known.has(name)).map(({ name }) => name);
  const gone = before.filter(({ name }) => !after.some((rule) => rule.name === name));
  const order = before.filter(({ name }) => kept.includes(name)).map(({ name }) => name);
  return [
    ...after.map((rule) => `route ${rule.name}: ${changesOf(known.get(rule.name), rule)}`),
    ...gone.map(({ name }) => `route ${name}: deleted`),
    ...(isDeepStrictEqual(kept, order) ? [] : [`routes: order changed to ${kept.join(', ')}`]),
  ];
}

function changesOf(before: RouteRule | undefined, after: RouteRule): string {
  if (before === undefined) return 'new';
  const fields = (Object.keys(after) as (keyof RouteRule)[]).filter(
    (field) => !isDeepStrictEqual(before[field], after[field]),
  );
  if (fields.length === 0) return 'unchanged';
  return fields
    .map((field) => `${field}: ${JSON.stringify(before[field])} → ${JSON.stringify(after[field])}`)
    .join(', ');
}

/** The value at a path like `routes.0.failover.1`. */
function valueAt(value: unknown, path: string): string {
  const found = path
    .split('.')
    .reduce<unknown>((each, key) => (each as Record<string, unknown> | undefined)?.[key], value);
  return typeof found === 'string' ? found : '';
}

/** A route as `export` writes it: without what is the default. */
export function exportRoute({ name, match, carriers, failover, failover_bulk, from, hours }: RouteRule): object {
  return {
    name,
    match: Object.fromEntries(Object.entries(match).filter(([, list]) => list.length > 0)),
    carriers,
    ...(failover.length > 0 && { failover }),
    ...(failover_bulk !== false && { failover_bulk }),
    ...(from !== null && { from }),
    ...(hours !== null && { hours }),
  };
}
