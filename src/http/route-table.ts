import { ApiError, notFound } from '../platform/errors.ts';
import type { Route } from './route.ts';

export interface RouteTable {
  /** Why no route fits: 405 when the path is one of ours, 404 when it is not. */
  refuse(path: string): ApiError;
}

/** Only asked when no route fits. */
export function createRouteTable(routes: Route[]): RouteTable {
  const entries = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const entry = entries.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    entries.set(path, entry);
  }

  function methodsAt(path: string): string {
    const methods = new Set<string>();
    for (const entry of entries.values()) {
      if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method);
    }
    return [...methods].sort().join(', ');
  }

  return {
    refuse(path) {
      const allowed = methodsAt(decoded(path));
      if (allowed === '') return notFound();
      return new ApiError('METHOD_NOT_ALLOWED', `This address answers to ${allowed}.`, { headers: { Allow: allowed } });
    },
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
