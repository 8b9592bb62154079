import { ApiError, notFound } from '../platform/errors.ts';
import type { Route } from './route.ts';

export interface RouteTable {
  /**
   * The route of a request, where its target is written plainly. One that has to be decoded first is left to the router,
   * which has the last word on all of them.
   */
  find(method: string, target: string): Route | undefined;
  /** Why no route fits: 405 when the path is one of ours, 404 when it is not. */
  refuse(path: string): ApiError;
  /** How refusals are written at this path, also of a method that it does not answer to. */
  errorsAt(path: string): Route['errors'];
}

/** A step in the tree of paths: a name, or whatever stands in place of a parameter. */
interface Step {
  named: Map<string, Step>;
  parameter: Step | undefined;
  route: Route | undefined;
}

const plain = /^[A-Za-z0-9/_.~-]*$/;
const longestParameter = 256;

export function createRouteTable(routes: Route[]): RouteTable {
  const entries = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const entry = entries.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    entries.set(path, entry);
  }

  const trees = new Map<string, Step>();
  for (const route of routes) {
    for (const method of route.method === 'GET' ? ['GET', 'HEAD'] : [route.method]) {
      const tree = trees.get(method) ?? newStep();
      trees.set(method, tree);
      grow(tree, route);
    }
  }

  function methodsAt(path: string): string {
    const methods = new Set<string>();
    for (const entry of entries.values()) {
      if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method);
    }
    return [...methods].sort().join(', ');
  }

  return {
    find(method, target) {
      const query = target.indexOf('?');
      const path = query === -1 ? target : target.slice(0, query);
      const tree = trees.get(method);
      return tree === undefined || !plain.test(path) ? undefined : walk(tree, path);
    },
    refuse(path) {
      const allowed = methodsAt(decoded(path));
      if (allowed === '') return notFound();
      return new ApiError('METHOD_NOT_ALLOWED', `This address answers to ${allowed}.`, { headers: { Allow: allowed } });
    },
    errorsAt: (path) =>
      routes.find((route) => route.errors !== undefined && entries.get(route.path)?.pattern.test(path))?.errors,
  };
}

/** The path of a request target, as the router reads it: also of the absolute form (RFC 9112, section 3.2.2). */
export function pathOf(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const query = path.indexOf('?');
  const fragment = path.indexOf('#');
  if (query === -1 && fragment === -1) return path;
  return path.slice(0, Math.min(query === -1 ? path.length : query, fragment === -1 ? path.length : fragment));
}

function patternOf(path: string): RegExp {
  const source = path
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/]+');
  return new RegExp(`^${source}$`);
}

function decoded(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

function newStep(): Step {
  return { named: new Map(), parameter: undefined, route: undefined };
}

function grow(tree: Step, route: Route): void {
  let step = tree;
  for (const part of route.path.slice(1).split('/')) {
    let next = part.startsWith('{') ? step.parameter : step.named.get(part);
    if (next === undefined) {
      next = newStep();
      if (part.startsWith('{')) step.parameter = next;
      else step.named.set(part, next);
    }
    step = next;
  }
  step.route = route;
}

/** A name goes before a parameter, and nothing is tried twice: what needs that is left to the router. */
function walk(tree: Step, path: string): Route | undefined {
  let step: Step | undefined = tree;
  for (let start = 1; step !== undefined && start <= path.length; ) {
    const slash = path.indexOf('/', start);
    const end = slash === -1 ? path.length : slash;
    const part = path.slice(start, end);
    const named: Step | undefined = step.named.get(part);
    if (named !== undefined) step = named;
    else step = part === '' || part.length > longestParameter ? undefined : step.parameter;
    start = end + 1;
    if (slash === -1) return step?.route;
  }
  return undefined;
}
