// Tests: test/contract/operator-carriers.test.ts
import { type Static, Type } from 'typebox';
import { countAccounts } from '../../accounts/people/member-store.ts';
import type { KnownCarrier } from '../../delivery/routing/directory.ts';
import { nullable, recordId } from '../../http/list-page.ts';
import { type Route, route } from '../../http/route.ts';
import { type Clock, toTimestamp } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import type { PrimaryState } from '../../platform/database/primary/primary.ts';
import type { HostState } from '../../platform/database/primary/watched-host.ts';
import { readDatabaseState } from '../../platform/database/state.ts';
import { bindSchema, carrierSchema, toBind } from './carrier-record.ts';

export interface HealthOptions {
  database: Database;
  clock: Clock;
  version: string;
  environment: string;
  /** The same checks as `/readyz`. */
  checks: { name: string; passes(): Promise<boolean> }[];
  liveNodes: () => Promise<{ id: string; seenAtMs: number }[]>;
  countRegistry: (most: number) => Promise<{ applications: number; pendingRegistrations: number }>;
  carriers: () => readonly KnownCarrier[];
  /** True if Redis currently keeps the windows; undefined without Redis. */
  hasRedis: () => boolean | undefined;
  queue: () => Promise<{ waiting: number; onTheWire: number; oldestDueAtMs: number | null }>;
}

const hostSchema = Type.Object({
  name: Type.String({ examples: ['db1:5432'] }),
  state: Type.Unsafe<HostState['is']>({
    type: 'string',
    enum: ['primary', 'standby', 'old_primary', 'away'],
    description: 'old_primary: it takes writes on an older timeline, and is not used',
  }),
  timeline: nullable(Type.Integer({ examples: [3] })),
});

const healthSchema = Type.Object(
  {
    version: Type.String(),
    environment: Type.String(),
    started_at: Type.String({ description: 'Start time of the node that answers' }),
    checks: Type.Array(
      Type.Object({ name: Type.String({ examples: ['database'] }), ok: Type.Boolean({ examples: [true] }) }),
    ),
    postgres: Type.Object({
      version: Type.String({ examples: ['16.4'] }),
      connections: Type.Integer({ description: 'Connections of all nodes and other programs to this database' }),
      most_connections: Type.Integer({ description: 'Maximum connections that Postgres accepts', examples: [100] }),
      answer_ms: Type.Number({ description: 'Time that Postgres took to answer', examples: [1.2] }),
      synchronous_standby: nullable(
        Type.Boolean({
          description: 'Whether commits wait for a standby, so that a failover loses nothing; null with a single host',
        }),
      ),
      hosts: Type.Array(hostSchema, { description: 'The hosts of DATABASE_URL; none if it names a single one' }),
    }),
    redis: Type.Unsafe<'ok' | 'away' | 'none'>({
      type: 'string',
      enum: ['ok', 'away', 'none'],
      description: 'away: each node applies its share of the limits; none: the service runs without Redis',
    }),
    nodes: Type.Array(Type.Object({ id: recordId('nod'), seen_at: Type.String() })),
    queue: Type.Object({
      waiting: Type.Integer({ description: 'Texts that are due; 10,000 means 10,000 or more' }),
      on_the_wire: Type.Integer({ description: 'Texts that the carrier has not answered yet' }),
      oldest_due_seconds: nullable(Type.Integer()),
    }),
    carriers: Type.Array(
      Type.Object({
        name: carrierSchema.properties.name,
        kind: carrierSchema.properties.kind,
        paused: Type.Boolean(),
        state: carrierSchema.properties.state,
        binds: Type.Array(bindSchema),
      }),
      { description: 'As last seen by the node that answers' },
    ),
    pending_registrations: Type.Integer(),
    accounts: Type.Integer({ description: '100,000 means 100,000 or more, here and for applications' }),
    applications: Type.Integer(),
  },
  { title: 'Health' },
);
export type HealthRecord = Static<typeof healthSchema>;

const mostCounted = 100_000;

/** The state of the whole system, for operators. */
export function createHealthRoutes(options: HealthOptions): Route[] {
  const { database, clock, version, environment, checks, liveNodes, countRegistry, queue, carriers, hasRedis } =
    options;
  const startedAtMs = clock.nowMs();
  return [
    route({
      method: 'GET',
      path: '/portal/v1/operator/health',
      auth: { kind: 'operator' },
      tag: 'Developer portal: operators',
      operationId: 'getHealth',
      summary: 'Read the health of the system',
      answers: { 200: { description: 'The state of each part', schema: healthSchema } },
      handler: async () => {
        const outcomes = checks.map(async ({ name, passes }) => ({ name, ok: await passes().catch(() => false) }));
        // In sequence, so that a request uses one connection at a time.
        const postgres = await readDatabaseState(database, clock);
        const nodes = await liveNodes();
        const { waiting, onTheWire, oldestDueAtMs } = await queue();
        const accounts = await countAccounts(database, mostCounted);
        const { applications, pendingRegistrations } = await countRegistry(mostCounted);
        const body = {
          version,
          environment,
          started_at: toTimestamp(startedAtMs),
          checks: await Promise.all(outcomes),
          postgres: {
            version: postgres.version,
            connections: postgres.connections,
            most_connections: postgres.mostConnections,
            answer_ms: postgres.answerMs,
            ...ofHosts(database.primary?.state()),
          },
          redis: redisState(hasRedis()),
          nodes: nodes.map(({ id, seenAtMs }) => ({ id, seen_at: toTimestamp(seenAtMs) })),
          queue: {
            waiting,
            on_the_wire: onTheWire,
            oldest_due_seconds:
              oldestDueAtMs === null ? null : Math.max(0, Math.floor((clock.nowMs() - oldestDueAtMs) / 1000)),
          },
          carriers: carriers().map(({ name, kind, paused, state, binds }) => ({
            name,
            kind,
            paused,
            state,
            binds: binds.map(toBind),
          })),
          pending_registrations: pendingRegistrations,
          accounts,
          applications,
        };
        return { status: 200, body };
      },
    }),
  ];
}

function ofHosts(state: PrimaryState | undefined) {
  const hosts = state?.hosts ?? [];
  return {
    synchronous_standby: state === undefined ? null : state.isSynchronous === true,
    hosts: hosts.map(({ name, is, timeline }) => ({ name, state: is, timeline })),
  };
}

function redisState(hasRedis: boolean | undefined): 'ok' | 'away' | 'none' {
  if (hasRedis === undefined) return 'none';
  return hasRedis ? 'ok' : 'away';
}
