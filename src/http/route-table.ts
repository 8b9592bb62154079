import type { Route } from './route.ts';

export interface RouteTable {
  /** The methods some route answers at this path; none for an unknown path. */
  methodsAt(path: string): string[];
}

/** Only asked when no route fits, to tell a wrong method (405) from a wrong path (404). */
export function createRouteTable(routes: Route[]): RouteTable {
  const entries = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const entry = entries.get(path) ?? { pattern: patternOf(path), methods: new Set() };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    entries.set(path, entry);
  }
  return {
    methodsAt(path) {
      const methods = new Set<string>();
      for (const entry of entries.values()) {
        if (entry.pattern.test(path)) for (const method of entry.methods) methods.add(method);
      }
      return [...methods].sort();
    },
  };
}

function patternOf(path: string): RegExp {
  const source = path
    .split(/\{\w+\}/)
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/]+');
  return new RegExp(`^${source}$`);
}
