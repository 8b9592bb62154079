// Every answer that a test gets by `send` is one that the OpenAPI document describes: its status, its error code and its
// Location. So whatever a test gets out of a route is documented, also for routes that are added later.
import assert from 'node:assert/strict';
import type { MountedRoute } from '../../src/http/exchange.ts';
import { promises, refusalsOf } from '../../src/http/openapi/refusals.ts';
import type { Route } from '../../src/http/route.ts';
import { createRouteTable, type RouteTable } from '../../src/http/route-table.ts';

/** Any path can answer these, whatever its route says; a test of faults gets the 500. */
const everywhere = new Set([405, 408, 431, 500]);

const appsByUrl = new Map<string, { routes: Route[]; table: RouteTable | undefined }>();

export function rememberRoutes(url: string, routes: Route[]): void {
  appsByUrl.set(url, { routes, table: undefined });
}

/** Its routes hold the whole app. */
export function forgetRoutes(url: string): void {
  appsByUrl.delete(url);
}

interface Got {
  status: number;
  headers: Headers;
  body: unknown;
}

export function assertPromised(url: string, method: string, target: string, { status, headers, body }: Got): void {
  const app = appsByUrl.get(url);
  if (app === undefined || method === 'HEAD' || everywhere.has(status)) return;
  // It reads methods and paths only.
  app.table ??= createRouteTable(app.routes as MountedRoute[]);
  const route = app.table.find(method, target.split(/[?#]/, 1)[0] ?? '')?.route;
  if (route === undefined) return;
  const { code } = (body ?? {}) as { code?: string };
  const what = `${method} ${route.path} answered ${status} ${code ?? ''}`;
  assert.ok(promises(route, status), `${what}: add the code to "refuses", or the status to "answers", of the route`);
  const answer = route.answers[status];
  if (answer === undefined) {
    const codes = refusalsOf(route).get(status) ?? [];
    // Other formats have no code of the contract in them.
    if (route.errors === undefined && status !== 429)
      assert.ok(
        codes.some((each) => each.code === code),
        `${what}: add the code to "refuses" of the route`,
      );
    return;
  }
  const promised = answer.headers?.includes('Location') === true;
  assert.equal(headers.has('location'), promised, `${what}: its answer's "headers" say whether it has a Location`);
}
