import type { Foundation } from './foundation.ts';

/** How far the pools of the requests are used. A pool that is full makes requests wait, and then answer 503. */
export function composePoolMetrics({ metrics, database, sideDatabase }: Foundation): void {
  const pools = Object.entries({ apis: database, side: sideDatabase });
  metrics.gauges('heliograph_database_connections', 'Connections to Postgres', ['pool', 'state'], () =>
    pools.flatMap(([pool, { connections }]) => {
      const { busy, idle } = connections();
      return [
        { labels: [pool, 'busy'], value: busy },
        { labels: [pool, 'idle'], value: idle },
      ];
    }),
  );
  metrics.gauges('heliograph_database_waiting', 'Statements that wait for a connection to Postgres', ['pool'], () =>
    pools.map(([pool, { connections }]) => ({ labels: [pool], value: connections().waiting })),
  );
}
