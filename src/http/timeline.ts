import { Type } from 'typebox';
import { toTimestamp } from '../platform/clock.ts';

/** An event: a word for programs and a sentence for people. */
export interface TimelineEvent {
  atMs: number;
  event: string;
  detail: string;
}

export const timelineSchema = Type.Array(
  Type.Object({ at: Type.String(), event: Type.String(), detail: Type.String() }, { title: 'TimelineEvent' }),
  { description: 'Events, oldest first' },
);

export function toTimeline(events: TimelineEvent[]) {
  return [...events]
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ atMs, event, detail }) => ({ at: toTimestamp(atMs), event, detail }));
}
