import { ApiError, notFound } from '../platform/errors.ts';
import type { MountedRoute } from './exchange.ts';
import type { Route } from './route.ts';

/** A route and its path parameters. */
export interface Match {
  route: MountedRoute;
  params: Record<string, string>;
}

export interface RouteTable {
  find(method: string, path: string): Match | undefined;
  /** Why no route matches: 405 if the path exists, 404 if not, 400 if it cannot be decoded. */
  refuse(path: string): ApiError;
  /** The error format at this path, also for a method that it does not support. */
  errorsAt(path: string): Route['errors'];
}

/** A node in the path tree: a fixed name or a parameter. */
interface Step {
  named: Map<string, Step>;
  parameter: Step | undefined;
  route: MountedRoute | undefined;
  parameterNames: string[];
}

/** Longer than any id; a longer parameter matches nothing. */
export const longestParameter = 256;

export function createRouteTable(routes: MountedRoute[]): RouteTable {
  const trees = new Map<string, Step>();
  // Most paths have no parameter: one map lookup finds them.
  const exact = new Map<string, Map<string, Match>>();
  for (const route of routes) {
    for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
      const tree = trees.get(method) ?? newStep();
      trees.set(method, tree);
      grow(tree, route);
      const paths = exact.get(method) ?? new Map<string, Match>();
      exact.set(method, paths);
      if (!route.path.includes('{')) paths.set(route.path, { route, params: {} });
      if (route.slash) paths.set(`${route.path}/`, { route, params: {} });
    }
  }

  const errorsBelow = errorsByRoot(routes);
  const methods = [...trees.keys()].sort((a, b) => (a < b ? -1 : 1));

  function find(method: string, path: string): Match | undefined {
    const match = exact.get(method)?.get(path);
    if (match !== undefined) return match;
    const tree = trees.get(method);
    if (tree === undefined || !path.startsWith('/')) return undefined;
    const values: string[] = [];
    const step = walk(tree, path, 1, values);
    if (step?.route === undefined) return undefined;
    const params: Record<string, string> = {};
    for (let i = 0; i < values.length; i++) params[step.parameterNames[i] ?? ''] = values[i] ?? '';
    return { route: step.route, params };
  }

  function methodsAt(path: string): string {
    return methods.filter((method) => find(method, path) !== undefined).join(', ');
  }

  return {
    find,
    refuse(path) {
      if (path.startsWith('/') && decoded(path) === undefined) {
        return new ApiError('INVALID_ARGUMENT', 'The path is not valid: check its percent-encoding.');
      }
      const allowed = methodsAt(path);
      if (allowed === '') return notFound();
      return new ApiError('METHOD_NOT_ALLOWED', `This path supports only ${allowed}.`, { headers: { Allow: allowed } });
    },
    errorsAt(path) {
      for (const method of methods) {
        const errors = find(method, path)?.route.errors;
        if (errors !== undefined) return errors;
      }
      return errorsBelow.get(rootOf(path));
    },
  };
}

/** The formats of first path parts whose routes all have the same: unknown paths below them have it too. */
function errorsByRoot(routes: Route[]): Map<string, Route['errors']> {
  const found = new Map<string, Route['errors']>();
  for (const { path, errors } of routes) {
    const root = rootOf(path);
    found.set(root, found.has(root) && found.get(root) !== errors ? undefined : errors);
  }
  return found;
}

function rootOf(path: string): string {
  return path.split('/', 2)[1] ?? '';
}

/** Percent-decodes a path part; undefined when it is malformed. */
function decoded(part: string): string | undefined {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function newStep(): Step {
  return { named: new Map(), parameter: undefined, route: undefined, parameterNames: [] };
}

function grow(tree: Step, route: MountedRoute): void {
  let step = tree;
  const parameterNames: string[] = [];
  for (const part of route.path.slice(1).split('/')) {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    let next = name === undefined ? step.named.get(part) : step.parameter;
    if (next === undefined) {
      next = newStep();
      if (name === undefined) step.named.set(part, next);
      else step.parameter = next;
    }
    if (name !== undefined) parameterNames.push(name);
    step = next;
  }
  step.route = route;
  step.parameterNames = parameterNames;
}

/** Prefers a fixed name to a parameter. Collects parameter values in `values`. */
function walk(step: Step, path: string, start: number, values: string[]): Step | undefined {
  if (start > path.length) return step;
  const slash = path.indexOf('/', start);
  const end = slash === -1 ? path.length : slash;
  const part = decoded(path.slice(start, end));
  if (part === undefined) return undefined;
  const named = step.named.get(part);
  const found = named === undefined ? undefined : walk(named, path, end + 1, values);
  if (found?.route !== undefined || step.parameter === undefined) return found;
  // Skip NUL: no id has one, and Postgres rejects it.
  if (part === '' || part.length > longestParameter || part.includes('\0')) return undefined;
  values.push(part);
  const behind = walk(step.parameter, path, end + 1, values);
  if (behind?.route === undefined) values.pop();
  return behind;
}
