import { validationError } from '../../http/request/validation.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Note, Tx } from '../../platform/database/database.ts';
import type { Environment } from '../../platform/environment.ts';
import { ApiError, type FieldProblem } from '../../platform/errors.ts';
import { sandboxCarrier } from '../carrier/carrier.ts';
import { notifyCarriers, readCarriers } from '../carrier/store.ts';
import { type GivenRoute, toRule } from './schema.ts';
import type { RouteRule } from './table.ts';
import { insertTable, lockRoutes, readNewestTable } from './table-store.ts';

/** The table as operators see it. */
export interface ShownTable {
  version: number;
  routes: RouteRule[];
  /** Null while there is no table. */
  updatedAtMs: number | null;
}

export interface RouteService {
  read(): Promise<ShownTable>;
  /** Replaces this version with a whole table; a 409 if another change came first. */
  replace(version: number, routes: readonly GivenRoute[], by: string, note?: Note): Promise<ShownTable>;
  /** Problems that the schema cannot find: carriers that do not exist, names given twice. */
  check(routes: readonly GivenRoute[]): Promise<FieldProblem[]>;
}

export interface RouteServiceOptions {
  database: Database;
  clock: Clock;
  environment: Environment;
  /** Called after a change, before its answer: this node reads the table at once. */
  onChanged?: () => Promise<void>;
}

export function createRouteService(options: RouteServiceOptions): RouteService {
  const { database, clock, environment, onChanged = async () => {} } = options;

  const read = async (tx: Tx): Promise<ShownTable> => {
    const found = await readNewestTable(tx);
    if (found === undefined) return { version: 0, routes: [], updatedAtMs: null };
    return { version: found.version, routes: found.routes, updatedAtMs: found.createdAtMs };
  };

  async function check(tx: Tx, routes: readonly GivenRoute[]): Promise<FieldProblem[]> {
    const known = new Set((await readCarriers(tx)).map(({ name }) => name));
    if (environment === 'sandbox') known.add(sandboxCarrier);
    return [...nameProblems(routes), ...routes.flatMap((route, index) => carrierProblems(route, index, known))];
  }

  return {
    read: () => read(database),
    check: (routes) => check(database, routes),

    async replace(version, routes, by, note) {
      const replaced = await database.transaction(async (tx) => {
        await lockRoutes(tx);
        const before = await read(tx);
        if (before.version !== version) throw changedMeanwhile(version, before.version);
        const problems = await check(tx, routes);
        if (problems.length > 0) throw validationError(problems);
        const nowMs = clock.nowMs();
        const table = { version: version + 1, routes: routes.map(toRule) };
        await insertTable(tx, { ...table, createdBy: by }, nowMs);
        await note?.(tx, table);
        await notifyCarriers(tx);
        return { ...table, updatedAtMs: nowMs };
      });
      await onChanged();
      return replaced;
    },
  };
}

function changedMeanwhile(given: number, newest: number): ApiError {
  return new ApiError(
    'INCOMPATIBLE_STATE',
    `The routes now have version ${newest}, but this change is based on version ${given}. Read them again.`,
  );
}

/** Explanations and timelines name routes, so each name must be unique. */
function nameProblems(routes: readonly GivenRoute[]): FieldProblem[] {
  const seen = new Set<string>();
  return routes.flatMap(({ name }, index) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [{ field: `routes.${index}.name`, message: 'must differ from the names of the other routes' }];
  });
}

function carrierProblems(
  { carriers, failover }: GivenRoute,
  index: number,
  known: ReadonlySet<string>,
): FieldProblem[] {
  const named = [
    ...carriers.map(({ carrier }, index) => ({ field: `carriers.${index}.carrier`, name: carrier })),
    ...failover.map((name, index) => ({ field: `failover.${index}`, name })),
  ];
  return named
    .filter(({ name }) => !known.has(name))
    .map(({ field }) => ({
      field: `routes.${index}.${field}`,
      message: 'must be the name of an existing carrier',
    }));
}
