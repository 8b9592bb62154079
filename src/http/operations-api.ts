// Tests: test/contract/operations.test.ts
import { gzipSync } from 'node:zlib';
import { Type } from 'typebox';
import { jsonType } from './error-reply.ts';
import { createOpenApi, type OpenApiOptions, routesOf } from './openapi/document.ts';
import { type Part, parts } from './openapi/tags.ts';
import { type Reply, type Route, route } from './route.ts';

/** A dependency of this node. */
export interface Check {
  name: string;
  /** Rejects or resolves to false when the dependency is unavailable. */
  passes(): Promise<boolean>;
  /** The node works without it, but worse: /readyz reports it as away, and the node stays ready. */
  optional?: boolean;
}

/** The processes that answer requests: how many there should be, and how many there are. */
export interface ProcessCount {
  wanted: number;
  serving: number;
}

export interface OperationsOptions extends OpenApiOptions {
  checks: Check[];
  /** Only shown. A carrier that is down does not make the node unready: other nodes have the same carriers. */
  carriers: () => readonly { name: string; state: string; paused: boolean }[];
  metrics: { contentType: string; read(): Promise<string> };
  /** Set on a node of several processes. */
  processes?: (() => ProcessCount) | undefined;
  /** The routes to document; this file's routes are added. */
  documented: Route[];
}

export function createOperationsRoutes(options: OperationsOptions): Route[] {
  const { checks, carriers, metrics, processes, documented } = options;
  const all: Route[] = [...documented];
  const document = (routes: () => Route[]) => remember(() => documentReply(createOpenApi(routes(), options)));
  const whole = document(() => all);
  const readiness = forAWhile(() => readyReply(checks, carriers(), processes?.()));
  const shared = { method: 'GET', auth: { kind: 'none' }, tag: 'Operations' } as const;
  const routes: Route[] = [
    route({
      ...shared,
      path: '/healthz',
      operationId: 'checkAlive',
      summary: 'Check that the process is alive',
      answers: { 200: { description: 'The process is alive', schema: aliveSchema } },
      handler: () => ({ status: 200, body: { status: 'ok' } }),
    }),
    route({
      ...shared,
      path: '/readyz',
      operationId: 'checkReady',
      summary: 'Check that this node is ready',
      answers: {
        200: { description: 'The node is ready', schema: readinessSchema },
        503: {
          description: 'A dependency of the node is unavailable',
          schema: readinessSchema,
          headers: ['Retry-After'],
          example: { status: 'not_ready', checks: { database: 'away' }, carriers: {} },
        },
      },
      handler: () => readiness(),
    }),
    route({
      ...shared,
      path: '/metrics',
      auth: { kind: 'metrics' },
      operationId: 'getMetrics',
      summary: 'Metrics for Prometheus',
      answers: {
        200: {
          description: 'The text exposition format',
          type: 'text/plain',
          example: '# TYPE heliograph_up gauge\nheliograph_up 1\n',
        },
      },
      refuses: { NOT_FOUND: 'There is no token, and the caller is not on this machine' },
      handler: async () => ({
        status: 200,
        content: { type: metrics.contentType, data: await metrics.read() },
      }),
    }),
    route({
      ...shared,
      path: '/openapi.json',
      operationId: 'getOpenApi',
      summary: 'This reference as OpenAPI 3.1',
      description: `All of it. ${Object.keys(parts).map(partPath).join(', ')} have a part each.`,
      answers: { 200: { description: 'The document', type: 'application/json', schema: documentSchema } },
      handler: () => whole(),
    }),
    ...Object.entries(parts).map(([part, what]) => {
      const reply = document(() => routesOf(all, part as Part));
      return route({
        ...shared,
        path: partPath(part),
        operationId: `getOpenApiOf${part.slice(0, 1).toUpperCase()}${part.slice(1)}`,
        summary: `A part of this reference: ${what.slice(0, 1).toLowerCase()}${what.slice(1)}`,
        answers: { 200: { description: 'The document', type: 'application/json', schema: documentSchema } },
        handler: () => reply(),
      });
    }),
  ];

  all.push(...routes);
  return routes;
}

const aliveSchema = Type.Object({ status: Type.Literal('ok') }, { title: 'Alive' });

const readinessSchema = Type.Object(
  {
    status: Type.Union([Type.Literal('ready'), Type.Literal('not_ready')]),
    checks: Type.Record(Type.String(), Type.String()),
    carriers: Type.Record(Type.String(), Type.String()),
    processes: Type.Optional(Type.Object({ wanted: Type.Integer(), serving: Type.Integer() }, { title: 'Processes' })),
  },
  {
    title: 'Readiness',
    examples: [{ status: 'ready', checks: { database: 'ok', windows: 'ok' }, carriers: { acme: 'up' } }],
  },
);

const documentSchema = Type.Unsafe<object>({
  title: 'OpenApiDocument',
  type: 'object',
  properties: { openapi: { type: 'string' }, info: { type: 'object' }, paths: { type: 'object' } },
  required: ['openapi', 'info', 'paths'],
  examples: [{ openapi: '3.1.0', info: { title: 'Heliograph', version: '0.2.0' }, paths: {} }],
});

function partPath(part: string): string {
  return `/openapi/${part}.json`;
}

function documentReply(document: object): Reply {
  const data = JSON.stringify(document);
  return { status: 200, content: { type: jsonType, data, gzip: gzipSync(data) } };
}

const sharedForMs = 500;

async function readyReply(
  checks: Check[],
  carriers: ReturnType<OperationsOptions['carriers']>,
  processes: ProcessCount | undefined,
): Promise<Reply> {
  const passed = await Promise.all(checks.map((check) => check.passes().catch(() => false)));
  const body = {
    status: checks.every(({ optional }, index) => passed[index] || optional) ? 'ready' : 'not_ready',
    checks: Object.fromEntries(checks.map(({ name }, index) => [name, passed[index] ? 'ok' : 'away'])),
    carriers: Object.fromEntries(carriers.map(({ name, state, paused }) => [name, paused ? 'paused' : state])),
    ...(processes && { processes }),
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
