// Tests: test/parts/webhook-worker.test.ts
import { readEvents } from '../events/event-store.ts';
import type { Clock } from '../platform/clock.ts';
import { hourMs } from '../platform/clock.ts';
import type { Database } from '../platform/database/database.ts';
import { queueAgain } from './delivery-store.ts';
import { type ClaimedLease, lockClaim } from './lease-store.ts';
import { advanceReplay, findReplay } from './replay-store.ts';
import type { WebhookTarget } from './store.ts';

export interface ReplayOptions {
  database: Database;
  clock: Clock;
  claimed: ClaimedLease;
  target: WebhookTarget;
  horizon: () => number;
}

const pieceEvents = 200;
/** Events are in the order of positions; their times may be out of order by at most this. */
const disorderMs = hourMs;

/** Makes the next events of the oldest replay due. Returns false if there is none, or if it must wait for the horizon. */
export function queueReplayed({ database, clock, claimed, target, horizon }: ReplayOptions): Promise<boolean> {
  const { webhookId } = claimed;
  return database.transaction(async (tx) => {
    if (!(await lockClaim(tx, claimed))) return false;
    const replay = await findReplay(tx, webhookId);
    if (replay === undefined) return false;
    const types = replay.types.length > 0 ? replay.types : target.types;
    const span = {
      applicationId: target.applicationId,
      after: replay.position,
      upTo: Math.min(replay.upTo, horizon()),
    };
    const page = await readEvents(tx, span, types.length === 0 ? {} : { types }, pieceEvents);
    const { sinceMs, untilMs } = replay;
    const wanted = page.events.filter(({ timeMs }) => timeMs >= sinceMs && timeMs <= untilMs);
    const isPast = (page.events.at(-1)?.timeMs ?? 0) > untilMs + disorderMs;
    const positions = wanted.map(({ position }) => position);
    if (wanted.length > 0) await queueAgain(tx, webhookId, positions, clock.nowMs());
    await advanceReplay(tx, replay, isPast ? replay.upTo : page.readTo);
    return page.readTo > replay.position || isPast;
  });
}
