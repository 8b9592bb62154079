import assert from 'node:assert/strict';
import type { Lane } from '../../src/messages/message.ts';

/** What a carrier was sent, and whether bulk could have been sent then. */
export interface LaneLedger {
  /** A text of this lane is submitted; call it before it counts as under way. */
  noteSubmit(lane: Lane, slots: number): void;
  noteAnswer(lane: Lane): void;
  noteQueued(lane: Lane): void;
  /** Of any 50 submits in a row while both lanes waited and bulk had a slot left, at least ten were bulk's. */
  check(): void;
}

const fewest = { of: 50, bulk: 10 };

export function createLaneLedger(): LaneLedger {
  const waiting = { first: 0, bulk: 0 };
  const underWay = { first: 0, bulk: 0 };
  const submits: { lane: Lane; isShared: boolean }[] = [];
  return {
    noteQueued: (lane) => void waiting[lane]++,
    noteSubmit(lane, slots) {
      const forBulk = slots - Math.min(2, Math.floor(slots / 2));
      const isShared = waiting.first > 0 && waiting.bulk > 0 && underWay.bulk < forBulk;
      submits.push({ lane, isShared });
      waiting[lane]--;
      underWay[lane]++;
      assert.ok(underWay.bulk <= forBulk, `bulk holds ${underWay.bulk} of ${slots}`);
    },
    noteAnswer: (lane) => void underWay[lane]--,
    check() {
      for (let from = 0; from + fewest.of <= submits.length; from++) {
        const some = submits.slice(from, from + fewest.of);
        if (!some.every(({ isShared }) => isShared)) continue;
        const bulk = some.filter(({ lane }) => lane === 'bulk').length;
        assert.ok(bulk >= fewest.bulk, `${bulk} of ${fewest.of} were bulk's`);
        assert.ok(bulk <= fewest.bulk + 1, `${bulk} of ${fewest.of} were bulk's, and codes waited`);
      }
    },
  };
}
