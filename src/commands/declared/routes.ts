import { isDeepStrictEqual } from 'node:util';
import { type GivenRoute, mostRoutes, routeSchema, toRule } from '../../delivery/routing/schema.ts';
import type { RouteRule } from '../../delivery/routing/table.ts';
import { isObject } from '../../platform/is-object.ts';
import {
  type ActParts,
  appliedBy,
  differing,
  type Entry,
  nothingPlanned,
  type SectionPlan,
  shownFields,
} from './change.ts';
import { readEntries } from './entry.ts';
import type { Planning } from './planning.ts';

/** Routes of a file replace the whole list: their order matters, so none can be left alone. */
export async function planRoutes(list: unknown[] | undefined, planning: Planning): Promise<SectionPlan> {
  if (list === undefined) return nothingPlanned;
  const { problems, services, carriers } = planning;
  if (list.length > mostRoutes) {
    problems.add('routes', `must have at most ${mostRoutes} entries`);
    return nothingPlanned;
  }
  const before = await services.routes.read();
  // An application that the store's routes name may be gone. An export names it still.
  const named = new Set(before.routes.flatMap(({ match }) => match.applications ?? []));
  const resolved = list.map((entry, index) => withIds(entry, `routes.${index}`, named, planning));
  const read = readEntries<GivenRoute>(resolved, 'routes', routeSchema, problems);
  if (read.length < list.length) return nothingPlanned;
  const routes = read.map(({ value }) => value);
  const after = routes.map(toRule);
  const entries = describe(before.routes, after, planning);
  const first = entries.find(({ action }) => action !== 'same');
  // Compare before checking: unchanged routes may name a carrier that is gone.
  if (first === undefined) return { entries, unnamed: [] };
  const wrong = await services.routes.check(routes);
  const unfit = wrong.filter(({ field }) => !carriers.has(valueAt({ routes }, field)));
  if (problems.addAll('', unfit)) return nothingPlanned;
  first.act = ({ noteOf }: ActParts) => {
    const version = before.version + 1;
    const details = { version, routes: routes.map(({ name }) => name) };
    const note = noteOf({ act: 'routes.replaced', id: String(version), details });
    return services.routes.replace(before.version, routes, appliedBy, note);
  };
  return { entries, unnamed: [] };
}

/** The entry with the ids of the applications that it names. */
function withIds(
  entry: unknown,
  path: string,
  named: ReadonlySet<string>,
  { applications, problems }: Planning,
): unknown {
  if (!isObject(entry) || !isObject(entry.match) || !Array.isArray(entry.match.applications)) return entry;
  const ids = entry.match.applications.map((written, index) =>
    typeof written === 'string' && !named.has(written)
      ? applications.resolve(written, `${path}.match.applications.${index}`, problems)
      : written,
  );
  return { ...entry, match: { ...entry.match, applications: ids } };
}

function describe(before: readonly RouteRule[], after: readonly RouteRule[], { applications }: Planning): Entry[] {
  const shown = (rule: RouteRule) => ({
    ...rule,
    match: { ...rule.match, applications: (rule.match.applications ?? []).map(applications.labelOf) },
  });
  const known = new Map(before.map((rule) => [rule.name, rule]));
  const kept = after.filter(({ name }) => known.has(name)).map(({ name }) => name);
  const order = before.filter(({ name }) => kept.includes(name)).map(({ name }) => name);
  const gone = before.filter(({ name }) => !kept.includes(name));
  return [
    ...after.map((rule): Entry => {
      const { name } = rule;
      const was = known.get(name);
      if (was === undefined) {
        const { carriers, from } = rule;
        const fields = shownFields({ carriers: carriers.map(({ carrier }) => carrier), from });
        return { action: 'create', kind: 'route', name, fields };
      }
      const fields = differing(was, rule).length === 0 ? [] : differing(shown(was), shown(rule));
      return { action: fields.length === 0 ? 'same' : 'change', kind: 'route', name, fields };
    }),
    ...gone.map(({ name }): Entry => ({ action: 'delete', kind: 'route', name, fields: [] })),
    ...(isDeepStrictEqual(kept, order)
      ? []
      : [
          {
            ...{ action: 'change', kind: 'routes', name: 'order' },
            fields: [{ field: 'order', before: order, after: kept }],
          } satisfies Entry,
        ]),
  ];
}

/** The value at a path like `routes.0.failover.1`. */
function valueAt(value: unknown, path: string): string {
  const found = path
    .split('.')
    .reduce<unknown>((each, key) => (each as Record<string, unknown> | undefined)?.[key], value);
  return typeof found === 'string' ? found : '';
}
