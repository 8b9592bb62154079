// Tests: test/smpp/failover.test.ts
import { lanes } from '../../messages/message-queue.ts';
import { type Clock, minuteMs } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/database.ts';
import {
  findWithFirst,
  type Move,
  moveTexts,
  type QueuePosition,
  readQueued,
  readScheduled,
  takeBulkMoves,
  type WaitingText,
} from '../queue/mover-store.ts';
import type { CarrierOutlook, Troubled } from '../routing/outlook.ts';

export interface TextMoverOptions {
  database: Database;
  clock: Clock;
  outlook: CarrierOutlook;
  /** The carriers of this node that want fewer texts for longer than a code waits. */
  throttled: () => string[];
  /** Texts have moved to the queues of these carriers. */
  onMoved: (carriers: readonly string[]) => void;
}

/** How long texts other than codes wait for their carrier. */
const bulkWaitsMs = minuteMs;
const pieceSize = 500;
/** The first batch of codes is smaller: the next carrier gets it while the others still move. */
const firstPieceSize = 100;
/** Maximum number of batches of one carrier in one poll; the next poll continues. */
const mostPieces = 20;
/** Retried texts that are due within this time move, too. */
const dueSoonMs = 5 * minuteMs;

/**
 * Moves texts that wait for a carrier which cannot send them: codes at once, others after a minute, where their route
 * allows it and at its rate. Every node does it, and each text moves once.
 */
export function createTextMover({ database, clock, outlook, throttled, onMoved }: TextMoverOptions) {
  /** The position of the walk over a carrier's bulk texts. */
  const reached = new Map<string, QueuePosition | undefined>();

  async function moveCodes(carrier: string, isThrottled: boolean): Promise<void> {
    const scheduled = { carrier, lane: lanes.first, untilMs: clock.nowMs() + dueSoonMs, limit: pieceSize };
    await move(carrier, codesIn(carrier, await readScheduled(database, scheduled), isThrottled));
    let after: QueuePosition | undefined;
    for (let piece = 0; piece < mostPieces; piece++) {
      const limit = piece === 0 ? firstPieceSize : pieceSize;
      const { texts, last } = await readQueued(database, { carrier, lane: lanes.first, after, limit });
      await move(carrier, codesIn(carrier, texts, isThrottled));
      if (last === undefined) break;
      after = last;
    }
  }

  function codesIn(from: string, texts: WaitingText[], isThrottled: boolean): Move[] {
    return texts.flatMap((text) => {
      if (text.api !== 'verify' || (!isThrottled && outlook.isAvailable(from, text.to))) return [];
      const next = outlook.next(text, from);
      return next === undefined ? [] : [{ text, next }];
    });
  }

  async function move(from: string, moves: Move[]): Promise<void> {
    if (moves.length > 0 && (await moveTexts(database, from, moves, clock.nowMs())) > 0) reportMoved(moves);
  }

  function reportMoved(moves: Move[]): void {
    onMoved([...new Set(moves.map(({ next }) => next.carrier))]);
  }

  /** Moves one batch in each poll: the rates allow no more. */
  async function moveBulk(carrier: string): Promise<void> {
    for (const lane of [lanes.first, lanes.bulk]) {
      const key = `${carrier} ${lane}`;
      const piece = await readQueued(database, { carrier, lane, after: reached.get(key), limit: pieceSize });
      reached.set(key, piece.last);
      const later = { carrier, lane, untilMs: clock.nowMs() + minuteMs, limit: pieceSize };
      await moveAtRate(carrier, [...piece.texts, ...(await readScheduled(database, later))]);
    }
  }

  /** A plain text that may have been sent is never sent by a second carrier. */
  async function moveAtRate(from: string, texts: WaitingText[]): Promise<void> {
    const byRoute = new Map<string, { perMinute: number; moves: Move[] }>();
    for (const text of texts) {
      if (text.api === 'verify' || text.mayHaveLeft || outlook.isAvailable(from, text.to)) continue;
      const next = outlook.next(text, from);
      const bulk = next?.rule?.failover_bulk;
      if (next === undefined || next.rule === null || !bulk) continue;
      const { name } = next.rule;
      const found = byRoute.get(name) ?? { perMinute: bulk.per_minute, moves: [] };
      found.moves.push({ text, next });
      byRoute.set(name, found);
    }
    for (const [route, { perMinute, moves }] of byRoute) {
      const moved = await database.transaction(async (tx) => {
        const nowMs = clock.nowMs();
        const count = await takeBulkMoves(tx, { route, perMinute, wanted: moves.length, nowMs });
        return moveTexts(tx, from, moves.slice(0, count), nowMs);
      });
      if (moved > 0) reportMoved(moves);
    }
  }

  const hasWaited = ({ sinceMs }: Troubled) => clock.steadyMs() - sinceMs >= bulkWaitsMs;
  const mayMoveBulk = () => outlook.table.routes.some(({ failover_bulk: bulk }) => bulk !== false);

  return {
    async poll(): Promise<void> {
      const troubled = outlook.troubled();
      const isDown = new Set(troubled.filter((each) => each.isDown).map(({ key }) => key));
      const slow = throttled().filter((key) => !isDown.has(key));
      // One statement for all carriers: most have no codes.
      const wanted = [...new Set([...troubled.map(({ key }) => key), ...slow])];
      const withCodes = new Set(await findWithFirst(database, wanted, clock.nowMs() + dueSoonMs));
      for (const each of troubled) {
        if (withCodes.has(each.key)) await moveCodes(each.key, false);
        if (hasWaited(each) && mayMoveBulk()) await moveBulk(each.key);
      }
      for (const key of slow) if (withCodes.has(key)) await moveCodes(key, true);
    },
  };
}
