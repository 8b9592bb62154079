import { Type } from 'typebox';
import type { Metrics } from '../platform/metrics.ts';
import { createDocsPage } from './docs-page.ts';
import { createOpenApi } from './openapi.ts';
import { type Reply, type Route, route } from './route.ts';

/** A dependency of this node. */
export interface Check {
  name: string;
  /** Rejects or resolves to false when the dependency is unavailable. */
  passes(): Promise<boolean>;
  /** The node works without it, but worse: /readyz reports it as away, and the node stays ready. */
  optional?: boolean;
}

export interface OperationsOptions {
  checks: Check[];
  /** Shown, and never a reason to be not ready: another node would have the same carriers. */
  carriers: () => readonly { name: string; state: string; paused: boolean }[];
  metrics: Metrics;
  publicUrl: string;
  version: string;
  /** The routes to document; this file's routes are added. */
  documented: Route[];
}

export function createOperationsRoutes(options: OperationsOptions): Route[] {
  const { checks, carriers, metrics, publicUrl, version, documented } = options;
  const readiness = forAWhile(() => readyReply(checks, carriers()));
  const routes: Route[] = [
    route({
      method: 'GET',
      path: '/healthz',
      auth: { kind: 'none' },
      tag: 'Operations',
      summary: 'Check that the process is alive',
      answers: { 200: { description: 'The process is alive', schema: Type.Object({ status: Type.Literal('ok') }) } },
      handler: () => ({ status: 200, body: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      auth: { kind: 'none' },
      tag: 'Operations',
      summary: 'Check that this node is ready',
      answers: {
        200: { description: 'The node is ready', schema: readinessSchema },
        503: { description: 'A dependency of the node is unavailable', schema: readinessSchema },
      },
      handler: () => readiness(),
    }),
    route({
      method: 'GET',
      path: '/metrics',
      auth: { kind: 'metrics' },
      tag: 'Operations',
      summary: 'Metrics for Prometheus',
      answers: { 200: { description: 'The text exposition format', type: 'text/plain' } },
      handler: async () => ({
        status: 200,
        content: { type: metrics.registry.contentType, data: await metrics.text() },
      }),
    }),
    route({
      method: 'GET',
      path: '/openapi.json',
      auth: { kind: 'none' },
      tag: 'Operations',
      summary: 'This reference as OpenAPI 3.1',
      answers: { 200: { description: 'The document', type: 'application/json' } },
      handler: () => ({ status: 200, content: { type: 'application/json', data: openApiText() } }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      auth: { kind: 'none' },
      tag: 'Operations',
      summary: 'This reference as a page',
      answers: { 200: { description: 'The page', type: 'text/html' } },
      handler: () => docsPage(),
    }),
  ];

  const all = [...documented, ...routes];
  const openApiText = remember(() => JSON.stringify(createOpenApi(all, { publicUrl, version })));
  const docsPage = remember(() => createDocsPage(all, { publicUrl, version }));
  return routes;
}

const readinessSchema = Type.Object({
  status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready')]),
  checks: Type.Record(Type.String(), Type.String()),
  carriers: Type.Record(Type.String(), Type.String()),
});

const sharedForMs = 500;

async function readyReply(checks: Check[], carriers: ReturnType<OperationsOptions['carriers']>): Promise<Reply> {
  const passed = await Promise.all(checks.map((check) => check.passes().catch(() => false)));
  const body = {
    status: checks.every(({ optional }, index) => passed[index] || optional) ? 'ready' : 'not_ready',
    checks: Object.fromEntries(checks.map(({ name }, index) => [name, passed[index] ? 'ok' : 'away'])),
    carriers: Object.fromEntries(carriers.map(({ name, state, paused }) => [name, paused ? 'paused' : state])),
  };
  return body.status === 'ready' ? { status: 200, body } : { status: 503, body, retryAfterSeconds: 1 };
}

/** Shares one answer for half a second, so that a flood of checks does not load the database. */
function forAWhile(ask: () => Promise<Reply>): () => Promise<Reply> {
  let answer: Promise<Reply> | undefined;
  return () => {
    if (answer === undefined) {
      answer = ask();
      setTimeout(() => {
        answer = undefined;
      }, sharedForMs).unref();
    }
    return answer;
  };
}

function remember<Value>(make: () => Value): () => Value {
  let value: Value | undefined;
  return () => {
    value ??= make();
    return value;
  };
}
