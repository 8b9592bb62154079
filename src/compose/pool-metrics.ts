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
  const { primary } = database;
  if (primary === undefined) return;
  metrics.gauge(
    'heliograph_database_trusted',
    '1 while this process knows the host that takes writes, 0 while requests wait for it',
    () => (primary.current() === undefined ? 0 : 1),
  );
  metrics.gauge(
    'heliograph_database_synchronous_standby',
    '1 while commits wait for a synchronous standby, 0 while a failover may lose the last answers',
    () => (primary.state().isSynchronous === true ? 1 : 0),
  );
  metrics.counter(
    'heliograph_database_switches_total',
    'Times that this process found another primary, the first included',
    () => primary.epoch,
  );
}
