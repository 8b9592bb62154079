/** How many connections to Postgres a process may open, for each pool. */
export interface PoolSizes {
  /** For requests of the APIs; statements that are planned once have up to four more. */
  apis: number;
  /** For portal, lists, usage, streams and metering; lookups of credentials have up to four more. */
  side: number;
}

/** The pools of a node's only process; several processes share them. */
const alone: PoolSizes = { apis: 10, side: 6 };
const shared: PoolSizes = { apis: 20, side: 12 };
/** `apis`: two batches and two other requests. `side`: two for sessions and metering, two for lists. */
const atLeast: PoolSizes = { apis: 4, side: 4 };

/** The pools of each process that answers requests. */
export function webPools(processes: number): PoolSizes {
  if (processes === 1) return alone;
  return {
    apis: Math.max(atLeast.apis, Math.ceil(shared.apis / processes)),
    side: Math.max(atLeast.side, Math.ceil(shared.side / processes)),
  };
}

/** A parent answers no request: it migrates, and makes the demo applications. */
export const parentPools: PoolSizes = { apis: 3, side: 2 };

/** What one web process may open: its pools, the statements that are planned once, and its listeners. */
const ofOneProcess = 20;
/** The parent's pools and lock, delivery, webhooks, and commands beside the service. */
const ofTheRest = 100;

/** What an embedded Postgres must allow. */
export function connectionsNeeded(processes: number): number {
  return Math.max(400, ofTheRest + ofOneProcess * processes);
}
