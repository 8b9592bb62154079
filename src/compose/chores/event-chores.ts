import { stopListening } from '../../events/listener-store.ts';
import { beginDay } from '../../events/position.ts';
import { dayMs, hourMs, minuteMs } from '../../platform/clock.ts';
import type { Chore } from '../../platform/work/maintenance.ts';
import { deleteOldAnswers } from '../../webhooks/answer-store.ts';
import { answersKeptMs } from '../../webhooks/answers.ts';
import { createDisableHopeless } from '../../webhooks/disable.ts';
import { deleteLeftOver } from '../../webhooks/store.ts';
import { feedKeepsListeningMs } from '../../webhooks/webhook.ts';
import { eventTables } from '../partitioned-tables.ts';
import type { ChoreKit, ChoreOptions } from './kit.ts';

/** Chores for events, for listeners and for webhooks. */
export function eventChores(options: ChoreOptions, { every, partitions }: ChoreKit): Chore[] {
  const { config, database, clock, log } = options;
  // A day longer than cursors reach back, so that no reader meets a deletion.
  const keptFrom = (nowMs: number) => nowMs - (config.eventDays + 1) * dayMs;
  return [
    every(minuteMs, 'event-day', beginDay),
    every(hourMs, 'quiet-listeners', (db, nowMs) =>
      db.transaction((tx) => stopListening(tx, nowMs - feedKeepsListeningMs)),
    ),
    { name: 'failing-webhooks', everyMs: minuteMs, runPiece: createDisableHopeless({ database, clock, log }) },
    every(minuteMs, 'deleted-webhooks', (tx, nowMs) => deleteLeftOver(tx, nowMs - minuteMs)),
    every(10 * minuteMs, 'old-webhook-answers', (tx, nowMs) => deleteOldAnswers(tx, nowMs - answersKeptMs)),
    ...eventTables.flatMap((table) => partitions(table, keptFrom)),
  ];
}
